"""An index of the archive of a crawl, from which pywb and others replay it: CDXJ, a sorted line for each answer.

A line is the key of the address, the time to the second, and where the record is: `filename` is the name of a file in
the `archive` folder of the crawl. All lines are held in memory to be sorted, some 300 bytes a record.
"""

import json
import re
from pathlib import Path
from typing import BinaryIO

from scenthound.store.archive import file_name
from scenthound.store.crawl_rows import Place
from scenthound.store.exports.kind import ExportOptions, ExportSummary, Tally
from scenthound.store.exports.records import exported_records
from scenthound.store.exports.surt import surt
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord

_TIME_DIGITS = 14
_NO_DIGIT = re.compile(r"\D")
_END_OF_TYPE = re.compile(r"[;, ]")


def write_cdxj(crawl: StoredCrawl, file: BinaryIO, _out: Path, options: ExportOptions) -> ExportSummary:
    tally = Tally(options.progress, "record")
    records = exported_records(crawl, options, tally)
    lines = sorted(_line(place, record) for place, record in records if record.kind == "response")
    file.writelines(lines)
    return tally.summary()


def _line(place: Place, record: WarcRecord) -> bytes:
    fields = {
        "url": record.url,
        "mime": _END_OF_TYPE.split(record.header("Content-Type") or "")[0] or "unk",
        "status": str(record.status),
        "digest": record.payload_digest.removeprefix("sha1:"),
        "length": str(place.length),
        "offset": str(place.offset),
        "filename": file_name(place.file),
    }
    time = _NO_DIGIT.sub("", record.date)[:_TIME_DIGITS]
    return f"{surt(record.url)} {time} {json.dumps(fields)}\n".encode()
