"""Patience: when an idle connection leaves a ready page queued, in frontiers, simulations and live crawls."""

from contextlib import closing
from heapq import heappop, heappush
from itertools import count
from math import inf
from pathlib import Path
from random import Random

import pytest

from frontier_helpers import push
from listed_pages import crawl, names
from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.replay import start_or_replay
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.tasks import Kind
from scenthound.errors import InvalidParameter
from scenthound.frontier.base import ReadyHosts, max_better_hosts
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import Polite, parse_mode
from scenthound.simulator.scores import TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import SyntheticWeb
from test_ready_hosts import kinds
from virtual_site import TOPIC, VirtualSite, crawl_virtually, page_of_words, plan, random_site, visited_urls

# Frontiers


def frontier_of(make):
    """Pages 0, 1, 2, ... on hosts of the same numbers, the best first."""
    frontier = make()
    push("max", frontier, {page: 1 - page / 10 for page in range(6)}, hosts={page: page for page in range(6)})
    return frontier


@kinds
@pytest.mark.parametrize(
    ("max_better", "popped"), [(inf, [2, 3, 5]), (5, [2, 3]), (4, [2, 3]), (3, [2]), (2, []), (1, [])]
)
def test_a_page_is_refused_if_enough_hosts_with_better_pages_wait_or_are_used(make, max_better, popped):
    # Hosts 0, 1 and 4 are waiting. Page 2 has two of them before it, page 3 also the used host 2, and page 5 all.
    ready_hosts = ReadyHosts(lambda host: host not in (0, 1, 4), max_better)
    assert [each.page for each in frontier_of(make).pop_one_per_host(9, ready_hosts)] == popped


@kinds
def test_the_best_page_is_taken_whatever_the_patience(make):
    assert [each.page for each in frontier_of(make).pop_one_per_host(9, ReadyHosts(lambda _host: True, 1))] == [0]


@kinds
def test_hosts_that_wait_for_long_are_not_waited_for(make):
    ready_hosts = ReadyHosts(lambda host: host not in (0, 1, 4), 1, lambda host: host in (0, 1))
    assert [each.page for each in frontier_of(make).pop_one_per_host(9, ready_hosts)] == [2]


@kinds
def test_refused_pages_stay_queued(make):
    frontier = frontier_of(make)
    assert frontier.pop(9, ReadyHosts(lambda host: host > 0, 1)) == []
    assert [each.page for each in frontier.pop(9)] == [0, 1, 2, 3, 4, 5]


@kinds
def test_a_round_may_have_several_pages_of_a_host_but_no_refused_one(make):
    frontier = make()
    push("max", frontier, {0: 0.9, 1: 0.8, 2: 0.7, 3: 0.6}, hosts={2: 1})
    popped = frontier.pop(9, ReadyHosts(lambda host: host != 1, 1))
    assert [each.page for each in popped] == [0, 1]


@pytest.mark.parametrize(
    ("patience", "connections", "delay_s", "max_better"),
    [
        (0, 16, 1, inf),
        (0.5, 16, 1, 8),
        (0.75, 16, 1, 4),
        (1, 16, 1, 1),
        (0.5, 1, 1, 1),
        (0.5, 64, 1, 32),
        (1, 16, 0, inf),
    ],
)
def test_patience_is_relative_to_the_connections(patience, connections, delay_s, max_better):
    assert max_better_hosts(patience, connections, delay_s) == max_better


# Simulated crawls


def test_a_patient_crawl_worked_out_by_hand():
    # b and c are on a's host, d is on another. Without patience d is requested at 0.5, when a has returned. If half of
    # the two connections may pass over a host with better pages, it waits, first for b and then for c.
    hosts = {"a": "x", "b": "x", "c": "x", "d": "y"}
    web = SyntheticWeb({"a": ["b", "c", "d"]}, host_of=hosts)
    eager, patient = (crawl(web, "breadth_first", f"polite:workers=2,patience={each}") for each in (0, 0.5))
    assert names(web, eager) == ["a", "d", "b", "c"]
    assert names(web, patient) == ["a", "b", "c", "d"]
    assert patient.time_s.tolist() == [0.5, 2.0, 3.5, 3.5]


@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_a_patient_crawl_visits_all_pages(strategy):
    web = SyntheticWeb.random(Random(3), n_pages=80, n_hosts=6)
    crawls = [crawl(web, strategy, f"polite:workers=4,patience={each}") for each in (0.0, 0.5, 1.0)]
    ends = {each.ended for each in crawls}
    assert len(ends) == 1
    if strategy != "infospiders":
        assert len({frozenset(each.pages.tolist()) for each in crawls}) == 1


def test_a_fetch_list_excludes_patience():
    with pytest.raises(InvalidParameter):
        Polite(fetch_list=50, patience=0.5)


# Live crawls


@pytest.mark.parametrize("strategy", ["otie", "best_first", "best_n_first:n=4", "breadth_first", "shark_search"])
@pytest.mark.parametrize("patience", [0.0, 0.3, 0.7, 1.0])
def test_a_live_crawl_equals_a_polite_simulation(strategy: str, patience: float, tmp_path: Path) -> None:
    """If it need not resolve hosts or fetch robots.txt files: the same pages at the same times."""
    for seed in range(2):
        site = random_site(seed, n_pages=120, n_hosts=7)
        site = VirtualSite(site.pages, takes_s=lambda _task: 0.5)
        seeds = tuple(list(site.pages)[:3])
        polite = PolitenessSettings(delay_s=1.0, delay_factor=0.0)
        settings = plan(
            seeds,
            strategy=strategy,
            relevance="cosine",
            random_seed=3,
            connections=4,
            strict_order=False,
            patience=patience,
            politeness=polite,
        )
        live = live_visits(tmp_path / str(seed), settings, site)
        assert live == polite_visits(settings, site)
        assert len(live) > 40


def live_visits(folder: Path, settings: CrawlSettings, site: VirtualSite) -> list[tuple[str, float]]:
    """The visits with their times. All results of a time are completed before the next turn, as in a simulation."""
    with closing(CrawlStore.create(folder, settings.as_settings(), ArchiveSettings("test"))) as store:
        store.add_stems(list(site.recorded().vocabulary))
        store.commit()
        parts = CrawlParts(settings, store)
        start_or_replay(parts, settings, store)
        know_all_hosts(parts, site)
        run_in_virtual_time(parts, settings, site)
        parts.crawl.commit()
        return [(row.url, row.time_s) for row in store.visits()]


def know_all_hosts(parts: CrawlParts, site: VirtualSite) -> None:
    """Resolve each host to an address of its own, and have no robots.txt files."""
    scheduler = parts.crawl.engine._scheduler
    addresses = (f"192.0.2.{number}" for number in count(1))
    for origin in sorted({url.rsplit("/", 1)[0] for url in site.pages}):
        host, address = scheduler.hosts.of_url(origin + "/"), next(addresses)
        scheduler.hosts.set_addresses(host, (address,))
        scheduler.politeness.set_address(host, address)
        scheduler._robots.set_rules(origin, 0.0, 404, b"")


def run_in_virtual_time(parts: CrawlParts, settings: CrawlSettings, site: VirtualSite) -> None:
    crawl, engine, now_s, due = parts.crawl, parts.crawl.engine, 0.0, []
    while True:
        for task in crawl.turn(now_s, settings.connections - engine.n_in_flight, settings.page_budget):
            assert task.kind is Kind.PAGE
            heappush(due, (now_s + 0.5, task.number, task))
        times = [due[0][0]] if due else []
        ready_s = engine.politeness.next_ready_s(now_s)
        if ready_s is not None and len(engine.strategy):
            times.append(ready_s)
        if not times:
            return
        now_s = min(times)
        while due and due[0][0] <= now_s:
            _, _, task = heappop(due)
            crawl.complete(lambda due_s=now_s: due_s, task, site.result_of(task)[1], lambda: None)


def polite_visits(settings: CrawlSettings, site: VirtualSite) -> list[tuple[str, float]]:
    web = site.recorded()
    done = simulate(
        web,
        STRATEGIES.make(settings.strategy),
        [web.page_of(url) for url in settings.seeds],
        scores_for(TOPIC, RELEVANCE.make("cosine"), web),
        rng=Random(settings.generator_seed),
        page_budget=settings.page_budget,
        topic=TopicWords.of(TOPIC, web),
        mode=parse_mode(f"polite:workers={settings.connections},patience={settings.patience}"),
    )
    assert done.time_s is not None
    return list(zip(map(web.url, done.pages.tolist()), done.time_s.tolist(), strict=True))


SLOW, FAST = "http://slow.test", "http://fast.test"


def site_with_slow_host(robots: bytes = b"", **others: tuple[int, str, bytes]) -> VirtualSite:
    """Pages on two hosts; the links to those of the slow one come first."""
    slow, fast = ([f"{origin}/{i}" for i in range(1, 6)] for origin in (SLOW, FAST))
    pages = {url: page_of_words(url, [], i) for i, url in enumerate([*slow, *fast])}
    pages[f"{SLOW}/"] = page_of_words("start", [*slow, *fast], 99)
    answers = {f"{SLOW}/robots.txt": (200, "", robots)} | others
    return VirtualSite(pages, others=answers, own_addresses=True, takes_s=lambda _task: 0.25)


def order_of_hosts(folder: Path, site: VirtualSite, patience: float) -> str:
    settings = plan(
        (f"{SLOW}/",),
        connections=2,
        strict_order=False,
        patience=patience,
        politeness=PolitenessSettings(delay_factor=0.0),
    )
    crawl_virtually(folder, settings, site)
    return "".join("s" if url.startswith(SLOW) else "f" for url in visited_urls(folder))


def test_a_live_crawl_waits_for_a_host_with_better_pages(tmp_path: Path) -> None:
    assert order_of_hosts(tmp_path / "eager", site_with_slow_host(), 0.0) == "ssfsfsfsfsf"
    assert order_of_hosts(tmp_path / "patient", site_with_slow_host(), 1.0) == "ssssssfffff"


def test_a_live_crawl_does_not_wait_for_a_long_crawl_delay(tmp_path: Path) -> None:
    site = site_with_slow_host(b"User-agent: *\nCrawl-delay: 60\n")
    assert order_of_hosts(tmp_path / "crawl", site, 1.0) == "sfffffsssss"


def test_a_live_crawl_does_not_wait_for_a_response_that_takes_long(tmp_path: Path) -> None:
    site = site_with_slow_host()
    settings = plan((f"{SLOW}/",), connections=2, strict_order=False, patience=1.0, politeness=PolitenessSettings())
    with (
        closing(CrawlStore.create(tmp_path / "crawl", settings.as_settings(), ArchiveSettings("test"))) as store,
    ):
        parts = CrawlParts(settings, store)
        start_or_replay(parts, settings, store)
        know_all_hosts(parts, site)
        (first,) = parts.crawl.turn(0.0, 2, 100)
        parts.crawl.complete(lambda: 1.0, first, site.result_of(first)[1], lambda: None)
        requested = {now_s: [task.url for task in parts.crawl.turn(now_s, 1, 100)] for now_s in (2.5, 5.0, 12.0, 13.0)}
    # The response to the second request to the slow host takes more than ten seconds.
    assert requested == {2.5: [f"{SLOW}/1"], 5.0: [], 12.0: [], 13.0: [f"{FAST}/1"]}


@pytest.mark.parametrize("patience", [-0.1, 1.1, float("nan")])
def test_patience_is_a_share(patience: float) -> None:
    with pytest.raises(InvalidParameter):
        plan((f"{SLOW}/",), patience=patience)
    with pytest.raises(InvalidParameter):
        Polite(patience=patience)
