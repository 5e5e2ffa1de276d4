"""JSON Lines: one page a line, plain or compressed. Lines are cut here and decoded where the chunk is sent."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

import orjson

from scenthound.files import DAMAGE, opened
from scenthound.store.raw_page import RawRecord, Skipped
from scenthound.store.sources.chunk import CHUNK_BYTES, CHUNK_RECORDS, ReadOptions
from scenthound.store.sources.fields import record_of

#: A longer line is no page but a file of another kind, and would fill the memory.
LONGEST_LINE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class LinesChunk:
    """Some lines of a file with their numbers; or, where no line could be had, why."""

    file_name: str
    lines: list[tuple[int, bytes | Skipped]]
    bytes_read: int

    def records(self, options: ReadOptions) -> Iterator[RawRecord]:
        for number, line in self.lines:
            yield line if isinstance(line, Skipped) else self._record_of(line, number, options)

    def _record_of(self, line: bytes, number: int, options: ReadOptions) -> RawRecord:
        place = f"{self.file_name}, line {number}"
        try:
            return record_of(orjson.loads(line), place, options)
        except orjson.JSONDecodeError:
            return Skipped("not JSON", place)


@dataclass(frozen=True, slots=True)
class JsonLinesFile:
    path: Path

    @property
    def size_bytes(self) -> int:
        return self.path.stat().st_size

    def chunks(self, _options: ReadOptions) -> Iterator[LinesChunk]:
        with opened(self.path) as source:
            lines: list[tuple[int, bytes | Skipped]] = []
            n_bytes = 0
            for number, line in self._lines(source.content):
                if isinstance(line, Skipped) or not line.isspace():
                    lines.append((number, line))
                    n_bytes += 0 if isinstance(line, Skipped) else len(line)
                if len(lines) >= CHUNK_RECORDS or n_bytes >= CHUNK_BYTES:
                    yield LinesChunk(self.path.name, lines, source.file.tell())
                    lines, n_bytes = [], 0
            yield LinesChunk(self.path.name, lines, self.size_bytes)

    def _lines(self, content: BufferedIOBase) -> Iterator[tuple[int, bytes | Skipped]]:
        number = 0
        try:
            while line := content.readline(LONGEST_LINE_BYTES):
                number += 1
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if len(line) < LONGEST_LINE_BYTES or line.endswith(b"\n"):
                    yield number, line
                else:
                    yield number, Skipped("line too long", f"{self.path.name}, line {number}")
                    while line and not line.endswith(b"\n"):
                        line = content.readline(LONGEST_LINE_BYTES)
        except DAMAGE as reason:
            yield number + 1, Skipped("damaged file", f"{self.path.name}, after line {number}: {reason}")
