"""The checks of a refresh, between its engine, its reader and the crawl folder.

The engine is that of a crawl: the pages to check are its seeds, in the order in which they are to be checked, and none
has links. So robots.txt, crawl delays, redirects, retries and limits are the same. What a check found decides what the
engine receives: a page that is unchanged, changed or gone counts as visited, others as failed.

Rules
- A page is requested at the URL of its visit, also if it was found elsewhere since: a redirect may be undone.
- Requests are conditional (`web.conditions`) at the URL of the latest version, to which a page may be redirected.
- A response that says "not modified", or has the same body, is archived as a revisit, without the body.
- A page that was rendered is unchanged if its response is: what its scripts fetch may have changed. If the response
  has changed, the page is rendered again.
- A page that redirects to another page of the crawl is gone: that page is checked itself.
- A check is complete when it is committed: its archive record and its row are on disk.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from os import SEEK_END
from typing import IO, Any

import numpy as np

from scenthound.crawler.check_order import KnownPage
from scenthound.crawler.engine import Engine
from scenthound.crawler.live_crawl import CompletedTask, RawResult, RunnableCrawl, archive
from scenthound.crawler.reader import GONE, PAGES, PageFilter, Reader
from scenthound.crawler.tasks import (
    Failed,
    Fetched,
    Kind,
    Redirected,
    RobotsFetched,
    Task,
    TaskResult,
)
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import (
    ArchiveLocation,
    CheckOutcome,
    CheckRecord,
    PageFacts,
    RobotsRecord,
    SkippedRecord,
)
from scenthound.store.crawl_store import Commit, CrawlStore
from scenthound.store.warc_format import NOT_MODIFIED, digest_of
from scenthound.web.conditions import conditions
from scenthound.web.fetch import Fetcher, NotFetched, Request, Response, header_values
from scenthound.web.robots import header_directives

#: Reasons for which no page is requested.
SKIPPED = frozenset(
    {SkipReason.ROBOTS, SkipReason.ROBOTS_UNREACHABLE, SkipReason.HOST_DISABLED, SkipReason.OUT_OF_SCOPE}
)
_FACTS = [each.name for each in fields(PageFacts) if each.name != "status"]
_NO_LINKS = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """How many pages were found in each state, and the bytes of the bodies that were sent."""

    outcomes: Counter[CheckOutcome]
    body_bytes: int = 0

    def with_check(self, check: CheckRecord) -> "CheckCounts":
        outcomes = self.outcomes.copy()
        outcomes[check.outcome] += 1
        return CheckCounts(outcomes, self.body_bytes + check.body_bytes)

    @property
    def n_checked(self) -> int:
        return self.outcomes.total()


class RefreshReader(Reader):
    """Reads pages that are checked again. No model learns from them, so they have the scores that the crawl would
    give."""

    def is_start(self, page: int) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class ConditionalFetcher:
    """Makes the requests for pages conditional; `conditions_of` has the header lines for a URL."""

    fetcher: Fetcher
    conditions_of: Callable[[str], tuple[str, ...]]

    def start(self, request: Request, on_done: Callable[[Response | NotFetched], None]) -> None:
        # Other requests are for robots.txt.
        headers = self.conditions_of(request.url) if request.html_only else ()
        self.fetcher.start(replace(request, headers=headers), on_done)

    def close(self) -> None:
        self.fetcher.close()


class RobotsFiles:
    """The robots.txt files of a refresh, in a temporary file: the crawl folder has only those of the crawl, and rules
    that were not used recently are read back (`robots_cache`)."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._files: list[tuple[str, float, int, int, int]] = []

    def add(self, url: str, now_s: float, fetched: RobotsFetched) -> None:
        offset = self._file.seek(0, SEEK_END)
        self._file.write(fetched.body)
        self._files.append((url, now_s, fetched.status, offset, len(fetched.body)))

    def load(self, number: int) -> RobotsRecord:
        url, time_s, status, offset, length = self._files[number]
        self._file.seek(offset)
        return RobotsRecord(url, time_s, status, self._file.read(length))


class PageChecks(RunnableCrawl):
    """The checks of one run. The numbers of `pages` are those of the engine."""

    def __init__(
        self,
        engine: Engine,
        reader: RefreshReader,
        page_filter: PageFilter,
        store: CrawlStore,
        *,
        pages: Sequence[KnownPage],
        known: Sequence[KnownPage],
        refresh: int,
        robots: RobotsFiles,
    ) -> None:
        """`known` are all pages of the crawl."""
        super().__init__(engine, reader, page_filter, store)
        #: Of the checks on disk, of earlier runs, too.
        self.acknowledged = CheckCounts(Counter(store.check_counts(refresh)), store.check_body_bytes(refresh))
        self._counts = self.acknowledged
        self._pages = pages
        self._robots = robots
        self._refresh = refresh
        #: The visits of pages, by the URLs of these and those at which pages were found last.
        self._visit_at = {each.found_url: each.visit for each in known} | {each.url: each.visit for each in known}
        found_there = {page.url: page for page in pages if page.url == page.found_url}
        self._page_found_at = {page.found_url: page for page in pages} | found_there
        self._agent = engine.settings.agent

    def conditions_of(self, url: str) -> tuple[str, ...]:
        """None for a URL at which no page was found last."""
        page = self._page_found_at.get(url)
        if page is None:
            return ()
        record = self._store.archive.record
        heads = [record(location).head for location in dict.fromkeys((page.last, page.location))]
        return conditions(heads, page.seen_s)

    def complete(
        self, clock: Callable[[], float], task: Task, raw: RawResult | None, on_completed: Callable[[], None]
    ) -> None:
        if isinstance(raw, Response) and task.kind is Kind.PAGE and self._is_unchanged(clock(), task, raw):
            on_completed()
        else:
            super().complete(clock, task, raw, on_completed)

    def _is_unchanged(self, now_s: float, task: Task, response: Response) -> bool:
        """Complete a task whose page is unchanged; False if it may have changed."""
        page = self._pages[task.page]
        if task.url != page.found_url or response.status not in (NOT_MODIFIED, *PAGES):
            return False
        original = self._store.archive.record(page.location)
        if response.status == NOT_MODIFIED or digest_of(response.body) == original.payload_digest:
            is_revisit = True
        elif response.content == original.content:
            # The server compresses it in another way each time: the body is another one.
            is_revisit = False
        else:
            return False
        if response.status != NOT_MODIFIED and self._noindex(response.head) != self._noindex(original.head):
            return False
        location = self._store.archive_response(response, now_s, original if is_revisit else None)
        self._settle(task, response, self._check(now_s, task, CheckOutcome.UNCHANGED, response, location))
        return True

    def _noindex(self, head: bytes) -> bool:
        return header_directives(header_values(head, "x-robots-tag"), self._agent)[0]

    def _complete(self, completed: CompletedTask) -> None:
        now_s, task, result, response = completed.time_s, completed.task, completed.result, completed.response
        if isinstance(result, Failed):
            self.note_failure(task, result)
        if response is not None:
            rendering = completed.rendering if isinstance(result, Fetched) else None
            visit = self._pages[task.page].visit if task.kind is Kind.PAGE else -1
            location = archive(self._store, response, now_s, rendering, visit)
            if task.kind is Kind.PAGE:
                found = self._check(now_s, task, CheckOutcome.GONE, response, location)
                if (check := self._check_of(found, result, completed.facts)) is not None:
                    self._settle(task, response, check)
                    return
        self.host_statistics.note_response(task.url)
        if isinstance(result, RobotsFetched):
            self._robots.add(task.url, now_s, result)
        self.engine.complete(now_s, task.number, result)
        self._after_event()

    def _check_of(self, check: CheckRecord, result: TaskResult, facts: PageFacts | None) -> CheckRecord | None:
        """The check of a page that is gone, or has changed; None for redirects and failures."""
        match result:
            case Fetched() if facts is not None:
                values = {name: getattr(facts, name) for name in _FACTS}
                changed = CheckOutcome.CHANGED
                return replace(check, outcome=changed, url=result.url, relevance=result.relevance, **values)
            case Failed() if check.status in GONE or result.reason is SkipReason.SOFT_404:
                return replace(check, reason=result.reason, detail=result.detail)
            case Redirected() if self._visit_at.get(result.url, check.visit) != check.visit:
                return replace(check, reason=SkipReason.REPEATED, detail=f"redirect to {result.url}")
        return None

    def _check(
        self, now_s: float, task: Task, outcome: CheckOutcome, response: Response, location: ArchiveLocation | None
    ) -> CheckRecord:
        return CheckRecord(
            visit=self._pages[task.page].visit,
            refresh=self._refresh,
            time_s=now_s,
            outcome=outcome,
            url=task.url,
            status=response.status,
            location=location,
            body_bytes=len(response.body),
        )

    def _settle(self, task: Task, response: Response, check: CheckRecord) -> None:
        """A page was found, or is gone: the engine counts it as visited, and nothing links from it."""
        page = self._pages[task.page]
        self.host_statistics.note_response(task.url)
        fetched = Fetched(check.url, page.relevance, _NO_LINKS, elapsed_s=response.elapsed_s)
        if self.engine.complete(check.time_s, task.number, fetched) is not None:
            self.host_statistics.note_page(check.url)
            self._add(check)
            if check.outcome is CheckOutcome.CHANGED:
                self._visit_at.setdefault(check.url, page.visit)
        self._after_event()

    def _store_skipped(self, skipped: SkippedRecord) -> None:
        outcome = CheckOutcome.SKIPPED if skipped.reason in SKIPPED else CheckOutcome.FAILED
        check = CheckRecord(
            visit=self._pages[skipped.page].visit,
            refresh=self._refresh,
            time_s=skipped.time_s,
            # Two pages redirect to one.
            outcome=CheckOutcome.GONE if skipped.reason is SkipReason.REPEATED else outcome,
            url=skipped.url,
            status=skipped.status,
            reason=skipped.reason,
            detail=skipped.detail,
        )
        self._add(check)

    def _add(self, check: CheckRecord) -> None:
        self._store.add(check)
        self._counts = self._counts.with_check(check)
        if check.reason is not None:
            self.reasons[check.reason] += 1

    def begin_commit(self) -> None:
        self._commits.append((self._store.take(), self.engine.n_visits, self._counts))

    def _on_written(self, _commit: Commit, known: Any) -> None:
        self.acknowledged = known
