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

from scenthound.drivers.live.engine import Engine
from scenthound.drivers.live.journal import Event, Resumption, Turn, mark_of, read_journal
from scenthound.drivers.live.orders import Answer, Got, Kind, Order, Refused, RobotsFound
from scenthound.errors import Failure, printable
from scenthound.model import Progress, silent
from scenthound.store.crawl_rows import VisitRow
from scenthound.store.crawl_store import CrawlStore


@dataclass(frozen=True, slots=True)
class TakenUp:
    """Where the crawl stands: the time of the last event, and whether that was a turn."""

    now_s: float = 0.0
    after_turn: bool = False
    n_events: int = 0


#: Told of each visit and each refusal, for what keeps its own account beside the engine.
OnVisit = Callable[[VisitRow], None]
OnRefusal = Callable[[Order, Refused], None]


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
        self._engine.take_dropped()
        return taken_up

    def _tell(self, event: Event) -> None:
        if isinstance(event, Resumption):
            self._engine.resume(event.now_s)
            return
        if isinstance(event, Turn):
            _, asked = self._engine.turn_again(event.now_s, event.room, event.page_budget)
            if asked != event.asked:
                raise self._gone_astray()
            return
        order = self._engine.order(event.order)
        if order is None or mark_of(order) != event.mark:
            raise self._gone_astray()
        answer = event.answer or self._answer_in_rows(order, event.elapsed_s)
        self._engine.answered(event.now_s, event.order, answer)
        if isinstance(answer, Refused):
            self._on_refusal(order, answer)

    def _gone_astray(self) -> Failure:
        return Failure(
            f"{printable(self._store.folder)} cannot be resumed: told what it was told before, the crawl now asks for "
            "other pages. Resume it with the Scenthound that made it; what it stored can be exported."
        )

    def _answer_in_rows(self, order: Order, elapsed_s: float) -> Answer:
        if order.kind is Kind.ROBOTS:
            robots = next(self._robots)
            return RobotsFound(robots.status or 0, robots.body, elapsed_s)
        row = next(self._visits)
        self._on_visit(row)
        return Got(row.url, row.relevance, row.links, row.predicted, row.anchors, None, elapsed_s)
