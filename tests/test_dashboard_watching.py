"""Watching a crawl: one poller for all, the whole curve first, then what is new; and that it ends."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from asked_dashboard import HOST, Asker, begin_crawl, ended_crawl, run_row, sample, scope, status_values, store_page
from scenthound.errors import InvalidInput
from scenthound.store.crawl_store import CrawlStore
from scenthound.ui.dashboard import events as event_stream
from scenthound.ui.dashboard import events as watching
from scenthound.ui.dashboard.events import Watcher, Watching
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.live_reading import LiveReader
from scenthound.ui.dashboard.problems import TooBusy, Workers
from scenthound.ui.dashboard.responses import Live
from stored_crawls import NOON_S
from timing import WAIT_S, until


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOKED_AT_EVERY_S", 0.05)


def watched(test: Callable[[Watching], Awaitable[None]]) -> None:
    async def run() -> None:
        watch = Watching(Workers("test", 2, 20), polled_every_s=0.02)
        await asyncio.wait_for(test(watch), WAIT_S)

    asyncio.run(run())


def found(folder: Path) -> FoundFolder:
    return FoundFolder("crawl", folder, "crawl")


def go_on(store: CrawlStore, pages: int, seconds: float, run: int = 1) -> None:
    """The crawl takes a page and commits."""
    store.add_urls([f"http://a.test/new{pages}"])
    store_page(store, pages - 1, f"http://a.test/new{pages}", "new", links=np.zeros(0, np.int32))
    store.add(sample(pages, seconds, run))
    store.set_status(orjson.dumps(status_values(pages)))
    store.commit()


async def next_live(watcher: Watcher) -> Live:
    for _ in range(int(WAIT_S / 0.1)):
        live = await watcher.fetch(0.1)
        if live is not None:
            assert isinstance(live, Live)
            return live
    raise AssertionError("nothing came")


def test_the_whole_curve_comes_first_and_then_only_what_is_new(tmp_path: Path) -> None:
    async def test(watch: Watching) -> None:
        with begin_crawl(tmp_path / "crawl") as store:
            watcher = watch.enter(found(tmp_path / "crawl"))
            first = await next_live(watcher)
            assert first.new["pages"] == (1, 2, 3, 4)
            assert (first.crawl.state, [page.visit for page in first.latest]) == ("running", [3, 2, 1, 0])
            go_on(store, 5, 6.0)
            second = await next_live(watcher)
            # Four pages since the first point, 5 s ago.
            assert (second.new["pages"], second.new["seconds"], second.new["pages_per_s"]) == ((5,), (6.0,), (0.8,))
            assert second.latest[0].url == "http://a.test/new5"
            watch.leave(watcher)

    watched(test)


def test_nothing_is_sent_while_nothing_changes(tmp_path: Path) -> None:
    async def test(watch: Watching) -> None:
        watcher = watch.enter(found(ended_crawl(tmp_path / "crawl")))
        await next_live(watcher)
        assert await watcher.fetch(0.3) is None
        watch.leave(watcher)

    watched(test)


def test_all_who_watch_a_crawl_share_one_poller_that_ends_with_the_last(tmp_path: Path) -> None:
    async def test(watch: Watching) -> None:
        with begin_crawl(tmp_path / "crawl") as store:
            first = watch.enter(found(tmp_path / "crawl"))
            await next_live(first)
            go_on(store, 5, 5.0)
            second = watch.enter(found(tmp_path / "crawl"))
            assert watch.n_pollers == 1
            assert (await next_live(second)).new["pages"] == (1, 2, 3, 4, 5)
            assert (await next_live(first)).new["pages"] == (5,)
            go_on(store, 6, 6.0)
            assert [(await next_live(each)).new["pages"] for each in (first, second)] == [(6,), (6,)]
            watch.leave(first)
            assert watch.n_pollers == 1
            watch.leave(second)
            assert watch.n_pollers == 0

    watched(test)


def test_who_is_slow_misses_no_point(tmp_path: Path) -> None:
    async def test(watch: Watching) -> None:
        with begin_crawl(tmp_path / "crawl") as store:
            slow, quick = (watch.enter(found(tmp_path / "crawl")) for _ in range(2))
            await next_live(quick)
            for pages in (5, 6):
                go_on(store, pages, float(pages))
                await next_live(quick)
            assert (await next_live(slow)).new["pages"] == (1, 2, 3, 4, 5, 6)
            for each in (slow, quick):
                watch.leave(each)

    watched(test)


def test_a_crawl_that_dies_without_a_word_is_told_of(tmp_path: Path) -> None:
    async def test(watch: Watching) -> None:
        store = begin_crawl(tmp_path / "crawl")
        watcher = watch.enter(found(tmp_path / "crawl"))
        assert (await next_live(watcher)).crawl.state == "running"
        store.close()
        assert (await next_live(watcher)).crawl.state == "died"
        watch.leave(watcher)

    watched(test)


def test_a_crawl_that_goes_away_ends_the_stream_with_its_problem(tmp_path: Path) -> None:
    async def test(watch: Watching) -> None:
        watcher = watch.enter(found(ended_crawl(tmp_path / "crawl")))
        await next_live(watcher)
        shutil.rmtree(tmp_path / "crawl")
        await until(lambda: watcher.is_ended)
        assert watcher.problem is not None
        assert "not a crawl" in watcher.problem.says
        watch.leave(watcher)
        # Who comes again is told of what is there then.
        again = watch.enter(found(ended_crawl(tmp_path / "crawl")))
        assert (await next_live(again)).new["pages"] == (1, 2, 3, 4)
        watch.leave(again)

    watched(test)


def test_only_so_many_may_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_WATCHERS", 2)

    async def test(watch: Watching) -> None:
        crawl = found(ended_crawl(tmp_path / "crawl"))
        both = [watch.enter(crawl), watch.enter(crawl)]
        with pytest.raises(TooBusy):
            watch.enter(crawl)
        watch.leave(both[0])
        both[0] = watch.enter(crawl)
        for each in both:
            watch.leave(each)

    watched(test)


def test_the_time_between_two_runs_is_left_out(tmp_path: Path) -> None:
    reader = LiveReader(found(tmp_path / "crawl"))
    with begin_crawl(tmp_path / "crawl") as store:
        assert reader.read(whole=True, look=False).whole is not None
        store.add(run_row(2, NOON_S + 1000))
        go_on(store, 5, 1002.0, run=2)
        go_on(store, 6, 1003.0, run=2)
        news = reader.read(whole=False, look=False).news
        assert news is not None
        assert (news.new["seconds"], news.new["pages_per_s"]) == ((6.0, 7.0), (0.8, 5 / 6))
        assert reader.read(whole=False, look=True).news is None
    reader.close()


def test_pauses_are_left_out_as_in_the_whole_curve(tmp_path: Path) -> None:
    reader = LiveReader(found(tmp_path / "crawl"))
    with begin_crawl(tmp_path / "crawl") as store:
        assert reader.read(whole=True, look=False).whole is not None
        for seconds, is_paused in ((5.0, True), (6.0, True), (95.0, True), (96.0, False)):
            store.add(sample(4, seconds, paused=is_paused))
        store.commit()
        read = reader.read(whole=False, look=False).news
        assert read is not None
        assert read.new["seconds"] == (5.0, 5.0, 5.0, 6.0)
        whole = reader.read(whole=True, look=False).whole
        assert whole is not None
        assert whole.new["seconds"][-4:] == read.new["seconds"]
    reader.close()


def test_a_crawl_in_the_place_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    reader = LiveReader(found(ended_crawl(tmp_path / "crawl")))
    reader.read(whole=True, look=False)
    (tmp_path / "crawl").rename(tmp_path / "old")
    ended_crawl(tmp_path / "crawl")
    with pytest.raises(InvalidInput, match="replaced"):
        reader.read(whole=False, look=True)
    reader.close()


class Stream:
    """A reader of the events of a crawl, who may leave."""

    def __init__(self, asker: Asker, path: str = "/api/crawls/crawl/events") -> None:
        self.told: list[Any] = []
        self.left = asyncio.Event()
        headers = [(b"host", HOST.encode())]
        self.task = asyncio.create_task(asker.dashboard.app(scope("GET", path, headers), self._receive, self._send))

    async def _receive(self) -> Any:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.told.append(message)

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.told).decode()

    async def until(self, word: str) -> None:
        await until(lambda: word in self.text, word)


def test_events_are_sent_as_browsers_read_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.1)
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        stream = Stream(Asker(tmp_path))
        await stream.until(": still here\n\n")
        assert dict(stream.told[0]["headers"])[b"content-type"].startswith(b"text/event-stream")
        retry, live, *_ = stream.text.split("\n\n")
        assert retry == "retry: 2000"
        name, data = live.split("\n")
        assert name == "event: live"
        assert json.loads(data.removeprefix("data: "))["new"]["pages"] == [1, 2, 3, 4]
        stream.left.set()
        await stream.task

    asyncio.run(test())


def test_who_leaves_is_watched_for_no_more(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        asker = Asker(tmp_path)
        stream = Stream(asker)
        await stream.until("event: live")
        assert asker.dashboard.watching.n_pollers == 1
        stream.left.set()
        await asyncio.wait_for(stream.task, WAIT_S)
        assert asker.dashboard.watching.n_pollers == 0

    asyncio.run(test())


def test_when_the_dashboard_ends_all_streams_end_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 2 * WAIT_S)
    ended_crawl(tmp_path / "crawl")

    async def test() -> None:
        asker = Asker(tmp_path)
        streams = [Stream(asker) for _ in range(3)]
        for stream in streams:
            await stream.until("event: live")
        asker.dashboard.watching.end()
        for stream in streams:
            await asyncio.wait_for(stream.task, WAIT_S)
            assert stream.told[-1] == {"type": "http.response.body", "body": b"", "more_body": False}

    asyncio.run(test())


def test_a_question_for_the_head_alone_is_answered_at_once_and_watches_nothing(tmp_path: Path) -> None:
    asker = Asker(ended_crawl(tmp_path / "crawl"))
    answer = asker.ask("HEAD", "/api/crawls/crawl/events", {})
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
    assert asker.dashboard.watching.n_pollers == 0
    assert asker.ask("HEAD", "/api/crawls/gone/events", {}).status == 404
