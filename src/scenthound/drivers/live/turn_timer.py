"""When a running crawl has its next turn."""

import asyncio
from collections.abc import Callable

#: A turn in vain of one millisecond is followed by a pause of nine.
PAUSE_PER_TURN = 9.0


class TurnTimer:
    """One turn is due at a time; `do` is called when it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop, do: Callable[[], None]) -> None:
        self._loop = loop
        self._do = do
        self._handle: asyncio.Handle | None = None
        self._due_s = 0.0
        self._not_before_s = 0.0

    def within(self, delay_s: float) -> None:
        """Have a turn no later than this, unless one is due earlier."""
        due_s = max(self._loop.time() + delay_s, self._not_before_s)
        if self._handle is not None:
            if self._due_s <= due_s:
                return
            self._handle.cancel()
        self._due_s = due_s
        self._handle = self._loop.call_at(due_s, self._now)

    def was_in_vain(self, began_s: float) -> None:
        """The turn that began then found less than it had room for: it is followed by a pause."""
        ended_s = self._loop.time()
        self._not_before_s = ended_s + PAUSE_PER_TURN * (ended_s - began_s)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _now(self) -> None:
        self._handle = None
        self._do()
