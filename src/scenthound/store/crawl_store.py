"""A crawl folder that is being written: archive and database together, in commits.

Rules
- What is added stays in memory until the next commit. A commit writes the archive first, and then the rows in one
  transaction; when it returns, all of it is acknowledged.
- After a kill the folder contains what was acknowledged, and `open` truncates the archive to that.
- If the disk is full the commit fails as a whole: earlier commits stay valid, and nothing more can be written until the
  folder is opened again.
- One process writes at a time. Others may read (`stored_crawl`).
- Everything but `write` belongs to one thread; `write` may be called in another one, one batch at a time.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from scenthound.errors import Failure, InvalidInput, printable
from scenthound.files import sync_folder
from scenthound.store.archive import ArchiveBatch, ArchiveWriter, check_complete, truncate
from scenthound.store.crawl_database import CrawlBatch, CrawlDatabase
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, DATABASE_FILE, VERSION, ArchiveSettings, CrawlAbout
from scenthound.store.crawl_records import (
    ArchiveLocation,
    CheckRecord,
    CrawlEnd,
    CrawlPosition,
    RefreshRecord,
    RelevanceRecord,
    RenderedRecord,
    RobotsRecord,
    RunRecord,
    Sample,
    SkippedRecord,
    VisitRecord,
)
from scenthound.store.folder import ResultFolder
from scenthound.store.locks import try_lock
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord
from scenthound.web.fetch import Response
from scenthound.web.open_files import can_open_files

#: What has a row of its own.
StoredRecord = (
    VisitRecord
    | SkippedRecord
    | RobotsRecord
    | RunRecord
    | Sample
    | RelevanceRecord
    | CheckRecord
    | RefreshRecord
    | RenderedRecord
)


@dataclass(frozen=True, slots=True)
class Commit:
    """What is written together."""

    archive: ArchiveBatch
    rows: CrawlBatch


class CrawlStore(StoredCrawl):
    """A stored crawl that can be added to; reading returns what is acknowledged, with pages as they were first
    fetched."""

    reads_latest = False

    def __init__(self, folder: Path, about: CrawlAbout) -> None:
        self.check_version(folder, about)
        # SQLite would open the database for reading, and fail at the first commit.
        for path in (folder, folder / DATABASE_FILE, folder / ARCHIVE_FOLDER):
            if path.exists() and not os.access(path, os.W_OK):
                raise InvalidInput(f"Cannot write to {printable(path)}: permission denied. Check its permissions.")
        with ExitStack() as cleanup:
            cleanup.enter_context(_write_lock(folder))
            self._database = CrawlDatabase(folder / DATABASE_FILE)
            cleanup.callback(self._database.close)
            super().__init__(folder, about)
            cleanup.callback(super().close)
            self._end = self.archive_end()
            self._truncate()
            self._archive_writer = ArchiveWriter(
                folder / ARCHIVE_FOLDER,
                about.crawl_id,
                about.archive.fields(),
                self._end,
                about.archive.most_file_bytes,
            )
            cleanup.callback(self._archive_writer.close)
            #: What has been taken to be written.
            self.taken = taken = self.position()
            self._taken_end = self.end_of(taken.visits, taken.events)
            self._waiting = CrawlBatch(taken.urls, taken.stems)
            self._next_visit = taken.visits
            self._is_broken, self._broken_by = False, ""
            self._closing = cleanup.pop_all()

    @staticmethod
    def check_version(folder: Path, about: CrawlAbout) -> None:
        """InvalidInput for a crawl that cannot be resumed."""
        if about.version != VERSION:
            raise InvalidInput(
                f"{printable(folder)} was made by Scenthound 0.6 or earlier, and can be read but not resumed: start a "
                f"new crawl that reuses its pages with --web {printable(repr(str(folder)))}, or resume it with "
                "Scenthound 0.6."
            )

    @classmethod
    def create(
        cls,
        folder: str | Path,
        settings: Mapping[str, Any],
        archive: ArchiveSettings,
        *,
        force: bool = False,
        crawl_id: UUID | None = None,
    ) -> "CrawlStore":
        """Start a crawl in a new folder. `force` replaces an earlier crawl that no process writes to."""
        path = Path(folder)
        about = CrawlAbout(crawl_id or uuid4(), archive, settings)
        try:
            with _write_lock(path), ResultFolder.create(path, kind="crawl", force=force) as new:
                (new.path / ARCHIVE_FOLDER).mkdir()
                CrawlDatabase.create(new.path / DATABASE_FILE)
                about.write(new)
        except (OSError, sqlite3.Error) as reason:
            raise Failure(
                f"Cannot create {printable(folder)}: {printable(reason)}. Choose another folder with --out."
            ) from None
        return cls(path, about)

    def close(self) -> None:
        """Discards what was not committed."""
        self._closing.close()

    def archive_response(
        self, response: Response, time_s: float, revisit_of: WarcRecord | None = None
    ) -> ArchiveLocation:
        """Without its body if that is the one of an earlier record."""
        return self._archive_writer.add(response, time_s, revisit_of)

    def archive_rendered(
        self, response: Response, html: bytes, time_s: float, location: ArchiveLocation
    ) -> ArchiveLocation:
        """The document that a browser made of the response that was archived last, at `location`."""
        return self._archive_writer.add_rendered(response, html, time_s, location)

    def add(self, row: StoredRecord) -> None:
        """Of several rows for one skipped page, one run or one refresh the last one counts."""
        if isinstance(row, VisitRecord):
            assert row.visit == self._next_visit, f"visit {row.visit} follows visit {self._next_visit - 1}"
            self._next_visit += 1
        self._waiting.rows[type(row)].append(row)

    def add_urls(self, urls: list[str]) -> None:
        """URLs that have the next numbers."""
        self._waiting.urls += urls

    def add_stems(self, stems: list[str]) -> None:
        """Stems that have the next numbers."""
        self._waiting.stems += stems

    def add_event_bytes(self, events: bytes) -> None:
        self._waiting.events.append(events)

    def set_status(self, as_json: bytes) -> None:
        self._waiting.status = as_json

    def commit(self) -> None:
        """Write all that was added."""
        self.write(self.take())

    def take(self) -> Commit:
        """All that was added since the last call; batches must be written in this order."""
        rows, before = self._waiting, self.taken
        self._taken_end = _end_with(self._taken_end, rows)
        self.taken = taken = CrawlPosition(
            self._next_visit,
            before.urls + len(rows.urls),
            before.stems + len(rows.stems),
            before.events + any(rows.events),
            before.robots + len(rows.rows[RobotsRecord]),
            self._taken_end.mark(self.about.crawl_id),
        )
        self._waiting = CrawlBatch(taken.urls, taken.stems)
        return Commit(self._archive_writer.take(), rows)

    def write(self, commit: Commit) -> None:
        """Write a batch to disk, unless it is empty. Failure if that is not possible."""
        if self._is_broken:
            cause = f" ({self._broken_by})" if self._broken_by else ""
            raise Failure(f"Cannot write to {printable(self.folder)} since a commit failed{cause}: resume the crawl.")
        if commit.rows.is_empty and not commit.archive.parts:
            return
        # Until all of it is on disk: a later commit must not follow a gap.
        self._is_broken = True
        try:
            self._archive_writer.write(commit.archive)
            self._database.write(commit.rows, commit.archive.end)
        except (OSError, sqlite3.Error) as reason:
            # Opening the folder again truncates it too; now it frees disk space.
            with suppress(OSError):
                truncate(self.folder / ARCHIVE_FOLDER, self._end)
            self._broken_by = printable(reason.strerror if isinstance(reason, OSError) else str(reason))
            advice = "free disk space" if can_open_files() else "allow more open files with `ulimit -n`"
            raise Failure(
                f"Cannot write to {printable(self.folder)}: {self._broken_by}. What was stored before is safe: "
                f"{advice}, then resume the crawl."
            ) from None
        self._end = commit.archive.end
        self._is_broken = False

    def _truncate(self) -> None:
        folder = self.folder / ARCHIVE_FOLDER
        try:
            check_complete(folder, self._end)
            truncate(folder, self._end)
            sync_folder(folder)
        except OSError as reason:
            raise InvalidInput(
                f"Cannot write to {printable(folder)}: {reason.strerror}. Check its permissions."
            ) from None


def _end_with(end: CrawlEnd, rows: CrawlBatch) -> CrawlEnd:
    """The last visit and events of a crawl that has these rows, too."""
    visits, events = rows.rows[VisitRecord], b"".join(rows.events)
    return CrawlEnd(
        (visits[-1].url, visits[-1].time_s) if visits else end.visit, CrawlEnd.digest(events) if events else end.events
    )


@contextmanager
def _write_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of the crawl in a folder, if there is one. InvalidInput if another process does."""
    with try_lock(folder / ARCHIVE_FOLDER) as free:
        if not free:
            raise InvalidInput(f"Another process is writing to {printable(folder)}: wait until it has ended.")
        yield
