"""Readers of files with pages, chosen by content and then by name; a crawl is a folder and has its own reader.

A reader runs in the recording process and yields *chunks*: parts of a file that are decoded to records in any process.
"""

from pathlib import Path

from scenthound.files import first_bytes
from scenthound.store.crawl_folder import names_crawl
from scenthound.store.sources.crawl import CrawlSource
from scenthound.store.sources.files import JsonLinesFile, ParquetFile
from scenthound.store.sources.records import Source
from scenthound.store.sources.warc import WarcFile

WARC_MAGIC = (b"WARC/", b"filedesc://")
WARC_SUFFIXES = {".warc", ".arc"}
PARQUET_MAGIC = b"PAR1"


def source_of(path: Path) -> Source:
    """The reader for a file or a crawl. InvalidInput if it cannot be read."""
    if names_crawl(path):
        return CrawlSource.of(path)
    start = first_bytes(path)
    if start.startswith(PARQUET_MAGIC):
        kind: type[Source] = ParquetFile
    elif start.startswith(WARC_MAGIC) or WARC_SUFFIXES & set(path.suffixes):
        kind = WarcFile
    else:
        kind = JsonLinesFile
    return kind(path, path.stat().st_size)
