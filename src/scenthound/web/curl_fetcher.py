"""Fetching with libcurl's multi interface on an asyncio loop: many transfers at a time, told by callbacks.

Rules
- libcurl is never called from one of its own callbacks, and `on_done` never from one of them or from `start`.
- A host's name is pinned to the addresses that came with the request (CURLOPT_RESOLVE), so that what was checked is
  what is connected to; libcurl looks up nothing. Each socket is checked again by its real address (`curl_handle`).
- A connection that waits to be used again was checked when it was opened, by this same fetcher with these same rules.
"""

import asyncio
import resource
from collections import deque
from collections.abc import Iterable
from typing import Any

import certifi
import pycurl

from scenthound.errors import BadParameter, printable
from scenthound.web.addresses import same_address
from scenthound.web.curl_handle import CurlHandle, CurlSettings, OnDone
from scenthound.web.curl_sockets import watch_sockets
from scenthound.web.curl_timer import CurlTimer
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.header_deadlines import HeaderDeadlines
from scenthound.web.host_pins import HostPins

#: Connections that may wait to be used again, if the system allows a process twice as many files.
KEPT_CONNECTIONS = 4_096

_OK = 0


class CurlFetcher:
    """Made and used on one running loop.

    Without `allow_private` it connects to public addresses only, and to those of `also_allowed`.
    """

    def __init__(
        self,
        limits: FetchLimits,
        *,
        user_agent: str,
        from_address: str | None = None,
        allow_private: bool = False,
        also_allowed: Iterable[str] = (),
        ca_file: str | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        for text in (user_agent, from_address or ""):
            _check_sendable(text)
        allowed = frozenset(map(same_address, also_allowed))
        ca_file = certifi.where() if ca_file is None else ca_file
        self._settings = CurlSettings(limits, user_agent, from_address, allow_private, allowed, ca_file)
        self._loop = loop or asyncio.get_running_loop()
        self._idle: list[CurlHandle] = []
        self._in_flight: dict[Any, CurlHandle] = {}
        self._finished: deque[tuple[OnDone, Response | NotFetched]] = deque()
        self._pins = HostPins()
        self._sockets = watch_sockets(self._loop, self._on_ready)
        self._timer = CurlTimer(self._loop, self._on_timer)
        self._deadlines = HeaderDeadlines(self._loop, limits.headers_s, self._on_headers_late)
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.on_wish)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._timer.set_ms)
        self._multi.setopt(pycurl.M_MAXCONNECTS, _connections_to_keep())

    def start(self, request: Request, on_done: OnDone) -> None:
        """Begin to fetch; `on_done` is called once, later, from the loop."""
        handle = self._idle.pop() if self._idle else CurlHandle(self._settings)
        self._deadlines.add(handle, handle.begin(request, on_done))
        handle.curl.setopt(pycurl.RESOLVE, self._pins.pin(handle.place, request.addresses))
        self._in_flight[handle.curl] = handle
        self._multi.add_handle(handle.curl)

    def close(self) -> None:
        """Forget all transfers in flight: their callbacks are not called."""
        self._finished.clear()
        for curl in self._in_flight:
            self._multi.remove_handle(curl)
        for handle in (*self._in_flight.values(), *self._idle):
            handle.curl.close()
        self._in_flight.clear()
        self._idle.clear()
        self._multi.close()
        self._timer.close()
        self._deadlines.close()
        self._sockets.close()

    def _on_ready(self, ready: list[tuple[int, int]]) -> None:
        for fd, how in ready:
            self._multi.socket_action(fd, how)
        self._collect()

    def _on_timer(self) -> None:
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._collect()

    def _on_headers_late(self, handle: CurlHandle) -> None:
        self._end(handle, pycurl.E_OPERATION_TIMEDOUT, "the headers did not end in time")
        self._deliver()

    def _collect(self) -> None:
        """Take from libcurl what has ended, all of it before anybody is told: ten such steps one after the other take
        half the time of ten with a page to be parsed after each, which leaves none of their code in the caches."""
        more = 1
        while more:
            more, succeeded, failed = self._multi.info_read()
            for curl in succeeded:
                self._end(self._in_flight[curl], _OK, "")
            for curl, code, message in failed:
                self._end(self._in_flight[curl], code, message)
        if self._finished:
            self._deliver()

    def _end(self, handle: CurlHandle, code: int, message: str) -> None:
        handle.in_flight = False
        answer = handle.succeeded() if code == _OK else handle.failed(code, message)
        self._finished.append((self._let_go(handle), answer))

    def _deliver(self) -> None:
        """Tell those who wait. One that raises must not keep the answers of the others from them."""
        finished = self._finished
        try:
            while finished:
                on_done, answer = finished.popleft()
                on_done(answer)
        finally:
            if finished:
                self._loop.call_soon(self._deliver)

    def _let_go(self, handle: CurlHandle) -> OnDone:
        self._multi.remove_handle(handle.curl)
        del self._in_flight[handle.curl]
        self._pins.release(handle.place)
        self._idle.append(handle)
        return handle.end()


def _check_sendable(text: str) -> None:
    """A line break in a header would be another header."""
    if not (text.isascii() and text.isprintable()):
        raise BadParameter(f"{printable(text)!r} cannot be sent as a header: use printable ASCII characters only.")


def _connections_to_keep() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return KEPT_CONNECTIONS if files == resource.RLIM_INFINITY else max(1, min(KEPT_CONNECTIONS, files // 2))
