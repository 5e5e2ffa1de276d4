"""Hosts of requests that a killed crawl did not record."""

from contextlib import closing, suppress
from pathlib import Path

import pytest

from scenthound.crawler import recent_requests
from scenthound.crawler.journal import Journal, Resumed, read_journal
from scenthound.crawler.recent_requests import RecentRequests, hash_of, latest_requests
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


def hosts_since(path: Path, time_s: float) -> frozenset[int] | None:
    latest = latest_requests(path)
    return None if latest is None else latest.hosts_since(time_s)


def test_requests_since_a_time_are_known_without_closing_the_file(path: Path) -> None:
    requests = RecentRequests(path, 0.0)
    for time_s, host in ((1.0, "a.test"), (2.0, "b.test"), (3.0, "a.test"), (3.5, "c.test")):
        requests.note(host, time_s)
    assert hosts_since(path, 3.0) == hashes("a.test", "c.test")
    assert hosts_since(path, 4.0) == frozenset()


def test_the_next_run_continues_the_file(path: Path) -> None:
    RecentRequests(path, 0.0).note("a.test", 5.0)
    RecentRequests(path, 6.0).note("b.test", 7.0)
    assert hosts_since(path, 4.0) == hashes("a.test", "b.test")


def test_nothing_is_known_without_a_file(path: Path) -> None:
    assert hosts_since(path, 0.0) is None
    path.write_bytes(b"short")
    assert hosts_since(path, 0.0) is None


def test_nothing_is_known_of_the_time_before_a_file(path: Path) -> None:
    RecentRequests(path, 10.0).note("a.test", 11.0)
    assert hosts_since(path, 9.0) is None
    assert hosts_since(path, 10.0) == hashes("a.test")


def test_nothing_is_known_after_the_system_was_started_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RecentRequests(path, 0.0).note("a.test", 1.0)
    monkeypatch.setattr(recent_requests, "_boot_id", lambda: b"another".ljust(40, b"\0"))
    assert hosts_since(path, 0.5) is None
    RecentRequests(path, 2.0).note("b.test", 3.0)
    assert hosts_since(path, 0.5) is None
    assert hosts_since(path, 2.5) == hashes("b.test")


def test_nothing_is_known_if_there_were_too_many_requests(path: Path) -> None:
    requests = RecentRequests(path, 0.0)
    for number in range(recent_requests.N_ENTRIES + 1):
        requests.note(f"h{number}.test", 10.0 + number)
    assert hosts_since(path, 5.0) is None
    assert hosts_since(path, 20.0) is not None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    requests = RecentRequests(tmp_path / "missing" / "file", 0.0)
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


def test_other_hosts_of_an_address_wait_for_requests_that_are_repeated() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=1.0, address_delay_s=0.25))
    for host in range(2):
        politeness.set_address(host, "192.0.2.1")
    politeness.started(0, 10.0)
    politeness.resume(20.0, UnrecordedRequests())
    politeness.reserve_address(0, 20.0, 21.0)
    assert not politeness.ready(1, 21.2)
    assert politeness.ready(1, 21.25)


@pytest.mark.parametrize("unrecorded", [None, UnrecordedRequests(), UnrecordedRequests((3, 5), to_new_hosts=True)])
def test_the_journal_has_them(unrecorded: UnrecordedRequests | None) -> None:
    journal = Journal()
    event = Resumed(7.5, unrecorded, {} if unrecorded is None else {4: 6.25, 9: 7.0})
    journal.resumed(event)
    assert list(read_journal(journal.take())) == [event]


def test_journals_of_earlier_versions_have_no_times_of_requests() -> None:
    assert list(read_journal(b'["u",7.5,[3],true]')) == [Resumed(7.5, UnrecordedRequests((3,), to_new_hosts=True))]


def test_the_last_request_of_each_host_is_known(path: Path) -> None:
    requests = RecentRequests(path, 1.0)
    for time_s, host in ((2.0, "a.test"), (3.0, "b.test"), (4.0, "a.test")):
        requests.note(host, time_s)
    latest = latest_requests(path)
    assert latest is not None
    # Others received none since the file was made.
    assert [latest.last_s(host) for host in ("a.test", "b.test", "c.test")] == [4.0, 3.0, 1.0]


def test_hosts_whose_requests_were_overwritten_received_them_before_the_others(path: Path) -> None:
    requests = RecentRequests(path, 0.0)
    for number in range(recent_requests.N_ENTRIES + 3):
        requests.note(f"h{number}.test", 10.0 + number)
    latest = latest_requests(path)
    assert latest is not None
    assert 12.0 < latest.last_s("h0.test") <= 13.0 + 1e-9


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
    requested_s = dict.fromkeys(unknown, 1000000.0 - 10.0)
    assert set(repeated_at(folder, Resumed(1e6, UnrecordedRequests(), requested_s)).values()) == {1e6 + 20.0}
    # Another restart does not begin the wait anew.
    assert set(repeated_at(folder, Resumed(1e6 + 5, UnrecordedRequests(), requested_s)).values()) == {1e6 + 20.0}
    assert set(repeated_at(folder, Resumed(1e6 + 25, UnrecordedRequests(), requested_s)).values()) == {1e6 + 25.0}
