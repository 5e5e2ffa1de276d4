"""The main texts of a crawl's pages, extracted by worker processes and cached in the crawl folder.

Rules
- Results come in the order of the pages.
- A page that takes more than `PAGE_CPU_S` of CPU time, or that kills its worker, costs only itself: its result is an
  `ExtractionFault`. Memory of a worker is limited, too. Workers read the pages from the archive.
- What was extracted is cached by the location of the page's response. Faults are not, because they may depend on the
  machine. A damaged archive ends the work with an error.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from scenthound.corpus.extraction_cache import ExtractionCache, StoredText
from scenthound.corpus.main_text import extract
from scenthound.corpus.min_hash import signature_of
from scenthound.errors import MissingExtra
from scenthound.processes import WorkerPool
from scenthound.store.archive import ArchiveReader
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_records import ArchiveLocation
from scenthound.store.stored_crawl import StoredCrawl

#: CPU time for a page, of which most need a thousandth; and the time on the clock, if it waits for something.
PAGE_CPU_S = 10.0
PAGE_S = 120.0
#: The worst known pages of 2 MB take 220 MB.
MEMORY_BYTES = 1 << 30
#: Pages that are looked up in the cache, extracted and cached together.
BATCH_PAGES = 200

Row = TypeVar("Row")
_PROFILE_SIGNALS = frozenset({signal.SIGPROF, signal.SIGALRM})


class ExtractionFault(StrEnum):
    """Why a page has no text."""

    TIMEOUT = "extraction timed out"
    FAILED = "extraction failed"


class ExtractionWorker:
    """Extracts the page at a location of the archive."""

    def __init__(self, archive: Path, *, escalate: bool) -> None:
        _limit_memory()
        self._archive = ArchiveReader(archive)
        self._escalate = escalate

    def __call__(self, location: ArchiveLocation) -> StoredText | ExtractionFault:
        record = self._archive.record(location)
        # The signals are not handled, so they end the process, even in compiled code.
        signal.setitimer(signal.ITIMER_PROF, PAGE_CPU_S)
        signal.setitimer(signal.ITIMER_REAL, PAGE_S)
        try:
            page = extract(
                record.content,
                record.url,
                http_charset=record.charset,
                escalate=self._escalate,
                latest=datetime.fromisoformat(record.date).date(),
            )
            return StoredText.of(page, signature_of(page.text))
        except Exception:  # noqa: BLE001 - no page may stop the export
            return ExtractionFault.FAILED
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def _limit_memory() -> None:
    import resource

    # Some systems have no such limit; then only time is limited.
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, hard))


def _fault_of(exit_code: int | None) -> ExtractionFault:
    timed_out = exit_code is not None and -exit_code in _PROFILE_SIGNALS
    return ExtractionFault.TIMEOUT if timed_out else ExtractionFault.FAILED


def with_escalation(escalate: bool | None) -> bool:
    """Whether difficult pages are extracted by trafilatura; by default, if it is installed."""
    is_installed = find_spec("trafilatura") is not None
    if escalate and not is_installed:
        raise MissingExtra.named("corpus", "--escalate")
    return is_installed if escalate is None else escalate


class Extraction(AbstractContextManager["Extraction"]):
    """Extracts pages of one crawl. The workers start with the first page that is not cached, and end with the
    block."""

    def __init__(self, crawl: StoredCrawl, *, workers: int, escalate: bool) -> None:
        make_worker = partial(ExtractionWorker, crawl.folder / ARCHIVE_FOLDER, escalate=escalate)
        self._pool = WorkerPool(make_worker, workers, _fault_of)
        self._cache = ExtractionCache(crawl.folder, escalates=escalate)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, traceback)
        self._cache.close()

    def of(
        self, rows: Iterable[Row], location_of: Callable[[Row], ArchiveLocation | None]
    ) -> Iterator[tuple[Row, StoredText | ExtractionFault | None]]:
        """Each row with the text of its page; None if it has no location."""
        remaining = iter(rows)
        while batch := list(islice(remaining, BATCH_PAGES)):
            locations = [location for row in batch if (location := location_of(row)) is not None]
            found: dict[ArchiveLocation, StoredText | ExtractionFault] = dict(self._cache.find(locations))
            missing = [location for location in dict.fromkeys(locations) if location not in found]
            extracted = dict(zip(missing, self._pool.in_order(missing), strict=True)) if missing else {}
            self._cache.add({at: text for at, text in extracted.items() if isinstance(text, StoredText)})
            found |= extracted
            for row in batch:
                location = location_of(row)
                yield row, None if location is None else found[location]
