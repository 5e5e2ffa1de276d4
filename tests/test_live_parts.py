"""The small parts of a live crawl: its journal, hosts by name, robots.txt verdicts, links of sitemaps, harvest."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler.host_statistics import Harvest
from scenthound.crawler.journal import Event, Resumed, TaskCompleted, Turn, WrittenJournal, checksum_of, read_journal
from scenthound.crawler.live_web import LINKS_PER_PAGE, MOST_SITEMAPS, SitemapLinks, with_sitemap_links
from scenthound.crawler.scheduler import LIFETIME_S, RobotsBook, origin_of, robots_url
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
answers = st.one_of(
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


def read_back(journal: WrittenJournal) -> list[Event]:
    return list(read_journal(journal.take()))


orders = st.builds(Task, st.integers(0, 2**40), st.sampled_from(list(Kind)), texts, seconds)


@given(st.lists(st.tuples(seconds, orders, answers)), seconds)
def test_the_journal_tells_again_what_was_written(
    told: list[tuple[float, Task, AddressesResolved]], later_s: float
) -> None:
    journal = WrittenJournal()
    for now_s, order, answer in told:
        journal.result(now_s, order, answer)
    journal.turn(later_s, 7, 100, [3, 1])
    journal.turn(later_s, 7, 100, None)
    journal.resumed(later_s)
    expected: list[Event] = [
        TaskCompleted(now_s, order.number, checksum_of(order), answer, answer.elapsed_s)
        for now_s, order, answer in told
    ]
    expected += [Turn(later_s, 7, 100, [3, 1]), Turn(later_s, 7, 100, None), Resumed(later_s)]
    assert read_back(journal) == expected
    assert journal.take() == b""


def test_pages_and_robots_txt_files_are_left_to_their_rows() -> None:
    journal = WrittenJournal()
    page, robots = Task(4, Kind.PAGE, "http://a.test/", 0.0), Task(5, Kind.ROBOTS, "http://a.test/robots.txt", 0.0)
    journal.result(1.5, page, Fetched("http://a.test/", 0.5, ["http://a.test/b"], elapsed_s=0.25))
    journal.result(2.5, robots, RobotsFetched(200, b"Disallow: /", 0.5))
    assert read_back(journal) == [
        TaskCompleted(1.5, 4, checksum_of(page), None, 0.25),
        TaskCompleted(2.5, 5, checksum_of(robots), None, 0.5),
    ]
    assert checksum_of(page) != checksum_of(robots)


def test_hosts_met_by_redirects_and_by_links_are_the_same() -> None:
    table = UrlTable()
    table.add_all(["http://a.test/1", "https://b.test:8080/", "http://www.b.test/"])
    hosts = Hosts(table)
    assert hosts.of_url("http://b.test/elsewhere") == 0
    assert [hosts.of_strategy(host) for host in (0, 1, 2)] == [1, 0, 2]
    assert hosts.domain(0) == hosts.domain(2) != hosts.domain(1)
    assert len(hosts) == 3


def test_robots_txt_is_good_for_a_day() -> None:
    book = RobotsBook("scenthound")
    assert book.verdict("http://a.test", 0.0) is None
    book.set_rules("http://a.test", 10.0, 200, b"User-agent: *\nDisallow: /b")
    verdict = book.verdict("http://a.test", 10.0 + LIFETIME_S - 1)
    assert verdict is not None
    assert not verdict.rules.allows("http://a.test/b")
    assert book.verdict("http://a.test", 10.0 + LIFETIME_S) is None


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
def test_a_robots_txt_that_cannot_be_had_means_to_stay_away_unless_it_leads_nowhere(
    failure: SkipReason, because: SkipReason | None
) -> None:
    book = RobotsBook("scenthound")
    book.failed("http://a.test", 0.0, failure)
    verdict = book.verdict("http://a.test", 1.0)
    assert verdict is not None
    assert verdict.rules.allows("http://a.test/") == (because is None)
    if because is not None:
        assert verdict.because is because


def test_an_origin_has_its_port_and_its_scheme() -> None:
    assert origin_of("https://a.test:8443/b/c?d") == "https://a.test:8443"
    assert robots_url("https://a.test:8443") == "https://a.test:8443/robots.txt"


def test_links_of_sitemaps_come_in_portions_and_few_sitemaps_are_asked_for() -> None:
    links = SitemapLinks()
    links.add(3, tuple(f"http://a.test/{i}" for i in range(LINKS_PER_PAGE + 5)))
    assert len(links.next_links(3)) == LINKS_PER_PAGE
    assert links.next_links(3) == [f"http://a.test/{LINKS_PER_PAGE + i}" for i in range(5)]
    assert links.next_links(3) == links.next_links(4) == []
    assert links.take_new(1, ["a", "b"]) == ["a", "b"]
    assert links.take_new(1, ["c"] * MOST_SITEMAPS) == ["c"] * (MOST_SITEMAPS - 2)
    assert links.take_new(1, ["d"]) == []


def test_further_links_stand_behind_the_page_and_promise_what_it_promises() -> None:
    text = PageText(np.array([4, 5, 6], np.int32), np.array([1], np.int32), np.array([2], np.int32))
    got = Fetched("http://a.test/", 0.25, ["http://a.test/b"], np.array([0.5]), np.array([0.75]), text)
    more = with_sitemap_links(got, ["http://a.test/c"])
    assert more.links == ["http://a.test/b", "http://a.test/c"]
    assert more.predicted is not None
    assert more.anchors is not None
    assert more.text is not None
    assert more.predicted.tolist() == [0.5, 0.25]
    assert more.anchors.tolist() == [0.75, 0.0]
    assert (more.text.link_start.tolist(), more.text.link_end.tolist()) == ([1, 3], [2, 3])


def test_held_jobs_wait_in_line_by_host() -> None:
    held = WaitingJobs()
    first, second, urgent, other = (Job(Kind.PAGE, f"http://a.test/{i}", host) for i, host in enumerate((0, 0, 0, 1)))
    for job in (first, second, other):
        held.add(job)
    held.add(urgent, first=True)
    assert (len(held), held.hosts(), 0 in held, 2 in held) == (4, [0, 1], True, False)
    assert held.next(0) is urgent
    assert list(held.take_all(0)) == [first, second]
    assert (len(held), 0 in held) == (1, False)


def test_harvest_is_mean_relevance_and_infinite_regret_says_nothing() -> None:
    harvest = Harvest(window=2)
    assert (harvest.mean, harvest.recent, harvest.mean_regret, harvest.window_is_full) == (0.0, 0.0, None, False)
    for relevance, regret in ((0.5, inf), (0.25, 0.5), (0.75, None), (0.25, 0.25)):
        harvest.add(relevance, regret)
    # (0.5 + 0.25 + 0.75 + 0.25) / 4, (0.75 + 0.25) / 2 and (0.5 + 0.25) / 2.
    assert (harvest.mean, harvest.recent, harvest.mean_regret) == (0.4375, 0.5, 0.375)
    assert harvest.window_is_full
