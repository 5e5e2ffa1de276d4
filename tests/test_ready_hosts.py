"""Ready hosts: each host is used once per batch, and popping a batch equals popping its pages one by one."""

from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier_helpers import MANY, push
from oracles.frontier import SlowFrontier
from scenthound.errors import PluginError
from scenthound.frontier.base import PoppedPage, PriorityFrontier, ReadyHosts
from scenthound.frontier.priority import BoundedFrontier, UnboundedFrontier
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.infospiders import InfoSpiders
from scenthound.strategies.otie import Otie
from scenthound.testing import SyntheticWeb, check_strategy
from spider_session import Session
from stepped_crawl import SteppedCrawl


def bounded():
    return BoundedFrontier(MANY, Random(3))


def unbounded():
    return UnboundedFrontier(Random(7))


kinds = pytest.mark.parametrize("make", [bounded, unbounded])


# ReadyHosts


def test_a_ready_host_is_usable_once_and_a_waiting_one_never():
    ready_hosts = ReadyHosts(lambda host: host != 3)
    assert [ready_hosts(1), ready_hosts(3)] == [True, False]
    ready_hosts.use(1)
    assert [ready_hosts(1), ready_hosts(2), ready_hosts(3)] == [False, True, False]


def test_a_used_host_is_not_waiting():
    ready_hosts = ReadyHosts(lambda host: host != 3)
    ready_hosts.use(1)
    assert [ready_hosts.is_waiting(1), ready_hosts.is_waiting(2), ready_hosts.is_waiting(3)] == [False, False, True]


def test_the_driver_is_called_once_per_host():
    checked = []
    ready_hosts = ReadyHosts(lambda host: checked.append(host) or host == 2)
    for _ in range(2):
        assert [ready_hosts(1), ready_hosts(2)] == [False, True]
        assert [ready_hosts.is_waiting(1), ready_hosts.is_waiting(2)] == [True, False]
        assert list(ready_hosts.usable_positions([1, 2, 3, 2])) == [1, 3]
    assert checked == [1, 2, 3]
    ready_hosts.use(2)
    assert list(ready_hosts.usable_positions([2, 1, 4])) == []
    assert checked == [1, 2, 3, 4]


def test_results_of_usable_positions_are_cached():
    checked = []
    ready_hosts = ReadyHosts(lambda host: checked.append(host) or host == 2)
    assert list(ready_hosts.usable_positions([1, 2])) == [1]
    assert [ready_hosts(1), ready_hosts(2)] == [False, True]
    assert checked == [1, 2]


def test_none_and_ready_hosts_are_not_wrapped():
    ready_hosts = ReadyHosts(lambda _: True)
    assert ReadyHosts.of(ready_hosts) is ready_hosts
    assert ReadyHosts.of(None) is None
    assert ReadyHosts.of(lambda host: host == 1)(1)


# One page per host


@kinds
def test_the_best_page_of_each_host_is_popped(make):
    frontier = make()
    push("max", frontier, {0: 0.9, 1: 0.8, 2: 0.7, 3: 0.6, 4: 0.5}, hosts={2: 1, 3: 2, 4: 1})
    # Host 2 is waiting: the best of host 0 is page 0 (0.9), of host 1 page 2 (0.7); 1 and 4 stay queued. No page on a
    # waiting host is better than 0.7.
    ready_hosts = ReadyHosts(lambda host: host != 2)
    assert frontier.pop_one_per_host(9, ready_hosts) == [PoppedPage(0, 0, 0.9, 0.0), PoppedPage(2, 1, 0.7, 0.0)]
    assert ready_hosts.used == {0, 1}
    assert frontier.pop_one_per_host(9, ready_hosts) == []
    # In the next batch: 1 (0.8) and 4 (0.5), which is worse than 3 (0.6) on the waiting host.
    first, second = frontier.pop_one_per_host(9, ReadyHosts(lambda host: host != 2))
    assert first == PoppedPage(1, 0, 0.8, 0.0)
    assert second == PoppedPage(4, 1, 0.5, pytest.approx(0.1), waiting_host=2)


@kinds
def test_no_more_than_n_pages_are_popped_and_n_hosts_used(make):
    frontier = make()
    push("max", frontier, {page: float(-page) for page in range(6)}, hosts={page: page for page in range(6)})
    ready_hosts = ReadyHosts(lambda host: host != 1)
    assert frontier.pop_one_per_host(0, ready_hosts) == []
    assert [popped.page for popped in frontier.pop_one_per_host(2, ready_hosts)] == [0, 2]
    assert ready_hosts.used == {0, 2}
    assert [popped.page for popped in frontier.pop(2, ready_hosts)] == [3, 4]


@kinds
def test_pages_on_used_hosts_cause_no_regret(make):
    for method in ("pop", "pop_one_per_host"):
        frontier = make()
        push("max", frontier, {0: 1.0, 1: 0.75, 2: 0.5}, hosts={1: 1, 2: 2})
        ready_hosts = ReadyHosts(lambda host: host != 1)
        ready_hosts.use(0)
        # The host of 0 (1.0) is used, that of 1 (0.75) is waiting: the regret of 2 (0.5) is 0.25.
        assert getattr(frontier, method)(9, ready_hosts) == [PoppedPage(2, 2, 0.5, 0.25, waiting_host=1)]


@kinds
def test_hosts_behind_the_last_popped_page_are_not_checked(make):
    frontier = make()
    push("max", frontier, {page: float(-page) for page in range(100)}, {page: page % 50 for page in range(100)})
    checked = []
    frontier.pop_one_per_host(3, ReadyHosts(lambda host: checked.append(host) or host > 6))
    assert checked == list(range(10))


scores = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])
found = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), scores), min_size=1, max_size=40)
limits = st.sampled_from([inf, inf, 4, 2, 1])
batches = st.tuples(
    st.integers(0, 8), st.sets(st.integers(0, 6)), st.sampled_from(["one per host", "ready", "all"]), limits
)


def pop_twice(frontier, method, n, waiting, max_better):
    """The pages of a batch of two pops, and the hosts used."""
    ready_hosts = ReadyHosts(lambda host: host not in waiting, max_better, lambda host: host == 0)
    if method == "all":
        return frontier.pop(n)
    if method == "ready":
        return frontier.pop(n, ready_hosts) + frontier.pop(2, ready_hosts)
    return [frontier.pop_one_per_host(n, ready_hosts), frontier.pop_one_per_host(2, ready_hosts), ready_hosts.used]


@kinds
@given(st.sampled_from(["max", "sum", "latest", "first"]), st.lists(st.one_of(found, batches), max_size=20))
def test_one_scan_equals_single_pops(make, rule, steps):
    scanning, single = make(), make()
    # The base class specifies the method by single pops.
    single.pop_one_per_host = lambda n, ready_hosts: PriorityFrontier.pop_one_per_host(single, n, ready_hosts)
    for step in steps:
        if isinstance(step, list):
            batch = [np.array(column, dtype) for column, dtype in zip(zip(*step, strict=True), "iid", strict=True)]
            for frontier in (scanning, single):
                getattr(frontier, f"push_{rule}")(*batch)
        else:
            n, waiting, kind, limit = step
            assert pop_twice(scanning, kind, n, waiting, limit) == pop_twice(single, kind, n, waiting, limit)
        assert sorted(scanning.queued_pages().tolist()) == sorted(single.queued_pages().tolist())
    assert scanning.pop(MANY) == single.pop(MANY)


@pytest.mark.parametrize("n_hosts", [3, 60, 2000])
def test_a_frontier_does_what_the_slow_one_does_in_long_crawls_while_most_hosts_wait(n_hosts):
    rng, frontiers = Random(n_hosts), (SlowFrontier(Random(7)), unbounded())
    for step in range(60):
        pages = np.array([rng.randrange(6000) for _ in range(200)], np.int32)
        given_scores = np.array([rng.choice([0.0, 0.5, rng.random()]) for _ in pages])
        ready = set(rng.sample(range(n_hosts), max(1, n_hosts // rng.choice([2, 10, 50]))))
        n, rule = rng.choice([1, 7, 40]), rng.choice(["max", "latest", "sum"])
        batches = []
        for frontier in frontiers:
            getattr(frontier, f"push_{rule}")(pages, pages % n_hosts, given_scores)
            ready_hosts = ReadyHosts(ready.__contains__, (inf, 50, 4)[step % 3], lambda host: host % 5 == 0)
            one_per_host = frontier.pop_one_per_host(n, ready_hosts)
            batches.append((one_per_host, frontier.pop(n, ready_hosts), frontier.pop(1) if step % 7 == 0 else []))
        assert batches[0] == batches[1]


# Strategies


@pytest.mark.parametrize(
    "choice", ["best_first:buffer=none", "best_first", "breadth_first", "otie", "opic", "rank_function"]
)
def test_asking_for_five_pages_equals_asking_five_times_for_one(choice):
    # The same hosts are ready in all requests of a batch, except the used ones.
    for seed in range(4):
        web = SyntheticWeb.random(Random(seed), n_pages=150, n_hosts=12)
        large, small = (SteppedCrawl(STRATEGIES.make(choice), web, web.names[:3], seed) for _ in range(2))
        rng = Random(seed)
        while len(large.strategy):
            waiting = {host for host in range(12) if rng.random() < 0.4}
            pages = large.strategy.ask(5, lambda host, waiting=waiting: host not in waiting)
            regrets = large.strategy.regrets()
            assert (pages, regrets) == one_by_one(small.strategy, small.window.seen, 5, waiting)
            for page in pages:
                large.visit(page)
                small.visit(page)
        assert large.trace == small.trace


def one_by_one(strategy, seen, n, waiting):
    """The pages and regrets of n requests for one page, with used hosts excluded."""
    ready_hosts, pages, regrets = ReadyHosts(lambda host: host not in waiting), [], []
    while len(pages) < n and (checked := strategy.ask(1, ready_hosts)):
        pages += checked
        regrets += strategy.regrets()
        ready_hosts.use(seen.host(checked[0]))
    return pages, regrets


def test_otie_reshares_at_the_same_rounds_whatever_the_batch_size():
    # Every second round. Five pages in one batch are five rounds.
    shared = []

    class Watched(Otie):
        def _reshare(self):
            shared.append(self._rounds)
            super()._reshare()

    web = SyntheticWeb({"a": ["b", "c", "d", "e", "f"]}, host_of={name: name for name in "abcdef"})
    crawl = SteppedCrawl(Watched(reshare_every=2), web, ["a"])
    crawl.step(1, lambda _: True)
    assert len(crawl.step(9, lambda _: True)) == 5
    assert shared == [2, 4, 6]


def test_two_agents_do_not_use_one_host_in_the_same_batch():
    # a and b are on one host, z is on another. The waiting agent keeps its energy until the next batch.
    web = SyntheticWeb({"a": ["z"], "b": ["z"], "z": []}, host_of={"a": "h", "b": "h", "z": "i"})
    session = Session(InfoSpiders(max_pages=16), web, "abz")
    first = session.ask(3, lambda _: True)
    assert len(first) == 2
    assert "z" in first
    assert session.energies() == [1.0]
    assert session.ask(3, lambda _: True) == list({"a", "b"} - set(first))
    assert len(Session(InfoSpiders(max_pages=16), web, "abz").ask(3)) == 3


class UsesAHostTwice(BestFirst):
    """Joins two batches, each of which is valid."""

    def ask(self, n, ready=None):
        return super().ask(n - 1, ready) + super().ask(1, ready)

    def regrets(self):
        return []


def test_check_strategy_detects_a_host_used_twice_in_a_batch():
    with pytest.raises(PluginError, match=r"\bhost 0\b") as found:
        check_strategy(UsesAHostTwice)
    assert found.value.rule == "one-page-per-host"


def test_without_politeness_a_batch_may_contain_many_pages_of_one_host():
    web = SyntheticWeb({"a": list("bcdef")})
    for choice in ("best_first", "best_n_first:n=3", "best_first:buffer=none", "otie"):
        crawl = SteppedCrawl(STRATEGIES.make(choice), web, ["a"])
        crawl.step()
        assert len(crawl.step(9)) == 5
