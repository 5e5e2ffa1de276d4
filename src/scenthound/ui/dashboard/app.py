"""The dashboard as an ASGI application: where requests go, and how questions become answers.

Rules
- Questions of the API go by the table of `endpoints`; everything else is one of a few pages.
- Work that blocks is done by threads: quick work by some, slow work by others, indexing by one of its own.
- Whatever goes wrong is told in a sentence (`problems`).
"""

import hashlib
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from time import monotonic
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from scenthound.errors import CorruptData, InvalidParameter, ScenthoundError
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard.events import EventStream, Watching
from scenthound.ui.dashboard.folder_views import FolderGlances
from scenthound.ui.dashboard.folders import FolderBook, FoundFolder
from scenthound.ui.dashboard.openapi import api_page, openapi
from scenthound.ui.dashboard.problems import JSON_TYPE, NotThere, Workers, as_json, problem_response, told
from scenthound.ui.dashboard.prometheus import CONTENT_TYPE, metrics_text
from scenthound.ui.dashboard.queries import from_query, read_question
from scenthound.ui.dashboard.routes import ENDPOINTS, EVENTS_PATH, Endpoint
from scenthound.ui.dashboard.security import Guard
from scenthound.ui.dashboard.services import HostTallies, Rooms, SearchIndexes

# The files of the dashboard's pages: read once, and given out by their names.
#
# Rules
# - Only what lay in the package when the dashboard started is given out. A name from a request is looked up among
#   these, and never becomes a path.
# - They may be kept by a browser, which asks each time whether they are still the same (ETag).

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
SHELL = "index.html"
#: Ours go before those of reports, of which there may be some of the same name.
_PLACES = (("scenthound.ui.dashboard", "assets"), ("scenthound.ui", "assets"))


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    tag: str


class Assets:
    """All files by their names, `views/crawl.js` for one; and the page that shows everything."""

    def __init__(self) -> None:
        self._named: dict[str, Asset] = {}
        for package, folder in _PLACES:
            for name, content in _contents(files(package).joinpath(folder)):
                media_type = next((kind for ending, kind in _TYPES.items() if name.endswith(ending)), None)
                if media_type is not None:
                    tag = hashlib.sha256(content).hexdigest()[:20]
                    self._named.setdefault(name, Asset(content, media_type, f'"{tag}"'))
        self.shell = files(_PLACES[0][0]).joinpath("assets", SHELL).read_bytes()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._named)

    def response(self, name: str, request: Request) -> Response | None:
        """None if there is no such file."""
        asset = self._named.get(name)
        if asset is None:
            return None
        headers = {"etag": asset.tag, "cache-control": "no-cache"}
        if asset.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(asset.content, media_type=asset.media_type, headers=headers)


def _contents(folder: Traversable, before: str = "") -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _contents(entry, f"{before}{entry.name}/")
        else:
            found.append((before + entry.name, entry.read_bytes()))
    return found


#: The addresses of pages; one file shows them all.
PAGES = ("/", "/crawls/{id}", "/crawls/{id}/pages", "/compare", "/experiments/{id}")


class Dashboard:
    """What serves the pages and the API over some folders. `app` is to be run by a server."""

    def __init__(self, folders: list[Path], *, port: int, token: str) -> None:
        self._quick = Workers("quick", n_threads=4, most_waiting=200)
        self._slow = Workers("slow", n_threads=3, most_waiting=60)
        book = FolderBook(folders, monotonic)
        indexes = SearchIndexes(Workers("indexing", n_threads=1, most_waiting=20))
        self._rooms = Rooms(book, FolderGlances(book), HostTallies(), indexes)
        self._assets = Assets()
        self.watching = Watching(self._quick)
        handlers = {HTTPException: _no_such_address, ScenthoundError: _told, OSError: _told, Exception: _told}
        # Around everything, so that no answer goes without its headers.
        self.app = Guard(Starlette(routes=self._routes(), exception_handlers=handlers), port=port, token=token)

    def _routes(self) -> list[Route]:
        api = [Route(each.path, partial(self._answer, each), methods=[each.method]) for each in ENDPOINTS]
        return [
            *api,
            Route(EVENTS_PATH, self._events),
            Route("/api/openapi.json", self._openapi),
            Route("/api", self._api_page),
            Route("/metrics", self._metrics),
            Route("/report/{id}", self._report),
            Route("/assets/{name:path}", self._asset),
            *(Route(page, self._shell) for page in PAGES),
        ]

    async def _answer(self, endpoint: Endpoint, request: Request) -> Response:
        given = await _body(request) if endpoint.method == "POST" else from_query(endpoint.asks, _pairs(request))
        question: Any = read_question(endpoint.asks, dict(request.path_params), given)
        workers = self._slow if endpoint.is_slow(question) else self._quick
        content = await workers.run(lambda: _answered(endpoint, self._rooms, question))
        return Response(content, media_type=JSON_TYPE)

    async def _events(self, request: Request) -> Response:
        found = await self._quick.run(lambda: _readable(self._rooms, request.path_params["id"]))
        if request.method == "HEAD":
            return Response(media_type=EventStream.media_type)
        return EventStream(self.watching, self.watching.enter(found))

    async def _report(self, request: Request) -> Response:
        html, policy = await self._slow.run(lambda: _made_report(self._rooms, request.path_params["id"]))
        return HTMLResponse(html, headers={"content-security-policy": policy})

    async def _metrics(self, _request: Request) -> Response:
        text = await self._slow.run(lambda: metrics_text(self._rooms))
        return Response(text, headers={"content-type": CONTENT_TYPE})

    async def _asset(self, request: Request) -> Response:
        response = self._assets.response(request.path_params["name"], request)
        if response is None:
            raise NotThere("The dashboard has no such file.")
        return response

    async def _shell(self, _request: Request) -> Response:
        return HTMLResponse(self._assets.shell)

    async def _openapi(self, _request: Request) -> Response:
        return Response(orjson.dumps(openapi()), media_type=JSON_TYPE)

    async def _api_page(self, _request: Request) -> Response:
        return HTMLResponse(api_page())


async def _told(request: Request, error: Exception) -> Response:
    return problem_response(request.url.path, *told(error))


async def _no_such_address(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    says = "The dashboard does not take that at this address." if status == 405 else "The dashboard has no such page."
    return problem_response(request.url.path, status, says)


def _answered(endpoint: Endpoint, rooms: Rooms, question: Any) -> bytes:
    """The answer as it is sent. Odd values in a folder may show as late as that."""
    asked_of = [question.id] if hasattr(question, "id") else getattr(question, "crawl", ())
    if not asked_of:
        return as_json(endpoint.answer(rooms, question))
    kind = "experiment" if endpoint.path.startswith("/api/experiments/") else "crawl"
    with CorruptData.wrapping(" or ".join(asked_of), kind):
        return as_json(endpoint.answer(rooms, question))


def _readable(rooms: Rooms, folder_id: str) -> FoundFolder:
    """The folder of a crawl that can be read; whoever cannot is told so with a status, before events begin."""
    found = rooms.book.crawl(folder_id)
    StoredCrawl.open(found.path).close()
    return found


def _made_report(rooms: Rooms, folder_id: str) -> tuple[str, str]:
    """A report and the policy that goes with it: it has its script and its styles within."""
    from scenthound.ui.html import content_security_policy
    from scenthound.ui.reports import report_html

    found = rooms.book.named(folder_id)
    html = report_html(found.path)
    return html, f"{content_security_policy(html)}; frame-ancestors 'none'"


def _pairs(request: Request) -> list[tuple[str, str]]:
    return list(request.query_params.multi_items())


async def _body(request: Request) -> dict[str, Any]:
    """The object that was sent; nothing at all stands for one without values."""
    content = await request.body()
    try:
        sent = orjson.loads(content) if content.strip() else {}
    except orjson.JSONDecodeError:
        sent = None
    if not isinstance(sent, dict):
        raise InvalidParameter("What was sent is no JSON object.")
    return sent
