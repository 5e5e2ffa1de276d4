"""A crawl that is being written: archive and database together, in commits.

Rules
- What is added waits in memory until the next commit. A commit puts the archive on the disk first and then, in one
  transaction, the state that speaks of it; when it returns, all of it is acknowledged.
- After a kill at any moment the folder holds what was acknowledged, and `open` cuts off the rest.
- When the disk is full the commit fails as a whole: what was acknowledged before stays good, and nothing more can be
  written until the folder is opened again.
- One process writes at a time. Others may read (`stored_crawl`).
- Everything but `write` belongs to one thread; `write` may be called in another one, for a batch at a time.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID, uuid4

from scenthound.errors import Failure, InvalidInput, printable
from scenthound.files import sync_folder
from scenthound.store.archive import ArchiveBatch, ArchiveWriter, check_whole, cut_back
from scenthound.store.crawl_database import CrawlBatch, CrawlDatabase
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, DATABASE_FILE, VERSION, ArchiveSettings, CrawlAbout, is_crawl
from scenthound.store.crawl_records import (
    ArchiveLocation,
    RelevanceRecord,
    RobotsRecord,
    RunRecord,
    Sample,
    SkippedRecord,
    VisitRecord,
)
from scenthound.store.folder import new_folder
from scenthound.store.locks import try_lock
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.fetch import Response


@dataclass(frozen=True, slots=True)
class Commit:
    """What is written together."""

    archive: ArchiveBatch
    rows: CrawlBatch


class CrawlStore(StoredCrawl):
    """Reads as `StoredCrawl` does what is acknowledged, and adds to it."""

    def __init__(self, folder: Path, about: CrawlAbout) -> None:
        if about.version != VERSION:
            raise InvalidInput(
                f"{printable(folder)} was made by Scenthound 0.6 or earlier, and can be read but not resumed: start a "
                f"new crawl that reuses its pages with --web {printable(folder)}, or resume it with Scenthound 0.6."
            )
        with ExitStack() as undoing:
            undoing.enter_context(_not_written_to(folder))
            self._database = CrawlDatabase(folder / DATABASE_FILE)
            undoing.callback(self._database.close)
            super().__init__(folder, about)
            undoing.callback(super().close)
            self._end = self.archive_end()
            self._cut_back()
            self._archive_writer = ArchiveWriter(
                folder / ARCHIVE_FOLDER,
                about.crawl_id,
                about.archive.fields(),
                self._end,
                about.archive.most_file_bytes,
            )
            undoing.callback(self._archive_writer.close)
            counts = self.counts()
            self._waiting = CrawlBatch(counts.urls, counts.stems)
            self._next_visit = counts.visits
            self._is_broken = False
            self._closing = undoing.pop_all()

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
        """Begin a crawl in a new folder. `force` replaces an earlier crawl that nobody is writing to."""
        place = Path(folder)
        about = CrawlAbout(crawl_id or uuid4(), archive, settings)
        try:
            with _not_written_to(place), new_folder(place, force, is_crawl) as unfinished:
                (unfinished / ARCHIVE_FOLDER).mkdir()
                CrawlDatabase.create(unfinished / DATABASE_FILE)
                about.write(unfinished)
        except (OSError, sqlite3.Error) as reason:
            raise Failure(f"{printable(folder)} cannot be made: {printable(reason)}. Choose another place.") from None
        return cls(place, about)

    def close(self) -> None:
        """What was not committed is forgotten."""
        self._closing.close()

    def archive_response(self, response: Response, time_s: float) -> ArchiveLocation:
        return self._archive_writer.add(response, time_s)

    def add_visit(self, row: VisitRecord) -> None:
        assert row.visit == self._next_visit, f"visit {row.visit} follows visit {self._next_visit - 1}"
        self._next_visit += 1
        self._waiting.visits.append(row)

    def add_skipped(self, row: SkippedRecord) -> None:
        """Of several rows for one page the last one stays."""
        self._waiting.skipped.append(row)

    def add_robots(self, row: RobotsRecord) -> None:
        self._waiting.robots.append(row)

    def add_urls(self, urls: list[str]) -> None:
        """URLs that have the next numbers."""
        self._waiting.urls += urls

    def add_stems(self, stems: list[str]) -> None:
        """Stems that have the next numbers."""
        self._waiting.stems += stems

    def add_event_bytes(self, events: bytes) -> None:
        """What is added between two commits is joined."""
        self._waiting.events.append(events)

    def note_run(self, row: RunRecord) -> None:
        """Of several rows for one run the last one stays."""
        self._waiting.runs.append(row)

    def add_sample(self, row: Sample) -> None:
        self._waiting.samples.append(row)

    def set_status(self, as_json: bytes) -> None:
        self._waiting.status = as_json

    def add_relevance_model(self, row: RelevanceRecord) -> None:
        self._waiting.relevance_models.append(row)

    def commit(self) -> None:
        """Acknowledge all that was added."""
        self.write(self.take())

    def take(self) -> Commit:
        """All that was added since the last time, to be written in the order taken."""
        rows = self._waiting
        self._waiting = CrawlBatch(rows.first_url + len(rows.urls), rows.first_stem + len(rows.stems))
        return Commit(self._archive_writer.take(), rows)

    def write(self, commit: Commit) -> None:
        """Acknowledge what was taken. Failure if the disk does not take it."""
        if self._is_broken:
            raise Failure(f"{printable(self.folder)} takes nothing more since a commit failed: resume the crawl.")
        # Until all of it is on the disk: whatever comes in between leaves a gap that no later commit may follow.
        self._is_broken = True
        try:
            self._archive_writer.write(commit.archive)
            self._database.write(commit.rows, commit.archive.end)
        except (OSError, sqlite3.Error) as reason:
            self._give_up(reason)
        self._end = commit.archive.end
        self._is_broken = False

    def _give_up(self, reason: Exception) -> NoReturn:
        # Opening the folder again cuts it back too; doing it now gives the disk back some room.
        with suppress(OSError):
            cut_back(self.folder / ARCHIVE_FOLDER, self._end)
        why = reason.strerror if isinstance(reason, OSError) else str(reason)
        raise Failure(
            f"{printable(self.folder)} cannot be written: {printable(why)}. What was stored before is safe: "
            "make room, then resume the crawl."
        ) from None

    def _cut_back(self) -> None:
        folder = self.folder / ARCHIVE_FOLDER
        try:
            check_whole(folder, self._end)
            cut_back(folder, self._end)
            sync_folder(folder)
        except OSError as reason:
            raise InvalidInput(f"{printable(folder)} cannot be written: {reason.strerror}; check its rights.") from None


@contextmanager
def _not_written_to(folder: Path) -> Iterator[None]:
    """Hold the lock of the crawl in a folder, if there is one; BadInput if another process does."""
    with try_lock(folder / ARCHIVE_FOLDER) as free:
        if not free:
            raise InvalidInput(f"Another process is writing to {printable(folder)}: wait until it has ended.")
        yield
