"""How a stored crawl stands: is somebody crawling, and if not, how did it end?"""

from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scenthound.drivers.ended import Ended
from scenthound.errors import BadInput
from scenthound.lab.run_goals import RunGoals
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_rows import RunRow
from scenthound.store.folder_lock import is_taken
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
    """`run` is the latest one, `ended` why it ended, `status` how the crawl was doing at its last commit."""

    state: State
    ended: Ended | None = None
    run: RunRow | None = None
    status: dict[str, Any] | None = None

    @property
    def is_alive(self) -> bool:
        return self.state in ALIVE

    @property
    def can_go_on(self) -> bool:
        """Whether to resume it would do something."""
        return not self.is_alive and self.ended is not Ended.FRONTIER


def crawl_state(crawl: StoredCrawl) -> CrawlState:
    # First of all: a crawl that ends meanwhile is then told of as running, and not as one that died.
    is_alive = is_taken(crawl.folder / ARCHIVE_FOLDER)
    runs, status = crawl.runs(), crawl.status()
    run = runs[-1] if runs else None
    if is_alive:
        return CrawlState(_alive(run, status), None, run, status)
    if run is None:
        return _without_runs(crawl)
    if run.ended is None:
        return CrawlState(State.DIED, None, run, status)
    # A later version may have further words for it.
    ended = Ended(run.ended) if run.ended in set(Ended) else None
    return CrawlState(State.STOPPED if ended is Ended.STOPPED else State.ENDED, ended, run, status)


def _without_runs(crawl: StoredCrawl) -> CrawlState:
    """Older versions do not say how a crawl ended; one that has the pages it was to take reached its budget."""
    n_visits, page_budget = crawl.n_visits(), crawl.about.settings.get("page_budget")
    with suppress(BadInput):
        page_budget = RunGoals.read(crawl.folder).page_budget or page_budget
    if isinstance(page_budget, int) and n_visits >= page_budget:
        return CrawlState(State.ENDED, Ended.BUDGET)
    return CrawlState(State.STOPPED if n_visits else State.NOT_BEGUN)


def _alive(run: RunRow | None, status: dict[str, Any] | None) -> State:
    """Of an earlier run the status says nothing."""
    if run is None or status is None or status.get("run") != run.run:
        return State.RUNNING
    if status.get("ending"):
        return State.ENDING
    return State.PAUSED if status.get("paused") else State.RUNNING
