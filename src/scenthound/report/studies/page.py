"""The page of a study: one HTML file with its findings, figures and tables, which needs nothing beside it.

Rules
- No scripts, nothing from the network; figures are SVG within the page. It reads well in light and dark, and printed.
- Every text is escaped. Only figures go in as they are, because `report` drew them.
- A verdict is a word; its colour and its sign only help to find it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from scenthound.lab.findings import Finding
from scenthound.lab.studies.pictures import Table
from scenthound.report.studies.findings_html import findings_html, reading_html
from scenthound.report.studies.table_html import table_html


@dataclass(frozen=True, slots=True)
class PageFigure:
    """`svg` is a whole SVG document, or its element."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class StudyPage:
    """All that the page of a study shows, in this order. `summary` are paragraphs, `facts` names with their
    values, `settings` the text of the settings file."""

    title: str
    summary: tuple[str, ...]
    findings: tuple[Finding, ...]
    figures: tuple[PageFigure, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    settings: str = ""


def page_html(page: StudyPage) -> str:
    """The whole file."""
    sections = [
        _section("Findings", [findings_html(page.findings), reading_html()] if page.findings else []),
        _section("Figures", map(_figure, page.figures)),
        _section("Tables", map(table_html, page.tables)),
        _section("Notes", [_list(page.notes)] if page.notes else []),
        _section("This run", [_facts(page.facts)] if page.facts else []),
        _section("Settings", [f"<pre>{escape(page.settings)}</pre>"] if page.settings else []),
    ]
    body = "\n".join([f"<h1>{escape(page.title)}</h1>", *map(_paragraph, page.summary), *filter(None, sections)])
    return f"{_head(page.title)}<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"


def _head(title: str) -> str:
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
    )


def _section(title: str, parts: Iterable[str]) -> str:
    """Empty if there is nothing in it."""
    content = "\n".join(parts)
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>" if content else ""


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _list(texts: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{escape(text)}</li>" for text in texts) + "\n</ul>"


def _figure(figure: PageFigure) -> str:
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
    return f'<figure id="{escape(figure.name)}">\n{_inline(figure)}\n{caption}\n</figure>'


def _inline(figure: PageFigure) -> str:
    """The SVG element alone. Its ids begin with the figure's name, because all figures of a page share one space."""
    element = figure.svg[figure.svg.index("<svg") :].strip()
    beginning = re.sub(r"\W", "-", figure.name)
    return re.sub(r'(\bid="|url\(#|href="#)', lambda found: f"{found[1]}{beginning}-", element)


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = "\n".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in facts)
    return f'<div class="wide">\n<table class="facts">\n{rows}\n</table>\n</div>'
