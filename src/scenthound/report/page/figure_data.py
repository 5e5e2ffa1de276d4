"""What charts and graphs hand to the scripts that draw them, as plain values for JSON.

Rules
- Whole numbers, of which most are counts, are exact; others have five digits that count. What is no number is null, a
  gap.
- A curve has at most `MOST_POINTS` points. Half of those kept are spread evenly, half ever closer to the beginning,
  because readers may look at it on a logarithmic axis.
"""

from typing import Any

import numpy as np

from scenthound.model import FloatArray, LongArray
from scenthound.report.page.texts import shown
from scenthound.report.page.values import Chart, LinkGraph, Series, WinLoss

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
