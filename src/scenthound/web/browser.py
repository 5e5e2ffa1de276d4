"""The browser that renders pages: where it is, how it is started, and what runs in its process (`serve`).

A child process of the crawl drives Chromium with Playwright (`browser_process` has the other side). It gets a page as
it was fetched, opens it in a tab, and returns the document that its scripts made.

Rules
- The browser has no network. Every request of a page is intercepted and answered by the crawl, or refused; what would
  escape finds no address, no proxy and no UDP.
- The document is the response that the crawl has fetched. Scripts and data are requested from the crawl, by GET only.
  Style sheets are empty, so that pages that wait for them go on. Images, fonts, media, frames, beacons, web sockets,
  service workers, downloads and other windows are refused.
- A page is done when it has loaded and made no request for a moment. It may take this many requests, bytes and seconds.
- One tab is used for page after page; cookies and storage are cleared in between.
- The document is read in a world of its own, where no script of the page can change what is read, up to a size.
- The process ends with its socket, and takes the browser with it.
"""

import asyncio
import os
import shutil
import signal
import socket
import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from scenthound.errors import MissingExtra, UsageError, printable
from scenthound.web.browser_messages import LENGTHS, Header, frame
from scenthound.web.open_files import limit_memory

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Request, Route

VARIABLE = "SCENTHOUND_BROWSER"
#: Names the temporary folder of the process, which it removes at its end.
FOLDER_VARIABLE = "SCENTHOUND_BROWSER_FOLDER"
#: The headless shell needs half the CPU time of the complete browser.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_INSTALL = f"install Chromium (apt-get install chromium), or name a browser in {VARIABLE}"
#: Names are not resolved, the proxy cannot be reached, and UDP needs one.
_NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    # chromium-headless-shell knows the first one, chromium the second.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
#: A page that needs more memory, or more for its scripts, crashes its tab.
MEMORY_BYTES = 2 << 30
_MEMORY = ("--js-flags=--max-old-space-size=512",)
#: What a page sees of the crawl's responses.
PASSED_HEADERS = frozenset(
    (
        *("content-type", "content-security-policy", "x-content-type-options"),
        *("access-control-allow-origin", "access-control-allow-credentials", "access-control-allow-headers"),
        *("access-control-allow-methods", "access-control-expose-headers", "cross-origin-resource-policy"),
    )
)
#: Kinds of requests that are passed to the crawl.
REQUESTED = frozenset({"script", "fetch", "xhr"})
_STEP_S = 0.03
_STANDARD_INPUT = 0
_CLOSE_S = 2.0
Result = TypeVar("Result")

# Open shadow trees become children of their elements, and links stay relative to the address that the page shows.
_READ_DOCUMENT = """
((limit, url) => {
  const flatten = scope => {
    for (const element of scope.querySelectorAll("*")) {
      if (!element.shadowRoot) continue;
      flatten(element.shadowRoot);
      const box = document.createElement("div");
      box.append(...element.shadowRoot.childNodes);
      element.prepend(box);
    }
  };
  const root = document.documentElement;
  if (!root) return ["", false];
  flatten(document);
  if (document.head && !document.querySelector("base[href]") && document.baseURI.split("#")[0] !== url) {
    const base = document.createElement("base");
    base.href = document.baseURI;
    document.head.prepend(base);
  }
  const html = (document.doctype ? "<!DOCTYPE html>" : "") + root.outerHTML;
  return [html.slice(0, limit), html.length > limit];
})"""

_CLEAR_SESSION = "(() => { sessionStorage.clear() })"


def find_browser() -> str | None:
    """The path of Chromium: the one that the variable names, or that of the system."""
    named = os.environ.get(VARIABLE)
    return next(filter(None, map(shutil.which, [named] if named else NAMES)), None)


def has_playwright() -> bool:
    return find_spec("playwright") is not None


def browser_path() -> str:
    """The path of Chromium. An error if it cannot be used."""
    if not has_playwright():
        raise MissingExtra.named("browser", "Rendering pages (--render)")
    found = find_browser()
    if found is None:
        named = os.environ.get(VARIABLE)
        where = (
            f"{VARIABLE} names {printable(named, 200)!r}, which is not a program" if named else "it is not installed"
        )
        raise UsageError(f"No browser to render pages: {where}. For --render, {HOW_TO_INSTALL}.")
    return found


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What one page may take. `idle_s` is the time without a request in flight, which is that of its scripts."""

    requests: int = 40
    total_bytes: int = 20_000_000
    total_s: float = 30.0
    idle_s: float = 8.0
    #: How long a page that has loaded must be quiet.
    quiet_s: float = 0.5
    #: To read the document.
    read_s: float = 5.0
    document_bytes: int = 2_000_000


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """`pages_per_tab` is when a tab is replaced, with all that pages left behind in it."""

    path: str
    user_agent: str
    limits: RenderLimits = RenderLimits()
    pages_per_tab: int = 200


class _TabError(Exception):
    """The tab cannot be used any more."""


def serve() -> None:
    """The main function of the process."""
    for ending in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    limit_memory(MEMORY_BYTES)
    try:
        with suppress(ConnectionError, EOFError):
            asyncio.run(_serve(socket.socket(fileno=_STANDARD_INPUT)))
    finally:
        _end()


def _end(*_: object) -> None:
    """At once: the browser may hang, and ends when nobody is connected to it."""
    shutil.rmtree(os.environ[FOLDER_VARIABLE], ignore_errors=True)
    os._exit(0)


async def _serve(channel: socket.socket) -> None:
    from playwright.async_api import Error, async_playwright

    connection = _Connection(*await asyncio.open_connection(sock=channel))
    first, _ = await connection.receive()
    settings = BrowserSettings(**{**first, "limits": RenderLimits(**first["limits"])})
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=settings.path,
                args=[*_NO_NETWORK, *_MEMORY],
                # It does not work for root.
                chromium_sandbox=os.geteuid() != 0,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            tabs = _Tabs(browser, settings, connection)
            await tabs.open()
        except Error as reason:
            await connection.send({"is": "unusable", "why": printable(reason.message.split("\n")[0], 200)})
            return
        browser.on("disconnected", _end)
        session = await browser.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        await session.detach()
        # 0 if it is unknown.
        process = next((int(each["id"]) for each in processes if each["type"] == "browser"), 0)
        await connection.send({"is": "ready", "process": process})
        try:
            await tabs.run()
        finally:
            browser.remove_listener("disconnected", _end)
            with suppress(Error, TimeoutError):
                await asyncio.wait_for(browser.close(), _CLOSE_S)


class _Connection:
    """Messages to and from the crawl."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def receive(self) -> tuple[Header, bytes]:
        """EOFError if the crawl has closed the connection."""
        n_header, n_body = LENGTHS.unpack(await self._reader.readexactly(LENGTHS.size))
        header: Header = orjson.loads(await self._reader.readexactly(n_header))
        return header, await self._reader.readexactly(n_body)

    async def send(self, header: Mapping[str, object], body: bytes = b"") -> None:
        self._writer.write(frame(header, body))
        await self._writer.drain()


class _Tabs:
    """Renders one page after the other in one tab, which is replaced now and then."""

    def __init__(self, browser: "Browser", settings: BrowserSettings, connection: _Connection) -> None:
        self._browser, self._settings, self._connection = browser, settings, connection
        self._tab: _Tab
        self._rendering: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._tab = await _Tab.open(self._browser, self._settings, self._connection)

    async def run(self) -> None:
        """Until the connection is closed."""
        while True:
            header, body = await self._connection.receive()
            if header["do"] == "render":
                self._rendering = asyncio.create_task(self._render(header, body))
            else:
                self._tab.answer(header, body)

    async def _render(self, header: Header, body: bytes) -> None:
        from playwright.async_api import Error

        try:
            result, html = await self._tab.render(header, body)
            await self._connection.send(result, html)
            if self._tab.n_pages >= self._settings.pages_per_tab:
                await self._tab.close()
                await self.open()
            else:
                await self._tab.clear()
            await self._connection.send({"is": "idle"})
        except (_TabError, Error, TimeoutError) as reason:
            await self._connection.send({"is": "broken", "why": printable(str(reason).split("\n")[0], 200)})
            _end()


class _Tab:
    """A tab, and the page that is rendered in it."""

    def __init__(
        self,
        context: "BrowserContext",
        page: "Page",
        session: "CDPSession",
        limits: RenderLimits,
        connection: _Connection,
    ) -> None:
        self._context, self._page, self._session = context, page, session
        self._limits, self._connection = limits, connection
        self.n_pages = 0
        self._header: Header = {}
        self._document = b""
        self._reset()

    def _reset(self) -> None:
        self._is_served = False
        self._is_loaded = False
        self._n_requests = 0
        self._n_bytes = 0
        self._navigated: str | None = None
        self._active_s = time.monotonic()
        self._answers: dict[int, asyncio.Future[tuple[Header, bytes]]] = {}

    @classmethod
    async def open(cls, browser: "Browser", settings: BrowserSettings, connection: _Connection) -> "_Tab":
        context = await browser.new_context(
            user_agent=settings.user_agent,
            viewport={"width": 1280, "height": 1600},
            service_workers="block",
            accept_downloads=False,
        )
        page = await context.new_page()
        tab = cls(context, page, await context.new_cdp_session(page), settings.limits, connection)
        await context.route("**/*", tab._route)
        await context.route_web_socket("**/*", lambda web_socket: web_socket.close())
        context.on("page", _close_window)
        page.on("load", tab._loaded)
        page.on("crash", _end)
        return tab

    async def close(self) -> None:
        await self._context.close()

    async def render(self, header: Header, document: bytes) -> tuple[dict[str, object], bytes]:
        """What became of a page, and its document."""
        from playwright.async_api import Error

        self._reset()
        self.n_pages += 1
        self._header, self._document = header, document
        began_s = time.monotonic()
        try:
            await self._page.goto(header["url"], wait_until="commit", timeout=1_000 * self._limits.idle_s)
        except Error as reason:
            if self._navigated is None:
                return {"is": "failed", "why": printable(reason.message.split("\n")[0], 200)}, b""
        ended_by = await self._until_done(began_s)
        if self._navigated is not None:
            return {"is": "navigated", "url": self._navigated}, b""
        html, is_cut = await self._read()
        content = _encoded(html)
        limit = self._limits.document_bytes
        facts = {"is": "rendered", "truncated": is_cut or len(content) > limit, "ended_by": ended_by}
        return {**facts, "n_requests": self._n_requests}, content[:limit]

    async def clear(self) -> None:
        """Forget the page."""
        for answer in self._answers.values():
            answer.cancel()
        self._document, self._header = b"", {}
        # Its storage is that of the tab, which only a script can clear.
        await self._within(self._evaluate(_CLEAR_SESSION))
        await self._page.goto("about:blank", timeout=1_000 * self._limits.read_s)
        await self._context.clear_cookies()
        await self._session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})

    def answer(self, header: Header, body: bytes) -> None:
        """The crawl's answer to a request of the page."""
        waiting = self._answers.pop(header["request"], None)
        if waiting is not None and not waiting.done():
            waiting.set_result((header, body))

    async def _until_done(self, began_s: float) -> str:
        """Wait; returns what ended it."""
        while self._navigated is None:
            now_s = time.monotonic()
            if self._answers:
                self._active_s = now_s
            idle_s = now_s - self._active_s
            if self._is_loaded and idle_s >= self._limits.quiet_s:
                return "quiet"
            if idle_s >= self._limits.idle_s or now_s - began_s >= self._limits.total_s:
                return "time"
            await asyncio.sleep(_STEP_S)
        return "navigation"

    async def _read(self) -> tuple[str, bool]:
        try:
            return await self._within(self._document_text())
        except TimeoutError:
            # A script is running. The next one may end as well as this one.
            await self._within(self._session.send("Runtime.terminateExecution"))
            try:
                return await self._within(self._document_text())
            except TimeoutError:
                raise _TabError("a script does not end") from None

    async def _within(self, work: Awaitable[Result]) -> Result:
        return await asyncio.wait_for(work, self._limits.read_s)

    async def _document_text(self) -> tuple[str, bool]:
        found = await self._evaluate(_READ_DOCUMENT, self._limits.document_bytes, self._header["url"])
        if "exceptionDetails" in found:
            raise _TabError("the document cannot be read")
        html, is_cut = found["result"]["value"]
        return str(html), bool(is_cut)

    async def _evaluate(self, function: str, *arguments: object) -> dict[str, Any]:
        """Call a function in a new world of the page."""
        tree = await self._session.send("Page.getFrameTree")
        world = await self._session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
        call = {
            "functionDeclaration": function,
            "arguments": [{"value": value} for value in arguments],
            "executionContextId": world["executionContextId"],
            "returnByValue": True,
        }
        found: dict[str, Any] = await self._session.send("Runtime.callFunctionOn", call)
        return found

    def _loaded(self, _page: "Page") -> None:
        self._is_loaded = self._is_served
        self._active_s = time.monotonic()

    async def _route(self, route: "Route", request: "Request") -> None:
        from playwright.async_api import Error

        # The page may be gone when the answer comes.
        with suppress(Error, asyncio.CancelledError):
            await self._answered(route, request)

    async def _answered(self, route: "Route", request: "Request") -> None:
        if request.is_navigation_request():
            await self._navigate(route, request)
        elif request.resource_type == "stylesheet":
            await route.fulfill(status=200, content_type="text/css", body="")
        elif not self._may_request(request):
            await route.abort()
        else:
            header, body = await self._ask(request)
            self._active_s = time.monotonic()
            self._n_bytes += len(body)
            if "status" not in header or self._n_bytes > self._limits.total_bytes:
                await route.abort()
            else:
                await route.fulfill(status=header["status"], headers=header["headers"], body=body)

    def _may_request(self, request: "Request") -> bool:
        is_own = request.url.startswith(("http://", "https://")) and self._is_served
        is_plain = request.method == "GET" and request.resource_type in REQUESTED
        return is_own and is_plain and self._n_requests < self._limits.requests

    async def _ask(self, request: "Request") -> tuple[Header, bytes]:
        self._n_requests += 1
        number = self.n_pages * (self._limits.requests + 1) + self._n_requests
        answer: asyncio.Future[tuple[Header, bytes]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        accept = request.headers.get("accept", "*/*")
        await self._connection.send({"is": "request", "request": number, "url": request.url, "accept": accept})
        return await answer

    async def _navigate(self, route: "Route", request: "Request") -> None:
        is_main = self._is_main(request)
        if is_main and not self._is_served:
            self._is_served = True
            await route.fulfill(status=200, headers=self._header["headers"], body=self._document)
            return
        if is_main and request.method == "GET" and self._navigated is None:
            # That of the same page, such as a reload, is none.
            if request.url.partition("#")[0] != self._header["url"]:
                self._navigated = request.url
            # The document stays as it is, and loads no further.
            self._is_loaded = True
        await route.abort("aborted")

    def _is_main(self, request: "Request") -> bool:
        from playwright.async_api import Error

        try:
            return request.frame == self._page.main_frame
        except Error:  # It is that of a new window.
            return False


def _encoded(html: str) -> bytes:
    """In UTF-8. Lone surrogates, which strings of scripts may have, become U+FFFD as in browsers."""
    try:
        return html.encode()
    except UnicodeEncodeError:
        return html.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


async def _close_window(page: "Page") -> None:
    from playwright.async_api import Error

    with suppress(Error):
        await page.close()
