"""The status of a live crawl, and the samples of it that the crawl folder keeps.

A sample is taken every second at first, and later once per thousandth of the crawl's age. So a crawl of a week has some
thousands of samples, and its first minute has as many as that of a short crawl.
"""

from dataclasses import fields, replace
from typing import Protocol

import orjson

from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.reasons import EndReason
from scenthound.records import to_json
from scenthound.store.crawl_records import CrawlStatus, HostState, Sample

MIN_SAMPLE_INTERVAL_S = 1.0
SAMPLE_INTERVAL_SHARE_OF_AGE = 0.001
#: The present speed is that of about so many seconds.
SPEED_WINDOW_S = 10.0


def crawl_status(
    crawl: LiveCrawl,
    *,
    run: int,
    n_pages: int,
    n_pages_before: int,
    page_budget: int,
    seconds: float,
    now_s: float,
    ending: EndReason | None,
    paused: bool,
) -> CrawlStatus:
    """`n_pages` is of the whole crawl, `seconds` of this run, and the speed is the mean of this run."""
    engine, harvest = crawl.engine, crawl.harvest
    hosts = engine.politeness.counts(now_s)
    speed = (n_pages - n_pages_before) / seconds if seconds > 0 else 0.0
    is_known = speed > 0 and seconds >= 1 and not paused
    return CrawlStatus(
        time_s=now_s,
        run=run,
        n_pages=n_pages,
        page_budget=page_budget,
        harvest=harvest.mean if n_pages else None,
        recent_harvest=harvest.recent if n_pages else None,
        regret=harvest.mean_regret,
        frontier=len(engine.strategy),
        in_flight=engine.n_in_flight,
        **{f"hosts_{state}": getattr(hosts, state) for state in HostState},
        n_skipped=sum(crawl.reasons.values()),
        paused=paused,
        seconds=seconds,
        seconds_left=max(0, page_budget - n_pages) / speed if is_known else None,
        pages_per_s=speed,
        reasons=dict(crawl.reasons),
        ending=ending,
    )


class SampleStore(Protocol):
    """Stores samples and status with the next commit of the crawl."""

    def add_sample(self, row: Sample) -> None: ...

    def set_status(self, as_json: bytes) -> None: ...


class SampleRecorder:
    """Stores the status at each commit, and samples of it. `age_before_s` is how long earlier runs took."""

    def __init__(self, store: SampleStore, run: int = 1, age_before_s: float = 0.0) -> None:
        self._store = store
        self.run = run
        self._age_before_s = age_before_s
        self._due_s = 0.0  #: since the run started
        self._recent: list[tuple[float, int]] = []  #: seconds and pages, the oldest first
        #: Why the last command could not be carried out; empty if it could.
        self.problem = ""

    def record(self, status: CrawlStatus, *, is_last: bool = False) -> None:
        speed = 0.0 if status.paused and not status.in_flight else self._present_speed(status)
        left = max(0, status.page_budget - status.n_pages)
        status = replace(
            status,
            pages_per_s=speed,
            seconds_left=left / speed if speed > 0 and not status.paused else None,
            problem=self.problem,
        )
        self._store.set_status(orjson.dumps(to_json(status)))
        if status.seconds >= self._due_s or is_last:
            age_s = self._age_before_s + status.seconds
            self._due_s = status.seconds + max(MIN_SAMPLE_INTERVAL_S, SAMPLE_INTERVAL_SHARE_OF_AGE * age_s)
            self._store.add_sample(Sample(**{each.name: getattr(status, each.name) for each in fields(Sample)}))

    def _present_speed(self, status: CrawlStatus) -> float:
        self._recent.append((status.seconds, status.n_pages))
        while len(self._recent) > 2 and self._recent[1][0] <= status.seconds - SPEED_WINDOW_S:
            del self._recent[0]
        then_s, then_pages = self._recent[0]
        elapsed_s = status.seconds - then_s
        return (status.n_pages - then_pages) / elapsed_s if elapsed_s > 0 else status.pages_per_s
