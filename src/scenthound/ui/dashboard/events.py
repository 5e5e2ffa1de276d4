"""Crawls that somebody looks at: one poller for each, shared by all who watch it.

Rules
- A poller asks about once a second whether the crawl has committed anything, which costs next to nothing, and reads on
  only if it has. It ends with its last watcher.
- Who comes is given the whole curve first, and then what is new. Who is slow misses nothing: what was not fetched yet
  is joined to what is new.
- Only so many may watch at a time.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scenthound.errors import CorruptData
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.live_reading import LiveRead, LiveReader, joined
from scenthound.ui.dashboard.problems import TooBusy, Workers, as_json, told
from scenthound.ui.dashboard.responses import Live, Problem

POLLED_EVERY_S = 1.0
#: A crawl that committed nothing may have died meanwhile.
LOOKED_AT_EVERY_S = 3.0
MOST_WATCHERS = 50


@dataclass(slots=True, eq=False)
class Watcher:
    """Who watches a crawl, and what he has not fetched yet. When `is_ended`, nothing more comes."""

    found: FoundFolder
    live: Live | None = None
    problem: Problem | None = None
    is_ended: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, live: Live) -> None:
        waiting = self.live
        self.live = live if waiting is None else Live(live.crawl, joined(waiting.new, live.new), live.latest)
        self.changed.set()

    def end(self, problem: Problem | None = None) -> None:
        """A browser connects again by itself, and is given the whole curve of what is there then."""
        self.problem = problem
        self.is_ended = True
        self.changed.set()

    async def fetch(self, most_s: float) -> Live | Problem | None:
        """What is new; None if nothing is for so long, or if nothing more comes."""
        await _sleep_until(self.changed, most_s)
        self.changed.clear()
        if self.problem is not None:
            return self.problem
        live, self.live = self.live, None
        return live


class Watching:
    """All that is watched. Lives in the event loop."""

    def __init__(self, workers: Workers, polled_every_s: float = POLLED_EVERY_S) -> None:
        self._workers = workers
        self._polled_every_s = polled_every_s
        self._pollers: dict[str, _Poller] = {}
        self._watchers: set[Watcher] = set()
        self._is_ending = False

    @property
    def n_pollers(self) -> int:
        return len(self._pollers)

    def enter(self, found: FoundFolder) -> Watcher:
        """TooBusy if nobody else may watch. Who enters leaves."""
        if len(self._watchers) >= MOST_WATCHERS or self._is_ending:
            raise TooBusy(f"{MOST_WATCHERS} pages watch crawls already: close some of them.")
        poller = self._pollers.get(found.id)
        if poller is None or poller.is_ended:
            poller = self._pollers[found.id] = _Poller(found, self._workers, self._polled_every_s)
        watcher = Watcher(found)
        self._watchers.add(watcher)
        poller.joined_by(watcher)
        return watcher

    def leave(self, watcher: Watcher) -> None:
        self._watchers.discard(watcher)
        poller = self._pollers.get(watcher.found.id)
        if poller is not None and poller.left_by(watcher):
            del self._pollers[watcher.found.id]

    def end(self) -> None:
        """Nothing more comes, for anybody."""
        self._is_ending = True
        for watcher in self._watchers:
            watcher.end()


class _Poller:
    """Asks one crawl, and tells all its watchers."""

    def __init__(self, found: FoundFolder, workers: Workers, every_s: float) -> None:
        self._found = found
        self._reader = LiveReader(found)
        self._workers = workers
        self._every_s = every_s
        self._watchers: list[Watcher] = []
        self._new: list[Watcher] = []
        self._woken = asyncio.Event()
        self.is_ended = False
        self._task = asyncio.create_task(self._poll())

    def joined_by(self, watcher: Watcher) -> None:
        self._new.append(watcher)
        self._woken.set()

    def left_by(self, watcher: Watcher) -> bool:
        """True if nobody is left."""
        for group in (self._watchers, self._new):
            if watcher in group:
                group.remove(watcher)
        if self._watchers or self._new:
            return False
        self._task.cancel()
        return True

    async def _poll(self) -> None:
        looked_s = monotonic()
        try:
            while True:
                self._woken.clear()
                is_due = monotonic() - looked_s >= LOOKED_AT_EVERY_S
                await self._tell(is_due)
                if is_due:
                    looked_s = monotonic()
                await _sleep_until(self._woken, self._every_s)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who watch are told
            problem = Problem(told(error)[1])
            for watcher in (*self._watchers, *self._new):
                watcher.end(problem)
        finally:
            self.is_ended = True
            with suppress(TooBusy):
                self._workers.begin(self._reader.close)

    async def _tell(self, look: bool) -> None:
        known, new = list(self._watchers), list(self._new)
        read = await self._workers.run(lambda: self._read(bool(new), look))
        for watcher in new:
            # Who left meanwhile is in neither list any more.
            if watcher in self._new:
                self._new.remove(watcher)
                self._watchers.append(watcher)
        for watchers, live in ((known, read.news), (new, read.whole)):
            if live is not None:
                for watcher in watchers:
                    watcher.tell(live)

    def _read(self, whole: bool, look: bool) -> LiveRead:
        with CorruptData.wrapping(self._found.path):
            return self._reader.read(whole=whole, look=look)


async def _sleep_until(event: asyncio.Event, most_s: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), most_s)


# Server-sent events: what a watcher is told, as an answer that ends when the reader leaves or nothing more comes.

#: So long without news, and a comment is sent: who listens, and whatever is between, knows that we are there.
HEARTBEAT_S = 10.0
#: The browser waits so long before it connects again.
_AGAIN = b"retry: 2000\n\n"
_HEARTBEAT = b": still here\n\n"


class EventStream(Response):
    """Takes over a watcher that has entered, and lets him leave in the end, whatever happens."""

    media_type = "text/event-stream"

    def __init__(self, watching: Watching, watcher: Watcher) -> None:
        self._watching = watching
        self._watcher = watcher
        self.status_code = 200
        self.background = None
        self.init_headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending, leaving = asyncio.ensure_future(self._send(send)), asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._watching.leave(self._watcher)
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for event in _events(self._watcher):
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _events(watcher: Watcher) -> AsyncIterator[bytes]:
    yield _AGAIN
    while not watcher.is_ended:
        news = await watcher.fetch(HEARTBEAT_S)
        if news is not None:
            yield _told(watcher, news)
        elif not watcher.is_ended:
            yield _HEARTBEAT


def _told(watcher: Watcher, news: Live | Problem) -> bytes:
    """The news as they are sent. What cannot be sent is the last that comes."""
    try:
        with CorruptData.wrapping(watcher.found.path):
            return _event(news)
    except CorruptData as odd:
        watcher.end()
        return _event(Problem(str(odd)))


def _event(news: Live | Problem) -> bytes:
    # JSON has no line breaks in it, so one line of data is enough.
    return b"event: %s\ndata: %s\n\n" % (b"live" if isinstance(news, Live) else b"problem", as_json(news))


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
