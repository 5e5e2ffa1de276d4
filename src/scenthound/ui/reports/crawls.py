"""The report of several crawls side by side: curves, results, and the pages they have in common.

Crawls are compared at the number of pages that all of them have. Harvests are comparable only if the same model,
trained on the same pages, scored for the same topic; otherwise the report says so and names no winner. With one crawl
of each, nothing is called significant.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from scenthound.command_line import in_lines
from scenthound.crawler.command import reproduce_command
from scenthound.errors import printable
from scenthound.model import FloatArray, LongArray
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_overview import CrawlOverview
from scenthound.ui.document import Chart, CodeBlock, Document, Section, Series, Table
from scenthound.ui.formats import NO_VALUE, counted
from scenthound.ui.link_graph import PagesInCommon, in_common, page_numbers
from scenthound.ui.reports.crawl import time_unit
from scenthound.ui.reports.crawl_summary import has_several_scales, model_names, size

MAX_CRAWLS = 20


class SideBySide:
    """Crawls by distinct names; InvalidInput if one of the folders is not a readable crawl."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        crawls = [CrawlOverview(folder) for folder in folders]
        self.crawls = dict(zip(_names(crawls), crawls, strict=True))
        #: The number of pages that every crawl has.
        self.n_shared = min(crawl.n_pages for crawl in crawls)
        pages = {}
        for name, crawl in self.crawls.items():
            with StoredCrawl.open(crawl.folder) as stored:
                pages[name] = page_numbers(stored)
        #: Of two crawls each.
        self.overlaps = [(one, other, in_common(pages[one], pages[other])) for one, other in combinations(pages, 2)]


def crawls_report(folders: Sequence[str | Path]) -> Document:
    compared = SideBySide(folders)
    return Document(
        kind="crawls",
        title=f"{len(compared.crawls)} crawls side by side",
        summary=summary(compared),
        sections=(
            Section("Curves", tuple(_curves(compared))),
            Section("Results", (_facts(compared),)),
            Section("Pages in common", (_overlap_table(compared),)),
            Section("Commands to repeat them", tuple(_commands(compared)), collapsed=True),
        ),
    )


def summary(compared: SideBySide) -> tuple[str, ...]:
    return (_conclusion(compared), *(f"{name}: {_described(crawl)}" for name, crawl in compared.crawls.items()))


def _described(crawl: CrawlOverview) -> str:
    strategy = f"{printable(crawl.plan.strategy, 100)}, relevance scored by {model_names(crawl)}"
    return f"a crawl for {printable(crawl.plan.topic.id, 100)} with {strategy}. {size(crawl)}"


def _conclusion(compared: SideBySide) -> str:
    if len({crawl.scored_by for crawl in compared.crawls.values()}) > 1:
        return (
            "These crawls are for different topics, or used different relevance models or training pages: their "
            "harvests are not comparable, but their speed and their pages are."
        )
    if not compared.n_shared:
        return "One of these crawls has no page yet, so there is nothing to compare."
    means = {name: float(crawl.relevance[: compared.n_shared].mean()) for name, crawl in compared.crawls.items()}
    order = sorted(means, key=lambda name: -means[name])
    ranking = ", ".join(f"{name} ({means[name]:.3f})" for name in order)
    return (
        f"By mean relevance after {counted(compared.n_shared, 'page')}, which all have, the order is {ranking}. "
        "With one crawl each, differences may be chance: test them with scenthound compare."
    )


def _curves(compared: SideBySide) -> Iterator[Chart]:
    curves = {name: crawl.curves for name, crawl in compared.crawls.items()}
    so_far = [Series(name, _floats(each.pages), each.harvest) for name, each in curves.items()]
    recent = [
        Series(f"{name}, recent", _floats(each.pages), each.recent_harvest, hidden=True)
        for name, each in curves.items()
    ]
    yield Chart("harvest", "Harvest", "pages visited", "mean relevance", (*so_far, *recent))
    unit, unit_s = time_unit(max(crawl.seconds for crawl in compared.crawls.values()))
    pages = [Series(name, each.seconds / unit_s, _floats(each.pages)) for name, each in curves.items()]
    yield Chart("pages", "Pages visited", f"time, {unit}", "pages", tuple(pages))
    frontier = [Series(name, _floats(each.pages), _floats(each.frontier)) for name, each in curves.items()]
    yield Chart("frontier", "Frontier", "pages visited", "pages", tuple(frontier))


def _facts(compared: SideBySide) -> Table:
    columns: dict[str, Callable[[tuple[str, CrawlOverview]], str]] = {
        "crawl": lambda row: row[0],
        "strategy": lambda row: printable(row[1].plan.strategy, 60),
        "relevance model": lambda row: model_names(row[1]),
        "state": lambda row: row[1].state.state.value,
        "pages": lambda row: f"{row[1].n_pages:,}",
        "harvest": lambda row: _mean(row[1].relevance),
        f"at {compared.n_shared:,}": lambda row: _mean(row[1].relevance[: compared.n_shared]),
        "hosts": lambda row: f"{len(row[1].hosts):,}",
        "pages/s": lambda row: f"{row[1].n_pages / row[1].seconds:,.2f}" if row[1].seconds > 0 else NO_VALUE,
        "skipped": lambda row: f"{row[1].n_skipped:,}",
    }
    note = (
        f"Harvest: mean relevance of all pages, and of the first {compared.n_shared:,}, which all have. Speed is "
        "without pauses and the time between runs."
    )
    several = [name for name, crawl in compared.crawls.items() if has_several_scales(crawl)]
    if several:
        note += f" The relevance model of {' and '.join(several)} was retrained, so its harvest mixes two scales."
    return Table.build("facts", "Results", columns, compared.crawls.items(), n_text_columns=4, note=note)


def _overlap_table(compared: SideBySide) -> Table:
    columns: dict[str, Callable[[tuple[str, str, PagesInCommon]], str]] = {
        "first": lambda row: row[0],
        "second": lambda row: row[1],
        "both": lambda row: f"{row[2].both:,}",
        "only the first": lambda row: f"{row[2].only_first:,}",
        "only the second": lambda row: f"{row[2].only_second:,}",
        "in common": lambda row: f"{row[2].jaccard:.1%}",
    }
    caption = "Pages that both of two crawls visited"
    note = "In common: the share of the pages visited by either of the two that both visited."
    return Table.build("overlap", caption, columns, compared.overlaps, n_text_columns=2, note=note)


def _commands(compared: SideBySide) -> Iterator[CodeBlock]:
    for name, crawl in compared.crawls.items():
        repeat = reproduce_command(crawl.plan, crawl.goals, f"{crawl.name}-again")
        files = " and ".join(file for file, _ in repeat.files)
        needs = f"; the report of {name} has the content of {files}" if files else ""
        yield CodeBlock(f"{name}{needs}", in_lines(repeat.line))


def _names(crawls: Sequence[CrawlOverview]) -> tuple[str, ...]:
    """The names of the folders, with the parent folder or a number if they are not distinct."""
    short = [printable(crawl.name, 60) for crawl in crawls]
    longer = [printable("/".join(crawl.folder.resolve().parts[-2:]), 80) for crawl in crawls]
    if len(set(short)) == len(short):
        return tuple(short)
    if len(set(longer)) == len(longer):
        return tuple(longer)
    return tuple(f"{name} ({number})" for number, name in enumerate(short, 1))


def _mean(relevance: FloatArray) -> str:
    return f"{relevance.mean():.3f}" if len(relevance) else NO_VALUE


def _floats(numbers: LongArray) -> FloatArray:
    return numbers.astype(np.float64)
