"""What a reader gives out: a piece of a file that makes its records wherever it is sent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scenthound.store.raw_page import RawRecord

#: A chunk is full at this many records or bytes: enough to share the cost of sending, few enough to share the work.
CHUNK_RECORDS = 64
CHUNK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to leave out: the spans of a page that show its label, and records whose fields have other values."""

    without_leaks: bool = False
    where: tuple[tuple[str, str], ...] = ()


class Chunk(Protocol):
    @property
    def bytes_read(self) -> int:
        """How much of the file was read when the chunk was full, in bytes of the file itself."""
        ...

    def records(self, options: ReadOptions) -> Iterable[RawRecord]: ...


class Source(Protocol):
    @property
    def path(self) -> Path: ...

    @property
    def size_bytes(self) -> int:
        """Of the file itself, compressed as it is."""
        ...

    def chunks(self, options: ReadOptions) -> Iterator[Chunk]: ...
