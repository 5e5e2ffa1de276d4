"""How a live crawl is doing, for people who watch it."""

from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from scenthound.crawler.host_statistics import HostStatistics
from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_rows import Sample


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """A moment of a crawl. `n_pages` are on the disk; `seconds` and the speed are those of this run."""

    n_pages: int
    page_budget: int
    seconds: float
    pages_per_s: float
    harvest: float  #: mean relevance of the pages taken
    recent_harvest: float
    frontier: int  #: pages that wait
    in_flight: int
    hosts_active: int
    hosts_waiting: int
    hosts_ready: int
    hosts_disabled: int
    regret: float | None
    n_skipped: int
    reasons: dict[SkipReason, int]
    ending: EndReason | None = None
    paused: bool = False

    @classmethod
    def of(
        cls,
        crawl: LiveCrawl,
        *,
        n_pages: int,
        n_pages_before: int,
        page_budget: int,
        seconds: float,
        now_s: float,
        ending: EndReason | None,
        paused: bool = False,
    ) -> "CrawlStatus":
        engine, harvest = crawl.engine, crawl.harvest
        hosts = engine.politeness.counts(now_s)
        return cls(
            n_pages=n_pages,
            page_budget=page_budget,
            seconds=seconds,
            pages_per_s=(n_pages - n_pages_before) / seconds if seconds > 0 else 0.0,
            harvest=harvest.mean,
            recent_harvest=harvest.recent,
            frontier=len(engine.strategy),
            in_flight=engine.n_in_flight,
            hosts_active=hosts.active,
            hosts_waiting=hosts.waiting,
            hosts_ready=hosts.ready,
            hosts_disabled=hosts.disabled,
            regret=harvest.mean_regret,
            n_skipped=sum(crawl.reasons.values()),
            reasons=dict(crawl.reasons),
            ending=ending,
            paused=paused,
        )

    @property
    def seconds_left(self) -> float | None:
        """Until the page budget is reached, at the speed so far; None while that cannot be told."""
        if self.pages_per_s <= 0 or self.seconds < 1 or self.paused:
            return None
        return max(0, self.page_budget - self.n_pages) / self.pages_per_s


# What a run notes of itself for those who watch: how it is doing now, at each commit, and at moments, for curves.
#
# A moment is noted every second at first. Later one is noted for each thousandth of the time that the crawl has run,
# so that a crawl of a week has some thousands of them, and of its first minute as many as a crawl of a minute has.

SHORTEST_S = 1.0
SHARE_OF_AGE = 0.001
#: Speed "of late" is that of about so many seconds.
LATE_S = 10.0


class Notes(Protocol):
    """Where it is written; by the crawl's next commit."""

    def add_sample(self, row: Sample) -> None: ...

    def set_status(self, as_json: bytes) -> None: ...


class SampleRecorder:
    """`run` is the number of the run, `age_before_s` how long earlier runs took."""

    def __init__(self, notes: Notes, run: int = 1, age_before_s: float = 0.0) -> None:
        self._notes = notes
        self._run = run
        self._age_before_s = age_before_s
        self._due_s = 0.0  #: since the run began
        #: Seconds and pages of late, the oldest first.
        self._late: list[tuple[float, int]] = []
        #: Why what was last asked of the crawl could not be done; empty if it could.
        self.problem = ""

    def note(self, status: CrawlStatus, now_s: float, asked: list[HostStatistics], *, is_last: bool = False) -> None:
        speed = 0.0 if status.paused and not status.in_flight else self._speed_of_late(status)
        self._notes.set_status(orjson.dumps(self._values(status, now_s, speed, asked)))
        if status.seconds >= self._due_s or is_last:
            age_s = self._age_before_s + status.seconds
            self._due_s = status.seconds + max(SHORTEST_S, SHARE_OF_AGE * age_s)
            self._notes.add_sample(_sample(status, now_s, self._run))

    def _speed_of_late(self, status: CrawlStatus) -> float:
        self._late.append((status.seconds, status.n_pages))
        while len(self._late) > 2 and self._late[1][0] <= status.seconds - LATE_S:
            del self._late[0]
        then_s, then_pages = self._late[0]
        elapsed_s = status.seconds - then_s
        return (status.n_pages - then_pages) / elapsed_s if elapsed_s > 0 else status.pages_per_s

    def _values(self, status: CrawlStatus, now_s: float, speed: float, asked: list[HostStatistics]) -> dict[str, Any]:
        """Read by `StoredCrawl.status`."""
        left = max(0, status.page_budget - status.n_pages)
        return {
            "time_s": now_s,
            "run": self._run,
            "seconds": status.seconds,
            "seconds_left": left / speed if speed > 0 and not status.paused else None,
            "pages": status.n_pages,
            "page_budget": status.page_budget,
            "pages_per_s": speed,
            "harvest": status.harvest,
            "recent_harvest": status.recent_harvest,
            "regret": status.regret,
            "frontier": status.frontier,
            "in_flight": status.in_flight,
            "hosts_active": status.hosts_active,
            "hosts_waiting": status.hosts_waiting,
            "hosts_ready": status.hosts_ready,
            "hosts_disabled": status.hosts_disabled,
            "skipped": status.n_skipped,
            "reasons": {reason.value: count for reason, count in status.reasons.items()},
            "host_statistics": [tuple(host) for host in asked],
            "paused": status.paused,
            "ending": None if status.ending is None else status.ending.value,
            "problem": self.problem,
        }


def _sample(status: CrawlStatus, now_s: float, run: int) -> Sample:
    return Sample(
        time_s=now_s,
        run=run,
        pages=status.n_pages,
        page_budget=status.page_budget,
        harvest=status.harvest if status.n_pages else None,
        recent_harvest=status.recent_harvest if status.n_pages else None,
        regret=status.regret,
        frontier=status.frontier,
        in_flight=status.in_flight,
        hosts_active=status.hosts_active,
        hosts_waiting=status.hosts_waiting,
        hosts_ready=status.hosts_ready,
        hosts_disabled=status.hosts_disabled,
        skipped=status.n_skipped,
        paused=status.paused,
    )
