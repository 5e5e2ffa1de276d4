"""How the dashboard says that something cannot be shown or done: as JSON to programs, as a page to people.

Rules
- One or two sentences and perhaps a command; never a stack trace, which goes to standard error instead.
- Whatever the sentences name is escaped here.
"""

import html
import sys
import traceback
from dataclasses import asdict
from typing import Any

import orjson
from starlette.responses import HTMLResponse, Response

from scenthound.dashboard.answers import Problem
from scenthound.dashboard.work import TooBusy
from scenthound.errors import BadInput, MissingExtra, OddContent, ScenthoundError, UnknownName, WrongUse, printable
from scenthound.report.json_text import json_text

JSON_TYPE = "application/json"


class NotThere(UnknownName):
    """No folder, page or visit of that name."""


def status_of(error: ScenthoundError) -> int:
    """The status that fits an error best."""
    statuses: tuple[tuple[type[ScenthoundError], int], ...] = (
        (NotThere, 404),
        (TooBusy, 503),
        (MissingExtra, 501),
        (OddContent, 422),
        # The folder is at fault and not the question.
        (BadInput, 409),
        (WrongUse, 400),
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
