"""Parts of a crawl in shards: hosts, parcels, tokens of addresses, redirects and robots.txt files of other shards."""

from itertools import pairwise
from math import inf
from pathlib import Path
from random import Random
from time import monotonic
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import Parcel, RobotsAnswer, RobotsRequest, ShardMap, shard_of
from scenthound.errors import CorruptData
from scenthound.frontier.politeness import UNUSED_S, Politeness, PolitenessSettings, RequestOutcome
from scenthound.frontier.url_table import UrlTable
from scenthound.model import Topic
from scenthound.reasons import EndReason, SkipReason
from scenthound.shards.coordinator import Coordinator, Report
from scenthound.shards.member import MAX_WAITING, Inbox
from scenthound.shards.supervisor import Incarnation, Supervisor
from scenthound.web.urls import host_of
from test_coordinator import report
from test_shard_crawls import check_cluster, settings_of
from virtual_shards import VirtualCluster
from virtual_site import VirtualSite, page_of_words, random_site


def test_hosts_of_a_registrable_domain_are_in_one_shard():
    for n_shards in (1, 2, 7, 64):
        shards = {shard_of(host, n_shards) for host in ("example.co.uk", "www.example.co.uk", "a.b.example.co.uk")}
        assert len(shards) == 1
        assert 0 <= shards.pop() < n_shards


def test_the_shard_of_a_host_never_changes():
    assert [shard_of(f"h{i}.test", 16) for i in range(12)] == [1, 9, 15, 8, 7, 11, 12, 13, 11, 7, 14, 9]


def test_shards_have_about_as_many_hosts_each():
    counts = np.bincount([shard_of(f"site{i}.org", 8) for i in range(8_000)])
    assert counts.min() > 850
    assert counts.max() < 1_150


def test_a_shard_map_knows_hosts_by_number():
    table = UrlTable()
    pages = table.add_all([f"http://h{i}.test/" for i in range(50)])
    shards = ShardMap(4, 1, table)
    hosts = table.hosts(pages)
    expected = [shard_of(f"h{i}.test", 4) for i in range(50)]
    assert shards.of_hosts(hosts).tolist() == expected
    assert shards.is_home(pages, hosts).tolist() == [shard == 1 for shard in expected]
    assert shards.is_home_url("http://h7.test/x") is (expected[7] == 1)


def test_a_parcel_keeps_everything():
    parcel = Parcel(
        41,
        ["http://a.test/", "http://b.test/ü"],
        np.array([[inf, 2.0], [0.1, np.nan]]),
        {"http://a.test/": 3},
        [RobotsRequest("http://c.test", "http://d.test/robots.txt", 2, 7)],
        [
            RobotsAnswer("http://e.test", 200, b"\x00\xffUser-agent: *"),
            RobotsAnswer("http://f.test", failure=SkipReason.DNS_FAILED),
        ],
        [["sea", "wave", "sea"], ["überseht"]],
    )
    read = Parcel.from_bytes(parcel.to_bytes())
    assert np.array_equal(read.values, parcel.values, equal_nan=True)
    for name in ("previous", "urls", "hops", "requests", "answers", "starts"):
        assert getattr(read, name) == getattr(parcel, name)


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-3], lambda c: b"", lambda c: b"x" + c, lambda c: c[:10] + b"y" + c[11:]]
)
def test_a_damaged_parcel_costs_one_line(damage):
    content = Parcel(0, ["http://a.test/"] * 50, np.ones((50, 1))).to_bytes()
    with pytest.raises(CorruptData, match="parcel"):
        Parcel.from_bytes(damage(content))


# Tokens


def politeness_of_shard(**settings: float) -> Politeness:
    politeness = Politeness(PolitenessSettings(**settings), needs_tokens=True)
    for host in range(6):
        politeness.set_address(host, "192.0.2.1")
    return politeness


def test_an_address_without_tokens_is_not_ready():
    politeness = politeness_of_shard()
    assert politeness.take_new_addresses() == ["192.0.2.1"]
    assert not politeness.ready(0, 1e9)
    assert politeness.awaits_tokens
    politeness.set_tokens("192.0.2.1", 4, 100.0)
    assert not politeness.ready(0, 100.0), "another shard may have sent a request just now"
    assert politeness.next_ready_s(100.0) == 100.25
    assert politeness.ready(0, 100.25)
    assert not politeness.awaits_tokens


@pytest.mark.parametrize(("tokens", "gap_s"), [(4, 0.25), (2, 0.5), (1, 1.0)])
def test_tokens_limit_requests_and_their_rate(tokens, gap_s):
    politeness = politeness_of_shard()
    politeness.set_tokens("192.0.2.1", tokens, 0.0)
    now_s, started = 10.0, []
    for host in range(6):
        if politeness.ready(host, now_s):
            politeness.started(host, now_s)
            started.append(host)
            assert not politeness.ready(host + 1, now_s + gap_s - 0.01)
            now_s += gap_s
    assert len(started) == tokens
    politeness.finished(started[0], now_s, RequestOutcome(0.1))
    assert politeness.ready(5, now_s)


def test_tokens_that_are_given_back_stay_in_use_until_requests_end():
    politeness = politeness_of_shard()
    politeness.set_tokens("192.0.2.1", 4, 0.0)
    politeness.started(0, 10.0)
    politeness.set_tokens("192.0.2.1", 0, 11.0)
    assert politeness.tokens_in_use("192.0.2.1") == 1
    assert not politeness.ready(1, 1e9)
    politeness.finished(0, 12.0, RequestOutcome(0.1))
    assert politeness.tokens_in_use("192.0.2.1") == 0


def test_tokens_that_are_not_used_are_reported_if_others_need_them():
    politeness = politeness_of_shard(delay_s=1.0)
    assert not politeness.lacks_tokens(6)
    assert politeness.lacks_tokens(0)
    politeness.set_tokens("192.0.2.1", 1, 0.0)
    assert not politeness.lacks_tokens(0)
    # With one of four tokens, the address waits for a second.
    assert politeness.unused_addresses(1.0 + UNUSED_S - 0.1) == []
    assert politeness.unused_addresses(1.0 + UNUSED_S) == ["192.0.2.1"]
    politeness.started(0, 3.5)
    assert politeness.unused_addresses(10.0) == []
    politeness.finished(0, 10.0, RequestOutcome(6.5))
    assert politeness.unused_addresses(10.0 + UNUSED_S) == ["192.0.2.1"]
    politeness.set_tokens("192.0.2.1", 4, 20.0)
    assert politeness.unused_addresses(100.0) == []


def test_tokens_are_assigned_again_after_a_restart():
    politeness = politeness_of_shard()
    politeness.set_tokens("192.0.2.1", 4, 0.0)
    politeness.take_new_addresses()
    politeness.resume(50.0)
    assert politeness.take_new_addresses() == ["192.0.2.1"]
    assert not politeness.ready(0, 1e9)


# Redirects and robots.txt files


def hosts_of_shards(n_shards: int) -> list[str]:
    """A host of each shard."""
    found: dict[int, str] = {}
    for number in range(1_000):
        found.setdefault(shard_of(f"h{number}.test", n_shards), f"h{number}.test")
    return [found[shard] for shard in range(n_shards)]


def crawled(memory_path: Path, site: VirtualSite, **settings: object) -> VirtualCluster:
    cluster = VirtualCluster(memory_path, settings_of(site, **settings), site, Random(1))
    assert cluster.run() is EndReason.FRONTIER
    check_cluster(cluster)
    return cluster


def reasons_of(cluster: VirtualCluster) -> dict[str, SkipReason]:
    return {row.url: row.reason for each in cluster.shards.values() for row in each.store.skipped()}


def test_a_redirect_to_another_shard_is_handed_on(memory_path):
    a, b, _ = hosts_of_shards(3)
    site = VirtualSite(
        {
            f"http://{a}/": page_of_words("a", [f"http://{a}/old"], 1),
            f"http://{b}/": page_of_words("b", [], 2),
            f"http://{b}/new": page_of_words("new", [], 3),
        },
        {f"http://{a}/old": f"http://{b}/new"},
    )
    cluster = crawled(memory_path, site, strategy="opic")
    visited = [row.url for each in cluster.shards.values() for row in each.store.visits()]
    assert f"http://{b}/new" in visited
    assert reasons_of(cluster) == {f"http://{a}/old": SkipReason.HANDED_ON}
    strategies = [each.crawl.engine.strategy for each in cluster.shards.values()]
    assert sum(each.circulating() + each.lost for each in strategies) == pytest.approx(1, abs=1e-12)
    cluster.close()


def test_redirects_around_all_shards_end(memory_path):
    hosts = hosts_of_shards(3)
    n_redirects = 40
    urls = [f"http://{hosts[i % 3]}/r{i}" for i in range(n_redirects + 1)]
    start = f"http://{hosts[0]}/"
    pages = {start: page_of_words("start", [urls[0]], 1), f"http://{hosts[1]}/": page_of_words("b", [], 2)}
    cluster = crawled(memory_path, VirtualSite(pages, dict(pairwise(urls))))
    reasons = reasons_of(cluster)
    assert list(reasons.values()).count(SkipReason.REDIRECT_LOOP) == 1
    assert len(reasons) == cluster.settings.redirects + 1
    cluster.close()


def test_a_loop_of_redirects_between_shards_ends(memory_path):
    a, b, _ = hosts_of_shards(3)
    pages = {f"http://{a}/": page_of_words("a", [f"http://{a}/x"], 1), f"http://{b}/": page_of_words("b", [], 2)}
    cluster = crawled(
        memory_path, VirtualSite(pages, {f"http://{a}/x": f"http://{b}/x", f"http://{b}/x": f"http://{a}/x"})
    )
    assert set(reasons_of(cluster).values()) == {SkipReason.HANDED_ON}
    cluster.close()


@pytest.mark.parametrize("is_chain", [False, True])
def test_robots_files_on_hosts_of_other_shards(memory_path, is_chain):
    a, b, c = hosts_of_shards(3)
    rules = (200, "", b"User-agent: *\nDisallow: /private\n")
    end = f"http://{c}/rules" if is_chain else f"http://{b}/rules"
    site = VirtualSite(
        {
            f"http://{a}/": page_of_words("a", [f"http://{a}/private", f"http://{a}/public"], 1),
            f"http://{a}/private": page_of_words("private", [], 2),
            f"http://{a}/public": page_of_words("public", [], 3),
            f"http://{b}/": page_of_words("b", [], 4),
        },
        {f"http://{a}/robots.txt": f"http://{b}/rules", **({f"http://{b}/rules": end} if is_chain else {})},
        {end: rules},
    )
    cluster = crawled(memory_path, site)
    assert reasons_of(cluster) == {f"http://{a}/private": SkipReason.ROBOTS}
    assert site.requests[end] == 1
    cluster.close()


def test_a_robots_file_that_another_shard_cannot_fetch(memory_path):
    a, b, _ = hosts_of_shards(3)
    site = VirtualSite(
        {f"http://{a}/": page_of_words("a", [], 1), f"http://{b}/": page_of_words("b", [], 4)},
        {f"http://{a}/robots.txt": f"http://{b}/rules"},
        {f"http://{b}/rules": (503, "", b"")},
    )
    cluster = crawled(memory_path, site)
    assert reasons_of(cluster)[f"http://{a}/"] is SkipReason.ROBOTS_UNREACHABLE
    cluster.close()


def test_only_hosts_of_the_shard_are_counted(memory_path):
    site = random_site(2, n_pages=60, n_hosts=9)
    cluster = crawled(memory_path, site)
    counts = [each.crawl.engine.host_counts(cluster.now_s) for each in cluster.shards.values()]
    assert sum(map(sum, counts)) == len({host_of(request.url) for request in cluster.requests})
    cluster.close()


class ReceivingCrawl:
    """Receives the parcels of a chain in their order."""

    def __init__(self) -> None:
        self.received: dict[int, int] = {}

    def receive(self, _now_s: float, source: int, commit: int, _content: bytes) -> bool:
        if commit == self.received.get(source, 0) + 1:
            self.received[source] = commit
        return commit <= self.received.get(source, 0)


def test_a_full_inbox_takes_the_parcel_that_is_missing():
    crawl: Any = ReceivingCrawl()
    inbox = Inbox(crawl)
    for commit in range(2, MAX_WAITING + 500):
        inbox.deliver(0.0, 3, commit, b"")
    assert len(inbox) == MAX_WAITING
    for commit in range(1, MAX_WAITING + 500):
        inbox.deliver(0.0, 3, commit, b"")
    assert crawl.received == {3: MAX_WAITING + 499}
    assert not len(inbox)


def test_addresses_are_reported_until_a_grant_answers(memory_path):
    site = random_site(2, n_pages=60, n_hosts=9)
    cluster = crawled(memory_path, site)
    shard = next(each for each in cluster.shards.values() if each.member.report(0.0).n_pages)
    shard.crawl.engine.politeness.set_address(0, "192.0.2.99")
    for _ in range(2):
        assert shard.member.report(0.0).addresses == ("192.0.2.99",)
    shard.member.apply(cluster.now_s, cluster.coordinator.grant(shard.shard, cluster.now_s))
    assert shard.member.report(0.0).addresses == ()
    cluster.close()


def test_nothing_is_granted_before_the_pages_of_all_shards_are_known():
    coordinator = Coordinator(2, 100, PolitenessSettings())
    known = {"page_budget": 0, "n_issued": 0, "n_requests": 0, "n_waiting": 0, "n_queued": 50, "is_idle": False}
    coordinator.note(Report(0, n_pages=30, n_requested=30, best=[1.0] * 50, **known))
    assert coordinator.grant(0, 0.0).page_budget == 30
    coordinator.note(Report(1, n_pages=70, n_requested=70, best=[1.0] * 50, **known))
    assert coordinator.ended is EndReason.BUDGET
    assert coordinator.grant(0, 0.0).page_budget == 30
    assert coordinator.grant(1, 0.0).page_budget == 70


# The supervisor


@pytest.mark.parametrize("n_members", [0, 1])
def test_a_supervisor_between_two_exchanges_does_not_use_the_processor(tmp_path, n_members):
    connection = SimpleNamespace(ray=None, n_processors=lambda: 1)
    settings = CrawlSettings(Topic("test", ("sea",)), ("http://h.test/",))
    supervisor = Supervisor(connection, settings, uuid4(), str(tmp_path), page_budget=10)
    for shard in range(n_members):
        supervisor._members[shard] = Incarnation(shard, None, None, 0.0, next_s=monotonic() + 60)
    began_s = monotonic()
    supervisor._hear(0.05)
    assert monotonic() - began_s >= 0.05


def test_the_time_limit_does_not_include_the_start_of_shards(tmp_path, monkeypatch):
    connection = SimpleNamespace(ray=None, n_processors=lambda: 1)
    settings = CrawlSettings(Topic("test", ("sea",)), ("http://h.test/",))
    supervisor = Supervisor(connection, settings, uuid4(), str(tmp_path), page_budget=10, time_s=0.0)
    n_rounds = 0

    def hear(_timeout_s: float) -> None:
        nonlocal n_rounds
        n_rounds += 1
        if n_rounds == 5:
            supervisor.coordinator.note(report(0))

    monkeypatch.setattr(supervisor, "_hear", hear)
    assert supervisor._supervise() is EndReason.TIME
    assert n_rounds == 5


class RecordingActor:
    """Notes the shards that each call of `add_peers` names."""

    def __init__(self) -> None:
        self.told: list[list[int]] = []
        self.call = SimpleNamespace(remote=lambda _method, peers: self.told.append(sorted(peers)))


def test_new_actors_are_told_of_all_and_the_others_of_new_ones(tmp_path):
    connection = SimpleNamespace(ray=None, n_processors=lambda: 1)
    settings = CrawlSettings(Topic("test", ("sea",)), ("http://h.test/",))
    supervisor = Supervisor(connection, settings, uuid4(), str(tmp_path), page_budget=10)
    actors = [RecordingActor() for _ in range(4)]
    for started in ([0, 1], [2], []):
        for shard in started:
            supervisor._members[shard] = Incarnation(shard, actors[shard], None, 0.0, is_started=True)
            supervisor._new_peers.add(shard)
        supervisor._members[3] = Incarnation(3, actors[3], None, 0.0)
        supervisor._tell_peers()
    assert [each.told for each in actors] == [[[0, 1], [2]], [[0, 1], [2]], [[0, 1, 2]], []]
