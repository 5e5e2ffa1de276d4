"""Connections to the dashboard: deadlines and limits. Clients that stall, or are many, do not keep the owner out.

Rules
- A client has `REQUEST_S` for each request, from the start of the connection or from when it has read the previous
  response, to the last byte of the request. Sending a few bytes now and then does not extend it.
- A client that reads nothing of its response for `READ_S` is disconnected. One that reads slowly, perhaps through a
  tunnel, is not.
- A connection counts as one without the token until a request with it has arrived. Connections without the token are
  limited, overall and for each address. Above the limit the oldest one that waits for a request is dropped, or, if none
  does, the oldest. Those with the token have a limit of their own, so that others never take their place.
- A new connection is not dropped before its request can be read: in the three steps of the event loop from accepting a
  connection to reading from it, fewer connections are accepted (`ACCEPTED_AT_ONCE` in each) than the limits allow.
- Each connection is an open file. The limit of these is raised; if it cannot be raised far enough, all limits are
  lowered in the same proportion, and a third of the files is left to everything else.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import h11
from starlette.datastructures import Headers
from uvicorn.protocols.http.h11_impl import H11Protocol

from scenthound.ui.dashboard.security import Token
from scenthound.web.open_files import n_open_files, raise_file_limit

REQUEST_S = 6.0
#: Buffers of the system are emptied in large steps, so that even steady reading looks like stalling.
READ_S = 60.0
#: How often deadlines are checked.
_CHECK_S = 0.5
#: After a response, idle connections are closed politely; some clients use another one then.
IDLE_S = 3
MAX_WITHOUT_TOKEN = 300
MAX_OF_ADDRESS = 200
MAX_WITH_TOKEN = 100
ACCEPTED_AT_ONCE = 50
#: Steps of the event loop from accepting a connection to reading from it, or to closing one that made room for it.
_STEPS = 3
#: Files for each connection, with those that its requests open.
_FILES_PER_CONNECTION = 1.5


@dataclass(frozen=True, slots=True)
class MaxConnections:
    """How many connections may be open, and how many are accepted in one step of the event loop."""

    without_token: int
    of_address: int
    with_token: int
    accepted_at_once: int

    @property
    def in_total(self) -> int:
        return self.without_token + self.with_token

    @classmethod
    def fitting(cls, n_files: float) -> "MaxConnections":
        """Those for which so many files are enough, at most the constants of this module."""
        share = min(1.0, n_files / files_needed())
        limits = MAX_WITHOUT_TOKEN, MAX_OF_ADDRESS, MAX_WITH_TOKEN, ACCEPTED_AT_ONCE
        return cls(*(max(1, int(share * limit)) for limit in limits))


def files_needed() -> int:
    """How many files all connections need."""
    n_connections = MAX_WITHOUT_TOKEN + MAX_WITH_TOKEN + _STEPS * ACCEPTED_AT_ONCE
    return int(_FILES_PER_CONNECTION * n_connections)


def reserve_files() -> tuple[MaxConnections, str]:
    """Raise the limit of open files as far as it is possible and needed. Returns the connections that fit, and a line
    about it if they are fewer than usual."""
    n_open = n_open_files()
    needed = n_open + files_needed()
    limit = raise_file_limit(needed)
    most = MaxConnections.fitting(limit - n_open)
    if limit >= needed:
        return most, ""
    usually = MAX_WITHOUT_TOKEN + MAX_WITH_TOKEN
    return most, (
        f"The dashboard accepts {most.in_total:,} connections at a time instead of {usually:,}, "
        f"because the limit of open files is {int(limit):,}: raise it with `ulimit -n {needed}`."
    )


class ConnectionLimits:
    """The open connections, oldest first, and those that make room for others. Belongs to the event loop."""

    def __init__(self, token: Token, most: MaxConnections) -> None:
        self._token = token
        self._most = most
        self._without_token: dict[Connection, None] = {}
        self._with_token: dict[Connection, None] = {}

    def add(self, connection: "Connection") -> None:
        self._without_token[connection] = None
        of_address = [each for each in self._without_token if each.address == connection.address]
        _make_room(of_address, self._most.of_address, connection)
        _make_room(self._without_token, self._most.without_token, connection)

    def request_arrived(self, connection: "Connection", headers: Headers) -> None:
        if connection in self._without_token and self._token.is_in(headers):
            del self._without_token[connection]
            self._with_token[connection] = None
            _make_room(self._with_token, self._most.with_token, connection)

    def remove(self, connection: "Connection") -> None:
        self._without_token.pop(connection, None)
        self._with_token.pop(connection, None)


def _make_room(connections: "Iterable[Connection]", limit: int, new: "Connection") -> None:
    others = [each for each in connections if each is not new]
    if len(others) >= limit:
        min(others, key=lambda each: not each.is_waiting).drop()


class Connection(H11Protocol):
    """A connection that ends at its deadlines. A subclass sets `limits`, because the server makes the instances."""

    limits: ConnectionLimits
    _timer: asyncio.TimerHandle | None = None
    _latest_request: object = None
    _n_requests = 0
    #: What the client has to do next, and since when.
    _pending: tuple[str, int] | None = None
    _pending_since_s = 0.0

    @property
    def address(self) -> str:
        return "" if self.client is None else self.client[0]

    @property
    def is_waiting(self) -> bool:
        """Whether the rest of a request is to come."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def drop(self) -> None:
        """Disconnect at once, without sending what is left of a response."""
        self.limits.remove(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.limits.add(self)
        self._check()

    def connection_lost(self, exc: Exception | None) -> None:
        self.limits.remove(self)
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # It may have been sent before the response was complete.
        self._note_request()

    def _note_request(self) -> None:
        request: Any = self.scope
        if request is not self._latest_request:
            self._latest_request = request
            self._n_requests += 1
            self.limits.request_arrived(self, Headers(raw=self.headers))

    def _check(self) -> None:
        pending, now_s = self._to_do(), self.loop.time()
        if pending != self._pending:
            self._pending, self._pending_since_s = pending, now_s
        if pending is not None and now_s - self._pending_since_s >= (READ_S if pending[0] == "read" else REQUEST_S):
            self.drop()
        else:
            self._timer = self.loop.call_later(_CHECK_S, self._check)

    def _to_do(self) -> tuple[str, int] | None:
        """What the client has to do, and a number that changes with its progress; None if it has to wait."""
        n_unread = self.transport.get_write_buffer_size()
        if n_unread:
            return "read", n_unread
        return ("request", self._n_requests) if self.is_waiting else None
