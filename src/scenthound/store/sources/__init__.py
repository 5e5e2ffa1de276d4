"""Readers of files that hold pages: which reader a file needs is told by its content, then by its name. A crawl is a
folder, and has a reader of its own.

A reader runs in the process that records and gives out *chunks*: pieces of the file that can be sent to another
process and make records there. So reading stays in one place and decoding is shared out.
"""

from pathlib import Path

from scenthound.files import beginning_of
from scenthound.store.crawl_folder import names_crawl
from scenthound.store.sources.crawl import CrawlSource
from scenthound.store.sources.files import JsonLinesFile, ParquetRows
from scenthound.store.sources.records import Source
from scenthound.store.sources.warc import WarcFile

WARC_BEGINNINGS = (b"WARC/", b"filedesc://")
WARC_ENDINGS = {".warc", ".arc"}
PARQUET_BEGINNING = b"PAR1"


def source_of(path: Path) -> Source:
    """The reader for a file or a crawl; BadInput if it is not there or may not be read."""
    if names_crawl(path):
        return CrawlSource.of(path)
    beginning = beginning_of(path)
    if beginning.startswith(PARQUET_BEGINNING):
        return ParquetRows(path)
    if beginning.startswith(WARC_BEGINNINGS) or WARC_ENDINGS & set(path.suffixes):
        return WarcFile(path)
    return JsonLinesFile(path)
