"""Checks the links of the built site, and those of the Markdown files in the root folder.

A link within the site must lead to a file, and to an element if it has an anchor. Links to other sites are not
followed: only their syntax is checked. No page may load anything from another host: the site can be read offline.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Elements that load something, with the attribute that says from where.
LOADING = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
#: Relations of `<link>` elements that load nothing.
NOT_LOADED = {"canonical", "next", "prev", "alternate"}
EXTERNAL = ("http", "https", "mailto")


class Page(HTMLParser):
    """The links and the anchors of a page, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        for element, attribute in LOADING:
            if tag == element and attribute in values and values.get("rel") not in NOT_LOADED:
                self.loaded.append(values[attribute])


def broken_links(site: Path) -> list[str]:
    """Lines `page: problem`, for all HTML files of a folder."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    return [
        f"{file.relative_to(site)}: {problem}"
        for file, page in pages.items()
        for problem in dict.fromkeys(_problems(file, page, pages, site))
    ]


def _problems(file: Path, page: Page, pages: dict[Path, Page], site: Path) -> Iterator[str]:
    for link in page.loaded:
        if urlsplit(link).scheme in ("http", "https") or link.startswith("//"):
            yield f"loads {link} from another host"
    # The error page is shown at any depth, so its links start at the root.
    for link in [*page.links, *page.loaded]:
        problem = external_problem(link) if is_external(link) else _internal_problem(link, file, pages, site)
        if problem:
            yield problem


def is_external(link: str) -> bool:
    return urlsplit(link).scheme in EXTERNAL or link.startswith("//")


def external_problem(link: str) -> str:
    """What is wrong with a link to another site; empty if nothing is."""
    parts = urlsplit(link)
    if parts.scheme == "mailto":
        return "" if re.fullmatch(r"[^@\s]+@[^@\s]+", parts.path) else f"{link} is not a mail address"
    host = parts.hostname or ""
    return "" if re.fullmatch(r"[\w-]+(\.[\w-]+)*", host) and not re.search(r"\s", link) else f"{link} is not a URL"


def _internal_problem(link: str, file: Path, pages: dict[Path, Page], site: Path) -> str:
    parts = urlsplit(link)
    if parts.scheme:
        return "" if parts.scheme == "data" else f"{link} has the unknown scheme {parts.scheme}"
    path = unquote(parts.path)
    start = site if path.startswith("/") else file.parent
    target = (start / path.lstrip("/")).resolve() if path else file
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return f"{link} leads to no file"
    anchor = unquote(parts.fragment)
    # Anchors of files that are no pages, such as pictures, are not known.
    return f"{link} leads to no anchor" if target in pages and anchor not in pages[target].anchors else ""


def broken_markdown_links(root: Path) -> list[str]:
    """Links of the Markdown files in the root folder that lead to no file, or to no heading of one."""
    problems = []
    for file in sorted(root.glob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", _without_code(file.read_text(encoding="utf-8"))):
            path, _, anchor = link.partition("#")
            target = root / path if path else file
            if is_external(link):
                problem = external_problem(link)
            elif not target.exists():
                problem = f"{link} leads to no file"
            else:
                problem = f"{link} leads to no heading" if anchor and anchor not in headings(target) else ""
            problems += [f"{file.name}: {problem}"] if problem else []
    return problems


def headings(file: Path) -> set[str]:
    """The anchors of a Markdown file's headings."""
    texts = re.findall(r"^#+ (.*)$", _without_code(file.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower()) for text in texts}


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
