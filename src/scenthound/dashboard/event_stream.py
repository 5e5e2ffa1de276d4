"""Server-sent events: what a watcher is told, as an answer that ends when the reader leaves or nothing more comes."""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scenthound.dashboard.answers import Live, Problem
from scenthound.dashboard.problems import as_json
from scenthound.dashboard.watching import Watcher, Watching
from scenthound.errors import OddContent

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
        with OddContent.told_of(watcher.found.path):
            return _event(news)
    except OddContent as odd:
        watcher.end()
        return _event(Problem(str(odd)))


def _event(news: Live | Problem) -> bytes:
    # JSON has no line breaks in it, so one line of data is enough.
    return b"event: %s\ndata: %s\n\n" % (b"live" if isinstance(news, Live) else b"problem", as_json(news))


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
