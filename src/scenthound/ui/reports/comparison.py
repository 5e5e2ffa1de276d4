"""The report of a comparison, from `comparison.json` alone: conclusion, ranking, curves, settings."""

from collections.abc import Callable, Iterator
from math import isnan
from pathlib import Path

import numpy as np

from scenthound.command_line import in_lines
from scenthound.errors import printable
from scenthound.experiments.compare.comparison import MARKS, ComparisonResult
from scenthound.experiments.compare.ranking import MARGIN_SHARE, Mark, RankingRow
from scenthound.experiments.compare.results import read_comparison
from scenthound.experiments.compare.settings import left_out_notes
from scenthound.experiments.results import Renderer
from scenthound.experiments.statistics import PairedSample, describe_spread
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    CodeBlock,
    Document,
    Figure,
    Section,
    Series,
    Table,
    notes_section,
    settings_section,
)
from scenthound.ui.figures import figure_files, require_figures
from scenthound.ui.formats import (
    ERRORS_NOTE,
    NO_VALUE,
    counted,
    format_interval,
    format_mean,
    format_number,
    format_percent,
    plural,
)
from scenthound.ui.html import document_html

#: More curves would cover each other; the others appear when the reader selects them.
MAX_VISIBLE_CURVES = 6
BOUNDS = {"random": "random crawl", "oracle": "omniscient crawl"}
#: Labels of the settings in the file.
SETTING_LABELS = {
    "web": "web",
    "topics_file": "topics",
    "by": "decided by",
    "pages": "pages per crawl",
    "seeds": "random starts of each topic",
    "task": "crawls start from",
    "start": "start pages",
    "mode": "mode",
    "relevance": "relevance model of all strategies",
}


def comparison_report(folder: Path) -> Document:
    """InvalidInput if the folder is not a comparison."""
    return comparison_document(read_comparison(folder))


def comparison_document(compared: ComparisonResult) -> Document:
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
    yield Section("Curves", (curves_chart(compared),))
    yield Section("Other measurements", (measurements_table(compared),))
    yield notes_section(notes_of(compared))
    yield Section("Start it live", tuple(_live(compared)))
    yield _settings(compared)


# Text


def notes_of(compared: ComparisonResult) -> tuple[str, ...]:
    """What limits the result, and which strategies were left out."""
    return (*compared.notes, *left_out_notes(compared.left_out))


def conclusion_lines(compared: ComparisonResult) -> Iterator[str]:
    """Which strategy is best or why none is, which are as good or may be, and on how many topics."""
    winner = compared.ranking[0]
    value = f"{printable(winner.strategy)}, with {compared.by} of {format_number(winner.mean)}"
    if compared.verdict.best:
        n_others = len(compared.ranking) - 1
        yield f"Best: {value}; significantly better than {counted(n_others, 'other')}."
    else:
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
    "CPU µs per page": (
        lambda row: NO_VALUE if isnan(row.cpu_us_per_page) else f"{row.cpu_us_per_page:,.0f}",
        "CPU: of one short crawl, with all strategies in Python.",
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


def curves_chart(compared: ComparisonResult) -> Chart:
    curves = compared.curves
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
        note=f"Means over the observations. {ERRORS_NOTE}",
    )


# Commands and settings


def _live(compared: ComparisonResult) -> Iterator[Block]:
    if compared.command:
        yield CodeBlock("Command to start the best one on the live web", in_lines(compared.command))
    if compared.command_note:
        yield compared.command_note


def _settings(compared: ComparisonResult) -> Section:
    values = {label: getattr(compared, name) for name, label in SETTING_LABELS.items()}
    rows = [(label, str(value)) for label, value in values.items() if value is not None]
    rows += [(f"values of {name}", ", ".join(swept)) for name, swept in compared.sweeps.items()]
    rows.append(("topics compared", ", ".join(compared.topics)))
    about = {"versions": compared.versions, "web_fingerprint": compared.web_fingerprint}
    return settings_section(rows, about, compared.repeat, "Command to repeat the comparison")


# Files of a comparison's folder


RENDERER: Renderer[ComparisonResult] = Renderer(
    figures=lambda compared, _progress: figure_files([Figure("curves", "", (curves_chart(compared),))]),
    report=lambda compared, _out: document_html(comparison_document(compared)),
    check=lambda: require_figures("Drawing a comparison"),
)
