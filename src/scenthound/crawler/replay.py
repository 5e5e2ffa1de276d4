"""Bring a crawl to the state of its last commit, in order to resume it.

- A crawl continues from its newest checkpoint whose commit is on disk, or from the start. If a checkpoint is damaged,
  or that of another crawl, the one before is used.
- The engine then processes the journal from there on. It ends in the state of the last commit; tasks without a result
  are executed again. URLs and stems keep their numbers, because all of them are known before the first event.
- Requested pages and tasks are compared with the journal. If they differ, Scenthound or the strategy decides otherwise
  than the version that wrote the journal. The crawl then catches up: visits since the checkpoint are passed to the
  strategy as they are, and pages that were in flight at the checkpoint are requested again, unless they were visited or
  skipped since. The order of later requests may differ from that of the earlier version; nothing stored is fetched
  again.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random

from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.journal import (
    Event,
    Granted,
    ParcelArrived,
    Resumed,
    TaskCompleted,
    Turn,
    checksum_of,
    read_journal,
)
from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.crawler.rendering import RenderCounts
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import Parcel
from scenthound.crawler.tasks import Failed, Fetched, Kind, RobotsFetched, Task, TaskResult
from scenthound.errors import CorruptData, InvalidInput, PluginError, printable
from scenthound.model import Progress, silent
from scenthound.records import from_json
from scenthound.store.checkpoints import Checkpoints, DamagedCheckpoint
from scenthound.store.crawl_folder import CHECKPOINT_FOLDER
from scenthound.store.crawl_records import CrawlPosition
from scenthound.store.crawl_store import CrawlStore

#: What a journal, a database or a checkpoint raises that does not fit.
_MISMATCH = (TypeError, ValueError, LookupError, AttributeError)


class _DivergedError(Exception):
    """The engine decides otherwise than the journal says."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The time of the last event of a crawl, and how many there were. `n_caught_up` are the visits whose requests were
    not repeated."""

    now_s: float = 0.0
    n_events: int = 0
    n_caught_up: int = 0


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a crawl continues: the number of a checkpoint, or None for its start; and whether requests since then are
    repeated, or only their results taken over."""

    checkpoint: int | None = None
    position: CrawlPosition = field(default_factory=CrawlPosition)
    is_exact: bool = True


def started(
    settings: CrawlSettings, store: CrawlStore, progress: Progress = silent, *, is_dry: bool = False
) -> tuple[CrawlParts, Replayed]:
    """The parts of a crawl that has been started, or brought to the state of its last commit. `is_dry`: nothing is
    written, and the relevance model learns nothing, as no page will be scored."""
    reason: Exception | None = None
    for beginning in _beginnings(store):
        parts = CrawlParts(settings, store)
        try:
            return parts, start_or_replay(parts, settings, store, progress, beginning, is_dry=is_dry)
        except (_DivergedError, DamagedCheckpoint, PluginError, *_MISMATCH) as error:
            reason = reason or error
    assert reason is not None
    if isinstance(reason, PluginError):
        raise reason
    raise InvalidInput(
        f"Cannot resume {printable(store.folder)}: its journal does not match its database or this strategy "
        f"({type(reason).__name__}: {printable(reason, 100)}). Restore the folder from a backup."
    ) from reason


def _beginnings(store: CrawlStore) -> Iterator[Beginning]:
    """Where the crawl can continue, the best first."""
    for number, position in _checkpoints(store).newest("position"):
        with suppress(CorruptData):
            beginning = Beginning(number, from_json(CrawlPosition, position))
            if store.has(beginning.position):
                yield beginning
                yield replace(beginning, is_exact=False)
    yield Beginning()
    yield Beginning(is_exact=False)


def start_or_replay(
    parts: CrawlParts,
    settings: CrawlSettings,
    store: CrawlStore,
    progress: Progress = silent,
    beginning: Beginning | None = None,
    *,
    is_dry: bool = False,
) -> Replayed:
    """Start the crawl, or bring it to the state of its last commit, on new parts."""
    beginning = beginning or next(_beginnings(store))
    crawl, n_learned = parts.crawl, 0
    if beginning.checkpoint is None:
        crawl.engine.start(settings.seeds, Random(settings.generator_seed))
    elif crawl.restore(_checkpoints(store).read(beginning.checkpoint)):
        n_learned = beginning.position.visits
    else:
        for arrival in islice(store.arrivals(), beginning.position.arrivals):
            crawl.note_arrived(Parcel.from_bytes(arrival.content), 0)
    if beginning.is_exact:
        replayed = _Replay(crawl, store, beginning.position).run(progress)
    else:
        replayed = _caught_up(crawl, store, beginning.position)
    if is_dry:
        return replayed
    # Later ones are damaged, or their commits were lost: they must not be taken for those of commits to come.
    with suppress(OSError):
        _checkpoints(store).delete_after(beginning.checkpoint or 0)
    crawl.reasons.update(store.reasons())
    parts.relearn(progress, n_learned)
    if (last := store.status()) is not None:
        crawl.n_out_of_scope = last.n_out_of_scope
        crawl.renders = RenderCounts(last.n_rendered, last.n_renders_paid, last.n_renders_failed)
    crawl.engine.journal = crawl.journal
    if not beginning.is_exact:
        # The journal cannot be replayed from an earlier checkpoint.
        _checkpoints(store).write(crawl.state())
    return replayed


def _checkpoints(store: CrawlStore) -> Checkpoints:
    return Checkpoints(store.folder / CHECKPOINT_FOLDER)


class _Replay:
    """Replays the journal from a position on."""

    def __init__(self, crawl: LiveCrawl, store: CrawlStore, position: CrawlPosition) -> None:
        self._crawl, self._engine = crawl, crawl.engine
        self._store, self._position = store, position
        self._visits = store.visits(position.visits)
        self._arrivals = store.arrivals(position.arrivals)
        self._n_robots = position.robots

    def run(self, progress: Progress) -> Replayed:
        n_visits = max(1, self._store.n_visits())
        now_s, journal = self._engine.now_s, self._crawl.journal
        for written in self._store.events(self._position.events):
            for event in read_journal(written):
                now_s = event.now_s
                self._apply(event)
                journal.n_events += 1
            if self._engine.shards is not None:
                # What other shards are to know was committed with the events.
                self._engine.take_outgoing()
            progress(self._engine.n_visits / n_visits, f"{self._engine.n_visits:,} pages restored")
        if self._engine.n_visits != self._store.n_visits():
            raise _DivergedError("it has other visits")
        self._engine.take_skipped()
        return Replayed(now_s, journal.n_events)

    def _apply(self, event: Event) -> None:
        match event:
            case Resumed():
                self._engine.resume(event)
            case Granted():
                self._engine.grant(event)
            case ParcelArrived():
                parcel = Parcel.from_bytes(next(self._arrivals).content)
                self._crawl.note_arrived(parcel, self._engine.n_visits)
                self._engine.receive(event, parcel)
                self._n_robots += sum(answer.failure is None for answer in parcel.answers)
            case Turn():
                _, requested = self._engine.turn_and_pages(event.now_s, event.room, event.page_budget)
                if requested != event.requested:
                    raise _DivergedError("it requests other pages")
            case TaskCompleted():
                task = self._engine.task(event.task)
                if task is None or checksum_of(task) != event.checksum:
                    raise _DivergedError("it has other tasks")
                result = event.result or self._recorded_result(task, event.elapsed_s)
                self._engine.complete(event.now_s, event.task, result)
                if isinstance(result, Failed):
                    self._crawl.note_failure(task, result)

    def _recorded_result(self, task: Task, elapsed_s: float) -> TaskResult:
        if task.kind is Kind.ROBOTS:
            # One at a time: a hundred of them can be as large as all the memory for rules.
            robots = self._store.robots_file(self._n_robots)
            if robots is None:
                raise LookupError(f"robots.txt file {self._n_robots:,} is missing")
            self._n_robots += 1
            return RobotsFetched(robots.status or 0, robots.body, elapsed_s)
        row = next(self._visits)
        self._crawl.note_visit(row)
        return Fetched(row.url, row.relevance, row.links, row.predicted, row.anchors, elapsed_s=elapsed_s)


def _caught_up(crawl: LiveCrawl, store: CrawlStore, position: CrawlPosition) -> Replayed:
    """Take over visits and skipped pages since a position."""
    since_s = crawl.engine.now_s
    skipped = store.skipped_since(since_s)
    now_s = max([since_s, *skipped.values()])
    n_before = crawl.engine.n_visits
    for row in store.visits(position.visits):
        crawl.engine.take_over(row)
        crawl.note_visit(row)
        now_s = max(now_s, row.time_s)
    for arrival in store.arrivals(position.arrivals):
        parcel = Parcel.from_bytes(arrival.content)
        crawl.note_arrived(parcel, position.visits)
        crawl.engine.receive(ParcelArrived(now_s, arrival.source, arrival.commit_number), parcel)
    if crawl.engine.shards is not None:
        crawl.engine.take_outgoing()
    crawl.engine.begin_anew(now_s, skipped, n_robots=store.position().robots)
    return Replayed(now_s, crawl.journal.n_events + 1, crawl.engine.n_visits - n_before)
