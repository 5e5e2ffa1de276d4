"""What a crawl would request next: a ranking of its queue, with reasons.

A new crawl visits its first start pages, with their robots.txt files, in a temporary folder: all settings are checked
as the crawl checks them, and the strategy has links to score. A crawl that is resumed is brought to the state of its
last commit from its folder, which is only read, and nothing is requested.
"""

import math
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from random import Random

from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.credentials import with_credentials
from scenthound.crawler.engine import Engine
from scenthound.crawler.explain import Explanation, explained_page
from scenthound.crawler.replay import started
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.start import crawl, ready_settings
from scenthound.errors import InvalidInput, PluginError, printable
from scenthound.model import Progress, Visit, silent
from scenthound.records import column
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, CrawlAbout, refuse_shards
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.folder import check_replaceable
from scenthound.store.locks import is_locked
from scenthound.store.stored_crawl import StoredCrawl

#: Start pages that are visited, and pages of the queue that are listed.
MAX_START_PAGES = 10
RANKED_PAGES = 10


@dataclass(frozen=True, slots=True)
class StartPage:
    """A start page of a new crawl, as it was found."""

    url: str = column("URL")
    outcome: str = column(help="visited, or why it would be skipped")
    relevance: float | None = column(help="score of the relevance model")
    n_links: int = column("links", help="links that the crawl would follow")


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page of the queue. Hosts that have to wait for their crawl delay change the order of a crawl."""

    url: str = column("URL")
    score: float | None = column(help="that of the strategy; None for seeds, and if it has no scores")
    why: str = column(help="the best link to it")


@dataclass(frozen=True, slots=True)
class PlannedStart:
    """How a crawl would begin, or go on. `ranking` has the pages with the highest scores, `n_queued` counts all."""

    settings: CrawlSettings
    page_budget: int
    ranking: tuple[RankedPage, ...]
    n_queued: int
    n_visits: int
    start_pages: tuple[StartPage, ...] = ()


def plan_new(
    settings: CrawlSettings, folder: Path, options: RunOptions, *, force: bool = False, progress: Progress = silent
) -> PlannedStart:
    """The start of a new crawl."""
    StopConditions().updated(**options.stored_limits)  # checks them
    check_replaceable(folder, "crawl", force=force)
    settings = ready_settings(settings)
    own = replace(settings, seeds=settings.seeds[:MAX_START_PAGES], shards=1)
    progress(0.0, f"requesting {len(own.seeds)} start pages")
    # All links are stored, but none is in reach.
    scope = replace(settings.scope, max_depth=0)
    start_pages = replace(own, scope=scope, page_budget=MAX_START_PAGES, tries=1)
    with tempfile.TemporaryDirectory(prefix="scenthound-plan-") as temporary:
        copy = Path(temporary) / "crawl"
        crawl(start_pages, copy, RunOptions(has_checkpoints=False))
        with CrawlStore.open(copy) as store:
            engine = CrawlParts(own, store).crawl.engine
            _visit_start_pages(engine, store)
            n_queued, n_visits = len(engine.strategy), engine.n_visits
            n_left = max(0, settings.page_budget - n_visits)
            return PlannedStart(
                settings,
                settings.page_budget,
                tuple(islice(_ranked(engine, store), min(n_left, RANKED_PAGES))),
                n_queued,
                n_visits,
                tuple(_start_pages(engine, store)),
            )


def _visit_start_pages(engine: Engine, store: CrawlStore) -> None:
    """Let the strategy request the start pages that were visited."""
    seeds, strategy, web = engine.settings.seeds, engine.strategy, engine.web
    engine.start(seeds, Random(engine.settings.generator_seed))
    with PluginError.wrapping(f"Strategy {engine.settings.strategy} failed"):
        requested = strategy.ask(len(seeds))
        for row in store.visits():
            final_url = None if row.url == web.table.url(row.page) else row.url
            _, links = web.visit(row.page, final_url, row.links, (row.predicted, row.anchors))
            strategy.tell(Visit(row.page, row.relevance, links))
        for page in requested:
            if page not in web.visits:
                strategy.drop(page)


def _start_pages(engine: Engine, store: CrawlStore) -> Iterator[StartPage]:
    for url in engine.settings.seeds:
        page = engine.web.table.find(url)
        visit = None if page is None else store.visit_of_page(page)
        skipped = None if page is None else store.skipped_page(page)
        if visit is not None:
            yield StartPage(url, "visited", visit.relevance, len(visit.links))
        elif skipped is not None:
            detail = f": {skipped.detail}" if skipped.detail else ""
            yield StartPage(url, f"{skipped.reason.text}{detail}", None, 0)


def plan_resumed(folder: Path, options: RunOptions, *, progress: Progress = silent) -> PlannedStart:
    """How a crawl would go on."""
    refuse_shards(folder, "its next requests are decided by its shards, so there is no dry run")
    with closing(_Snapshot.open(folder)) as store:
        settings = with_credentials(CrawlSettings.from_settings(store.about.settings), folder)
        conditions = StopConditions.read(folder).updated(**options.stored_limits)
        engine = started(settings, store, progress, is_dry=True)[0].crawl.engine
        engine.begin_anew(engine.now_s, (), 0)
        n_visits, budget = engine.n_visits, conditions.page_budget or settings.page_budget
        return PlannedStart(
            settings,
            budget,
            n_queued=len(engine.strategy) + len(engine.to_send),
            ranking=tuple(islice(_ranked(engine, store), min(max(0, budget - n_visits), RANKED_PAGES))),
            n_visits=n_visits,
        )


class _Snapshot(CrawlStore):
    """The folder of a crawl as one that is resumed reads it, without its lock and without a connection to write."""

    leaves_no_trace = True

    def __init__(
        self, folder: Path, about: CrawlAbout, log: CommitLog | None = None, _progress: Progress = silent
    ) -> None:
        if is_locked(folder / ARCHIVE_FOLDER):
            raise InvalidInput(f"Another process is writing to {printable(folder)}: wait until it has ended.")
        StoredCrawl.__init__(self, folder, about)
        if log is not None and log.last() != self.change_counter():
            self.close()
            raise InvalidInput(
                f"{printable(folder)} and its log {log} differ: resume the crawl without --dry-run, which brings the "
                "folder up to date."
            )

    def close(self) -> None:
        StoredCrawl.close(self)


def _ranked(engine: Engine, store: StoredCrawl) -> Iterator[RankedPage]:
    """The pages that were in flight, then those that the strategy requests, as if no host had to wait."""
    for job in engine.to_send:
        yield _ranked_page(engine, store, job.page, job.score, "in flight when the crawl stopped; ")
    with PluginError.wrapping(f"Strategy {engine.settings.strategy} failed in `ask`"):
        while pages := engine.strategy.ask(RANKED_PAGES):
            for page, score in zip_longest(pages, engine.strategy.scores()):
                if page not in engine.web.visits and store.skipped_page(page) is None:
                    yield _ranked_page(engine, store, page, score)


def _ranked_page(engine: Engine, store: StoredCrawl, page: int, score: float | None, why: str = "") -> RankedPage:
    url = engine.web.table.url(page)
    found = explained_page(store, page, url)
    score = score if score is not None and math.isfinite(score) else None
    return RankedPage(url, score, why + ("start page" if found.is_seed else _link_text(found)))


def _link_text(found: Explanation) -> str:
    """The page with the best link to it, and how many others there are."""
    if not found.parents:
        return "found in a sitemap"
    best = max(found.parents, key=lambda each: (each.context_relevance or 0.0, each.relevance))
    anchor = f' as "{printable(best.anchor, 60)}"' if best.anchor else ""
    context = "" if best.context_relevance is None else f", context {best.context_relevance:.2f}"
    others = f", and {found.n_parents - 1:,} more" if found.n_parents > 1 else ""
    return f"linked{anchor} from {best.url} (relevance {best.relevance:.2f}{context}){others}"
