"""Rendering of a document as one self-contained HTML file.

Rules
- Nothing is loaded from the network. The page's Content-Security-Policy allows its own style sheet and its own script,
  by their digests, and nothing else.
- Every text is escaped (`ui/html_blocks.py`).
- The same document gives the same bytes.
- The page is readable without scripts: tables replace charts.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files

from scenthound.ui.document import Document, Section
from scenthound.ui.html_blocks import Anchors, Html, block_html, element, join

# Scripts are plain JavaScript and add to the global name `scenthound`, so they can be concatenated, or served one by
# one. The dashboard uses `CHART_SCRIPTS` and `CHART_STYLES` too. Comments and indentation are removed from what goes
# into a page; therefore no string literal may span several lines.
CHART_STYLES = ("look.css", "charts.css")
CHART_SCRIPTS = ("elements.js", "theme.js", "plots.js", "charts.js", "graph.js")
PAGE_STYLES = (*CHART_STYLES, "tables.css", "page.css", "print.css")
PAGE_SCRIPTS = (*CHART_SCRIPTS, "tables.js", "page.js")
#: Documents with more sections begin with a table of contents.
MAX_SECTIONS_WITHOUT_CONTENTS = 3


def asset_text(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def page_script() -> str:
    """All scripts, concatenated."""
    lines = (line.strip() for line in _concatenated(PAGE_SCRIPTS).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@cache
def page_style() -> str:
    """All style sheets, concatenated."""
    bare = re.sub(r"/\*.*?\*/", "", _concatenated(PAGE_STYLES), flags=re.DOTALL)
    return re.sub(r"\s*([{};,>])\s*|(:)\s+", r"\1\2", bare).replace(";}", "}").strip()


def _concatenated(names: Iterable[str]) -> str:
    return "\n".join(map(asset_text, names))


def document_html(document: Document) -> str:
    """The complete file."""
    anchors = Anchors()
    contents = [join(block_html(block, anchors) for block in section.blocks) for section in document.sections]
    # Blocks keep their names; a section with the same name gets another anchor.
    ids = [anchors.new(section.title) for section in document.sections]
    sections = join(map(_section, ids, document.sections, contents))
    kind = element("p", f"Scenthound · {document.kind} report", class_="kind")
    header = element("header", "\n", kind, "\n", element("h1", document.title), "\n")
    main = element("main", "\n", _summary(document), "\n", sections, "\n")
    body = element("body", "\n", header, "\n", _contents(ids, document.sections), main, "\n")
    return f'<!DOCTYPE html>\n<html lang="en">\n{_head(document.title)}\n{body}\n</html>\n'


def content_security_policy(html: str) -> str:
    """The policy for a server that sends a page made by `document_html`: only the first style sheet and the first
    script of the file are allowed. A report may come from elsewhere, so the page is also sandboxed, which a page cannot
    do itself."""
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    policy = _policy(style[1] if style else "", script[1] if script else "")
    return f"{policy}; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-modals"


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _head(title: str) -> str:
    style, script = f"\n{page_style()}\n", f"\n{page_script()}\n"
    return (
        '<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<style>{style}</style>\n<script>{script}</script>\n{element('title', title)}\n</head>"
    )


def _summary(document: Document) -> Html:
    summary = element("div", "\n", join(element("p", text) for text in document.summary), "\n", class_="summary")
    if not document.key_facts:
        return summary
    facts = [element("div", element("dt", name), element("dd", value)) for name, value in document.key_facts]
    return join((summary, element("dl", *facts, class_="key-facts")))


def _contents(ids: list[str], sections: tuple[Section, ...]) -> Html:
    if len(sections) <= MAX_SECTIONS_WITHOUT_CONTENTS:
        return Html()
    rows = [
        element("li", element("a", section.title, href=f"#{anchor}"))
        for anchor, section in zip(ids, sections, strict=True)
    ]
    contents = element("ol", "\n", join(rows), "\n")
    return Html(element("nav", "\n", contents, "\n", class_="contents", aria_label="Contents") + "\n")


def _section(anchor: str, section: Section, blocks: Html) -> Html:
    heading = element("h2", section.title)
    if section.collapsed:
        summary = element("summary", heading)
        return element("details", "\n", summary, "\n", blocks, "\n", class_="section", id=anchor)
    return element("section", "\n", heading, "\n", blocks, "\n", id=anchor)
