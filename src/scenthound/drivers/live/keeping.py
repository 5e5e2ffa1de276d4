"""Answers that were taken up, on their way into the archive and the rows of a crawl.

They wait for each other: to archive many in a row costs less than to archive each when it comes, because what the
compressor works with is then still in the processor's cache: 40 us of 670 for a page, where this was tried.
Whoever commits lets them be kept first.
"""

from typing import NamedTuple

from scenthound.drivers.live.engine import Visited
from scenthound.drivers.live.orders import Order, RobotsFound
from scenthound.drivers.live.page_facts import PageFacts
from scenthound.drivers.live.reading import Read
from scenthound.store.crawl_rows import Place, RobotsRow, VisitRow
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.fetch import Response

#: In rows, of pages with few words.
NO_SIMHASH = 0
#: Rows have signed numbers.
SIMHASHES = 1 << 64
#: So many answers, or so many bytes of them, encoded and decoded, wait at most.
MOST_WAITING = 64
MOST_BYTES = 8_000_000


class TakenAnswer(NamedTuple):
    """An answer, what was read in it, and the visit that the engine made of it."""

    time_s: float
    order: Order
    read: Read
    response: Response | None
    visited: Visited | None


class Keeper:
    """Keeps answers in the order in which they were taken up."""

    def __init__(self, store: CrawlStore, n_rows: int) -> None:
        self._store = store
        self._waiting: list[TakenAnswer] = []
        self._n_bytes = 0
        self.n_rows = n_rows  #: visits that have a row

    def add(self, taken: TakenAnswer) -> None:
        self._waiting.append(taken)
        if taken.response is not None:
            self._n_bytes += len(taken.response.body) + len(taken.response.content)
        if len(self._waiting) >= MOST_WAITING or self._n_bytes >= MOST_BYTES:
            self.keep()

    def keep(self) -> None:
        """Archive all that wait, and make their rows."""
        waiting, self._waiting, self._n_bytes = self._waiting, [], 0
        places = [self._archived(taken) for taken in waiting]
        for taken, place in zip(waiting, places, strict=True):
            self._make_row(taken, place)

    def _archived(self, taken: TakenAnswer) -> Place | None:
        return None if taken.response is None else self._store.archive_response(taken.response, taken.time_s)

    def _make_row(self, taken: TakenAnswer, place: Place | None) -> None:
        facts, answer = taken.read.facts, taken.read.answer
        if taken.visited is not None and facts is not None:
            self._store.add_visit(_visit_row(taken.visited, facts, taken.time_s, place))
            self.n_rows += 1
        elif isinstance(answer, RobotsFound):
            self._store.add_robots(RobotsRow(taken.order.url, taken.time_s, answer.status, answer.body))


def simhash_of(row: VisitRow) -> int | None:
    return None if row.simhash == NO_SIMHASH else row.simhash % SIMHASHES


def _signed(simhash: int) -> int:
    return simhash - SIMHASHES if simhash >= SIMHASHES // 2 else simhash


def _visit_row(visited: Visited, facts: PageFacts, now_s: float, place: Place | None) -> VisitRow:
    job, got = visited.job, visited.got
    return VisitRow(
        visit=visited.n_visit,
        page=job.page,
        url=got.url,
        status=facts.status,
        time_s=now_s,
        relevance=got.relevance,
        title=facts.title,
        content_bytes=facts.content_bytes,
        simhash=_signed(facts.simhash or NO_SIMHASH),
        links=visited.links,
        place=place,
        score=job.score,
        regret=job.regret,
        rank=job.rank,
        waiting=job.n_waiting,
        predicted=got.predicted,
        anchors=got.anchors,
        noindex=facts.noindex,
        truncated=facts.truncated,
    )
