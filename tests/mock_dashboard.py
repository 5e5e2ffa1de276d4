"""The real pages of the dashboard, with API responses defined by the test.

Pages and scripts have the headers of the real server. The test decides the responses, and when a connection breaks. An
event stream that stays open is sent by the server.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route
from playwright.sync_api import Request as PageRequest

import scenthound.ui
from scenthound.crawler.explain import Parent
from scenthound.crawler.state import State
from scenthound.store.crawl_records import CrawlStatus, HostState, HostStatistics
from scenthound.strategies.rank_file import Generation
from scenthound.ui.crawl_overview import HostPages
from scenthound.ui.dashboard.crawl_views import column_infos
from scenthound.ui.dashboard.problems import as_json
from scenthound.ui.dashboard.responses import (
    Crawl,
    Curves,
    Experiment,
    Explanation,
    Fact,
    Folder,
    Folders,
    Labels,
    Live,
    Overlap,
    Pages,
    Problem,
    ReasonCount,
    SideBySide,
    TopHosts,
    VisitedPage,
)
from scenthound.ui.dashboard.security import HEADERS, READ_ONLY_HEADER
from timing import WAIT_S

HOSTILE = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
HOSTILE_URL = "javascript:document.title='hacked'"
NOON_S = 1_769_860_800.0
UI = Path(scenthound.ui.__file__).parent
KINDS = {".js": "javascript", ".css": "css"}


REASONS = (ReasonCount("not-html", "not HTML", 5), ReasonCount("robots", "disallowed by robots.txt", 2))


def status(**changes: Any) -> CrawlStatus:
    hosts = (
        HostStatistics(HOSTILE, HostState.WAITING, 2.4, 3),
        HostStatistics("b.test", HostState.ACTIVE, None, 9),
    )
    values = CrawlStatus(
        time_s=NOON_S, run=1, paused=False, seconds=90.0, seconds_left=300.0, n_pages=1_234,
        page_budget=2_000, pages_per_s=4.2,
        harvest=0.4123, recent_harvest=0.38, regret=0.0213, frontier=9_876, in_flight=2, hosts_active=2,
        hosts_waiting=1, hosts_ready=0, hosts_disabled=0, n_skipped=7, reasons={}, host_statistics=hosts,
        problem=HOSTILE, recall=0.6212, recall_low=0.3499, recall_high=0.8401,
    )  # fmt: skip
    return replace(values, **changes)


def crawl(name: str = "balloons", **changes: Any) -> Crawl:
    values = Crawl(
        id=name, name=name, path=f"/data/{name}", topic=HOSTILE, keywords=(HOSTILE,), strategy="otie",
        relevance_model="cosine", on_topic=None,
        scored_by="cosine for balloons", state=State.RUNNING, ended=None, end_reason=None, resume_command=None,
        status=status(), reasons=REASONS,
        relevance_models=(),
        n_labels=0, settings=(Fact("Seeds", HOSTILE_URL),),
    )  # fmt: skip
    return replace(values, **changes)


def curves(*pages: int, harvest: float = 0.5) -> Curves:
    """A point for each number of pages, one per second."""
    n = len(pages)
    ones, nothing = (1,) * n, (None,) * n
    seconds = tuple(float(sample + 1) for sample in range(n))
    return {
        "seconds": seconds,
        "pages": pages,
        "harvest": (harvest,) * n,
        "recent_harvest": (0.25,) * n,
        "pages_per_s": nothing,
        "regret": nothing,
        **dict.fromkeys(("frontier", *(f"hosts_{state}" for state in HostState), "n_skipped"), ones),
    }


def visited(visit: int = 0, **changes: Any) -> VisitedPage:
    values = VisitedPage(
        visit=visit, page=visit, simhash=0, url=f"http://a.test/{visit}", title=HOSTILE, time_s=NOON_S,
        relevance=0.75, score=0.5,
        regret=0.125, rank=1, queue_size=20, status=200, content_bytes=22_000, n_links=53, is_seed=False, label=None,
    )  # fmt: skip
    return replace(values, **changes)


def explanation(visit: int = 3) -> Explanation:
    parent = Parent("http://a.test/parent", 1, 0.9, HOSTILE, 0.6, None)
    page = visited(visit, url=HOSTILE_URL)
    return Explanation(HOSTILE_URL, "visited", (HOSTILE,), False, page, None, (parent,), 4, None, HOSTILE)


def side_by_side() -> SideBySide:
    crawls = crawl(), crawl("trains", strategy="opic", n_labels=3)
    first, second = curves(100, 200), curves(50, 120, harvest=0.25)
    both = first | {"regret": (0.0, 0.1), "harvest": (0.6, 0.4)}, second | {"regret": (0.0, 0.5)}
    return SideBySide(crawls, both, (Overlap("balloons", "trains", 20, 180, 100, 1 / 15),))


def search() -> Experiment:
    generations = (Generation(0, 0.1, 0.1, 4), Generation(1, 0.2, 0.15, 8), Generation(2, 0.3, 0.2, 12))
    return Experiment("search", "search", "/data/my search", "search", HOSTILE, (HOSTILE,), (), None, generations)


def folder(name: str, **changes: Any) -> Folder:
    return replace(Folder(name, name, f"/data/{name}", "crawl", HOSTILE, State.RUNNING, 10, 40, 0.5, None), **changes)


def live(state: Crawl, new: Curves, *pages: VisitedPage) -> bytes:
    """An encoded event."""
    return b"event: live\ndata: " + as_json(Live(state, new, pages)) + b"\n\n"


@contextmanager
def served_pages() -> Iterator[str]:
    """The URL of a server for the pages and scripts of the dashboard."""
    ended = Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            files = (UI / package / "assets" / self.path.removeprefix("/assets/") for package in ("dashboard", ""))
            file = next((file for file in files if file.is_file()), UI / "dashboard" / "index.html")
            body, kind = file.read_bytes(), f"text/{KINDS.get(file.suffix, 'html')}; charset=utf-8"
            self.send_response(200)
            for header, value in {**HEADERS, "content-type": kind, "content-length": str(len(body))}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            """Echo the body as an event stream that stays open."""
            events = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            for header, value in {**HEADERS, "content-type": "text/event-stream", "connection": "close"}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(events)
            ended.wait()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class MockDashboard:
    """`responses` by path: a value, a pair of status and value, bytes for an event stream that stays open, or
    a function that returns one of these. A request without a response waits for `release`. `changes` are the requested
    ones: path and body. Without the token, pages can only read; after a restart, not even that."""

    page: Page
    address: str
    has_token: bool = True
    is_restarted: bool = False
    responses: dict[str, Any] = field(default_factory=dict)
    changes: list[tuple[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _waiting: list[Route] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.responses = {
            "/api/folders": Folders("0", (folder("balloons"), folder("trains"))),
            "/api/columns": column_infos(),
            "/api/crawls/balloons": crawl(),
            "/api/crawls/balloons/events": live(crawl(), curves(10, 20), visited(3), visited(2, url=HOSTILE_URL)),
            "/api/crawls/balloons/hosts": TopHosts((HostPages(HOSTILE, 12, 0.5),), 1),
            "/api/crawls/balloons/pages": Pages((visited(3, excerpt=HOSTILE), visited(2)), None, 2, None),
            "/api/crawls/balloons/pages/3": explanation(),
            "/api/crawls/balloons/labels": Labels((visited(3, label=True),), 1, 0, "Label more pages."),
            "/api/compare": side_by_side(),
            "/api/experiments/search": search(),
        }
        self.page.route(f"{self.address}/api/**", self._respond)

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)

    def _respond(self, route: Route) -> None:
        self._record(route.request)
        path = urlsplit(route.request.url).path
        response = self.responses.get(path)
        response = response() if callable(response) else response
        if self.is_restarted:
            response = 401, Problem("The token is not valid.")
        if response is None:
            self._waiting.append(route)
        elif isinstance(response, bytes):
            route.continue_(url=f"{self.address}/events", method="POST", post_data=response)
        else:
            _send(route, response, {} if self.has_token else {READ_ONLY_HEADER: "1"})

    def release(self, response: Any) -> None:
        """Respond to the waiting request, or to the next one. After events the connection breaks."""
        for _ in range(int(WAIT_S / 0.02)):
            if self._waiting:
                _send(self._waiting.pop(), response)
                return
            self.page.wait_for_timeout(20)
        raise AssertionError("there was no request")

    def _record(self, request: PageRequest) -> None:
        address = request.url.removeprefix(self.address)
        if request.method == "POST":
            self.changes.append((address, request.post_data_json))
        else:
            self.requests.append(address)


def _send(route: Route, response: Any, more_headers: dict[str, str] | None = None) -> None:
    if isinstance(response, bytes):
        # The browser reconnects at once.
        body = b"retry: 10\n\n" + response
        route.fulfill(body=body, headers={**HEADERS, "content-type": "text/event-stream"})
    else:
        default = 404 if isinstance(response, Problem) else 200
        status, value = response if isinstance(response, tuple) else (default, response)
        headers = {**HEADERS, "content-type": "application/json", **(more_headers or {})}
        route.fulfill(status=status, body=as_json(value), headers=headers)
