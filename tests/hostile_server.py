"""A web site on loopback with all hostile cases, for tests of the fetcher and of crawls.

    with hostile_site() as site:
        site.url("slow-headers")      # the URL of a case
        site.request("slow-headers")  # the same as a request to a fetcher
        site.hosts                    # for a resolver: hosts and addresses
        site.start_url                # a page that links to all cases
        site.requests["/page"]        # the number of requests for a path

It runs on its own loop in a thread, and ends with the context.
"""

import asyncio
import socket
import ssl
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import hostile_bodies
import hostile_hosts
import hostile_http
from hostile_cases import HOST, PAGE, REGISTERED, HostileCase, Wire, response_bytes
from hostile_certificates import Certificates, has_openssl, make_certificates
from scenthound.web.fetch import Request
from timing import WAIT_S

#: A separate address, so that it can be allowed while all other private addresses are not.
ADDRESS = "127.0.0.77"
_FAMILIES = (hostile_http, hostile_bodies, hostile_hosts)
CASES: tuple[HostileCase, ...] = tuple(REGISTERED)
SLOW_NAME = "dns-slow.invalid"
BY_NAME = {case.name: case for case in CASES}
#: Listeners that respond to any request, or before there is one.
_SINGLE = ("early", "ssh", "closing")
_TLS = ("tls", "tls-self-signed", "tls-expired", "tls-other-host")

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class HostileSite:
    """URLs, hosts and request counts of the site."""

    def __init__(self, pace_s: float) -> None:
        self.pace_s = pace_s
        self.requests: Counter[str] = Counter()
        self.ports: dict[str, int] = {}
        self.ca_file: Path | None = None
        self.hosts = {case.host: ADDRESS for case in CASES if case.listener != "name"}
        self.ended = threading.Event()

    def lookup(self, host: str) -> list[str]:
        """The name server of the site, for a resolver. It knows no host; a lookup of SLOW_NAME never ends."""
        if host == SLOW_NAME:
            self.ended.wait()
        raise socket.gaierror(socket.EAI_AGAIN if host == "dns-fails.invalid" else socket.EAI_NONAME, "hostile")

    def url(self, name: str) -> str:
        """The URL of a case."""
        case = BY_NAME[name]
        scheme = "https" if case.listener.startswith("tls") else "http"
        return f"{scheme}://{case.host}:{self.ports[case.listener]}{case.path}"

    def page_url(self, name: str) -> str:
        """The page that a crawl requests: that of the case or, if the case is a robots.txt, another one of its host."""
        return self.url(name).replace("/robots.txt", "/page")

    def request(self, name: str) -> Request:
        """A request for a case."""
        return Request(self.url(name), (ADDRESS,), html_only=BY_NAME[name].html_only)

    def offers(self, case: HostileCase) -> bool:
        """Whether the case is available: invalid TLS needs certificates."""
        return case.listener in self.ports

    @property
    def start_url(self) -> str:
        """A page that links to all cases."""
        return f"http://{HOST}:{self.ports['plain']}/"

    def start_page(self) -> bytes:
        links = "".join(
            f'<li><a href="{self.page_url(case.name)}">{case.name}</a>' for case in CASES if self.offers(case)
        )
        return f"<!doctype html><title>Hostile</title><ul>{links}</ul>".encode()


@contextmanager
def hostile_site(pace_s: float = 0.1) -> Iterator[HostileSite]:
    """Serve the site while the context lasts. Slow cases send a byte every `pace_s`."""
    site = HostileSite(pace_s)
    with ExitStack() as stack:
        certificates = _certificates(stack)
        site.ca_file = certificates.authority if certificates is not None else None
        site.ports["name"] = site.ports["closed"] = _bound(stack).getsockname()[1]
        site.ports["full"] = _full_queue(stack)
        server = _Server(site, certificates)
        server.start()
        stack.callback(server.stop)
        stack.callback(site.ended.set)
        yield site


class _Server:
    """The listeners, on a loop in a thread."""

    def __init__(self, site: HostileSite, certificates: Certificates | None) -> None:
        self._site = site
        self._certificates = certificates
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="hostile-site", daemon=True)
        self._ready = threading.Event()
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def start(self) -> None:
        self._thread.start()
        if not self._ready.wait(WAIT_S):
            raise RuntimeError(f"the hostile site did not start within {WAIT_S:g} s")

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(WAIT_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._over = asyncio.Event()
        servers = [await self._listen(name, serve, context) for name, serve, context in self._listeners()]
        self._ready.set()
        await self._over.wait()
        for server in servers:
            server.close()
        for task, writer in list(self._connections.items()):
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        # Aborted transports close their sockets in the next iteration of the loop.
        await asyncio.sleep(0.01)

    def _listeners(self) -> list[tuple[str, Serve, ssl.SSLContext | None]]:
        listeners: list[tuple[str, Serve, ssl.SSLContext | None]] = [("plain", self._by_path("plain"), None)]
        listeners += [(name, self._at_once(name), None) for name in _SINGLE]
        listeners += [("tls-plain", _speak_plain, None), ("tls-silent", _say_nothing, None)]
        if self._certificates is not None:
            listeners += [(name, self._by_path(name), context) for name, context in _contexts(self._certificates)]
        return listeners

    async def _listen(self, name: str, serve: Serve, context: ssl.SSLContext | None) -> asyncio.Server:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._connections[task] = writer
            with suppress(asyncio.CancelledError, ConnectionError, EOFError, asyncio.LimitOverrunError, ssl.SSLError):
                await serve(reader, writer)
            writer.close()
            del self._connections[task]

        server = await asyncio.start_server(connected, ADDRESS, 0, ssl=context)
        self._site.ports[name] = server.sockets[0].getsockname()[1]
        return server

    def _at_once(self, listener: str) -> Serve:
        """Respond without waiting for a request."""
        case = next(case for case in CASES if case.listener == listener)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._site.requests[case.path] += 1
            await case.respond(Wire(reader, writer, case.host, case.path, self._site.pace_s))

        return serve

    def _by_path(self, listener: str) -> Serve:
        """Read a request and respond as the case at its URL does."""
        respond_at = {(case.host, case.path): case.respond for case in CASES if case.listener == listener}

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1]
            host = (
                next(line for line in head.split("\r\n") if line.lower().startswith("host:"))[5:].strip().split(":")[0]
            )
            bare = path.partition("?")[0]
            self._site.requests[bare] += 1
            respond = respond_at.get((host, bare))
            wire = Wire(reader, writer, host, path, self._site.pace_s)
            await (respond(wire) if respond is not None else self._other(wire, bare))

        return serve

    async def _other(self, wire: Wire, path: str) -> None:
        if path == "/":
            await wire.respond(self._site.start_page())
        elif path == "/page":
            await wire.respond()
        elif path == "/robots.txt":
            await wire.respond(b"", "404 Not Found")
        else:
            await wire.respond(PAGE, "404 Not Found")


async def _speak_plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(100)
    writer.write(response_bytes())


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(4_096):
        pass


def _contexts(certificates: Certificates) -> Iterator[tuple[str, ssl.SSLContext]]:
    files = (certificates.good, certificates.self_signed, certificates.expired, certificates.other_host)
    for name, file in zip(_TLS, files, strict=True):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        yield name, context


def _certificates(stack: ExitStack) -> Certificates | None:
    if not has_openssl():
        return None
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    return make_certificates(folder, HOST)


def _bound(stack: ExitStack) -> socket.socket:
    """A bound socket that does not listen."""
    bound = stack.enter_context(socket.socket())
    bound.bind((ADDRESS, 0))
    return bound


def _full_queue(stack: ExitStack) -> int:
    """A port whose accept queue is full, so that further connections wait."""
    listener = _bound(stack)
    listener.listen(0)
    for _ in range(4):
        waiting = stack.enter_context(socket.socket())
        waiting.setblocking(False)
        with suppress(BlockingIOError):
            waiting.connect(listener.getsockname())
    return int(listener.getsockname()[1])
