"""The page of a comparison: the answer in words, the ranking, curves, topics won and lost, and how to repeat it.

It is made of what `comparison.json` tells, so it can be made anew from the folder alone.
"""

from collections.abc import Callable, Iterator
from math import isnan
from pathlib import Path

from scenthound.lab.command_line import in_lines
from scenthound.report.comparisons.charts import curves_chart, sweep_chart, win_loss
from scenthound.report.comparisons.files import MARKS
from scenthound.report.comparisons.told import ToldComparison, ToldRow, read_comparison
from scenthound.report.comparisons.words import answer_lines, better_told, bounds_told
from scenthound.report.number_words import (
    NOTHING,
    counted,
    interval_told,
    mean_told,
    number_told,
    percent_told,
    things,
)
from scenthound.report.page.values import Block, Cell, Facts, Page, Prose, Section, TableBlock, Verbatim
from scenthound.report.versions import versions_told

RANKING_HEADS = ("", "strategy", "mean", "difference", "95 % interval", "corrected p")
OTHER_COLUMNS: dict[str, Callable[[ToldRow], str]] = {
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


def comparison_page(told: ToldComparison) -> Page:
    return Page(
        kind="comparison",
        title=_title(told),
        summary=(*answer_lines(told), told.says),
        sections=tuple(section for section in _sections(told) if section.blocks),
        key_facts=tuple(_key_facts(told)),
    )


def _title(told: ToldComparison) -> str:
    n_topics = len(told.topics)
    return f"Which strategy for {told.topics[0]}?" if n_topics == 1 else f"Which strategy for {n_topics} topics?"


def _key_facts(told: ToldComparison) -> Iterator[tuple[str, str]]:
    best = told.rows[0]
    yield f"{told.metric} of the best", mean_told(best.mean, best.standard_error)
    yield "after", counted(told.pages, "page")
    n_starts = int(told.values["seeds"])
    for thing, number in (("strategy", len(told.rows)), ("topic", len(told.topics)), ("start", n_starts)):
        yield things(number, thing) + (" of each" if thing == "start" else ""), f"{number:,}"


def _sections(told: ToldComparison) -> Iterator[Section]:
    yield Section("Ranking", (_ranking(told),))
    yield Section("Curves", (curves_chart(told, told.curves),) if told.curves is not None else ())
    yield Section("Values of the parameter", (sweep_chart(told),) if told.sweeps and told.contestants else ())
    has_pairs = len(told.rows) > 1 and len(told.observed) > 1
    yield Section("Won and lost", (win_loss(told),) if has_pairs else ())
    yield Section("What else was measured", (_others(told),))
    yield Section("Notes", (Prose(told.notes, as_list=True),) if told.notes else ())
    yield Section("Start it live", tuple(_live(told)))
    yield Section("Settings and versions", tuple(_settings(told)), folded=True)


def _ranking(told: ToldComparison) -> TableBlock:
    signs = "  ".join(f"{mark} {words}." for mark, words in MARKS.items())
    return TableBlock(
        name="ranking",
        caption=f"{told.metric} after {counted(told.pages, 'page')} ({better_told(told)})",
        heads=RANKING_HEADS,
        rows=tuple(map(_ranking_row, told.rows)),
        n_words=2,
        note=f"{signs} {told.values['reading']}",
    )


def _ranking_row(row: ToldRow) -> tuple[Cell, ...]:
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


def _others(told: ToldComparison) -> TableBlock:
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


def _live(told: ToldComparison) -> Iterator[Block]:
    if told.values["command"]:
        yield Verbatim("This command starts the best one on the web itself", in_lines(told.values["command"]))
    if told.values["command_note"]:
        yield Prose((told.values["command_note"],))


def _settings(told: ToldComparison) -> Iterator[Block]:
    values = told.values
    rows = [(words, str(values[name])) for name, words in SETTINGS.items() if values.get(name) is not None]
    rows += [(f"values of {name}", ", ".join(map(str, swept))) for name, swept in values["sweeps"].items()]
    rows.append(("topics compared on", ", ".join(told.topics)))
    rows.append(("versions", versions_told(values.get("versions", {"scenthound": values["scenthound"]}))))
    yield Facts(tuple(rows))
    if values.get("repeat"):
        yield Verbatim("This command makes the comparison again", in_lines(values["repeat"]))
