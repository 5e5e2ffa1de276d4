"""Renders pages of a run in a browser, one after the other (`rendering` decides which).

Rules
- The browser is started for the first page that needs it, and ends with the run.
- A page that cannot be rendered is visited as it was fetched. That is counted, and counts against its host.
- A browser that crashes or hangs, while it renders a page or clears it away, is replaced. That counts against the
  domain of the page (`rendering`).
- If the browser cannot be started `MAX_FAILED_STARTS` times in a row, or was started more than `MAX_STARTS` times and
  for more than `MAX_START_SHARE` of the pages, no further page of the run is rendered.
- A page is in flight until it has been rendered, so its host receives no other task meanwhile.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from scenthound.crawler.page_requests import Answer
from scenthound.crawler.rendering import (
    Gain,
    OnRendered,
    RenderCounts,
    RenderedDocument,
    RenderMemory,
    RenderMode,
    RenderOutcome,
    ScriptRedirect,
    has_scripts,
    needs_rendering,
)
from scenthound.crawler.settings import CrawlSettings
from scenthound.errors import UsageError, printable
from scenthound.store.warc_format import charset_of
from scenthound.web.browser import PASSED_HEADERS, BrowserSettings, RenderLimits, browser_path
from scenthound.web.browser_messages import Header
from scenthound.web.browser_process import BrowserProcess
from scenthound.web.fetch import Response
from scenthound.web.parse import ParsedPage
from scenthound.web.urls import canonical, host_of

#: How long the browser may take to start.
START_S = 60.0
#: How much longer than its limits a page may take before the browser is taken to hang.
LATE_S = 10.0
MAX_FAILED_STARTS = 3
MAX_STARTS = 100
MAX_START_SHARE = 0.5


class PageAnswers(Protocol):
    """What answers the requests of pages (`PageRequests`)."""

    async def answer(self, page: str, written: str, accept: str, /) -> Answer | None:
        """None if it is refused."""

    def close(self) -> None:
        """Nothing is requested any more."""


def browser_of(settings: CrawlSettings, note: Callable[[str], None] | None = None) -> BrowserSettings | None:
    """The browser of a run; None if it renders no pages. An error if there is no browser, or, for a crawl that can do
    without, only a note."""
    if settings.render is RenderMode.NEVER:
        return None
    try:
        path = browser_path()
    except UsageError as problem:
        if note is None or settings.render is RenderMode.ALWAYS:
            raise
        note(f"No page is rendered in this run. {problem.message}")
        return None
    return BrowserSettings(path, settings.user_agent, RenderLimits(document_bytes=settings.limits.body_bytes))


class Renderer:
    """`requests` answers the requests of pages."""

    def __init__(
        self,
        mode: RenderMode,
        browser: BrowserSettings,
        requests: PageAnswers,
        memory: RenderMemory,
        counts: RenderCounts,
    ) -> None:
        self.mode, self.memory, self.counts = mode, memory, counts
        self._requests = requests
        self._settings = browser
        self._loop = asyncio.get_running_loop()
        self._queue: deque[tuple[Response, OnRendered]] = deque()
        self._current: tuple[Response, OnRendered] | None = None
        self._process: BrowserProcess | None = None
        #: The host of the page that the browser has not cleared away yet; empty if there is none.
        self._host_in_tab = ""
        self._is_starting = self._is_ready = False
        self._n_starts = self._n_failed_starts = self._n_pages = 0
        self._timer: asyncio.TimerHandle | None = None
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def browser(self) -> int:
        """The ID of the browser's process; 0 if there is none."""
        return 0 if self._process is None else self._process.browser

    def takes(self, response: Response, page: ParsedPage) -> bool:
        """Whether a page is to be rendered; pages that should be are counted by host."""
        if self.counts.problem or self.mode is RenderMode.NEVER:
            return False
        charset = charset_of(response.header("content-type"))
        host = host_of(response.url)
        if self.memory.breaks(host):
            return False
        if self.mode is RenderMode.ALWAYS:
            return has_scripts(response.content)
        return needs_rendering(response.content, charset, page) and self.memory.take_turn(host)

    def is_used(self, gain: Gain) -> bool:
        """Whether a page is visited as it was rendered."""
        return gain.has_paid or (self.mode is RenderMode.ALWAYS and not gain.is_empty)

    def note(self, url: str, *, paid: bool | None) -> None:
        """A page was rendered, or could not be (None)."""
        self.counts.n_rendered += paid is not None
        self.counts.n_paid += bool(paid)
        self.counts.n_failed += paid is None
        self.memory.note(host_of(url), paid=bool(paid))

    def render(self, response: Response, on_rendered: OnRendered) -> None:
        """Render a page; `on_rendered` is called once, later, from the loop, unless this is closed before."""
        self._queue.append((response, on_rendered))
        self._next()

    def close(self) -> None:
        """End the browser, and forget all pages."""
        self._queue.clear()
        self._current = None
        self._stop()
        if self._process is not None:
            self._process.end()
            self._process = None
        self._requests.close()

    def _next(self) -> None:
        if self._current is not None or not self._queue:
            return
        if self.counts.problem:
            self._give_up()
        elif self._process is None:
            self._start()
        elif self._is_ready:
            self._is_ready = False
            self._current = response, _ = self._queue.popleft()
            self._host_in_tab = host_of(response.url)
            self._n_pages += 1
            headers = {name: response.header(name) for name in PASSED_HEADERS}
            passed = {name: value for name, value in headers.items() if value is not None}
            passed.setdefault("content-type", "text/html")
            self._process.send({"do": "render", "url": response.url, "headers": passed}, response.content)
            limits = self._settings.limits
            self._set_timer(limits.idle_s + limits.total_s + 3 * limits.read_s + LATE_S)

    # The process

    def _start(self) -> None:
        self._n_starts += 1
        if self._n_starts > MAX_STARTS and self._n_starts > MAX_START_SHARE * self._n_pages:
            self._turn_off(f"the browser was started {self._n_starts - 1} times for {self._n_pages} pages")
            return
        try:
            self._process = BrowserProcess(self._settings, self._loop, self._on_message, self._on_end)
        except OSError as reason:
            self._start_failed(reason.strerror or str(reason))
            return
        self._is_starting = True
        self._set_timer(START_S)

    def _start_failed(self, why: str) -> None:
        self._process, self._is_starting = None, False
        self._n_failed_starts += 1
        if self._n_failed_starts >= MAX_FAILED_STARTS:
            self._turn_off(f"the browser cannot be started: {printable(why, 200)}")
        else:
            self._loop.call_soon(self._next)

    def _turn_off(self, problem: str) -> None:
        self.counts.problem = problem
        self._give_up()

    def _give_up(self) -> None:
        """The pages that wait are visited as they are."""
        while self._queue:
            self._loop.call_soon(self._queue.popleft()[1], None)

    def _on_message(self, header: Header, body: bytes) -> None:
        match header["is"]:
            case "ready":
                self._is_starting, self._n_failed_starts = False, 0
                self._become_ready()
            case "idle":
                self._note_tab(broken=False)
                self._become_ready()
            case "request":
                self._answer(header)
            case "rendered":
                self._settle(RenderedDocument(body, bool(header["truncated"])))
            case "navigated":
                url = canonical(header["url"])
                self._settle(None if url is None else ScriptRedirect(url))
            case "failed":
                self._settle(None)
            case "broken":
                pass  # The process ends now.
            case "unusable" if self._process is not None:
                self._stop()
                self._process.end()
                self._start_failed(header["why"])

    def _become_ready(self) -> None:
        self._stop()
        self._is_ready = True
        self._next()

    def _on_end(self) -> None:
        """The process died."""
        self._lose("it ended")

    def _on_late(self) -> None:
        """The process hangs."""
        if self._process is not None:
            self._process.end(hangs=True)
        self._lose("it does not respond")

    def _lose(self, why: str) -> None:
        self._process, self._is_ready = None, False
        self._stop()
        if self._is_starting:
            self._start_failed(why)
            return
        self._note_tab(broken=True)
        self._settle(None)
        self._loop.call_soon(self._next)

    def _note_tab(self, *, broken: bool) -> None:
        if self._host_in_tab:
            self.memory.note_tab(self._host_in_tab, broken=broken)
        self._host_in_tab = ""

    # Pages

    def _settle(self, outcome: RenderOutcome) -> None:
        """A page is done; the browser has still to clear it away."""
        settled, self._current = self._current, None
        self._stop()
        if settled is not None:
            self._loop.call_soon(settled[1], outcome)
        if self._process is not None:
            self._set_timer(3 * self._settings.limits.read_s + LATE_S)

    def _answer(self, header: Header) -> None:
        if self._current is None or self._process is None:
            return
        page, _ = self._current
        task = self._loop.create_task(self._answered(self._process, page.url, header))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answered(self, process: BrowserProcess, page: str, header: Header) -> None:
        answer = await self._requests.answer(page, header["url"], header["accept"])
        if answer is None:
            process.send({"do": "answer", "request": header["request"]})
        else:
            facts = {"do": "answer", "request": header["request"], "status": answer.status, "headers": answer.headers}
            process.send(facts, answer.content)

    def _set_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(seconds, self._on_late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop(self) -> None:
        """Nobody waits for answers any more."""
        self._stop_timer()
        for task in self._answering:
            task.cancel()
