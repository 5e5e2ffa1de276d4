"""The page of a comparison: the answer in words, the ranking, curves, topics won and lost, and how to repeat it.

It is made of what `comparison.json` tells, so it can be made anew from the folder alone.
"""

from collections.abc import Callable, Iterator, Sequence
from math import isnan
from pathlib import Path

import numpy as np

from scenthound.command_line import in_lines
from scenthound.errors import printable
from scenthound.experiments.compare.ranking import MARGIN_SHARE, N_HALVINGS, Mark
from scenthound.experiments.compare.results import (
    MARKS,
    ComparisonResult,
    RankedContestant,
    RankingCurves,
    RankingRow,
    read_comparison,
)
from scenthound.registry import format_value
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    Facts,
    Page,
    Prose,
    Section,
    Series,
    TableBlock,
    Verbatim,
    WinLoss,
)
from scenthound.ui.formats import (
    NOTHING,
    counted,
    interval_told,
    mean_told,
    number_told,
    percent_told,
    things,
    versions_told,
)

# The words for a comparison: the answer in sentences, and what its figures are.


def answer_lines(told: ComparisonResult) -> Iterator[str]:
    """Who is best, who is as good, who may be, on how many topics, and what the best is worth on other starts."""
    winner = told.rows[0]
    yield f"Best: {printable(winner.strategy)}, with {told.by} of {number_told(winner.mean)}."
    for mark, words in (
        (Mark.ALIKE, f"As good, to within {percent_told(MARGIN_SHARE)}"),
        (Mark.UNCLEAR, "Not told apart from it"),
    ):
        named = [printable(row.strategy) for row in told.rows if row.mark == mark]
        if named:
            yield f"{words}: {', '.join(named)}."
    if told.topics_won is not None:
        yield _won(*told.topics_won)
    if not isnan(told.held_out) and len(told.rows) > 1:
        yield _worth(told)


def _won(wins: int, ties: int, losses: int) -> str:
    return (
        f"Of {wins + ties + losses} topics it is ahead of all others on {wins}, level with the best of them on {ties}, "
        f"and behind on {losses}."
    )


def _worth(told: ComparisonResult) -> str:
    """What the best is worth beyond the starts that it was chosen by."""
    winner = told.rows[0]
    return (
        f"The best of {len(told.rows)} may look better than it is. Where one half of the observations chooses and "
        f"the other half measures, the one chosen has {number_told(told.held_out)}; {printable(winner.strategy)} is "
        f"chosen in {percent_told(winner.chosen_share)} of {N_HALVINGS:,} such halvings."
    )


def bounds_told(told: ComparisonResult) -> str:
    return (
        f"Gap closed: from {number_told(told.random)}, a crawl at random, to {number_told(told.oracle)}, one that "
        "knows all."
    )


def better_told(told: ComparisonResult) -> str:
    return "less is better" if told.lower_is_better else "more is better"


# The charts of a comparison's page: mean curves of the metric, the metric against a parameter, wins and losses.
#
# Rules
# - Bands and whiskers are one standard error to either side.
# - The first rows of the ranking are shown at once, the others when the reader asks for them.
# - Values of a sweep that are all numbers stand on an axis; if one is a word or `none`, they stand side by side.

#: More curves at once would hide each other.
SHOWN_AT_ONCE = 6
#: A grid of more rows is read by nobody.
MOST_ROWS = 40
BOUNDS = {"random": "a crawl at random", "oracle": "one that knows all"}


def curves_chart(told: ComparisonResult, curves: RankingCurves) -> Chart:
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


def _bounds(curves: RankingCurves) -> Iterator[Series]:
    for name, words in BOUNDS.items():
        values = getattr(curves, name)
        if np.isfinite(values).any():
            yield Series(words, curves.pages, values)


def sweep_chart(told: ComparisonResult) -> Chart:
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


def _lines(told: ComparisonResult, values: Sequence[object], are_numbers: bool) -> Iterator[Series]:
    rows = {row.place: row for row in told.rows}
    lines: dict[str, dict[object, RankingRow]] = {}
    for each in told.contestants:
        lines.setdefault(_line_name(told, each), {})[each.swept[0]] = rows[each.place]
    for name, points in lines.items():
        there = [value for value in values if value in points]
        x = [_place(value, values, are_numbers) for value in there]
        means, errors = ([getattr(points[each], field) for each in there] for field in ("mean", "standard_error"))
        yield Series(name, np.array(x), np.array(means), np.array(errors))


def _values_in_order(contestants: Sequence[RankedContestant]) -> list[object]:
    """Of the first parameter, each once: by size where all are numbers, else as given."""
    values = list(dict.fromkeys(each.swept[0] for each in contestants))
    return sorted(values, key=_as_number) if all(map(_is_number, values)) else values


def _place(value: object, values: Sequence[object], are_numbers: bool) -> float:
    return _as_number(value) if are_numbers else float(values.index(value))


def _as_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _line_name(told: ComparisonResult, contestant: RankedContestant) -> str:
    others = zip(told.sweeps[1:], contestant.swept[1:], strict=True)
    return ", ".join([contestant.base, *(f"{parameter}={_written(value)}" for parameter, value in others)])


def _written(value: object) -> str:
    return format_value(value) if value is None or isinstance(value, str | int | float) else str(value)


def win_loss(told: ComparisonResult) -> WinLoss:
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


RANKING_HEADS = ("", "strategy", "mean", "difference", "95 % interval", "corrected p")
OTHER_COLUMNS: dict[str, Callable[[RankingRow], str]] = {
    "precision": lambda row: number_told(row.precision),
    "recall": lambda row: number_told(row.recall),
    "gap closed": lambda row: percent_told(row.gap_closed),
    "chosen by halves": lambda row: percent_told(row.chosen_share),
    "CPU µs per page": lambda row: NOTHING if isnan(row.cpu_us_per_page) else f"{row.cpu_us_per_page:,.0f}",
    "not recorded per page": lambda row: number_told(row.missing_per_page),
}
#: What facts call the settings of the file.
SETTINGS = {
    "web": "web",
    "web_fingerprint": "fingerprint of the web",
    "topics_file": "topics",
    "by": "decides",
    "pages": "pages per crawl",
    "seeds": "random starts of each topic",
    "task": "crawls start from",
    "start": "start pages",
    "mode": "mode",
    "relevance": "guide of all strategies",
}


def stored_comparison_page(folder: Path) -> Page:
    """The page of the comparison in a folder; BadInput if there is none."""
    return comparison_page(read_comparison(folder))


def comparison_page(told: ComparisonResult) -> Page:
    return Page(
        kind="comparison",
        title=_title(told),
        summary=(*answer_lines(told), told.says),
        sections=tuple(section for section in _sections(told) if section.blocks),
        key_facts=tuple(_key_facts(told)),
    )


def _title(told: ComparisonResult) -> str:
    n_topics = len(told.topics)
    return f"Which strategy for {told.topics[0]}?" if n_topics == 1 else f"Which strategy for {n_topics} topics?"


def _key_facts(told: ComparisonResult) -> Iterator[tuple[str, str]]:
    best = told.rows[0]
    yield f"{told.metric} of the best", mean_told(best.mean, best.standard_error)
    yield "after", counted(told.pages, "page")
    n_starts = int(told.values["seeds"])
    for thing, number in (("strategy", len(told.rows)), ("topic", len(told.topics)), ("start", n_starts)):
        yield things(number, thing) + (" of each" if thing == "start" else ""), f"{number:,}"


def _sections(told: ComparisonResult) -> Iterator[Section]:
    yield Section("Ranking", (_ranking(told),))
    yield Section("Curves", (curves_chart(told, told.curves),) if told.curves is not None else ())
    yield Section("Values of the parameter", (sweep_chart(told),) if told.sweeps and told.contestants else ())
    has_pairs = len(told.rows) > 1 and len(told.observed) > 1
    yield Section("Won and lost", (win_loss(told),) if has_pairs else ())
    yield Section("What else was measured", (_others(told),))
    yield Section("Notes", (Prose(told.notes, as_list=True),) if told.notes else ())
    yield Section("Start it live", tuple(_live(told)))
    yield Section("Settings and versions", tuple(_settings(told)), folded=True)


def _ranking(told: ComparisonResult) -> TableBlock:
    signs = "  ".join(f"{mark} {words}." for mark, words in MARKS.items())
    return TableBlock(
        name="ranking",
        caption=f"{told.metric} after {counted(told.pages, 'page')} ({better_told(told)})",
        heads=RANKING_HEADS,
        rows=tuple(map(_ranking_row, told.rows)),
        n_words=2,
        note=f"{signs} {told.values['reading']}",
    )


def _ranking_row(row: RankingRow) -> tuple[Cell, ...]:
    is_best = row.place == 1
    difference = "" if is_best else number_told(row.difference, "+")
    interval = "" if is_best else interval_told(row.low, row.high)
    p = "" if isnan(row.p_corrected) else f"{row.p_corrected:.3f}"
    return (
        Cell(str(row.place)),
        Cell(row.name, emphasis=is_best),
        Cell(mean_told(row.mean, row.standard_error), mark=row.mark, emphasis=is_best),
        *map(Cell, (difference, interval, p)),
    )


def _others(told: ComparisonResult) -> TableBlock:
    known = {head: cell for head, cell in OTHER_COLUMNS.items() if any(cell(row) != NOTHING for row in told.rows)}
    words = {
        "gap closed": bounds_told(told),
        "chosen by halves": "Chosen by halves: how often it is the best in one half of the observations.",
        "CPU µs per page": "CPU: of one short crawl by plain code.",
        "not recorded per page": "Not recorded: pages that crawls wanted and the web lacks, for each page visited.",
    }
    return TableBlock(
        name="others",
        caption=f"The same crawls, after {counted(told.pages, 'page')}",
        heads=("strategy", *known),
        rows=tuple((Cell(row.name), *(Cell(cell(row)) for cell in known.values())) for row in told.rows),
        note=" ".join(said for head, said in words.items() if head in known),
    )


def _live(told: ComparisonResult) -> Iterator[Block]:
    if told.values["command"]:
        yield Verbatim("This command starts the best one on the web itself", in_lines(told.values["command"]))
    if told.values["command_note"]:
        yield Prose((told.values["command_note"],))


def _settings(told: ComparisonResult) -> Iterator[Block]:
    values = told.values
    rows = [(words, str(values[name])) for name, words in SETTINGS.items() if values.get(name) is not None]
    rows += [(f"values of {name}", ", ".join(map(str, swept))) for name, swept in values["sweeps"].items()]
    rows.append(("topics compared on", ", ".join(told.topics)))
    rows.append(("versions", versions_told(values.get("versions", {"scenthound": values["scenthound"]}))))
    yield Facts(tuple(rows))
    if values.get("repeat"):
        yield Verbatim("This command makes the comparison again", in_lines(values["repeat"]))
