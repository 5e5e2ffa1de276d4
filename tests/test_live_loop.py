"""A live crawl on the real clock: how it ends, what it does with errors, and how it reads from recordings."""

import asyncio
import gc
import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scenthound.crawler import checkpointing, clock
from scenthound.crawler.checkpointing import Checkpointer
from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.crawler.runner import MAX_PAUSE_S, RunOptions, TurnTimer
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.start import crawl, resume
from scenthound.crawler.tasks import Task
from scenthound.errors import Failure, PluginError
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.processes import GC_THRESHOLD
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.checkpoints import Checkpoints
from scenthound.store.crawl_folder import CHECKPOINT_FOLDER
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.record import record
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.web.static_server import PageOf, StaticPage, StaticServer
from timing import SkippingLoop, run_virtual, skip
from virtual_site import TOPIC, page_of_words

N_PAGES = 60


def url(number: int) -> str:
    return f"http://h{number % 6}.test/{number}"


def filled_later(pages: dict[str, str]) -> PageOf:
    """Pages that link to their server, whose port is known only when it runs."""

    def page_of(host: str, path: str) -> StaticPage | None:
        html = pages.get(f"http://{host}{path}")
        return None if html is None else StaticPage(html.encode())

    return page_of


@pytest.fixture
def server() -> Iterator[StaticServer]:
    """A ring of pages on six hosts; each links to the next three."""
    made: dict[str, str] = {}
    with StaticServer(filled_later(made)) as server:
        for number in range(N_PAGES):
            links = [server.url(url((number + step) % N_PAGES)) for step in (1, 2, 3)]
            made[url(number)] = page_of_words(f"sea {number}", links, seed=number)
        yield server


def plan(server: StaticServer, **settings: Any) -> CrawlSettings:
    chosen: dict[str, Any] = {
        "strategy": "breadth_first",
        "politeness": PolitenessSettings(delay_s=0.0, delay_factor=0.0),
        "allow_private": True,
        "hosts": {f"h{number}.test": "127.0.0.1" for number in range(6)},
    }
    return CrawlSettings(TOPIC, (server.url(url(0)),), **chosen | settings)


def visited(folder: Path) -> list[str]:
    with CrawlStore.open(folder) as store:
        return [row.url for row in store.visits()]


def test_a_running_crawl_writes_checkpoints_in_another_process(
    server: StaticServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And continues meanwhile; a crawl that is resumed from such a checkpoint, not from its last one, goes on."""
    monkeypatch.setattr(checkpointing, "MIN_EVENTS", 30)
    monkeypatch.setattr(checkpointing, "MAX_TIME_SHARE", math.inf)
    monkeypatch.setattr(Checkpointer, "write_last", Checkpointer.close)
    slow = plan(server, politeness=PolitenessSettings(delay_s=0.05, delay_factor=0.0), page_budget=40)
    crawl(slow, tmp_path / "crawl", RunOptions(commit_s=0.02))
    checkpoints = Checkpoints(tmp_path / "crawl" / CHECKPOINT_FOLDER)
    numbers = [position["visits"] for _, position in checkpoints.newest("position")]
    assert numbers
    assert 0 < numbers[0] <= 40
    done = resume(tmp_path / "crawl", RunOptions(page_budget=N_PAGES))
    assert (done.ended, done.n_caught_up) == (EndReason.BUDGET, 0)
    assert sorted(visited(tmp_path / "crawl")) == sorted(server.url(url(number)) for number in range(N_PAGES))


def test_a_crawl_ends_with_its_budget_or_with_the_last_page(server: StaticServer, tmp_path: Path) -> None:
    few = crawl(plan(server, page_budget=10), tmp_path / "few")
    assert (few.ended, few.status.n_pages, len(visited(tmp_path / "few"))) == (EndReason.BUDGET, 10, 10)
    everything = crawl(plan(server), tmp_path / "all")
    assert (everything.ended, len(set(visited(tmp_path / "all")))) == (EndReason.FRONTIER, N_PAGES)


def test_a_crawl_that_reached_its_budget_resumes_with_a_larger_one(server: StaticServer, tmp_path: Path) -> None:
    crawl(plan(server, page_budget=10), tmp_path / "crawl")
    done = resume(tmp_path / "crawl", RunOptions(page_budget=25))
    assert (done.ended, len(set(visited(tmp_path / "crawl")))) == (EndReason.BUDGET, 25)
    pages = {request: count for request, count in server.requests.items() if "robots" not in request}
    assert set(pages.values()) == {1}
    assert len(pages) == 25


def test_robots_txt_is_not_requested_again_by_a_later_run(server: StaticServer, tmp_path: Path) -> None:
    crawl(plan(server, page_budget=30), tmp_path / "crawl")
    resume(tmp_path / "crawl", RunOptions(page_budget=50))
    robots = {request: count for request, count in server.requests.items() if "robots" in request}
    assert set(robots.values()) == {1}
    assert len(robots) == 6


def test_delays_are_kept_by_a_run_whose_clock_was_set_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived_s: list[float] = []

    def page_of(host: str, path: str) -> StaticPage | None:
        arrived_s.append(time.monotonic())
        number = int(path[1:]) if path[1:].isdigit() else N_PAGES
        return StaticPage(f"<a href='/{number + 1}'>next</a>".encode()) if number < N_PAGES else None

    delay_s = 1.5
    with StaticServer(page_of) as server:
        slow = plan(server, politeness=PolitenessSettings(delay_s=delay_s, delay_factor=0.0), page_budget=1)
        crawl(slow, tmp_path / "crawl")
        day_ahead = SimpleNamespace(time=lambda: time.time() + 86_400.0, monotonic=time.monotonic)
        monkeypatch.setattr(clock, "time", day_ahead)
        resume(tmp_path / "crawl", RunOptions(page_budget=2))
    assert len(visited(tmp_path / "crawl")) == 2
    assert min(after - before for before, after in itertools.pairwise(arrived_s)) >= delay_s


def test_a_crawl_ends_when_its_time_is_up(
    server: StaticServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenthound.crawler.start.loop_factory", lambda: SkippingLoop)
    slow = plan(server, politeness=PolitenessSettings(delay_s=0.3))
    skipped: list[float] = []

    def watch(status: CrawlStatus) -> None:
        if status.n_pages and not skipped:
            skipped.append(3_600)
            skip(3_600)

    done = crawl(slow, tmp_path / "crawl", RunOptions(time_s=3_600, commit_s=0.02, watch_s=0.01, watch=watch))
    assert done.ended is EndReason.TIME
    assert 0 < len(visited(tmp_path / "crawl")) < N_PAGES


def test_a_crawl_ends_when_the_harvest_falls_below_the_floor(server: StaticServer, tmp_path: Path) -> None:
    # Every page is about the sea, as far as cosines go a little; none is worth 0.9. The window is of 200 pages, so
    # that this web is too small for it to be full, and the crawl goes to its end.
    assert crawl(plan(server), tmp_path / "small", RunOptions(harvest_floor=0.9)).ended is EndReason.FRONTIER
    many: dict[str, str] = {}
    with StaticServer(filled_later(many)) as large:
        for number in range(400):
            links = [large.url(f"http://h{(number + 1) % 6}.test/{number + 1}")]
            many[f"http://h{number % 6}.test/{number}"] = page_of_words("sea", links, seed=number)
        done = crawl(plan(large), tmp_path / "large", RunOptions(harvest_floor=0.9))
    assert done.ended is EndReason.HARVEST
    assert 200 <= done.status.n_pages < 250


@pytest.mark.parametrize("method", ["tell", "ask"])
def test_an_error_in_a_strategy_ends_the_crawl_and_visited_pages_stay(
    method: str, server: StaticServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = itertools.count()
    working = getattr(BreadthFirst, method)

    def works_until_it_fails(self: BreadthFirst, *arguments: Any) -> Any:
        if next(calls) == 8:
            raise ZeroDivisionError("the strategy's own fault")
        return working(self, *arguments)

    monkeypatch.setattr(BreadthFirst, method, works_until_it_fails)
    settings = plan(server)
    with pytest.raises(PluginError, match=f"{settings.strategy}.*`{method}`: ZeroDivisionError") as raised:
        crawl(settings, tmp_path / "crawl", RunOptions(commit_s=3600))
    assert "\n" not in str(raised.value)
    monkeypatch.undo()
    stored = visited(tmp_path / "crawl")
    assert stored
    assert method == "ask" or len(stored) == 8
    assert resume(tmp_path / "crawl").ended is EndReason.FRONTIER
    assert visited(tmp_path / "crawl")[: len(stored)] == stored
    assert len(set(visited(tmp_path / "crawl"))) == N_PAGES


def test_a_full_disk_ends_the_crawl_in_one_line(
    server: StaticServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "full-disk")

    monkeypatch.setattr("scenthound.store.archive.ArchiveWriter.write", full)
    with pytest.raises(Failure, match="full-disk") as raised:
        crawl(plan(server), tmp_path / "crawl")
    assert "\n" not in str(raised.value)
    monkeypatch.undo()
    assert resume(tmp_path / "crawl").ended is EndReason.FRONTIER
    assert len(set(visited(tmp_path / "crawl"))) == N_PAGES


def test_watchers_see_pages_on_disk_only(server: StaticServer, tmp_path: Path) -> None:
    reported: list[tuple[int, int]] = []

    def watch(status: CrawlStatus) -> None:
        with StoredCrawl.open(tmp_path / "crawl") as store:
            reported.append((status.n_pages, store.n_visits()))

    crawl(plan(server, politeness=PolitenessSettings(delay_s=0.02)), tmp_path / "crawl", _often(watch))
    assert all(n_reported <= n_stored for n_reported, n_stored in reported)
    assert reported[-1] == (N_PAGES, N_PAGES)


def test_garbage_is_collected_less_often_only_while_a_crawl_runs(server: StaticServer, tmp_path: Path) -> None:
    before, meanwhile = gc.get_threshold(), set()

    def watch(_: CrawlStatus) -> None:
        meanwhile.add(gc.get_threshold()[0])

    crawl(plan(server, politeness=PolitenessSettings(delay_s=0.02)), tmp_path / "crawl", _often(watch))
    assert GC_THRESHOLD in meanwhile
    assert gc.get_threshold() == before


def test_turns_without_enough_ready_hosts_take_a_tenth_of_the_time_at_most(
    server: StaticServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts wait most of the time, so that turns rarely fill their room, while responses make room at any time."""
    turns: list[tuple[float, float, bool]] = []
    turn = LiveCrawl.turn

    def slow_turn(crawl: LiveCrawl, now_s: float, room: int, page_budget: int) -> list[Task]:
        began_s = time.monotonic()
        time.sleep(0.004)
        tasks = turn(crawl, now_s, room, page_budget)
        turns.append((began_s, time.monotonic(), len(tasks) < room and not crawl.engine.wants_turn))
        return tasks

    monkeypatch.setattr(LiveCrawl, "turn", slow_turn)
    crawl(plan(server, page_budget=25, politeness=PolitenessSettings(delay_s=0.01)), tmp_path / "crawl")
    unfilled = [
        (ended_s - began_s, next_s - ended_s)
        for (began_s, ended_s, is_unfilled), (next_s, _, _) in itertools.pairwise(turns)
        if is_unfilled
    ]
    assert len(unfilled) >= 5
    # A pause is nine times as long as its turn, up to a second; the loop's clock may go by milliseconds.
    assert all(pause_s > min(9 * (turn_s - 0.001), MAX_PAUSE_S) - 0.002 for turn_s, pause_s in unfilled)


@pytest.mark.parametrize(("turn_s", "pause_s"), [(0.01, 0.09), (0.1, 0.9), (6.0, 1.0), (3_600.0, 1.0)])
def test_no_pause_after_a_turn_is_longer_than_a_second(turn_s: float, pause_s: float) -> None:
    """A process that is stopped within a turn seems to have a turn of that length."""

    async def pause() -> float:
        loop = asyncio.get_running_loop()
        is_due = asyncio.Event()
        turns, ended_s = TurnTimer(loop, is_due.set), loop.time()
        turns.pause_after(ended_s - turn_s)
        turns.within(0.0)
        await is_due.wait()
        return loop.time() - ended_s

    assert run_virtual(pause()) == pytest.approx(pause_s, abs=0.002)


def _often(watch: Callable[[CrawlStatus], None]) -> RunOptions:
    return RunOptions(commit_s=0.02, watch_s=0.01, watch=watch)


def test_pages_of_a_recording_are_read_and_only_the_others_fetched(server: StaticServer, tmp_path: Path) -> None:
    crawl(plan(server, page_budget=30), tmp_path / "first")
    recorded = set(visited(tmp_path / "first"))
    record([tmp_path / "first"], tmp_path / "web", workers=1)
    server.requests.clear()
    done = crawl(plan(server, web=str(tmp_path / "web")), tmp_path / "second")
    assert (done.ended, len(set(visited(tmp_path / "second")))) == (EndReason.FRONTIER, N_PAGES)
    fetched = {request for request in server.requests if "robots" not in request}
    assert fetched == set(visited(tmp_path / "second")) - recorded
    with CrawlStore.open(tmp_path / "second") as store:
        assert {row.url for row in store.visits() if row.location is None} == recorded


def test_offline_nothing_is_fetched(server: StaticServer, tmp_path: Path) -> None:
    crawl(plan(server, page_budget=30), tmp_path / "first")
    server.requests.clear()
    done = crawl(plan(server, web=str(tmp_path / "first"), offline=True), tmp_path / "second")
    assert done.ended is EndReason.FRONTIER
    assert len(visited(tmp_path / "second")) == 30
    assert set(done.reasons) == {SkipReason.NOT_RECORDED}
    assert not server.requests


def test_a_summary_counts_the_reasons_of_all_runs(server: StaticServer, tmp_path: Path) -> None:
    sound = plan(server, page_budget=5)
    dead = server.url("http://h0.test/dead")
    done = crawl(replace(sound, seeds=(dead, *sound.seeds)), tmp_path / "crawl")
    assert done.reasons == {SkipReason.CLIENT_ERROR: 1}
    assert resume(tmp_path / "crawl", RunOptions(page_budget=8)).reasons == {SkipReason.CLIENT_ERROR: 1}
