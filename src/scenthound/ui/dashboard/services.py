"""What the dashboard keeps between requests: the list of folders, search indexes and running trainings."""

import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

from scenthound.errors import InvalidInput
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.search_index import PageSearch
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard.folder_views import FolderOverview
from scenthound.ui.dashboard.folders import FolderIndex, file_signature
from scenthound.ui.dashboard.parameters import PagesQuery
from scenthound.ui.dashboard.responses import Indexing
from scenthound.web.urls import host_of

#: An index grows for this long after the last request.
INDEXING_S = 60.0
PAGES_PER_STEP = 100
#: Search results that are searched for those of one host.
MAX_FILTERED = 1_000
#: Search results are counted up to this number.
MAX_COUNTED = 10_000
_MAX_INDEXES = 8


def _key(crawl: StoredCrawl) -> tuple[object, ...]:
    """Identifies a crawl in a folder. Copies of a crawl share its id; the signature, of a file that never changes,
    differs if the folder was replaced."""
    return crawl.folder, crawl.about.crawl_id, file_signature(crawl.folder / ABOUT_FILE)


# Full-text search. One thread adds a few pages at a time to the indexes of all crawls in turn. An index grows while its
# crawl is being requested. Only the indexes used last stay open; others are closed when nothing uses them any more.


class SearchIndexes:
    """The search indexes of crawls. Thread-safe."""

    def __init__(self) -> None:
        executor = ThreadPoolExecutor(1, "indexing")
        self._opened = lru_cache(_MAX_INDEXES)(lambda *key: CrawlIndex(key, executor))
        self._lock = threading.Lock()

    def of(self, crawl: StoredCrawl) -> "CrawlIndex":
        """The index of a crawl, which continues to grow."""
        with self._lock:
            index = self._opened(*_key(crawl))
        index.grow()
        return index


class CrawlIndex:
    """The search index of one crawl."""

    def __init__(self, key: tuple[Any, ...], executor: Executor) -> None:
        self._key = key
        self._folder, crawl_id, _ = key
        self._search = PageSearch(self._folder, crawl_id)
        self._executor = executor
        self._requested_s = monotonic()
        self._is_growing = False
        self._lock = threading.Lock()

    def grow(self) -> None:
        with self._lock:
            self._requested_s = monotonic()
            self._is_growing = self._is_growing or self._submit_step()

    def progress(self, crawl: StoredCrawl) -> Indexing:
        return Indexing(self._search.n_indexed, crawl.n_visits(), self._is_growing)

    def search(self, query: PagesQuery, crawl: StoredCrawl) -> tuple[list[int], int | None, int | None]:
        """Visits, best match first, the start of the next request, if there are more, and how many were found."""
        end = query.start + query.limit
        if query.host:
            # The pages of the host among the best matches.
            rows = crawl.visits_numbered(hit.visit for hit in self._search.search(query.query, MAX_FILTERED))
            visits = [row.visit for row in rows if host_of(row.url) == query.host.lower()]
            return visits[query.start : end], end if end < len(visits) else None, len(visits)
        hits = self._search.search(query.query, query.limit + 1, query.start)
        n_found = self._search.count(query.query, MAX_COUNTED)
        return [hit.visit for hit in hits[: query.limit]], end if len(hits) > query.limit else None, n_found

    def _submit_step(self) -> bool:
        with suppress(RuntimeError):  # The process is ending.
            self._executor.submit(self._step)
            return True
        return False

    def _step(self) -> None:
        """Index some pages, and queue the next step."""
        has_more = False
        # The index of a damaged crawl stops growing; requests report the error.
        with suppress(Exception), StoredCrawl.open(self._folder) as crawl:
            has_more = _key(crawl) == self._key and self._search.index_on(crawl, PAGES_PER_STEP)
        with self._lock:
            is_used = monotonic() - self._requested_s < INDEXING_S
            self._is_growing = has_more and is_used and self._submit_step()


class Services:
    """All of them, for the folders that the dashboard was started with."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = FolderIndex(folders, monotonic)
        self.overview = FolderOverview(self.folders)
        self.indexes = SearchIndexes()
        self._in_training: set[Path] = set()
        self._lock = threading.Lock()

    @contextmanager
    def training(self, folder: Path) -> Iterator[None]:
        """InvalidInput if the relevance model of the crawl is being trained."""
        with self._lock:
            if folder in self._in_training:
                raise InvalidInput("The relevance model is already being retrained: wait until it is done.")
            self._in_training.add(folder)
        try:
            yield
        finally:
            self._in_training.discard(folder)
