"""The one HTML file of a page, which needs nothing beside it.

Rules
- Nothing comes from the network. The policy within the page allows its own style sheet and its own script, by their
  digests, and nothing else; so what slipped in from elsewhere would not run.
- Every text is escaped. Only `Markup` goes in as it is; scripts and style attributes in it would have no effect.
- The same page makes the same bytes.
- Without scripts it reads as well, with tables in place of figures.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import starmap

from scenthound.ui.document import (
    Block,
    Chart,
    Facts,
    LinkGraph,
    Markup,
    Page,
    Prose,
    Section,
    TableBlock,
    Verbatim,
    WinLoss,
)
from scenthound.ui.html_elements import Anchors, chart_html, graph_html, table_html, text_html, win_loss_html

# The style sheets and scripts of pages: where they are, in which order they go, and how they are put into one file.
#
# Rules
# - Scripts are plain: each adds to the one global name `scenthound`, so they can be put one after another, or be
#   served one by one. What is in `CHART_SCRIPTS` and `CHART_STYLES` knows nothing of reports: a dashboard may use it
#   too.
# - Whoever puts them into a page takes them without comments and indents. So no text in them goes over several lines.

#: Colours, fonts, light and dark; charts and graphs; what floats above them.
CHART_STYLES = ("look.css", "charts.css")
CHART_SCRIPTS = (
    "elements.js",
    "theme.js",
    "scales.js",
    "chart_frame.js",
    "chart_axes.js",
    "chart_curves.js",
    "chart_bars.js",
    "chart_reading.js",
    "chart.js",
    "graph_layout.js",
    "graph.js",
    "tables.js",
)
PAGE_STYLES = (*CHART_STYLES, "tables.css", "page.css", "print.css")
PAGE_SCRIPTS = (*CHART_SCRIPTS, "win_loss.js", "page.js")


def asset_text(name: str) -> str:
    """One of the files, as it is."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def page_script() -> str:
    """All scripts in one."""
    lines = (line.strip() for line in _in_one(PAGE_SCRIPTS).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@cache
def page_style() -> str:
    """All style sheets in one."""
    bare = re.sub(r"/\*.*?\*/", "", _in_one(PAGE_STYLES), flags=re.DOTALL)
    return re.sub(r"\s*([{};,>])\s*|(:)\s+", r"\1\2", bare).replace(";}", "}").strip()


def _in_one(names: Iterable[str]) -> str:
    return "\n".join(map(asset_text, names))


#: Pages of more sections begin with a list of them.
MOST_WITHOUT_CONTENTS = 3


def page_html(page: Page) -> str:
    """The whole file."""
    anchors = Anchors()
    contents = [_blocks(section, anchors) for section in page.sections]
    # Blocks have the names that they were given; a section of the same name takes another.
    named = [(anchors.new(section.title), section) for section in page.sections]
    sections = "\n".join(starmap(_section, zip(named, contents, strict=True)))
    return (
        f'{_head(page)}<body>\n<header>\n<p class="kind">Scenthound · {text_html(page.kind)} report</p>\n'
        f"<h1>{text_html(page.title)}</h1>\n</header>\n{_contents(named)}<main>\n{_summary(page)}\n{sections}\n</main>\n"
        "</body>\n</html>\n"
    )


def content_security_policy(html: str) -> str:
    """The policy of a page that `page_html` made, for a server that sends it as a header: only the first style sheet
    and the first script of the file have effect. A report may have come from elsewhere, so the page is also shut off
    from whatever else that server shows; a page cannot do so itself."""
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


def _head(page: Page) -> str:
    style, script = f"\n{page_style()}\n{page.style}", f"\n{page_script()}\n"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<style>{style}</style>\n<script>{script}</script>\n<title>{text_html(page.title)}</title>\n</head>\n"
    )


def _summary(page: Page) -> str:
    facts = "".join(
        f"<div><dt>{text_html(name)}</dt><dd>{text_html(value)}</dd></div>" for name, value in page.key_facts
    )
    strip = f'\n<dl class="key-facts">{facts}</dl>' if facts else ""
    return f'<div class="summary">\n{_paragraphs(page.summary)}\n</div>{strip}'


def _contents(named: list[tuple[str, Section]]) -> str:
    if len(named) <= MOST_WITHOUT_CONTENTS:
        return ""
    rows = "\n".join(f'<li><a href="#{anchor}">{text_html(section.title)}</a></li>' for anchor, section in named)
    return f'<nav class="contents" aria-label="Contents">\n<ol>\n{rows}\n</ol>\n</nav>\n'


def _blocks(section: Section, anchors: Anchors) -> str:
    return "\n".join(_block(block, anchors) for block in section.blocks)


def _section(named: tuple[str, Section], blocks: str) -> str:
    anchor, section = named
    head = f"<h2>{text_html(section.title)}</h2>"
    if section.folded:
        return f'<details class="section" id="{anchor}">\n<summary>{head}</summary>\n{blocks}\n</details>'
    return f'<section id="{anchor}">\n{head}\n{blocks}\n</section>'


def _block(block: Block, anchors: Anchors) -> str:
    match block:
        case Chart():
            return chart_html(block, anchors.new(block.name))
        case LinkGraph():
            return graph_html(block, anchors.new(block.name))
        case TableBlock():
            return table_html(block, anchors.new(block.name))
        case WinLoss():
            return win_loss_html(block, anchors.new(block.name))
        case _:
            return _words(block)


def _words(block: Prose | Facts | Verbatim | Markup) -> str:
    match block:
        case Prose():
            return _list(block.texts) if block.as_list else _paragraphs(block.texts)
        case Facts():
            return _facts(block.rows)
        case Verbatim():
            return (
                f'<figure class="verbatim">\n<figcaption>{text_html(block.says)}</figcaption>\n'
                f"<pre>{text_html(block.text)}</pre>\n</figure>"
            )
        case Markup():
            return block.html


def _paragraphs(texts: tuple[str, ...]) -> str:
    return "\n".join(f"<p>{text_html(text)}</p>" for text in texts)


def _list(texts: tuple[str, ...]) -> str:
    rows = "\n".join(f"<li>{text_html(text)}</li>" for text in texts)
    return f"<ul>\n{rows}\n</ul>"


def _facts(rows: tuple[tuple[str, str], ...]) -> str:
    told = "\n".join(f"<dt>{text_html(name)}</dt><dd>{text_html(value)}</dd>" for name, value in rows)
    return f'<dl class="facts">\n{told}\n</dl>'
