"""A crawl taken up where its folder says it stood: the engine is told once more what it was told before.

Rules
- The engine comes out as it was when the last commit was taken. Orders that had no answer by then are outstanding, and
  are to be carried out again.
- URLs and stems keep their numbers, because all of them are known before the first event is told.
- What the engine does is compared with the journal: other questions to the strategy or other orders than then mean that
  strategy, settings or program changed, and such a crawl cannot go on as if nothing had happened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

from scenthound.crawler.engine import Engine
from scenthound.crawler.journal import Event, Resumed, Turn, checksum_of, read_journal
from scenthound.crawler.live_crawl import LiveCrawl, RawResult
from scenthound.crawler.tasks import Failed, Fetched, Kind, RobotsFetched, Task, TaskResult
from scenthound.errors import Failure, printable
from scenthound.model import Progress, silent
from scenthound.reasons import EndReason
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.crawl_store import CrawlStore


@dataclass(frozen=True, slots=True)
class TakenUp:
    """Where the crawl stands: the time of the last event, and whether that was a turn."""

    now_s: float = 0.0
    after_turn: bool = False
    n_events: int = 0


#: Told of each visit and each refusal, for what keeps its own account beside the engine.
OnVisit = Callable[[VisitRecord], None]
OnRefusal = Callable[[Task, Failed], None]


class Replay:
    """Tells an engine that has been started, and nothing else, what the folder's journal holds. The engine writes no
    journal meanwhile."""

    def __init__(self, engine: Engine, store: CrawlStore, on_visit: OnVisit, on_refusal: OnRefusal) -> None:
        self._engine = engine
        self._store = store
        self._on_visit = on_visit
        self._on_refusal = on_refusal
        self._visits = store.visits()
        self._robots = store.robots()

    def run(self, progress: Progress = silent) -> TakenUp:
        n_visits = max(1, self._store.counts().visits)
        taken_up = TakenUp()
        for written in self._store.events():
            for event in read_journal(written):
                taken_up = TakenUp(event.now_s, isinstance(event, Turn), taken_up.n_events + 1)
                self._tell(event)
            progress(self._engine.n_visits / n_visits, f"{self._engine.n_visits:,} pages taken up")
        self._engine.take_skipped()
        return taken_up

    def _tell(self, event: Event) -> None:
        if isinstance(event, Resumed):
            self._engine.resume(event.now_s)
            return
        if isinstance(event, Turn):
            _, asked = self._engine.turn_again(event.now_s, event.room, event.page_budget)
            if asked != event.asked:
                raise self._gone_astray()
            return
        task = self._engine.task(event.task)
        if task is None or checksum_of(task) != event.mark:
            raise self._gone_astray()
        result = event.result or self._answer_in_rows(task, event.elapsed_s)
        self._engine.complete(event.now_s, event.task, result)
        if isinstance(result, Failed):
            self._on_refusal(task, result)

    def _gone_astray(self) -> Failure:
        return Failure(
            f"{printable(self._store.folder)} cannot be resumed: told what it was told before, the crawl now asks for "
            "other pages. Resume it with the Scenthound that made it; what it stored can be exported."
        )

    def _answer_in_rows(self, task: Task, elapsed_s: float) -> TaskResult:
        if task.kind is Kind.ROBOTS:
            robots = next(self._robots)
            return RobotsFetched(robots.status or 0, robots.body, elapsed_s)
        row = next(self._visits)
        self._on_visit(row)
        return Fetched(row.url, row.relevance, row.links, row.predicted, row.anchors, None, elapsed_s)


# A live crawl on a clock that is made up: what takes long takes no time.
#
# An order is answered so long after it was given as `answer_of` says, and the clock jumps from one event to the next.
# So the same crawl makes the same turns at the same moments each time, also if it is stopped and taken up in between:
# what was under way then is answered when it would have been.

#: How long an order takes, and what it is answered with.
AnswerOf = Callable[[Task], tuple[float, RawResult | None]]


class VirtualRun:
    """Runs a crawl from where it stands; `after_event` is called after each answer."""

    def __init__(self, crawl: LiveCrawl, answer_of: AnswerOf, page_budget: int, stands: TakenUp | None = None) -> None:
        self._crawl = crawl
        self._answer_of = answer_of
        self._page_budget = page_budget
        stands = stands or TakenUp()
        #: A turn that was had already is not had again: a strategy may throw dice even if it has nothing to ask for.
        self._turn_is_due = not stands.after_turn or crawl.engine.wants_turn
        self._due: list[tuple[float, int, Task, RawResult | None]] = []
        self.now_s = stands.now_s

    def run(self, after_event: Callable[[], None] = lambda: None) -> EndReason:
        engine = self._crawl.engine
        for task in engine.outstanding():
            self._await(task)
        while engine.n_visits < self._page_budget:
            if self._turn_is_due:
                room = engine.rules.connections - engine.n_in_flight
                for task in self._crawl.turn(self.now_s, room, self._page_budget):
                    self._await(task)
            self._turn_is_due = True
            if engine.wants_turn:
                continue
            if not self._go_on():
                return EndReason.FRONTIER
            after_event()
        return EndReason.BUDGET

    def _await(self, task: Task) -> None:
        takes_s, result = self._answer_of(task)
        heappush(self._due, (task.issued_s + takes_s, task.number, task, result))

    def _go_on(self) -> bool:
        """Let time go by until the next answer is there or a host has rested; False if nothing will happen any more."""
        ready_s = self._crawl.engine.politeness.next_ready_s(self.now_s)
        if self._due and (ready_s is None or self._due[0][0] <= ready_s):
            due_s, _, task, result = heappop(self._due)
            self.now_s = max(self.now_s, due_s)
            self._crawl.complete(lambda: self.now_s, task, result, lambda: None)
            return True
        if ready_s is None:
            return False
        self.now_s = ready_s
        return not self._is_over()

    def _is_over(self) -> bool:
        engine = self._crawl.engine
        return engine.is_idle() and len(engine.strategy) == 0
