"""What the tests of sources share: one page, its lines, and the records of a file."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scenthound.store.batches import RawPage, RawRecord, Skipped
from scenthound.store.sources import source_of
from scenthound.store.sources.records import ReadOptions

PLAIN = ReadOptions()


def records_of(path: Path, options: ReadOptions = PLAIN) -> list[RawRecord]:
    return [record for chunk in source_of(path).chunks(options) for record in chunk.records(options)]


def reasons(records: Iterable[RawRecord]) -> Counter[str]:
    return Counter(record.reason for record in records if isinstance(record, Skipped))


def pages(records: Iterable[RawRecord]) -> list[RawPage]:
    return [record for record in records if isinstance(record, RawPage)]


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


PAGE = {
    "url": "http://a.org/",
    "html": "<p>dogs",
    "title": "Dogs",
    "aliases": ["http://a.org/index"],
    "topics": ["pets"],
    "kind": "article",
}
