"""The polite mode: a crawl by hand, and schedules held against the rules for hosts and workers."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from listed_pages import Listed, crawl, names, returned, trees
from scenthound.reasons import EndReason
from scenthound.simulator.modes import Polite
from scenthound.testing import SyntheticWeb


def test_a_polite_crawl_worked_out_by_hand():
    # Two workers; a fetch takes 0.5 s, a rest 1 s. b and d are on a's host; c, dead and f on another, e on a third.
    #
    # 0.0  a is sent for.
    # 0.5  a is back, its host rests until 1.5. c and e are sent for, dead is on the host of c.
    # 1.0  c and e are back, in this order; both hosts rest until 2.0. All that wait are on hosts at rest.
    # 1.5  b is sent for.
    # 2.0  b is back, its host rests until 3.0. dead is sent for.
    # 2.5  dead is dropped; its host rests until 3.5 as if there had been a page.
    # 3.0  d is sent for.
    # 3.5  d is back. f is sent for.
    # 4.0  f is back.
    hosts = {"a": "x", "b": "x", "d": "x", "c": "y", "dead": "y", "f": "y", "e": "z"}
    web = SyntheticWeb({"a": ["b", "c", "d", "dead", "e", "f"]}, fails={"dead"}, host_of=hosts)
    done = crawl(web, "breadth_first", "polite:workers=2,delay_s=1,fetch_s=0.5")
    assert names(web, done) == ["a", "c", "e", "b", "d", "f"]
    assert done.time_s.tolist() == [0.5, 1.0, 1.0, 2.0, 3.5, 4.0]
    assert (done.n_missing, done.ended) == (1, EndReason.FRONTIER)
    ended = crawl(web, "breadth_first", "polite:workers=2,delay_s=1,fetch_s=0.5", pages=4)
    assert ended.time_s.tolist() == [0.5, 1.0, 1.0, 2.0]
    assert ended.ended is EndReason.BUDGET


def test_a_host_that_rested_is_asked_while_other_pages_are_on_their_way():
    # Fetches take 2 s, rests 0.5 s. Page 0 (host 0) is back at 2, and makes 2 (host 1) and 1 (host 0) known.
    # Host 0 has rested at 2.5, while page 2 is on its way until 4: page 1 is on its way from 2.5 to 4.5.
    listed = Listed([0, 0, 1], first=[0], links={0: [2, 1]})
    assert returned(Polite(2, delay_s=0.5, fetch_s=2), listed) == [(0, 2.0), (2, 4.0), (1, 4.5)]


def test_a_fetch_list_keeps_workers_waiting_for_its_last_page():
    # Two workers; p, q and r are on the host of s, u is on another. A list of 3 has p, q and r, and the second worker
    # waits while the first fetches them: from 1.5, 3.0 and 4.5 on. Then u is next.
    hosts = {"s": "x", "p": "x", "q": "x", "r": "x", "u": "y"}
    web = SyntheticWeb({"s": ["p", "q", "r", "u"]}, host_of=hosts)
    done = crawl(web, "breadth_first", "polite:workers=2,fetch_list=3")
    assert names(web, done) == ["s", "p", "q", "r", "u"]
    assert done.time_s.tolist() == [0.5, 2.0, 3.5, 5.0, 5.5]
    free = crawl(web, "breadth_first", "polite:workers=2")
    assert names(web, free) == ["s", "u", "p", "q", "r"]
    assert free.time_s.tolist() == [0.5, 1.0, 2.0, 3.5, 5.0]


#: Quarters of a second, which floats add without error.
quarters = st.integers(0, 8)


@st.composite
def schedules(draw, fetch_lists):
    """A polite crawl of a random tree: the tree, the mode, and (page, from, until) of each fetch in quarter seconds."""
    hosts, links = draw(trees())
    fetch, delay = draw(quarters) + 1, draw(quarters)
    mode = Polite(draw(st.integers(1, 4)), delay / 4, fetch / 4, draw(fetch_lists))
    listed = Listed(hosts, [0], links)
    done = [(each.page, round(4 * each.time_s) - fetch, round(4 * each.time_s)) for each in returned(mode, listed)]
    return listed, mode, delay, done


LISTS = st.none() | st.integers(1, 9)


@given(schedules(LISTS))
def test_every_page_comes_back_once_in_the_order_of_time(schedule):
    listed, _, _, done = schedule
    assert sorted(page for page, _, _ in done) == list(range(len(listed.hosts)))
    assert all(one[2] <= other[2] for one, other in pairwise(done))
    known_at = {0: 0} | {page: until for parent, _, until in done for page in listed.links.get(parent, [])}
    assert all(begun >= known_at[page] for page, begun, _ in done)


@given(schedules(LISTS))
def test_a_host_is_left_alone_for_its_delay_after_every_page(schedule):
    listed, _, delay, done = schedule
    for host in set(listed.hosts):
        fetches = [(begun, until) for page, begun, until in done if listed.hosts[page] == host]
        assert all(begun >= until + delay for (_, until), (begun, _) in pairwise(fetches))


@given(schedules(LISTS))
def test_there_are_never_more_pages_on_their_way_than_workers(schedule):
    _, mode, _, done = schedule
    for _, sample, _ in done:
        assert sum(begun <= sample < until for _, begun, until in done) <= mode.workers


@given(schedules(st.none()))
def test_no_worker_is_idle_while_a_page_waits_on_a_host_that_is_ready(schedule):
    listed, mode, delay, done = schedule
    known_at = {0: 0} | {page: until for parent, _, until in done for page in listed.links.get(parent, [])}
    for page, sent_at, _ in done:
        of_host = [(begun, until) for other, begun, until in done if listed.hosts[other] == listed.hosts[page]]
        for sample in range(known_at[page], sent_at):
            all_workers_busy = sum(begun <= sample < until for _, begun, until in done) == mode.workers
            host_busy = any(begun <= sample < until + delay for begun, until in of_host)
            assert all_workers_busy or host_busy


@given(schedules(st.integers(1, 9)))
def test_a_fetch_list_is_asked_for_when_all_pages_of_the_last_are_back(schedule):
    listed, mode, _, done = schedule
    fetches = {page: (begun, until) for page, begun, until in done}
    assert all(n == mode.fetch_list and n_out == 0 for n, n_out, _ in listed.requests)
    lists = [taken for _, _, taken in listed.requests if taken]
    for one, other in pairwise(lists):
        assert max(fetches[page][1] for page in one) <= min(fetches[page][0] for page in other)


def test_pages_that_return_at_the_same_moment_come_in_the_order_they_were_asked_for():
    web = SyntheticWeb({"a": ["d", "b", "c"]}, host_of={name: name for name in "abcd"})
    done = crawl(web, "breadth_first", "polite")
    assert names(web, done) == ["a", "d", "b", "c"]
    assert done.time_s.tolist() == [0.5, 1.0, 1.0, 1.0]


def test_workers_ask_when_all_pages_of_a_moment_are_told():
    listed = Listed([0, 1, 2, 3], first=[0, 1], links={0: [2], 1: [3]})
    returned(Polite(2), listed)
    assert listed.requests[:2] == [(2, 0, [0, 1]), (2, 0, [2, 3])]


def test_moments_do_not_drift():
    # A thousand times a tenth of a second, one after the other on one host, without a rest.
    listed = Listed([0] * 1000)
    last = returned(Polite(1, delay_s=0, fetch_s=0.1), listed)[-1]
    assert last.time_s == 100.0
