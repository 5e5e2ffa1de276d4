"""Live updates: one poller for all subscribers, complete curves first, then new points."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from dashboard_client import (
    HOST,
    TOKEN,
    Client,
    begin_crawl,
    ended_crawl,
    run_row,
    sample,
    scope,
    status_values,
    store_page,
)
from scenthound.errors import InvalidInput
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard import live as live_module
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.live_reader import LiveReader
from scenthound.ui.dashboard.responses import Live
from stored_crawls import NOON_S
from timing import WAIT_S, until


def found(folder: Path) -> FoundFolder:
    return FoundFolder("crawl", folder, "crawl")


def add_commit(store: CrawlStore, pages: int, seconds: float, run: int = 1) -> None:
    """Visit a page and commit."""
    store.add_urls([f"http://a.test/new{pages}"])
    store_page(store, pages - 1, f"http://a.test/new{pages}", "new", links=np.zeros(0, np.int32))
    store.add(sample(pages, seconds, run))
    store.set_status(orjson.dumps(status_values(pages)))
    store.commit()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


def test_complete_curves_come_first_and_then_new_points(folder: Path) -> None:
    with begin_crawl(folder) as store:
        reader = LiveReader(found(folder))
        first = read(reader)
        assert first.new["pages"] == (1, 2, 3, 4)
        assert (first.crawl.state, [page.visit for page in first.latest]) == ("running", [3, 2, 1, 0])
        assert reader.read() is None
        add_commit(store, 5, 6.0)
        second = read(reader)
        # Four pages since the first point, 5 s earlier.
        assert (second.new["pages"], second.new["seconds"], second.new["pages_per_s"]) == ((5,), (6.0,), (0.8,))
        assert second.latest[0].url == "http://a.test/new5"
        for pages in (6, 7):
            add_commit(store, pages, float(pages))
        assert read(reader).new["pages"] == (6, 7)
    reader.close()


def test_the_death_of_a_crawl_is_reported(folder: Path) -> None:
    store, reader = begin_crawl(folder), LiveReader(found(folder))
    assert read(reader).crawl.state == "running"
    store.close()
    assert read(reader).crawl.state == "died"
    reader.close()


def read(reader: LiveReader) -> Live:
    live = reader.read()
    assert live is not None
    return live


def test_time_between_runs_is_left_out(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        reader = LiveReader(found(tmp_path / "crawl"))
        assert read(reader).new["pages"] == (1, 2, 3, 4)
        store.add(run_row(2, NOON_S + 1000))
        add_commit(store, 5, 1002.0, run=2)
        add_commit(store, 6, 1003.0, run=2)
        update = read(reader)
        assert (update.new["seconds"], update.new["pages_per_s"]) == ((6.0, 7.0), (0.8, 5 / 6))
        assert reader.read() is None
    reader.close()


def test_pauses_are_left_out_as_in_the_complete_curves(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        reader = LiveReader(found(tmp_path / "crawl"))
        assert read(reader).new["pages"] == (1, 2, 3, 4)
        for seconds, is_paused in ((5.0, True), (6.0, True), (95.0, True), (96.0, False)):
            store.add(sample(4, seconds, paused=is_paused))
        store.commit()
        update = read(reader)
        assert update.new["seconds"] == (5.0, 5.0, 5.0, 6.0)
        assert read(LiveReader(found(tmp_path / "crawl"))).new["seconds"][-4:] == update.new["seconds"]
    reader.close()


@pytest.mark.parametrize("n_calls", range(4))
def test_no_point_is_lost_if_the_crawl_commits_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_calls: int
) -> None:
    """It commits after the reader has looked that many times whether it did."""
    change_counter = StoredCrawl.change_counter
    calls = 0

    def committing(crawl: StoredCrawl) -> int:
        nonlocal calls
        calls += 1
        if calls == n_calls + 1:
            add_commit(store, 5, 5.0)
        return change_counter(crawl)

    with begin_crawl(tmp_path / "crawl") as store:
        reader = LiveReader(found(tmp_path / "crawl"))
        monkeypatch.setattr(StoredCrawl, "change_counter", committing)
        updates = [update for _ in range(5) if (update := reader.read()) is not None]
        assert [number for update in updates for number in update.new["pages"]] == [1, 2, 3, 4, 5]
        assert updates[-1].latest[0].url == "http://a.test/new5"
    reader.close()


def test_a_replaced_crawl_is_detected(tmp_path: Path) -> None:
    reader = LiveReader(found(ended_crawl(tmp_path / "crawl")))
    read(reader)
    (tmp_path / "crawl").rename(tmp_path / "old")
    ended_crawl(tmp_path / "crawl")
    with pytest.raises(InvalidInput, match="replaced"):
        reader.read()
    reader.close()


class Stream:
    """A client of an event stream."""

    def __init__(self, client: Client, path: str = "/api/crawls/crawl/events") -> None:
        self.messages: list[Any] = []
        self.disconnected = asyncio.Event()
        headers = [(b"host", HOST.encode()), (b"authorization", f"Bearer {TOKEN}".encode())]
        self.task = asyncio.create_task(client.dashboard.app(scope("GET", path, headers), self._receive, self._send))

    async def _receive(self) -> Any:
        await self.disconnected.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.messages.append(message)

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.messages).decode()

    async def wait_for(self, word: str) -> None:
        await until(lambda: word in self.text, word)


def test_events_have_the_format_of_server_sent_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "POLLS_UNTIL_HEARTBEAT", 2)
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        stream = Stream(Client(tmp_path))
        await stream.wait_for(": heartbeat\n\n")
        assert dict(stream.messages[0]["headers"])[b"content-type"].startswith(b"text/event-stream")
        retry, live, *_ = stream.text.split("\n\n")
        assert retry == "retry: 2000"
        name, data = live.split("\n")
        assert name == "event: live"
        assert json.loads(data.removeprefix("data: "))["new"]["pages"] == [1, 2, 3, 4]
        stream.disconnected.set()
        await stream.task

    asyncio.run(test())


def test_a_disconnected_client_is_unsubscribed(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        client = Client(tmp_path)
        stream = Stream(client)
        await stream.wait_for("event: live")
        assert client.dashboard.live.n_streams == 1
        stream.disconnected.set()
        await asyncio.wait_for(stream.task, WAIT_S)
        assert client.dashboard.live.n_streams == 0

    asyncio.run(test())


def test_the_number_of_streams_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "MAX_STREAMS", 2)
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        client = Client(tmp_path)
        streams = [Stream(client) for _ in range(2)]
        for stream in streams:
            await stream.wait_for("event: live")
        rejected = Stream(client)
        await rejected.task
        assert rejected.messages[0]["status"] == 503
        for stream in streams:
            stream.disconnected.set()
            await stream.task

    asyncio.run(test())


def test_a_removed_crawl_ends_the_stream_with_its_problem(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        stream = Stream(Client(tmp_path))
        await stream.wait_for("event: live")
        shutil.rmtree(tmp_path / "crawl")
        await asyncio.wait_for(stream.task, WAIT_S)
        assert "event: problem" in stream.text
        assert str(tmp_path) in stream.text

    asyncio.run(test())


def test_all_streams_end_with_the_dashboard(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        client = Client(tmp_path)
        streams = [Stream(client) for _ in range(3)]
        for stream in streams:
            await stream.wait_for("event: live")
        client.dashboard.live.end()
        for stream in streams:
            await asyncio.wait_for(stream.task, WAIT_S)
            assert stream.messages[-1] == {"type": "http.response.body", "body": b"", "more_body": False}

    asyncio.run(test())


def test_head_requests_do_not_subscribe(tmp_path: Path) -> None:
    client = Client(ended_crawl(tmp_path / "crawl"))
    response = client.request("HEAD", "/api/crawls/crawl/events", {})
    assert (response.status, response.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
    assert client.dashboard.live.n_streams == 0
    assert client.request("HEAD", "/api/crawls/gone/events", {}).status == 404
