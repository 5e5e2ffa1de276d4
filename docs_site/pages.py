"""The pages of the site as Markdown files in one folder, and the navigation."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docs_site.api_reference import MissingDocstring, api_pages
from docs_site.command_reference import command_pages
from docs_site.notebook_pages import NotebookFailed, executed, notebook_page, read_notebook
from docs_site.plugin_reference import codes_page, parameters_page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
#: Where the pages are written to.
PAGES = ROOT / "build" / "docs"
#: The style sheet and the icon of the site.
ASSETS = Path(__file__).resolve().parent / "assets"
#: Documents of the root folder that are pages.
ROOT_DOCUMENTS = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
#: Generated pages, by folder.
REFERENCE: dict[str, Callable[[], dict[str, str]]] = {
    "commands": command_pages,
    "api": api_pages,
    "reference": lambda: {"parameters.md": parameters_page(), "codes.md": codes_page()},
}


class ProblemsFound(Exception):
    """Why there is no site, one problem in each line."""


def write_pages(folder: Path, *, run_notebooks: bool = True) -> dict[str, list[str]]:
    """Write all pages to an empty folder; return the names of generated pages by folder, in order."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    shutil.copytree(ASSETS, folder, dirs_exist_ok=True)
    for file in folder.glob("*.md"):
        file.write_text(linked_pages(file.read_text(encoding="utf-8")), encoding="utf-8")
    for source, page in ROOT_DOCUMENTS.items():
        (folder / page).write_text(linked_pages((ROOT / source).read_text(encoding="utf-8")), encoding="utf-8")
    try:
        _write_notebooks(folder, run_notebooks)
        generated = {name: make() for name, make in REFERENCE.items()}
    except (MissingDocstring, NotebookFailed, ValueError) as problem:
        raise ProblemsFound(str(problem)) from None
    for name, pages in generated.items():
        (folder / name).mkdir()
        for file_name, text in pages.items():
            (folder / name / file_name).write_text(text, encoding="utf-8")
    return {name: [f"{name}/{page}" for page in pages] for name, pages in generated.items()}


def linked_pages(text: str) -> str:
    """Links to documents of the root folder and to notebooks lead to their pages."""
    for source, page in ROOT_DOCUMENTS.items():
        text = re.sub(rf"\]\((?:\.\./)?{re.escape(source)}(?=[)#])", f"]({page}", text)
    text = re.sub(r"\]\(docs/(?=[\w./-]+[)#])", "](", text)
    return re.sub(r"\]\((\w+)\.ipynb(?=\))", r"](\1.md", text)


def _write_notebooks(folder: Path, run: bool) -> None:
    files = sorted(folder.glob("*.ipynb"))
    notebooks = executed(files) if run else [read_notebook(file) for file in files]
    for file, notebook in zip(files, notebooks, strict=True):
        page = notebook_page(file.stem, notebook)
        file.with_suffix(".md").write_text(page.markdown, encoding="utf-8")
        for name, content in page.figures.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)


def navigation(items: list[Any], generated: dict[str, list[str]]) -> list[Any]:
    """The navigation of mkdocs.yml, in which `commands/` stands for all generated pages of that folder."""
    expanded: list[Any] = []
    for item in items:
        ((title, target),) = item.items() if isinstance(item, dict) else ((None, item),)
        if isinstance(target, list):
            expanded.append({title: navigation(target, generated)})
        elif target.endswith("/"):
            expanded.append({title: generated[target.rstrip("/")]})
        else:
            expanded.append(item)
    return expanded


def missing_in_navigation(items: list[Any], folder: Path) -> list[str]:
    """Pages that are not in the navigation, and those of the navigation that do not exist."""
    listed = set(_targets(items))
    pages = {str(file.relative_to(folder)) for file in folder.rglob("*.md")}
    return [f"{page} is in no menu: add it to `nav` in mkdocs.yml." for page in sorted(pages - listed)] + [
        f"{page} is in `nav` of mkdocs.yml, but there is no such page." for page in sorted(listed - pages)
    ]


def _targets(items: list[Any]) -> list[str]:
    values = [value for item in items for value in (item.values() if isinstance(item, dict) else [item])]
    return [target for value in values for target in (_targets(value) if isinstance(value, list) else [value])]
