"""The folder of a whole crawl, assembled from the commit logs of its shards.

It is an ordinary crawl folder: whatever reads crawls reads it. The crawl cannot be resumed from it, because engines,
journals and vocabularies are those of the shards.

Rules
- A commit of a shard is added whole and once: how many of them the folder has is stored in the same transaction as
  their rows. After a kill the assembly goes on from there.
- URLs are numbered in the order in which they are added, the seeds first. The numbers of each shard's URLs are stored
  with them, so that logs are not read again.
- Visits are numbered in the order in which they are added: sorted by time among those that are added together. The next
  commit to add is one of the shard that is behind in time.
- `rank` and `queue_size` of a visit are those of its shard, and so are record IDs in the archive.
- Archive records are copied without being decompressed.
- Stems, events, parcels, runs, samples and status of shards stay in their logs. Runs, samples and status of the whole
  crawl are added by its supervisor, to the same store, and are written with the next commit of either.
- An error while logs are read changes nothing; the next call tries again.
"""

import zlib
from array import array
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.frontier.url_table import UrlTable
from scenthound.store.commit_log import CommitLog, LoggedCommit
from scenthound.store.crawl_database import records_in, table_of, urls_in, visits_in
from scenthound.store.crawl_records import (
    ArchiveLocation,
    AssembledRecord,
    JoinedArrays,
    RenderedRecord,
    RobotsRecord,
    ShardPagesRecord,
    SkippedRecord,
    VisitRecord,
)
from scenthound.store.crawl_store import CrawlStore

#: Commits of shards that are added together, at most, and bytes of their archives.
MAX_COMMITS = 256
MAX_BYTES = 32_000_000
#: Logs that are read at the same time, at most.
MAX_READERS = 16
#: What a commit raises whose rows are not those of a shard.
_DAMAGE = (ValueError, TypeError, LookupError, zlib.error)
_VISITS = table_of(VisitRecord)
_VISIT, _PAGE, _TIME, _FILE, _OFFSET = map(_VISITS.columns.index, ("visit", "page", "time_s", "file", "offset"))


@dataclass(slots=True)
class _ShardCommit:
    """A commit of a shard with the numbers of the shard. `visits` have the values of columns, `links` those of all
    visits."""

    shard: int
    number: int
    commit: LoggedCommit
    urls: list[str]
    visits: list[list[Any]]
    arrays: JoinedArrays | None
    skipped: list[SkippedRecord]
    robots: list[RobotsRecord]
    rendered: list[RenderedRecord]


class _LogReader:
    """Reads the next commit of each log before it is needed: object stores take long to answer, and answer many
    requests at a time."""

    def __init__(self, logs: Sequence[CommitLog]) -> None:
        self._logs = logs
        #: Its number, and the commit.
        self._ahead: dict[int, tuple[int, Future[LoggedCommit | None]]] = {}

    def keep_found(self) -> None:
        """Forget commits that were missing or could not be read: they may be there now. No thread may be reading."""
        found = {shard for shard, (_, read) in self._ahead.items() if read.exception() is None and read.result()}
        self._ahead = {shard: ahead for shard, ahead in self._ahead.items() if shard in found}

    def begin(self, shard: int, number: int, threads: Executor) -> None:
        """Read a commit in a thread, unless that was begun before."""
        if shard not in self._ahead or self._ahead[shard][0] != number:
            self._ahead[shard] = number, threads.submit(self._logs[shard].read, number)

    def take(self, shard: int, number: int, threads: Executor) -> LoggedCommit | None:
        """A commit, after `begin`; None if there is none of this number yet. Begins to read the next one."""
        commit = self._ahead.pop(shard)[1].result()
        if commit is not None:
            self.begin(shard, number + 1, threads)
        return commit


class Assembly:
    """Adds commits of shards to the folder of the whole crawl. `logs` are those of the shards, by number. The store is
    used by one thread, also for what the supervisor adds."""

    def __init__(self, store: CrawlStore, logs: Sequence[CommitLog]) -> None:
        self._store = store
        self._logs = logs
        assembled = store.assembled()
        #: How many commits of each shard the folder has.
        self.n_assembled = [assembled.get(shard, 0) for shard in range(len(logs))]
        self._reader = _LogReader(logs)
        #: The numbers that the pages of each shard have in the whole crawl.
        self._pages = [array("i") for _ in logs]
        self._urls = UrlTable()
        self._urls.load(store.url_texts())
        self._n_urls_stored = len(self._urls)
        self._urls.add_all([str(url) for url in store.about.settings.get("seeds", ())])
        for shard, pages in store.shard_pages():
            self._pages[shard].frombytes(pages.tobytes())
        self._next_visit = store.n_visits()
        self._checked: set[int] = set()  #: shards whose logs are those of this crawl
        #: The time of the last visit of each shard that was added or read.
        self._times_s = [0.0] * len(logs)

    @property
    def n_shards(self) -> int:
        return len(self._logs)

    def catch_up(self, max_commits: int | None = None) -> int:
        """Add the commits that the folder lacks, or at most this many of them; returns how many were added. What else
        was added to the store is written with them."""
        n_added = 0
        self._reader.keep_found()
        with ThreadPoolExecutor(min(len(self._logs), MAX_READERS), "logs") as threads:
            while max_commits is None or n_added < max_commits:
                room = MAX_COMMITS if max_commits is None else min(MAX_COMMITS, max_commits - n_added)
                commits = self._read(room, threads)
                if not commits:
                    break
                self._add(commits)
                n_added += len(commits)
        return n_added

    def _read(self, max_commits: int, threads: Executor) -> list[_ShardCommit]:
        """The next commits of all shards."""
        found: list[_ShardCommit] = []
        n_bytes = 0
        next_numbers = [number + 1 for number in self.n_assembled]
        n_urls = [len(pages) for pages in self._pages]
        behind = set(range(len(self._logs)))
        for shard in behind:
            self._reader.begin(shard, next_numbers[shard], threads)
        while behind and len(found) < max_commits and n_bytes < MAX_BYTES:
            shard = min(behind, key=lambda each: (self._times_s[each], next_numbers[each], each))
            commit = self._reader.take(shard, next_numbers[shard], threads)
            if commit is None:
                behind.remove(shard)
                continue
            self._check_log(shard)
            decoded = self._decoded(shard, next_numbers[shard], commit, n_urls[shard])
            found.append(decoded)
            n_urls[shard] += len(decoded.urls)
            next_numbers[shard] += 1
            n_bytes += sum(len(part.content) for part in commit.archive.parts)
            if decoded.visits:
                self._times_s[shard] = decoded.visits[-1][_TIME]
        return found

    def _check_log(self, shard: int) -> None:
        """InvalidInput for the log of another crawl, or of another shard; checked once."""
        if shard in self._checked:
            return
        log, own = self._logs[shard], self._store.about.settings
        try:
            settings = orjson.loads(log.about())["settings"]
            found = settings["shard"], settings["shards"], settings["seeds"]
        except (ValueError, LookupError, TypeError):
            found = None
        if found != (shard, len(self._logs), own.get("seeds")):
            raise InvalidInput(
                f"{log} is not the commit log of shard {shard} of the crawl in {printable(self._store.folder)}: check "
                "--commit-log."
            )
        self._checked.add(shard)

    def _decoded(self, shard: int, number: int, commit: LoggedCommit, n_urls: int) -> _ShardCommit:
        """InvalidInput if the rows are not those of a shard with this many URLs before."""
        try:
            first_url, urls = urls_in(commit.rows)
            visits, arrays = visits_in(commit.rows)
            decoded = _ShardCommit(
                shard,
                number,
                commit,
                urls,
                visits,
                arrays,
                records_in(commit.rows, SkippedRecord),
                records_in(commit.rows, RobotsRecord),
                records_in(commit.rows, RenderedRecord),
            )
            if urls and first_url != n_urls:
                raise ValueError(f"its first URL is {first_url}, after {n_urls}")
            pages = [each[_PAGE] for each in visits] + [each.page for each in decoded.skipped]
            last_link = -1 if arrays is None else int(arrays.all_links.max(initial=-1))
            if max([last_link, *pages]) >= n_urls + len(urls) or (visits and arrays is None):
                raise ValueError("it refers to URLs or links that it does not have")
        except _DAMAGE as reason:
            raise InvalidInput(
                f"Commit {number:,} of {self._logs[shard]} does not fit those before ({printable(reason, 200)}): "
                "restore the log from a backup."
            ) from None
        return decoded

    def _add(self, commits: Sequence[_ShardCommit]) -> None:
        """Add the commits, and write them."""
        store = self._store
        numbers: dict[tuple[int, int], int] = {}
        visits: list[tuple[float, int, list[Any], JoinedArrays]] = []
        for each in commits:
            self._add_urls(each)
            visits += self._moved_visits(each)
        visits.sort(key=lambda visit: (visit[0], visit[1], visit[2][_VISIT]))
        for _, shard, values, arrays in visits:
            local = values[_VISIT]
            numbers[shard, local] = values[_VISIT] = self._next_visit
            self._next_visit += 1
            store.add(_VISITS.row(tuple(values), **arrays.of(local)))
        for each in commits:
            for rendered in each.rendered:
                store.add(replace(rendered, visit=numbers[each.shard, rendered.visit]))
            self.n_assembled[each.shard] = each.number
        store.add_urls(self._urls.urls(self._n_urls_stored, len(self._urls)))
        self._n_urls_stored = len(self._urls)
        for shard in {each.shard for each in commits}:
            store.add(AssembledRecord(shard, self.n_assembled[shard]))
        store.commit()

    def _add_urls(self, commit: _ShardCommit) -> None:
        """Number the URLs of a commit, and add the rows that need no other change."""
        pages = self._pages[commit.shard]
        if commit.urls:
            numbers = self._urls.add_all(commit.urls).astype(np.int32, copy=False).tobytes()
            pages.frombytes(numbers)
            self._store.add(ShardPagesRecord(commit.shard, numbers))
        for skipped in commit.skipped:
            self._store.add(replace(skipped, page=pages[skipped.page]))
        for robots in commit.robots:
            self._store.add(robots)

    def _moved_visits(self, commit: _ShardCommit) -> list[tuple[float, int, list[Any], JoinedArrays]]:
        """Time, shard, values and arrays of each visit, with the numbers of pages and the locations of this folder."""
        moved = self._store.archive_all(commit.commit.archive)
        commit.rendered = [
            replace(
                each,
                location=ArchiveLocation(*moved.of(each.location.file, each.location.offset), each.location.length),
            )
            for each in commit.rendered
        ]
        if commit.arrays is None:
            return []
        pages = self._pages[commit.shard]
        arrays = commit.arrays.with_links(np.frombuffer(pages, np.int32)[commit.arrays.all_links])
        for values in commit.visits:
            values[_PAGE] = pages[values[_PAGE]]
            if values[_FILE] is not None:
                values[_FILE], values[_OFFSET] = moved.of(values[_FILE], values[_OFFSET])
        return [(values[_TIME], commit.shard, values, arrays) for values in commit.visits]
