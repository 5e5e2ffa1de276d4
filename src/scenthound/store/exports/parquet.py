"""The pages of a crawl as a Parquet file, with the columns that JSON Lines have as fields."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from scenthound.errors import MissingExtra
from scenthound.store.exports.kind import ExportOptions, ExportSummary, Tally
from scenthound.store.exports.pages import ExportedPage, exported_pages
from scenthound.store.stored_crawl import StoredCrawl

#: A row group is full at so many rows or characters of HTML: it is held in memory until then.
GROUP_ROWS = 1_000
GROUP_CHARACTERS = 32 << 20


def write_parquet(crawl: StoredCrawl, file: BinaryIO, _out: Path, options: ExportOptions) -> ExportSummary:
    arrow, parquet = _libraries()
    schema = _schema(arrow)
    tally = Tally(options.progress, "page")
    group: list[ExportedPage] = []
    characters = 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for page in exported_pages(crawl, options, tally):
            group.append(page)
            characters += len(page.html or "")
            if len(group) >= GROUP_ROWS or characters >= GROUP_CHARACTERS:
                writer.write_table(_table(arrow, group, schema))
                group, characters = [], 0
        writer.write_table(_table(arrow, group, schema))
    return tally.summary()


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.named("lab", "Writing Parquet") from None
    return pyarrow, pyarrow.parquet


def _schema(arrow: Any) -> Any:
    text, number, count, truth = arrow.string(), arrow.float64(), arrow.int64(), arrow.bool_()
    types = {
        "url": text,
        "title": text,
        "html": text,
        "aliases": arrow.list_(text),
        "time": text,
        "relevance": number,
        "visit": count,
        "status": count,
        "score": number,
        "regret": number,
        "noindex": truth,
        "truncated": truth,
    }
    return arrow.schema(list(types.items()))


def _table(arrow: Any, pages: list[ExportedPage], schema: Any) -> Any:
    return arrow.Table.from_pylist([asdict(page) for page in pages], schema=schema)
