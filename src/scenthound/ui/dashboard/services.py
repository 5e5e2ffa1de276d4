"""What the dashboard keeps between requests: the list of folders, host counts, search indexes and running trainings."""

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
from scenthound.ui.dashboard.folder_views import FolderOverview
from scenthound.ui.dashboard.folders import FolderIndex, file_signature
from scenthound.ui.dashboard.problems import TooBusy, Workers
from scenthound.ui.dashboard.queries import PagesQuery
from scenthound.ui.dashboard.responses import Indexing, TopHosts
from scenthound.web.urls import host_of

N_TOP_HOSTS = 50
#: How long one request may count hosts.
COUNTING_S = 0.5
_VISITS_PER_STEP = 20_000
_MAX_HOST_COUNTS = 16
#: An index grows for this long after the last request.
INDEXING_S = 60.0
PAGES_PER_STEP = 100
#: Search results that are searched for those of one host.
MAX_FILTERED = 1_000
#: Search results are counted up to this number.
MAX_COUNTED = 10_000
_MAX_INDEXES = 8


@dataclass(frozen=True, slots=True)
class CrawlKey:
    """Identifies a crawl in a folder. Copies of a crawl share its id; `signature`, of a file that never changes,
    differs if the folder was replaced."""

    folder: Path
    crawl_id: UUID
    signature: object

    @classmethod
    def of(cls, crawl: StoredCrawl) -> "CrawlKey":
        return cls(crawl.folder, crawl.about.crawl_id, file_signature(crawl.folder / ABOUT_FILE))


class HostCounts:
    """Counts the hosts of crawls in steps, so that a large crawl gets a partial result soon. Keeps the counts of the
    crawls requested last. Thread-safe."""

    def __init__(self) -> None:
        self._counts: OrderedDict[CrawlKey, tuple[HostTally, threading.Lock]] = OrderedDict()
        self._lock = threading.Lock()

    def top(self, crawl: StoredCrawl) -> TopHosts:
        """Continue counting for a while, and return what is known then."""
        tally, lock = self._of(CrawlKey.of(crawl))
        with lock:
            end_s = monotonic() + COUNTING_S
            while not tally.read_on(crawl, _VISITS_PER_STEP) and monotonic() < end_s:
                continue
            return TopHosts(tuple(tally.top(N_TOP_HOSTS)), tally.n_hosts, tally.share_read)

    def _of(self, key: CrawlKey) -> tuple[HostTally, threading.Lock]:
        with self._lock:
            counts = self._counts.setdefault(key, (HostTally(), threading.Lock()))
            self._counts.move_to_end(key)
            while len(self._counts) > _MAX_HOST_COUNTS:
                self._counts.popitem(last=False)
            return counts


# Full-text search. One thread adds a few pages at a time to the indexes of all crawls in turn. An index grows while its
# crawl is being requested. Only the indexes used last stay open; one is closed when neither a request nor the thread
# uses it.


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Visits, best match first. `next` is the start of the next request; None at the end."""

    visits: tuple[int, ...]
    next: int | None
    n_found: int


class SearchIndexes:
    """The search indexes of crawls. Thread-safe."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._indexes: OrderedDict[CrawlKey, CrawlIndex] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, crawl: StoredCrawl) -> Iterator["CrawlIndex"]:
        """The index of a crawl, for use within the block. It continues to grow."""
        index = self._acquire(crawl)
        try:
            index.grow()
            yield index
        finally:
            index.release()

    def _acquire(self, crawl: StoredCrawl) -> "CrawlIndex":
        key = CrawlKey.of(crawl)
        index = self._acquire_open(key)
        if index is not None:
            return index
        # Opened without the lock, because this may wait for another process.
        opened = CrawlIndex(crawl, key, self._workers)
        index = self._acquire_open(key, opened) or opened
        if index is not opened:
            opened.close()
        return index

    def _acquire_open(self, key: CrawlKey, opened: "CrawlIndex | None" = None) -> "CrawlIndex | None":
        """The open index, or else `opened`."""
        with self._lock:
            index = self._indexes.get(key) or opened
            if index is not None:
                index.acquire()
                self._indexes[key] = index
                self._indexes.move_to_end(key)
            while len(self._indexes) > _MAX_INDEXES:
                self._indexes.popitem(last=False)[1].close()
            return index


class CrawlIndex:
    """The search index of one crawl; usable between `acquire` and `release`."""

    def __init__(
        self, crawl: StoredCrawl, key: CrawlKey, workers: Workers, clock: Callable[[], float] = monotonic
    ) -> None:
        self._key = key
        self._search = PageSearch.open(crawl)
        self._workers = workers
        self._clock = clock
        self._requested_s = clock()
        self._is_growing = False
        self._is_closed = False
        self._n_users = 0
        self._lock = threading.Lock()

    def acquire(self) -> None:
        with self._lock:
            self._n_users += 1

    def release(self) -> None:
        with self._lock:
            self._n_users -= 1
            self._close_if_unused()

    def grow(self) -> None:
        with self._lock:
            self._requested_s = self._clock()
            if not self._is_growing and not self._is_closed:
                self._is_growing = self._submit_step()

    def progress(self, crawl: StoredCrawl) -> Indexing:
        return Indexing(self._search.n_indexed, crawl.n_visits(), self._is_growing)

    def search(self, query: PagesQuery, crawl: StoredCrawl) -> SearchHits:
        if query.host:
            return self._search_host(query, crawl)
        hits = self._search.search(query.query, query.limit + 1, query.start)
        following = query.start + query.limit if len(hits) > query.limit else None
        n_found = self._search.count(query.query, MAX_COUNTED)
        return SearchHits(tuple(hit.visit for hit in hits[: query.limit]), following, n_found)

    def _search_host(self, query: PagesQuery, crawl: StoredCrawl) -> SearchHits:
        """The pages of the host among the best matches."""
        hits = self._search.search(query.query, MAX_FILTERED)
        rows = crawl.visits_numbered(hit.visit for hit in hits)
        visits = [row.visit for row in rows if host_of(row.url) == query.host.lower()]
        end = query.start + query.limit
        return SearchHits(tuple(visits[query.start : end]), end if end < len(visits) else None, len(visits))

    def excerpt(self, crawl: StoredCrawl, row: VisitRecord, query: str) -> str | None:
        return excerpt(crawl.text_of(row), query) or None

    def close(self) -> None:
        """At once, or when the last user releases it."""
        with self._lock:
            self._is_closed = True
            self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._is_closed and not self._n_users and not self._is_growing:
            self._search.close()

    def _submit_step(self) -> bool:
        with suppress(TooBusy):
            self._workers.submit(self._step)
            return True
        return False

    def _step(self) -> None:
        """Index some pages, and queue the next step."""
        has_more = False
        try:
            if not self._is_closed:
                with StoredCrawl.open(self._key.folder) as crawl:
                    has_more = CrawlKey.of(crawl) == self._key and self._search.index_on(crawl, PAGES_PER_STEP)
        except Exception:  # noqa: BLE001 - the index of a damaged crawl stops growing; requests report the error
            pass
        with self._lock:
            is_used = self._clock() - self._requested_s < INDEXING_S
            self._is_growing = has_more and is_used and not self._is_closed and self._submit_step()
            self._close_if_unused()


class Trainings:
    """Allows one training for each crawl at a time. Thread-safe."""

    def __init__(self) -> None:
        self._folders: set[Path] = set()
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, folder: Path) -> Iterator[None]:
        """InvalidInput if the relevance model of the crawl is being trained."""
        with self._lock:
            if folder in self._folders:
                raise InvalidInput("The relevance model is already being retrained: wait until it is done.")
            self._folders.add(folder)
        try:
            yield
        finally:
            with self._lock:
                self._folders.discard(folder)


@dataclass(frozen=True, slots=True)
class Services:
    folders: FolderIndex
    overview: FolderOverview
    host_counts: HostCounts
    indexes: SearchIndexes
    trainings: Trainings = field(default_factory=Trainings)
