"""The site of the documentation: what its reference is generated from, its links, and the build as a whole."""

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from docs_site import api_reference, pages
from docs_site.api_reference import MissingDocstring, api_pages, attribute_comments, signature_text
from docs_site.command_reference import command_pages, option_help
from docs_site.links import broken_links, broken_markdown_links
from docs_site.notebook_pages import notebook_page
from docs_site.plugin_reference import REGISTRIES, codes_page, parameters_page
from docs_site.text import definitions, escaped

import scenthound as sh
from scenthound.cli.app import COMMANDS
from scenthound.reasons import SkipReason

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def api() -> dict[str, str]:
    return api_pages()


def test_every_command_has_a_page_with_all_its_options(scenthound: Callable[..., tuple[int, str, str]]) -> None:
    written = command_pages()
    names = [name for panel in COMMANDS.values() for name in panel]
    assert list(written) == ["index.md", *(f"{name}.md" for name in names)]
    for name in names:
        _, shown, _ = scenthound(name, "--help")
        options = set(re.findall(r"^│[ *]+(--[a-z][a-z0-9-]+)", shown, re.MULTILINE)) - {"--help"}
        assert {option for option in options if option not in written[f"{name}.md"]} == set(), name


def test_ranges_and_defaults_of_options_are_shown() -> None:
    page = command_pages()["simulate.md"]
    assert "`--pages N`\n:   Page budget of each crawl. At least 1. Default: `2000`." in page
    assert "`--web PATH`" in page
    assert "Required." in page


def test_every_public_name_has_a_heading(api: dict[str, str]) -> None:
    text = "".join(api.values())
    assert [name for name in sh.__all__ if f"\n## {name}\n" not in text] == ["__version__"]


def test_arguments_have_the_help_of_the_options(api: dict[str, str]) -> None:
    help_of = option_help()["crawl"]
    assert f"`max_depth` `int | None = None`\n:   {help_of['max_depth']}" in api["crawls.md"]
    assert "`exclude` `str | Sequence[str] = ()`\n:   Crawl no URLs that match, like `include`." in api["crawls.md"]


def test_a_public_name_without_a_docstring_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sh.Table.to_dict, "__doc__", None)
    with pytest.raises(MissingDocstring, match=r"table\.to_dict"):
        api_pages()


def test_long_signatures_are_wrapped_between_arguments() -> None:
    text = signature_text("sh.simulate", inspect.signature(sh.simulate))
    assert text.startswith("sh.simulate(\n    web, topics, strategies, *, out=None")
    assert text.endswith("\n) -> Run")
    assert max(map(len, text.splitlines())) <= api_reference.WIDTH


def test_types_of_arguments_are_described_and_arguments_once(api: dict[str, str]) -> None:
    for name in ("TopicLike", "PathLike", "PluginsLike"):
        assert f"`{name}`" in api["index.md"].partition("## Types of arguments")[2]
    assert "\n- `" not in api["laboratory.md"]


def test_comments_above_attributes_describe_them() -> None:
    comments = attribute_comments(sh.Strategy)
    assert comments["needs_anchors"] == "Whether `Links.anchors` is computed."
    assert "kernel" not in comments


def test_every_plug_in_and_code_is_listed() -> None:
    parameters, codes = parameters_page(), codes_page()
    for registry, _ in REGISTRIES.values():
        for name in registry.names():
            assert f"\n### {name}\n" in parameters
    assert all(f"`{reason.value}`" in codes for reason in SkipReason)


def test_texts_of_the_code_are_shown_as_they_are() -> None:
    assert escaped("a*b `c*d` --max-depth\n <e>") == r"a\*b `c*d` `--max-depth` \<e\>"
    assert definitions({"`a`": ["one", "two"]}) == "`a`\n:   one\n\n    two"


def notebook(*outputs: dict[str, object]) -> SimpleNamespace:
    """A notebook of a title and a cell with these outputs."""
    title = SimpleNamespace(cell_type="markdown", source="# Title")
    found = [SimpleNamespace(**output) for output in outputs]
    return SimpleNamespace(cells=[title, SimpleNamespace(cell_type="code", source="1 + 1", outputs=found)])


def test_outputs_of_cells_become_html_and_figures_files() -> None:
    table = {"text/html": "<table>\n\n<tr><td>3</td></tr></table><svg><g/></svg>", "text/plain": "3"}
    page = notebook_page(
        "made",
        notebook(
            {"output_type": "stream", "text": "\x1b[31ma < b\x1b[0m\n"},
            {"output_type": "execute_result", "data": table},
            {"output_type": "display_data", "data": {"image/png": "iVBORw==", "text/plain": "<Figure>"}},
        ),
    )
    assert "```python\n1 + 1\n```" in page.markdown
    assert "<pre>a &lt; b</pre>" in page.markdown
    assert "<table>\n<tr><td>3</td></tr></table>" in page.markdown
    assert page.figures == {"made_files/1.svg": b"<svg><g/></svg>", "made_files/2.png": b"\x89PNG"}
    assert all(f'src="{file}"' in page.markdown for file in page.figures)


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<h2 id="there">x</h2>', encoding="utf-8")
    links = [
        "b.html",
        "b.html#there",
        "b.html#gone",
        "c.html",
        "#top",
        "https://example.org/a",
        "https://exa mple",
        "x:y",
    ]
    text = "".join(f'<a href="{link}">a</a>' for link in links)
    (tmp_path / "a.html").write_text(f'{text}<p id="top"><img src="d.png"><script src="//cdn.example/x.js"></script>')
    assert [line.split()[1] for line in broken_links(tmp_path)] == [
        "loads", "b.html#gone", "c.html", "https://exa", "x:y", "d.png",
    ]  # fmt: skip


def test_links_of_root_documents_are_checked(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A title, `code`\n", encoding="utf-8")
    text = (
        "[a](docs/a.md) [b](docs/a.md#a-title-code) [c](docs/a.md#gone) [d](e.md) [f](http://)\n```\n[g](h.md)\n```\n"
    )
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    assert [line.split()[1] for line in broken_markdown_links(tmp_path)] == ["docs/a.md#gone", "e.md", "http://"]


def test_links_to_root_documents_and_notebooks_lead_to_pages() -> None:
    assert pages.linked_pages("[a](../CONTRIBUTING.md#b) [c](d.ipynb)") == "[a](contributing.md#b) [c](d.md)"
    assert pages.linked_pages("[a](docs/metrics.md#b) [c](ARCHITECTURE.md)") == "[a](metrics.md#b) [c](architecture.md)"


def test_pages_must_be_in_a_menu_and_menus_must_have_pages(tmp_path: Path) -> None:
    (tmp_path / "commands").mkdir()
    for name in ("a.md", "b.md", "commands/crawl.md"):
        (tmp_path / name).touch()
    menu = pages.navigation([{"A": "a.md"}, {"More": [{"C": "c.md"}, {"Commands": "commands/"}]}], GENERATED)
    assert menu == [{"A": "a.md"}, {"More": [{"C": "c.md"}, {"Commands": ["commands/crawl.md"]}]}]
    assert [line.split()[0] for line in pages.missing_in_navigation(menu, tmp_path)] == ["b.md", "c.md"]


GENERATED = {"commands": ["commands/crawl.md"]}


@pytest.mark.slow
def test_the_site_is_built_and_has_no_broken_links(tmp_path: Path) -> None:
    """Without running notebooks, which other tests do."""
    pytest.importorskip("mkdocs")
    command = [
        sys.executable,
        "-m",
        "docs_site",
        "--no-notebooks",
        "--out",
        tmp_path / "site",
        "--pages",
        tmp_path / "docs",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    index = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {document["location"].partition("#")[0] for document in index["docs"]}
    assert {"commands/crawl.html", "api/crawls.html", "build_corpus.html", "changelog.html"} <= found
