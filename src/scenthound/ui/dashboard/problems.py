"""Errors as responses, JSON for the API and pages for people; and the worker threads.

Responses have one or two sentences, never a stack trace, which goes to standard error. Everything is escaped here.
"""

import asyncio
import html
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
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

JSON_TYPE = "application/json"
Result = TypeVar("Result")


class NotFound(UnknownName):
    """There is no such folder, page or visit."""


class TooBusy(Failure):
    """Too many requests are queued."""


#: The first class that matches decides.
_STATUS: tuple[tuple[type[ScenthoundError], int], ...] = (
    (NotFound, 404),
    (TooBusy, 503),
    (MissingExtra, 501),
    (CorruptData, 422),
    # The request is valid, but the folder is not.
    (InvalidInput, 409),
    (UsageError, 400),
)


class Workers:
    """A fixed number of threads for blocking work, with a bounded queue. They are daemon threads, so they may be cut
    off when the process ends; whatever they write must be atomic."""

    def __init__(self, name: str, n_threads: int, max_queued: int) -> None:
        self._queue: queue.Queue[tuple[Future[Any], Callable[[], Any]]] = queue.Queue(max_queued)
        for number in range(n_threads):
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do the work in a thread and wait for it. TooBusy if the queue is full."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[], Result]) -> "Future[Result]":
        done: Future[Result] = Future()
        try:
            self._queue.put_nowait((done, work))
        except queue.Full:
            raise TooBusy("The dashboard is overloaded: try again in a few seconds.") from None
        return done

    def _work(self) -> None:
        while True:
            done, work = self._queue.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
                done.set_exception(error)


def describe(error: Exception) -> tuple[int, str]:
    """The HTTP status and the message of an error. An unexpected one is also printed to standard error."""
    if isinstance(error, ScenthoundError):
        return next((status for kind, status in _STATUS if isinstance(error, kind)), 500), str(error)
    if isinstance(error, OSError) and error.strerror:
        return 500, f"{error.strerror}: {printable(error.filename or 'a file of the folder', 300)}."
    traceback.print_exception(error, file=sys.stderr)
    return 500, "Unexpected error: see the terminal in which the dashboard runs."


def is_api(path: str) -> bool:
    """Whether it is a path for programs, not for people."""
    return path.startswith("/api/") or path == "/metrics"


def problem_response(path: str, status: int, message: str) -> Response:
    """JSON for paths of the API, otherwise a page."""
    if is_api(path):
        return Response(as_json(Problem(message)), status, media_type=JSON_TYPE)
    # Lone surrogates cannot be encoded in UTF-8.
    text = html.escape(message.encode("utf-8", "replace").decode())
    main = f'<h1>This page cannot be shown</h1><p>{text}</p>\n<p><a href="/">All crawls and experiments</a></p>'
    return HTMLResponse(plain_page("Scenthound", main), status)


def plain_page(title: str, main: str, note: str = "", kind: str = "") -> str:
    """A page without scripts; `main` is HTML."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/look.css"><link rel="stylesheet" href="/assets/dashboard.css"></head>
<body><header class="top"><a class="home" href="/">Scenthound</a> <span class="top-note">{note}</span></header>
<main id="content" class="{kind}">{main}</main></body></html>
"""


def as_json(value: Any) -> bytes:
    """Null stands for NaN and infinity."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # Texts of pages may have lone surrogates, which UTF-8 lacks; escaped, they are valid JSON.
        return json_text(value).encode()
