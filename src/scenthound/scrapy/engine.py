"""What the scheduler must know of Scrapy's engine, and how it gets to know it: the only module with its internals.

Scrapy hands requests to a scheduler without saying where they come from, and does not tell it when the callback of a
response has finished. Both decide the order of a focused crawl.

- **Which response a request comes from** is known to spider middlewares. `SourceMiddleware` is one, and is installed
  here, as the last one before the engine, so that an existing project needs nothing but the setting `SCHEDULER`. Scrapy
  has settings to add a middleware, but they are read before a scheduler is made.
- **Which requests have not finished** is in the set `inprogress` of the engine's slot: a request is added before it is
  downloaded, and removed after its callback has been exhausted. There is no signal for it.
- **Which page a redirect or retry belongs to** follows from it: a request that is in progress, and neither at the
  downloader nor at the spider, is the one that a downloader middleware has replaced just now. Nothing is read from
  `request.meta`.
- **Whether the spider still has start requests** is in `_start`.

These names are the same from Scrapy 2.13, the first version with `Spider.start`, to 2.19. Versions 2.13.0 and 2.13.1
lose the requests that errbacks return.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import scrapy

from scenthound.errors import UsageError

OLDEST_VERSION = (2, 13, 2)


def check_version() -> None:
    """UsageError if Scrapy is too old."""
    version = tuple(part for part in scrapy.version_info if isinstance(part, int))
    if version < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        raise UsageError(
            f"scenthound.scrapy needs Scrapy {oldest} or later, and this is Scrapy {scrapy.__version__}: "
            f"pip install 'scrapy>={oldest}'."
        )


class Sources(Protocol):
    """Receives which request comes from which response."""

    def note_source(self, request: Any, source: Any) -> None:
        """A callback has made a request for the response to `source`, another request."""


class SourceMiddleware:
    """A spider middleware that changes nothing."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    async def process_spider_output(
        self, response: Any, result: AsyncIterator[Any], spider: Any = None
    ) -> AsyncIterator[Any]:
        async for each in result:
            if isinstance(each, scrapy.Request):
                self._sources.note_source(each, response.request)
            yield each


class EngineView:
    """The engine of a crawler, as far as the scheduler uses it."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._wakes_up = self._closes = False

    @property
    def _engine(self) -> Any:
        return self._crawler.engine

    def install(self, middleware: SourceMiddleware) -> None:
        """Add a middleware that sees what all others let pass."""
        manager = self._engine.scraper.spidermw
        manager._add_middleware(middleware)
        # It was added as the first one, next to the spider.
        for method in ("process_spider_output", "process_spider_exception"):
            manager.methods[method].rotate(-1)

    @property
    def has_start_requests(self) -> bool:
        """Whether the spider may have more start requests."""
        return self._engine._start is not None

    def is_in_progress(self, request: Any) -> bool:
        slot = self._engine._slot
        return slot is not None and request in slot.inprogress

    def is_replaced(self, request: Any) -> bool:
        """Whether a downloader middleware has returned another request instead of a response, right now."""
        engine = self._engine
        return (
            self.is_in_progress(request)
            and request not in engine.downloader.active
            and request not in engine.scraper.slot.active
        )

    def is_downloading(self, request: Any) -> bool:
        """Whether a request is at the downloader or waits there."""
        return request in self._engine.downloader.active

    def has_room(self, host: str, requests: list[Any]) -> bool:
        """Whether a host can be sent another request at once, or after its delay, if these are at the downloader.

        With a delay only one waits for it, so that others are chosen as late as possible."""
        if not requests:
            return True
        slot = self._engine.downloader.slots.get(host.strip("[]"))
        if slot is None or len(requests) >= slot.concurrency:
            return False
        if not slot.delay or slot.transferring.issuperset(requests):
            return True
        self._wake_up(slot.delay / 2)
        return False

    def _wake_up(self, seconds: float) -> None:
        """Let the engine ask for requests again. Nothing else does when a request begins that waited for its delay."""
        if self._wakes_up:
            return
        self._wakes_up = True

        def wake_up() -> None:
            self._wakes_up = False
            if (slot := self._engine._slot) is not None and slot.closing is None:
                slot.nextcall.schedule()

        _call_later(max(seconds, 0.05), wake_up)

    def close_spider(self, reason: str) -> None:
        """Close the spider when the engine does nothing else; it may be called several times."""
        if not self._closes:
            self._closes = True
            _call_later(0, lambda: self._close_spider(reason))

    def _close_spider(self, reason: str) -> None:
        from scrapy.utils.defer import deferred_from_coro

        engine = self._engine
        if engine.spider is None:
            return
        if hasattr(engine, "close_spider_async"):
            deferred_from_coro(engine.close_spider_async(reason=reason))
        else:
            engine.close_spider(engine.spider, reason)


def _call_later(seconds: float, function: Callable[[], None]) -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        from twisted.internet import reactor

        reactor.callLater(seconds, function)
    else:
        loop.call_later(seconds, function)
