"""The report of a comparison, from `comparison.json` alone: conclusion, ranking, curves, wins and losses, settings."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import in_lines
from scenthound.errors import printable
from scenthound.experiments.compare.comparison import MARKS, ComparisonResult, RankedContestant
from scenthound.experiments.compare.measures import MeanCurves
from scenthound.experiments.compare.ranking import MARGIN_SHARE, N_HALVINGS, Mark, RankingRow
from scenthound.experiments.compare.results import read_comparison
from scenthound.experiments.compare.settings import left_out_notes
from scenthound.experiments.results import Renderer
from scenthound.experiments.statistics import PairedSample, describe_spread
from scenthound.model import Progress, silent
from scenthound.registry import format_value
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    CodeBlock,
    Document,
    Figure,
    Paragraphs,
    Section,
    Series,
    Table,
    WinLossGrid,
    notes_section,
    settings_section,
)
from scenthound.ui.figures import (
    COLOURS,
    Format,
    add_legend,
    drawn,
    figure_files,
    image_bytes,
    new_drawing,
    plain_axes,
    require_figures,
    settle,
)
from scenthound.ui.formats import (
    NO_VALUE,
    counted,
    format_interval,
    format_mean,
    format_number,
    format_percent,
    plural,
    version_rows,
)
from scenthound.ui.html import document_html

#: More curves would cover each other; the others appear when the reader selects them.
MAX_VISIBLE_CURVES = 6
MAX_GRID_ROWS = 40
MAX_TOPIC_CHARACTERS = 40
BOUNDS = {"random": "random crawl", "oracle": "omniscient crawl"}
#: Labels of the settings in the file.
SETTING_LABELS = {
    "web": "web",
    "web_fingerprint": "fingerprint of the web",
    "topics_file": "topics",
    "by": "decided by",
    "pages": "pages per crawl",
    "seeds": "random starts of each topic",
    "task": "crawls start from",
    "start": "start pages",
    "mode": "mode",
    "relevance": "relevance model of all strategies",
}
#: Colour, shape and legend of a row in the figure of the ranking.
ROW_STYLES = {
    Mark.BEST: (COLOURS[0], "o", "best, or shown to be as good"),
    Mark.ALIKE: (COLOURS[0], "o", "best, or shown to be as good"),
    Mark.UNCLEAR: (COLOURS[4], "D", "not clear"),
    Mark.WORSE: ("#777777", "s", "clearly worse"),
}


def stored_comparison_report(folder: Path) -> Document:
    """InvalidInput if the folder is not a comparison."""
    return comparison_report(read_comparison(folder))


def comparison_report(compared: ComparisonResult) -> Document:
    n_topics = len(compared.topics)
    return Document(
        kind="comparison",
        title=f"Which strategy for {compared.topics[0] if n_topics == 1 else f'{n_topics} topics'}?",
        summary=(*conclusion_lines(compared), compared.says),
        sections=tuple(_sections(compared)),
        key_facts=tuple(_key_facts(compared)),
    )


def _key_facts(compared: ComparisonResult) -> Iterator[tuple[str, str]]:
    best = compared.ranking[0]
    yield f"{compared.metric} of the best", format_mean(best.mean, best.standard_error)
    yield "after", counted(compared.step, "page")
    n_starts = compared.seeds
    yield plural(len(compared.ranking), "strategy"), f"{len(compared.ranking):,}"
    yield plural(len(compared.topics), "topic"), f"{len(compared.topics):,}"
    yield f"{plural(n_starts, 'start')} of each", f"{n_starts:,}"


def _sections(compared: ComparisonResult) -> Iterator[Section]:
    yield Section("Ranking", (ranking_table(compared),))
    yield Section("Curves", (curves_chart(compared, compared.curves),) if compared.curves is not None else ())
    has_sweep = bool(compared.sweeps and compared.contestants)
    yield Section("Parameter values", (sweep_chart(compared),) if has_sweep else ())
    has_pairs = len(compared.ranking) > 1 and len(compared.observed.names) > 1
    yield Section("Wins and losses", (win_loss_grid(compared),) if has_pairs else ())
    yield Section("Other measurements", (measurements_table(compared),))
    yield notes_section(notes_of(compared))
    yield Section("Start it live", tuple(_live(compared)))
    yield _settings(compared)


# Text


def notes_of(compared: ComparisonResult) -> tuple[str, ...]:
    """What limits the result, and which strategies were left out."""
    return (*compared.notes, *left_out_notes(compared.left_out))


def conclusion_lines(compared: ComparisonResult) -> Iterator[str]:
    """Which strategy is best or why none is, which are as good or may be, on how many topics, and how stable the choice
    is."""
    winner = compared.ranking[0]
    value = f"{printable(winner.strategy)}, with {compared.by} of {format_number(winner.mean)}"
    if compared.verdict is not None and compared.verdict.best:
        n_others = len(compared.ranking) - 1
        yield f"Best: {value}; significantly better than {counted(n_others, 'other')}."
    else:
        if compared.verdict is not None:
            yield f"Cannot tell which strategy is best, because {printable(compared.verdict.because)}."
        yield f"Highest mean: {value}." if not compared.lower_is_better else f"Lowest mean: {value}."
    for mark, text in (
        (Mark.ALIKE, f"As good, within {format_percent(MARGIN_SHARE)}"),
        (Mark.UNCLEAR, "Not distinguishable from it"),
    ):
        names = [printable(row.strategy) for row in compared.ranking if row.mark == mark]
        if names:
            yield f"{text}: {', '.join(names)}."
    if compared.topics_won is not None:
        won = compared.topics_won
        wins, ties, losses = won.wins, won.ties, won.losses
        yield (
            f"Of {wins + ties + losses} topics it is ahead of all others on {wins}, level with the best of them on "
            f"{ties}, and behind on {losses}."
        )
    if not isnan(compared.held_out) and len(compared.ranking) > 1:
        yield (
            f"The best of {len(compared.ranking)} may look better than it is. If one half of the observations is used "
            f"to choose and the other half to measure, the chosen one has {format_number(compared.held_out)}; "
            f"{printable(winner.strategy)} is chosen in {format_percent(winner.chosen_share)} of {N_HALVINGS:,} random "
            "splits."
        )


def spread_text(compared: ComparisonResult) -> str:
    """What means and standard errors are over. Starts from the same pages count once."""
    n_starts = len(compared.observed.names) if compared.observed.of == "starts" else compared.seeds
    if all(isnan(row.standard_error) for row in compared.ranking):
        n_starts = 1
    return describe_spread([PairedSample(np.zeros((len(compared.topics), n_starts)))])


def _direction(compared: ComparisonResult) -> str:
    return "less is better" if compared.lower_is_better else "more is better"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# Tables


def ranking_table(compared: ComparisonResult) -> Table:
    signs = "  ".join(f"{mark} {text}." for mark, text in MARKS.items())
    columns: dict[str, Callable[[RankingRow], Cell | str]] = {
        "": lambda row: str(row.rank),
        "strategy": lambda row: Cell(row.name, emphasis=row.rank == 1),
        "mean": lambda row: Cell(format_mean(row.mean, row.standard_error), mark=row.mark, emphasis=row.rank == 1),
        "difference": lambda row: format_number(row.difference.mean, "+") if row.difference else "",
        "95 % interval": lambda row: format_interval(row.difference.low, row.difference.high) if row.difference else "",
        "corrected p": lambda row: "" if isnan(row.p_corrected) else f"{row.p_corrected:.3f}",
    }
    return Table.build(
        "ranking",
        f"{_capital(compared.metric)} after {counted(compared.step, 'page')} ({_direction(compared)})",
        columns,
        compared.ranking,
        n_text_columns=2,
        note=f"{_capital(spread_text(compared))}. {signs} {compared.reading}",
    )


#: Columns of the table of other measurements, each with what the note says about it.
MEASUREMENTS: dict[str, tuple[Callable[[RankingRow], str], str]] = {
    "precision": (lambda row: format_number(row.precision), ""),
    "recall": (lambda row: format_number(row.recall), ""),
    "gap closed": (
        lambda row: format_percent(row.gap_closed),
        "Gap closed: from {random}, a random crawl, to {oracle}, an omniscient one.",
    ),
    "chosen by halves": (
        lambda row: format_percent(row.chosen_share),
        "Chosen by halves: how often it is the best in one half of the observations.",
    ),
    "CPU µs per page": (
        lambda row: NO_VALUE if isnan(row.cpu_us_per_page) else f"{row.cpu_us_per_page:,.0f}",
        "CPU: of one short crawl without compiled code.",
    ),
    "not recorded per page": (
        lambda row: format_number(row.missing_per_page),
        "Not recorded: requested pages that the web lacks, for each page visited.",
    ),
}


def measurements_table(compared: ComparisonResult) -> Table:
    known = {
        title: entry
        for title, entry in MEASUREMENTS.items()
        if any(entry[0](row) != NO_VALUE for row in compared.ranking)
    }
    note = " ".join(text for _, text in known.values() if text)
    bounds = {name: format_number(getattr(compared.bounds, name)) for name in BOUNDS}
    return Table.build(
        "measurements",
        f"The same crawls, after {counted(compared.step, 'page')}",
        {"strategy": lambda row: row.name, **{title: cell for title, (cell, _) in known.items()}},
        compared.ranking,
        note=note.format(**bounds),
    )


# Charts


def curves_chart(compared: ComparisonResult, curves: MeanCurves) -> Chart:
    pages = curves.pages.astype(np.float64)
    rows = tuple(
        Series(row.name, pages, mean, error, hidden=row.rank > MAX_VISIBLE_CURVES)
        for row, mean, error in zip(compared.ranking, curves.mean, curves.standard_error, strict=True)
    )
    bounds = (Series(name, pages, getattr(curves, field), reference=True) for field, name in BOUNDS.items())
    return Chart(
        name="curves",
        title=f"{_capital(compared.metric)} during the crawls",
        x_label="pages visited",
        y_label=f"{compared.metric} ({_direction(compared)})",
        series=(*rows, *(bound for bound in bounds if np.isfinite(bound.y).any())),
        note="Means over the observations; bands are one standard error to either side.",
    )


def sweep_chart(compared: ComparisonResult) -> Chart:
    """The metric against the first parameter: curves if all its values are numbers, else bars; one series for each
    strategy and each value of the other parameters."""
    parameter = next(iter(compared.sweeps))
    values = _parameter_values(swept(compared))
    are_numbers = all(map(_is_number, values))
    return Chart(
        name="sweep",
        title=f"{_capital(compared.metric)} after {counted(compared.step, 'page')}, by {parameter}",
        x_label=parameter,
        y_label=f"{compared.metric} ({_direction(compared)})",
        series=tuple(_sweep_series(compared, values, are_numbers)),
        kind="curves" if are_numbers else "bars",
        categories=() if are_numbers else tuple(map(_value_text, values)),
        note=f"{_capital(spread_text(compared))}, as bands or whiskers to either side.",
        discrete=True,
    )


def swept(compared: ComparisonResult) -> list[RankedContestant]:
    """The contestants of the sweeps, without the baseline."""
    return [each for each in compared.contestants if each.swept]


def _sweep_series(compared: ComparisonResult, values: Sequence[Any], are_numbers: bool) -> Iterator[Series]:
    rows = {row.rank: row for row in compared.ranking}
    lines: dict[str, dict[object, RankingRow]] = {}
    for each in swept(compared):
        lines.setdefault(_line_name(compared, each), {})[each.swept[0]] = rows[each.rank]
    for name, points in lines.items():
        present = [value for value in values if value in points]
        x = [float(value) if are_numbers else float(values.index(value)) for value in present]
        means, errors = ([getattr(points[each], field) for each in present] for field in ("mean", "standard_error"))
        yield Series(name, np.array(x), np.array(means), np.array(errors))


def _parameter_values(contestants: Sequence[RankedContestant]) -> list[Any]:
    """The values of the first parameter, each once: sorted if all are numbers, else as given."""
    values: list[Any] = list(dict.fromkeys(each.swept[0] for each in contestants))
    return sorted(values) if all(map(_is_number, values)) else values


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _line_name(compared: ComparisonResult, contestant: RankedContestant) -> str:
    others = list(zip(compared.sweeps, contestant.swept, strict=True))[1:]
    return ", ".join([contestant.base, *(f"{parameter}={_value_text(value)}" for parameter, value in others)])


def _value_text(value: object) -> str:
    return format_value(value) if value is None or isinstance(value, str | int | float) else str(value)


def win_loss_grid(compared: ComparisonResult) -> WinLossGrid:
    """The others against the best, by topic, or by start if there is one topic only."""
    best, *others = compared.ranking
    sign = -1.0 if compared.lower_is_better else 1.0
    listed, has_topics = others[:MAX_GRID_ROWS], len(compared.topics) > 1
    cut = f" The first {MAX_GRID_ROWS} of {len(others)} others are shown." if len(others) > MAX_GRID_ROWS else ""
    when = counted(compared.step, "page") + (", averaged over its starts" if has_topics else "")
    return WinLossGrid(
        name="win-loss",
        caption=f"{'Topic by topic' if has_topics else 'Start by start'}: the others against {best.name}",
        against=best.name,
        rows=tuple(row.name for row in listed),
        topics=compared.observed.names,
        differences=sign * np.array([row.observations - best.observations for row in listed]),
        note=f"{_capital(compared.metric)} after {when}; more than 0 is better than the best.{cut}",
    )


def draw_ranking(compared: ComparisonResult) -> Any:
    """The figure of the ranking, for image files: a line for each row, the best at the top; vertical lines are the
    bounds."""
    drawing = new_drawing(7.2, 1.6 + 0.26 * len(compared.ranking))
    axes = drawing.add_subplot()
    for row in compared.ranking:
        colour, shape, label = ROW_STYLES[row.mark]
        error = np.nan_to_num(row.standard_error)
        axes.errorbar(row.mean, -row.rank, xerr=error, fmt=shape, color=colour, label=label)
    axes.set_yticks([-row.rank for row in compared.ranking], [drawn(row.name) for row in compared.ranking])
    axes.set_ylim(-len(compared.ranking) - 0.6, -0.4)
    for value, name, line in zip(
        (compared.bounds.random, compared.bounds.oracle), BOUNDS.values(), (":", "--"), strict=True
    ):
        if np.isfinite(value):
            axes.axvline(value, linestyle=line, color="#777777", linewidth=1, label=name)
    axes.set_xlabel(drawn(f"{compared.metric} after {compared.step:,} pages ({_direction(compared)})"))
    topics = compared.topics
    of = f"topic {drawn(topics[0], MAX_TOPIC_CHARACTERS)}" if len(topics) == 1 else f"{len(topics)} topics"
    axes.set_title(f"{of}: {spread_text(compared)}", fontsize="small")
    plain_axes(axes)
    add_legend(drawing)
    settle(drawing)
    return drawing


def sweep_figure(compared: ComparisonResult) -> Figure:
    chart = sweep_chart(compared)
    return Figure("sweep", chart.title, (chart,))


# Commands and settings


def _live(compared: ComparisonResult) -> Iterator[Block]:
    if compared.command:
        yield CodeBlock("Command to start the best one on the live web", in_lines(compared.command))
    if compared.command_note:
        yield Paragraphs((compared.command_note,))


def _settings(compared: ComparisonResult) -> Section:
    values = {label: getattr(compared, name) for name, label in SETTING_LABELS.items()}
    rows = [(label, str(value)) for label, value in values.items() if value is not None]
    rows += [(f"values of {name}", ", ".join(swept)) for name, swept in compared.sweeps.items()]
    rows.append(("topics compared", ", ".join(compared.topics)))
    versions = version_rows({"versions": compared.versions or {"scenthound": compared.scenthound}})
    return settings_section((*rows, *versions), compared.repeat, "Command to repeat the comparison")


# Files of a comparison's folder


def comparison_images(compared: ComparisonResult, _progress: Progress = silent) -> dict[str, bytes]:
    """The ranking, and the sweep if there is one, as SVG and PNG."""
    drawing = draw_ranking(compared)
    forms: tuple[Format, ...] = ("svg", "png")
    ranking = {f"ranking.{form}": image_bytes(drawing, form) for form in forms}
    return ranking | (figure_files([sweep_figure(compared)]) if compared.sweeps else {})


RENDERER: Renderer[ComparisonResult] = Renderer(
    figures=comparison_images,
    report=lambda compared, _out: document_html(comparison_report(compared)),
    check=lambda: require_figures("Drawing a comparison"),
)
