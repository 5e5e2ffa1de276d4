"""A running crawl can be paused, resumed and stopped; page budget and relevance model can be changed."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from scenthound.crawler import control
from scenthound.crawler.control import (
    CONTROL_FILE,
    Control,
    Controller,
    pause,
    set_page_budget,
    stop,
    use_relevance_model,
)
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.start import CrawlSummary, crawl, resume
from scenthound.crawler.state import CrawlState, State, crawl_state
from scenthound.errors import InvalidInput, InvalidParameter, UsageError
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.reasons import EndReason
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.static_server import StaticPage, StaticServer
from timing import WAIT_S
from virtual_site import TOPIC, page_of_words

if TYPE_CHECKING:
    from scenthound.crawler.state import SampleRecorder
    from scenthound.store.crawl_store import CrawlStore

N_PAGES = 60
N_HOSTS = 6
BUDGET = 30


#: Pages that are served before `may_go_on` is set: a busy machine may commit them late.
N_SERVED_FIRST = 10
may_go_on = threading.Event()


@pytest.fixture
def server() -> Iterator[StaticServer]:
    """A ring of pages on six hosts; each links to the next three."""
    made: dict[str, str] = {}
    n_served = itertools.count()
    may_go_on.set()

    def page_of(host: str, path: str) -> StaticPage | None:
        html = made.get(f"http://{host}{path}")
        if html is not None and next(n_served) >= N_SERVED_FIRST:
            may_go_on.wait(WAIT_S)
        return None if html is None else StaticPage(html.encode())

    with StaticServer(page_of) as server:
        for number in range(N_PAGES):
            links = [server.url(url((number + step) % N_PAGES)) for step in (1, 2, 3)]
            made[url(number)] = page_of_words(f"sea {number}", links, seed=number)
        yield server


def url(number: int) -> str:
    return f"http://h{number % N_HOSTS}.test/{number}"


def plan(server: StaticServer) -> CrawlSettings:
    """A crawl of half a second or so."""
    return CrawlSettings(
        TOPIC,
        (server.url(url(0)),),
        strategy="breadth_first",
        relevance="cosine",
        page_budget=BUDGET,
        politeness=PolitenessSettings(delay_s=0.05, delay_factor=0.0),
        allow_private=True,
        hosts={f"h{number}.test": "127.0.0.1" for number in range(N_HOSTS)},
    )


class Steersman:
    """Watches a crawl, and calls a function once, after this many pages."""

    def __init__(self, at_pages: int, do: Callable[[], object]) -> None:
        self._at_pages = at_pages
        self._do = do
        self.is_done = False
        self.seen: list[CrawlStatus] = []

    def watch(self, status: CrawlStatus) -> None:
        self.seen.append(status)
        if not self.is_done and status.n_pages >= self._at_pages:
            self.is_done = True
            self._do()
            may_go_on.set()


def crawled(server: StaticServer, folder: Path, at_pages: int, do: Callable[[], object]) -> CrawlSummary:
    steersman = Steersman(at_pages, do)
    may_go_on.clear()
    summary = crawl(plan(server), folder, RunOptions(commit_s=0.01, watch_s=0.01, watch=steersman.watch))
    assert steersman.is_done
    return summary


def state_of(folder: Path) -> CrawlState:
    with StoredCrawl.open(folder) as opened:
        return crawl_state(opened)


def test_a_paused_crawl_makes_no_request_until_it_is_resumed(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    still: list[CrawlStatus] = []
    states: list[State] = []

    def watch(status: CrawlStatus) -> None:
        if status.n_pages >= 5 and not states and not status.paused:
            pause(folder)
        if status.paused and not status.in_flight and not states:
            # Commits of what was taken before may come late.
            if still and still[-1].n_pages != status.n_pages:
                still.clear()
            still.append(status)
            if len(still) == 20:
                states.append(state_of(folder).state)
                control.resume(folder)

    summary = crawl(plan(server), folder, RunOptions(commit_s=0.01, watch_s=0.01, watch=watch))
    assert (summary.ended, summary.status.n_pages) == (EndReason.BUDGET, BUDGET)
    assert states == [State.PAUSED]
    # Two hundred milliseconds without a page, in which a crawl that is not paused takes a dozen.
    assert len(still) == 20
    assert 5 <= still[0].n_pages < BUDGET
    assert still[10].seconds_left is None
    with StoredCrawl.open(folder) as opened:
        assert len(list(opened.visits())) == BUDGET


def test_a_stopped_crawl_can_be_resumed(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    summary = crawled(server, folder, 5, lambda: stop(folder))
    assert summary.ended is EndReason.STOPPED
    assert 5 <= summary.status.n_pages < BUDGET
    assert state_of(folder).state is State.STOPPED
    # The command was for that run: the next one runs to its end.
    assert resume(folder).status.n_pages == BUDGET
    assert (state_of(folder).state, state_of(folder).ended) == (State.ENDED, EndReason.BUDGET)


def test_a_crawl_that_is_paused_can_be_stopped(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"

    def pause_and_stop() -> None:
        pause(folder)
        stop(folder)

    assert crawled(server, folder, 5, pause_and_stop).ended is EndReason.STOPPED


@pytest.mark.parametrize("pages", [12, 45])
def test_another_page_budget_counts_at_once_and_for_later_runs(
    server: StaticServer, tmp_path: Path, pages: int
) -> None:
    folder = tmp_path / "crawl"
    summary = crawled(server, folder, 5, lambda: set_page_budget(folder, pages))
    assert (summary.ended, summary.page_budget) == (EndReason.BUDGET, pages)
    # Pages in flight when the budget shrank still come in.
    assert pages <= summary.status.n_pages <= pages + N_HOSTS
    assert StopConditions.read(folder).page_budget == pages
    with StoredCrawl.open(folder) as opened:
        assert {row.page_budget for _, row in opened.samples()} == {BUDGET, pages}


def test_only_the_page_budget_can_be_set_while_a_crawl_is_not_running(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    crawl(plan(server), folder)
    for command in (pause, control.resume, stop):
        with pytest.raises(UsageError, match=State.ENDED):
            command(folder)
    set_page_budget(folder, 40)
    assert resume(folder).status.n_pages == 40
    with pytest.raises(InvalidParameter, match=r"pages\b.*\b0\b"):
        set_page_budget(folder, 0)
    with pytest.raises(InvalidInput, match="elsewhere"):
        pause(tmp_path / "elsewhere")


def write_training_pages(folder: Path, name: str) -> None:
    for kind, words in (("positive", "sea wave ship"), ("negative", "train rail steam")):
        training = folder / name / kind
        training.mkdir(parents=True)
        for number in range(3):
            (training / f"{number}.html").write_text(f"<title>{kind}</title><p>{words} {number}")


def test_a_retrained_model_scores_further_pages_and_later_runs(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"

    def learn() -> None:
        write_training_pages(folder, "relevance_models/1")
        use_relevance_model(folder, "relevance_models/1")

    crawled(server, folder, 5, learn)
    with StoredCrawl.open(folder) as opened:
        (relevance_model,) = opened.relevance_models()
        relevance = {row.visit: row.relevance for row in opened.visits()}
    assert (
        relevance_model.folder,
        relevance_model.relevance,
        relevance_model.n_positive,
        relevance_model.n_negative,
    ) == ("relevance_models/1", "svm", 3, 3)
    before = {relevance[visit] for visit in range(relevance_model.visit)}
    after = {relevance[visit] for visit in range(relevance_model.visit, BUDGET)}
    assert 5 <= relevance_model.visit < BUDGET
    # The cosine gives each page of the ring about the same; the probabilities of the machine are others.
    assert max(before) < min(after) or max(after) < min(before)
    resume(folder, RunOptions(page_budget=BUDGET + 5))
    with StoredCrawl.open(folder) as opened:
        later = {row.relevance for row in opened.visits(BUDGET)}
    assert min(after) - 0.05 <= min(later) <= max(later) <= max(after) + 0.05


def test_a_model_retrained_between_runs_is_recorded_once(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    crawl(plan(server), folder)
    write_training_pages(folder, "relevance_models/1")
    use_relevance_model(folder, "relevance_models/1")
    for pages in (BUDGET + 5, BUDGET + 10):
        resume(folder, RunOptions(page_budget=pages))
    with StoredCrawl.open(folder) as opened:
        (relevance_model,) = opened.relevance_models()
        before, after = (row.relevance for row in list(opened.visits())[BUDGET - 1 : BUDGET + 1])
    assert (relevance_model.visit, relevance_model.folder, relevance_model.relevance) == (
        BUDGET,
        "relevance_models/1",
        "svm",
    )
    assert abs(before - after) > 0.05


def test_a_model_that_cannot_be_trained_changes_nothing_and_the_status_has_the_reason(
    server: StaticServer, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"

    def learn() -> None:
        write_training_pages(folder, "relevance_models/1")
        use_relevance_model(folder, "relevance_models/1")
        for file in (folder / "relevance_models/1/negative").iterdir():
            file.unlink()

    assert crawled(server, folder, 5, learn).ended is EndReason.BUDGET
    with StoredCrawl.open(folder) as opened:
        assert opened.relevance_models() == []
        status = opened.status()
        assert status is not None
        assert "negative" in status.problem
    assert StopConditions.read(folder).relevance_model is None


def test_a_model_outside_the_crawl_folder_is_rejected(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    crawl(plan(server), folder)
    write_training_pages(tmp_path, "other")
    with pytest.raises(UsageError, match=r"\.\./other"):
        use_relevance_model(folder, "../other")


def test_concurrent_commands_are_all_applied(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"

    def wish_all() -> None:
        with ThreadPoolExecutor(8) as wishing:
            wishing.map(lambda pages: set_page_budget(folder, pages), range(40, 47))
            wishing.submit(stop, folder)

    assert crawled(server, folder, 5, wish_all).ended is EndReason.STOPPED
    wanted = Control.read(folder)
    assert wanted is not None
    assert wanted.stop
    assert wanted.page_budget in range(40, 47)


def test_commands_for_another_run_and_invalid_files_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Control] = []
    samples = cast("SampleRecorder", SimpleNamespace(run=2, problem=""))
    store = cast("CrawlStore", SimpleNamespace(folder=tmp_path))
    unused = cast("Any", None)
    controller = Controller(unused, unused, unused, store, samples=samples, clock=time.time)
    monkeypatch.setattr(controller, "_apply", lambda control, _before: seen.append(control))
    controller.poll()
    Control(1, stop=True).write(tmp_path)
    controller.poll()
    others = (b"", b"[1]", b'{"run": 2, "fly": true}', b'{"run": 2, "page_budget": "9"}', b"{" * 20_000)
    others += (b'{"run": 2, "relevance_model": "a\\u0000b"}', b'{"run": 2, "relevance_model": "../models/1"}')
    for content in (*others, b'{"run": 2}' + b" " * 20_000):
        (tmp_path / CONTROL_FILE).write_bytes(content)
        controller.poll()
    assert not seen
    wanted = Control(2, paused=True, page_budget=7)
    wanted.write(tmp_path)
    for _ in range(2):
        controller.poll()
        assert seen == [wanted]
