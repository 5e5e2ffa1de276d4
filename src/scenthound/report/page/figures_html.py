"""Charts and graphs within a page: the data for the scripts, and a small table for readers without them.

The table stays when scripts have drawn the figure, out of sight, for those who have the page read to them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scenthound.report.page.figure_data import chart_data, graph_data
from scenthound.report.page.texts import data_json, link_html, number_text, text_html
from scenthound.report.page.values import Chart, LinkGraph, Series

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
