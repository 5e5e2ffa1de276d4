"""JSON Lines, plain or compressed, and Parquet files with the same fields as columns.

Lines and rows are read here, and decoded where the chunk is sent. A damaged row group of a Parquet file is skipped; a
Parquet file whose end cannot be read is refused.
"""

import codecs
from collections.abc import Iterator
from io import BufferedIOBase
from typing import Any, NamedTuple

import orjson

from scenthound.errors import InvalidInput, MissingExtra, printable
from scenthound.files import DAMAGE, opened
from scenthound.store.batches import RawRecord, Skipped
from scenthound.store.sources.records import (
    CHUNK_BYTES,
    CHUNK_RECORDS,
    PAGE_FIELDS,
    Chunk,
    ReadOptions,
    Source,
    chunked,
    record_of,
)

#: A longer line is not a page but a file of another kind, and would fill the memory.
MAX_LINE_BYTES = 64 << 20


class Fields(NamedTuple):
    """A line or row of a file with its location."""

    location: str
    content: bytes | dict[str, Any]

    def record(self, options: ReadOptions) -> RawRecord:
        try:
            fields = orjson.loads(self.content) if isinstance(self.content, bytes) else self.content
        except orjson.JSONDecodeError:
            return Skipped("not JSON", self.location)
        return record_of(fields, self.location, options)


class JsonLinesFile(Source):
    def chunks(self, _options: ReadOptions) -> Iterator[Chunk]:
        with opened(self.path) as source:
            lines = self._lines(source.content)
            for items in chunked(lines, lambda line: len(line.content) if isinstance(line, Fields) else 0):
                yield Chunk(items, source.file.tell())

    def _lines(self, content: BufferedIOBase) -> Iterator[Fields | Skipped]:
        """The lines that are not blank."""
        number = 0
        try:
            while line := content.readline(MAX_LINE_BYTES):
                number += 1
                location = f"{self.path.name}, line {number}"
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                    yield Skipped("line too long", location)
                    while line and not line.endswith(b"\n"):
                        line = content.readline(MAX_LINE_BYTES)
                elif not line.isspace():
                    yield Fields(location, line)
        except DAMAGE as reason:
            yield Skipped("damaged file", f"{self.path.name}, after line {number}: {reason}")


class ParquetFile(Source):
    def chunks(self, options: ReadOptions) -> Iterator[Chunk]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingExtra.named("parquet", "Reading Parquet") from None
        try:
            file = pyarrow.parquet.ParquetFile(self.path)
        except (pyarrow.ArrowException, OSError) as reason:
            why = printable(str(reason).partition("\n")[0])
            raise InvalidInput(
                f"Cannot read {printable(self.path)} as Parquet: {why}. Restore it from a backup."
            ) from None
        with file:
            first_row = 1
            for group in range(file.num_row_groups):
                yield from self._group(file, group, first_row, options)
                first_row += file.metadata.row_group(group).num_rows

    def _group(self, file: Any, group: int, first_row: int, options: ReadOptions) -> Iterator[Chunk]:
        wanted = {*PAGE_FIELDS, *(name for name, _ in options.where)}
        columns = [name for name in file.schema_arrow.names if name in wanted]
        try:
            for batch in file.iter_batches(batch_size=CHUNK_RECORDS, row_groups=[group], columns=columns):
                for part in _parts(batch):
                    last_row = first_row + len(part) - 1
                    yield Chunk(self._rows(part, first_row), self._bytes_read(file, last_row))
                    first_row = last_row + 1
        except Exception as reason:  # noqa: BLE001 - pyarrow raises many kinds; none may lose what came before
            why = str(reason).partition("\n")[0]
            damage = Skipped("damaged file", f"{self.path.name}, after row {first_row - 1}: {why}")
            yield Chunk([damage], self._bytes_read(file, first_row))

    def _bytes_read(self, file: Any, last_row: int) -> int:
        """An estimate: rows have many sizes, but no reader knows how much of the file a row took."""
        return int(self.size_bytes * last_row // file.metadata.num_rows)

    def _rows(self, batch: Any, first_row: int) -> list[Fields | Skipped]:
        location = f"{self.path.name}, row {first_row}"
        try:
            rows = batch.to_pylist()
        except (ArithmeticError, ValueError):
            if len(batch) == 1:
                return [Skipped("values that cannot be read", location)]
            return [row for i in range(len(batch)) for row in self._rows(batch.slice(i, 1), first_row + i)]
        return [Fields(f"{self.path.name}, row {number}", row) for number, row in enumerate(rows, first_row)]


def _parts(batch: Any) -> Iterator[Any]:
    """A batch, split into halves until each is small enough to send."""
    if batch.nbytes <= CHUNK_BYTES or len(batch) == 1:
        yield batch
        return
    middle = len(batch) // 2
    yield from _parts(batch.slice(0, middle))
    yield from _parts(batch.slice(middle))
