"""How the dashboard says that something cannot be shown or done: as JSON to programs, as a page to people.

Rules
- One or two sentences and perhaps a command; never a stack trace, which goes to standard error instead.
- Whatever the sentences name is escaped here.
"""

import asyncio
import html
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any, TypeVar

import orjson
from starlette.responses import HTMLResponse, Response

from scenthound.errors import (
    CorruptData,
    Failure,
    InvalidInput,
    MissingExtra,
    ScenthoundError,
    UnknownName,
    UsageError,
    printable,
)
from scenthound.ui.dashboard.responses import Problem
from scenthound.ui.formats import json_text

# Blocking work beside the event loop: a fixed number of threads, and a bound on what may wait for them.
#
# Rules
# - What reads files or databases runs here and never in the event loop.
# - The threads do not keep the program alive: when it ends, it ends at once. What they write is written so that it
#   can be cut off anywhere.

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


JSON_TYPE = "application/json"


class NotThere(UnknownName):
    """No folder, page or visit of that name."""


def status_of(error: ScenthoundError) -> int:
    """The status that fits an error best."""
    statuses: tuple[tuple[type[ScenthoundError], int], ...] = (
        (NotThere, 404),
        (TooBusy, 503),
        (MissingExtra, 501),
        (CorruptData, 422),
        # The folder is at fault and not the question.
        (InvalidInput, 409),
        (UsageError, 400),
    )
    return next((status for kind, status in statuses if isinstance(error, kind)), 500)


def told(error: Exception) -> tuple[int, str]:
    """Status and sentence for an error. What we did not foresee is told to standard error as well."""
    if isinstance(error, ScenthoundError):
        return status_of(error), str(error)
    if isinstance(error, OSError) and error.strerror:
        return 500, f"{error.strerror}: {printable(error.filename or 'a file of the folder', 300)}."
    traceback.print_exception(error, file=sys.stderr)
    return 500, "The dashboard failed at this; what happened stands in the terminal where it runs."


def problem_response(path: str, status: int, says: str, command: str | None = None) -> Response:
    """JSON for addresses of the API, else a page."""
    if path.startswith("/api/") or path == "/metrics":
        return Response(as_json(Problem(says, command)), status, media_type=JSON_TYPE)
    return HTMLResponse(problem_page(says, command), status)


def as_json(answer: Any) -> bytes:
    """An answer as it is sent; null stands for numbers that are endless or none."""
    try:
        return orjson.dumps(answer)
    except orjson.JSONEncodeError:
        # Pages and addresses may hold halves of characters, which UTF-8 has no bytes for; escaped, they may pass.
        return json_text(asdict(answer)).encode()


def problem_page(says: str, command: str | None = None) -> str:
    shown = f"<pre>{html.escape(command)}</pre>" if command else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Scenthound</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/look.css"><link rel="stylesheet" href="/assets/dashboard.css"></head>
<body><header class="top"><a class="home" href="/">Scenthound</a></header><main id="content">
<h1>This cannot be shown</h1><p>{html.escape(_whole(says))}</p>{shown}
<p><a href="/">All crawls and experiments</a></p></main></body></html>
"""


def _whole(text: str) -> str:
    """Without halves of characters, which UTF-8 has no bytes for."""
    return text.encode("utf-8", "replace").decode()
