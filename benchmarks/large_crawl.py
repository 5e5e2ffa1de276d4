"""A generated crawl folder of a million pages, with the rows that a crawl would write.

Rules
- The store's own classes write it, in commits as large as those of a fast crawl. It has runs, samples and a last
  status, like a crawl that has ended.
- The archive has few responses, which pages share: that limits it to half a minute and half a gigabyte.
- There is no journal, because only resuming reads it.
- The same in every run: everything is drawn from one seeded generator.
"""

import os
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np

from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.state import SampleRecorder
from scenthound.model import FloatArray, IntArray, Topic
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_records import ArchiveLocation, CrawlStatus, RunRecord, SkippedRecord, VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.fetch import Response

N_LINKS = 20
#: URLs discovered per visited page.
URLS_PER_PAGE = 4
N_HOSTS = 20_000
PAGES_PER_S = 1_000
SKIPPED_PER_PAGE = 0.3
N_ARCHIVED = 1_000
STARTED_S = 1_780_000_000.0
_SEED = 20_260_214
_REASONS = (
    SkipReason.CLIENT_ERROR,
    SkipReason.NEAR_DUPLICATE,
    SkipReason.NOT_HTML,
    SkipReason.ROBOTS,
    SkipReason.CONNECT_TIMEOUT,
)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def write_large_crawl(folder: Path, n_pages: int) -> None:
    """Write a crawl of this many pages, which reached its page budget, to a new folder."""
    settings = CrawlSettings(Topic("ballooning", ("hot air balloon", "ballooning")), (_url(0),), page_budget=n_pages)
    with CrawlStore.create(folder, settings.as_settings(), ArchiveSettings("Scenthound/1.0")) as store:
        store.add(RunRecord(1, STARTED_S, 0, os.getpid(), version("scenthound")))
        locations = [store.archive_response(_response(number), STARTED_S) for number in range(N_ARCHIVED)]
        _Writer(store, locations, n_pages).write()
        ended_s = _time_s(n_pages)
        store.add(RunRecord(1, STARTED_S, 0, os.getpid(), version("scenthound"), ended_s, EndReason.BUDGET.value))
        store.commit()


class _Writer:
    """Writes one second of the crawl after the other: visits, skipped pages, a sample, a commit."""

    def __init__(self, store: CrawlStore, locations: list[ArchiveLocation], n_pages: int) -> None:
        self._store = store
        self._locations = locations
        self._n_pages = n_pages
        self._rng = np.random.default_rng(_SEED)
        self._samples = SampleRecorder(store)
        self._reasons: Counter[SkipReason] = Counter()
        self._relevance = 0.0

    def write(self) -> None:
        for first in range(0, self._n_pages, PAGES_PER_S):
            visits = range(first, min(first + PAGES_PER_S, self._n_pages))
            relevance = self._rng.beta(2, 3, len(visits))
            self._add_visits(visits, relevance)
            self._add_skipped(visits)
            self._relevance += float(relevance.sum())
            self._record_sample(visits.stop, float(relevance[-200:].mean()))
            self._store.commit()

    def _add_visits(self, visits: range, relevance: FloatArray) -> None:
        known = range(URLS_PER_PAGE * visits.start, URLS_PER_PAGE * visits.stop)
        self._store.add_urls([_url(page) for page in known])
        links = self._rng.integers(0, known.stop, (len(visits), N_LINKS), dtype=np.int32)
        for visit, linked, score in zip(visits, links, relevance.tolist(), strict=True):
            self._store.add(_visit(visit, linked, score, self._locations[visit % len(self._locations)]))

    def _add_skipped(self, visits: range) -> None:
        """Skip URLs found on the first pages of this second."""
        for visit in visits[: int(SKIPPED_PER_PAGE * len(visits))]:
            page, reason = URLS_PER_PAGE * visit + 1, _REASONS[visit % len(_REASONS)]
            self._store.add(SkippedRecord(page, _url(page), reason, "", _time_s(visit)))
            self._reasons[reason] += 1

    def _record_sample(self, n_pages: int, recent: float) -> None:
        status = CrawlStatus(
            time_s=_time_s(n_pages),
            run=1,
            paused=False,
            seconds_left=None,
            n_pages=n_pages,
            page_budget=self._n_pages,
            seconds=n_pages / PAGES_PER_S,
            pages_per_s=PAGES_PER_S,
            harvest=self._relevance / n_pages,
            recent_harvest=recent,
            frontier=(URLS_PER_PAGE - 1) * n_pages,
            in_flight=16,
            hosts_active=16,
            hosts_waiting=200,
            hosts_ready=30,
            hosts_disabled=12,
            regret=0.01,
            n_skipped=self._reasons.total(),
            reasons=dict(self._reasons),
        )
        self._samples.record(status, is_last=n_pages == self._n_pages)


def _url(page: int) -> str:
    # The sizes of hosts vary as much as on the web.
    host = int(N_HOSTS * (page * 2_654_435_761 % 1_000_003 / 1_000_003) ** 3)
    return f"https://host{host}.example/balloons/{page % 89}/page-about-balloons-{page}.html"


def _response(number: int) -> Response:
    words = " ".join(f"balloon word{number}x{i}" for i in range(60))
    body = f"<!doctype html><title>Page {number}</title><p>{words}".encode()
    return Response(_url(number), 200, _HEAD, body, body, False, "192.0.2.1", 0.1)


def _visit(visit: int, links: IntArray, relevance: float, location: ArchiveLocation) -> VisitRecord:
    page = URLS_PER_PAGE * visit
    return VisitRecord(
        visit=visit,
        page=page,
        url=_url(page),
        status=200,
        time_s=_time_s(visit),
        relevance=relevance,
        title=f"Balloons over hosts and hills, part {visit}",
        content_bytes=22_000,
        simhash=visit,
        links=links,
        location=location,
        score=None if visit == 0 else relevance / 2,
        regret=0.01,
        rank=visit,
        queue_size=(URLS_PER_PAGE - 1) * visit,
    )


def _time_s(visit: int) -> float:
    return STARTED_S + visit / PAGES_PER_S
