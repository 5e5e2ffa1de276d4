"""Rendering of the blocks of a document as HTML.

Rules
- Escaping by construction: HTML is built with `element`, which escapes every text that is not `Html` itself.
- Texts may come from crawled pages. Control characters, lone surrogates and characters that change the direction of
  writing are replaced, so that a title can neither break the file nor pose as another one.
- Only http and https URLs become links.
- Tables are complete without scripts, which only sort them. Charts and graphs are JSON for the scripts that draw them,
  and a small table for readers without scripts; for screen readers the table remains.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from html import escape
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from scenthound.model import LongArray
from scenthound.ui.document import (
    Block,
    BulletList,
    Cell,
    Chart,
    CodeBlock,
    Facts,
    LinkGraph,
    Series,
    Table,
)

REPLACEMENT = "\ufffd"
#: Controls other than tab and line feed, characters that change the direction of writing, and lone surrogates.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
#: Within a script these could end it, or be misread.
UNSAFE_IN_SCRIPT = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | int | bool) -> Html:
    """`<tag attributes>children</tag>`, with everything escaped that is not Html. `class_` is the attribute `class`,
    and underscores are hyphens; an attribute that is True has no value, one that is False or empty is left out."""
    named = "".join(
        f" {name.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{html_text(str(value))}"')
        for name, value in attributes.items()
        if value is not False and value != ""
    )
    return Html(f"<{tag}{named}>{''.join(map(html_text, children))}</{tag}>")


def html_text(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(visible(text)))


def join(parts: Iterable[Html]) -> Html:
    """One below the other; empty parts are left out."""
    return Html("\n".join(filter(None, parts)))


def visible(text: str) -> str:
    """A text without unsafe characters; not escaped yet."""
    return UNSAFE.sub(REPLACEMENT, text)


def link(text: str, url: str) -> Html:
    """A link, if its URL is safe to follow, else the text."""
    if not is_web_url(url):
        return html_text(text)
    return element("a", text, href=url, target="_blank", rel="noopener noreferrer")


def is_web_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and not UNSAFE.search(url)


def number_text(value: float) -> str:
    """Four significant digits, thousands separated; a dash for NaN."""
    if not isfinite(value):
        return DASH
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", MINUS)


class Anchors:
    """Unique ids for the elements of a page."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def new(self, name: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"
        anchor, count = stem, 1
        while anchor in self._used:
            count += 1
            anchor = f"{stem}-{count}"
        self._used.add(anchor)
        return anchor


def block_html(block: Block, anchors: Anchors) -> Html:  # noqa: PLR0911 - one case for each kind of block
    match block:
        case str():
            return element("p", block)
        case BulletList():
            return element("ul", "\n", join(element("li", item) for item in block.items), "\n")
        case Facts():
            facts = [Html(element("dt", name) + element("dd", value)) for name, value in block.rows]
            return element("dl", "\n", join(facts), "\n", class_="facts")
        case CodeBlock():
            caption, code = element("figcaption", block.caption), element("pre", block.text)
            return element("figure", "\n", caption, "\n", code, "\n", class_="verbatim")
        case Chart():
            return chart_html(block, anchors.new(block.name))
        case LinkGraph():
            return graph_html(block, anchors.new(block.name))
        case Table():
            return table_html(block, anchors.new(block.name))


def _note(note: str) -> Html:
    return element("p", note, class_="note") if note else Html()


# Tables

#: Columns of longer texts have a minimum width, and their words may be broken.
LONG_TEXT = 30
SIGNS = {"good": "✓", "bad": "✗", "open": "?"}


def table_html(table: Table, anchor: str) -> Html:
    is_number = [index >= table.n_text_columns for index in range(len(table.columns))]
    heads = [
        element("th", column, scope="col", class_="figure" if number else "")
        for column, number in zip(table.columns, is_number, strict=True)
    ]
    rows = [
        element("tr", *(_cell(cell, is_number[at], at == 0 and not is_number[0]) for at, cell in enumerate(row)))
        for row in table.rows
    ]
    is_marked = any(cell.mark for row in table.rows for cell in row)
    caption, head = element("caption", table.caption), element("thead", element("tr", *heads))
    content = join((caption, head, element("tbody", "\n", join(rows), "\n")))
    made = element("table", "\n", content, "\n", class_=f"sortable{' marked' if is_marked else ''}", id=anchor)
    wide = element("div", "\n", made, "\n", class_="wide", tabindex=0, role="region", aria_label=table.caption)
    return join((wide, _note(table.note)))


def _cell(cell: Cell, is_number: bool, is_heading: bool) -> Html:
    text = link(cell.text, cell.link) if cell.link else html_text(cell.text)
    if cell.status:
        sign = element("span", SIGNS[cell.status], aria_hidden="true")
        text = element("span", sign, " ", text, class_=f"status {cell.status}")
    text = element("strong", text) if cell.emphasis else text
    mark = element("sup", cell.mark, class_="mark") if cell.mark else Html()
    return element(
        "th" if is_heading else "td",
        text,
        mark,
        scope="row" if is_heading else "",
        class_="figure" if is_number else "long" if len(cell.text) > LONG_TEXT else "",
        title=cell.tooltip,
    )


# Charts and graphs

#: The table that stands for a chart shows curves at this many positions, and this many pages of a graph.
TABLE_POSITIONS = 6
TABLE_PAGES = 20
#: Of longer curves some points are kept: half of them evenly spaced, half closer and closer to the start, because
#: readers may choose a logarithmic axis.
MAX_POINTS = 500
SIGNIFICANT_DIGITS = 5
#: Larger integers are not exact in JavaScript.
MAX_EXACT_INTEGER = 2**53


def chart_html(chart: Chart, anchor: str) -> Html:
    return _figure("chart", anchor, _plain(chart.title, _chart_table(chart), chart.note), chart_data(chart))


def graph_html(graph: LinkGraph, anchor: str) -> Html:
    rows = [
        [link(node.title or node.url, node.url), str(node.visit), number_text(node.relevance), str(node.distance)]
        for node in sorted(graph.nodes, key=lambda node: node.visit)[:TABLE_PAGES]
    ]
    table = _plain_table(("page", "visit", "relevance", "links from a seed"), rows)
    return _figure(
        "graph", anchor, _plain(graph.caption, table, graph.note), {**page_data(graph), "title": visible(graph.caption)}
    )


def _figure(kind: str, anchor: str, plain: Html, data: dict[str, Any]) -> Html:
    script = element("script", Html(script_json(data)), type="application/json")
    return element("figure", "\n", plain, "\n", script, "\n", class_=kind, id=anchor)


def script_json(values: Any) -> str:
    """JSON that may stand within a script element."""
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.translate({ord(sign): safe for sign, safe in UNSAFE_IN_SCRIPT.items()})


def _plain(title: str, table: Html, note: str) -> Html:
    """What readers without scripts see."""
    parts = join((element("h3", title), element("div", table, class_="wide"), _note(note)))
    return element("div", "\n", parts, "\n", class_="plain")


def _chart_table(chart: Chart) -> Html:
    """A row for each curve and a column for each position, or a row for each category and a column for each series."""
    positions = _table_positions(chart.series)
    if chart.kind == "curves":
        rows = [(series.name, *(_value_at(series, x) for x in positions)) for series in chart.series]
        return _plain_table((chart.x_label, *map(number_text, positions)), rows)
    bars = [
        [_value_at(each, at) if at in each.x else DASH for each in chart.series] for at in range(len(chart.categories))
    ]
    rows = [(name, *values) for name, values in zip(chart.categories, bars, strict=True)]
    return _plain_table((chart.x_label, *(series.name for series in chart.series)), rows)


def _table_positions(series: Iterable[Series]) -> list[float]:
    known = np.unique(np.concatenate([np.empty(0), *(each.x[np.isfinite(each.x)] for each in series)]))
    if not len(known):
        return []
    kept = np.unique(np.rint(np.linspace(0, len(known) - 1, TABLE_POSITIONS)).astype(np.int64))
    return [float(x) for x in known[kept]]


def _value_at(series: Series, x: float) -> str:
    """The value at x or at the nearest point before it; none beyond the ends of the curve."""
    before = np.flatnonzero(series.x <= x)
    is_within = len(before) > 0 and bool((series.x >= x).any())
    return _with_error(series, int(before[-1])) if is_within else DASH


def _with_error(series: Series, at: int) -> str:
    error = np.nan if series.error is None else float(series.error[at])
    return number_text(float(series.y[at])) + (f" ± {number_text(error)}" if isfinite(error) else "")


def _plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    head = element("thead", element("tr", *(element("th", column, scope="col") for column in columns)))
    body = [
        element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in others))
        for first, *others in rows
    ]
    return element("table", "\n", join((head, element("tbody", "\n", join(body), "\n"))), "\n")


def page_data(value: Any) -> Any:
    """A value as the scripts of a page read it: without unsafe characters, and with rounded numbers."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, np.ndarray):
        return page_data(value.tolist())
    if isinstance(value, list | tuple):
        return [page_data(each) for each in value]
    if is_dataclass(value):
        return {each.name: page_data(getattr(value, each.name)) for each in fields(value)}
    return value


def chart_data(chart: Chart) -> dict[str, Any]:
    """The data of a chart, with long curves thinned."""
    series = tuple(map(_thinned, chart.series)) if chart.kind == "curves" else chart.series
    data: dict[str, Any] = page_data(replace(chart, series=series))
    return data


def _thinned(series: Series) -> Series:
    kept = kept_points(len(series.x))
    error = None if series.error is None else series.error[kept]
    return replace(series, x=series.x[kept], y=series.y[kept], error=error)


def kept_points(n_points: int) -> LongArray:
    """The indices of the points to keep; the first and the last are always among them."""
    if n_points <= MAX_POINTS:
        return np.arange(n_points)
    even = np.linspace(0, n_points - 1, MAX_POINTS // 2)
    early = np.geomspace(1, n_points, MAX_POINTS // 2) - 1
    return np.unique(np.rint(np.concatenate([even, early])).astype(np.int64))


def rounded(value: float) -> float | None:
    """Integers as they are, other numbers with five significant digits, null for NaN."""
    if not isfinite(value):
        return None
    short = float(value if float(value).is_integer() else f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < MAX_EXACT_INTEGER else short
