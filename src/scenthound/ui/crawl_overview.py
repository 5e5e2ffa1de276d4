"""Everything the report of a crawl shows, read from its folder in one pass.

Scores of different relevance models have no common scale, and a model trained on other pages is another model. Harvests
of two crawls are comparable if their `scored_by` is the same, which it never is after retraining, except for copies.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from heapq import nsmallest
from pathlib import Path
from uuid import UUID

import numpy as np

from scenthound.crawler.assembly import relevance_model_of
from scenthound.crawler.recall import StoredRecall, stored_recall
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import CrawlState, crawl_state
from scenthound.errors import ScenthoundError
from scenthound.model import BoolArray, FloatArray
from scenthound.store.crawl_records import (
    CheckOutcome,
    RefreshRecord,
    RelevanceRecord,
    RunRecord,
    VisitRecord,
    shares_given_up,
)
from scenthound.store.layout import AnyArray
from scenthound.store.stored_crawl import SkippedExamples, StoredCrawl
from scenthound.ui.crawl_curves import CrawlCurves, Pause, crawl_curves, display_curves, working_time
from scenthound.ui.link_graph import CrawlGraph, crawl_graph
from scenthound.web.urls import host_of

MAX_LISTED = 20
_DIGEST_CHARACTERS = 32
#: The relevance model of a strategy that is not installed.
_OWN = "the strategy's own"
#: The slash that ends an origin follows the scheme.
_AFTER_SCHEME = len("https://")


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
    scored = [
        topic.id,
        topic.keywords,
        topic.description,
        relevance_model,
        plan.strategy if relevance_model == _OWN else "",
        trained_on,
    ]
    later = [str(crawl_id), *map(astuple, relevance_models)] if relevance_models else []
    return hashlib.sha256(json.dumps([scored, later]).encode()).hexdigest()[:_DIGEST_CHARACTERS]


@dataclass(frozen=True, slots=True)
class HostPages:
    """A host, its number of visited pages, and their mean relevance."""

    host: str
    pages: int
    mean_relevance: float


class HostTally:
    """Counts the pages of each host of a crawl, incrementally, so that a large crawl does not block the caller. Call
    `read_on` until it returns True, and again when the crawl has progressed."""

    def __init__(self) -> None:
        self._crawl_id: UUID | None = None
        self._reset()

    @property
    def n_hosts(self) -> int:
        return len(self._hosts)

    @property
    def share_read(self) -> float:
        """Of the visits at the last call of `read_on`."""
        return self.n_read / self._n_visits if self._n_visits else 1.0

    def read_on(self, crawl: StoredCrawl, most_visits: int = 100_000) -> bool:
        """Count up to `most_visits` more. True if all visits so far are counted."""
        if crawl.about.crawl_id != self._crawl_id:
            self._reset()
            self._crawl_id = crawl.about.crawl_id
        with StoredCrawl(crawl.folder, crawl.about) as columns:
            self._n_visits = columns.n_visits()
            end = min(self._n_visits, self.n_read + most_visits)
            for piece in columns.url_relevance(end, first=self.n_read):
                self._count(piece)
        return self.n_read == self._n_visits

    def top(self, count: int) -> list[HostPages]:
        """The hosts with most pages, ties by name."""
        first = nsmallest(count, self._hosts.items(), key=lambda item: (-self._pages[item[1]], item[0]))
        return [
            HostPages(host, int(self._pages[number]), float(self._relevance[number] / self._pages[number]))
            for host, number in first
        ]

    def _reset(self) -> None:
        self.n_read = 0
        self._n_visits = 0
        self._hosts: dict[str, int] = {}
        self._host_of_origin: dict[str, int] = {}
        self._pages: AnyArray = np.zeros(0, np.int64)
        self._relevance: AnyArray = np.zeros(0)

    def _count(self, piece: list[tuple[str, float]]) -> None:
        known, number_of = self._host_of_origin, self._number_of
        numbers = np.empty(len(piece), np.int64)
        for index, (url, _) in enumerate(piece):
            origin = url[: url.find("/", _AFTER_SCHEME)]
            number = known.get(origin)
            numbers[index] = number_of(origin) if number is None else number
        relevance = np.array([relevance for _, relevance in piece])
        self._pages = _added(self._pages, np.bincount(numbers, minlength=self.n_hosts))
        self._relevance = _added(self._relevance, np.bincount(numbers, relevance, minlength=self.n_hosts))
        self.n_read += len(piece)

    def _number_of(self, origin: str) -> int:
        number = self._hosts.setdefault(host_of(f"{origin}/"), len(self._hosts))
        self._host_of_origin[origin] = number
        return number


def _added(before: AnyArray, more: AnyArray) -> AnyArray:
    """The sum of two arrays, of which the second may be longer."""
    total = more.copy()
    total[: len(before)] += before
    return total


@dataclass(frozen=True, slots=True)
class CheckedPages:
    """A refresh, and how many pages it found in each state."""

    refresh: RefreshRecord
    counts: Mapping[CheckOutcome, int]


@dataclass(frozen=True, slots=True)
class CrawlOverview:
    """`relevance` and `given_up`, the share of the best queued score, are those of every page, in order of visits;
    unknown values are NaN. The crawl started with `relevance_model`; `relevance_models` were trained during the
    crawl."""

    folder: Path
    crawl_id: str
    user_agent: str
    plan: CrawlSettings
    goals: StopConditions
    relevance_model: str
    state: CrawlState
    runs: tuple[RunRecord, ...]
    relevance_models: tuple[RelevanceRecord, ...]
    scored_by: str  #: equal for crawls whose scores are comparable
    curves: CrawlCurves
    seconds: float  #: active time of all runs, without pauses
    pauses: tuple[Pause, ...]
    relevance: FloatArray
    given_up: FloatArray
    regrets: FloatArray  #: as those of the records
    began_s: float | None
    last_s: float | None  #: time of the last page
    best: tuple[VisitRecord, ...]
    latest: tuple[VisitRecord, ...]
    hosts: tuple[HostPages, ...]
    n_hosts: int
    skipped: tuple[SkippedExamples, ...]
    graph: CrawlGraph
    recall: StoredRecall
    refreshes: tuple[CheckedPages, ...] = ()

    @property
    def n_pages(self) -> int:
        return len(self.relevance)

    @property
    def is_out_of_order(self) -> BoolArray:
        """Whether a better page had to wait when a page was requested."""
        return self.regrets > 0

    @property
    def waited_for_seed(self) -> BoolArray:
        """Whether that was a seed."""
        return np.isposinf(self.regrets)

    @property
    def n_on_topic(self) -> int | None:
        """None if the scores of the relevance model are no probabilities, or if there were two models."""
        if self.plan.on_topic_from is None or len(self.scorers) > 1:
            return None
        return int(np.count_nonzero(self.relevance >= self.plan.on_topic_from))

    @property
    def page_budget(self) -> int:
        return self.goals.page_budget or self.plan.page_budget

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """The relevance models that scored a page, in order."""
        return scorers_of(self.relevance_model, self.relevance_models, self.n_pages)

    @property
    def n_queued(self) -> int:
        """The size of the frontier; for crawls of older versions, at the last visit."""
        if self.state.status is not None:
            return self.state.status.frontier
        return int(self.curves.frontier[-1]) if len(self.curves) else 0

    @property
    def n_skipped(self) -> int:
        return sum(each.n_pages for each in self.skipped)

    @property
    def name(self) -> str:
        return self.folder.resolve().name


def overview_of(folder: str | Path) -> CrawlOverview:
    """Of a crawl, running or not; InvalidInput if the folder is not a readable crawl."""
    path = Path(folder)
    with StoredCrawl.open(path) as crawl:
        plan = CrawlSettings.from_settings(crawl.about.settings)
        state, runs, relevance_models = crawl_state(crawl), crawl.runs(), crawl.relevance_models()
        n_pages = crawl.n_visits()
        time_s, relevance, scores, regrets = crawl.numbers(("time_s", "relevance", "score", "regret"), n_pages)
        hosts = _all_hosts(crawl)
        curves, seconds = _curves(crawl, state)
        return CrawlOverview(
            folder=path,
            crawl_id=str(crawl.about.crawl_id),
            user_agent=crawl.about.archive.user_agent,
            plan=plan,
            goals=StopConditions.read(path),
            relevance_model=relevance_name(plan),
            state=state,
            runs=tuple(runs),
            relevance_models=tuple(relevance_models),
            scored_by=scored_by(plan, crawl.about.crawl_id, relevance_models),
            curves=curves,
            seconds=seconds,
            pauses=_pauses(crawl, runs, curves),
            relevance=relevance,
            given_up=shares_given_up(scores, regrets),
            regrets=regrets,
            began_s=runs[0].began_s if runs and not runs[0].n_pages_before else next(iter(time_s.tolist()), None),
            last_s=float(time_s.max()) if n_pages else None,
            best=tuple(crawl.listed("best", MAX_LISTED)),
            latest=tuple(crawl.listed("latest", MAX_LISTED)),
            hosts=tuple(hosts.top(MAX_LISTED)),
            n_hosts=hosts.n_hosts,
            skipped=tuple(crawl.skipped_examples()),
            refreshes=tuple(CheckedPages(each, crawl.check_counts(each.refresh)) for each in crawl.refreshes()),
            graph=crawl_graph(crawl),
            recall=stored_recall(crawl),
        )


def _curves(crawl: StoredCrawl, state: CrawlState) -> tuple[CrawlCurves, float]:
    """The curves to show, and the active time, which may go beyond the last page."""
    curves, drawn = crawl_curves(crawl), display_curves(crawl, is_alive=state.is_alive)
    return drawn, max((float(each.seconds[-1]) for each in (curves, drawn) if len(each)), default=0.0)


def _pauses(crawl: StoredCrawl, runs: list[RunRecord], curves: CrawlCurves) -> tuple[Pause, ...]:
    """Shifted by the time of an older version, which recorded no runs."""
    found = working_time(crawl, runs, [sample for _, sample in crawl.samples()]).pauses
    n_before = runs[0].n_pages_before if runs else 0
    before_s = float(np.interp(n_before, curves.pages, curves.seconds)) if n_before and len(curves) else 0.0
    return tuple(Pause(before_s + pause.after_s, pause.lasted_s) for pause in found)


def _all_hosts(crawl: StoredCrawl) -> HostTally:
    tally = HostTally()
    while not tally.read_on(crawl):
        continue
    return tally
