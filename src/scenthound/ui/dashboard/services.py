"""What the dashboard keeps between two questions: which folders there are, and what was counted and indexed in them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from uuid import UUID

from scenthound.errors import InvalidInput
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.search_index import PageSearch
from scenthound.store.search_query import excerpt
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_overview import HostTally
from scenthound.ui.dashboard.folder_views import FolderGlances
from scenthound.ui.dashboard.folders import FolderBook
from scenthound.ui.dashboard.problems import TooBusy, Workers
from scenthound.ui.dashboard.queries import PagesOf
from scenthound.ui.dashboard.responses import Indexing, TopHost, TopHosts
from scenthound.web.urls import host_of

# Which crawl in which folder something was counted or indexed for: what is known of one holds for no other.
#
# A copy of a crawl has the id of the crawl, and goes its own way when it is resumed; a folder may be moved, or
# replaced.


@dataclass(frozen=True, slots=True)
class CrawlKey:
    """`made` tells a folder from one that was put into its place: the file of a crawl that never changes."""

    folder: Path
    crawl_id: UUID
    made: tuple[int, int]

    @classmethod
    def of(cls, crawl: StoredCrawl) -> "CrawlKey":
        """OSError if the folder is gone."""
        found = (crawl.folder / ABOUT_FILE).stat()
        return cls(crawl.folder, crawl.about.crawl_id, (found.st_ino, found.st_mtime_ns))


# The top hosts of crawls, counted a piece at a time: of a large crawl, what is counted by then is told at once.

N_TOP = 50
#: How long one answer may count.
COUNTED_FOR_S = 0.5
#: Visits between two looks at the clock.
_PIECE_VISITS = 20_000
#: Crawls whose tallies are kept.
_MAX_HOST_COUNTS = 16


class HostTallies:
    """Tallies by crawl; those that were not asked for longest go first. Any thread may ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[CrawlKey, _Tally] = OrderedDict()
        self._lock = threading.Lock()

    def top_of(self, crawl: StoredCrawl) -> TopHosts:
        """Counts on for a while, and tells what is known by then."""
        return self._of(CrawlKey.of(crawl)).top_of(crawl)

    def _of(self, key: CrawlKey) -> "_Tally":
        with self._lock:
            tally = self._kept.setdefault(key, _Tally())
            self._kept.move_to_end(key)
            while len(self._kept) > _MAX_HOST_COUNTS:
                self._kept.popitem(last=False)
            return tally


class _Tally:
    def __init__(self) -> None:
        self._tally = HostTally()
        self._lock = threading.Lock()

    def top_of(self, crawl: StoredCrawl) -> TopHosts:
        with self._lock:
            until_s = monotonic() + COUNTED_FOR_S
            while not self._tally.read_on(crawl, _PIECE_VISITS) and monotonic() < until_s:
                continue
            hosts = (TopHost(each.host, each.pages, each.mean_relevance) for each in self._tally.top(N_TOP))
            return TopHosts(tuple(hosts), self._tally.n_hosts, self._tally.share_read)


# Full-text search over crawls, and the index of each, which grows while somebody looks.
#
# Rules
# - Pages are indexed a few at a time, by one thread for all crawls, so that a large crawl does not keep out another.
# - An index grows as long as somebody asked for pages of its crawl lately. When nobody looks, nothing is done.
# - Only so many are kept. One that has to go is closed when nobody uses it any more: neither a question nor the
#   thread that makes it grow.

#: An index grows for so long after somebody asked.
LOOKED_AT_FOR_S = 60.0
STEP_PAGES = 100
#: Pages found that are looked through for those of one host.
MOST_FILTERED = 1_000
#: Found pages are counted up to here.
MOST_COUNTED = 10_000
_MAX_INDEXES = 8


@dataclass(frozen=True, slots=True)
class FoundVisits:
    """Visits in order of how well they match; `next` is where the next ones begin."""

    visits: tuple[int, ...]
    next: int | None
    found: int


class SearchIndexes:
    """Indexes by crawl; those that were not asked for longest go. Any thread may ask."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._kept: OrderedDict[CrawlKey, CrawlIndex] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, crawl: StoredCrawl) -> Iterator["CrawlIndex"]:
        """The index of a crawl, to be used within the block. It goes on growing from now."""
        index = self._taken(crawl)
        try:
            index.wanted()
            yield index
        finally:
            index.leave()

    def _taken(self, crawl: StoredCrawl) -> "CrawlIndex":
        key = CrawlKey.of(crawl)
        if (index := self._entered(key)) is not None:
            return index
        # Without the lock: it may have to wait for another program.
        made = CrawlIndex(crawl, key, self._workers)
        index = self._entered(key, made)
        if index is None or index is made:
            return made
        made.close()
        return index

    def _entered(self, key: CrawlKey, made: "CrawlIndex | None" = None) -> "CrawlIndex | None":
        """The index that is kept, or else the one that was made meanwhile, if there is any."""
        with self._lock:
            index = self._kept.get(key) or made
            if index is not None:
                index.enter()
                self._kept[key] = index
                self._kept.move_to_end(key)
            while len(self._kept) > _MAX_INDEXES:
                self._kept.popitem(last=False)[1].close()
            return index


class CrawlIndex:
    """Who enters may ask until he leaves."""

    def __init__(
        self, crawl: StoredCrawl, key: CrawlKey, workers: Workers, clock: Callable[[], float] = monotonic
    ) -> None:
        self._key = key
        self._search = PageSearch.open(crawl)
        self._workers = workers
        self._clock = clock
        self._asked_s = clock()
        self._is_running = False
        self._is_closed = False
        self._n_users = 0
        self._lock = threading.Lock()

    def enter(self) -> None:
        with self._lock:
            self._n_users += 1

    def leave(self) -> None:
        with self._lock:
            self._n_users -= 1
            self._close_if_unused()

    def wanted(self) -> None:
        with self._lock:
            self._asked_s = self._clock()
            if not self._is_running and not self._is_closed:
                self._is_running = self._begin()

    def told(self, crawl: StoredCrawl) -> Indexing:
        return Indexing(self._search.n_indexed, crawl.n_visits(), self._is_running)

    def found(self, asked: PagesOf, crawl: StoredCrawl) -> FoundVisits:
        if asked.host:
            return self._found_of_host(asked, crawl)
        hits = self._search.search(asked.query, asked.limit + 1, asked.start)
        following = asked.start + asked.limit if len(hits) > asked.limit else None
        found = self._search.count(asked.query, MOST_COUNTED)
        return FoundVisits(tuple(hit.visit for hit in hits[: asked.limit]), following, found)

    def excerpt(self, crawl: StoredCrawl, row: VisitRecord, query: str) -> str | None:
        return excerpt(crawl.text_of(row), query) or None

    def close(self) -> None:
        """At once, or when the last one leaves."""
        with self._lock:
            self._is_closed = True
            self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._is_closed and not self._n_users and not self._is_running:
            self._search.close()

    def _found_of_host(self, asked: PagesOf, crawl: StoredCrawl) -> FoundVisits:
        """Of the best pages, those of the host."""
        hits = self._search.search(asked.query, MOST_FILTERED)
        rows = crawl.visits_numbered(hit.visit for hit in hits)
        visits = [row.visit for row in rows if host_of(row.url) == asked.host.lower()]
        end = asked.start + asked.limit
        return FoundVisits(tuple(visits[asked.start : end]), end if end < len(visits) else None, len(visits))

    def _begin(self) -> bool:
        with suppress(TooBusy):
            self._workers.begin(self._step)
            return True
        return False

    def _step(self) -> None:
        """Index some pages, and line up again for the next."""
        is_more = False
        try:
            if not self._is_closed:
                is_more = self._grown()
        except Exception:  # noqa: BLE001 - whatever it is, it is told to whoever asks for the crawl
            # A crawl that is gone or damaged has an index that just does not grow.
            is_more = False
        with self._lock:
            is_watched = self._clock() - self._asked_s < LOOKED_AT_FOR_S
            self._is_running = is_more and is_watched and not self._is_closed and self._begin()
            self._close_if_unused()

    def _grown(self) -> bool:
        """True if there may be more."""
        with StoredCrawl.open(self._key.folder) as crawl:
            return CrawlKey.of(crawl) == self._key and self._search.index_on(crawl, STEP_PAGES)


# Which guides are being trained now: one of each crawl at a time.


class Trainings:
    """Any thread may ask."""

    def __init__(self) -> None:
        self._folders: set[Path] = set()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, folder: Path) -> Iterator[None]:
        """BadInput if the guide of the crawl is in training: another would learn from the same labels."""
        with self._lock:
            if folder in self._folders:
                raise InvalidInput("The guide of this crawl is being trained already: wait for what that comes to.")
            self._folders.add(folder)
        try:
            yield
        finally:
            with self._lock:
                self._folders.discard(folder)


@dataclass(frozen=True, slots=True)
class Rooms:
    book: FolderBook
    glances: FolderGlances
    tallies: HostTallies
    indexes: SearchIndexes
    trainings: Trainings = field(default_factory=Trainings)
