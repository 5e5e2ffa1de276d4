"""Rendering of the blocks of a document as HTML.

Rules
- Escaping by construction: HTML is built with `element`, which escapes every text that is not `Html` itself.
- Texts may come from crawled pages. Control characters, lone surrogates and characters that change the direction of
  writing are replaced, so that a title can neither break the file nor pose as another one.
- Only http and https URLs become links.
- Tables and grids are complete without scripts, which only sort them and show details. Charts and graphs are JSON for
  the scripts that draw them, and a small table for readers without scripts; for screen readers the table remains.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from html import escape
from math import ceil, isfinite
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from scenthound.model import FloatArray, LongArray
from scenthound.ui.document import (
    Block,
    BulletList,
    Cell,
    Chart,
    CodeBlock,
    Facts,
    GroupedTable,
    LinkGraph,
    Paragraphs,
    RowGroup,
    Series,
    Table,
    WinLossGrid,
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
        case Paragraphs():
            return paragraphs(block.texts)
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
        case GroupedTable():
            return grouped_table_html(block, anchors.new(block.name))
        case WinLossGrid():
            return win_loss_html(block, anchors.new(block.name))


def paragraphs(texts: Iterable[str]) -> Html:
    return join(element("p", text) for text in texts)


def _note(note: str) -> Html:
    return element("p", note, class_="note") if note else Html()


# Tables

#: A table with a cell of more characters has columns of texts, which share the width.
LONG_TEXT = 150
SIGNS = {"good": "✓", "bad": "✗", "open": "?"}


def table_html(table: Table, anchor: str) -> Html:
    is_number = [index >= table.n_text_columns for index in range(len(table.columns))]
    rows = [
        element("tr", *(_cell(cell, is_number[at], at == 0 and not is_number[0]) for at, cell in enumerate(row)))
        for row in table.rows
    ]
    cells = [cell for row in table.rows for cell in row]
    marked = " marked" if any(cell.mark for cell in cells) else ""
    texts = " texts" if any(len(cell.text) > LONG_TEXT for cell in cells) else ""
    body = element("tbody", "\n", join(rows), "\n")
    content = join((_head(table.caption, table.columns, is_number), body))
    made = element("table", "\n", content, "\n", class_=f"sortable{marked}{texts}", id=anchor)
    return join((_scrollable(table.caption, made), _note(table.note)))


def grouped_table_html(table: GroupedTable, anchor: str) -> Html:
    is_number = [column in table.numeric for column in table.columns]
    groups = [_group(group, is_number) for group in table.groups]
    content = join((_head(table.caption, table.columns, is_number), *groups))
    return _scrollable(table.caption, element("table", "\n", content, "\n", class_="grouped", id=anchor))


def _group(group: RowGroup, is_number: Sequence[bool]) -> Html:
    detail = (element("span", group.detail, class_="detail"),) if group.detail else ()
    # The title stays in sight when a wide table is scrolled.
    title = element("div", group.title, *detail, class_="title")
    last = () if group.cell is None else (_cell(group.cell, False, False),)
    heading = element("th", title, scope="rowgroup", colspan=len(is_number) - len(last))
    rows = [element("tr", *map(_cell, row, is_number, [False] * len(row))) for row in group.rows]
    return element("tbody", "\n", element("tr", heading, *last, class_="group"), "\n", join(rows), "\n")


def _head(caption: str, columns: Sequence[str], is_number: Sequence[bool]) -> Html:
    heads = [
        element("th", column, scope="col", class_="figure" if number else "")
        for column, number in zip(columns, is_number, strict=True)
    ]
    return join((element("caption", caption), element("thead", element("tr", *heads))))


def _scrollable(label: str, table: Html) -> Html:
    return element("div", "\n", table, "\n", class_="wide", tabindex=0, role="region", aria_label=label)


def _cell(cell: Cell, is_number: bool, is_heading: bool) -> Html:
    text = link(cell.text, cell.link) if cell.link else html_text(cell.text)
    if cell.status:
        sign = element("span", SIGNS[cell.status], aria_hidden="true")
        text = element("span", sign, " ", text, class_=f"status {cell.status}")
    text = element("strong", text) if cell.emphasis else text
    mark = element("sup", cell.mark, class_="mark") if cell.mark else Html()
    value = None if cell.value is None else rounded(cell.value)
    return element(
        "th" if is_heading else "td",
        text,
        mark,
        scope="row" if is_heading else "",
        class_="figure" if is_number else "",
        title=cell.tooltip,
        data_value="" if value is None else str(value),
    )


# Grids of wins and losses

#: With more topics there is no space for their names, which are then shown on hover only.
MAX_NAMED_TOPICS = 14
#: With more topics there is no space for signs: bars above and below a centre line show the same.
MAX_SIGNED_TOPICS = 40
#: Differences are shown in this many steps, up to the size that 95 % of them stay below: otherwise a single outlier
#: would make all others look even.
STEPS = 4
QUANTILE = 0.95
#: Sums of the same numbers in another order differ by as much.
EVEN = 1e-12


def win_loss_html(grid: WinLossGrid, anchor: str) -> Html:
    """A row for each strategy: a cell for each topic, then the number of topics won, even and lost."""
    sizes = np.abs(grid.differences[np.isfinite(grid.differences) & (np.abs(grid.differences) > EVEN)])
    largest = float(np.quantile(sizes, QUANTILE, method="higher")) if len(sizes) else 0.0
    rows = join(_strategy_row(*row, largest) for row in zip(grid.rows, grid.differences, strict=True))
    head, body = element("thead", _topic_heads(grid)), element("tbody", "\n", rows, "\n")
    table = element("table", "\n", join((head, body)), "\n", class_="grid")
    parts = (
        element("figcaption", grid.caption),
        _scrollable(grid.caption, table),
        _key(grid, largest),
        _note(grid.note),
        _json_script(page_data(grid)),
    )
    dense = "" if len(grid.topics) <= MAX_SIGNED_TOPICS else " dense"
    return element("figure", "\n", join(parts), "\n", class_=f"win-loss{dense}", id=anchor)


def _topic_heads(grid: WinLossGrid) -> Html:
    if len(grid.topics) <= MAX_NAMED_TOPICS:
        topics = [element("th", element("span", topic), scope="col", class_="topic") for topic in grid.topics]
    else:
        topics = [element("th", f"{len(grid.topics)} topics", scope="colgroup", colspan=len(grid.topics))]
    counts = [element("th", head, scope="col", class_="figure") for head in ("won", "even", "lost")]
    return element("tr", element("td"), *topics, *counts)


def _strategy_row(name: str, values: FloatArray, largest: float) -> Html:
    counts = (values > EVEN, np.abs(values) <= EVEN, values < -EVEN)
    return element(
        "tr",
        element("th", name, scope="row"),
        *(_topic_cell(value, largest) for value in values.tolist()),
        *(element("td", str(np.count_nonzero(count)), class_="figure") for count in counts),
    )


def _topic_cell(value: float, largest: float) -> Html:
    if not isfinite(value):
        return element("td", class_="unknown")
    if abs(value) <= EVEN:
        return element("td", "=", class_="even")
    step = min(STEPS, ceil(abs(value) / largest * STEPS))
    return element("td", "+", class_=f"up-{step}") if value > 0 else element("td", MINUS, class_=f"down-{step}")


def _key(grid: WinLossGrid, largest: float) -> Html:
    """The legend."""
    if len(grid.topics) > MAX_SIGNED_TOPICS:
        better, worse, even = "", "", ""
        scale = f"The tallest bar is a difference of {number_text(largest)} or more."
    else:
        better, worse, even = "+", MINUS, "="
        scale = f"The larger the difference, the stronger the colour; the strongest is {number_text(largest)} or more."
    return element(
        "p",
        element("span", better, class_="up-3"),
        f" better than {grid.against} ",
        element("span", worse, class_="down-3"),
        " worse ",
        element("span", even, class_="even"),
        f" even. {scale}",
        class_="key",
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
    table = _bars_table(chart) if chart.kind == "bars" else _curves_table(chart)
    return _figure("chart", anchor, _plain(chart.title, table, chart.note), chart_data(chart))


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
    return element("figure", "\n", plain, "\n", _json_script(data), "\n", class_=kind, id=anchor)


def _json_script(values: dict[str, Any]) -> Html:
    return element("script", Html(script_json(values)), type="application/json")


def script_json(values: Any) -> str:
    """JSON that may stand within a script element."""
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.translate({ord(sign): safe for sign, safe in UNSAFE_IN_SCRIPT.items()})


def _plain(title: str, table: Html, note: str) -> Html:
    """What readers without scripts see."""
    parts = join((element("h3", title), element("div", table, class_="wide"), _note(note)))
    return element("div", "\n", parts, "\n", class_="plain")


def _curves_table(chart: Chart) -> Html:
    """A row for each curve, a column for each position."""
    positions = _table_positions(chart.series)
    rows = [[series.name, *(_value_at(series, x) for x in positions)] for series in chart.series]
    return _plain_table((chart.x_label, *map(number_text, positions)), rows)


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


def _bars_table(chart: Chart) -> Html:
    """A row for each category, a column for each series."""
    rows = [[name, *(_bar_at(series, at) for series in chart.series)] for at, name in enumerate(chart.categories)]
    return _plain_table((chart.x_label, *(series.name for series in chart.series)), rows)


def _bar_at(series: Series, category: int) -> str:
    found = np.flatnonzero(series.x == category)
    return _with_error(series, int(found[0])) if len(found) else DASH


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
