"""How a live crawl is doing, for people who watch it."""

from dataclasses import dataclass

from scenthound.drivers.ended import Ended
from scenthound.drivers.live.crawl import LiveCrawl
from scenthound.reasons import Reason


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """A moment of a crawl. `n_pages` are on the disk; `seconds` and the speed are those of this run."""

    n_pages: int
    page_budget: int
    seconds: float
    pages_per_s: float
    harvest: float  #: mean relevance of the pages taken
    harvest_of_late: float
    frontier: int  #: pages that wait
    in_flight: int
    hosts_active: int
    hosts_resting: int
    hosts_ready: int
    hosts_retired: int
    regret: float | None
    n_not_taken: int
    reasons: dict[Reason, int]
    ending: Ended | None = None
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
        ending: Ended | None,
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
            harvest_of_late=harvest.of_late,
            frontier=len(engine.strategy),
            in_flight=engine.n_in_flight,
            hosts_active=hosts.active,
            hosts_resting=hosts.resting,
            hosts_ready=hosts.ready,
            hosts_retired=hosts.retired,
            regret=harvest.mean_regret,
            n_not_taken=sum(crawl.reasons.values()),
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
