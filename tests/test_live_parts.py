"""Parts of a live crawl: its journal, hosts by name, robots.txt origins, links of sitemaps, harvest."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler.journal import Event, Journal, Resumed, TaskCompleted, Turn, checksum_of, read_journal
from scenthound.crawler.live_crawl import Harvest
from scenthound.crawler.live_web import LINKS_PER_PAGE, MAX_SITEMAPS, SitemapLinks, with_sitemap_links
from scenthound.crawler.scheduler import ROBOTS_LIFETIME_S, RobotsCache, origin_of, robots_url
from scenthound.crawler.tasks import (
    AddressesResolved,
    Failed,
    Fetched,
    Hosts,
    Job,
    Kind,
    PageText,
    Redirected,
    RobotsFetched,
    SitemapFetched,
    Task,
    WaitingJobs,
)
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import SkipReason

seconds = st.floats(0, 4e9)
texts = st.text(max_size=20)
results = st.one_of(
    st.builds(AddressesResolved, st.tuples(texts), seconds),
    st.builds(Redirected, texts, st.integers(300, 399), seconds),
    st.builds(SitemapFetched, st.tuples(texts, texts), st.tuples(texts), seconds),
    st.builds(
        Failed,
        st.sampled_from(list(SkipReason)),
        texts,
        st.none() | st.integers(100, 999),
        st.none() | seconds,
        st.none() | st.integers(0, 2**64 - 1),
        st.none() | st.integers(0, 2**31 - 1),
        seconds,
    ),
)


def read_back(journal: Journal) -> list[Event]:
    return list(read_journal(journal.take()))


tasks = st.builds(Task, st.integers(0, 2**40), st.sampled_from(list(Kind)), texts, seconds)


@given(st.lists(st.tuples(seconds, tasks, results)), seconds)
def test_the_journal_is_read_back(written: list[tuple[float, Task, AddressesResolved]], later_s: float) -> None:
    journal = Journal()
    for now_s, task, result in written:
        journal.result(now_s, task, result)
    journal.turn(later_s, 7, 100, [3, 1])
    journal.turn(later_s, 7, 100, None)
    journal.resumed(later_s)
    expected: list[Event] = [
        TaskCompleted(now_s, task.number, checksum_of(task), result, result.elapsed_s)
        for now_s, task, result in written
    ]
    expected += [Turn(later_s, 7, 100, [3, 1]), Turn(later_s, 7, 100, None), Resumed(later_s)]
    assert read_back(journal) == expected
    assert journal.take() == b""


def test_results_in_records_are_not_in_the_journal() -> None:
    journal = Journal()
    page, robots = Task(4, Kind.PAGE, "http://a.test/", 0.0), Task(5, Kind.ROBOTS, "http://a.test/robots.txt", 0.0)
    journal.result(1.5, page, Fetched("http://a.test/", 0.5, ["http://a.test/b"], elapsed_s=0.25))
    journal.result(2.5, robots, RobotsFetched(200, b"Disallow: /", 0.5))
    assert read_back(journal) == [
        TaskCompleted(1.5, 4, checksum_of(page), None, 0.25),
        TaskCompleted(2.5, 5, checksum_of(robots), None, 0.5),
    ]
    assert checksum_of(page) != checksum_of(robots)


def test_hosts_of_redirects_and_links_have_the_same_numbers() -> None:
    table = UrlTable()
    table.add_all(["http://a.test/1", "https://b.test:8080/", "http://www.b.test/"])
    hosts = Hosts(table)
    assert hosts.of_url("http://b.test/elsewhere") == 0
    assert [hosts.of_strategy(host) for host in (0, 1, 2)] == [1, 0, 2]
    assert hosts.domain(0) == hosts.domain(2) != hosts.domain(1)
    assert len(hosts) == 3


def test_robots_txt_is_valid_for_a_day() -> None:
    cache = RobotsCache("scenthound")
    assert cache.get("http://a.test", 0.0) is None
    cache.set_rules("http://a.test", 10.0, 200, b"User-agent: *\nDisallow: /b")
    origin = cache.get("http://a.test", 10.0 + ROBOTS_LIFETIME_S - 1)
    assert origin is not None
    assert not origin.rules.allows("http://a.test/b")
    assert cache.get("http://a.test", 10.0 + ROBOTS_LIFETIME_S) is None


@pytest.mark.parametrize(
    ("failure", "because"),
    [
        (SkipReason.DNS_NOT_FOUND, SkipReason.DNS_NOT_FOUND),
        (SkipReason.TLS_FAILED, SkipReason.TLS_FAILED),
        (SkipReason.SERVER_ERROR, SkipReason.ROBOTS_UNREACHABLE),
        (SkipReason.BODY_TIMEOUT, SkipReason.ROBOTS_UNREACHABLE),
        (SkipReason.REDIRECT_LOOP, None),
    ],
)
def test_an_unreachable_robots_txt_disallows_all_unless_it_redirects_nowhere(
    failure: SkipReason, because: SkipReason | None
) -> None:
    cache = RobotsCache("scenthound")
    cache.set_failed("http://a.test", 0.0, failure)
    origin = cache.get("http://a.test", 1.0)
    assert origin is not None
    assert origin.rules.allows("http://a.test/") == (because is None)
    if because is not None:
        assert origin.skip_reason is because


def test_an_origin_has_its_port_and_its_scheme() -> None:
    assert origin_of("https://a.test:8443/b/c?d") == "https://a.test:8443"
    assert robots_url("https://a.test:8443") == "https://a.test:8443/robots.txt"


def test_sitemap_links_come_in_batches_and_the_number_of_sitemaps_is_limited() -> None:
    links = SitemapLinks()
    links.add(3, tuple(f"http://a.test/{i}" for i in range(LINKS_PER_PAGE + 5)))
    assert len(links.next_links(3)) == LINKS_PER_PAGE
    assert links.next_links(3) == [f"http://a.test/{LINKS_PER_PAGE + i}" for i in range(5)]
    assert links.next_links(3) == links.next_links(4) == []
    assert links.take_new(1, ["a", "b"]) == ["a", "b"]
    assert links.take_new(1, ["c"] * MAX_SITEMAPS) == ["c"] * (MAX_SITEMAPS - 2)
    assert links.take_new(1, ["d"]) == []


def test_sitemap_links_are_appended_with_the_relevance_of_the_page() -> None:
    text = PageText(np.array([4, 5, 6], np.int32), np.array([1], np.int32), np.array([2], np.int32))
    fetched = Fetched("http://a.test/", 0.25, ["http://a.test/b"], np.array([0.5]), np.array([0.75]), text)
    more = with_sitemap_links(fetched, ["http://a.test/c"])
    assert more.links == ["http://a.test/b", "http://a.test/c"]
    assert more.predicted is not None
    assert more.anchors is not None
    assert more.text is not None
    assert more.predicted.tolist() == [0.5, 0.25]
    assert more.anchors.tolist() == [0.75, 0.0]
    assert (more.text.link_start.tolist(), more.text.link_end.tolist()) == ([1, 3], [2, 3])


def test_waiting_jobs_are_queued_by_host() -> None:
    held = WaitingJobs()
    first, second, urgent, other = (Job(Kind.PAGE, f"http://a.test/{i}", host) for i, host in enumerate((0, 0, 0, 1)))
    for job in (first, second, other):
        held.add(job)
    held.add(urgent, first=True)
    assert (len(held), held.hosts(), 0 in held, 2 in held) == (4, [0, 1], True, False)
    assert held.next(0) is urgent
    assert list(held.take_all(0)) == [first, second]
    assert (len(held), 0 in held) == (1, False)


def test_harvest_is_mean_relevance_and_infinite_regret_is_ignored() -> None:
    harvest = Harvest(window=2)
    assert (harvest.mean, harvest.recent, harvest.mean_regret, harvest.window_is_full) == (0.0, 0.0, None, False)
    for relevance, regret in ((0.5, inf), (0.25, 0.5), (0.75, None), (0.25, 0.25)):
        harvest.add(relevance, regret)
    # (0.5 + 0.25 + 0.75 + 0.25) / 4, (0.75 + 0.25) / 2 and (0.5 + 0.25) / 2.
    assert (harvest.mean, harvest.recent, harvest.mean_regret) == (0.4375, 0.5, 0.375)
    assert harvest.window_is_full
