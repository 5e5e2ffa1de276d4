"""Runs, samples, state and recent hosts of a crawl."""

import os
from pathlib import Path

import pytest

from live_site import live_site, started
from scenthound.crawler.live_crawl import MAX_RECENT_HOSTS, HostStatisticsTable
from scenthound.crawler.state import SampleRecorder, State, crawl_state
from scenthound.crawler.tasks import Hosts
from scenthound.errors import InvalidInput
from scenthound.frontier.politeness import Politeness, PolitenessSettings, RequestOutcome
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_folder import DATABASE_FILE
from scenthound.store.crawl_records import CrawlStatus, HostState, HostStatistics, RelevanceRecord, RunRecord, Sample
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import NOON_S, add_page, new_crawl, response
from timing import WAIT_S, wait_until


class Notes:
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.statuses: list[bytes] = []

    def add(self, row: Sample) -> None:
        self.samples.append(row)

    def set_status(self, as_json: bytes) -> None:
        self.statuses.append(as_json)


def status(seconds: float, pages: int = 0, **changes: object) -> CrawlStatus:
    values: dict[str, object] = {
        "time_s": NOON_S + seconds,
        "run": 1,
        "paused": False,
        "seconds_left": None,
        "n_pages": pages,
        "page_budget": 100,
        "seconds": seconds,
        "pages_per_s": pages / seconds if seconds else 0.0,
        "harvest": 0.25,
        "recent_harvest": 0.5,
        "frontier": 7,
        "in_flight": 2,
        "hosts_active": 2,
        "hosts_waiting": 3,
        "hosts_ready": 4,
        "hosts_disabled": 1,
        "regret": None,
        "n_skipped": 5,
        "reasons": {SkipReason.ROBOTS: 5},
    }
    return CrawlStatus(**{**values, **changes})  # type: ignore[arg-type]


def test_a_sample_is_taken_each_second_and_later_each_thousandth_of_the_crawls_age() -> None:
    notes = Notes()
    samples = SampleRecorder(notes)
    for tenth in range(100):
        samples.record(status(tenth / 10))
    # At 0, 1, ... 9 s.
    assert [row.time_s - NOON_S for row in notes.samples] == list(range(10))
    assert len(notes.statuses) == 100
    old = SampleRecorder(old_notes := Notes(), run=2, age_before_s=20_000)
    for second in range(100):
        old.record(status(float(second)))
    # A thousandth of 20,000 s, then of 20,020 s (due at 40.02 s), and so on.
    assert [row.time_s - NOON_S for row in old_notes.samples] == [0, 20, 41, 62, 83]
    old.record(status(99.5), is_last=True)
    assert old_notes.samples[-1].time_s == NOON_S + 99.5


def test_the_stored_speed_is_that_of_the_last_ten_seconds(tmp_path: Path) -> None:
    host = HostStatistics("a.test", HostState.WAITING, 1.5, 3)
    with new_crawl(tmp_path / "crawl") as store:
        samples = SampleRecorder(store)
        # 2 pages a second for 20 s, then 5 a second for 10 s.
        for second in range(31):
            pages = 2 * second if second <= 20 else 40 + 5 * (second - 20)
            samples.record(status(float(second), pages, host_statistics=(host,)))
        store.commit()
        stored = store.status()
    assert stored is not None
    assert stored.pages_per_s == 5.0
    # 90 of 100 pages are visited.
    assert (stored.n_pages, stored.seconds_left) == (90, 2.0)
    assert stored.host_statistics == (host,)
    assert stored.reasons == {SkipReason.ROBOTS: 5}


def test_runs_samples_and_relevance_models_are_read_as_they_were_written(tmp_path: Path) -> None:
    first = RunRecord(1, NOON_S, 0, 4711, "0.5.0")
    ended = RunRecord(1, NOON_S, 0, 4711, "0.5.0", NOON_S + 9, EndReason.TIME.value)
    sample = Sample(NOON_S, 1, 5, 10, 0.5, 0.25, None, 7, 1, 2, 3, 4, 0, 6, paused=True)
    relevance_model = RelevanceRecord(3, NOON_S, "svm", "relevance_models/1", 4, 5)
    with new_crawl(tmp_path / "crawl") as store:
        before = store.change_counter()
        store.add(first)
        store.add(sample)
        store.add(relevance_model)
        store.commit()
        assert store.change_counter() != before
        store.add(ended)
        store.add(sample)
        store.commit()
        assert store.runs() == [ended]
        assert store.samples() == [(1, sample), (2, sample)]
        assert store.samples(after=1) == [(2, sample)]
        assert store.relevance_models() == [relevance_model]


def test_one_address_is_found_by_its_number_alone(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls([f"http://a.test/{number}" for number in range(100)])
        store.commit()
        store.add_urls(["http://b.test/é", "http://b.test/\udc80"])
        store.commit()
        assert [store.url_of(number) for number in (0, 99, 100, 101)] == [
            "http://a.test/0",
            "http://a.test/99",
            "http://b.test/é",
            "http://b.test/\udc80",
        ]
        for missing in (-1, 102):
            with pytest.raises(InvalidInput, match=rf"{DATABASE_FILE} .*\bURL {missing}\b"):
                store.url_of(missing)


def test_a_crawl_without_a_process_or_an_end_has_died(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder) as store:
        assert crawl_state(store).state is State.RUNNING  # this process holds it
        with StoredCrawl.open(folder) as other:
            assert crawl_state(other).is_alive
        store.add(RunRecord(1, NOON_S, 0, 4711, "0.5.0"))
        add_page(store, 0, response())
        store.commit()
    with StoredCrawl.open(folder) as crawl:
        stands = crawl_state(crawl)
    assert (stands.state, stands.ended, stands.can_resume) == (State.DIED, None, True)


@pytest.mark.parametrize(
    ("ended", "state", "can_resume"),
    [
        (EndReason.STOPPED, State.STOPPED, True),
        (EndReason.BUDGET, State.ENDED, True),
        (EndReason.FRONTIER, State.ENDED, False),
    ],
)
def test_the_reason_why_a_crawl_ended_is_known(
    tmp_path: Path, ended: EndReason, state: State, can_resume: bool
) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add(RunRecord(1, NOON_S, 0, 1, "0.5.0", NOON_S, ended.value))
        add_page(store, 0, response())
        store.commit()
    with StoredCrawl.open(tmp_path / "crawl") as crawl:
        stands = crawl_state(crawl)
    assert (stands.state, stands.ended, stands.can_resume) == (state, ended, can_resume)


@pytest.mark.parametrize(
    ("ended", "state"),
    [(EndReason.FRONTIER, State.FAILED), (EndReason.TIME, State.FAILED), (EndReason.STOPPED, State.STOPPED)],
)
def test_a_crawl_that_ended_without_a_page_has_failed_unless_it_was_stopped(
    tmp_path: Path, ended: EndReason, state: State
) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add(RunRecord(1, NOON_S, 0, 1, "0.8.0", NOON_S, ended.value))
        store.commit()
    with StoredCrawl.open(tmp_path / "crawl") as crawl:
        assert crawl_state(crawl).state is state


def test_a_crawl_that_ended_for_a_reason_of_a_later_version_has_ended(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add(RunRecord(1, NOON_S, 0, 1, "9.9.9", NOON_S, "the moon rose"))
        store.commit()
    with StoredCrawl.open(tmp_path / "crawl") as crawl:
        assert (crawl_state(crawl).state, crawl_state(crawl).ended) == (State.ENDED, None)


def test_a_crawl_that_was_killed_has_died_and_its_next_run_is_the_second(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with live_site(tmp_path) as site:
        process = started(*site.crawl("--out", folder, "--delay", 2))
        wait_until(lambda: (folder / DATABASE_FILE).exists() and _has_begun(folder), process=process)
        process.kill()
        process.communicate()
        with StoredCrawl.open(folder) as crawl:
            assert crawl_state(crawl).state is State.DIED
        again = started("crawl", "--resume", folder, "--pages", 1, "--json")
        again.communicate(timeout=WAIT_S)
    with StoredCrawl.open(folder) as crawl:
        runs = crawl.runs()
        assert [run.run for run in runs] == [1, 2]
        assert [run.process for run in runs] == [process.pid, again.pid]
        assert runs[0].ended is None
        assert crawl_state(crawl).ended is EndReason.BUDGET
        assert crawl.samples()[-1][1].run == 2
    assert os.getpid() not in (process.pid, again.pid)


def _has_begun(folder: Path) -> bool:
    try:
        with StoredCrawl.open(folder) as crawl:
            return crawl.n_visits() > 0
    except InvalidInput:
        return False


def test_recent_hosts_are_listed_with_their_states() -> None:
    hosts, politeness = Hosts(UrlTable()), Politeness(PolitenessSettings(delay_s=10.0))
    statistics = HostStatisticsTable(hosts, politeness)
    numbers = {name: hosts.of_url(f"http://{name}.test/") for name in ("rests", "busy", "gone", "ready")}
    for name in ("rests", "busy"):
        politeness.started(numbers[name], 100.0)
    politeness.finished(numbers["rests"], 101.0, RequestOutcome(0.1))
    politeness.disable(numbers["gone"])
    for name in ("gone", "ready", "busy", "rests", "unheard-of"):
        statistics.note_response(f"http://{name}.test/page")
    statistics.note_page("http://rests.test/page")
    # It rests from 101 s to 111 s.
    assert statistics.recent(104.0) == (
        HostStatistics("unheard-of.test", HostState.READY, None, 0),
        HostStatistics("rests.test", HostState.WAITING, 7.0, 1),
        HostStatistics("busy.test", HostState.ACTIVE, None, 0),
        HostStatistics("ready.test", HostState.READY, None, 0),
        HostStatistics("gone.test", HostState.DISABLED, None, 0),
    )
    # To look a host up gives it no number: those are the engine's to give.
    assert len(hosts) == 4
    for number in range(2 * MAX_RECENT_HOSTS):
        statistics.note_response(f"http://h{number}.test/")
    assert [host.host for host in statistics.recent(104.0)] == [
        f"h{59 - index}.test" for index in range(MAX_RECENT_HOSTS)
    ]
