"""The fetcher: libcurl's multi interface on an asyncio loop, with many concurrent transfers.

Rules
- libcurl is never called from one of its own callbacks, and `on_done` never from one of them or from `start`.
- Host names are pinned to the addresses of the request (CURLOPT_RESOLVE), so that connections go to the addresses that
  were checked; libcurl resolves nothing. Each socket is checked again by its real address (`curl_handle`).
- An idle connection was checked when this fetcher opened it, with the same settings.
"""

import asyncio
import select
from asyncio import AbstractEventLoop, Handle, TimerHandle
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import certifi
import pycurl

from scenthound.errors import InvalidParameter, printable
from scenthound.reasons import SkipReason
from scenthound.web.access import Access, is_sendable
from scenthound.web.addresses import is_address, normalize_address
from scenthound.web.curl_handle import CurlHandle, CurlSettings, HostPins, OnDone, pinned
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.open_files import RESERVED_FILES, file_limit, max_idle_connections
from scenthound.web.proxies import Proxy, may_request

#: Called with the sockets that are ready and their events (CSELECT_IN, CSELECT_OUT, or both).
OnReady = Callable[[list[tuple[int, int]]], None]

_MAX_EVENTS = 1_024
_NOTHING = (pycurl.POLL_REMOVE, pycurl.POLL_NONE)
#: libcurl's events as epoll events (EPOLLIN is 1, EPOLLOUT 4).
_EPOLL = {pycurl.POLL_IN: 1, pycurl.POLL_OUT: 4, pycurl.POLL_INOUT: 5}


class EpollWatch:
    """One epoll set for all sockets of libcurl, watched by the loop. `on_ready` is called from the loop.

    A socket is added or removed by one system call instead of the loop's bookkeeping, and one iteration of the loop
    handles all ready sockets."""

    def __init__(self, loop: AbstractEventLoop, on_ready: OnReady) -> None:
        self._loop = loop
        self._on_ready = on_ready
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        loop.add_reader(self._epoll.fileno(), self._poll)

    def on_socket(self, action: int, fd: int, _multi: object, _data: object) -> None:
        """The socket callback of libcurl: POLL_IN, POLL_OUT, POLL_INOUT or POLL_REMOVE."""
        if action in _NOTHING:
            if fd in self._watched:
                self._watched.remove(fd)
                self._epoll.unregister(fd)
        elif fd in self._watched:
            self._epoll.modify(fd, _EPOLL[action])
        else:
            self._watched.add(fd)
            self._epoll.register(fd, _EPOLL[action])

    def close(self) -> None:
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def _poll(self) -> None:
        self._on_ready([(fd, _cselect(event)) for fd, event in self._epoll.poll(0, _MAX_EVENTS)])


def _cselect(event: int) -> int:
    """The libcurl event of an epoll event; libcurl detects errors and hang-ups by reading and writing."""
    readable = event & ~select.EPOLLOUT != 0
    writable = event & (select.EPOLLOUT | select.EPOLLERR | select.EPOLLHUP) != 0
    return (pycurl.CSELECT_IN if readable else 0) | (pycurl.CSELECT_OUT if writable else 0)


class CurlTimer:
    """libcurl's timer: calls `on_due` from the loop, never from `set_ms`.

    libcurl sets it with every transfer that starts or ends, mostly to a later time. Early calls do no harm, so a
    scheduled call is kept unless an earlier one is needed."""

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


class HeaderDeadlines:
    """Calls `on_late` for handles whose headers are not complete in time, which libcurl cannot limit.

    All requests have the same time, so deadlines are in the order of starts, and one timer for the oldest is enough."""

    def __init__(self, loop: AbstractEventLoop, headers_s: float, on_late: Callable[[CurlHandle], None]) -> None:
        self._loop = loop
        self._headers_s = headers_s
        self._on_late = on_late
        self._waiting: deque[tuple[float, CurlHandle, int]] = deque()
        self._call: TimerHandle | None = None

    def add(self, handle: CurlHandle, request_number: int) -> None:
        """Add a request that has started on a handle."""
        deadline_s = self._loop.time() + self._headers_s
        self._waiting.append((deadline_s, handle, request_number))
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
            deadline_s, handle, request_number = waiting[0]
            is_waiting = handle.is_waiting_for_headers(request_number)
            if is_waiting and deadline_s > self._loop.time():
                break
            waiting.popleft()
            if is_waiting:
                self._on_late(handle)
        if waiting and self._call is None:
            self._call = self._loop.call_at(waiting[0][0], self._check)


_OK = 0


class CurlFetcher:
    """Fetches on one running loop, `connections` requests at a time.

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
        access: Access | None = None,
        connections: int = 16,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        for text in (user_agent, from_address or ""):
            if not is_sendable(text):
                raise InvalidParameter(
                    f"Invalid header value {printable(text)!r}: use printable ASCII characters only."
                )
        allowed = frozenset(map(normalize_address, also_allowed))
        ca_file = certifi.where() if ca_file is None else ca_file
        max_files = file_limit() - RESERVED_FILES
        self._settings = CurlSettings(limits, user_agent, from_address, allow_private, allowed, ca_file, max_files)
        self._access = access or Access()
        self._loop = loop or asyncio.get_running_loop()
        self._idle: list[CurlHandle] = []
        self._in_flight: dict[Any, CurlHandle] = {}
        self._finished: deque[tuple[OnDone, Response | NotFetched]] = deque()
        self._pins = HostPins()
        self._sockets = EpollWatch(self._loop, self._on_ready)
        self._timer = CurlTimer(self._loop, self._on_timer)
        self._deadlines = HeaderDeadlines(self._loop, limits.headers_s, self._on_headers_late)
        self._multi = self._new_multi(connections + max_idle_connections(connections))
        self._is_short_of_files = False

    def _new_multi(self, max_connections: int) -> Any:
        """Connections beyond `max_connections` are closed when they become idle."""
        multi = pycurl.CurlMulti()
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.on_socket)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._timer.set_ms)
        multi.setopt(pycurl.M_MAXCONNECTS, max_connections)
        return multi

    def start(self, request: Request, on_done: OnDone) -> None:
        """Start a fetch; `on_done` is called once, later, from the loop."""
        if self._is_short_of_files and not self._in_flight:
            # Idle connections may be all that the process has open, and libcurl closes none unless transfers end.
            self._multi.close()
            self._multi = self._new_multi(1)
            self._is_short_of_files = False
        proxy = self._access.proxies.for_url(request.url)
        refused = self._refused(request, proxy)
        if refused is not None:
            self._loop.call_soon(on_done, refused)
            return
        addresses = request.addresses
        if proxy is not None:
            addresses = tuple(filter(is_address, addresses))
            proxy = proxy if addresses else proxy.for_name()
        handle = self._idle.pop() if self._idle else CurlHandle(self._settings)
        headers = (*self._access.headers.for_url(request.url), *request.headers)
        self._deadlines.add(handle, handle.begin(request, on_done, proxy, headers))
        pins = self._pins.pin(handle.authority, addresses)
        if proxy is not None:
            pins.append(pinned(proxy.authority, proxy.addresses))
        handle.curl.setopt(pycurl.RESOLVE, pins)
        self._in_flight[handle.curl] = handle
        self._multi.add_handle(handle.curl)

    def _refused(self, request: Request, proxy: Proxy | None) -> NotFetched | None:
        """Why a request is not sent: a proxy may not be asked for its addresses, or there is no proxy to ask for a host
        without any (`proxies`)."""
        listed = printable(", ".join(request.addresses))
        if proxy is None:
            is_name = bool(request.addresses) and not any(map(is_address, request.addresses))
            return NotFetched(SkipReason.DNS_NOT_FOUND, listed, 0.0) if is_name else None
        if self._settings.allow_private or may_request(request.addresses, self._settings.also_allowed):
            return None
        return NotFetched(SkipReason.ADDRESS_FORBIDDEN, f"requests for {listed} are not allowed", 0.0)

    def close(self) -> None:
        """Abort all transfers; their callbacks are not called."""
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
        self._end(handle, pycurl.E_OPERATION_TIMEDOUT, "timeout while receiving headers")
        self._deliver()

    def _collect(self) -> None:
        """Collect all finished transfers before any callback: ten such steps in a row take half the time of ten with a
        page parsed after each, which evicts their code from the caches."""
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
        result = handle.succeeded() if code == _OK else handle.failed(code, message)
        self._finished.append((self._release(handle), result))
        if isinstance(result, NotFetched) and result.reason is SkipReason.TOO_MANY_FILES:
            # From now on every transfer that ends closes a connection.
            self._multi.setopt(pycurl.M_MAXCONNECTS, 1)
            self._is_short_of_files = True

    def _deliver(self) -> None:
        """Call the callbacks. One that raises must not lose the results of the others."""
        finished = self._finished
        try:
            while finished:
                on_done, result = finished.popleft()
                on_done(result)
        finally:
            if finished:
                self._loop.call_soon(self._deliver)

    def _release(self, handle: CurlHandle) -> OnDone:
        self._multi.remove_handle(handle.curl)
        del self._in_flight[handle.curl]
        self._pins.release(handle.authority)
        self._idle.append(handle)
        return handle.end()
