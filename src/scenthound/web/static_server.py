"""A small static web server on loopback, for tests, the demo and the benchmarks.

- It listens on loopback addresses only, so it is not reachable from other machines.
- Many hosts share one port: the Host header selects the host, whatever the address.
- It supports HTTP/1.1 with GET, HEAD and keep-alive, and conditional requests for pages that have an ETag or
  Last-Modified header. Requests with a body and invalid requests are rejected.
- A request is counted, and logged if there is a log, before its response is sent. The log consists of complete lines
  `seconds URL`, which other processes can read at any time.
"""

import asyncio
import ipaddress
import os
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from scenthound.errors import Failure, InvalidParameter, printable
from scenthound.web.conditions import http_date_s

_HTML = "text/html; charset=utf-8"
_CONTENT_TYPES = {".txt": "text/plain; charset=utf-8", ".xml": "application/xml", ".gz": "application/gzip"}
_HTTP_PORT = 80


@dataclass(frozen=True, slots=True)
class StaticPage:
    """A response of any status; `headers` are additional ones."""

    body: bytes
    status: int = 200
    content_type: str = _HTML
    headers: tuple[tuple[str, str], ...] = ()


#: The page of a host (lower case, without port) at a path (with query); None for a 404.
PageOf = Callable[[str, str], StaticPage | None]


def pages_of(pages: Mapping[str, StaticPage | str | bytes]) -> PageOf:
    """Pages by URL. The URLs have no port, because it is known only when the server runs."""
    by_location = {_host_and_path(url): _as_page(url, page) for url, page in pages.items()}
    return lambda host, path: by_location.get((host, path))


def at_port(url: str, port: int) -> str:
    """Add a port to an http URL; in canonical form, which omits port 80."""
    host, slash, path = url.removeprefix("http://").partition("/")
    return url if port == _HTTP_PORT else f"http://{host}:{port}{slash}{path}"


def _host_and_path(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None or parts.port is not None or not parts.path:
        raise InvalidParameter(f"Cannot serve {printable(url)!r}: URLs must be http://host/path, without a port.")
    return parts.hostname, url[len("http://") + len(parts.netloc) :]


def _as_page(url: str, page: StaticPage | str | bytes) -> StaticPage:
    if isinstance(page, StaticPage):
        return page
    body = page.encode() if isinstance(page, str) else page
    return StaticPage(body, content_type=content_type(url))


def content_type(name: str) -> str:
    return _CONTENT_TYPES.get(PurePosixPath(name).suffix, _HTML)


LOOPBACK = "127.0.0.1"
MAX_HEAD_BYTES = 65_536
#: Pending connections per address.
BACKLOG = 512
#: Attempts to find a port that is free on all addresses.
_PORT_ATTEMPTS = 20
_REQUEST = re.compile(r"([A-Z]+) (/[!-~]*) HTTP/1\.([01])")
_HOST = re.compile(r"[!-~]+")
_PHRASES = {int(status): status.phrase for status in HTTPStatus}
_NOT_FOUND = StaticPage(b"<h1>Not found</h1>\n", HTTPStatus.NOT_FOUND)


class StaticServer:
    """A context manager that serves in a thread. `requests` counts requests by URL, including the port, and
    `body_bytes` the bytes of bodies sent.

    Without a `port`, one that is free on all addresses is chosen.
    """

    def __init__(
        self,
        page_of: PageOf,
        addresses: Sequence[str] = (LOOPBACK,),
        port: int = 0,
        log: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.requests: Counter[str] = Counter()
        self.body_bytes: Counter[str] = Counter()
        self.port = port
        self._page_of = page_of
        self._addresses = [_loopback(address) for address in addresses]
        self._log = log
        self._log_file: int | None = None
        self._clock = clock
        self._connections: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> "StaticServer":
        sockets = _listening(self._addresses, self.port)
        self.port = sockets[0].getsockname()[1]
        if self._log is not None:
            self._log_file = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(sockets, ready)), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._log_file is not None:
            os.close(self._log_file)

    def url(self, url: str) -> str:
        """The URL, with port, of a page given without port."""
        return at_port(url, self.port)

    async def _serve(self, sockets: list[socket.socket], ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        servers = [
            await asyncio.start_server(self._converse, sock=each, backlog=BACKLOG, limit=MAX_HEAD_BYTES)
            for each in sockets
        ]
        ready.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        for writer in self._connections:
            writer.transport.abort()
        # Sockets are closed in the next iteration of the loop.
        await asyncio.sleep(0)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self._connections.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            keep = True
            while keep:
                try:
                    head = await reader.readuntil(b"\r\n\r\n")
                    response, keep = self._reply(head.decode("latin-1").removesuffix("\r\n\r\n"))
                except asyncio.LimitOverrunError:
                    response, keep = _rejection(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
                writer.write(response)
        writer.close()
        self._connections.discard(writer)

    def _reply(self, head: str) -> tuple[bytes, bool]:
        """The response to a request, and whether the connection stays open."""
        request_line, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        request, host = _REQUEST.fullmatch(request_line), _HOST.fullmatch(headers.get("host", ""))
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if request is None or host is None or has_body:
            return _rejection(HTTPStatus.BAD_REQUEST)
        method, path, minor_version = request.groups()
        if method not in ("GET", "HEAD"):
            return _rejection(HTTPStatus.METHOD_NOT_ALLOWED)
        keep = minor_version == "1" and headers.get("connection", "").lower() != "close"
        page = self._respond(host[0].lower(), path, headers)
        return _head_of(page, keep=keep) + (page.body if method == "GET" else b""), keep

    def _respond(self, authority: str, path: str, headers: Mapping[str, str]) -> StaticPage:
        url = f"http://{authority}{path}"
        self.requests[url] += 1
        if self._log_file is not None:
            # One write per line, so that no reader sees a part of it.
            os.write(self._log_file, f"{self._clock():.6f} {url}\n".encode("latin-1"))
        page = self._page_of(authority.partition(":")[0], path) or _NOT_FOUND
        if page.status == HTTPStatus.OK and _is_not_modified(page, headers):
            page = replace(page, body=b"", status=HTTPStatus.NOT_MODIFIED)
        self.body_bytes[url] += len(page.body)
        return page


def _is_not_modified(page: StaticPage, headers: Mapping[str, str]) -> bool:
    """Whether the condition of a request is that the page is another one (RFC 9110, 13.2.2)."""
    own = {name.lower(): value for name, value in page.headers}
    if "if-none-match" in headers:
        tags = {tag.strip().removeprefix("W/") for tag in headers["if-none-match"].split(",")}
        return "etag" in own and own["etag"].removeprefix("W/") in tags
    modified_s, since_s = http_date_s(own.get("last-modified", "")), http_date_s(headers.get("if-modified-since", ""))
    return modified_s is not None and since_s is not None and modified_s <= since_s


def _rejection(status: HTTPStatus) -> tuple[bytes, bool]:
    return _head_of(StaticPage(b"", status), keep=False), False


def _head_of(page: StaticPage, *, keep: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {page.status:d} {_PHRASES.get(page.status, 'Unknown')}",
        f"Content-Type: {page.content_type}",
        *([] if page.status == HTTPStatus.NOT_MODIFIED else [f"Content-Length: {len(page.body)}"]),
        *(f"{name}: {value}" for name, value in page.headers),
        *([] if keep else ["Connection: close"]),
    ]
    return "\r\n".join((*lines, "", "")).encode("latin-1")


def _loopback(address: str) -> str:
    with suppress(ValueError):
        if ipaddress.IPv4Address(address).is_loopback:
            return address
    raise InvalidParameter(f"Cannot listen on {printable(address)!r}: it is not an address of 127.0.0.0/8.")


def _listening(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """A socket for each address, all on one port."""
    for attempts_left in reversed(range(1 if port else _PORT_ATTEMPTS)):
        try:
            return _bound(addresses, port)
        except OSError as error:
            if not attempts_left:
                where = f"Cannot listen on {addresses[0]} and {len(addresses) - 1} more addresses, port {port or 'any'}"
                raise Failure(f"{where}: {error.strerror}. Free the port or choose another one.") from None
    raise AssertionError("the last attempt returns or raises")


def _bound(addresses: Sequence[str], port: int) -> list[socket.socket]:
    with ExitStack() as closing:
        sockets = []
        for address in addresses:
            sockets.append(closing.enter_context(socket.socket()))
            sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sockets[-1].bind((address, port))
            port = sockets[-1].getsockname()[1]
        closing.pop_all()
    return sockets
