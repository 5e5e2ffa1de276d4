"""Blocking work beside the event loop: a fixed number of threads, and a bound on what may wait for them.

Rules
- What reads files or databases runs here and never in the event loop.
- The threads do not keep the program alive: when it ends, it ends at once. What they write is written so that it can be
  cut off anywhere.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from scenthound.errors import Failure

Result = TypeVar("Result")


class TooBusy(Failure):
    """More work waits than will be done soon."""


class Workers:
    """Threads that do one piece of work after the other."""

    def __init__(self, name: str, n_threads: int, most_waiting: int) -> None:
        self._waiting: queue.Queue[tuple[Future[Any], Callable[[], Any]]] = queue.Queue(most_waiting)
        for number in range(n_threads):
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do the work in a thread and wait for it. TooBusy if too much waits already."""
        return await asyncio.wrap_future(self.begin(work))

    def begin(self, work: Callable[[], Result]) -> "Future[Result]":
        done: Future[Result] = Future()
        try:
            self._waiting.put_nowait((done, work))
        except queue.Full:
            raise TooBusy("The dashboard has more to do than it can: try again in a few seconds.") from None
        return done

    def _work(self) -> None:
        while True:
            done, work = self._waiting.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the work was ordered
                done.set_exception(error)
