"""The folder of a whole crawl: every visit of every shard once, whatever happens to the process that assembles it."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from scenthound.crawler.settings import CrawlSettings
from scenthound.shards.assembly import Assembly
from scenthound.shards.logs import logs_of
from scenthound.store.crawl_folder import ArchiveSettings, ShardLogs
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from test_shard_crawls import N_SHARDS, settings_of
from virtual_shards import VirtualCluster
from virtual_site import VirtualSite, random_site


@dataclass
class Assembler:
    """A process that assembles the crawl of a cluster in the folder `out`."""

    out: Path
    logs: Path
    settings: CrawlSettings
    max_file_bytes: int = 1 << 30
    n_taken: int = 0
    n_kills: int = 0
    _open: tuple[CrawlStore, Assembly] | None = field(default=None, init=False)

    def start(self) -> Assembly:
        if self._open is None:
            store = CrawlStore.open(self.out) if self.out.exists() else self._created()
            self._open = store, Assembly(store, logs_of(self.logs, self.settings.shards))
        return self._open[1]

    def _created(self) -> CrawlStore:
        archive = ArchiveSettings("test", most_file_bytes=self.max_file_bytes)
        shards = ShardLogs(self.settings.shards, str(self.logs))
        return CrawlStore.create(self.out, self.settings.as_settings(), archive, shards=shards)

    def catch_up(self, max_commits: int | None = None) -> int:
        n_commits = self.start().catch_up(max_commits)
        self.n_taken += n_commits
        return n_commits

    def kill(self) -> None:
        """What was not committed is lost."""
        if self._open is not None:
            self._open[0].set_status(b"lost")
            self._open[0].close()
            self._open = None
            self.n_kills += 1

    def close(self) -> None:
        if self._open is not None:
            self._open[0].close()
            self._open = None


def site_with_rules(seed: int) -> VirtualSite:
    """A site whose hosts have robots.txt files."""
    site = random_site(seed, n_pages=80, n_hosts=10)
    for host in range(10):
        site.others[f"http://h{host}.test/robots.txt"] = (200, "", f"User-agent: *\nDisallow: /{host + 1}".encode())
    return site


def crawled(
    folder: Path, site: VirtualSite, *, faults: Callable[[VirtualCluster], None] = lambda _: None, **chosen: object
) -> VirtualCluster:
    """A crawl that has ended; its stores are open."""
    seed = int(chosen.pop("seed", 0))
    cluster = VirtualCluster(folder, settings_of(site, **chosen), site, Random(seed), faults=faults)
    cluster.run()
    return cluster


def assembler_of(cluster: VirtualCluster, out: Path, **chosen: int) -> Assembler:
    return Assembler(out, cluster.folder / "log", cluster.settings, **chosen)


def visit_facts(crawl: StoredCrawl) -> Iterator[tuple[object, ...]]:
    """What is the same in the shard and in the whole crawl."""
    urls = crawl.urls()
    for row in crawl.visits():
        assert row.location is not None
        yield (
            row.url,
            urls[row.page],
            row.time_s,
            row.relevance,
            row.score,
            row.rank,
            row.queue_size,
            row.title,
            [urls[link] for link in row.links.tolist()],
            None if row.predicted is None else row.predicted.tolist(),
            crawl.archive.record(row.location),
        )


def skip_facts(crawl: StoredCrawl) -> Iterator[tuple[object, ...]]:
    for row in crawl.skipped():
        yield crawl.url_of(row.page), row.url, row.reason, row.detail, row.time_s


def check_assembled(out: Path, cluster: VirtualCluster) -> list[VisitRecord]:
    """That a folder has all of the cluster's shards; returns its visits."""
    stores = [shard.store for shard in cluster.shards.values()]
    with StoredCrawl.open(out) as whole:
        expected = sorted(facts for store in stores for facts in visit_facts(store))
        assert sorted(visit_facts(whole)) == expected
        rows = list(whole.visits())
        assert [row.visit for row in rows] == list(range(len(rows)))
        seeds = list(cluster.settings.seeds)
        assert whole.urls()[: len(seeds)] == seeds
        assert len(set(whole.urls())) == len(whole.urls())
        assert Counter(whole.reasons()) == sum((Counter(store.reasons()) for store in stores), Counter())
        assert sorted(skip_facts(whole)) == sorted(facts for store in stores for facts in skip_facts(store))
        robots = sorted(each.origin for store in stores for each in store.robots())
        assert sorted(each.origin for each in whole.robots()) == robots
        check_archive(whole, stores)
    return rows


def check_archive(whole: StoredCrawl, stores: list[CrawlStore]) -> None:
    """The same records as in the shards, each file with a `warcinfo` record of its own at its beginning."""
    records = list(whole.archive.records(whole.archive_end()))
    firsts = [location.offset == 0 for location, _ in records]
    assert [record.kind == "warcinfo" for _, record in records] == firsts
    assert len({record.record_id for _, record in records}) == len(records)
    expected = [
        record.record_id
        for store in stores
        for _, record in store.archive.records(store.archive_end())
        if record.kind != "warcinfo"
    ]
    assert sorted(record.record_id for _, record in records if record.kind != "warcinfo") == sorted(expected)


@pytest.mark.parametrize("strategy", ["best_first", "link_context", "opic"])
def test_the_folder_has_every_visit_of_every_shard(tmp_path, strategy):
    cluster = crawled(tmp_path / "cluster", random_site(1, n_pages=80, n_hosts=10), strategy=strategy)
    with closing(assembler_of(cluster, tmp_path / "out")) as assembler:
        n_commits = assembler.catch_up()
        assert n_commits == sum(shard.store.change_counter() for shard in cluster.shards.values())
        assert assembler.catch_up() == 0
        rows = check_assembled(tmp_path / "out", cluster)
    assert [row.time_s for row in rows] == sorted(row.time_s for row in rows)
    cluster.close()


@pytest.mark.parametrize("seed", range(2))
def test_a_crawl_is_assembled_while_it_runs_by_processes_that_are_killed(tmp_path, seed):
    rng = Random(seed)
    site = site_with_rules(seed)
    assembler = Assembler(tmp_path / "out", tmp_path / "cluster" / "log", settings_of(site))

    def assemble(cluster: VirtualCluster) -> None:
        if rng.random() < 0.02:
            assembler.catch_up(rng.choice([1, 3, None]))
        if rng.random() < 0.01 and assembler.n_kills < 5:
            assembler.kill()
        if rng.random() < 0.005 and len(cluster.shards) == N_SHARDS and cluster.n_kills < 2:
            cluster.kill(rng.choice(sorted(cluster.shards)))

    cluster = crawled(tmp_path / "cluster", site, faults=assemble, seed=seed)
    with closing(assembler):
        assembler.catch_up()
        assert assembler.n_kills > 1
        assert assembler.n_taken == sum(shard.store.change_counter() for shard in cluster.shards.values())
        piecewise = check_assembled(tmp_path / "out", cluster)
    with closing(assembler_of(cluster, tmp_path / "again")) as at_once:
        at_once.catch_up()
        assert {row.url for row in check_assembled(tmp_path / "again", cluster)} == {row.url for row in piecewise}
    cluster.close()
