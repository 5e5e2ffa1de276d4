"""The commit log of a crawl: its commits in common storage, from which the crawl folder can be rebuilt elsewhere.

000000001   the first commit, as one immutable file; 000000002 the next one, and so on
crawl.json  that of the crawl folder

Rules
- Commit n is acknowledged when file n exists. It is created exclusively (`log_storage`), so every number has one owner.
- That is also the fence: of two processes that believe that they own a crawl, one finds the next number taken, and
  ends with `Fenced`. A process that takes over a crawl first appends a commit without content.
- A commit has the random id of its writer. If the answer to a creation was lost, the content tells whose it is.
- A log belongs to one crawl, whose id is in `crawl.json`. It has no credentials.
- Files are never pickles. They start with a header that has the digest of each section, so that a damaged or truncated
  file is noticed, and a section can be read without the others.
"""

import os
import re
import secrets
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from scenthound.errors import Failure, Fenced, InvalidInput, MissingExtra, printable
from scenthound.store.archive import ArchiveBatch, ArchiveEnd, ArchivePart
from scenthound.store.crawl_database import TableRows, check_rows
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.locations import cause, shown
from scenthound.store.log_storage import LogStorage, check_exclusive, storage_at

MAGIC = b"SHcommit"
VERSION = 1
#: Magic bytes, version, length of the header and its digest.
_PREFIX = struct.Struct("<8sII16s")
_DIGEST_BYTES = 16
#: Read at first, if only the header is needed; it is longer only with many destinations of parcels.
_HEADER_BYTES = 4_096
_NUMBER = re.compile(r"[0-9]{9}")
_ROWS, _ARCHIVE, _FILES, _PARCEL = "rows", "archive", "files", "parcel:"


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """The content of a commit. `mark` is that of the crawl's position after it (`CrawlPosition`), `files` are files of
    the crawl folder by path, and `parcels` are contents for other crawls, by destination."""

    archive: ArchiveBatch
    rows: Sequence[TableRows] = ()
    mark: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    parcels: Mapping[str, bytes] = field(default_factory=dict)


class Section(NamedTuple):
    """Where a section begins and ends in the file, and its digest."""

    start: int
    end: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class CommitHeader:
    """What the beginning of a file says. `parts` are the number of the WARC file, the offset and the length of each
    part of the archive."""

    number: int
    writer: bytes
    mark: str
    end: ArchiveEnd
    parts: tuple[tuple[int, int, int], ...]
    sections: Mapping[str, Section]


class CommitLog:
    """A log to read, and to append to after `prepare`."""

    def __init__(self, storage: LogStorage) -> None:
        self._storage = storage
        try:
            import msgpack
        except ImportError:
            raise MissingExtra.named("cluster", "A commit log") from None
        self._msgpack: Any = msgpack
        #: In each commit that is appended here.
        self.writer = secrets.token_bytes(16)

    @classmethod
    def at(cls, location: str | os.PathLike[str]) -> "CommitLog":
        """The log at a path or URL."""
        return cls(storage_at(location))

    @property
    def location(self) -> str:
        """An absolute path, or a URL."""
        return self._storage.location

    def __str__(self) -> str:
        return shown(self.location)

    def prepare(self) -> None:
        """Make the folder, and try out whether commits can be appended. InvalidInput if not."""
        try:
            self._storage.make()
            check_exclusive(self._storage)
        except OSError as reason:
            raise InvalidInput(
                f"Cannot write the commit log {self}: {cause(reason).lower()}. Check the location, its permissions and "
                "the credentials."
            ) from None

    def begin(self, about: bytes) -> None:
        """Start the log of a new crawl. InvalidInput if it belongs to another one."""
        self.prepare()
        try:
            is_new = not self.last() and self._storage.create(ABOUT_FILE, about)
        except OSError as reason:
            raise self._unwritable(reason) from None
        if not is_new:
            raise InvalidInput(
                f"{self} is the commit log of another crawl: choose another location with --commit-log, or continue "
                "that crawl with --resume."
            )

    def abandon(self) -> None:
        """Forget a crawl that has begun, and has no commits."""
        with suppress(OSError):
            self._storage.remove(ABOUT_FILE)

    def exists(self) -> bool:
        """Whether a crawl has begun here."""
        return self._read(ABOUT_FILE) is not None

    def about(self) -> bytes:
        """`crawl.json` of the crawl. InvalidInput if this is not a log."""
        content = self._read(ABOUT_FILE)
        if content is None:
            raise InvalidInput(f"{self} is not a commit log: it has no {ABOUT_FILE}. Check --commit-log.")
        return content

    def last(self) -> int:
        """The number of the last commit; 0 if there is none. InvalidInput if one before it is missing."""
        try:
            numbers = sorted(int(name) for name in self._storage.names() if _NUMBER.fullmatch(name))
        except FileNotFoundError:
            return 0
        except OSError as reason:
            raise self._unreadable(reason) from None
        if numbers != list(range(1, len(numbers) + 1)):
            missing = min(set(range(1, numbers[-1] + 1)).difference(numbers), default=0)
            raise InvalidInput(f"Commit {missing:,} of {self} is missing: restore the file {_name(missing)}.")
        return len(numbers)

    def append(self, number: int, commit: LoggedCommit) -> None:
        """Acknowledge a commit. Fenced if another process has appended one of this number, Failure if it cannot be
        written; it may be there nevertheless."""
        content = self._encoded(number, commit)
        try:
            is_own = self._storage.create(_name(number), content)
        except OSError as reason:
            raise self._unwritable(reason) from None
        if not is_own:
            raise Fenced(
                f"Another process has taken over this crawl: commit {number:,} of {self} is not from this one. What "
                "was acknowledged is safe."
            )

    def read(self, number: int) -> LoggedCommit | None:
        """A commit, checked; None if there is none of this number."""
        content = self._read(_name(number))
        if content is None:
            return None
        header = self._header_of(number, content)
        sections = {
            name: self._checked(number, name, section, content[section.start : section.end])
            for name, section in header.sections.items()
        }
        try:
            rows = [TableRows(*table) for table in self._unpacked(sections.pop(_ROWS))]
            check_rows(rows)
            files = self._unpacked(sections.pop(_FILES))
            archive = ArchiveBatch(_parts(header, sections.pop(_ARCHIVE)), header.end)
        except (KeyError, TypeError, ValueError) as reason:
            raise self._damaged(number, reason) from None
        parcels = {name.removeprefix(_PARCEL): bytes(content) for name, content in sections.items()}
        return LoggedCommit(archive, rows, header.mark, files, parcels)

    def header(self, number: int) -> CommitHeader | None:
        """Only the header of a commit; None if there is none of this number."""
        beginning = self._beginning(number)
        return None if beginning is None else self._header_of(number, beginning)

    def read_parcels(self, number: int, destination: str) -> bytes | None:
        """What a commit has for a destination, without reading the rest; empty if nothing, None if there is no such
        commit."""
        beginning = self._beginning(number)
        if beginning is None:
            return None
        section = self._header_of(number, beginning).sections.get(f"{_PARCEL}{destination}")
        if section is None:
            return b""
        content = beginning[section.start : section.end]
        if section.end > len(beginning):
            content = self._read(_name(number), section.start, section.end) or b""
        return bytes(self._checked(number, "parcels", section, content))

    def _beginning(self, number: int) -> bytes | None:
        """The header, and perhaps more."""
        beginning = self._read(_name(number), 0, _HEADER_BYTES)
        if beginning is None or len(beginning) < _PREFIX.size:
            return beginning
        length = _PREFIX.size + _PREFIX.unpack_from(beginning)[2]
        return beginning if length <= len(beginning) else self._read(_name(number), 0, length)

    def _read(self, name: str, start: int = 0, end: int | None = None) -> bytes | None:
        """Bytes of a file; None if there is no such file."""
        try:
            return self._storage.read(name, start, end)
        except FileNotFoundError:
            return None
        except OSError as reason:
            raise self._unreadable(reason) from None

    def _encoded(self, number: int, commit: LoggedCommit) -> bytes:
        contents = {
            _ROWS: self._packed([tuple(table) for table in commit.rows]),
            _FILES: self._packed(dict(commit.files)),
            **{f"{_PARCEL}{destination}": content for destination, content in sorted(commit.parcels.items())},
            _ARCHIVE: b"".join(part.content for part in commit.archive.parts),
        }
        end = commit.archive.end
        header = self._packed(
            {
                "number": number,
                "writer": self.writer,
                "mark": commit.mark,
                "end": (end.file, end.offset, end.last_record),
                "parts": [(part.file, part.offset, len(part.content)) for part in commit.archive.parts],
                "sections": [(name, len(content), _digest(content)) for name, content in contents.items()],
            }
        )
        prefix = _PREFIX.pack(MAGIC, VERSION, len(header), _digest(header))
        return b"".join((prefix, header, *contents.values()))

    def _header_of(self, number: int, content: bytes) -> CommitHeader:
        try:
            magic, version, length, digest = _PREFIX.unpack_from(content)
            if magic != MAGIC:
                raise ValueError("it is not a commit")
            if version > VERSION:
                raise InvalidInput(
                    f"Commit {number:,} of {self} has format version {version}, and this Scenthound reads up to "
                    f"version {VERSION}: install the Scenthound that wrote it."
                )
            header = content[_PREFIX.size : _PREFIX.size + length]
            if _digest(header) != digest:
                raise ValueError("its header is incomplete or changed")
            values = self._unpacked(header)
            if values["number"] != number:
                raise ValueError(f"it is commit {values['number']}")
            start = _PREFIX.size + length
            sections = {}
            for name, size, section_digest in values["sections"]:
                sections[name] = Section(start, start + size, section_digest)
                start += size
            return CommitHeader(
                number,
                values["writer"],
                values["mark"],
                ArchiveEnd(*values["end"]),
                tuple(tuple(part) for part in values["parts"]),
                sections,
            )
        except (KeyError, TypeError, ValueError, struct.error) as reason:
            raise self._damaged(number, reason) from None

    def _checked(self, number: int, name: str, section: Section, content: bytes) -> bytes:
        if _digest(content) != section.digest:
            raise self._damaged(number, f"its {name} are incomplete or changed")
        return content

    def _packed(self, values: Any) -> bytes:
        packed: bytes = self._msgpack.packb(values, unicode_errors="surrogatepass")
        return packed

    def _unpacked(self, content: bytes) -> Any:
        """ValueError if it is damaged. Arrays become tuples, as in `TableRows`."""
        try:
            return self._msgpack.unpackb(content, use_list=False, unicode_errors="surrogatepass")
        except (self._msgpack.UnpackException, UnicodeError) as reason:
            raise ValueError(str(reason)) from None

    def _damaged(self, number: int, reason: object) -> InvalidInput:
        return InvalidInput(
            f"Commit {number:,} of {self} is damaged ({printable(reason, 200)}): restore the file {_name(number)} from "
            "a backup."
        )

    def _unreadable(self, reason: OSError) -> Failure:
        return Failure(
            f"Cannot read the commit log {self}: {cause(reason).lower()}. Check the location, then try again."
        )

    def _unwritable(self, reason: OSError) -> Failure:
        return Failure(
            f"Cannot write the commit log {self}: {cause(reason).lower()}. What was acknowledged is safe: check the "
            "location, then resume the crawl."
        )


def _name(number: int) -> str:
    return f"{number:09}"


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _parts(header: CommitHeader, content: bytes) -> tuple[ArchivePart, ...]:
    parts, start = [], 0
    for file, offset, length in header.parts:
        parts.append(ArchivePart(file, offset, content[start : start + length]))
        start += length
    if start != len(content):
        raise ValueError("the parts of the archive have other lengths")
    return tuple(parts)
