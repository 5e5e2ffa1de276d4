"""The main texts of a crawl's pages, extracted by worker processes and cached in the crawl folder.

Rules
- Results come in the order of the pages.
- A page that takes more than `PAGE_CPU_S` of CPU time, or that kills its worker, costs only itself: its result is an
  `ExtractionFault`. If trafilatura was to be asked, it is extracted again without. Memory of a worker is limited, too.
- Workers read the pages from the archive. A damaged archive ends the work with an error.
- What was extracted is cached, and so are pages that took too long; not those that failed, because that may depend on
  the machine.
"""

import signal
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from scenthound.corpus.extraction_cache import Extracted, ExtractionCache, ExtractionFault, PackedText
from scenthound.corpus.main_text import extract
from scenthound.corpus.min_hash import signature_of
from scenthound.errors import MissingExtra
from scenthound.processes import WorkerPool
from scenthound.store.archive import ArchiveReader
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_records import ArchiveLocation, VisitRecord
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.open_files import limit_memory

#: CPU time for a page, of which most need a thousandth; and the time on the clock, if it waits for something.
PAGE_CPU_S = 10.0
PAGE_S = 120.0
#: The worst known pages of 2 MB take 220 MB.
MEMORY_BYTES = 1 << 30
#: Pages that are looked up in the cache, extracted and cached together.
BATCH_PAGES = 200

_TIME_SIGNALS = frozenset({signal.SIGPROF, signal.SIGALRM})


class Task(NamedTuple):
    """A page to extract."""

    location: ArchiveLocation
    escalate: bool


class ExtractionWorker:
    """Extracts pages of an archive."""

    def __init__(self, archive: Path) -> None:
        limit_memory(MEMORY_BYTES)
        self._archive = ArchiveReader(archive)

    def __call__(self, task: Task) -> PackedText | ExtractionFault:
        record = self._archive.record(task.location)
        # The signals are not handled, so they end the process, even in compiled code.
        signal.setitimer(signal.ITIMER_PROF, PAGE_CPU_S)
        signal.setitimer(signal.ITIMER_REAL, PAGE_S)
        try:
            page = extract(
                record.content,
                record.url,
                http_charset=record.charset,
                escalate=task.escalate,
                latest=datetime.fromisoformat(record.date).date(),
            )
            return PackedText.of(page, signature_of(page.text))
        except Exception:  # noqa: BLE001 - no page may stop the export
            return ExtractionFault.FAILED
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def _fault_of(exit_code: int | None) -> ExtractionFault:
    timed_out = exit_code is not None and -exit_code in _TIME_SIGNALS
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
        make_worker = partial(ExtractionWorker, crawl.folder / ARCHIVE_FOLDER)
        self._pool = WorkerPool(make_worker, workers, _fault_of)
        self._cache = ExtractionCache(crawl.folder, escalates=escalate)
        self._escalate = escalate

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, traceback)
        self._cache.close()

    def of(self, visits: Iterable[VisitRecord]) -> Iterator[tuple[VisitRecord, Extracted | ExtractionFault | None]]:
        """Each visit with the text of its page; None if the crawl has no response of it."""
        remaining = iter(visits)
        while batch := list(islice(remaining, BATCH_PAGES)):
            archived = [visit for visit in batch if visit.location is not None]
            found = self._cache.find(archived)
            found |= self._extracted([visit for visit in archived if visit.visit not in found])
            for visit in batch:
                yield visit, found.get(visit.visit)

    def _extracted(self, visits: list[VisitRecord]) -> dict[int, Extracted | ExtractionFault]:
        """What workers find in pages, by the numbers of their visits."""
        results = self._by_workers(visits, escalate=self._escalate)
        if self._escalate:
            faulty = [visit for visit in visits if isinstance(results[visit.visit], ExtractionFault)]
            results |= self._by_workers(faulty, escalate=False)
        packed = {
            number: PackedText(None) if result is ExtractionFault.TIMEOUT else result
            for number, result in results.items()
        }
        self._cache.add((visit, text) for visit in visits if isinstance(text := packed[visit.visit], PackedText))
        return {number: each.unpacked() if isinstance(each, PackedText) else each for number, each in packed.items()}

    def _by_workers(self, visits: list[VisitRecord], *, escalate: bool) -> dict[int, PackedText | ExtractionFault]:
        if not visits:
            return {}
        tasks = [Task(visit.location, escalate) for visit in visits if visit.location is not None]
        return {visit.visit: result for visit, result in zip(visits, self._pool.in_order(tasks), strict=True)}
