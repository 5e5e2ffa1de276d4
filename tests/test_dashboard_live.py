"""Live updates: one poller for all subscribers, complete curves first, then new points."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
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
from scenthound.ui.dashboard.live import OWNER, LiveUpdates, Subscriber
from scenthound.ui.dashboard.live_reader import LiveReader
from scenthound.ui.dashboard.problems import TooBusy, Workers
from scenthound.ui.dashboard.responses import Live, Problem
from stored_crawls import NOON_S
from timing import WAIT_S, until


@pytest.fixture(autouse=True)
def frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "CHECK_INTERVAL_S", 0.05)


def run_with_updates(test: Callable[[LiveUpdates], Awaitable[None]]) -> None:
    async def run() -> None:
        updates = LiveUpdates(Workers("test", 2, 20), interval_s=0.02)
        await asyncio.wait_for(test(updates), WAIT_S)

    asyncio.run(run())


def found(folder: Path) -> FoundFolder:
    return FoundFolder("crawl", folder, "crawl")


def add_commit(store: CrawlStore, pages: int, seconds: float, run: int = 1) -> None:
    """Visit a page and commit."""
    store.add_urls([f"http://a.test/new{pages}"])
    store_page(store, pages - 1, f"http://a.test/new{pages}", "new", links=np.zeros(0, np.int32))
    store.add(sample(pages, seconds, run))
    store.set_status(orjson.dumps(status_values(pages)))
    store.commit()


async def next_live(subscriber: Subscriber) -> Live:
    for _ in range(int(WAIT_S / 0.1)):
        live = await subscriber.fetch(0.1)
        if live is not None:
            assert isinstance(live, Live)
            return live
    raise AssertionError("no update")


def test_complete_curves_come_first_and_then_new_points(tmp_path: Path) -> None:
    async def test(updates: LiveUpdates) -> None:
        with begin_crawl(tmp_path / "crawl") as store:
            subscriber = updates.subscribe(found(tmp_path / "crawl"))
            first = await next_live(subscriber)
            assert first.new["pages"] == (1, 2, 3, 4)
            assert (first.crawl.state, [page.visit for page in first.latest]) == ("running", [3, 2, 1, 0])
            add_commit(store, 5, 6.0)
            second = await next_live(subscriber)
            # Four pages since the first point, 5 s earlier.
            assert (second.new["pages"], second.new["seconds"], second.new["pages_per_s"]) == ((5,), (6.0,), (0.8,))
            assert second.latest[0].url == "http://a.test/new5"
            updates.unsubscribe(subscriber)

    run_with_updates(test)


def test_nothing_is_sent_without_changes(tmp_path: Path) -> None:
    async def test(updates: LiveUpdates) -> None:
        subscriber = updates.subscribe(found(ended_crawl(tmp_path / "crawl")))
        await next_live(subscriber)
        assert await subscriber.fetch(0.3) is None
        updates.unsubscribe(subscriber)

    run_with_updates(test)


def test_subscribers_of_a_crawl_share_one_poller_that_ends_with_the_last(tmp_path: Path) -> None:
    async def test(updates: LiveUpdates) -> None:
        with begin_crawl(tmp_path / "crawl") as store:
            first = updates.subscribe(found(tmp_path / "crawl"))
            await next_live(first)
            add_commit(store, 5, 5.0)
            second = updates.subscribe(found(tmp_path / "crawl"))
            assert updates.n_pollers == 1
            assert (await next_live(second)).new["pages"] == (1, 2, 3, 4, 5)
            assert (await next_live(first)).new["pages"] == (5,)
            add_commit(store, 6, 6.0)
            assert [(await next_live(each)).new["pages"] for each in (first, second)] == [(6,), (6,)]
            updates.unsubscribe(first)
            assert updates.n_pollers == 1
            updates.unsubscribe(second)
            assert updates.n_pollers == 0

    run_with_updates(test)


def test_a_slow_subscriber_misses_no_point(tmp_path: Path) -> None:
    async def test(updates: LiveUpdates) -> None:
        with begin_crawl(tmp_path / "crawl") as store:
            slow, fast = (updates.subscribe(found(tmp_path / "crawl")) for _ in range(2))
            await next_live(fast)
            for pages in (5, 6):
                add_commit(store, pages, float(pages))
                await next_live(fast)
            assert (await next_live(slow)).new["pages"] == (1, 2, 3, 4, 5, 6)
            for each in (slow, fast):
                updates.unsubscribe(each)

    run_with_updates(test)


def test_the_death_of_a_crawl_is_reported(tmp_path: Path) -> None:
    async def test(updates: LiveUpdates) -> None:
        store = begin_crawl(tmp_path / "crawl")
        subscriber = updates.subscribe(found(tmp_path / "crawl"))
        assert (await next_live(subscriber)).crawl.state == "running"
        store.close()
        assert (await next_live(subscriber)).crawl.state == "died"
        updates.unsubscribe(subscriber)

    run_with_updates(test)


def test_a_removed_crawl_ends_the_stream_with_its_problem(tmp_path: Path) -> None:
    async def test(updates: LiveUpdates) -> None:
        subscriber = updates.subscribe(found(ended_crawl(tmp_path / "crawl")))
        await next_live(subscriber)
        shutil.rmtree(tmp_path / "crawl")
        await until(lambda: subscriber.is_ended)
        assert subscriber.problem is not None
        assert str(tmp_path) in subscriber.problem.message
        updates.unsubscribe(subscriber)
        # A new subscriber reads the new crawl.
        again = updates.subscribe(found(ended_crawl(tmp_path / "crawl")))
        assert (await next_live(again)).new["pages"] == (1, 2, 3, 4)
        updates.unsubscribe(again)

    run_with_updates(test)


def test_the_number_of_subscribers_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "MAX_SUBSCRIBERS", 5)
    monkeypatch.setattr(live_module, "MAX_OF_CLIENT", 3)

    async def test(updates: LiveUpdates) -> None:
        crawl = found(ended_crawl(tmp_path / "crawl"))
        subscribed = [updates.subscribe(crawl, "127.0.0.1") for _ in range(3)]
        with pytest.raises(TooBusy):
            updates.subscribe(crawl, "127.0.0.1")
        subscribed += [updates.subscribe(crawl, "127.0.0.2") for _ in range(2)]
        with pytest.raises(TooBusy):
            updates.subscribe(crawl, "127.0.0.3")
        updates.unsubscribe(subscribed.pop(0))
        subscribed.append(updates.subscribe(crawl, "127.0.0.3"))
        for each in subscribed:
            updates.unsubscribe(each)

    run_with_updates(test)


def test_subscribers_with_the_token_replace_those_without_it_and_then_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "MAX_SUBSCRIBERS", 4)
    monkeypatch.setattr(live_module, "MAX_OF_CLIENT", 3)

    async def test(updates: LiveUpdates) -> None:
        crawl = found(ended_crawl(tmp_path / "crawl"))
        first, second = (updates.subscribe(crawl, OWNER) for _ in range(2))
        others = [updates.subscribe(crawl, "127.0.0.1") for _ in range(2)]
        third = updates.subscribe(crawl, OWNER)
        replaced = [each.is_replaced for each in (first, second, *others, third)]
        assert replaced == [False, False, True, False, False]
        fourth = updates.subscribe(crawl, OWNER)
        assert [each.is_replaced for each in (first, second, others[1], third, fourth)] == [True, *[False] * 4]
        assert isinstance(await first.fetch(WAIT_S), Problem)
        # Its stream unsubscribes again.
        updates.unsubscribe(first)
        assert (await next_live(fourth)).new["pages"] == (1, 2, 3, 4)
        for each in (second, others[1], third, fourth):
            updates.unsubscribe(each)
        assert updates.n_pollers == 0

    run_with_updates(test)


def test_the_end_of_a_stream_is_sent_also_to_a_busy_client(tmp_path: Path) -> None:
    async def test(updates: LiveUpdates) -> None:
        subscriber = updates.subscribe(found(ended_crawl(tmp_path / "crawl")))
        stream = live_module.events(subscriber)
        assert [(await anext(stream))[:6] for _ in range(2)] == [b"retry:", b"event:"]
        # While the client receives the second one.
        subscriber.is_replaced = True
        subscriber.end(Problem("Too many."))
        updates.unsubscribe(subscriber)
        assert [event.partition(b"\n")[0] async for event in stream] == [b"event: replaced"]

    run_with_updates(test)


def test_time_between_runs_is_left_out(tmp_path: Path) -> None:
    reader = LiveReader(found(tmp_path / "crawl"))
    with begin_crawl(tmp_path / "crawl") as store:
        assert reader.read(complete=True, check=False).complete is not None
        store.add(run_row(2, NOON_S + 1000))
        add_commit(store, 5, 1002.0, run=2)
        add_commit(store, 6, 1003.0, run=2)
        update = reader.read(complete=False, check=False).new
        assert update is not None
        assert (update.new["seconds"], update.new["pages_per_s"]) == ((6.0, 7.0), (0.8, 5 / 6))
        assert reader.read(complete=False, check=True).new is None
    reader.close()


def test_pauses_are_left_out_as_in_the_complete_curves(tmp_path: Path) -> None:
    reader = LiveReader(found(tmp_path / "crawl"))
    with begin_crawl(tmp_path / "crawl") as store:
        assert reader.read(complete=True, check=False).complete is not None
        for seconds, is_paused in ((5.0, True), (6.0, True), (95.0, True), (96.0, False)):
            store.add(sample(4, seconds, paused=is_paused))
        store.commit()
        read = reader.read(complete=False, check=False).new
        assert read is not None
        assert read.new["seconds"] == (5.0, 5.0, 5.0, 6.0)
        complete = reader.read(complete=True, check=False).complete
        assert complete is not None
        assert complete.new["seconds"][-4:] == read.new["seconds"]
    reader.close()


@pytest.mark.parametrize("n_calls", range(4))
def test_no_update_is_lost_if_the_crawl_commits_while_a_subscriber_comes(
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

    reader = LiveReader(found(tmp_path / "crawl"))
    with begin_crawl(tmp_path / "crawl") as store:
        reader.read(complete=True, check=False)
        monkeypatch.setattr(StoredCrawl, "change_counter", committing)
        first = reader.read(complete=True, check=False)
        updates = [first, *(reader.read(complete=False, check=True) for _ in range(3))]
        news = [update.new for update in updates if update.new is not None]
        # Those who were there, and the one who came, have all points once.
        assert [number for new in news for number in new.new["pages"]] == [5]
        assert news[-1].latest[0].url == "http://a.test/new5"
        assert first.complete is not None
        later = [update.new.new["pages"] for update in updates[1:] if update.new is not None]
        assert sum(later, first.complete.new["pages"]) == (1, 2, 3, 4, 5)
    reader.close()


def test_a_replaced_crawl_is_detected(tmp_path: Path) -> None:
    reader = LiveReader(found(ended_crawl(tmp_path / "crawl")))
    reader.read(complete=True, check=False)
    (tmp_path / "crawl").rename(tmp_path / "old")
    ended_crawl(tmp_path / "crawl")
    with pytest.raises(InvalidInput, match="replaced"):
        reader.read(complete=False, check=True)
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
    monkeypatch.setattr(live_module, "HEARTBEAT_S", 0.1)
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
        assert client.dashboard.live.n_pollers == 1
        stream.disconnected.set()
        await asyncio.wait_for(stream.task, WAIT_S)
        assert client.dashboard.live.n_pollers == 0

    asyncio.run(test())


def test_all_streams_end_with_the_dashboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "HEARTBEAT_S", 2 * WAIT_S)
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
    assert client.dashboard.live.n_pollers == 0
    assert client.request("HEAD", "/api/crawls/gone/events", {}).status == 404
