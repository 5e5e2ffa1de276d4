"""What the kinds of export share: what they are asked, and what they answer."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import Failure, InvalidInput, printable
from scenthound.files import sync_folder
from scenthound.model import Progress, silent
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.folder import check_replaceable
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord, charset_of, unpacked_body
from scenthound.web.decode import decode_html
from scenthound.web.fetch import header_values
from scenthound.web.parse import readable_text

TOLD_EVERY = 100


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Pages that ask not to be indexed are left out, unless `include_noindex` says otherwise."""

    include_noindex: bool = False
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """How many pages or records were written, how many were left out because they ask not to be indexed, and how many
    of the pages written have no HTML because the crawl read them from a recording."""

    written: int
    left_out: int
    without_html: int = 0


@dataclass(slots=True)
class Tally:
    """Counts what goes by, a `page` or a `record`, and tells now and then how far the work has come."""

    progress: Progress
    what: str
    written: int = 0
    left_out: int = 0
    without_html: int = 0

    def add(self, share: float) -> None:
        self.written += 1
        if self.written % TOLD_EVERY == 0:
            self.progress(min(1.0, share), self._in_words())

    def summary(self) -> ExportSummary:
        self.progress(1.0, self._in_words())
        return ExportSummary(self.written, self.left_out, self.without_html)

    def _in_words(self) -> str:
        return f"{self.written:,} {self.what}{'' if self.written == 1 else 's'}"


#: Writes a crawl to an open file. The path is where the file will be: its ending tells about compression.
Exporter = Callable[[StoredCrawl, BinaryIO, Path, ExportOptions], ExportSummary]


# A file that appears whole or not at all, however long it is: written beside its place, synced, then renamed.


@contextmanager
def new_file(out: Path, force: bool) -> Iterator[BinaryIO]:
    """A file to write into. It takes its place when the block ends well; else nothing of it stays."""
    check_replaceable(out, force, Path.is_file)
    target = Path(os.path.realpath(out))
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        file = part.open("xb")
    except OSError as reason:
        raise InvalidInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another place.") from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_replaceable(out, force, Path.is_file)
        part.replace(target)
        sync_folder(target.parent)
    except OSError as reason:
        why = printable(reason.strerror or reason)
        raise Failure(f"{printable(out)} cannot be written: {why}. Nothing of it was kept.") from None
    finally:
        with suppress(OSError):
            part.unlink()


# The visited pages of a crawl, in order of visit, with their HTML as text: what JSON Lines and Parquet hold.
#
# A page that came from a recording has no HTML here: what was recorded of it is where it came from.


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """`aliases` holds the address that was asked for, where redirects led elsewhere."""

    url: str
    title: str
    html: str | None
    aliases: list[str]
    time: str
    relevance: float
    visit: int
    status: int
    score: float | None
    regret: float | None
    noindex: bool
    truncated: bool


def exported_pages(crawl: StoredCrawl, options: ExportOptions, tally: Tally) -> Iterator[ExportedPage]:
    """The pages that may be exported; counted as they go by."""
    total = crawl.counts().visits
    # Read after the visits were counted, so that the addresses of all of them are there while a crawl goes on.
    urls = crawl.urls()
    for row in islice(crawl.visits(), total):
        if row.noindex and not options.include_noindex:
            tally.left_out += 1
            continue
        tally.without_html += row.is_recorded
        yield _page_of(crawl, row, urls[row.page])
        tally.add((row.visit + 1) / total)


def _page_of(crawl: StoredCrawl, row: VisitRecord, asked: str) -> ExportedPage:
    return ExportedPage(
        url=row.url,
        title=row.title,
        html=None if row.location is None else html_of(crawl.archive.record(row.location)),
        aliases=[asked] if asked != row.url else [],
        time=datetime.fromtimestamp(row.time_s, UTC).isoformat(),
        relevance=row.relevance,
        visit=row.visit,
        status=row.status,
        score=row.score,
        regret=row.regret,
        noindex=row.noindex,
        truncated=row.truncated,
    )


def html_of(record: WarcRecord) -> str:
    """The page in a record as text."""
    encoding = ", ".join(header_values(record.head, "Content-Encoding"))
    return decode_html(unpacked_body(record.body, encoding), charset_of(record.header("Content-Type")))


# The text of a page that a crawl has taken, read back from its archive.


def text_of_visit(crawl: StoredCrawl, row: VisitRecord) -> str:
    """Title and text, as `readable_text` has them; empty if the page came from a recording, if its record is damaged,
    or if it cannot be read."""
    if row.location is None:
        return ""
    try:
        return readable_text(html_of(crawl.archive.record(row.location)))
    except InvalidInput:
        return ""
