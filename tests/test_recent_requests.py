"""Hosts of requests that a killed crawl did not record."""

from contextlib import closing, suppress
from pathlib import Path

import pytest

from scenthound.crawler import recent_requests
from scenthound.crawler.journal import Journal, Resumed, read_journal
from scenthound.crawler.recent_requests import LatestRequests, RecentRequests, hash_of, latest_requests
from scenthound.crawler.replay import started
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.tasks import Kind
from scenthound.frontier.politeness import (
    Politeness,
    PolitenessSettings,
    RequestOutcome,
    UnrecordedRequests,
)
from scenthound.store.crawl_store import CrawlStore
from virtual_site import Killed, VirtualSite, crawl_virtually, plan


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recent_requests"


def hashes(*hosts: str) -> frozenset[int]:
    return frozenset(map(hash_of, hosts))


def opened(path: Path, now_s: float, ahead_s: float = 0.0, *, is_first: bool = False) -> RecentRequests:
    return RecentRequests(path, now_s, ahead_s, is_first=is_first)


def read(path: Path) -> LatestRequests:
    latest = latest_requests(path)
    assert latest is not None
    return latest


def hosts_since(path: Path, time_s: float) -> frozenset[int] | None:
    latest = latest_requests(path)
    return None if latest is None else latest.hosts_since(time_s)


def test_requests_since_a_time_are_known_without_closing_the_file(path: Path) -> None:
    requests = opened(path, 0.0, is_first=True)
    for time_s, host in ((1.0, "a.test"), (2.0, "b.test"), (3.0, "a.test"), (3.5, "c.test")):
        requests.note(host, time_s)
    assert hosts_since(path, 3.0) == hashes("a.test", "c.test")
    assert hosts_since(path, 4.0) == frozenset()


def test_the_next_run_continues_the_file(path: Path) -> None:
    opened(path, 0.0, is_first=True).note("a.test", 5.0)
    opened(path, 6.0).note("b.test", 7.0)
    assert hosts_since(path, 4.0) == hashes("a.test", "b.test")


def test_nothing_is_known_without_a_file(path: Path) -> None:
    assert hosts_since(path, 0.0) is None
    path.write_bytes(b"short")
    assert hosts_since(path, 0.0) is None


def test_nothing_is_known_of_the_time_before_a_file(path: Path) -> None:
    opened(path, 10.0).note("a.test", 11.0)
    assert hosts_since(path, 9.0) is None
    assert hosts_since(path, 10.0) == hashes("a.test")


def test_nothing_is_known_after_the_system_was_started_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(path, 0.0, is_first=True).note("a.test", 1.0)
    monkeypatch.setattr(recent_requests, "_boot_id", lambda: b"another".ljust(40, b"\0"))
    assert hosts_since(path, 0.5) is None
    opened(path, 2.0).note("b.test", 3.0)
    assert hosts_since(path, 0.5) is None
    assert hosts_since(path, 2.5) == hashes("b.test")


def test_nothing_is_known_if_there_were_too_many_requests(path: Path) -> None:
    requests = opened(path, 0.0, is_first=True)
    for number in range(recent_requests.N_ENTRIES + 1):
        requests.note(f"h{number}.test", 10.0 + number)
    assert hosts_since(path, 5.0) is None
    assert hosts_since(path, 20.0) is not None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    requests = opened(tmp_path / "missing" / "file", 0.0)
    requests.note("a.test", 1.0)
    requests.close()


def test_only_hosts_of_unrecorded_requests_wait_again() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=8.0))
    for host in range(3):
        politeness.started(host, 10.0)
        politeness.finished(host, 10.5, RequestOutcome(0.1))
    politeness.resume(100.0, UnrecordedRequests((1,)))
    assert [politeness.ready(host, 100.0) for host in range(4)] == [True, False, True, True]
    assert politeness.ready(1, 108.0)


def test_new_hosts_wait_if_one_that_is_not_known_any_more_received_a_request() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=8.0))
    politeness.resume(100.0, UnrecordedRequests((), to_new_hosts=True))
    assert not politeness.ready(0, 107.9)
    assert politeness.ready(0, 108.0)


def test_the_address_of_an_unrecorded_request_waits_too() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=8.0, address_delay_s=2.0))
    for host in range(2):
        politeness.set_address(host, "192.0.2.1")
    politeness.resume(100.0, UnrecordedRequests((0,)))
    assert not politeness.ready(1, 101.9)
    assert politeness.ready(1, 102.0)


def test_requests_that_are_repeated_and_other_hosts_of_an_address_wait_for_each_other() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=1.0, address_delay_s=0.25))
    for host in range(4):
        politeness.set_address(host, "192.0.2.1")
    for host in range(2):
        politeness.started(host, 10.0 + host)
    politeness.resume(20.0, UnrecordedRequests((2,)))
    # Host 2 received a request before the restart, which was not recorded.
    assert politeness.reserve_address(0, 20.0, 20.0) == 20.25
    assert politeness.reserve_address(1, 20.0, 20.125) == 20.5
    assert not politeness.ready(3, 20.7)
    assert politeness.ready(3, 20.75)


def test_another_restart_does_not_postpone_requests_that_are_repeated() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=1.0, address_delay_s=8.0))
    for host in range(2):
        politeness.set_address(host, "192.0.2.1")
        politeness.started(host, 10.0 + 8 * host)
    for now_s in (20.0, 21.0, 22.0):
        politeness.resume(now_s, UnrecordedRequests())
        assert [politeness.reserve_address(host, now_s, now_s) for host in range(2)] == [26.0, 34.0]
    state = politeness.state()
    politeness.restore(state)
    assert politeness.reserve_address(0, 23.0, 23.0) == 42.0
    politeness.resume(40.0, UnrecordedRequests())
    assert politeness.reserve_address(0, 40.0, 40.0) == 40.0


@pytest.mark.parametrize("step_s", [86_400.0, 0.5, -1e6])
def test_waits_last_as_long_if_the_clock_is_set(step_s: float) -> None:
    politeness = Politeness(PolitenessSettings(delay_s=8.0, address_delay_s=4.0))
    for host in range(3):
        politeness.set_address(host, f"192.0.2.{host // 2}")
    politeness.started(0, 10.0)
    politeness.finished(0, 10.5, RequestOutcome(0.1, retry_after_s=600.0))
    politeness.started(2, 11.0)
    politeness.disable(2)
    politeness.shift_waits(step_s)
    politeness.resume(12.0 + step_s, UnrecordedRequests())
    # Host 1 waits for the address of host 0.
    assert [politeness.ready(host, 13.5 + step_s) for host in range(4)] == [False, False, False, True]
    assert [politeness.ready(host, 14.0 + step_s) for host in range(3)] == [False, True, False]
    assert politeness.next_ready_s(14.0 + step_s) == 610.5 + step_s
    assert [politeness.ready(host, 610.5 + step_s) for host in range(3)] == [True, True, False]


@pytest.mark.parametrize("unrecorded", [None, UnrecordedRequests(), UnrecordedRequests((3, 5), to_new_hosts=True)])
def test_the_journal_has_them(unrecorded: UnrecordedRequests | None) -> None:
    journal = Journal()
    event = Resumed(7.5, unrecorded, {} if unrecorded is None else {4: 6.25, 9: 7.0}, 86_400.0)
    journal.resumed(event)
    assert list(read_journal(journal.take())) == [event]


def test_journals_of_earlier_versions_know_less() -> None:
    hosts = UnrecordedRequests((3,), to_new_hosts=True)
    lines = b'["u",7.5]\n["u",7.5,[3],true]\n["u",7.5,[3],true,[[4,6.25]]]'
    assert list(read_journal(lines)) == [Resumed(7.5), Resumed(7.5, hosts), Resumed(7.5, hosts, {4: 6.25})]


def test_a_host_has_received_its_last_request_when_the_next_run_starts(path: Path) -> None:
    requests = opened(path, 1.0)
    for time_s, host in ((2.0, "a.test"), (3.0, "b.test"), (4.0, "a.test")):
        requests.note(host, time_s)
    assert read(path).received_s("a.test") is None
    requests = opened(path, 6.0)
    requests.note("b.test", 7.0)
    # Others received none since the file was made.
    assert [read(path).received_s(host) for host in ("a.test", "b.test", "c.test")] == [6.0, None, 6.0]
    opened(path, 9.0)
    assert [read(path).received_s(host) for host in ("a.test", "b.test", "c.test")] == [6.0, 9.0, 6.0]


def test_hosts_whose_requests_were_overwritten_received_them_before_the_others(path: Path) -> None:
    requests = opened(path, 0.0, is_first=True)
    for number in range(recent_requests.N_ENTRIES + 3):
        requests.note(f"h{number}.test", 10.0 + number)
    assert 12.0 < read(path).others_s <= 13.0 + 1e-9
    assert read(path).received_s("h0.test") is None
    opened(path, 1e6)
    assert read(path).received_s("h0.test") == 1e6


def test_the_file_tells_how_far_the_clock_was_ahead_in_each_run(path: Path) -> None:
    opened(path, 1000.0, 900.0, is_first=True).note("a.test", 1010.0)
    # The clock is set forward by a day, then back by an hour.
    opened(path, 87_420.0, 87_300.0).note("b.test", 87_430.0)
    opened(path, 87_431.0, 87_290.0).note("c.test", 87_432.0)
    latest = read(path)
    assert [latest.ahead_s(time_s) for time_s in (1000.0, 1e4, 87_420.0, 87_430.5, 87_431.0, 1e9)] == [
        *(900.0, 900.0, 87_300.0, 87_300.0, 87_290.0, 87_290.0)
    ]
    assert latest.hosts_since(1011.0) == hashes("b.test", "c.test")
    assert latest.hosts_since(87_430.5) == hashes("c.test")
    assert latest.received_s("a.test") == 120.0


def repeated_at(folder: Path, event: Resumed) -> dict[int, float]:
    """When the requests without a result are repeated, by their numbers, if a crawl is resumed."""
    with closing(CrawlStore.open(folder)) as store:
        parts, _ = started(CrawlSettings.from_settings(store.about.settings), store)
        with closing(parts):
            engine = parts.crawl.engine
            engine.resume(event)
            return {task.number: due_s for task, due_s in engine.repeated if task.kind is Kind.ROBOTS}


def test_requests_are_repeated_a_crawl_delay_after_the_last_one_to_their_host(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    politeness = PolitenessSettings(delay_s=30.0, delay_factor=0.0)
    seeds = tuple(f"http://h{host}.test/" for host in range(3))
    settings = plan(seeds, connections=3, strict_order=False, politeness=politeness)
    with suppress(Killed):
        # After the second address, when a robots.txt file has been requested.
        crawl_virtually(folder, settings, VirtualSite({}), kill=iter((False, True)).__next__)
    unknown = repeated_at(folder, Resumed(1e6))
    assert len(unknown) >= 1
    assert set(unknown.values()) == {1e6 + 30.0}
    received_s = dict.fromkeys(unknown, 1000000.0 - 10.0)
    assert set(repeated_at(folder, Resumed(1e6, UnrecordedRequests(), received_s)).values()) == {1e6 + 20.0}
    # Another restart does not begin the wait anew.
    assert set(repeated_at(folder, Resumed(1e6 + 5, UnrecordedRequests(), received_s)).values()) == {1e6 + 20.0}
    assert set(repeated_at(folder, Resumed(1e6 + 25, UnrecordedRequests(), received_s)).values()) == {1e6 + 25.0}
