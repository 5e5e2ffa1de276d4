"""A live crawl between its engine, its reader and its folder: each response is read, decided and stored.

Rules
- A visit is complete when it is committed: its archive record, its row and the journal are on disk.
- Each response is archived once, in the order in which the engine processed them.
- Nothing here waits: the runner executes the tasks and passes the responses, on its own clock.
- In a shard, what an event has for other shards is committed together with the event. Each parcel of another shard is
  applied once, in the order of that shard's commits.
- The relevance models of all shards learn from all start pages: the words of one travel to the other shards, with its
  links.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import inf, isfinite
from threading import Lock
from typing import Any

from scenthound.crawler.engine import Engine, Visited
from scenthound.crawler.journal import Granted, Journal, ParcelArrived
from scenthound.crawler.log import log_page
from scenthound.crawler.reader import PageFilter, Reader
from scenthound.crawler.recall import CrawlRecall
from scenthound.crawler.rendering import RenderCounts, Rendering, RenderMemory
from scenthound.crawler.robots_cache import robots_url
from scenthound.crawler.shard import Outgoing, Parcel, parcels_of
from scenthound.crawler.tasks import AddressesResolved, Failed, Hosts, Kind, RobotsFetched, Task, TaskResult
from scenthound.frontier.departures import no_departures
from scenthound.frontier.politeness import Politeness
from scenthound.model import IntArray
from scenthound.reasons import SkipReason
from scenthound.saved_state import Saved, State
from scenthound.store.crawl_records import (
    ArchiveLocation,
    ArrivalRecord,
    HostState,
    HostStatistics,
    PageFacts,
    RenderedRecord,
    RobotsRecord,
    SentRecord,
    SkippedRecord,
    VisitRecord,
    share_given_up,
)
from scenthound.store.crawl_store import Commit, CrawlStore
from scenthound.text.tokenizer import WordScanner
from scenthound.web.dns import Resolved
from scenthound.web.fetch import NotFetched, Response
from scenthound.web.urls import host_of

#: How many recent hosts are listed.
MAX_RECENT_HOSTS = 30
#: Completed tasks that wait to be stored, at most, and bytes of their responses, encoded and decoded.
MAX_WAITING = 64
MAX_WAITING_BYTES = 8_000_000

#: Words of a start page that other shards learn from, at most.
MAX_START_WORDS = 20_000

#: What the runner passes for a task.
RawResult = Response | NotFetched | Resolved


class HostStatisticsTable(Saved):
    """Pages of each host, and the hosts that responded last.

    Hosts are looked up by name and never numbered here: the engine numbers them in an order that a replay repeats.
    """

    _SAVED = "_n_pages", "_recent"

    def __init__(self, hosts: Hosts, politeness: Politeness) -> None:
        self._hosts = hosts
        self._politeness = politeness
        self._n_pages: dict[str, int] = {}
        self._recent: dict[str, None] = {}  #: in the order of their last responses

    def note_response(self, url: str) -> None:
        host = host_of(url)
        self._recent.pop(host, None)
        self._recent[host] = None
        if len(self._recent) > MAX_RECENT_HOSTS:
            del self._recent[next(iter(self._recent))]

    def note_page(self, url: str) -> None:
        host = host_of(url)
        self._n_pages[host] = self._n_pages.get(host, 0) + 1

    def recent(self, now_s: float) -> tuple[HostStatistics, ...]:
        """The latest first."""
        return tuple(
            HostStatistics(name, *self._state(self._hosts.find(name), now_s), self._n_pages.get(name, 0))
            for name in reversed(self._recent)
        )

    def _state(self, host: int | None, now_s: float) -> tuple[HostState, float | None]:
        if host is None:
            return HostState.READY, None
        if self._politeness.is_disabled(host):
            return HostState.DISABLED, None
        if self._politeness.is_busy(host):
            return HostState.ACTIVE, None
        if self._politeness.ready(host, now_s):
            return HostState.READY, None
        until_s = self._politeness.waits_until_s(host)
        return HostState.WAITING, round(until_s - now_s, 1) if now_s < until_s < inf else None


class Harvest(Saved):
    """Harvest, the mean relevance of the visited pages, and the mean cost of politeness, as a share of scores."""

    _SAVED = (
        *("_n", "_sum", "_n_on_topic", "_recent", "_recent_sum"),
        *("_n_regrets", "_regret_sum", "_scores_have_ratio"),
    )

    def __init__(self, window: int = 200, on_topic_from: float | None = None) -> None:
        self._on_topic_from = on_topic_from
        self._n_on_topic = 0
        self._n = 0
        self._sum = 0.0
        self._recent: deque[float] = deque(maxlen=window)
        self._recent_sum = 0.0
        self._n_regrets = 0
        self._regret_sum = 0.0
        self._scores_have_ratio = True

    def add(self, relevance: float, score: float | None = None, regret: float | None = None) -> None:
        self._n += 1
        self._sum += relevance
        self._n_on_topic += self._on_topic_from is not None and relevance >= self._on_topic_from
        if len(self._recent) == self._recent.maxlen:
            self._recent_sum -= self._recent[0]
        self._recent.append(relevance)
        self._recent_sum += relevance
        # While the host of a seed waits, every other page is infinitely worse: that says nothing about the cost.
        if regret is not None and isfinite(regret):
            share = share_given_up(score, regret)
            self._scores_have_ratio &= share is not None
            self._n_regrets += 1
            self._regret_sum += share or 0.0

    @property
    def mean(self) -> float:
        return self._sum / self._n if self._n else 0.0

    @property
    def n_on_topic(self) -> int | None:
        """None if the relevance model gives no probabilities."""
        return None if self._on_topic_from is None else self._n_on_topic

    @property
    def recent(self) -> float:
        """Of the last pages, as many as the window holds."""
        return max(0.0, self._recent_sum / len(self._recent)) if self._recent else 0.0

    @property
    def window_is_full(self) -> bool:
        return len(self._recent) == self._recent.maxlen

    @property
    def mean_regret(self) -> float | None:
        """The mean share of the best queued score that was given up; None for strategies whose scores have no
        ratio."""
        return self._regret_sum / self._n_regrets if self._n_regrets and self._scores_have_ratio else None


@dataclass(slots=True)
class CompletedTask:
    """A task with its result, the facts of its page, its response, the visit that the engine made of it, and the page
    as it was rendered."""

    time_s: float
    task: Task
    result: TaskResult
    facts: PageFacts | None = None
    response: Response | None = None
    visited: Visited | None = None
    rendering: Rendering | None = None


class CrawlWriter:
    """Stores completed tasks in the order of completion.

    They are collected first: archiving many in a row is faster, because the compressor's data is still in the
    processor's cache (40 us of 670 for a page). A commit stores them all.
    """

    def __init__(self, store: CrawlStore, n_rows: int) -> None:
        self._store = store
        self._waiting: list[CompletedTask] = []
        self._n_bytes = 0
        self.n_rows = n_rows  #: visits that have a row

    def add(self, completed: CompletedTask) -> None:
        self._waiting.append(completed)
        if completed.response is not None:
            self._n_bytes += len(completed.response.body) + len(completed.response.content)
        if completed.rendering is not None:
            self._n_bytes += len(completed.rendering.html)
        if len(self._waiting) >= MAX_WAITING or self._n_bytes >= MAX_WAITING_BYTES:
            self.flush()

    def flush(self) -> None:
        """Archive all that wait, then add their rows."""
        waiting, self._waiting, self._n_bytes = self._waiting, [], 0
        locations = [None if each.response is None else self._archive(each, each.response) for each in waiting]
        for each, location in zip(waiting, locations, strict=True):
            if each.visited is not None and each.facts is not None:
                self._store.add(_visit_record(each.visited, each.facts, each.time_s, location))
                self.n_rows += 1
            elif isinstance(each.result, RobotsFetched):
                self._store.add(RobotsRecord(each.task.url, each.time_s, each.result.status, each.result.body))

    def _archive(self, completed: CompletedTask, response: Response) -> ArchiveLocation:
        """The location of what was read."""
        visit = -1 if completed.visited is None else completed.visited.n_visit
        rendering = None if completed.visited is None else completed.rendering
        return archive(self._store, response, completed.time_s, rendering, visit)


def archive(
    store: CrawlStore, response: Response, time_s: float, rendering: Rendering | None, visit: int
) -> ArchiveLocation:
    """Archive a response and, after it, the page that a browser made of it, if it did; the location of the page."""
    location = store.archive_response(response, time_s)
    if rendering is None:
        return location
    gain = rendering.gain
    store.add(RenderedRecord(visit, time_s, location, gain.words_before, gain.words, gain.links_before, gain.links))
    return store.archive_rendered(response, rendering.html, time_s, location)


def _visit_record(visited: Visited, facts: PageFacts, time_s: float, location: ArchiveLocation | None) -> VisitRecord:
    job, fetched = visited.job, visited.fetched
    return VisitRecord(
        visit=visited.n_visit,
        page=job.page,
        url=fetched.url,
        time_s=time_s,
        relevance=fetched.relevance,
        links=visited.links,
        location=location,
        score=job.score,
        regret=job.regret,
        rank=job.rank,
        queue_size=job.queue_size,
        predicted=fetched.predicted,
        anchors=fetched.anchors,
        status=facts.status,
        title=facts.title,
        content_bytes=facts.content_bytes,
        simhash=facts.simhash,
        noindex=facts.noindex,
        truncated=facts.truncated,
    )


class RunnableCrawl:
    """What a run needs: a crawl, or a refresh of one, whose pages are counted as visits."""

    #: None for a refresh.
    recall: CrawlRecall | None = None

    def __init__(self, engine: Engine, reader: Reader, page_filter: PageFilter, store: CrawlStore) -> None:
        self.engine = engine
        self.reader = reader
        self.harvest = Harvest()
        self.host_statistics = HostStatisticsTable(engine.hosts, engine.politeness)
        self.reasons: Counter[SkipReason] = Counter()
        self.n_out_of_scope = 0  #: links of visited pages that were left out
        self.n_acknowledged = 0  #: visits on disk
        self.render_memory = RenderMemory()
        self.renders = RenderCounts()
        self._filter = page_filter
        self._store = store
        #: Commits that are to be written, with the numbers of visits and what else is known then.
        self._commits: deque[tuple[Commit, int, Any]] = deque()
        self._writing = Lock()

    def turn(self, now_s: float, room: int, page_budget: int) -> list[Task]:
        """The next tasks."""
        tasks = self.engine.turn(now_s, room, page_budget)
        self._after_event()
        return tasks

    def complete(
        self, clock: Callable[[], float], task: Task, raw: RawResult | None, on_completed: Callable[[], None]
    ) -> None:
        """Read a response and pass its result to the engine, now or when its page is parsed. `raw` is None for recorded
        pages."""
        response = raw if isinstance(raw, Response) else None

        def on_read(result: TaskResult, facts: PageFacts | None = None, rendering: Rendering | None = None) -> None:
            self._complete(CompletedTask(clock(), task, result, facts, response, rendering=rendering))
            on_completed()

        if raw is None:
            on_read(*self.reader.read_recorded(task))
        elif isinstance(raw, Resolved):
            on_read(AddressesResolved(raw.addresses))
        else:
            self.reader.read(task, raw, clock(), on_read)

    def _complete(self, completed: CompletedTask) -> None:
        """Pass a result to the engine, and store what comes of it."""
        raise NotImplementedError

    def _after_event(self) -> None:
        """Store skipped pages."""
        for skipped in self.engine.take_skipped():
            self._store_skipped(skipped)

    def _store_skipped(self, skipped: SkippedRecord) -> None:
        raise NotImplementedError

    def note_failure(self, task: Task, failure: Failed) -> None:
        if failure.fingerprint is not None:
            self._filter.note_error_page(task, failure.fingerprint)

    def begin_commit(self) -> None:
        """Collect everything up to now for the next write."""
        raise NotImplementedError

    def write_commits(self) -> None:
        """Write the collected commits to disk, in their order; from any thread."""
        with self._writing:
            while self._commits:
                commit, n_visits, known = self._commits.popleft()
                self._store.write(commit)
                self.n_acknowledged = n_visits
                self._on_written(commit, known)

    def _on_written(self, commit: Commit, known: Any) -> None:
        """A commit is on disk."""
        raise NotImplementedError


class LiveCrawl(RunnableCrawl):
    """One crawl, new or resumed."""

    recall: CrawlRecall

    def __init__(
        self, engine: Engine, reader: Reader, page_filter: PageFilter, store: CrawlStore, scanner: WordScanner
    ) -> None:
        super().__init__(engine, reader, page_filter, store)
        self.harvest = Harvest(on_topic_from=engine.settings.on_topic_from)
        self.recall = CrawlRecall(engine.settings.on_topic_from, is_focused=engine.strategy.needs_relevance)
        self._scanner = scanner
        #: That of the engine, once the crawl was started or brought to the state of its last commit.
        self.journal = Journal()
        engine.web.store_visit = self.store_visit
        engine.web.store_all = self.commit
        counts = store.position()
        self._writer = CrawlWriter(store, counts.visits)
        self.n_acknowledged = counts.visits
        self._n_urls_stored, self._n_stems_stored = counts.urls, counts.stems
        #: The commit of the last parcel from and for each other shard.
        self.received = store.received()
        self.sent = store.sent()
        #: The commit of the last parcel for each other shard that is on disk.
        self.sent_acknowledged = dict(self.sent)
        self._outgoing: list[Outgoing] = []
        #: Start pages that arrived before the crawl was resumed: the number of visits before, and their words.
        self.arrived_starts: list[tuple[int, IntArray]] = []
        #: Called when a commit with parcels is on disk, in the thread that wrote it.
        self.on_parcels: Callable[[int, Mapping[int, bytes]], None] = lambda _number, _parcels: None

    def state(self) -> State:
        """A checkpoint for `restore`, right after a commit was begun."""
        return {
            "position": asdict(self._store.taken),
            "n_events": self.journal.n_events,
            "engine": self.engine.state(),
            "filter": self._filter.state(),
            "relevance": self.reader.scorer.state(),
            "harvest": self.harvest.state(),
            "host_statistics": self.host_statistics.state(),
            "rendering": self.render_memory.state(),
        }

    def restore(self, state: State) -> bool:
        """Continue from a checkpoint; returns whether the relevance model does, too."""
        self.engine.restore(state["engine"])
        self._filter.restore(state["filter"])
        self.harvest.restore(state["harvest"])
        self.recall.load(self._store, state["position"]["visits"])
        self.host_statistics.restore(state["host_statistics"])
        self.render_memory.restore(state["rendering"])
        self.journal.n_events = state["n_events"]
        return self.reader.scorer.restore(state["relevance"])

    def receive(self, now_s: float, source: int, commit: int, content: bytes) -> bool:
        """Apply a parcel of another shard, unless it was applied before; False if an earlier one is missing."""
        if commit <= self.received.get(source, 0):
            return True
        parcel = Parcel.from_bytes(content)
        if parcel.previous != self.received.get(source, 0):
            return False
        for words in self._words_of_starts(parcel):
            self.reader.scorer.learn(words, is_start=True)
        self.engine.receive(ParcelArrived(now_s, source, commit), parcel)
        self.received[source] = commit
        for answer in parcel.answers:
            if answer.failure is None:
                # Its record has a number, like those of files that were requested here.
                task = Task(-1, Kind.ROBOTS, robots_url(answer.origin), now_s)
                result = RobotsFetched(answer.status, answer.body)
                self._writer.add(CompletedTask(now_s, task, result))
        self._store.add(ArrivalRecord(source, commit, content))
        self._after_event()
        return True

    def _words_of_starts(self, parcel: Parcel) -> list[IntArray]:
        return [self._scanner.find_words(stems) for stems in parcel.starts]

    def note_arrived(self, parcel: Parcel, n_visits: int) -> None:
        """A parcel arrived after this many visits, before the crawl was resumed. Its start pages are learned later,
        with the visited pages."""
        self.arrived_starts += [(n_visits, words) for words in self._words_of_starts(parcel)]

    def grant(self, now_s: float, n_requests: int, tokens: Mapping[str, int]) -> None:
        """Let a shard request this many pages in all, and use this many connections of addresses that it shares."""
        self.engine.grant(Granted(now_s, n_requests, tokens))

    def _after_event(self) -> None:
        super()._after_event()
        if self.engine.shards is not None and not (outgoing := self.engine.take_outgoing()).is_empty:
            self._outgoing.append(outgoing)

    def _complete(self, completed: CompletedTask) -> None:
        task, result = completed.task, completed.result
        completed.visited = visited = self.engine.complete(completed.time_s, task.number, result)
        self.host_statistics.note_response(task.url)
        self._writer.add(completed)
        if visited is not None and completed.facts is not None:
            if visited.fetched.text is not None:
                self.reader.note_visit(visited.job.page, visited.fetched.text.words)
                self._send_start(visited.job.page, visited.fetched.text.words)
            self.n_out_of_scope += visited.fetched.n_out_of_scope
            self.harvest.add(visited.fetched.relevance, visited.job.score, visited.job.regret)
            self.recall.add(visited.fetched.relevance, visited.job.queue_size)
            self._note_page(visited.job.page, visited.fetched.url, completed.facts.fingerprint)
            fetched, score = visited.fetched, visited.job.score
            log_page("visited", visit=visited.n_visit, url=fetched.url, relevance=fetched.relevance, score=score)
        elif isinstance(result, Failed):
            self.note_failure(task, result)
        self._after_event()

    def _send_start(self, page: int, words: IntArray) -> None:
        """Let the relevance models of other shards learn from a start page."""
        if self.engine.shards is not None and self.reader.is_start(page) and self.reader.scorer.learns:
            stems = [self._scanner.stem(number) for number in words[:MAX_START_WORDS].tolist()]
            self._outgoing.append(Outgoing(no_departures(), starts=(stems,)))

    def note_visit(self, row: VisitRecord) -> None:
        """Apply a stored visit to everything but the engine, when a crawl is resumed."""
        self.harvest.add(row.relevance, row.score, row.regret)
        self.recall.add(row.relevance, row.queue_size)
        self._note_page(row.page, row.url, row.fingerprint)

    def _note_page(self, page: int, url: str, fingerprint: int | None) -> None:
        self.host_statistics.note_page(url)
        self._filter.note_page(page, fingerprint)

    def _store_skipped(self, skipped: SkippedRecord) -> None:
        self.reasons[skipped.reason] += 1
        self._store.add(skipped)
        detail = skipped.detail or None
        log_page("skipped", url=skipped.url, reason=skipped.reason, status=skipped.status, detail=detail)

    def begin_commit(self) -> None:
        """The journal is part of a commit."""
        self._writer.flush()
        table = self.engine.web.table
        self._store.add_urls(table.urls(self._n_urls_stored, len(table)))
        self._store.add_stems(self._scanner.stems_from(self._n_stems_stored))
        self._n_urls_stored, self._n_stems_stored = len(table), self._scanner.n_words
        self._store.add_event_bytes(self.journal.take())
        self._add_parcels()
        self._commits.append((self._store.take(), self._writer.n_rows, None))

    @property
    def has_outgoing(self) -> bool:
        """Whether the next commit will have something for other shards."""
        return bool(self._outgoing)

    @property
    def has_uncommitted_parcels(self) -> bool:
        """Whether something for other shards is not on disk yet."""
        return bool(self._outgoing) or self.sent != self.sent_acknowledged

    def _add_parcels(self) -> None:
        shards, events = self.engine.shards, self._outgoing
        if shards is None or not events:
            return
        self._outgoing = []
        number = self._store.next_commit
        for shard, parcel in parcels_of(events, shards, self.engine.web.table, self.sent).items():
            self._store.add_parcel(str(shard), parcel.to_bytes())
            self._store.add(SentRecord(shard, number))
            self.sent[shard] = number

    def _on_written(self, commit: Commit, _known: Any) -> None:
        if commit.rows.parcels:
            parcels = {int(shard): content for shard, content in commit.rows.parcels.items()}
            self.sent_acknowledged.update(dict.fromkeys(parcels, commit.number))
            self.on_parcels(commit.number, parcels)

    def commit(self) -> None:
        self.begin_commit()
        self.write_commits()

    def store_visit(self, visit: int) -> None:
        """Ensure that a visit can be read back."""
        if visit >= self.n_acknowledged:
            self.commit()
