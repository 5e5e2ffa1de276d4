"""A live crawl between its engine, its reader and its folder: every answer is read, decided, and kept.

Rules
- A visit counts as done when it is committed: its record in the archive and its row, with the journal, on the disk.
- Whatever was answered is archived once, in the order in which the engine took it up.
- Nothing here waits: who runs the crawl carries out its orders and brings the answers, on whatever clock.
"""

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from scenthound.crawler.engine import Engine, Visited
from scenthound.crawler.host_statistics import Harvest, HostStatisticsTable
from scenthound.crawler.journal import WrittenJournal
from scenthound.crawler.page_sources import RecordedPages
from scenthound.crawler.reader import PageFacts, PageGuards, Read, Reader
from scenthound.crawler.tasks import AddressesResolved, Failed, Kind, RobotsFetched, Task
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import ArchiveLocation, RobotsRecord, SkippedRecord, VisitRecord
from scenthound.store.crawl_store import Commit, CrawlStore
from scenthound.text.tokenizer import WordScanner
from scenthound.web.dns import Resolved
from scenthound.web.fetch import NotFetched, Response

# Answers that were taken up, on their way into the archive and the rows of a crawl.
#
# They wait for each other: to archive many in a row costs less than to archive each when it comes, because what the
# compressor works with is then still in the processor's cache: 40 us of 670 for a page, where this was tried. Whoever
# commits lets them be kept first.

#: In rows, of pages with few words.
NO_SIMHASH = 0
#: Rows have signed numbers.
SIMHASHES = 1 << 64
#: So many answers, or so many bytes of them, encoded and decoded, wait at most.
MOST_WAITING = 64
MOST_BYTES = 8_000_000


class CompletedTask(NamedTuple):
    """An answer, what was read in it, and the visit that the engine made of it."""

    time_s: float
    task: Task
    read: Read
    response: Response | None
    visited: Visited | None


class CrawlWriter:
    """Keeps answers in the order in which they were taken up."""

    def __init__(self, store: CrawlStore, n_rows: int) -> None:
        self._store = store
        self._waiting: list[CompletedTask] = []
        self._n_bytes = 0
        self.n_rows = n_rows  #: visits that have a row

    def add(self, taken: CompletedTask) -> None:
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

    def _archived(self, taken: CompletedTask) -> ArchiveLocation | None:
        return None if taken.response is None else self._store.archive_response(taken.response, taken.time_s)

    def _make_row(self, taken: CompletedTask, place: ArchiveLocation | None) -> None:
        facts, result = taken.read.facts, taken.read.result
        if taken.visited is not None and facts is not None:
            self._store.add_visit(_visit_row(taken.visited, facts, taken.time_s, place))
            self.n_rows += 1
        elif isinstance(result, RobotsFetched):
            self._store.add_robots(RobotsRecord(taken.task.url, taken.time_s, result.status, result.body))


def simhash_of(row: VisitRecord) -> int | None:
    return None if row.simhash == NO_SIMHASH else row.simhash % SIMHASHES


def _signed(simhash: int) -> int:
    return simhash - SIMHASHES if simhash >= SIMHASHES // 2 else simhash


def _visit_row(visited: Visited, facts: PageFacts, now_s: float, place: ArchiveLocation | None) -> VisitRecord:
    job, fetched = visited.job, visited.fetched
    return VisitRecord(
        visit=visited.n_visit,
        page=job.page,
        url=fetched.url,
        status=facts.status,
        time_s=now_s,
        relevance=fetched.relevance,
        title=facts.title,
        content_bytes=facts.content_bytes,
        simhash=_signed(facts.simhash or NO_SIMHASH),
        links=visited.links,
        location=place,
        score=job.score,
        regret=job.regret,
        rank=job.rank,
        queue_size=job.queue_size,
        predicted=fetched.predicted,
        anchors=fetched.anchors,
        noindex=facts.noindex,
        truncated=facts.truncated,
    )


#: What an order may be answered with, before it is read.
RawResult = Response | NotFetched | Resolved


class LiveCrawl:
    """One crawl, from its first turn or from where it was taken up."""

    def __init__(
        self,
        engine: Engine,
        reader: Reader,
        *,
        guards: PageGuards,
        store: CrawlStore,
        scanner: WordScanner,
        recorded: RecordedPages | None = None,
    ) -> None:
        self.engine = engine
        self.harvest = Harvest()
        self.host_statistics = HostStatisticsTable(engine.hosts, engine.politeness)
        self.reasons: dict[SkipReason, int] = {}
        self._reader = reader
        self._guards = guards
        self._store = store
        self._scanner = scanner
        self._recorded = recorded
        self._journal = WrittenJournal()
        self._commits: deque[tuple[int, Commit]] = deque()
        self._writing = Lock()
        engine.web.store_visit = self.store_visit
        counts = store.counts()
        self._writer = CrawlWriter(store, counts.visits)
        self.n_acknowledged = counts.visits  #: visits that are on the disk
        self._n_urls_kept, self._n_stems_kept = counts.urls, counts.stems

    def begin_journal(self) -> None:
        """From here on the engine's inputs are news."""
        self.engine.journal = self._journal

    def turn(self, now_s: float, room: int, page_budget: int) -> list[Task]:
        """What to do now."""
        tasks = self.engine.turn(now_s, room, page_budget)
        self._note_skipped(now_s)
        return tasks

    def complete(
        self, clock: Callable[[], float], task: Task, raw: RawResult | None, on_taken: Callable[[], None]
    ) -> None:
        """Read an answer, and let the engine take it up, now or when its page is parsed. None answers orders for
        recorded pages."""
        if isinstance(raw, Resolved):
            self._take(clock(), task, Read(AddressesResolved(raw.addresses)), None)
        elif task.kind is Kind.RECORDED and self._recorded is not None:
            self._take(clock(), task, self._recorded.read(task), None)
        elif raw is not None:
            response = raw if isinstance(raw, Response) else None

            def read(made: Read) -> None:
                self._take(clock(), task, made, response)
                on_taken()

            self._reader.read(task, raw, clock(), read)
            return
        on_taken()

    def _take(self, now_s: float, task: Task, read: Read, response: Response | None) -> None:
        visited = self.engine.complete(now_s, task.number, read.result)
        self.host_statistics.note_response(task.url)
        self._writer.add(CompletedTask(now_s, task, read, response, visited))
        if visited is not None and read.facts is not None:
            self.host_statistics.note_page(visited.fetched.url)
            self._note_page(visited.job.page, visited.fetched.relevance, visited.job.regret, read.facts.simhash or None)
        elif isinstance(read.result, Failed):
            self.note_failure(task, read.result)
        self._note_skipped(now_s)

    def note_visit(self, row: VisitRecord) -> None:
        """What a visit changes beside the engine, when a crawl is taken up."""
        self.host_statistics.note_page(row.url)
        self._note_page(row.page, row.relevance, row.regret, simhash_of(row))

    def _note_page(self, page: int, relevance: float, regret: float | None, simhash: int | None) -> None:
        self.harvest.add(relevance, regret)
        self._guards.note_page(page, simhash)

    def note_failure(self, task: Task, failure: Failed) -> None:
        if failure.fingerprint is not None:
            self._guards.note_error_page(task, failure.fingerprint)

    def _note_skipped(self, now_s: float) -> None:
        for dropped in self.engine.take_skipped():
            self.reasons[dropped.reason] = self.reasons.get(dropped.reason, 0) + 1
            self._store.add_skipped(
                SkippedRecord(dropped.page, dropped.url, dropped.reason, dropped.detail, now_s, dropped.status)
            )

    def begin_commit(self) -> None:
        """Let all that came up to now be acknowledged next, the journal with it."""
        self._writer.keep()
        table, stems = self.engine.web.table, self._scanner.stems
        self._store.add_urls([table.url(number) for number in range(self._n_urls_kept, len(table))])
        self._store.add_stems(stems[self._n_stems_kept :])
        self._n_urls_kept, self._n_stems_kept = len(table), len(stems)
        self._store.add_event_bytes(self._journal.take())
        self._commits.append((self._writer.n_rows, self._store.take()))

    def write_commits(self) -> None:
        """Put the commits that were begun on the disk, in their order; in whatever thread."""
        with self._writing:
            while self._commits:
                n_visits, commit = self._commits.popleft()
                self._store.write(commit)
                self.n_acknowledged = n_visits

    def commit(self) -> None:
        self.begin_commit()
        self.write_commits()

    def store_visit(self, visit: int) -> None:
        """See to it that a visit can be read back."""
        if visit >= self.n_acknowledged:
            self.commit()
