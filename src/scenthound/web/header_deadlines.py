"""Who must have sent all headers by when: libcurl has no such limit of its own.

All have the same time, so deadlines come in the order in which requests start, and one call of the loop, for the oldest
request that still waits, serves all.
"""

from asyncio import AbstractEventLoop, TimerHandle
from collections import deque
from collections.abc import Callable

from scenthound.web.curl_handle import CurlHandle


class HeaderDeadlines:
    """Calls `on_late` for a handle whose headers have not ended in time."""

    def __init__(self, loop: AbstractEventLoop, headers_s: float, on_late: Callable[[CurlHandle], None]) -> None:
        self._loop = loop
        self._headers_s = headers_s
        self._on_late = on_late
        self._waiting: deque[tuple[float, CurlHandle, int]] = deque()
        self._call: TimerHandle | None = None

    def add(self, handle: CurlHandle, turn: int) -> None:
        """A request has started on a handle."""
        deadline_s = self._loop.time() + self._headers_s
        self._waiting.append((deadline_s, handle, turn))
        if self._call is None:
            self._call = self._loop.call_at(deadline_s, self._check)

    def close(self) -> None:
        self._waiting.clear()
        if self._call is not None:
            self._call.cancel()

    def _check(self) -> None:
        self._call = None
        waiting = self._waiting
        while waiting:
            deadline_s, handle, turn = waiting[0]
            waits = handle.waits_for_headers(turn)
            if waits and deadline_s > self._loop.time():
                break
            waiting.popleft()
            if waits:
                self._on_late(handle)
        if waiting and self._call is None:
            self._call = self._loop.call_at(waiting[0][0], self._check)
