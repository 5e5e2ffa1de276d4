"""The archive of a crawl: a folder of WARC files that grows at its end.

Rules
- A record has its location as soon as it is added, and is on disk once its batch was written.
- `add` and `take` belong to one thread; `write` may be called in another one.
- The end of the archive is stored elsewhere, with each commit. What follows it was never acknowledged, and is
  truncated.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from scenthound.errors import InvalidInput, printable
from scenthound.files import machine_fault, open_regular, sync_folder
from scenthound.store.crawl_records import ArchiveLocation
from scenthound.store.warc_format import (
    WarcRecord,
    record_of,
    rendered_record,
    response_record,
    revisit_record,
    unpacked,
    unpacked_records,
    warcinfo_record,
)
from scenthound.web.fetch import Response

MAX_FILE_BYTES = 1 << 30
_PREFIX = "scenthound-"
_SUFFIX = ".warc.gz"


def file_name(number: int) -> str:
    return f"{_PREFIX}{number:05}{_SUFFIX}"


@dataclass(frozen=True, slots=True)
class ArchiveEnd:
    """Where an archive ends: the number of its last file, its length, and where the last record in it begins."""

    file: int = 0
    offset: int = 0
    last_record: int = 0


class ArchivePart(NamedTuple):
    """Consecutive records of one file."""

    file: int
    offset: int
    content: bytes


class ArchiveBatch(NamedTuple):
    """Records to write, and the end of the archive with them."""

    parts: tuple[ArchivePart, ...]
    end: ArchiveEnd


class MovedRecords:
    """Where records of another archive are in this one."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, int, int, int, int]] = []

    def add(self, file: int, start: int, end: int, new_file: int, new_start: int) -> None:
        """The records of a file from `start` to before `end`."""
        self._parts.append((file, start, end, new_file, new_start))

    def of(self, file: int, offset: int) -> tuple[int, int]:
        """The file and the offset of a record. LookupError if it is not among these."""
        for known, start, end, new_file, new_start in self._parts:
            if file == known and start <= offset < end:
                return new_file, new_start + offset - start
        raise LookupError(f"no record at byte {offset:,} of file {file}")


class _Files:
    """The files of an archive, of which the last one used stays open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: tuple[int, int] | None = None

    def close(self) -> None:
        if self._opened is not None:
            os.close(self._opened[1])
            self._opened = None

    def _handle_of(self, file: int) -> int:
        if self._opened is None or self._opened[0] != file:
            self.close()
            self._opened = file, self._open(self._folder / file_name(file))
        return self._opened[1]

    def _open(self, path: Path) -> int:
        raise NotImplementedError


class ArchiveWriter(_Files):
    """Adds records after `end`. `fields` is the content of the `warcinfo` records; record IDs derive from
    `crawl_id`."""

    def __init__(
        self, folder: Path, crawl_id: UUID, fields: bytes, end: ArchiveEnd, max_file_bytes: int = MAX_FILE_BYTES
    ) -> None:
        super().__init__(folder)
        self._crawl_id, self._fields = crawl_id, fields
        self._file, self._offset, self._last_record = end.file, end.offset, end.last_record
        self._max_file_bytes = max_file_bytes
        self._parts: list[ArchivePart] = []
        self._records: list[bytes] = []
        self._records_begin = end.offset

    def add(self, response: Response, time_s: float, revisit_of: WarcRecord | None = None) -> ArchiveLocation:
        """Add a response, without its body if it is that of an earlier record."""
        self._leave_full_file()
        if not self._offset:
            self._begin_file(time_s)
        if revisit_of is not None:
            return self._append(revisit_record(self._record_id(), time_s, response, revisit_of))
        return self._append(response_record(self._record_id(), time_s, response))

    def add_rendered(self, response: Response, html: bytes, time_s: float, of: ArchiveLocation) -> ArchiveLocation:
        """Add the document that a browser made of the response that was added last."""
        original_id = _record_id(self._crawl_id, of.file, of.offset)
        return self._append(rendered_record(self._record_id(), time_s, response, html, original_id))

    def add_all(self, records: ArchiveBatch) -> MovedRecords:
        """Add the records of a commit to another archive as they are, without its `warcinfo` records: each file here
        begins with its own. A commit is not divided, so a file may be longer than the limit by the size of one.
        InvalidInput if the first record of a file cannot be read."""
        moved = MovedRecords()
        for part in records.parts:
            # Each file begins with a `warcinfo` record.
            skipped = 0 if part.offset else _first_of(part.content)[1]
            content = part.content[skipped:]
            if not content:
                continue
            self._leave_full_file()
            if not self._offset:
                self._begin_file(_time_of(_first_of(content)[2]))
            start = part.offset + skipped
            added = self._append(content)
            moved.add(part.file, start, start + len(content), added.file, added.offset)
            if part.file == records.end.file:
                self._last_record = added.offset + records.end.last_record - start
        return moved

    def _leave_full_file(self) -> None:
        if self._offset >= self._max_file_bytes:
            self._end_part()
            self._file, self._offset, self._records_begin = self._file + 1, 0, 0

    def _begin_file(self, time_s: float) -> None:
        self._append(warcinfo_record(self._record_id(), time_s, file_name(self._file), self._fields))

    def take(self) -> ArchiveBatch:
        """All that was added since the last call, to be written."""
        self._end_part()
        parts, self._parts = tuple(self._parts), []
        return ArchiveBatch(parts, ArchiveEnd(self._file, self._offset, self._last_record))

    def write(self, batch: ArchiveBatch) -> None:
        """Write and sync. Raises OSError; the archive must then be truncated."""
        for part in batch.parts:
            handle = self._handle_of(part.file)
            rest, offset = memoryview(part.content), part.offset
            while rest:
                written = os.pwrite(handle, rest, offset)
                rest, offset = rest[written:], offset + written
            # Without the times of the file.
            os.fdatasync(handle)

    def _append(self, record: bytes) -> ArchiveLocation:
        location = ArchiveLocation(self._file, self._offset, len(record))
        self._records.append(record)
        self._last_record = self._offset
        self._offset += len(record)
        return location

    def _end_part(self) -> None:
        if self._records:
            self._parts.append(ArchivePart(self._file, self._records_begin, b"".join(self._records)))
        self._records, self._records_begin = [], self._offset

    def _record_id(self) -> str:
        return _record_id(self._crawl_id, self._file, self._offset)

    def _open(self, path: Path) -> int:
        if not path.exists():
            path.touch(0o644)
            sync_folder(self._folder)
        return os.open(path, os.O_WRONLY)


def _first_of(records: bytes) -> tuple[int, int, bytes]:
    """Start, end and content of the first of these records."""
    return next(unpacked_records(records, len(records), "the beginning of a commit"), (0, 0, b""))


def _time_of(record: bytes) -> float:
    """When a record was made; 0 if it does not say so."""
    try:
        return datetime.fromisoformat(record_of(record, "the beginning of a commit").date).timestamp()
    except ValueError:
        return 0.0


def joined_parts(parts: Iterable[ArchivePart]) -> tuple[ArchivePart, ...]:
    """Those that follow each other in a file as one."""
    contents: dict[tuple[int, int], list[bytes]] = {}
    start = end = (0, -1)
    for part in parts:
        if (part.file, part.offset) != end:
            start = part.file, part.offset
        contents.setdefault(start, []).append(part.content)
        end = part.file, part.offset + len(part.content)
    return tuple(ArchivePart(*start, b"".join(content)) for start, content in contents.items())


def record_id(crawl_id: UUID, location: ArchiveLocation) -> str:
    """The ID of the record at a location, with its angle brackets."""
    return f"<urn:uuid:{_record_id(crawl_id, location.file, location.offset)}>"


def _record_id(crawl_id: UUID, file: int, offset: int) -> str:
    """Unique, because records of a crawl differ in location, and crawls in their random IDs.

    The low 62 bits of a UUID are free; the bits above are its variant and version."""
    digits = f"{crawl_id.int ^ (file << 40 | offset):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def truncate(folder: Path, end: ArchiveEnd) -> None:
    """Remove what follows the end. Raises OSError."""
    for path in sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}")):
        number = path.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
        if number.isdecimal() and (int(number) > end.file or not end.offset):
            path.unlink()
    last = folder / file_name(end.file)
    if end.offset and last.stat().st_size > end.offset:
        os.truncate(last, end.offset)


def check_complete(folder: Path, end: ArchiveEnd) -> None:
    """InvalidInput unless every file up to the end exists and the last record can be read."""
    for file in range(end.file + 1 if end.offset else 0):
        path = folder / file_name(file)
        min_bytes = end.offset if file == end.file else 1
        if not path.is_file() or path.stat().st_size < min_bytes:
            raise InvalidInput(f"{printable(path)} is missing or truncated: restore it from a backup.")
    if end.offset:
        with ArchiveReader(folder) as archive:
            archive.record(ArchiveLocation(end.file, end.last_record, end.offset - end.last_record))


class ArchiveReader(_Files):
    """Reads records by location."""

    def __enter__(self) -> "ArchiveReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def member(self, location: ArchiveLocation) -> bytes:
        """The record as it is stored, compressed."""
        path = self._folder / file_name(location.file)
        try:
            content = os.pread(self._handle_of(location.file), location.length, location.offset)
        except OSError as reason:
            raise InvalidInput(_cannot_read(path, reason)) from None
        if len(content) != location.length:
            end = location.offset + location.length
            raise InvalidInput(f"{printable(path)} ends before byte {end:,}: restore it from a backup.")
        return content

    def record(self, location: ArchiveLocation) -> WarcRecord:
        where = f"{printable(self._folder / file_name(location.file))}, byte {location.offset:,}"
        return record_of(unpacked(self.member(location), where), where)

    def size_bytes(self, end: ArchiveEnd) -> int:
        """Of all files up to the end."""
        files = (self._folder / file_name(file) for file in range(end.file))
        return sum(file.stat().st_size for file in files if file.exists()) + end.offset

    def records(self, end: ArchiveEnd) -> Iterator[tuple[ArchiveLocation, WarcRecord]]:
        """Every record up to the end, in order of location, including `warcinfo` records."""
        for file in range(end.file + 1 if end.offset else 0):
            path = self._folder / file_name(file)
            with _mapped(path) as content:
                length = end.offset if file == end.file else len(content)
                for start, stop, record in unpacked_records(content, length, printable(path)):
                    yield (
                        ArchiveLocation(file, start, stop - start),
                        record_of(record, f"{printable(path)}, byte {start:,}"),
                    )

    def _open(self, path: Path) -> int:
        with open_regular(path) as content:
            return os.dup(content.fileno())


def _mapped(path: Path) -> mmap:
    try:
        with open_regular(path) as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as reason:
        raise InvalidInput(_cannot_read(path, reason)) from None


def _cannot_read(path: Path, reason: Exception) -> str:
    why = getattr(reason, "strerror", None) or reason
    return machine_fault(path, reason) or f"Cannot read {printable(path)}: {why}. Restore it from a backup."
