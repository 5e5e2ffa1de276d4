"""Errors as responses, JSON for the API and pages for people.

Responses have one or two sentences, never a stack trace, which goes to standard error. Everything is escaped here.
"""

import html
import sys
import traceback
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
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


class NotFound(UnknownName):
    """There is no such folder, page or visit."""


class TooBusy(Failure):
    """There are too many live streams."""


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


def describe(error: Exception) -> tuple[int, str]:
    """The HTTP status and the message of an error. An unexpected one is also printed to standard error."""
    if isinstance(error, RequestValidationError):
        return 400, _validation_message(error)
    if isinstance(error, HTTPException):
        is_method = error.status_code == 405
        message = "This URL does not support the request method." if is_method else "There is no page at this URL."
        return error.status_code, message
    if isinstance(error, ScenthoundError):
        return next((status for kind, status in _STATUS if isinstance(error, kind)), 500), str(error)
    if isinstance(error, OSError) and error.strerror:
        return 500, f"{error.strerror}: {printable(error.filename or 'a file of the folder', 300)}."
    traceback.print_exception(error, file=sys.stderr)
    return 500, "Unexpected error: see the terminal in which the dashboard runs."


def _validation_message(error: RequestValidationError) -> str:
    """The first thing that is wrong with a request."""
    first = error.errors()[0]
    if first["loc"] == ("body",) or first["type"] == "json_invalid":
        return "The request body must be a JSON object."
    name = printable(str(first["loc"][-1]), 40)
    if first["type"] == "extra_forbidden":
        return f"{name} is not a parameter of this request."
    return f"{name}: {first['msg'][:1].lower()}{printable(first['msg'][1:], 300)}."


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
