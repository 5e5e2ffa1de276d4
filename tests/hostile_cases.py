"""The cases of the hostile site with their expected results, and a connection from the server's side.

A case has the expected result of a single fetch (`fetched`) and of the page in a crawl (`crawled`): a skip reason, or
PAGE_FETCHED. Cases are in `hostile_http`, `hostile_bodies` and `hostile_hosts`; `hostile_server.CASES` has all of them.
"""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from scenthound.reasons import SkipReason

PAGE = b"<!doctype html><title>A page</title><p>words of a page <a href='/page'>link</a>"
PAGE_FETCHED = "page"
HOST = "hostile.test"


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection. Slow cases send a byte every `pace_s`."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    host: str
    path: str
    pace_s: float

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def trickle(self, data: bytes) -> None:
        for byte in data:
            await self.send(bytes((byte,)))
            await asyncio.sleep(self.pace_s)

    async def flood(self, data: bytes, max_bytes: int = 200_000_000, pause_s: float = 0.0) -> None:
        """Send the same data repeatedly, until the client disconnects."""
        for _ in range(max_bytes // len(data)):
            await self.send(data)
            await asyncio.sleep(pause_s)

    async def hold(self) -> None:
        """Send nothing more, until the client disconnects."""
        while await self.reader.read(4_096):
            pass

    async def reset(self) -> None:
        """End the connection with RST instead of FIN."""
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.close()

    async def respond(self, body: bytes = PAGE, status: str = "200 OK", **headers: str) -> None:
        """Send a valid response; underscores in header names become hyphens."""
        await self.send(response_bytes(body, status, **headers))


def response_bytes(body: bytes = PAGE, status: str = "200 OK", **headers: str) -> bytes:
    lines = {"Content-Type": "text/html", "Content-Length": str(len(body))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body


Handler = Callable[[Wire], Awaitable[None]]
Outcome = SkipReason | str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileCase:
    """A case. `listener` is the name of its socket, `host` the host name in its URL."""

    name: str
    description: str
    fetched: Outcome
    crawled: Outcome
    respond: Handler
    path: str
    host: str = HOST
    listener: str = "plain"
    html_only: bool = True
    #: CPU time limit of a single fetch.
    max_cpu_s: float = 3.0
    #: Maximum number of requests of a fetch.
    max_requests: int = 1


REGISTERED: list[HostileCase] = []


def case(
    name: str,
    description: str,
    fetched: Outcome,
    *,
    crawled: Outcome | None = None,
    path: str | None = None,
    **more: Any,
) -> Callable[[Handler], Handler]:
    """Register the decorated coroutine as a case; `more` are further fields of `HostileCase`."""

    def register(respond: Handler) -> Handler:
        REGISTERED.append(
            HostileCase(
                name=name,
                description=description,
                fetched=fetched,
                crawled=fetched if crawled is None else crawled,
                respond=respond,
                path=f"/{name}" if path is None else path,
                **more,
            )
        )
        return respond

    return register
