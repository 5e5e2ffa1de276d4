"""Files of pages made into a recorded web: read once, parsed on all processors, written whole or not at all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scenthound.errors import Failure, InvalidInput, InvalidParameter, printable
from scenthound.model import Progress, silent
from scenthound.processes import in_order, processors
from scenthound.store.batches import BatchMaker, PageBatch, Skipped
from scenthound.store.builder import WebBuilder
from scenthound.store.columns import FileColumns
from scenthound.store.folder import new_folder
from scenthound.store.layout import content_fingerprint, write_about
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources import source_of
from scenthound.store.sources.records import NOT_WANTED, Chunk, ReadOptions, Source

# What a recording came to: what is in the web, and what was left out, by reason and with examples.

EXAMPLES_KEPT = 3


@dataclass(frozen=True, slots=True)
class SkippedCount:
    """How many records were left out for one reason, and where the first few of them stand."""

    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordSummary:
    pages: int
    urls: int
    links: int
    links_recorded: int  #: links whose target is a page of the web, aliases followed
    words: int
    vocabulary: int
    hosts: int  #: hosts of the pages, not of all that is linked to
    aliases: int
    bytes_read: int
    skipped: dict[str, SkippedCount] = field(default_factory=dict)
    is_compiled: bool = False  #: whether compiled code parsed pages; decides nothing

    @classmethod
    def of(
        cls, web: RecordedWeb, bytes_read: int, skipped: dict[str, SkippedCount], is_compiled: bool = False
    ) -> "RecordSummary":
        return cls(
            pages=web.n_pages,
            urls=web.n_urls,
            links=web.n_links,
            links_recorded=int(np.count_nonzero(web.url_page[web.link_url] >= 0)),
            words=len(web.word),
            vocabulary=len(web.vocabulary) - 1,
            hosts=len(np.unique(web.url_host[: web.n_pages])),
            aliases=int(np.count_nonzero(web.url_page >= 0)) - web.n_pages,
            bytes_read=bytes_read,
            skipped=skipped,
            is_compiled=is_compiled,
        )

    def counts(self) -> dict[str, Any]:
        """The counts as plain values, for files and for `--json`."""
        others = ("skipped", "is_compiled")
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in others}
        values["skipped"] = {
            reason: {"count": skipped.count, "examples": list(skipped.examples)}
            for reason, skipped in self.skipped.items()
        }
        return values


class SkippedTally:
    """Counts what was left out as the recording goes on."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, skipped: Iterable[Skipped]) -> None:
        for record in skipped:
            self._counts[record.reason] = self._counts.get(record.reason, 0) + 1
            places = self._places.setdefault(record.reason, [])
            if len(places) < EXAMPLES_KEPT:
                places.append(record.place)

    def by_reason(self) -> dict[str, SkippedCount]:
        """The most frequent reason first."""
        ranked = sorted(self._counts, key=lambda reason: (-self._counts[reason], reason))
        return {reason: SkippedCount(self._counts[reason], tuple(self._places[reason])) for reason in ranked}

    def in_words(self) -> str:
        """The most frequent reasons, each with its first example."""
        reasons = list(self.by_reason().items())[:EXAMPLES_KEPT]
        said = [f"{skipped.count:,} x {reason}: {skipped.examples[0]}" for reason, skipped in reasons]
        return "; ".join(said) or "it is empty"


#: Less than this is parsed before a second process has started.
BYTES_WORTH_WORKERS = 1 << 20


def record(
    files: Sequence[str | Path],
    out: str | Path,
    *,
    without_leaks: bool = False,
    where: Mapping[str, str] | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> RecordSummary:
    """Record the pages of JSON Lines, WARC, ARC and Parquet files, and of crawls, as a web in the folder `out`.

    `without_leaks` cuts the spans that a page names in `leak`; `where` keeps only records with these values.
    The same files give the same bytes whatever the number of workers.
    """
    options = ReadOptions(without_leaks, tuple((where or {}).items()))
    if not files:
        raise InvalidInput("There is no file to record: name at least one.")
    if workers is not None and workers < 1:
        raise InvalidParameter(f"workers is {workers} and must be at least 1.")
    sources = [source_of(Path(file)) for file in files]
    sizes = [source.size_bytes for source in sources]
    recording = _Recording(sources, sizes, options, workers or _workers_for(sum(sizes)), progress)
    try:
        with new_folder(Path(out), force) as folder:
            return recording.write(folder)
    except OSError as reason:
        why = printable(reason.strerror or reason)
        raise Failure(f"Recording into {printable(out)} failed: {why}. Nothing of it was kept.") from None


def _workers_for(n_bytes: int) -> int:
    return 1 if n_bytes < BYTES_WORTH_WORKERS else processors()


#: The number of a file, and a chunk of it.
NumberedChunk = tuple[int, Chunk]


class Parsed(NamedTuple):
    """A batch, the number of its file, how much of that file was read by then, and whether compiled code parsed it."""

    file: int
    bytes_read: int
    batch: PageBatch
    is_compiled: bool


class ChunkParser:
    """Makes batches of chunks, in whichever process."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._maker = BatchMaker()

    def __call__(self, numbered: NumberedChunk) -> Parsed:
        file, chunk = numbered
        batch = self._maker.batch(chunk.records(self._options))
        return Parsed(file, chunk.bytes_read, batch, self._maker.is_compiled)


@dataclass(slots=True)
class _FileTally:
    """What one file gave: pages, pages with those that came before or are not wanted, and what is no page."""

    pages: int = 0
    pages_seen: int = 0
    skipped: SkippedTally = field(default_factory=SkippedTally)


class _Recording:
    """One run of `record`."""

    def __init__(
        self, sources: list[Source], sizes: list[int], options: ReadOptions, workers: int, progress: Progress
    ) -> None:
        self._sources, self._sizes = sources, sizes
        self._options, self._workers, self._progress = options, workers, progress
        self._tally = SkippedTally()
        self._is_compiled = False
        self._files = [_FileTally() for _ in sources]

    def write(self, folder: Path) -> RecordSummary:
        columns = FileColumns(folder)
        try:
            builder = WebBuilder(columns)
            self._add_all(builder)
            self._progress(1.0, f"{builder.n_pages:,} pages, numbering their links")
            web = RecordedWeb(builder.finish())
        finally:
            columns.close()
        summary = RecordSummary.of(web, sum(self._sizes), self._tally.by_reason(), self._is_compiled)
        write_about(folder, self._about(web, summary))
        return summary

    def _add_all(self, builder: WebBuilder) -> None:
        n_checked = 0
        with closing(in_order(partial(ChunkParser, self._options), self._chunks(), self._workers)) as parts:
            for part in parts:
                self._check(n_checked, part.file)
                n_checked = part.file
                self._add(builder, part)
                done = sum(self._sizes[: part.file]) + part.bytes_read
                self._progress(min(1.0, done / max(1, sum(self._sizes))), f"{builder.n_pages:,} pages")
        self._check(n_checked, len(self._sources))
        if not builder.n_pages:
            raise InvalidInput(f"No page is wanted of all that was read ({self._tally.in_words()}).")

    def _chunks(self) -> Iterator[NumberedChunk]:
        for file, source in enumerate(self._sources):
            for chunk in source.chunks(self._options):
                yield file, chunk

    def _add(self, builder: WebBuilder, part: Parsed) -> None:
        before = builder.n_pages
        skipped = builder.add(part.batch)
        self._tally.add(skipped)
        self._is_compiled |= part.is_compiled
        file = self._files[part.file]
        file.skipped.add(skipped)
        file.pages += builder.n_pages - before
        unwanted = sum(record.reason.startswith(NOT_WANTED) for record in skipped)
        file.pages_seen += len(part.batch.page_url) + unwanted

    def _check(self, first: int, end: int) -> None:
        """A file read to its end without a page is a mistake: of another kind than its name says, or the wrong one."""
        for source, file in zip(self._sources[first:end], self._files[first:end], strict=True):
            if not file.pages_seen:
                raise InvalidInput(
                    f"{printable(source.path)} holds no page ({file.skipped.in_words()}). "
                    "What can be recorded is JSON Lines with url and html, WARC, ARC, Parquet, and crawls."
                )

    def _about(self, web: RecordedWeb, summary: RecordSummary) -> dict[str, Any]:
        return {
            "fingerprint": content_fingerprint(web.arrays),
            **summary.counts(),
            "options": {"without_leaks": self._options.without_leaks, "where": dict(self._options.where)},
            "sources": [
                {"file": source.path.name, "bytes": size, "pages": file.pages}
                for source, size, file in zip(self._sources, self._sizes, self._files, strict=True)
            ],
        }
