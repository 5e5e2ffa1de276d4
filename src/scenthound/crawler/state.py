"""The state of a stored crawl: whether a process is crawling, and if not, how the crawl ended; and the samples of a
running crawl.

A sample is taken every second at first, and later once per thousandth of the crawl's age. So a crawl of a week has some
thousands of samples, and its first minute has as many as that of a short crawl.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

import orjson

from scenthound.crawler.settings import StopConditions
from scenthound.errors import InvalidInput
from scenthound.reasons import EndReason, SkipReason
from scenthound.records import to_json
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_records import CrawlStatus, RunRecord, Sample
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.locks import is_locked
from scenthound.store.stored_crawl import StoredCrawl

MIN_SAMPLE_INTERVAL_S = 1.0
SAMPLE_INTERVAL_SHARE_OF_AGE = 0.001
#: The present speed is that of about this many seconds.
SPEED_WINDOW_S = 10.0


class State(StrEnum):
    """As it is printed."""

    RUNNING = "running"
    PAUSED = "paused"
    ENDING = "ending"
    ENDED = "ended"
    STOPPED = "stopped"  #: by the user; it can be resumed
    FAILED = "failed"  #: it ended without a page, or because its proxy failed
    REFRESHING = "refreshing"  #: it has ended, and its pages are being checked again
    DIED = "died"  #: its process is gone without a recorded end
    NOT_BEGUN = "not begun"


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a crawl ended, and what explains it: skipped pages by reason, those that were seeds, and evicted links.
    `has_http_proxy`: a seed is requested by http through an http proxy, whose responses look like those of a host.
    `failure` is the message of an error that ended the crawl."""

    ended: EndReason
    n_pages: int
    page_budget: int
    strategy: str
    reasons: Mapping[SkipReason, int]
    n_evicted: int
    n_seeds: int
    seed_reasons: Mapping[SkipReason, int]
    has_http_proxy: bool = False
    failure: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the crawl ended without a page, and not because a user stopped it, or by an error."""
        return is_failure(self.ended, self.n_pages)

    @property
    def ran_dry(self) -> bool:
        """Whether the frontier was empty before the page budget was reached."""
        return self.ended is EndReason.FRONTIER and self.n_pages < self.page_budget


#: Ends by an error, whose message the last status has.
RUN_FAILURES = frozenset({EndReason.PROXY, EndReason.FILES})


def is_failure(ended: EndReason | None, n_pages: int) -> bool:
    return ended in RUN_FAILURES or (ended not in (None, EndReason.STOPPED) and not n_pages)


#: The states in which a process is crawling.
ALIVE = frozenset({State.RUNNING, State.PAUSED, State.ENDING})


@dataclass(frozen=True, slots=True)
class CrawlState:
    """`run` is the latest one, `ended` why it ended, `status` that of the last commit. `page_budget`, here and in the
    status, is that of the running run, or of the next one. `ending` has the details of an end that is known."""

    state: State
    ended: EndReason | None = None
    run: RunRecord | None = None
    status: CrawlStatus | None = None
    n_pages: int = 0
    page_budget: int | None = None
    ending: Ending | None = None

    @property
    def is_alive(self) -> bool:
        return self.state in ALIVE

    @property
    def can_resume(self) -> bool:
        """Whether there may be more pages to visit."""
        is_busy = self.is_alive or self.state is State.REFRESHING
        return not is_busy and self.ended is not EndReason.FRONTIER


def crawl_state(crawl: StoredCrawl) -> CrawlState:
    # First, so that a crawl that ends meanwhile is reported as running, not as died.
    is_alive = is_locked(crawl.folder / ARCHIVE_FOLDER)
    runs, status = crawl.runs(), crawl.status()
    run = runs[-1] if runs else None
    n_pages, page_budget = crawl.n_visits(), _page_budget(crawl)
    if is_alive and status is not None and run is not None and status.run == run.run:
        page_budget = status.page_budget
    if status is not None and page_budget is not None:
        status = replace(status, page_budget=page_budget)
    is_refreshing = is_alive and _is_refreshing(crawl, run)
    if is_alive and not is_refreshing:
        state, ended = _alive(run, status), None
    else:
        state, ended = _not_alive(run, n_pages)
    if is_refreshing:
        state = State.REFRESHING
    ending = None if ended is None or status is None else ending_of(crawl, ended, status, n_pages)
    return CrawlState(state, ended, run, status, n_pages, page_budget, ending)


def _is_refreshing(crawl: StoredCrawl, run: RunRecord | None) -> bool:
    """Whether the process that writes to the crawl refreshes it."""
    last = crawl.refreshes()[-1:]
    return bool(last) and last[0].ended is None and (run is None or last[0].started_s > run.began_s)


def ending_of(crawl: StoredCrawl, ended: EndReason, status: CrawlStatus, n_pages: int) -> Ending:
    return Ending(
        ended=ended,
        n_pages=n_pages,
        page_budget=status.page_budget,
        strategy=str(crawl.about.settings.get("strategy", "")),
        reasons=_reasons_with_links(crawl, status),
        n_evicted=status.n_evicted,
        n_seeds=crawl.n_seeds,
        seed_reasons={} if n_pages else crawl.seed_reasons(),
        has_http_proxy=_has_http_proxy(crawl.about.settings),
        failure=status.failure,
    )


def _has_http_proxy(settings: Mapping[str, Any]) -> bool:
    proxy = settings.get("proxy")
    is_proxied = str(proxy).startswith("http") if proxy else bool(settings.get("proxy_from_environment"))
    return is_proxied and any(str(seed).startswith("http:") for seed in settings.get("seeds", ()))


def _reasons_with_links(crawl: StoredCrawl, status: CrawlStatus) -> Mapping[SkipReason, int]:
    """Skipped pages by reason. Links out of scope, and pages beyond the maximum depth, were not requested, but count
    like pages here."""
    reasons = dict(status.reasons)
    if status.n_out_of_scope:
        reasons[SkipReason.OUT_OF_SCOPE] = reasons.get(SkipReason.OUT_OF_SCOPE, 0) + status.n_out_of_scope
    if (crawl.about.settings.get("scope") or {}).get("max_depth") is not None:
        position = crawl.position()
        n_beyond = position.urls - position.visits - crawl.n_skipped() - status.frontier - status.n_evicted
        if n_beyond > 0:
            reasons[SkipReason.MAX_DEPTH] = n_beyond
    return reasons


def _page_budget(crawl: StoredCrawl) -> int | None:
    """The default of the next run."""
    budget = crawl.about.settings.get("page_budget")
    with suppress(InvalidInput):
        budget = StopConditions.read(crawl.folder).page_budget or budget
    return budget if isinstance(budget, int) else None


def _alive(run: RunRecord | None, status: CrawlStatus | None) -> State:
    # The status of an earlier run does not count.
    if run is None or status is None or status.run != run.run:
        return State.RUNNING
    if status.ending:
        return State.ENDING
    return State.PAUSED if status.paused else State.RUNNING


def _not_alive(run: RunRecord | None, n_pages: int) -> tuple[State, EndReason | None]:
    if run is None:
        return (State.STOPPED if n_pages else State.NOT_BEGUN), None
    if run.ended is None:
        return State.DIED, None
    try:
        ended: EndReason | None = EndReason(run.ended)
    except ValueError:  # written by a later version
        ended = None
    if is_failure(ended, n_pages):
        return State.FAILED, ended
    return (State.STOPPED if ended is EndReason.STOPPED else State.ENDED), ended


class SampleRecorder:
    """Stores the status at each commit, and samples of it. `age_before_s` is how long earlier runs took."""

    def __init__(self, store: CrawlStore, run: int = 1, age_before_s: float = 0.0) -> None:
        self._store = store
        self.run = run
        self._age_before_s = age_before_s
        self._due_s = 0.0  #: since the run started
        self._recent: list[tuple[float, int]] = []  #: seconds and pages, the oldest first
        #: Why the last command could not be carried out; empty if it could.
        self.problem = ""
        #: Why the run failed; empty if it did not.
        self.failure = ""

    def record(self, status: CrawlStatus, *, is_last: bool = False) -> None:
        speed = 0.0 if status.paused and not status.in_flight else self._present_speed(status)
        left = max(0, status.page_budget - status.n_pages)
        status = replace(
            status,
            pages_per_s=speed,
            seconds_left=left / speed if speed > 0 and not status.paused else None,
            problem=self.problem,
            failure=self.failure,
        )
        self._store.set_status(orjson.dumps(to_json(status)))
        if status.seconds >= self._due_s or is_last:
            age_s = self._age_before_s + status.seconds
            self._due_s = status.seconds + max(MIN_SAMPLE_INTERVAL_S, SAMPLE_INTERVAL_SHARE_OF_AGE * age_s)
            self._store.add(Sample(**{each.name: getattr(status, each.name) for each in fields(Sample)}))

    def _present_speed(self, status: CrawlStatus) -> float:
        self._recent.append((status.seconds, status.n_pages))
        while len(self._recent) > 2 and self._recent[1][0] <= status.seconds - SPEED_WINDOW_S:
            del self._recent[0]
        then_s, then_pages = self._recent[0]
        elapsed_s = status.seconds - then_s
        return (status.n_pages - then_pages) / elapsed_s if elapsed_s > 0 else status.pages_per_s
