"""A small web server for loopback: pages by host and path, for tests, the demo and the benchmarks.

Rules
- It listens on loopback addresses and on no other, so that nobody outside the machine can reach it.
- Many hosts share one port: the Host header says which one is meant, whatever the address.
- HTTP/1.1, GET and HEAD, connections kept open. Requests with a body are refused, and so is what is no HTTP.
- A request is counted, and written to the log if there is one, before its answer is sent: whoever has the answer finds
  the request there. The log is whole lines of `seconds URL`, readable by other processes at any time.
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
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from types import TracebackType
from urllib.parse import urlsplit

from scenthound.errors import Failure, InvalidParameter, printable

# Pages for the static server: by URL from a mapping, or by host and path from a folder.
#
# A place that has no page is answered with None; the server makes a 404 of it.

_HTML = "text/html; charset=utf-8"
_CONTENT_TYPES = {".txt": "text/plain; charset=utf-8", ".xml": "application/xml", ".gz": "application/gzip"}
_HTTP_PORT = 80


@dataclass(frozen=True, slots=True)
class StaticPage:
    """An answer of any status; `headers` are those beside type and length."""

    body: bytes
    status: int = 200
    content_type: str = _HTML
    headers: tuple[tuple[str, str], ...] = ()


#: The page of a host (lower case, no port) at a path (with its query), or None if there is none.
PageOf = Callable[[str, str], StaticPage | None]


def pages_of(pages: Mapping[str, StaticPage | str | bytes]) -> PageOf:
    """Pages by URL. The URLs name no port, because it is known only when the server runs."""
    by_place = {_place(url): _as_page(url, page) for url, page in pages.items()}
    return lambda host, path: by_place.get((host, path))


def folder_pages(folder: Path) -> PageOf:
    """The files of a folder, read when they are asked for: `FOLDER/host/path`, and `index.html` where a path ends with
    a slash. Nothing outside the folder can be had."""
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
    """An http URL that names no port, leading to this one; in canonical form, which does not name port 80."""
    host, slash, path = url.removeprefix("http://").partition("/")
    return url if port == _HTTP_PORT else f"http://{host}:{port}{slash}{path}"


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None or parts.port is not None or not parts.path:
        raise InvalidParameter(f"Cannot serve {printable(url)!r}: write it as http://host/path, without a port.")
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
#: Connections that may wait on each address until they are taken.
BACKLOG = 512
#: How often a port is drawn that might be free on all addresses.
_PORTS_TRIED = 20
_REQUEST = re.compile(r"([A-Z]+) (/[!-~]*) HTTP/1\.([01])")
_HOST = re.compile(r"[!-~]+")
_NOT_FOUND = StaticPage(b"<h1>Not found</h1>\n", HTTPStatus.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A line of the log. The URL is the one that was asked for, with the port."""

    time_s: float
    url: str


def read_request_log(file: Path) -> list[LoggedRequest]:
    """All requests so far, in their order."""
    lines = (line.split(" ", 1) for line in file.read_text("latin-1").splitlines())
    return [LoggedRequest(float(time_s), url) for time_s, url in lines]


class StaticServer:
    """Serves in a thread of its own from `with` to its end. `requests` counts them by URL, port included.

    The system chooses a port that is free on all addresses, unless one is told.
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
        self.port = port
        self._page_of = page_of
        self._addresses = [_loopback(address) for address in addresses]
        self._log = log
        self._log_file: int | None = None
        self._clock = clock
        self._conversations: set[_Conversation] = set()

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
        """The URL under which a page, named without a port, is served here."""
        return at_port(url, self.port)

    async def _serve(self, sockets: list[socket.socket], ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        listen = self._loop.create_server
        servers = [await listen(self._conversation, sock=socket, backlog=BACKLOG) for socket in sockets]
        ready.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        for conversation in self._conversations:
            conversation.transport.abort()
        # Sockets are closed in the loop's next turn.
        await asyncio.sleep(0)

    def _conversation(self) -> "_Conversation":
        return _Conversation(self._answer, self._conversations)

    def _answer(self, authority: str, path: str) -> StaticPage:
        url = f"http://{authority}{path}"
        self.requests[url] += 1
        if self._log_file is not None:
            # One write of a whole line at the end of the file, so that no reader sees half of it.
            os.write(self._log_file, f"{self._clock():.6f} {url}\n".encode("latin-1"))
        return self._page_of(authority.partition(":")[0], path) or _NOT_FOUND


class _Conversation(asyncio.Protocol):
    """One connection: requests in, answers out, in their order."""

    transport: asyncio.Transport

    def __init__(self, answer: Callable[[str, str], StaticPage], all_open: "set[_Conversation]") -> None:
        self._answer = answer
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
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
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
            return self._refuse(HTTPStatus.BAD_REQUEST)
        method, path, minor_version = request.groups()
        if method not in ("GET", "HEAD"):
            return self._refuse(HTTPStatus.METHOD_NOT_ALLOWED)
        keep = minor_version == "1" and headers.get("connection", "").lower() != "close"
        return self._send(self._answer(host[0].lower(), path), with_body=method == "GET", keep=keep)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(StaticPage(b"", status), with_body=True, keep=False)

    def _send(self, page: StaticPage, *, with_body: bool, keep: bool) -> None:
        lines = [
            f"HTTP/1.1 {page.status:d} {_phrase(page.status)}",
            f"Content-Type: {page.content_type}",
            f"Content-Length: {len(page.body)}",
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
        raise InvalidParameter(f"Cannot listen on {printable(address)!r}: only on addresses of 127.0.0.0/8.")
    return address


def _listening(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """A socket for each address, all on one port."""
    for tries_left in reversed(range(1 if port else _PORTS_TRIED)):
        try:
            return _bound(addresses, port)
        except OSError as error:
            if not tries_left:
                told = f"Cannot listen on {addresses[0]} and {len(addresses) - 1} more addresses, port {port or 'any'}"
                raise Failure(f"{told}: {error.strerror}. Free the port or choose another one.") from None
    raise AssertionError("the last try returns or raises")


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
