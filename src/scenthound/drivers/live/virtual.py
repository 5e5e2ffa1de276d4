"""A live crawl on a clock that is made up: what takes long takes no time.

An order is answered so long after it was given as `answer_of` says, and the clock jumps from one event to the next. So
the same crawl makes the same turns at the same moments each time, also if it is stopped and taken up in between: what
was under way then is answered when it would have been.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from scenthound.drivers.ended import Ended
from scenthound.drivers.live.crawl import LiveCrawl, RawAnswer
from scenthound.drivers.live.orders import Order
from scenthound.drivers.live.replay import TakenUp

#: How long an order takes, and what it is answered with.
AnswerOf = Callable[[Order], tuple[float, RawAnswer | None]]


class VirtualRun:
    """Runs a crawl from where it stands; `after_event` is called after each answer."""

    def __init__(self, crawl: LiveCrawl, answer_of: AnswerOf, page_budget: int, stands: TakenUp | None = None) -> None:
        self._crawl = crawl
        self._answer_of = answer_of
        self._page_budget = page_budget
        stands = stands or TakenUp()
        #: A turn that was had already is not had again: a strategy may throw dice even if it has nothing to ask for.
        self._turn_is_due = not stands.after_turn or crawl.engine.wants_turn
        self._due: list[tuple[float, int, Order, RawAnswer | None]] = []
        self.now_s = stands.now_s

    def run(self, after_event: Callable[[], None] = lambda: None) -> Ended:
        engine = self._crawl.engine
        for order in engine.outstanding():
            self._await(order)
        while engine.n_visits < self._page_budget:
            if self._turn_is_due:
                room = engine.rules.connections - engine.n_in_flight
                for order in self._crawl.turn(self.now_s, room, self._page_budget):
                    self._await(order)
            self._turn_is_due = True
            if engine.wants_turn:
                continue
            if not self._go_on():
                return Ended.FRONTIER
            after_event()
        return Ended.BUDGET

    def _await(self, order: Order) -> None:
        takes_s, answer = self._answer_of(order)
        heappush(self._due, (order.issued_s + takes_s, order.number, order, answer))

    def _go_on(self) -> bool:
        """Let time go by until the next answer is there or a host has rested; False if nothing will happen any more."""
        ready_s = self._crawl.engine.politeness.next_ready_s(self.now_s)
        if self._due and (ready_s is None or self._due[0][0] <= ready_s):
            due_s, _, order, answer = heappop(self._due)
            self.now_s = max(self.now_s, due_s)
            self._crawl.answered(lambda: self.now_s, order, answer, lambda: None)
            return True
        if ready_s is None:
            return False
        self.now_s = ready_s
        return not self._is_over()

    def _is_over(self) -> bool:
        engine = self._crawl.engine
        return engine.is_idle() and len(engine.strategy) == 0
