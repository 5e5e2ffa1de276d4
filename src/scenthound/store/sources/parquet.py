"""Parquet files with the columns that JSON Lines have as fields, read row group by row group."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.errors import BadInput, MissingExtra
from scenthound.store.raw_page import RawRecord
from scenthound.store.sources.chunk import CHUNK_RECORDS, ReadOptions
from scenthound.store.sources.fields import PAGE_FIELDS, record_of


@dataclass(frozen=True, slots=True)
class RowsChunk:
    """Some rows of a file, numbered from 1."""

    file_name: str
    first_row: int
    rows: list[dict[str, Any]]
    bytes_read: int

    def records(self, options: ReadOptions) -> Iterator[RawRecord]:
        for number, fields in enumerate(self.rows, self.first_row):
            yield record_of(fields, f"{self.file_name}, row {number}", options)


@dataclass(frozen=True, slots=True)
class ParquetRows:
    path: Path

    def chunks(self, options: ReadOptions) -> Iterator[RowsChunk]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingExtra.named("lab", "Reading Parquet") from None
        try:
            yield from self._chunks(pyarrow.parquet.ParquetFile(self.path), options)
        except (pyarrow.ArrowException, OSError) as reason:
            raise BadInput(f"{self.path} cannot be read as Parquet: {str(reason).splitlines()[0]}") from None

    def _chunks(self, file: Any, options: ReadOptions) -> Iterator[RowsChunk]:
        wanted = {*PAGE_FIELDS, *(name for name, _ in options.where)}
        columns = [name for name in file.schema_arrow.names if name in wanted]
        size, n_rows = self.path.stat().st_size, file.metadata.num_rows
        first_row = 1
        with file:
            for batch in file.iter_batches(batch_size=CHUNK_RECORDS, columns=columns):
                rows = batch.to_pylist()
                last_row = first_row + len(rows) - 1
                # Rows are of many sizes, but no reader tells how much of the file a row took.
                yield RowsChunk(self.path.name, first_row, rows, size * last_row // n_rows)
                first_row = last_row + 1
