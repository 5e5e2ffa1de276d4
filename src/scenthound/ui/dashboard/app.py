"""The dashboard as an ASGI application.

Blocking work runs in threads: fast requests in some, slow ones in others, indexing in one of its own. Requests without
the token have threads of their own, so that they do not delay those with it. Errors become short messages
(`problems`).
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
from scenthound.ui.dashboard.endpoints import ENDPOINTS, EVENTS_PATH, Endpoint
from scenthound.ui.dashboard.folder_views import FolderOverview
from scenthound.ui.dashboard.folders import FolderIndex, FoundFolder
from scenthound.ui.dashboard.live import OWNER, EventStream, LiveUpdates
from scenthound.ui.dashboard.openapi import api_page, openapi
from scenthound.ui.dashboard.problems import JSON_TYPE, NotFound, Workers, as_json, describe, problem_response
from scenthound.ui.dashboard.prometheus import CONTENT_TYPE, metrics_text
from scenthound.ui.dashboard.queries import query_string_values, read_query
from scenthound.ui.dashboard.security import ASSETS_PATH, Guard, Token
from scenthound.ui.dashboard.services import HostCounts, SearchIndexes, Services

_MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
#: In this order: files of the dashboard replace those of reports with the same name.
_ASSET_PACKAGES = ("scenthound.ui.dashboard", "scenthound.ui")
#: The URLs of pages; one file shows them all.
PAGES = ("/", "/crawls/{id}", "/crawls/{id}/pages", "/compare", "/experiments/{id}")


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    etag: str


class Assets:
    """Scripts and style sheets by name, such as `views/crawl.js`, and the HTML of all pages. They are read once; a name
    in a request is looked up here and never becomes a path. Browsers revalidate them with their ETag."""

    def __init__(self) -> None:
        self._assets: dict[str, Asset] = {}
        for package in _ASSET_PACKAGES:
            for name, content in _contents(files(package).joinpath("assets")):
                media_type = _MEDIA_TYPES.get(Path(name).suffix)
                if media_type is not None:
                    etag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
                    self._assets.setdefault(name, Asset(content, media_type, etag))
        self.page = files(_ASSET_PACKAGES[0]).joinpath("assets", "index.html").read_bytes()

    def response(self, name: str, request: Request) -> Response | None:
        """None if there is no such file."""
        asset = self._assets.get(name)
        if asset is None:
            return None
        headers = {"etag": asset.etag, "cache-control": "no-cache"}
        if asset.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(asset.content, media_type=asset.media_type, headers=headers)


def _contents(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _contents(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found


@dataclass(frozen=True, slots=True)
class Pools:
    fast: Workers
    slow: Workers


class Dashboard:
    """Serves the pages and the API. A server runs `app`."""

    def __init__(self, folders: list[Path], *, port: int, token: Token, open_to_all: bool = False) -> None:
        self._pools = {True: Pools(Workers("fast", 4, 200), Workers("slow", 3, 60))}
        if open_to_all:
            self._pools[False] = Pools(Workers("fast without token", 2, 100), Workers("slow without token", 1, 30))
        index = FolderIndex(folders, monotonic)
        indexes = SearchIndexes(Workers("indexing", n_threads=1, max_queued=20))
        self.services = Services(index, FolderOverview(index), HostCounts(), indexes)
        self._assets = Assets()
        self.live = LiveUpdates(self._pools[True].fast)
        self._open_to_all = open_to_all
        handlers = {HTTPException: _http_error, ScenthoundError: _error, OSError: _error, Exception: _error}
        # Outermost, so that no response lacks its headers.
        routed = Starlette(routes=self._routes(), exception_handlers=handlers)
        self.app = Guard(routed, port=port, token=token, open_to_all=open_to_all)

    def _routes(self) -> list[Route]:
        return [
            *(Route(each.path, partial(self._api, each), methods=[each.method]) for each in ENDPOINTS),
            Route(EVENTS_PATH, self._events),
            Route("/api/openapi.json", self._openapi),
            Route("/api", self._api_page),
            Route("/metrics", self._metrics),
            Route("/report/{id}", self._report),
            Route(f"{ASSETS_PATH}{{name:path}}", self._asset),
            *(Route(page, self._page) for page in PAGES),
        ]

    def _pools_of(self, request: Request) -> Pools:
        return self._pools[request.state.has_token]

    async def _api(self, endpoint: Endpoint, request: Request) -> Response:
        if endpoint.method == "POST":
            values = await _body(request)
        else:
            values = query_string_values(endpoint.query, list(request.query_params.multi_items()))
        query: Any = read_query(endpoint.query, dict(request.path_params), values)
        pools = self._pools_of(request)
        workers = pools.slow if endpoint.is_slow(query) else pools.fast
        content = await workers.run(lambda: _response_json(endpoint, self.services, query))
        return Response(content, media_type=JSON_TYPE)

    async def _events(self, request: Request) -> Response:
        found = await self._pools_of(request).fast.run(lambda: _readable(self.services, request.path_params["id"]))
        if request.method == "HEAD":
            return Response(media_type=EventStream.media_type)
        address = "" if request.client is None else request.client.host
        return EventStream(self.live, self.live.subscribe(found, OWNER if request.state.has_token else address))

    async def _report(self, request: Request) -> Response:
        slow = self._pools_of(request).slow
        html, policy = await slow.run(lambda: _report(self.services, request.path_params["id"]))
        return HTMLResponse(html, headers={"content-security-policy": policy})

    async def _metrics(self, request: Request) -> Response:
        text = await self._pools_of(request).slow.run(lambda: metrics_text(self.services))
        return Response(text, headers={"content-type": CONTENT_TYPE})

    async def _asset(self, request: Request) -> Response:
        response = self._assets.response(request.path_params["name"], request)
        if response is None:
            raise NotFound("There is no such file.")
        return response

    async def _page(self, _request: Request) -> Response:
        return HTMLResponse(self._assets.page)

    async def _openapi(self, _request: Request) -> Response:
        return Response(orjson.dumps(openapi(self._open_to_all)), media_type=JSON_TYPE)

    async def _api_page(self, _request: Request) -> Response:
        return HTMLResponse(api_page(self._open_to_all))


async def _error(request: Request, error: Exception) -> Response:
    return problem_response(request.url.path, *describe(error))


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = "This URL does not support the request method." if status == 405 else "There is no page at this URL."
    return problem_response(request.url.path, status, message)


def _response_json(endpoint: Endpoint, services: Services, query: Any) -> bytes:
    """Invalid values in a folder may be noticed as late as here."""
    ids = [query.id] if hasattr(query, "id") else getattr(query, "crawl", ())
    if not ids:
        return as_json(endpoint.handler(services, query))
    kind = "experiment" if endpoint.path.startswith("/api/experiments/") else "crawl"
    with CorruptData.wrapping(" or ".join(ids), kind):
        return as_json(endpoint.handler(services, query))


def _readable(services: Services, folder_id: str) -> FoundFolder:
    """The folder of a readable crawl; errors become a status, which is not possible once events are sent."""
    found = services.folders.crawl(folder_id)
    StoredCrawl.open(found.path).close()
    return found


def _report(services: Services, folder_id: str) -> tuple[str, str]:
    """A report, and the policy that allows its own script and style sheet."""
    from scenthound.ui.html import content_security_policy
    from scenthound.ui.reports import report_html

    html = report_html(services.folders.find(folder_id).path)
    return html, f"{content_security_policy(html)}; frame-ancestors 'none'"


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that was sent; an empty body is an empty object."""
    content = await request.body()
    try:
        sent = orjson.loads(content) if content.strip() else {}
    except orjson.JSONDecodeError:
        sent = None
    if not isinstance(sent, dict):
        raise InvalidParameter("The request body must be a JSON object.")
    return sent
