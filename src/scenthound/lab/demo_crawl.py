"""The live part of the demo: its web is served on loopback, and crawled for each topic as any web would be.

Rules
- A crawl starts from the pages that the simulated crawls for its topic start from, with the same page budget.
- For each topic there are two: a usual one, and one in strict order and without guards, which waits for the page that
  the strategy wants most, however long its host rests. That one should make the visits of its simulated twin.
- The crawls are polite, though on loopback nobody would mind: robots.txt is asked for, one request to a host at a time,
  and a rest after each. The rest is short, because a demo should be.
- Few connections, because the pages of a topic are on few hosts here: who keeps many connections busy takes pages of
  whatever host is ready, and a small page budget is soon spent on those.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from scenthound.frontier.politeness_rules import PolitenessRules
from scenthound.lab.crawl import CrawlSummary, RunOptions, crawl
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.crawl_running import Watch
from scenthound.lab.demo_server import DemoServer, at_demo_port
from scenthound.lab.experiment import random_seed_of
from scenthound.lab.starts import Start
from scenthound.model import Topic, Trace
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.static_pages import at_port

DELAY_S = 0.005
CONNECTIONS = 2
#: Scores for all crawls alike, live and simulated; it need not learn.
GUIDE = "cosine"


class Manner(StrEnum):
    """How a live crawl goes about; named so among the simulated strategies."""

    USUAL = "live"
    STRICT = "live, strict order"


#: Shows a crawl while it runs; the title says what it is for.
Watched = Callable[[str], AbstractContextManager[Watch]]


@dataclass(frozen=True, slots=True)
class DemoCrawl:
    """A live crawl that was made, beside what it should have found."""

    topic: Topic
    manner: Manner
    summary: CrawlSummary
    trace: Trace
    n_targets: int
    n_targets_found: int
    a_target: str | None  #: a target that was found, at the address it was served at


class LiveDemo:
    """Crawls what the server serves; `web` has the same pages recorded, under addresses without a port."""

    def __init__(self, server: DemoServer, web: RecordedWeb, page_budget: int) -> None:
        self._server = server
        self._web = web
        self._page_budget = page_budget

    def crawl(self, topic: Topic, start: Start, manner: Manner, folder: Path, watched: Watched) -> DemoCrawl:
        plan = self._plan(topic, start, manner)
        with watched(topic.id) as watch:
            summary = crawl(plan, folder, RunOptions(watch=watch, obey_signals=True), force=True)
        trace = self._trace(topic, start, manner, folder)
        found = [page for page in trace.pages.tolist() if page in start.targets]
        a_target = at_port(self._web.url(found[-1]), self._server.port) if found else None
        return DemoCrawl(topic, manner, summary, trace, len(start.targets), len(found), a_target)

    def _plan(self, topic: Topic, start: Start, manner: Manner) -> CrawlPlan:
        port, is_usual = self._server.port, manner is Manner.USUAL
        return CrawlPlan(
            at_demo_port(topic, port),
            tuple(at_port(self._web.url(page), port) for page in start.seeds),
            relevance=GUIDE,
            page_budget=self._page_budget,
            random_seed=random_seed_of(start),
            politeness=PolitenessRules(delay_s=DELAY_S),
            connections=CONNECTIONS,
            strict_order=not is_usual,
            traps=is_usual,
            near_duplicates=is_usual,
            soft_404s=is_usual,
            allow_private=True,
            hosts=self._server.hosts,
            only_hosts=True,
        )

    def _trace(self, topic: Topic, start: Start, manner: Manner, folder: Path) -> Trace:
        with StoredCrawl.open(folder) as stored:
            visits = [(self._page_of(visit.url), visit.relevance) for visit in stored.visits()]
        pages = np.array([page for page, _ in visits], np.int32)
        return Trace(topic.id, manner.value, start.seed, pages, np.array([relevance for _, relevance in visits]))

    def _page_of(self, url: str) -> int:
        page = self._web.page_of(url.replace(f":{self._server.port}/", "/", 1))
        assert page is not None, "the demo web serves what was recorded, and nothing else"
        return page
