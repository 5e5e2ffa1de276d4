"""Live updates of crawls, as server-sent events.

Each stream polls its crawl about once a second, which is cheap, and reads it only if something has changed. The first
event has the complete curves, later ones the new points: a client that reads slowly gets more of them at a time.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from anyio.to_thread import run_sync

from scenthound.errors import CorruptData
from scenthound.ui.dashboard.live_reader import LiveReader
from scenthound.ui.dashboard.problems import TooBusy, as_json, describe
from scenthound.ui.dashboard.responses import Problem

POLL_INTERVAL_S = 1.0
#: After this many polls without an update a comment is sent, so that the connection is not closed as idle.
POLLS_UNTIL_HEARTBEAT = 10
MAX_STREAMS = 50
#: How long a browser waits before it connects again.
_RETRY = b"retry: 2000\n\n"
_HEARTBEAT = b": heartbeat\n\n"


class LiveUpdates:
    """All streams. Belongs to the event loop."""

    def __init__(self, interval_s: float = POLL_INTERVAL_S) -> None:
        self.n_streams = 0
        self._interval_s = interval_s
        self._ending = asyncio.Event()

    def check_room(self) -> None:
        """TooBusy if no stream can be added."""
        if self._ending.is_set():
            raise TooBusy("The dashboard is being stopped.")
        if self.n_streams >= MAX_STREAMS:
            raise TooBusy(f"{self.n_streams} pages show live crawls already: close some of them.")

    def end(self) -> None:
        """End all streams."""
        self._ending.set()

    async def events(self, reader: LiveReader) -> AsyncIterator[bytes]:
        self.n_streams += 1
        try:
            yield _RETRY
            n_polls = 0
            while not self._ending.is_set():
                event = await run_sync(_next_event, reader)
                n_polls += 1
                if event is not None or n_polls % POLLS_UNTIL_HEARTBEAT == 0:
                    yield event or _HEARTBEAT
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), self._interval_s)
        except Exception as error:  # noqa: BLE001 - reported to the client
            yield _event("problem", Problem(describe(error)[1]))
        finally:
            self.n_streams -= 1
            reader.close()


def _next_event(reader: LiveReader) -> bytes | None:
    with CorruptData.wrapping(reader.found.path):
        live = reader.read()
        return None if live is None else _event("live", live)


def _event(name: str, value: object) -> bytes:
    # JSON has no line breaks, so one line of data is enough.
    return b"event: %s\ndata: %s\n\n" % (name.encode(), as_json(value))
