"""The dashboard as an ASGI application: FastAPI behind the access control of `security`.

Blocking work runs in threads. Errors become short messages (`problems`).
"""

import html
import mimetypes
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import APIKeyHeader, HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles

from scenthound.errors import ScenthoundError
from scenthound.ui.dashboard import api
from scenthound.ui.dashboard.live import LiveUpdates
from scenthound.ui.dashboard.live_reader import LiveReader
from scenthound.ui.dashboard.problems import describe, plain_page, problem_response
from scenthound.ui.dashboard.prometheus import CONTENT_TYPE, metrics_text
from scenthound.ui.dashboard.responses import Live, Problem
from scenthound.ui.dashboard.security import ASSETS_PATH, TOKEN_HEADER, Guard, Token
from scenthound.ui.dashboard.services import Services

#: The URLs of pages; one file shows them all.
PAGES = ("/", "/crawls/{id}", "/crawls/{id}/pages", "/compare", "/experiments/{id}")
#: Server-sent events of a crawl.
EVENTS_PATH = "/api/crawls/{id}/events"
EVENTS_TYPE = "text/event-stream"
_DESCRIPTION = (
    "The data behind the pages of the dashboard. Times are seconds since 1970; unknown values are null. Texts from "
    "crawled pages are plain texts with any content. Requests need the token, the part after ?token= in the URL that "
    "the dashboard printed, in the header Authorization: Bearer TOKEN."
)
_OPEN = " This dashboard was started with --open: only changes need the token."
_EVENTS = (
    "Server-sent events: `live`, whose data is a Live, about once a second while something changes. The first one of a "
    "connection has the complete curves in `new`, later ones only new points. `problem`, whose data is a Problem, if "
    "the crawl cannot be read any more."
)
#: Either is enough. `Guard` checks them; here they are for the description.
_SCHEMES = [
    Security(HTTPBearer(auto_error=False)),
    Security(APIKeyHeader(name=TOKEN_HEADER, auto_error=False)),
]


class Assets(StaticFiles):
    """Scripts and style sheets of the dashboard and of reports. Browsers revalidate them with their ETag."""

    def __init__(self) -> None:
        # Systems name it differently, and browsers run no script of another type.
        mimetypes.add_type("text/javascript", ".js")
        # In this order: files of the dashboard replace those of reports with the same name.
        super().__init__(
            packages=[(name, "assets") for name in ("scenthound.ui.dashboard", "scenthound.ui")], follow_symlink=True
        )

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


class Dashboard:
    """Serves the pages and the API. A server runs `app`."""

    def __init__(self, folders: list[Path], *, port: int, token: Token, open_to_all: bool = False) -> None:
        self.services = Services(folders)
        self.live = LiveUpdates()
        self._page_html = files(__package__).joinpath("index.html").read_bytes()
        self.fast_api = FastAPI(
            title="Scenthound dashboard",
            version=version("scenthound"),
            description=_DESCRIPTION + (_OPEN if open_to_all else ""),
            openapi_url="/api/openapi.json",
            docs_url=None,
            redoc_url=None,
            exception_handlers=dict.fromkeys(
                (HTTPException, RequestValidationError, ScenthoundError, OSError, Exception), _error
            ),
        )
        self.fast_api.state.services = self.services
        self._add_routes(self.fast_api)
        # Outermost, so that no response lacks its headers.
        self.app = Guard(self.fast_api, port=port, token=token, open_to_all=open_to_all)

    def _add_routes(self, app: FastAPI) -> None:
        problems: dict[int | str, dict[str, Any]] = {
            401: {"model": Problem, "description": "The token is missing or not valid."},
            "default": {"model": Problem, "description": "Why the request failed."},
        }
        app.include_router(api.router, responses=problems, dependencies=_SCHEMES)
        events: dict[int | str, dict[str, Any]] = {
            200: {"model": Live, "content": {EVENTS_TYPE: {}}, "description": _EVENTS}
        }
        app.add_api_route(
            EVENTS_PATH,
            self._events,
            response_class=StreamingResponse,
            responses={**problems, **events},
            dependencies=[*_SCHEMES, Depends(api.no_query)],
            summary="Live updates of a crawl.",
        )
        app.add_route(EVENTS_PATH, self._events_head, methods=["HEAD"])
        app.add_route("/api", self._api_page)
        app.add_route("/metrics", self._metrics)
        app.add_route("/report/{id}", self._report)
        app.mount(ASSETS_PATH, Assets())
        for page in PAGES:
            app.add_route(page, self._page)

    def _reader(self, folder_id: str) -> LiveReader:
        """Errors become a status, which is not possible once events are sent."""
        return LiveReader(self.services.folders.crawl(folder_id))

    async def _events(self, folder: api.Folder) -> Response:
        self.live.check_room()
        reader = await run_sync(self._reader, folder)
        return StreamingResponse(self.live.events(reader), media_type=EVENTS_TYPE)

    async def _events_head(self, request: Request) -> Response:
        (await run_sync(self._reader, request.path_params["id"])).close()
        return Response(media_type=EVENTS_TYPE)

    def _report(self, request: Request) -> Response:
        """A report, and the policy that allows its own script and style sheet."""
        from scenthound.ui.html import content_security_policy
        from scenthound.ui.reports import report_html

        page = report_html(self.services.folders.find(request.path_params["id"]).path)
        policy = f"{content_security_policy(page)}; frame-ancestors 'none'"
        return HTMLResponse(page, headers={"content-security-policy": policy})

    def _metrics(self, _request: Request) -> Response:
        return Response(metrics_text(self.services), headers={"content-type": CONTENT_TYPE})

    async def _page(self, _request: Request) -> Response:
        return HTMLResponse(self._page_html)

    async def _api_page(self, _request: Request) -> Response:
        """The description for people, without scripts."""
        description = self.fast_api.openapi()
        operations = "".join(
            _operation_html(f"{method.upper()} {path}", operation)
            for path, methods in description["paths"].items()
            for method, operation in methods.items()
        )
        main = f"""<h1>API</h1><p>{html.escape(description["info"]["description"])}</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a>, which also describes the responses, and
<a href="/metrics">metrics</a> for Prometheus.</p>{operations}"""
        return HTMLResponse(plain_page("Scenthound: API", main, "API", "api-page"))


def _operation_html(name: str, operation: dict[str, Any]) -> str:
    fields = [(each["name"], each.get("description", "")) for each in operation.get("parameters", ())]
    rows = "".join(f"<dt><code>{html.escape(name)}</code></dt><dd>{html.escape(text)}</dd>" for name, text in fields)
    summary = html.escape(operation["summary"])
    return f"<section><h3><code>{html.escape(name)}</code></h3><p>{summary}</p><dl>{rows}</dl></section>"


async def _error(request: Request, error: Exception) -> Response:
    return problem_response(request.url.path, *describe(error))
