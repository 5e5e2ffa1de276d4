"""JSON Lines: one page a line, plain or compressed. Lines are cut here and decoded where the chunk is sent."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import orjson

from scenthound.errors import InvalidInput, MissingExtra, printable
from scenthound.files import DAMAGE, opened
from scenthound.store.batches import RawRecord, Skipped
from scenthound.store.sources.records import CHUNK_BYTES, CHUNK_RECORDS, PAGE_FIELDS, ReadOptions, record_of

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


# Parquet files with the columns that JSON Lines have as fields, read row group by row group.
#
# A row group that is damaged is named and passed over; a file of which not even the end can be read is refused.


@dataclass(frozen=True, slots=True)
class RowsChunk:
    """Some rows of a file, numbered from 1; or, where a row could not be had, why."""

    file_name: str
    first_row: int
    rows: list[dict[str, Any] | Skipped]
    bytes_read: int

    def records(self, options: ReadOptions) -> Iterator[RawRecord]:
        for number, row in enumerate(self.rows, self.first_row):
            place = f"{self.file_name}, row {number}"
            yield row if isinstance(row, Skipped) else record_of(row, place, options)


@dataclass(frozen=True, slots=True)
class ParquetRows:
    path: Path

    @property
    def size_bytes(self) -> int:
        return self.path.stat().st_size

    def chunks(self, options: ReadOptions) -> Iterator[RowsChunk]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingExtra.named("lab", "Reading Parquet") from None
        try:
            file = pyarrow.parquet.ParquetFile(self.path)
        except (pyarrow.ArrowException, OSError) as reason:
            why = printable(str(reason).partition("\n")[0])
            raise InvalidInput(
                f"{printable(self.path)} cannot be read as Parquet: {why}. Check that it is whole."
            ) from None
        with file:
            first_row = 1
            for group in range(file.num_row_groups):
                yield from self._group(file, group, first_row, options)
                first_row += file.metadata.row_group(group).num_rows

    def _group(self, file: Any, group: int, first_row: int, options: ReadOptions) -> Iterator[RowsChunk]:
        wanted = {*PAGE_FIELDS, *(name for name, _ in options.where)}
        columns = [name for name in file.schema_arrow.names if name in wanted]
        try:
            for batch in file.iter_batches(batch_size=CHUNK_RECORDS, row_groups=[group], columns=columns):
                for piece in _pieces(batch):
                    last_row = first_row + len(piece) - 1
                    yield RowsChunk(self.path.name, first_row, self._rows(piece, first_row), self._read(file, last_row))
                    first_row = last_row + 1
        except Exception as reason:  # noqa: BLE001 - pyarrow raises many kinds; none may lose what came before
            why = str(reason).partition("\n")[0]
            damage = Skipped("damaged file", f"{self.path.name}, after row {first_row - 1}: {why}")
            yield RowsChunk(self.path.name, first_row, [damage], self._read(file, first_row))

    def _read(self, file: Any, last_row: int) -> int:
        """Rows are of many sizes, but no reader tells how much of the file a row took."""
        return int(self.size_bytes * last_row // file.metadata.num_rows)

    def _rows(self, batch: Any, first_row: int) -> list[dict[str, Any] | Skipped]:
        try:
            rows: list[dict[str, Any] | Skipped] = batch.to_pylist()
        except (ArithmeticError, ValueError):
            if len(batch) == 1:
                return [Skipped("values that cannot be read", f"{self.path.name}, row {first_row}")]
            return [row for i in range(len(batch)) for row in self._rows(batch.slice(i, 1), first_row + i)]
        return rows


def _pieces(batch: Any) -> Iterator[Any]:
    """A batch cut in halves until what is in each can be sent."""
    if batch.nbytes <= CHUNK_BYTES or len(batch) == 1:
        yield batch
        return
    middle = len(batch) // 2
    yield from _pieces(batch.slice(0, middle))
    yield from _pieces(batch.slice(middle))
