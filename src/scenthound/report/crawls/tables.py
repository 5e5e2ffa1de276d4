"""The tables of a crawl: its best and latest pages, its hosts, and why pages were not taken."""

import math
from collections.abc import Iterable

from scenthound.lab.overview.overview import CrawlOverview
from scenthound.report.crawls.guide_words import noted, scales_note
from scenthound.report.crawls.words import counted
from scenthound.report.page.values import Cell, TableBlock
from scenthound.store.visit_columns import VisitLine
from scenthound.web.urls import host_of

#: Of a title, and of an address, which is whole in the link.
MOST_LETTERS = 90
MOST_EXAMPLE_LETTERS = 50
VISITS_TOLD = "Visits are counted from 0. Score: what the strategy asked for the page with."


def best_table(crawl: CrawlOverview) -> TableBlock:
    caption = f"The {len(crawl.best)} most relevant of {crawl.n_pages:,}"
    return _pages("best-pages", caption, crawl.best, noted(crawl, VISITS_TOLD))


def latest_table(crawl: CrawlOverview) -> TableBlock:
    caption = f"The last {len(crawl.latest)}, the latest first"
    return _pages("latest-pages", caption, crawl.latest, noted(crawl, VISITS_TOLD))


def hosts_table(crawl: CrawlOverview) -> TableBlock:
    rows = tuple(
        (
            Cell(each.host),
            Cell(f"{each.pages:,}"),
            Cell(f"{each.pages / crawl.n_pages:.1%}"),
            _figure(each.mean_relevance),
        )
        for each in crawl.hosts
    )
    caption = f"The {len(rows)} of {crawl.n_hosts:,} hosts that most pages are of"
    if len(rows) == crawl.n_hosts:
        caption = counted(crawl.n_hosts, "host", "hosts")
    return TableBlock("hosts", caption, ("host", "pages", "share", "mean relevance"), rows, note=scales_note(crawl))


def refused_table(crawl: CrawlOverview) -> TableBlock:
    rows = tuple(
        (
            Cell(f"{each.reason.told} ({each.reason.value})"),
            Cell(shortened(each.urls[0], MOST_EXAMPLE_LETTERS), link=each.urls[0]),
            Cell(f"{each.n_pages:,}"),
        )
        for each in crawl.refused
    )
    caption = f"{counted(crawl.n_refused, 'page that was', 'pages that were')} asked for and not taken"
    return TableBlock("not-taken", caption, ("reason", "one of them", "pages"), rows, n_words=2)


def _pages(name: str, caption: str, visits: Iterable[VisitLine], note: str) -> TableBlock:
    return TableBlock(name, caption, ("page", "relevance", "visit", "score"), tuple(map(_page_row, visits)), note=note)


def _page_row(visit: VisitLine) -> tuple[Cell, ...]:
    """The host stands last, where a title cannot pretend to be another one."""
    title = shortened(" ".join(visit.title.split()) or "no title")
    return (
        Cell(f"{title} ({host_of(visit.url)})", link=visit.url),
        _figure(visit.relevance),
        Cell(f"{visit.visit:,}"),
        _score(visit.score),
    )


def _score(score: float | None) -> Cell:
    """A seed comes before all other pages, so its score is endless."""
    if score is None:
        return Cell("-")
    return Cell(f"{score:.3g}") if math.isfinite(score) else Cell("seed")


def _figure(value: float) -> Cell:
    return Cell(f"{value:.3f}")


def shortened(text: str, longest: int = MOST_LETTERS) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
