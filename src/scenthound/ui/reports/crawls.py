"""The report of several crawls side by side: curves, results, and the pages they have in common.

Crawls are compared at the number of pages that all of them have. Harvests are comparable only if the same model,
trained on the same pages, scored for the same topic; otherwise the report says so and names no winner. With one crawl
of each, nothing is called significant.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from scenthound.command_line import in_lines
from scenthound.crawler.command import reproduce_command
from scenthound.errors import printable
from scenthound.model import FloatArray, LongArray
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_overview import CrawlOverview, overview_of
from scenthound.ui.document import Chart, CodeBlock, Document, Section, Series, Table
from scenthound.ui.formats import NO_VALUE, counted
from scenthound.ui.link_graph import PagesInCommon, in_common, page_numbers
from scenthound.ui.reports.crawl import time_unit
from scenthound.ui.reports.crawl_summary import has_several_scales, model_names, size

MAX_CRAWLS = 20


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Crawls under distinct names; `overlaps` by the indices of two crawls."""

    names: tuple[str, ...]
    crawls: tuple[CrawlOverview, ...]
    overlaps: dict[tuple[int, int], PagesInCommon]

    @property
    def n_shared(self) -> int:
        """The number of pages that every crawl has."""
        return min(crawl.n_pages for crawl in self.crawls)

    @property
    def is_comparable(self) -> bool:
        return len({crawl.scored_by for crawl in self.crawls}) == 1


def crawls_report(folders: Sequence[str | Path]) -> Document:
    """InvalidInput if one of the folders is not a readable crawl."""
    crawls = tuple(map(overview_of, folders))
    compared = SideBySide(_names(crawls), crawls, _overlaps(crawls))
    return Document(
        kind="crawls",
        title=f"{len(compared.crawls)} crawls side by side",
        summary=summary(compared),
        sections=(
            Section("Curves", (_harvest(compared), _pages_over_time(compared), _frontier(compared))),
            Section("Results", (_facts(compared),)),
            Section("Pages in common", (_overlap_table(compared),)),
            Section("Commands to repeat them", tuple(_commands(compared)), collapsed=True),
        ),
    )


def summary(compared: SideBySide) -> tuple[str, ...]:
    return (_conclusion(compared), *(f"{name}: {_described(crawl)}" for name, crawl in _named(compared)))


def _described(crawl: CrawlOverview) -> str:
    strategy = f"{printable(crawl.plan.strategy, 100)}, relevance scored by {model_names(crawl)}"
    return f"a crawl for {printable(crawl.plan.topic.id, 100)} with {strategy}. {size(crawl)}"


def _conclusion(compared: SideBySide) -> str:
    if not compared.is_comparable:
        return (
            "These crawls are for different topics, or used different relevance models or training pages: their "
            "harvests are not comparable, but their speed and their pages are."
        )
    if not compared.n_shared:
        return "One of these crawls has no page yet, so there is nothing to compare."
    means = {name: float(crawl.relevance[: compared.n_shared].mean()) for name, crawl in _named(compared)}
    order = sorted(means, key=lambda name: -means[name])
    ranking = ", ".join(f"{name} ({means[name]:.3f})" for name in order)
    return (
        f"By mean relevance after {counted(compared.n_shared, 'page')}, which all have, the order is {ranking}. "
        "With one crawl each, differences may be chance: test them with scenthound compare."
    )


def _harvest(compared: SideBySide) -> Chart:
    curves = [(name, crawl.curves) for name, crawl in _named(compared)]
    so_far = [Series(name, _floats(each.pages), each.harvest) for name, each in curves]
    recent = [Series(f"{name}, recent", _floats(each.pages), each.recent_harvest, hidden=True) for name, each in curves]
    return Chart("harvest", "Harvest", "pages visited", "mean relevance", (*so_far, *recent))


def _pages_over_time(compared: SideBySide) -> Chart:
    unit, seconds = time_unit(max(crawl.seconds for crawl in compared.crawls))
    series = [
        Series(name, crawl.curves.seconds / seconds, _floats(crawl.curves.pages)) for name, crawl in _named(compared)
    ]
    return Chart("pages", "Pages visited", f"time, {unit}", "pages", tuple(series))


def _frontier(compared: SideBySide) -> Chart:
    series = [
        Series(name, _floats(each.curves.pages), _floats(each.curves.frontier)) for name, each in _named(compared)
    ]
    return Chart("frontier", "Frontier", "pages visited", "pages", tuple(series))


def _facts(compared: SideBySide) -> Table:
    crawl_of = dict(_named(compared))
    columns: dict[str, Callable[[str], str]] = {
        "crawl": lambda name: name,
        "strategy": lambda name: printable(crawl_of[name].plan.strategy, 60),
        "relevance model": lambda name: model_names(crawl_of[name]),
        "state": lambda name: crawl_of[name].state.state.value,
        "pages": lambda name: f"{crawl_of[name].n_pages:,}",
        "harvest": lambda name: _mean(crawl_of[name].relevance),
        f"at {compared.n_shared:,}": lambda name: _mean(crawl_of[name].relevance[: compared.n_shared]),
        "hosts": lambda name: f"{crawl_of[name].n_hosts:,}",
        "pages/s": lambda name: _speed(crawl_of[name]),
        "skipped": lambda name: f"{crawl_of[name].n_skipped:,}",
    }
    note = (
        f"Harvest: mean relevance of all pages, and of the first {compared.n_shared:,}, which all have. Speed is "
        "without pauses and the time between runs."
    )
    several = [name for name, crawl in _named(compared) if has_several_scales(crawl)]
    if several:
        note += f" The relevance model of {' and '.join(several)} was retrained, so its harvest mixes two scales."
    return Table.build("facts", "Results", columns, compared.names, n_text_columns=4, note=note)


def _speed(crawl: CrawlOverview) -> str:
    return f"{crawl.n_pages / crawl.seconds:,.2f}" if crawl.seconds > 0 else NO_VALUE


def _overlap_table(compared: SideBySide) -> Table:
    return Table.build(
        "overlap",
        "Pages that both of two crawls visited",
        {
            "first": lambda pair: compared.names[pair[0][0]],
            "second": lambda pair: compared.names[pair[0][1]],
            "both": lambda pair: f"{pair[1].both:,}",
            "only the first": lambda pair: f"{pair[1].only_first:,}",
            "only the second": lambda pair: f"{pair[1].only_second:,}",
            "in common": lambda pair: f"{pair[1].jaccard:.1%}",
        },
        compared.overlaps.items(),
        n_text_columns=2,
        note="In common: the share of the pages visited by either of the two that both visited.",
    )


def _commands(compared: SideBySide) -> Iterator[CodeBlock]:
    for name, crawl in _named(compared):
        repeat = reproduce_command(crawl.plan, crawl.goals, f"{crawl.name}-again")
        files = " and ".join(file for file, _ in repeat.files)
        needs = f"; the report of {name} has the content of {files}" if files else ""
        yield CodeBlock(f"{name}{needs}", in_lines(repeat.line))


def _overlaps(crawls: Sequence[CrawlOverview]) -> dict[tuple[int, int], PagesInCommon]:
    pages = []
    for crawl in crawls:
        with StoredCrawl.open(crawl.folder) as stored:
            pages.append(page_numbers(stored))
    return {(one, other): in_common(pages[one], pages[other]) for one, other in combinations(range(len(pages)), 2)}


def _names(crawls: Sequence[CrawlOverview]) -> tuple[str, ...]:
    """The names of the folders, with the parent folder or a number if they are not distinct."""
    short = [printable(crawl.name, 60) for crawl in crawls]
    longer = [printable("/".join(crawl.folder.resolve().parts[-2:]), 80) for crawl in crawls]
    if len(set(short)) == len(short):
        return tuple(short)
    if len(set(longer)) == len(longer):
        return tuple(longer)
    return tuple(f"{name} ({number})" for number, name in enumerate(short, 1))


def _named(compared: SideBySide) -> list[tuple[str, CrawlOverview]]:
    return list(zip(compared.names, compared.crawls, strict=True))


def _mean(relevance: FloatArray) -> str:
    return f"{relevance.mean():.3f}" if len(relevance) else NO_VALUE


def _floats(numbers: LongArray) -> FloatArray:
    return numbers.astype(np.float64)
