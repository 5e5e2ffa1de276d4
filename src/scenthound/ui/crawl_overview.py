"""Everything the report of a crawl shows, read from its folder in one pass.

Scores of different relevance models have no common scale, and a model trained on other pages is another model. Harvests
of two crawls are comparable if their `scored_by` is the same, which it never is after retraining, except for copies.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from scenthound.crawler.assembly import relevance_model_of
from scenthound.crawler.recall import stored_recall
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import crawl_state
from scenthound.errors import ScenthoundError
from scenthound.store.crawl_records import RelevanceRecord, shares_given_up
from scenthound.store.stored_crawl import NumberColumn, StoredCrawl
from scenthound.ui.crawl_curves import display_curves, working_time
from scenthound.ui.link_graph import crawl_graph
from scenthound.web.urls import host_of

MAX_LISTED = 20
_DIGEST_CHARACTERS = 32
#: The relevance model of a strategy that is not installed.
_OWN = "the strategy's own"


@dataclass(frozen=True, slots=True)
class Scorer:
    """A relevance model and the visits that it scored, from `first` to before `end`."""

    model: str
    first: int
    end: int
    is_retrained: bool

    @property
    def n_pages(self) -> int:
        return self.end - self.first


def scorers_of(relevance_model: str, relevance_models: Sequence[RelevanceRecord], n_pages: int) -> tuple[Scorer, ...]:
    """The models that scored a page, in order; `relevance_model` is the one that the crawl started with."""
    firsts = [0, *(min(row.visit, n_pages) for row in relevance_models)]
    ends = [*firsts[1:], n_pages]
    models = [relevance_model, *(row.relevance for row in relevance_models)]
    scorers = [
        Scorer(model, first, end, index > 0)
        for index, (model, first, end) in enumerate(zip(models, firsts, ends, strict=True))
    ]
    return tuple(each for each in scorers if each.n_pages > 0)


def relevance_name(plan: CrawlSettings) -> str:
    """The model that the crawl started with; unknown if its strategy or model is not installed."""
    try:
        return relevance_model_of(plan)
    except ScenthoundError:
        return plan.relevance or _OWN


def scored_by(plan: CrawlSettings, crawl_id: UUID, relevance_models: Sequence[RelevanceRecord]) -> str:
    """A digest of the topic and of all models that scored pages for it."""
    topic, relevance_model = plan.topic, relevance_name(plan)
    trained_on = plan.train_digest or plan.train_from
    strategy = plan.strategy if relevance_model == _OWN else ""
    scored = [topic.id, topic.keywords, topic.description, relevance_model, strategy, trained_on]
    later = [str(crawl_id), *map(astuple, relevance_models)] if relevance_models else []
    return hashlib.sha256(json.dumps([scored, later]).encode()).hexdigest()[:_DIGEST_CHARACTERS]


@dataclass(frozen=True, slots=True)
class HostPages:
    """A host, its number of visited pages, and their mean relevance."""

    host: str
    pages: int
    mean_relevance: float


def hosts_of(crawl: StoredCrawl) -> list[HostPages]:
    """The hosts of a crawl, those with most pages first, ties by name."""
    sums: dict[str, tuple[int, float]] = {}
    for origin, n_pages, relevance in crawl.origins():
        host = host_of(f"{origin}/")
        pages, total = sums.get(host, (0, 0.0))
        sums[host] = pages + n_pages, total + relevance
    hosts = [HostPages(host, pages, total / pages) for host, (pages, total) in sums.items()]
    return sorted(hosts, key=lambda each: (-each.pages, each.host))


class CrawlOverview:
    """A crawl, running or not; InvalidInput if the folder is not a readable crawl. `relevance` and
    `regrets` have a value for each page, in order of visits; unknown values are NaN."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        with StoredCrawl.open(self.folder) as crawl:
            self.about = crawl.about
            self.plan = CrawlSettings.from_settings(crawl.about.settings)
            self.goals = StopConditions.read(self.folder)
            self.state = crawl_state(crawl)
            self.runs = crawl.runs()
            self.n_pages = crawl.n_visits()
            names: tuple[NumberColumn, ...] = ("time_s", "relevance", "score", "regret")
            time_s, self.relevance, scores, self.regrets = crawl.numbers(names, self.n_pages)
            shares = shares_given_up(scores, self.regrets)
            #: The shares of the best queued score, as far as they are known.
            self.given_up = shares[np.isfinite(shares)]
            self.curves = display_curves(crawl)
            clock = working_time(crawl, self.runs, [sample for _, sample in crawl.samples()])
            #: Active time of all runs, without pauses.
            self.seconds = float(clock.worked_s[-1]) if self.runs else 0.0
            self.pauses = clock.pauses
            #: Time of the last page.
            self.last_s = float(time_s.max()) if self.n_pages else None
            self.best = crawl.listed("best", MAX_LISTED)
            self.hosts = hosts_of(crawl)
            self.skipped = crawl.skipped_examples()
            #: Each refresh, and how many pages it found in each state.
            self.refreshes = [(each, crawl.check_counts(each.refresh)) for each in crawl.refreshes()]
            self.graph = crawl_graph(crawl)
            self.recall = stored_recall(crawl)
            #: Those that were trained during the crawl.
            self.relevance_models = crawl.relevance_models()
        #: The model that the crawl started with.
        self.relevance_model = relevance_name(self.plan)
        #: Equal for crawls whose scores are comparable.
        self.scored_by = scored_by(self.plan, self.about.crawl_id, self.relevance_models)
        #: The relevance models that scored a page, in order.
        self.scorers = scorers_of(self.relevance_model, self.relevance_models, self.n_pages)
        self.page_budget = self.goals.page_budget or self.plan.page_budget
        self.n_skipped = sum(each.n_pages for each in self.skipped)
        self.name = self.folder.resolve().name

    @property
    def n_on_topic(self) -> int | None:
        """None if the scores of the relevance model are no probabilities, or if there were two models."""
        if self.plan.on_topic_from is None or len(self.scorers) > 1:
            return None
        return int(np.count_nonzero(self.relevance >= self.plan.on_topic_from))
