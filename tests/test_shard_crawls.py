"""Crawls in shards: every page once, nothing lost, politeness over all shards, whatever fails."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import fsum
from random import Random

import orjson
import pytest

from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import shard_of
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.reasons import EndReason
from scenthound.shards.coordinator import FIRST_PAGES
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.urls import host_of
from slow_cases import few_of
from virtual_shards import Network, VirtualCluster, VirtualShard
from virtual_site import VirtualSite, busy_site, crawl_virtually, plan, random_site, visited_urls

POLITE = PolitenessSettings(delay_s=1.0, delay_factor=0.0)
N_SHARDS = 3


def settings_of(site: VirtualSite, **chosen: object) -> CrawlSettings:
    seeds = tuple(list(site.pages)[:2])
    values = {"connections": 8, "strict_order": False, "strategy": "best_first", "relevance": "cosine"}
    return plan(seeds, **{"politeness": POLITE, "shards": N_SHARDS, **values, **chosen})


def visits_of(cluster: VirtualCluster) -> dict[int, list[str]]:
    return {shard: [row.url for row in each.store.visits()] for shard, each in cluster.shards.items()}


def check_cluster(cluster: VirtualCluster) -> list[str]:
    """What holds for every crawl in shards; returns the visited URLs."""
    visits = visits_of(cluster)
    every = [url for urls in visits.values() for url in urls]
    assert max(Counter(every).values(), default=0) <= 1
    for shard, urls in visits.items():
        assert {shard_of(host_of(url), cluster.settings.shards) for url in urls} <= {shard}
    for shard, urls in cluster.acknowledged.items():
        assert visits[shard][: len(urls)] == urls
    for request in cluster.requests:
        assert request.shard == shard_of(host_of(request.url), cluster.settings.shards)
    _check_politeness(cluster)
    return every


def _check_politeness(cluster: VirtualCluster) -> None:
    of_host, of_address = defaultdict(list), defaultdict(list)
    for request in cluster.requests:
        of_host[host_of(request.url)].append(request)
        of_address[request.address].append(request)
    limits = cluster.settings.politeness
    for requests in of_host.values():
        for before, after in pairwise(requests):
            assert after.start_s >= before.end_s + limits.delay_s - 1e-9
    for address, requests in of_address.items():
        if address:
            # Shards have tokens, each for a request in this many address delays.
            n, starts_s = limits.address_connections, sorted(each.start_s for each in requests)
            for before_s, after_s in zip(starts_s, starts_s[n:], strict=False):
                assert after_s - before_s >= n * limits.effective_address_delay_s - 1e-9
            for request in requests:
                n_open = sum(each.start_s <= request.start_s < each.end_s for each in requests)
                assert n_open <= limits.address_connections


def test_shards_visit_all_pages_of_one_crawl(memory_path):
    site = random_site(1, n_pages=80, n_hosts=10)
    cluster = VirtualCluster(memory_path / "cluster", settings_of(site), site, Random(1))
    assert cluster.run() is EndReason.FRONTIER
    visited = check_cluster(cluster)
    cluster.close()
    crawl_virtually(memory_path / "one", settings_of(site, shards=1), random_site(1, n_pages=80, n_hosts=10))
    assert sorted(visited) == sorted(visited_urls(memory_path / "one"))


@pytest.mark.parametrize("n_shards", [1, 2])
def test_leases_grow_with_the_speed_of_shards(memory_path, n_shards):
    largest = 0

    def note_leases(cluster: VirtualCluster) -> None:
        nonlocal largest
        leases = [each.page_budget - each.n_taken - each.n_waiting for each in cluster.coordinator.reports.values()]
        largest = max([largest, *leases])

    site = random_site(1, n_pages=300, n_hosts=30)
    settings = settings_of(site, shards=n_shards, politeness=PolitenessSettings(delay_s=0.0, delay_factor=0.0))
    cluster = VirtualCluster(memory_path / "cluster", settings, site, Random(1), faults=note_leases)
    assert cluster.run() is EndReason.FRONTIER
    cluster.close()
    assert largest >= 4 * FIRST_PAGES


def learned_from(shard: VirtualShard) -> bytes:
    """What the relevance model of a shard has learned."""
    return orjson.dumps(shard.crawl.reader.scorer.state(), option=orjson.OPT_SERIALIZE_NUMPY)


@pytest.fixture
def learning(memory_path):
    """A crawl from start pages in all shards, with a model that learns, that has ended."""
    site = random_site(3, n_pages=120, n_hosts=20)
    settings = replace(settings_of(site, relevance="rocchio"), seeds=tuple(list(site.pages)[:8]))
    assert {shard_of(host_of(url), N_SHARDS) for url in settings.seeds} == set(range(N_SHARDS))
    cluster = VirtualCluster(memory_path / "cluster", settings, site, Random(1))
    assert cluster.run() is EndReason.FRONTIER
    yield cluster
    cluster.close()


def test_all_shards_learn_from_all_start_pages(learning):
    visited = {url for urls in visits_of(learning).values() for url in urls}
    seeds = learning.settings.seeds
    assert set(seeds) <= visited
    # Others would count as ordinary pages.
    assert all(re.search("sea|wave", learning.site.pages[url]) for url in seeds)
    for shard in learning.shards.values():
        starts = shard.crawl.reader.scorer.state()["learned"]["starts"]
        assert len(starts["lengths"]) == len(seeds)


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_a_shard_that_is_taken_over_has_learned_the_same(learning, has_checkpoint):
    for number, shard in list(learning.shards.items()):
        shard.crawl.commit()
        learned = learned_from(shard)
        folder = shard.folder
        if has_checkpoint:
            shard.checkpoint()
        else:
            folder = folder.with_name("again")
        shard.close()
        learning.shards[number] = VirtualShard(learning, number, folder, learning.now_s)
        assert learned_from(learning.shards[number]) == learned


@pytest.mark.parametrize("strategy", ["best_first", "opic", "scent"])
def test_one_shard_is_the_plain_crawl(memory_path, strategy):
    settings = settings_of(busy_site(3), shards=1, strategy=strategy, strict_order=True, page_budget=40)
    crawl_virtually(memory_path / "plain", settings, busy_site(3))
    cluster = VirtualCluster(memory_path / "cluster", settings, busy_site(3), Random(1))
    cluster.run()
    with CrawlStore.open(memory_path / "plain") as plain:
        for one, other in zip(plain.visits(), cluster.shards[0].store.visits(), strict=True):
            # Only times depend on when leases came.
            assert _without_time(one) == _without_time(other)
            assert one.links.tolist() == other.links.tolist()
    cluster.close()


def _without_time(row: VisitRecord) -> VisitRecord:
    """Without arrays too, which have no order."""
    return replace(row, time_s=0.0, location=None, links=None, predicted=None, anchors=None)


@pytest.mark.parametrize("seed", few_of(range(1, 4), 1))
def test_robots_files_and_redirects_across_shards(memory_path, seed):
    site = busy_site(seed)
    cluster = VirtualCluster(memory_path / "cluster", settings_of(site, sitemaps=True), site, Random(seed))
    cluster.run()
    check_cluster(cluster)
    cluster.close()


def killer(rng: Random, share: float, most: int) -> Callable[[VirtualCluster], None]:
    """Kills a random shard after some events."""

    def fault(cluster: VirtualCluster) -> None:
        nonlocal most
        if most and cluster.shards and rng.random() < share:
            most -= 1
            cluster.kill(rng.choice(sorted(cluster.shards)))

    return fault


def pauser(rng: Random, share: float, most: int) -> Callable[[VirtualCluster], None]:
    """Replaces a shard that is only paused, and continues later."""

    def fault(cluster: VirtualCluster) -> None:
        nonlocal most
        if most and cluster.shards and rng.random() < share:
            most -= 1
            cluster.replace_paused(rng.choice(sorted(cluster.shards)), wakes_after_s=rng.choice([0.0, 3.0]))

    return fault


def coordinator_loser(rng: Random, share: float, most: int) -> Callable[[VirtualCluster], None]:
    def fault(cluster: VirtualCluster) -> None:
        nonlocal most
        if most and len(cluster.shards) == cluster.settings.shards and rng.random() < share:
            most -= 1
            cluster.lose_coordinator()

    return fault


def unreliable(rng: Random) -> list[float]:
    """Parcels are lost, delivered twice, overtaken, or delayed by a minute."""
    return rng.choice([[], [0.01], [0.01, 5.0], [rng.random() * 3], [60.0]])


FAULTS = {"kill": killer, "pause": pauser, "coordinator": coordinator_loser}


@pytest.mark.parametrize("fault", [None, *FAULTS])
@pytest.mark.parametrize("seed", few_of(range(3), 1))
def test_faults_lose_nothing(memory_path, fault, seed):
    def site() -> VirtualSite:
        return random_site(seed, n_pages=80, n_hosts=10)

    rng = Random(seed)
    faults = (lambda _cluster: None) if fault is None else FAULTS[fault](rng, 0.02, 6)
    cluster = VirtualCluster(
        memory_path / "cluster",
        settings_of(site(), strategy="opic"),
        site(),
        Random(seed),
        network=Network(unreliable),
        faults=faults,
    )
    assert cluster.run() is EndReason.FRONTIER
    visited = check_cluster(cluster)
    strategies = [each.crawl.engine.strategy for each in cluster.shards.values()]
    cash = fsum(strategy.circulating() + strategy.lost for strategy in strategies)
    cluster.close()
    assert cash == pytest.approx(1, abs=1e-9)
    assert cluster.n_read_from_logs
    if fault == "pause":
        assert cluster.n_fenced
    crawl_virtually(memory_path / "one", settings_of(site(), shards=1), site())
    assert sorted(visited) == sorted(visited_urls(memory_path / "one"))


@pytest.mark.parametrize("fault", ["kill", "coordinator"])
@pytest.mark.parametrize("seed", few_of(range(4), 1))
def test_a_page_budget_is_kept_exactly(memory_path, fault, seed):
    site = random_site(seed, n_pages=120, n_hosts=10)
    faults = FAULTS[fault](Random(seed), 0.03, 4)
    cluster = VirtualCluster(memory_path, settings_of(site, page_budget=40), site, Random(seed), faults=faults)
    assert cluster.run() is EndReason.BUDGET
    assert len(check_cluster(cluster)) == 40
    cluster.close()
