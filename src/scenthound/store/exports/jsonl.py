"""The pages of a crawl as JSON Lines, compressed as the name of the file says. `scenthound record` takes them."""

import gzip
import sys
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO

import orjson

from scenthound.store.exports.kind import ExportOptions, ExportSummary, Tally
from scenthound.store.exports.pages import exported_pages
from scenthound.store.stored_crawl import StoredCrawl

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def write_jsonl(crawl: StoredCrawl, file: BinaryIO, out: Path, options: ExportOptions) -> ExportSummary:
    tally = Tally(options.progress, "page")
    compressing = _compressing(file, out)
    lines = file if compressing is None else compressing
    for page in exported_pages(crawl, options, tally):
        lines.write(orjson.dumps(page, option=orjson.OPT_APPEND_NEWLINE))
    if compressing is not None:
        compressing.close()
    return tally.summary()


def _compressing(file: BinaryIO, out: Path) -> BufferedIOBase | None:
    """What compresses into the file, as its name says; None if nothing does. Closing it leaves the file open."""
    if out.name.endswith(".gz"):
        return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    if out.name.endswith(".zst"):
        return zstd.ZstdFile(file, "wb")
    return None
