"""libcurl's one timer on an asyncio loop.

libcurl sets it anew with every transfer that begins or ends, mostly to later than before. A call of the loop that comes
too early does no harm, so one that is already on its way is kept unless an earlier one is wanted.
"""

from asyncio import AbstractEventLoop, Handle
from collections.abc import Callable


class CurlTimer:
    """Calls `on_due` from the loop, never from `set_ms`, when the time that libcurl asked for has come."""

    def __init__(self, loop: AbstractEventLoop, on_due: Callable[[], None]) -> None:
        self._loop = loop
        self._on_due = on_due
        self._call: Handle | None = None
        self._call_at_s = 0.0
        self._due_at_s: float | None = None

    def set_ms(self, delay_ms: int) -> None:
        """The timer callback of libcurl: -1 for no timer, 0 for at once."""
        if delay_ms < 0:
            self._due_at_s = None
            return
        self._due_at_s = self._loop.time() + delay_ms / 1000 if delay_ms else 0.0
        self._arm(self._due_at_s)

    def close(self) -> None:
        if self._call is not None:
            self._call.cancel()

    def _arm(self, due_at_s: float) -> None:
        if self._call is not None:
            if self._call_at_s <= due_at_s:
                return
            self._call.cancel()
        self._call_at_s = due_at_s
        self._call = self._loop.call_at(due_at_s, self._fire) if due_at_s else self._loop.call_soon(self._fire)

    def _fire(self) -> None:
        self._call = None
        due_at_s = self._due_at_s
        if due_at_s is None:
            return
        if due_at_s > self._loop.time():
            self._arm(due_at_s)
            return
        self._due_at_s = None
        self._on_due()
