"""The charts of a comparison's page: mean curves of the metric, the metric against a parameter, wins and losses.

Rules
- Bands and whiskers are one standard error to either side.
- The first rows of the ranking are shown at once, the others when the reader asks for them.
- Values of a sweep that are all numbers stand on an axis; if one is a word or `none`, they stand side by side.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from scenthound.registry import written
from scenthound.report.comparisons.told import ToldComparison, ToldContestant, ToldCurves, ToldRow
from scenthound.report.comparisons.words import better_told
from scenthound.report.number_words import counted
from scenthound.report.page.values import Chart, Series, WinLoss

#: More curves at once would hide each other.
SHOWN_AT_ONCE = 6
#: A grid of more rows is read by nobody.
MOST_ROWS = 40
BOUNDS = {"random": "a crawl at random", "oracle": "one that knows all"}


def curves_chart(told: ToldComparison, curves: ToldCurves) -> Chart:
    """The way of the metric to the point where it decides."""
    rows = tuple(
        Series(row.name, curves.pages, mean, error, hidden=place >= SHOWN_AT_ONCE)
        for place, (row, mean, error) in enumerate(zip(told.rows, curves.mean, curves.standard_error, strict=True))
    )
    return Chart(
        name="curves",
        title=f"{_capital(told.metric)} while crawls go on",
        x_label="pages visited",
        y_label=f"{told.metric} ({better_told(told)})",
        series=(*rows, *_bounds(curves)),
        note="Means over the observations; bands are one standard error to either side.",
    )


def _bounds(curves: ToldCurves) -> Iterator[Series]:
    for name, words in BOUNDS.items():
        values = getattr(curves, name)
        if np.isfinite(values).any():
            yield Series(words, curves.pages, values)


def sweep_chart(told: ToldComparison) -> Chart:
    """The metric against the first parameter, with a line or bars for each strategy and each value of the others."""
    parameter = told.sweeps[0]
    values = _values_in_order(told.contestants)
    are_numbers = all(map(_is_number, values))
    return Chart(
        name="sweep",
        title=f"{_capital(told.metric)} after {counted(told.pages, 'page')}, by {parameter}",
        x_label=parameter,
        y_label=f"{told.metric} ({better_told(told)})",
        series=tuple(_lines(told, values, are_numbers)),
        kind="curves" if are_numbers else "bars",
        places=() if are_numbers else tuple(map(_written, values)),
        note="Means; bands and whiskers are one standard error to either side.",
    )


def _lines(told: ToldComparison, values: Sequence[object], are_numbers: bool) -> Iterator[Series]:
    rows = {row.place: row for row in told.rows}
    lines: dict[str, dict[object, ToldRow]] = {}
    for each in told.contestants:
        lines.setdefault(_line_name(told, each), {})[each.swept[0]] = rows[each.place]
    for name, points in lines.items():
        there = [value for value in values if value in points]
        x = [_place(value, values, are_numbers) for value in there]
        means, errors = ([getattr(points[each], field) for each in there] for field in ("mean", "standard_error"))
        yield Series(name, np.array(x), np.array(means), np.array(errors))


def _values_in_order(contestants: Sequence[ToldContestant]) -> list[object]:
    """Of the first parameter, each once: by size where all are numbers, else as given."""
    values = list(dict.fromkeys(each.swept[0] for each in contestants))
    return sorted(values, key=_as_number) if all(map(_is_number, values)) else values


def _place(value: object, values: Sequence[object], are_numbers: bool) -> float:
    return _as_number(value) if are_numbers else float(values.index(value))


def _as_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _line_name(told: ToldComparison, contestant: ToldContestant) -> str:
    others = zip(told.sweeps[1:], contestant.swept[1:], strict=True)
    return ", ".join([contestant.base, *(f"{parameter}={_written(value)}" for parameter, value in others)])


def _written(value: object) -> str:
    return written(value) if value is None or isinstance(value, str | int | float) else str(value)


def win_loss(told: ToldComparison) -> WinLoss:
    """Topic by topic, or start by start, how the others did beside the best."""
    best, *others = told.rows
    sign = -1.0 if told.lower_is_better else 1.0
    shown = others[:MOST_ROWS]
    cut = f" The first {MOST_ROWS} of {len(others)} others are shown." if len(others) > MOST_ROWS else ""
    of_topics = "Topic by topic" if len(told.topics) > 1 else "Start by start"
    when = counted(told.pages, "page") + (", in the mean of its starts" if len(told.topics) > 1 else "")
    return WinLoss(
        name="win-loss",
        caption=f"{of_topics}: the others beside {best.name}",
        against=best.name,
        rows=tuple(row.name for row in shown),
        topics=told.observed,
        differences=sign * np.array([row.observations - best.observations for row in shown]),
        note=f"{_capital(told.metric)} after {when}; more than 0 is better than the best.{cut}",
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
