"""The main texts of a crawl's pages, extracted by worker processes and cached in the crawl folder.

Rules
- Results come in the order of the pages.
- A page that takes more than `PAGE_CPU_S` of CPU time, or that kills its worker, costs only itself: its result is an
  `ExtractionFault`. Memory of a worker is limited, too.
- Workers read the pages from the archive. A damaged archive ends the work with an error.
- What was extracted is cached, and so are pages that took too long; not those that failed, because that may depend on
  the machine.
"""

import signal
from collections.abc import Generator, Iterable
from contextlib import closing
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path

from scenthound.corpus.extraction_cache import Extracted, ExtractionCache, ExtractionFault, PackedText
from scenthound.corpus.main_text import extract
from scenthound.corpus.min_hash import signature_of
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


class ExtractionWorker:
    """Extracts pages of an archive."""

    def __init__(self, archive: Path) -> None:
        limit_memory(MEMORY_BYTES)
        self._archive = ArchiveReader(archive)

    def __call__(self, location: ArchiveLocation) -> PackedText | ExtractionFault:
        record = self._archive.record(location)
        # The signals are not handled, so they end the process, even in C.
        signal.setitimer(signal.ITIMER_PROF, PAGE_CPU_S)
        signal.setitimer(signal.ITIMER_REAL, PAGE_S)
        try:
            page = extract(
                record.content,
                record.url,
                http_charset=record.charset,
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


def extracted_pages(
    crawl: StoredCrawl, visits: Iterable[VisitRecord], workers: int
) -> Generator[tuple[VisitRecord, Extracted | ExtractionFault | None]]:
    """Each visit with the text of its page; None if the crawl has no response of it. The workers start with the first
    page that is not cached, and end with the iteration."""
    make_worker = partial(ExtractionWorker, crawl.folder / ARCHIVE_FOLDER)
    remaining = iter(visits)
    with WorkerPool(make_worker, workers, _fault_of) as pool, closing(ExtractionCache(crawl.folder)) as cache:
        while batch := list(islice(remaining, BATCH_PAGES)):
            archived = [visit for visit in batch if visit.location is not None]
            found = cache.find(archived)
            if missing := [visit for visit in archived if visit.visit not in found]:
                found |= _extracted(missing, pool, cache)
            for visit in batch:
                yield visit, found.get(visit.visit)


def _extracted(
    visits: list[VisitRecord],
    pool: WorkerPool[ArchiveLocation, PackedText | ExtractionFault],
    cache: ExtractionCache,
) -> dict[int, Extracted | ExtractionFault]:
    """What workers find in pages, by the numbers of their visits."""
    results = pool.in_order([visit.location for visit in visits if visit.location is not None])
    pairs = [
        (visit, PackedText(None) if result is ExtractionFault.TIMEOUT else result)
        for visit, result in zip(visits, results, strict=True)
    ]
    cache.add((visit, text) for visit, text in pairs if isinstance(text, PackedText))
    return {visit.visit: each.unpacked() if isinstance(each, PackedText) else each for visit, each in pairs}
