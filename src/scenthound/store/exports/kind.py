"""What the kinds of export share: what they are asked, and what they answer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from scenthound.model import Progress, silent
from scenthound.store.stored_crawl import StoredCrawl

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
