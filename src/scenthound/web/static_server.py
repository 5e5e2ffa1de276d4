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
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from types import TracebackType
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


def folder_pages(folder: Path) -> PageOf:
    """The files `FOLDER/host/path`, read on request; `index.html` for paths that end with a slash. Files outside the
    folder are not served."""
    root = folder.resolve()

    def page_of(host: str, path: str) -> StaticPage | None:
        path = path.partition("?")[0]
        name = f"{host}{path}index.html" if path.endswith("/") else f"{host}{path}"
        if "\0" in name:
            return None
        file = (root / name.lstrip("/")).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            return None
        return StaticPage(file.read_bytes(), content_type=_content_type(file.name))

    return page_of


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
    return StaticPage(body, content_type=_content_type(url))


def _content_type(name: str) -> str:
    return _CONTENT_TYPES.get(PurePosixPath(name).suffix, _HTML)


LOOPBACK = "127.0.0.1"
MAX_HEAD_BYTES = 65_536
#: Pending connections per address.
BACKLOG = 512
#: Attempts to find a port that is free on all addresses.
_PORT_ATTEMPTS = 20
_REQUEST = re.compile(r"([A-Z]+) (/[!-~]*) HTTP/1\.([01])")
_HOST = re.compile(r"[!-~]+")
_NOT_FOUND = StaticPage(b"<h1>Not found</h1>\n", HTTPStatus.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A line of the log. The URL includes the port."""

    time_s: float
    url: str


def read_request_log(file: Path) -> list[LoggedRequest]:
    """All requests so far, in order."""
    lines = (line.split(" ", 1) for line in file.read_text("latin-1").splitlines())
    return [LoggedRequest(float(time_s), url) for time_s, url in lines]


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
        self._connections: set[_Connection] = set()

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        listen = self._loop.create_server
        servers = [await listen(self._connection, sock=socket, backlog=BACKLOG) for socket in sockets]
        ready.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        for connection in self._connections:
            connection.transport.abort()
        # Sockets are closed in the next iteration of the loop.
        await asyncio.sleep(0)

    def _connection(self) -> "_Connection":
        return _Connection(self._respond, self._connections)

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
    modified_s, since_s = (
        http_date_s(each) for each in (own.get("last-modified", ""), headers.get("if-modified-since", ""))
    )
    return modified_s is not None and since_s is not None and modified_s <= since_s


class _Connection(asyncio.Protocol):
    """One connection."""

    transport: asyncio.Transport

    def __init__(
        self, respond: Callable[[str, str, Mapping[str, str]], StaticPage], all_open: "set[_Connection]"
    ) -> None:
        self._respond = respond
        self._all_open = all_open
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._all_open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all_open.discard(self)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._received and not self.transport.is_closing():
            head, end, rest = self._received.partition(b"\r\n\r\n")
            if len(head) > MAX_HEAD_BYTES:
                self._reject(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            elif not end:
                return
            else:
                self._received = rest
                self._reply(head.decode("latin-1"))

    def _reply(self, head: str) -> None:
        request_line, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        request, host = _REQUEST.fullmatch(request_line), _HOST.fullmatch(headers.get("host", ""))
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if request is None or host is None or has_body:
            return self._reject(HTTPStatus.BAD_REQUEST)
        method, path, minor_version = request.groups()
        if method not in ("GET", "HEAD"):
            return self._reject(HTTPStatus.METHOD_NOT_ALLOWED)
        keep = minor_version == "1" and headers.get("connection", "").lower() != "close"
        return self._send(self._respond(host[0].lower(), path, headers), with_body=method == "GET", keep=keep)

    def _reject(self, status: HTTPStatus) -> None:
        self._send(StaticPage(b"", status), with_body=True, keep=False)

    def _send(self, page: StaticPage, *, with_body: bool, keep: bool) -> None:
        lines = [
            f"HTTP/1.1 {page.status:d} {_phrase(page.status)}",
            f"Content-Type: {page.content_type}",
            *([] if page.status == HTTPStatus.NOT_MODIFIED else [f"Content-Length: {len(page.body)}"]),
            *(f"{name}: {value}" for name, value in page.headers),
            *([] if keep else ["Connection: close"]),
        ]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        self.transport.write(head + page.body if with_body else head)
        if not keep:
            self.transport.close()


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"


def _loopback(address: str) -> str:
    try:
        is_loopback = ipaddress.IPv4Address(address).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise InvalidParameter(f"Cannot listen on {printable(address)!r}: it is not an address of 127.0.0.0/8.")
    return address


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
