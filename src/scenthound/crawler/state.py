"""How a stored crawl stands: is somebody crawling, and if not, how did it end?"""

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

from scenthound.crawler.plan import StopConditions
from scenthound.errors import InvalidInput
from scenthound.reasons import EndReason
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_records import CrawlStatus, RunRecord
from scenthound.store.locks import is_locked
from scenthound.store.stored_crawl import StoredCrawl


class State(StrEnum):
    """Said to people as it stands."""

    RUNNING = "running"
    PAUSED = "paused"
    ENDING = "ending"
    ENDED = "ended"
    STOPPED = "stopped"  #: by a person; it can go on
    DIED = "died"  #: its process is gone, and did not say why
    NOT_BEGUN = "not begun"


#: The states of a crawl that a process is at work on.
ALIVE = frozenset({State.RUNNING, State.PAUSED, State.ENDING})


@dataclass(frozen=True, slots=True)
class CrawlState:
    """`run` is the latest one, `ended` why it ended, `status` how the crawl was doing at its last commit. `page_budget`
    is that of the run at work, or of the next one, and is what the status says, too."""

    state: State
    ended: EndReason | None = None
    run: RunRecord | None = None
    status: CrawlStatus | None = None
    n_pages: int = 0
    page_budget: int | None = None

    @property
    def is_alive(self) -> bool:
        return self.state in ALIVE

    @property
    def can_resume(self) -> bool:
        """Whether to resume it would do something."""
        return not self.is_alive and self.ended is not EndReason.FRONTIER


def crawl_state(crawl: StoredCrawl) -> CrawlState:
    # First of all: a crawl that ends meanwhile is then told of as running, and not as one that died.
    is_alive = is_locked(crawl.folder / ARCHIVE_FOLDER)
    runs, status = crawl.runs(), crawl.status()
    run = runs[-1] if runs else None
    n_pages, page_budget = crawl.n_visits(), _page_budget(crawl)
    if is_alive and status is not None and run is not None and status.run == run.run:
        page_budget = status.page_budget
    if status is not None and page_budget is not None:
        status = replace(status, page_budget=page_budget)
    state, ended = _alive(run, status) if is_alive else _at_rest(run, n_pages, page_budget)
    return CrawlState(state, ended, run, status, n_pages, page_budget)


def _page_budget(crawl: StoredCrawl) -> int | None:
    """Of the next run, if it is told none."""
    planned = crawl.about.settings.get("page_budget")
    with suppress(InvalidInput):
        planned = StopConditions.read(crawl.folder).page_budget or planned
    return planned if isinstance(planned, int) else None


def _alive(run: RunRecord | None, status: CrawlStatus | None) -> tuple[State, None]:
    """Of an earlier run the status says nothing."""
    if run is None or status is None or status.run != run.run:
        return State.RUNNING, None
    if status.ending:
        return State.ENDING, None
    return (State.PAUSED if status.paused else State.RUNNING), None


def _at_rest(run: RunRecord | None, n_pages: int, page_budget: int | None) -> tuple[State, EndReason | None]:
    if run is None:
        # Older versions do not say how a crawl ended; one that has the pages it was to take reached its budget.
        if page_budget is not None and n_pages >= page_budget:
            return State.ENDED, EndReason.BUDGET
        return (State.STOPPED if n_pages else State.NOT_BEGUN), None
    if run.ended is None:
        return State.DIED, None
    try:
        ended: EndReason | None = EndReason(run.ended)
    except ValueError:  # written by a later version
        ended = None
    return (State.STOPPED if ended is EndReason.STOPPED else State.ENDED), ended
