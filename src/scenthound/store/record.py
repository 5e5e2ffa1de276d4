"""Make a recorded web from files of pages or from crawls: read once, parsed on all processors, complete or absent.

The recorded web of a crawl is in the crawl's folder. It is made on demand, and again when the archive has grown since,
or when its words were split by the rules of an earlier version.
A process that makes it holds the lock of `crawl.json`; others wait for it. If the crawl's folder cannot be written, the
web is in a temporary folder, until the process ends.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from scenthound.errors import Failure, InvalidInput, InvalidParameter, printable
from scenthound.model import Progress, silent
from scenthound.processes import in_order, processors
from scenthound.store.batches import BatchMaker, PageBatch, Skipped
from scenthound.store.builder import WebBuilder
from scenthound.store.crawl_folder import ABOUT_FILE as CRAWL_FILE
from scenthound.store.crawl_folder import WEB_FOLDER, names_crawl
from scenthound.store.folder import ResultFolder
from scenthound.store.layout import ABOUT_FILE, FileColumns, content_fingerprint
from scenthound.store.locks import locked
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources import source_of
from scenthound.store.sources.crawl import CrawlSource
from scenthound.store.sources.records import NOT_WANTED, Chunk, ReadOptions, Source
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.text.tokenizer import VERSION as TOKENIZER_VERSION

#: Examples per skip reason.
MAX_EXAMPLES = 3
#: Less is parsed before a second process has started.
MIN_BYTES_FOR_WORKERS = 1 << 20
#: Those of crawls whose folders cannot be written.
_temporary_folders: "dict[Path, TemporaryDirectory[str]]" = {}


def open_web(path: str | Path, progress: Progress = silent) -> RecordedWeb:
    """The recorded web in a folder, or that of the crawl in it."""
    return web_of_crawl(path, progress) if names_crawl(Path(path)) else RecordedWeb.open(path)


def web_of_crawl(folder: str | Path, progress: Progress = silent) -> RecordedWeb:
    """All pages that the crawl has fetched and committed by now. InvalidInput if it read all of them from a recorded
    web."""
    missing = pages_elsewhere(folder)
    if missing is not None and missing.n_pages == missing.n_recorded:
        raise InvalidInput(missing.message())
    web = Path(folder) / WEB_FOLDER
    if not _is_up_to_date(web, Path(folder)) and not os.access(folder, os.W_OK):
        path = Path(folder).resolve()
        if path not in _temporary_folders:
            _temporary_folders[path] = TemporaryDirectory(prefix="scenthound-")
        web = Path(_temporary_folders[path].name) / WEB_FOLDER
    if not _is_up_to_date(web, Path(folder)):
        with locked(Path(folder) / CRAWL_FILE):
            if not _is_up_to_date(web, Path(folder)):
                record([folder], web, force=True, progress=progress)
    recorded = RecordedWeb.open(web)
    if web.parent != Path(folder):
        recorded.crawl = Path(folder).resolve()
    return recorded


def _is_up_to_date(web: Path, folder: Path) -> bool:
    try:
        about = ResultFolder.open(web, kind="web").about
        (source,) = about["sources"]
        return bool(source["bytes"] == CrawlSource.of(folder).size_bytes and about["tokenizer"] == TOKENIZER_VERSION)
    except (InvalidInput, KeyError, TypeError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class PagesElsewhere:
    """Pages that a crawl read from a recorded web, so that they are missing in its own web."""

    folder: str
    n_recorded: int
    n_pages: int
    recording: str

    def message(self) -> str:
        return (
            f"{self.n_recorded:,} of {self.n_pages:,} pages of {printable(self.folder)} came from the recorded web "
            f"{printable(self.recording)} and are missing here: use that web instead, or make one web of both with "
            f"`scenthound record --from {printable(self.folder)}` and the files that it was made of."
        )


def pages_elsewhere(folder: str | Path) -> PagesElsewhere | None:
    """The pages missing in the web of a crawl; None if there are none, or if the folder is not a crawl."""
    if not names_crawl(Path(folder)):
        return None
    with StoredCrawl.open(folder) as crawl:
        n_recorded, n_pages = crawl.n_recorded(), crawl.n_visits()
        recording = str(crawl.about.settings.get("web") or "(unknown path)")
    return PagesElsewhere(str(folder), n_recorded, n_pages, recording) if n_recorded else None


@dataclass(frozen=True, slots=True)
class SkippedCount:
    """How many records were skipped for one reason, and the locations of the first few."""

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
    hosts: int  #: hosts of pages, not of links
    aliases: int
    bytes_read: int
    skipped: dict[str, SkippedCount] = field(default_factory=dict)

    @classmethod
    def of(cls, web: RecordedWeb, bytes_read: int, skipped: dict[str, SkippedCount]) -> "RecordSummary":
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
        )

    def counts(self) -> dict[str, Any]:
        """Plain values for `web.json` and `--json`."""
        return asdict(self)


class SkippedTally:
    """Counts skipped records by reason."""

    def __init__(self) -> None:
        self._examples: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, skipped: Iterable[Skipped]) -> None:
        for record in skipped:
            self._counts[record.reason] = self._counts.get(record.reason, 0) + 1
            examples = self._examples.setdefault(record.reason, [])
            if len(examples) < MAX_EXAMPLES:
                examples.append(record.location)

    def by_reason(self) -> dict[str, SkippedCount]:
        """The most frequent reason first."""
        ranked = sorted(self._counts, key=lambda reason: (-self._counts[reason], reason))
        return {reason: SkippedCount(self._counts[reason], tuple(self._examples[reason])) for reason in ranked}

    def summary(self) -> str:
        """The most frequent reasons, each with its first example."""
        reasons = list(self.by_reason().items())[:MAX_EXAMPLES]
        parts = [f"{skipped.count:,} x {reason}: {skipped.examples[0]}" for reason, skipped in reasons]
        return "; ".join(parts) or "it is empty"


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

    `without_leaks` removes the spans that a page lists in `leak`; `where` selects records with these values.
    The same files give the same bytes, whatever the number of workers.
    """
    options = ReadOptions(without_leaks, tuple((where or {}).items()))
    if not files:
        raise InvalidInput("No file to record: name at least one.")
    if workers is not None and workers < 1:
        raise InvalidParameter(f"workers must be 1 or more, not {workers}.")
    sources = [source_of(Path(file)) for file in files]
    sizes = [source.size_bytes for source in sources]
    workers = workers or (processors() if sum(sizes) >= MIN_BYTES_FOR_WORKERS else 1)
    try:
        with ResultFolder.create(out, kind="web", force=force) as folder:
            return _Recording(sources, sizes, options, workers, progress).write(folder)
    except OSError as reason:
        why = printable(reason.strerror or reason)
        raise Failure(f"Cannot record to {printable(out)}: {why}. Nothing was written.") from None


#: The number of a file, and a chunk of it.
NumberedChunk = tuple[int, Chunk]


class Parsed(NamedTuple):
    """A batch, the number of its file, and how much of that file was read by then."""

    file: int
    bytes_read: int
    batch: PageBatch


class ChunkParser:
    """Parses chunks to batches, in any process."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._maker = BatchMaker()

    def __call__(self, numbered: NumberedChunk) -> Parsed:
        file, chunk = numbered
        batch = self._maker.batch(chunk.records(self._options))
        return Parsed(file, chunk.bytes_read, batch)


@dataclass(slots=True)
class _FileTally:
    """Of one file: new pages, pages including duplicates and unwanted ones, and skipped records."""

    pages: int = 0
    pages_seen: int = 0
    skipped: SkippedTally = field(default_factory=SkippedTally)


class _Recording:
    """One call of `record`."""

    def __init__(
        self, sources: list[Source], sizes: list[int], options: ReadOptions, workers: int, progress: Progress
    ) -> None:
        self._sources, self._sizes = sources, sizes
        self._options, self._workers, self._progress = options, workers, progress
        self._tally = SkippedTally()
        self._files = [_FileTally() for _ in sources]

    def write(self, folder: ResultFolder) -> RecordSummary:
        columns = FileColumns(folder.path)
        try:
            builder = WebBuilder(columns)
            self._add_all(builder)
            self._progress(1.0, f"{builder.n_pages:,} pages, numbering their links")
            web = RecordedWeb(builder.finish())
        finally:
            columns.close()
        summary = RecordSummary.of(web, sum(self._sizes), self._tally.by_reason())
        folder.write_json(ABOUT_FILE, self._about(web, summary))
        return summary

    def _add_all(self, builder: WebBuilder) -> None:
        n_checked = 0
        chunks = ((file, each) for file, source in enumerate(self._sources) for each in source.chunks(self._options))
        with closing(in_order(partial(ChunkParser, self._options), chunks, self._workers)) as parts:
            for part in parts:
                self._check(n_checked, part.file)
                n_checked = part.file
                self._add(builder, part)
                done = sum(self._sizes[: part.file]) + part.bytes_read
                self._progress(min(1.0, done / max(1, sum(self._sizes))), f"{builder.n_pages:,} pages")
        self._check(n_checked, len(self._sources))
        if not builder.n_pages:
            raise InvalidInput(f"No page was selected ({self._tally.summary()}).")

    def _add(self, builder: WebBuilder, part: Parsed) -> None:
        before = builder.n_pages
        skipped = builder.add(part.batch)
        self._tally.add(skipped)
        file = self._files[part.file]
        file.skipped.add(skipped)
        file.pages += builder.n_pages - before
        unwanted = sum(record.reason.startswith(NOT_WANTED) for record in skipped)
        file.pages_seen += len(part.batch.page_url) + unwanted

    def _check(self, first: int, end: int) -> None:
        """A file without any page is a mistake: the wrong file, or not of the kind that its name says."""
        for source, file in zip(self._sources[first:end], self._files[first:end], strict=True):
            if not file.pages_seen:
                raise InvalidInput(
                    f"{printable(source.path)} has no page ({file.skipped.summary()}). "
                    "Supported are JSON Lines with url and html, WARC, ARC, Parquet, and crawls."
                )

    def _about(self, web: RecordedWeb, summary: RecordSummary) -> dict[str, Any]:
        return {
            "fingerprint": content_fingerprint(web.arrays),
            **summary.counts(),
            "tokenizer": TOKENIZER_VERSION,
            "options": {"without_leaks": self._options.without_leaks, "where": dict(self._options.where)},
            "sources": [
                {"file": source.path.name, "bytes": size, "pages": file.pages}
                for source, size, file in zip(self._sources, self._sizes, self._files, strict=True)
            ],
        }
