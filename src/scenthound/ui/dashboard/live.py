"""Live updates of crawls, as server-sent events.

Rules
- One poller for each crawl serves all its subscribers, and ends with the last one. About once a second it checks, which
  is cheap, whether the crawl has committed anything, and reads only if it has.
- A subscriber first receives the complete curves, then new points. Points that a slow subscriber has not fetched are
  joined, so none is lost.
- The number of subscribers is limited, overall and for each client; all who have the token are one client. Above the
  limit a subscriber with the token takes the place of the oldest without it, or of its client's oldest. Others are
  rejected.
- A subscriber that does not read is disconnected by `connections`, and delays no other.
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
from scenthound.ui.dashboard.live_reader import LiveReader, Updates
from scenthound.ui.dashboard.problems import TooBusy, Workers, as_json, describe
from scenthound.ui.dashboard.responses import Live, Problem

POLL_INTERVAL_S = 1.0
#: A crawl that committed nothing may have died or been replaced.
CHECK_INTERVAL_S = 3.0
MAX_SUBSCRIBERS = 50
MAX_OF_CLIENT = 20
#: The client of those who have the token. Others are known by their address.
OWNER = "owner"
#: After this time without an update a comment is sent, so that the connection is not closed as idle.
HEARTBEAT_S = 10.0
#: How long a browser waits before it connects again.
_RETRY = b"retry: 2000\n\n"
_HEARTBEAT = b": heartbeat\n\n"


@dataclass(slots=True, eq=False)
class Subscriber:
    """A subscriber to a crawl, and the update that it has not fetched yet. After `is_ended` nothing more comes;
    `is_replaced` if that made room for another."""

    found: FoundFolder
    client: str
    live: Live | None = None
    problem: Problem | None = None
    is_ended: bool = False
    is_replaced: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def send(self, live: Live) -> None:
        if self.live is not None:
            unsent = self.live.new
            live = Live(live.crawl, {name: unsent[name] + live.new[name] for name in unsent}, live.latest)
        self.live = live
        self.changed.set()

    def end(self, problem: Problem | None = None) -> None:
        """A browser connects again by itself, and then receives the complete curves."""
        self.problem = problem
        self.is_ended = True
        self.changed.set()

    async def fetch(self, timeout_s: float) -> Live | Problem | None:
        """The next update; None after the timeout, or if nothing more comes."""
        if not self.is_ended:
            await _wait(self.changed, timeout_s)
        self.changed.clear()
        if self.problem is not None:
            return self.problem
        live, self.live = self.live, None
        return live


class LiveUpdates:
    """All subscribers and pollers. Belongs to the event loop."""

    def __init__(self, workers: Workers, interval_s: float = POLL_INTERVAL_S) -> None:
        self._workers = workers
        self._interval_s = interval_s
        self._pollers: dict[str, _Poller] = {}
        #: Oldest first.
        self._subscribers: dict[Subscriber, None] = {}
        self._is_ending = False

    @property
    def n_pollers(self) -> int:
        return len(self._pollers)

    def subscribe(self, found: FoundFolder, client: str = OWNER) -> Subscriber:
        """TooBusy if there are too many subscribers. Each must be passed to `unsubscribe`."""
        if self._is_ending:
            raise TooBusy("The dashboard is being stopped.")
        self._make_room(client)
        poller = self._pollers.get(found.id)
        if poller is None or poller.is_ended:
            poller = self._pollers[found.id] = _Poller(found, self._workers, self._interval_s)
        subscriber = Subscriber(found, client)
        self._subscribers[subscriber] = None
        poller.add(subscriber)
        return subscriber

    def _make_room(self, client: str) -> None:
        of_client = [each for each in self._subscribers if each.client == client]
        is_client_full = len(of_client) >= MAX_OF_CLIENT
        if not is_client_full and len(self._subscribers) < MAX_SUBSCRIBERS:
            return
        if client != OWNER:
            raise TooBusy(f"{len(self._subscribers)} pages show live crawls already: close some of them.")
        others = [each for each in self._subscribers if each.client != OWNER]
        replaced = of_client[0] if is_client_full or not others else others[0]
        replaced.is_replaced = True
        replaced.end(Problem("Live updates stopped: too many pages show live crawls. Reload this page to continue."))
        self.unsubscribe(replaced)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """It may have been unsubscribed before."""
        self._subscribers.pop(subscriber, None)
        poller = self._pollers.get(subscriber.found.id)
        if poller is not None and poller.remove(subscriber):
            del self._pollers[subscriber.found.id]

    def end(self) -> None:
        """End all streams."""
        self._is_ending = True
        for subscriber in self._subscribers:
            subscriber.end()


class _Poller:
    """Polls one crawl for all its subscribers."""

    def __init__(self, found: FoundFolder, workers: Workers, interval_s: float) -> None:
        self._found = found
        self._reader = LiveReader(found)
        self._workers = workers
        self._interval_s = interval_s
        self._subscribers: list[Subscriber] = []
        self._new: list[Subscriber] = []
        self._woken = asyncio.Event()
        self.is_ended = False
        self._task = asyncio.create_task(self._run())

    def add(self, subscriber: Subscriber) -> None:
        self._new.append(subscriber)
        self._woken.set()

    def remove(self, subscriber: Subscriber) -> bool:
        """True if no subscriber is left."""
        for group in (self._subscribers, self._new):
            if subscriber in group:
                group.remove(subscriber)
        if self._subscribers or self._new:
            return False
        self._task.cancel()
        return True

    async def _run(self) -> None:
        checked_s = monotonic()
        try:
            while True:
                self._woken.clear()
                is_due = monotonic() - checked_s >= CHECK_INTERVAL_S
                await self._poll(is_due)
                if is_due:
                    checked_s = monotonic()
                await _wait(self._woken, self._interval_s)
        except Exception as error:  # noqa: BLE001 - reported to the subscribers
            problem = Problem(describe(error)[1])
            for subscriber in (*self._subscribers, *self._new):
                subscriber.end(problem)
        finally:
            self.is_ended = True
            with suppress(TooBusy):
                self._workers.submit(self._reader.close)

    async def _poll(self, check: bool) -> None:
        known, new = list(self._subscribers), list(self._new)
        updates = await self._workers.run(lambda: self._read(bool(new), check))
        for subscriber in new:
            # It may have left meanwhile.
            if subscriber in self._new:
                self._new.remove(subscriber)
                self._subscribers.append(subscriber)
        for subscribers, live in ((known, updates.new), (new, updates.complete)):
            if live is not None:
                for subscriber in subscribers:
                    subscriber.send(live)

    def _read(self, complete: bool, check: bool) -> Updates:
        with CorruptData.wrapping(self._found.path):
            return self._reader.read(complete=complete, check=check)


async def _wait(event: asyncio.Event, timeout_s: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), timeout_s)


# Server-sent events


class EventStream(Response):
    """Sends the updates of a subscriber until the client disconnects or nothing more comes, and unsubscribes it."""

    media_type = "text/event-stream"

    def __init__(self, updates: LiveUpdates, subscriber: Subscriber) -> None:
        self._updates = updates
        self._subscriber = subscriber
        self.status_code = 200
        self.background = None
        self.init_headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending, leaving = asyncio.ensure_future(self._send(send)), asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._updates.unsubscribe(self._subscriber)
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for event in events(self._subscriber):
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def events(subscriber: Subscriber) -> AsyncIterator[bytes]:
    yield _RETRY
    is_last = False
    while not is_last:
        update = await subscriber.fetch(HEARTBEAT_S)
        # Checked here, because the end may come while the client is slow to receive an update.
        is_last = subscriber.is_ended
        if update is not None:
            yield _encoded(subscriber, update)
        elif not is_last:
            yield _HEARTBEAT


def _encoded(subscriber: Subscriber, update: Live | Problem) -> bytes:
    """An update with invalid values is replaced by a problem, and is the last one."""
    try:
        with CorruptData.wrapping(subscriber.found.path):
            name = "live" if isinstance(update, Live) else "replaced" if subscriber.is_replaced else "problem"
            return _event(name, update)
    except CorruptData as error:
        subscriber.end()
        return _event("problem", Problem(str(error)))


def _event(name: str, update: Live | Problem) -> bytes:
    # JSON has no line breaks, so one line of data is enough.
    return b"event: %s\ndata: %s\n\n" % (name.encode(), as_json(update))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
