"""Pages in a real browser: a renderer in a thread, whose answers to requests of pages a test decides."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from browsers import browser_path
from scenthound.crawler.page_requests import Answer
from scenthound.crawler.renderer import Renderer
from scenthound.crawler.rendering import (
    RenderCounts,
    RenderedDocument,
    RenderMemory,
    RenderMode,
    RenderOutcome,
    ScriptRedirect,
)
from scenthound.web.browser import BrowserSettings, RenderLimits
from scenthound.web.fetch import Response
from timing import WAIT_S

URL = "http://a.test/folder/page"
MAX_TRIES = 4
#: Short, because most tests wait for them.
LIMITS = RenderLimits(requests=10, total_s=4.0, idle_s=1.0, quiet_s=0.3, read_s=1.0, document_bytes=100_000)


def page(html: str, url: str = URL) -> Response:
    content = html.encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
    return Response(url, 200, head, content, content, False, "127.0.0.1", 0.0)


def script(code: str) -> Answer:
    return Answer(200, {"content-type": "text/javascript"}, code.encode())


@dataclass
class GivenAnswers:
    """Answers requests by URL, and refuses others. `on_request` is called for each."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    requested: list[str] = field(default_factory=list)
    on_request: Callable[[], None] = lambda: None

    async def answer(self, page: str, url: str, accept: str) -> Answer | None:
        self.requested.append(url)
        self.on_request()
        return self.answers.get(url)

    def close(self) -> None:
        pass


@dataclass
class RenderThread:
    """Renders pages one by one; `requested` are the URLs that the last page requested."""

    loop: asyncio.AbstractEventLoop
    requests: GivenAnswers
    renderer: Renderer

    def render(self, html: str, answers: Mapping[str, Answer] | None = None, url: str = URL) -> RenderOutcome:
        return asyncio.run_coroutine_threadsafe(self._render(page(html, url), answers or {}), self.loop).result(WAIT_S)

    def document(
        self, html: str, answers: Mapping[str, Answer] | None = None, url: str = URL
    ) -> RenderedDocument | ScriptRedirect:
        """The page, rendered again if it was not read in time: on a busy machine that is no failure."""
        for _ in range(MAX_TRIES):
            if (outcome := self.render(html, answers, url)) is not None:
                return outcome
        raise AssertionError(f"not rendered in {MAX_TRIES} tries")

    def text(self, html: str, answers: Mapping[str, Answer] | None = None, url: str = URL) -> str:
        outcome = self.document(html, answers, url)
        assert isinstance(outcome, RenderedDocument)
        return outcome.html.decode()

    @property
    def requested(self) -> list[str]:
        return self.requests.requested

    async def _render(self, response: Response, answers: Mapping[str, Answer]) -> RenderOutcome:
        self.requests.answers, self.requests.requested = answers, []
        done: asyncio.Future[RenderOutcome] = self.loop.create_future()
        self.renderer.render(response, done.set_result)
        return await done


@contextmanager
def render_thread(limits: RenderLimits = LIMITS, path: str | None = None) -> Iterator[RenderThread]:
    loop, requests = asyncio.new_event_loop(), GivenAnswers()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> Renderer:
        settings = BrowserSettings(path or browser_path(), "Scenthound/1.0", limits)
        return Renderer(RenderMode.ALWAYS, settings, requests, RenderMemory(), RenderCounts())

    async def close() -> None:
        renderer.close()

    renderer = asyncio.run_coroutine_threadsafe(start(), loop).result(WAIT_S)
    try:
        yield RenderThread(loop, requests, renderer)
    finally:
        asyncio.run_coroutine_threadsafe(close(), loop).result(WAIT_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def processes_with(text: str) -> set[int]:
    """The processes whose command line contains a text."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
        except OSError:  # It has ended.
            continue
    return found
