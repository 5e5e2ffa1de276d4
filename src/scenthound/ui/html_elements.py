"""Texts on their way into a page: escaped, stripped of what no reader should meet, and made into names and numbers.

Rules
- Every text may come from a crawled page. Control characters, halves of letters and signs that turn the direction of
  writing become a box, so that a title can neither break the file nor dress up as another.
- Only http and https make a link.
"""

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, isfinite
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from scenthound.model import FloatArray, LongArray
from scenthound.ui.document import Cell, Chart, LinkGraph, Series, TableBlock, WinLoss

#: What stands for a sign that is not shown.
BOX = "\ufffd"
#: Controls other than tab and line feed, what turns the direction of writing, and halves of letters.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
#: Within a script these could end it, or be read as something else by a careless reader.
RISKY = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
#: The signs that printers set; keyboards have a hyphen for both.
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
#: Numbers from here on have no digits after the point.
WHOLE = 1000


def shown(text: str) -> str:
    """A text from outside as it may be shown; not escaped yet."""
    return UNSEEN.sub(BOX, text)


def text_html(text: str) -> str:
    return escape(shown(text))


def data_json(values: Any) -> str:
    """Plain values as JSON that may stand within a script element."""
    told = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return "".join(RISKY.get(sign, sign) for sign in told) if any(sign in told for sign in RISKY) else told


def link_html(text: str, url: str) -> str:
    """A text as a link, if its URL is one that people can safely follow."""
    if not is_web_address(url):
        return text_html(text)
    return f'<a href="{text_html(url)}" target="_blank" rel="noopener noreferrer">{text_html(text)}</a>'


def is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and not UNSEEN.search(url)


def number_text(value: float) -> str:
    """A number for people: four digits that count, thousands set apart; a dash for what is no number."""
    if not isfinite(value):
        return DASH
    told = f"{value:,.0f}" if abs(value) >= WHOLE else f"{value:.4g}"
    return told.replace("-", MINUS)


class Anchors:
    """Gives out the ids of one page: words that can stand in an address, none of them twice."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"
        anchor, count = stem, 1
        while anchor in self._taken:
            count += 1
            anchor = f"{stem}-{count}"
        self._taken.add(anchor)
        return anchor


# What charts and graphs hand to the scripts that draw them, as plain values for JSON.
#
# Rules
# - Whole numbers, of which most are counts, are exact; others have five digits that count. What is no number is null,
#   a gap.
# - A curve has at most `MOST_POINTS` points. Half of those kept are spread evenly, half ever closer to the beginning,
#   because readers may look at it on a logarithmic axis.

MOST_POINTS = 500
DIGITS = 5
#: From here on not every whole number is one of JavaScript's.
LARGE = 2**53


def chart_data(chart: Chart) -> dict[str, Any]:
    return {
        "name": shown(chart.name),
        "title": shown(chart.title),
        "x_label": shown(chart.x_label),
        "y_label": shown(chart.y_label),
        "kind": chart.kind,
        "places": [shown(place) for place in chart.places],
        "marks": [{"x": rounded(mark.x), "says": shown(mark.says)} for mark in chart.marks],
        "note": shown(chart.note),
        "series": [_series(each, is_thinned=chart.kind == "curves") for each in chart.series],
    }


def _series(series: Series, is_thinned: bool) -> dict[str, Any]:
    kept = kept_points(len(series.x)) if is_thinned else slice(None)
    return {
        "name": shown(series.name),
        "x": _numbers(series.x[kept]),
        "y": _numbers(series.y[kept]),
        "error": None if series.error is None else _numbers(series.error[kept]),
        "hidden": series.hidden,
    }


def kept_points(n_points: int) -> LongArray:
    """The places of the points that are kept of so many; the first and the last are always among them."""
    if n_points <= MOST_POINTS:
        return np.arange(n_points)
    even = np.linspace(0, n_points - 1, MOST_POINTS // 2)
    early = np.geomspace(1, n_points, MOST_POINTS // 2) - 1
    return np.unique(np.rint(np.concatenate([even, early])).astype(np.int64))


def graph_data(graph: LinkGraph) -> dict[str, Any]:
    nodes = [
        {
            "title": shown(node.title),
            "url": shown(node.url),
            "visit": node.visit,
            "relevance": rounded(node.relevance),
            "distance": node.distance,
            "parent": node.parent,
        }
        for node in graph.nodes
    ]
    links = [list(link) for link in graph.links]
    return {"title": shown(graph.caption), "nodes": nodes, "links": links, "note": shown(graph.note)}


def win_loss_data(grid: WinLoss) -> dict[str, Any]:
    return {
        "against": shown(grid.against),
        "rows": [shown(row) for row in grid.rows],
        "topics": [shown(topic) for topic in grid.topics],
        "differences": [_numbers(row) for row in grid.differences],
    }


def _numbers(values: FloatArray) -> list[float | None]:
    return [rounded(value) for value in values.tolist()]


def rounded(value: float) -> float | None:
    """A number as short as it may be: whole ones without a point."""
    if not np.isfinite(value):
        return None
    short = float(value if float(value).is_integer() else f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < LARGE else short


# Tables and per-topic grids within a page, whole without scripts: those only sort them, and say more of a cell.

#: A grid of more topics has no room for their names; they are told when pointed at.
MOST_NAMED_TOPICS = 14
#: A grid of more topics has no room for signs: bars above and below a middle tell the same.
MOST_SIGNED_TOPICS = 40
#: Differences are shown in so many steps up to the size that all but a few of them keep below: one topic out of the
#: common would make all others look even.
STEPS = 4
COMMON = 0.95
#: Less is no difference: sums of the same numbers in another order differ by as much.
EVEN = 1e-12


def table_html(table: TableBlock, anchor: str) -> str:
    heads = "".join(
        f'<th scope="col"{_figure_class(place, table)}>{text_html(head)}</th>' for place, head in enumerate(table.heads)
    )
    rows = "\n".join(_row(row, table) for row in table.rows)
    marked = " marked" if any(cell.mark for row in table.rows for cell in row) else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{text_html(table.caption)}">\n'
        f'<table class="sortable{marked}" id="{anchor}">\n<caption>{text_html(table.caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>{_note(table.note)}"
    )


def _row(cells: tuple[Cell, ...], table: TableBlock) -> str:
    return f"<tr>{''.join(_cell(cell, place, table) for place, cell in enumerate(cells))}</tr>"


def _cell(cell: Cell, place: int, table: TableBlock) -> str:
    words = link_html(cell.text, cell.link) if cell.link else text_html(cell.text)
    words = f"<strong>{words}</strong>" if cell.emphasis else words
    mark = f'<sup class="mark">{text_html(cell.mark)}</sup>' if cell.mark else ""
    value = None if cell.value is None else rounded(cell.value)
    sorted_by = "" if value is None else f' data-value="{value}"'
    tag, scope = ("th", ' scope="row"') if place == 0 and table.n_words else ("td", "")
    return f"<{tag}{scope}{_figure_class(place, table)}{sorted_by}>{words}{mark}</{tag}>"


def _figure_class(place: int, table: TableBlock) -> str:
    return ' class="figure"' if place >= table.n_words else ""


def win_loss_html(grid: WinLoss, anchor: str) -> str:
    """A row for each contestant: a cell for each topic, then how many topics were won, even and lost."""
    sizes = np.abs(grid.differences[np.isfinite(grid.differences) & (np.abs(grid.differences) > EVEN)])
    largest = float(np.quantile(sizes, COMMON, method="higher")) if len(sizes) else 0.0
    rows = "\n".join(
        _contestant(name, values, largest) for name, values in zip(grid.rows, grid.differences, strict=True)
    )
    dense = "" if len(grid.topics) <= MOST_SIGNED_TOPICS else " dense"
    return (
        f'<figure class="win-loss{dense}" id="{anchor}">\n<figcaption>{text_html(grid.caption)}</figcaption>\n'
        f'<div class="wide" tabindex="0" role="region" aria-label="{text_html(grid.caption)}">\n'
        f'<table class="grid">\n<thead>{_topic_heads(grid)}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>\n'
        f"{_key(grid, largest)}{_note(grid.note)}\n"
        f'<script type="application/json">{data_json(win_loss_data(grid))}</script>\n</figure>'
    )


def _topic_heads(grid: WinLoss) -> str:
    if len(grid.topics) <= MOST_NAMED_TOPICS:
        topics = "".join(f'<th scope="col" class="topic"><span>{text_html(topic)}</span></th>' for topic in grid.topics)
    else:
        topics = f'<th scope="colgroup" colspan="{len(grid.topics)}">{len(grid.topics)} topics</th>'
    counts = "".join(f'<th scope="col" class="figure">{head}</th>' for head in ("won", "even", "lost"))
    return f"<tr><td></td>{topics}{counts}</tr>"


def _contestant(name: str, values: FloatArray, largest: float) -> str:
    cells = "".join(_topic_cell(float(value), largest) for value in values)
    counts = (values > EVEN, np.abs(values) <= EVEN, values < -EVEN)
    told = "".join(f'<td class="figure">{np.count_nonzero(count)}</td>' for count in counts)
    return f'<tr><th scope="row">{text_html(name)}</th>{cells}{told}</tr>'


def _topic_cell(value: float, largest: float) -> str:
    if not np.isfinite(value):
        return '<td class="unknown"></td>'
    if abs(value) <= EVEN:
        return '<td class="even">=</td>'
    step = min(STEPS, ceil(abs(value) / largest * STEPS))
    return f'<td class="up-{step}">+</td>' if value > 0 else f'<td class="down-{step}">{MINUS}</td>'


def _key(grid: WinLoss, largest: float) -> str:
    """What the signs and bars say."""
    against, most = text_html(grid.against), number_text(largest)
    if len(grid.topics) > MOST_SIGNED_TOPICS:
        ups, downs, even = "", "", ""
        told = f"The tallest bar is a difference of {most} or more."
    else:
        ups, downs, even = "+", MINUS, "="
        told = f"The larger the difference, the stronger the colour; the strongest is {most} or more."
    return (
        f'<p class="key"><span class="up-3">{ups}</span> better than {against} '
        f'<span class="down-3">{downs}</span> worse <span class="even">{even}</span> even. {told}</p>'
    )


def _note(note: str) -> str:
    return f'\n<p class="note">{text_html(note)}</p>' if note else ""


# Charts and graphs within a page: the data for the scripts, and a small table for readers without them.
#
# The table stays when scripts have drawn the figure, out of sight, for those who have the page read to them.

#: Curves are told at so many places, of a graph so many pages.
TOLD_PLACES = 6
TOLD_PAGES = 20


def chart_html(chart: Chart, anchor: str) -> str:
    table = _bars_table(chart) if chart.kind == "bars" else _curves_table(chart)
    return _figure("chart", anchor, _plain(chart.title, table, chart.note), chart_data(chart))


def graph_html(graph: LinkGraph, anchor: str) -> str:
    rows = [
        [link_html(node.title or node.url, node.url), str(node.visit), number_text(node.relevance), str(node.distance)]
        for node in sorted(graph.nodes, key=lambda node: node.visit)[:TOLD_PAGES]
    ]
    heads = ("page", "visit", "relevance", "links from a seed")
    return _figure("graph", anchor, _plain(graph.caption, _table(heads, rows), graph.note), graph_data(graph))


def _figure(kind: str, anchor: str, plain: str, data: dict[str, Any]) -> str:
    return (
        f'<figure class="{kind}" id="{anchor}">\n{plain}\n'
        f'<script type="application/json">{data_json(data)}</script>\n</figure>'
    )


def _plain(title: str, table: str, note: str) -> str:
    """What readers without scripts see."""
    told = f'<p class="note">{text_html(note)}</p>\n' if note else ""
    return f'<div class="plain">\n<h3>{text_html(title)}</h3>\n<div class="wide">{table}</div>\n{told}</div>'


def _curves_table(chart: Chart) -> str:
    """A row for each curve, a column for each place."""
    places = _told_places(chart.series)
    heads = (chart.x_label, *map(number_text, places))
    rows = [[text_html(series.name), *(_value_at(series, place) for place in places)] for series in chart.series]
    return _table(heads, rows)


def _told_places(series: Iterable[Series]) -> list[float]:
    """A few of the places that have values, from the first to the last."""
    known = np.unique(np.concatenate([np.empty(0), *(each.x[np.isfinite(each.x)] for each in series)]))
    if not len(known):
        return []
    kept = np.unique(np.rint(np.linspace(0, len(known) - 1, TOLD_PLACES)).astype(np.int64))
    return [float(place) for place in known[kept]]


def _value_at(series: Series, place: float) -> str:
    """The value at a place, or that of the nearest place before it; beyond the ends of the curve there is none."""
    before = np.flatnonzero(series.x <= place)
    is_within = len(before) > 0 and bool((series.x >= place).any())
    return _with_error(series, int(before[-1])) if is_within else number_text(np.nan)


def _bars_table(chart: Chart) -> str:
    """A row for each place, a column for each row of bars."""
    heads = (chart.x_label, *(series.name for series in chart.series))
    rows = [
        [text_html(name), *(_bar_at(series, place) for series in chart.series)]
        for place, name in enumerate(chart.places)
    ]
    return _table(heads, rows)


def _bar_at(series: Series, place: int) -> str:
    found = np.flatnonzero(series.x == place)
    return _with_error(series, int(found[0])) if len(found) else number_text(np.nan)


def _with_error(series: Series, at: int) -> str:
    error = np.nan if series.error is None else float(series.error[at])
    return number_text(float(series.y[at])) + (f" ± {number_text(error)}" if np.isfinite(error) else "")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """`heads` are texts, the cells of `rows` are HTML."""
    top = "".join(f'<th scope="col">{text_html(head)}</th>' for head in heads)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
        for first, *others in rows
    )
    return f"<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
