"""The archive of a crawl: a folder of WARC files that grows at its end, and is cut back to what is known to be whole.

Rules
- A record has its place as soon as it is added, and is on the disk once what was taken with it was written.
- Adding and taking belong to one thread, writing may belong to another: they share nothing but what was taken.
- Whoever keeps the archive remembers its end. What is behind that end was never acknowledged, and is cut off.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from uuid import UUID

from scenthound.errors import InvalidInput, printable
from scenthound.files import open_regular, sync_folder
from scenthound.store.crawl_records import ArchiveLocation
from scenthound.store.warc_format import (
    WarcRecord,
    record_of,
    response_record,
    unpacked,
    unpacked_records,
    warcinfo_record,
)
from scenthound.web.fetch import Response

MOST_FILE_BYTES = 1 << 30
#: Of an id: its lower half, and the last of its five groups.
_LOW_MASK = (1 << 64) - 1
_NODE_MASK = (1 << 48) - 1
_BEGINNING = "scenthound-"
_ENDING = ".warc.gz"

#: Where the system cannot wait for the content alone, it waits for the times of the file too.
_sync = getattr(os, "fdatasync", os.fsync)


def file_name(number: int) -> str:
    return f"{_BEGINNING}{number:05}{_ENDING}"


@dataclass(frozen=True, slots=True)
class ArchiveEnd:
    """Where an archive ends: the number of its last file, its length, and where the last record in it begins."""

    file: int = 0
    offset: int = 0
    last_record: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """What is to be written into a file."""

    file: int
    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class ArchiveBatch:
    """What was added since the last time, and where the archive ends with it."""

    pieces: tuple[Piece, ...]
    end: ArchiveEnd


class ArchiveWriter:
    """Adds records behind `end`. `fields` are what each file says of its making, `crawl_id` makes record ids."""

    def __init__(
        self, folder: Path, crawl_id: UUID, fields: bytes, end: ArchiveEnd, most_file_bytes: int = MOST_FILE_BYTES
    ) -> None:
        self._folder, self._fields = folder, fields
        self._id_high, self._id_low = str(crawl_id)[:18], crawl_id.int & _LOW_MASK
        self._file, self._offset, self._last_record = end.file, end.offset, end.last_record
        self._most_file_bytes = most_file_bytes
        self._pieces: list[Piece] = []
        self._records: list[bytes] = []
        self._records_begin = end.offset
        self._opened: tuple[int, int] | None = None

    def add(self, response: Response, time_s: float) -> ArchiveLocation:
        if self._offset >= self._most_file_bytes:
            self._end_piece()
            self._file, self._offset, self._records_begin = self._file + 1, 0, 0
        if not self._offset:
            self._append(warcinfo_record(self._record_id(), time_s, file_name(self._file), self._fields))
        return self._append(response_record(self._record_id(), time_s, response))

    def take(self) -> ArchiveBatch:
        """All that was added since the last time, to be written."""
        self._end_piece()
        pieces, self._pieces = tuple(self._pieces), []
        return ArchiveBatch(pieces, ArchiveEnd(self._file, self._offset, self._last_record))

    def write(self, batch: ArchiveBatch) -> None:
        """Wait until it is on the disk. Raises OSError; the archive is then to be cut back."""
        for piece in batch.pieces:
            handle = self._handle_of(piece.file)
            rest, offset = memoryview(piece.content), piece.offset
            while rest:
                written = os.pwrite(handle, rest, offset)
                rest, offset = rest[written:], offset + written
            _sync(handle)

    def close(self) -> None:
        if self._opened is not None:
            os.close(self._opened[1])
            self._opened = None

    def _append(self, record: bytes) -> ArchiveLocation:
        place = ArchiveLocation(self._file, self._offset, len(record))
        self._records.append(record)
        self._last_record = self._offset
        self._offset += len(record)
        return place

    def _end_piece(self) -> None:
        if self._records:
            self._pieces.append(Piece(self._file, self._records_begin, b"".join(self._records)))
        self._records, self._records_begin = [], self._offset

    def _record_id(self) -> str:
        """No two records of a crawl share a place, so no two share an id; nor do two crawls, whose ids are random.

        The low 62 bits are free in an id; the bits above them tell its variant and version.
        """
        low = self._id_low ^ (self._file << 40 | self._offset)
        return f"{self._id_high}-{low >> 48:04x}-{low & _NODE_MASK:012x}"

    def _handle_of(self, file: int) -> int:
        if self._opened is not None and self._opened[0] == file:
            return self._opened[1]
        self.close()
        path = self._folder / file_name(file)
        is_new = not path.exists()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        self._opened = file, handle
        if is_new:
            sync_folder(self._folder)
        return handle


def cut_back(folder: Path, end: ArchiveEnd) -> None:
    """Cut off what is behind the end. Raises OSError."""
    for path in sorted(folder.glob(f"{_BEGINNING}*{_ENDING}")):
        number = path.name.removeprefix(_BEGINNING).removesuffix(_ENDING)
        if number.isdecimal() and (int(number) > end.file or not end.offset):
            path.unlink()
    last = folder / file_name(end.file)
    if end.offset and last.stat().st_size > end.offset:
        os.truncate(last, end.offset)


def check_whole(folder: Path, end: ArchiveEnd) -> None:
    """BadInput unless every file up to the end is there, and the last record is whole."""
    for file in range(end.file + 1 if end.offset else 0):
        path = folder / file_name(file)
        least = end.offset if file == end.file else 1
        if not path.is_file() or path.stat().st_size < least:
            raise InvalidInput(
                f"{printable(path)} is missing or cut off, so this crawl cannot go on: bring back the file from a copy."
            )
    if end.offset:
        with ArchiveReader(folder) as archive:
            archive.record(ArchiveLocation(end.file, end.last_record, end.offset - end.last_record))


class ArchiveReader:
    """Reads records back, from wherever they are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: tuple[int, int] | None = None

    def __enter__(self) -> "ArchiveReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._opened is not None:
            os.close(self._opened[1])
            self._opened = None

    def member(self, place: ArchiveLocation) -> bytes:
        """The record as it is stored, compressed."""
        path = self._folder / file_name(place.file)
        try:
            content = os.pread(self._handle_of(place.file), place.length, place.offset)
        except OSError as reason:
            raise InvalidInput(
                f"{printable(path)} cannot be read: {reason.strerror}; bring back the file from a copy."
            ) from None
        if len(content) != place.length:
            raise InvalidInput(
                f"{printable(path)} ends before byte {place.offset + place.length:,}; bring back the file from a copy."
            )
        return content

    def record(self, place: ArchiveLocation) -> WarcRecord:
        where = f"{printable(self._folder / file_name(place.file))}, byte {place.offset:,}"
        return record_of(unpacked(self.member(place), where), where)

    def size_bytes(self, end: ArchiveEnd) -> int:
        """Of all files up to the end."""
        files = (self._folder / file_name(file) for file in range(end.file))
        return sum(file.stat().st_size for file in files if file.exists()) + end.offset

    def records(self, end: ArchiveEnd) -> Iterator[tuple[ArchiveLocation, WarcRecord]]:
        """Every record up to the end, in order of place, `warcinfo` records too."""
        for file in range(end.file + 1 if end.offset else 0):
            path = self._folder / file_name(file)
            with _mapped(path) as content:
                length = end.offset if file == end.file else len(content)
                for start, stop, record in unpacked_records(content, length, printable(path)):
                    yield (
                        ArchiveLocation(file, start, stop - start),
                        record_of(record, f"{printable(path)}, byte {start:,}"),
                    )

    def _handle_of(self, file: int) -> int:
        if self._opened is None or self._opened[0] != file:
            self.close()
            with open_regular(self._folder / file_name(file)) as content:
                self._opened = file, os.dup(content.fileno())
        return self._opened[1]


def _mapped(path: Path) -> mmap:
    try:
        with open_regular(path) as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as reason:
        raise InvalidInput(f"{printable(path)} cannot be read: {reason}; bring back the file from a copy.") from None
