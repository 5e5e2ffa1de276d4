"""The page of several crawls side by side: curves together, a table of facts, and the pages they have in common.

Rules
- Crawls are held against each other at the number of pages that all of them have.
- Harvests can be compared only where the same model, trained on the same pages, scored for the same topic. Where that
  is not so, the page says it and names no winner. It is one crawl of each anyway, so nothing is called significant.
"""

from collections.abc import Iterator, Sequence
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
from scenthound.ui.document import Cell, Chart, Page, Section, Series, TableBlock, Verbatim
from scenthound.ui.link_graph import PagesInCommon, in_common, page_numbers
from scenthound.ui.reports import crawl_text as words
from scenthound.ui.reports.crawl import time_unit
from scenthound.ui.reports.crawl_text import has_several_scales, models_text

MOST_CRAWLS = 20


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Crawls under names that tell them apart; `overlaps` by the places of two crawls."""

    names: tuple[str, ...]
    crawls: tuple[CrawlOverview, ...]
    overlaps: dict[tuple[int, int], PagesInCommon]

    @property
    def n_shared(self) -> int:
        """Pages that every crawl has at least."""
        return min(crawl.n_pages for crawl in self.crawls)

    @property
    def is_comparable(self) -> bool:
        return len({crawl.scored_by for crawl in self.crawls}) == 1


def crawls_page(folders: Sequence[str | Path]) -> Page:
    """BadInput if one of the folders is no crawl that can be read."""
    crawls = tuple(map(overview_of, folders))
    return side_by_side_page(SideBySide(names_of(crawls), crawls, _overlaps(crawls)))


def side_by_side_page(shown: SideBySide) -> Page:
    return Page(
        kind="crawls",
        title=f"{len(shown.crawls)} crawls side by side",
        summary=summary(shown),
        sections=(
            Section("Curves", (_harvest(shown), _pages_over_time(shown), _frontier(shown))),
            Section("Facts", (_facts(shown),)),
            Section("Pages in common", (_overlap_table(shown),)),
            Section("Commands that repeat them", tuple(_commands(shown)), folded=True),
        ),
    )


def summary(shown: SideBySide) -> tuple[str, ...]:
    return (_answer(shown), *(f"{name}: {_told(crawl)}" for name, crawl in _named(shown)))


def _told(crawl: CrawlOverview) -> str:
    who = f"{printable(crawl.plan.strategy, 100)}, guided by {models_text(crawl)}"
    return f"a crawl for {printable(crawl.plan.topic.id, 100)} by {who}. {words.came_to(crawl)}"


def _answer(shown: SideBySide) -> str:
    if not shown.is_comparable:
        return (
            "These crawls were for different topics, or were scored by different guides, or by guides that learnt from "
            "different pages: their harvests cannot be compared, but their speed and their pages can."
        )
    if not shown.n_shared:
        return "One of these crawls has no page yet, so there is nothing to compare."
    means = {name: float(crawl.relevance[: shown.n_shared].mean()) for name, crawl in _named(shown)}
    order = sorted(means, key=lambda name: -means[name])
    told = ", ".join(f"{name} ({means[name]:.3f})" for name in order)
    return (
        f"By mean relevance after {words.counted(shown.n_shared, 'page', 'pages')}, which all of them have, the order "
        f"is {told}. It is one crawl each: such a difference may be luck. How sure it is, scenthound compare tells."
    )


def _harvest(shown: SideBySide) -> Chart:
    curves = [(name, crawl.curves) for name, crawl in _named(shown)]
    so_far = [Series(name, _floats(each.pages), each.harvest) for name, each in curves]
    late = [Series(f"{name}, of late", _floats(each.pages), each.recent_harvest, hidden=True) for name, each in curves]
    return Chart("harvest", "Harvest", "pages taken", "mean relevance", (*so_far, *late))


def _pages_over_time(shown: SideBySide) -> Chart:
    unit, seconds = time_unit(max(crawl.seconds for crawl in shown.crawls))
    series = [
        Series(name, crawl.curves.seconds / seconds, _floats(crawl.curves.pages)) for name, crawl in _named(shown)
    ]
    return Chart("pages", "Pages taken", f"time, {unit}", "pages", tuple(series))


def _frontier(shown: SideBySide) -> Chart:
    series = [Series(name, _floats(each.curves.pages), _floats(each.curves.frontier)) for name, each in _named(shown)]
    return Chart("frontier", "Pages that wait", "pages taken", "pages", tuple(series))


def _facts(shown: SideBySide) -> TableBlock:
    heads = (
        "crawl",
        "strategy",
        "relevance_model",
        "state",
        "pages",
        "harvest",
        f"at {shown.n_shared:,}",
        "hosts",
        "pages/s",
    )
    rows = tuple(_fact_row(name, crawl, shown.n_shared) for name, crawl in _named(shown))
    several = [name for name, crawl in _named(shown) if has_several_scales(crawl)]
    note = (
        f"Harvest: mean relevance of all pages, and of the first {shown.n_shared:,}, which every crawl has. Of speed, "
        "time between runs and pauses are left out."
    )
    if several:
        note += f" The guide of {' and '.join(several)} was trained anew on the way, so its harvest mixes two scales."
    return TableBlock("facts", "What each came to", (*heads, "not taken"), rows, n_words=4, note=note)


def _fact_row(name: str, crawl: CrawlOverview, n_shared: int) -> tuple[Cell, ...]:
    speed = crawl.n_pages / crawl.seconds if crawl.seconds > 0 else None
    texts = (
        name,
        printable(crawl.plan.strategy, 60),
        models_text(crawl),
        crawl.state.state.value,
        f"{crawl.n_pages:,}",
        _mean(crawl.relevance),
        _mean(crawl.relevance[:n_shared]),
        f"{crawl.n_hosts:,}",
        "-" if speed is None else f"{speed:,.2f}",
        f"{crawl.n_refused:,}",
    )
    return tuple(map(Cell, texts))


def _overlap_table(shown: SideBySide) -> TableBlock:
    rows = tuple(
        tuple(
            map(
                Cell,
                (
                    shown.names[one],
                    shown.names[other],
                    f"{common.both:,}",
                    f"{common.only_first:,}",
                    f"{common.only_second:,}",
                    f"{common.jaccard:.1%}",
                ),
            )
        )
        for (one, other), common in shown.overlaps.items()
    )
    heads = ("first", "second", "both", "only the first", "only the second", "in common")
    note = "In common: of the pages that at least one of the two has, the share that both have."
    return TableBlock("overlap", "Pages that two crawls both took", heads, rows, n_words=2, note=note)


def _commands(shown: SideBySide) -> Iterator[Verbatim]:
    for name, crawl in _named(shown):
        repeat = reproduce_command(crawl.plan, crawl.goals, f"{crawl.name}-again")
        files = " and ".join(file for file, _ in repeat.files)
        needs = f"; the report of {name} has what stands in {files}" if files else ""
        yield Verbatim(f"{name}{needs}", in_lines(repeat.line))


def _overlaps(crawls: Sequence[CrawlOverview]) -> dict[tuple[int, int], PagesInCommon]:
    pages = []
    for crawl in crawls:
        with StoredCrawl.open(crawl.folder) as stored:
            pages.append(page_numbers(stored))
    return {(one, other): in_common(pages[one], pages[other]) for one, other in combinations(range(len(pages)), 2)}


def names_of(crawls: Sequence[CrawlOverview]) -> tuple[str, ...]:
    """The names of the folders; with the folder above, or a number, where that does not tell them apart."""
    short = [printable(crawl.name, 60) for crawl in crawls]
    longer = [printable("/".join(crawl.folder.resolve().parts[-2:]), 80) for crawl in crawls]
    if len(set(short)) == len(short):
        return tuple(short)
    if len(set(longer)) == len(longer):
        return tuple(longer)
    return tuple(f"{name} ({number})" for number, name in enumerate(short, 1))


def _named(shown: SideBySide) -> list[tuple[str, CrawlOverview]]:
    return list(zip(shown.names, shown.crawls, strict=True))


def _mean(relevance: FloatArray) -> str:
    return f"{relevance.mean():.3f}" if len(relevance) else "-"


def _floats(numbers: LongArray) -> FloatArray:
    return numbers.astype(np.float64)
