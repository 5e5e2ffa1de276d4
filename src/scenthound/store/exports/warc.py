"""The archive of a crawl as one WARC file: compressed record by record if its name ends in .gz, else plain."""

from pathlib import Path
from typing import BinaryIO

from scenthound.store.exports.kind import ExportOptions, ExportSummary, Tally
from scenthound.store.exports.records import exported_records
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import unpacked


def write_warc(crawl: StoredCrawl, file: BinaryIO, out: Path, options: ExportOptions) -> ExportSummary:
    tally = Tally(options.progress, "record")
    compressed = out.name.endswith(".gz")
    for place, _ in exported_records(crawl, options, tally):
        member = crawl.archive.member(place)
        file.write(member if compressed else unpacked(member, "the archive"))
    return tally.summary()
