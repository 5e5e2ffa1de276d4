"""Stored crawls and a client without sockets, for tests of the dashboard's server."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from scenthound.crawler.settings import CrawlSettings
from scenthound.model import Topic
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import RunRecord, Sample, SkippedRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.strategies.rank_file import Generation, RankFile, rank_file_text
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules
from scenthound.ui.dashboard.app import Dashboard
from scenthound.ui.dashboard.security import Token
from stored_crawls import NOON_S, add_page, new_crawl, response

PORT = 8787
TOKEN = "test-token"
ONE_TIME_TOKEN = "one-time-token"
HOST = f"127.0.0.1:{PORT}"
#: The relevance of each page of `begin_crawl`.
RELEVANCE = (0.5, 0.9, 0.1, 0.7)


def plan(**changes: Any) -> CrawlSettings:
    topic = Topic("ballooning", ("hot air balloon",))
    values: dict[str, Any] = {"topic": topic, "seeds": ("http://a.test/",), "strategy": "best_first", "page_budget": 10}
    return CrawlSettings(**{**values, **changes})


def status_values(pages: int, **changes: Any) -> dict[str, Any]:
    """The status in a crawl folder."""
    return {
        "time_s": NOON_S + pages,
        "run": 1,
        "seconds": float(pages),
        "seconds_left": 6.0,
        "n_pages": pages,
        "page_budget": 10,
        "pages_per_s": 1.5,
        "harvest": 0.5,
        "recent_harvest": 0.4,
        "regret": 0.25,
        "frontier": 7,
        "in_flight": 2,
        "hosts_active": 1,
        "hosts_waiting": 3,
        "hosts_ready": 4,
        "hosts_disabled": 5,
        "n_skipped": 3,
        "reasons": {"robots": 1, "not-html": 2},
        "host_statistics": [
            {"host": "a.test", "state": "waiting", "waits_s": 0.8, "n_pages": 3},
            {"host": "b.test", "state": "ready", "waits_s": None, "n_pages": 1},
        ],
        "paused": False,
        "ending": None,
        "problem": "",
    } | changes


def sample(pages: int, seconds: float, run: int = 1, **changes: Any) -> Sample:
    values: dict[str, Any] = {
        "time_s": NOON_S + seconds,
        "run": run,
        "n_pages": pages,
        "page_budget": 10,
        "harvest": 0.5,
        "recent_harvest": 0.4,
        "regret": None,
        "frontier": 7,
        "in_flight": 2,
        "hosts_active": 1,
        "hosts_waiting": 3,
        "hosts_ready": 4,
        "hosts_disabled": 5,
        "n_skipped": 3,
        "paused": False,
    }
    return Sample(**{**values, **changes})


def run_row(run: int = 1, began_s: float = NOON_S, **changes: Any) -> RunRecord:
    return RunRecord(run, began_s, 0, 4_000_000, "0.6.0", **changes)


def begin_crawl(folder: Path, **changes: Any) -> CrawlStore:
    """A crawl of four pages, a second apart, without a recorded end; page 3 was discovered on page 1. It runs while
    the store is open, and has died when it is closed."""
    store = new_crawl(folder, **plan(**changes).as_settings())
    store.add_urls(
        ["http://a.test/", "http://a.test/balloons", "http://b.test/<b>", "http://b.test:81/3", "http://c.test/"]
    )
    store.add(run_row())
    links = ([1, 2], [3], [4], [])
    for number, url in enumerate(
        ("http://a.test/", "http://a.test/balloons", "http://b.test/<b>", "http://b.test:81/3")
    ):
        html = f"<title>Page {number}</title><p>balloon number {number} <a href=/balloons>flights</a>"
        store_page(store, number, url, html, links=np.array(links[number], np.int32), relevance=RELEVANCE[number])
    store.add(SkippedRecord(4, "http://c.test/", SkipReason.ROBOTS, "Disallow: /", NOON_S + 4))
    for pages in range(1, 5):
        store.add(sample(pages, float(pages)))
    store.set_status(orjson.dumps(status_values(4)))
    store.commit()
    return store


def store_page(store: CrawlStore, number: int, url: str, html: str, **changes: Any) -> None:
    values: dict[str, Any] = {"score": float("inf") if number == 0 else 0.25, "rank": number, "title": f"Page {number}"}
    add_page(store, number, response(url, html.encode()), **{**values, **changes})


def ended_crawl(folder: Path, **changes: Any) -> Path:
    with begin_crawl(folder, **changes) as store:
        store.add(run_row(ended_s=NOON_S + 5, ended="page budget reached"))
        store.commit()
    return folder


#: Generation 1 had no new individuals, so the log has no line for it.
HISTORY = (Generation(0, 0.5, 0.25, 4), Generation(1, 0.5, 0.375, 8), Generation(2, 0.625, 0.5, 12))
LOG = '{"round": 0, "fitness": 0.5}\n{"round": 2, "fitness": 0.625}\n{"ro'


def search(folder: Path) -> Path:
    """The files of a search that the dashboard reads; the last line of its log is incomplete."""
    folder.mkdir()
    (folder / "search.json").write_text('{"format": "scenthound search", "version": 1, "settings": {}}')
    (folder / "evaluations.jsonl").write_text(LOG)
    rules = RankRules(((1.0,) * len(SCORE_NAMES),))
    (folder / "evolved.toml").write_text(rank_file_text(RankFile(rules, history=HISTORY)))
    return folder


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def text(self) -> str:
        return self.content.decode()


class Client:
    """Sends requests, with the token, to a dashboard without a socket. `last_response` is also set if the request
    raised an error."""

    last_response: Reply

    def __init__(self, *folders: Path, open_to_all: bool = False) -> None:
        token = Token(TOKEN, PORT, ONE_TIME_TOKEN)
        self.dashboard = Dashboard(list(folders), port=PORT, token=token, open_to_all=open_to_all)

    def get(self, path: str, **headers: str) -> Reply:
        return self.request("GET", path, headers)

    def post(self, path: str, body: object = None, **headers: str) -> Reply:
        content = b"" if body is None else orjson.dumps(body)
        return self.request("POST", path, {"content_type": "application/json", **headers}, content)

    def request(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Reply:
        """Names of headers are written with _; empty ones are left out."""
        return asyncio.run(self.send(method, path, headers, body))

    async def send(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Reply:
        """The same in an event loop."""
        named = {"host": HOST, "authorization": f"Bearer {TOKEN}", **headers}
        pairs = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in named.items() if value]
        sent: list[Any] = []
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            if not messages:
                await asyncio.Event().wait()
            return messages.pop()

        async def send(message: Any) -> None:
            sent.append(message)

        try:
            await self.dashboard.app(scope(method, path, pairs), receive, send)
        finally:
            start, *body_parts = sent
            names = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
            self.last_response = Reply(start["status"], names, b"".join(part.get("body", b"") for part in body_parts))
        return self.last_response


def scope(method: str, path: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    url_path, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "path": url_path,
        "raw_path": url_path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "scheme": "http",
        "headers": headers,
        "server": ("127.0.0.1", PORT),
        "client": ("127.0.0.1", 50_000),
    }
