"""What `cluster_scale` extrapolates from: figures of a small crawl in shards, measured on one machine.

The pages are those of a real collection with many hosts (`real_sites`). Each figure of a process is measured in a new
one. Memory is the growth of resident memory.
"""

import gc
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.data import SyntheticUrls
from benchmarks.live import CONNECTIONS
from benchmarks.live_crawl import LiveCrawl
from benchmarks.live_server import serving
from benchmarks.live_site import Site
from benchmarks.processes import resident_bytes
from scenthound.cluster.connection import connected
from scenthound.crawler.replay import started
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import Parcel
from scenthound.frontier.base import UpdateRule
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.frontier.url_table import new_url_table
from scenthound.model import IntArray
from scenthound.shards.assembly import Assembly, ShardPages
from scenthound.shards.coordinator import N_BEST, Coordinator, Grant, Report
from scenthound.shards.logs import logs_of, shard_log, shards_of
from scenthound.store.crawl_database import urls_in
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, DATABASE_FILE, ArchiveSettings, CrawlAbout
from scenthound.store.crawl_store import CrawlStore

N_SHARDS = 4
#: URLs of the measurement of memory, and exchanges with an actor.
N_URLS = 1_000_000
N_EXCHANGES = 1_000


@dataclass(frozen=True, slots=True)
class Logs:
    """What the logs of a crawl contain. Parcels are those of all shards; `n_urls` counts a URL in each shard that knows
    it, `n_distinct` once."""

    n_pages: int
    n_bytes: int
    n_commits: int
    n_parcels: int
    parcel_bytes: int
    n_links: int
    n_urls: int
    n_distinct: int


@dataclass(frozen=True, slots=True)
class Work:
    """CPU seconds and growth of memory of something that was done for so many pages and URLs."""

    cpu_s: float
    grown_bytes: int
    n_pages: int
    n_urls: int


def measure(site: Site) -> None:
    """Crawl the site in shards, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="scenthound-scale-") as temporary, serving(site):
        folder = Path(temporary) / "crawl"
        crawl = LiveCrawl(str(folder), [site.seeds[0]], list(site.keywords), site.n_pages, CONNECTIONS)
        replace(crawl, shards=N_SHARDS).measure()
        logs = read_logs(folder)
        print(f"  {logs.n_pages:,} pages of {len(site.hosts)} hosts in {N_SHARDS} shards; load {os.getloadavg()[0]:.1f}")
        _print_storage(folder, logs)
        replayed = [_alone(replay, folder, shard, Path(temporary)) for shard in range(N_SHARDS)]
        _print_shards(replayed)
        assembled = _alone(assemble, folder, Path(temporary) / "again")
        _print_supervisor(assembled)


def _print_storage(folder: Path, logs: Logs) -> None:
    n = logs.n_pages
    sizes = {
        "archive": sum(file.stat().st_size for file in (folder / ARCHIVE_FOLDER).iterdir()),
        "database": (folder / DATABASE_FILE).stat().st_size,
        "log": logs.n_bytes,
    }
    print("  bytes per page: " + ", ".join(f"{name} {size / n:,.0f}" for name, size in sizes.items()))
    print(f"  URLs per page: {logs.n_distinct / n:.2f}; each is known to {logs.n_urls / logs.n_distinct:.2f} shards")
    print(f"  travelling links per page: {logs.n_links / n:.2f}, in parcels of {logs.parcel_bytes / n:,.0f} bytes per page")
    print(f"  parcels: {logs.n_parcels:,} in {logs.n_commits:,} commits; {logs.parcel_bytes / logs.n_links:.1f} bytes a link")


def _print_shards(replayed: list[Work]) -> None:
    n_pages, n_urls = sum(each.n_pages for each in replayed), sum(each.n_urls for each in replayed)
    of_url = _alone(url_memory)
    grown = sum(each.grown_bytes for each in replayed)
    print(f"  takeover of a shard: {1e6 * sum(each.cpu_s for each in replayed) / n_pages:,.0f} µs CPU per page")
    print(f"  memory of a shard: {of_url:,.0f} bytes per URL; {(grown - n_urls * of_url) / n_pages:,.0f} per page besides")


def _print_supervisor(assembled: Work) -> None:
    print(f"  assembly: {1e6 * assembled.cpu_s / assembled.n_pages:,.0f} µs CPU per page; memory ", end="")
    print(f"{_alone(assembly_memory):,.0f} bytes per URL")
    print(f"  exchange: {1e6 * _alone(exchange):,.0f} µs CPU of the supervisor; coordinator alone ", end="")
    print(", ".join(f"{1e6 * _alone(coordination, n):,.0f} µs with {n:,} shards" for n in (10, 100, 1000)))


def _alone(function: Callable[..., Any], *arguments: object) -> Any:
    """The result of a function in a new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def read_logs(folder: Path) -> Logs:
    shards = shards_of(folder)
    logs = logs_of(shards.location_in(folder), shards.n_shards)
    n_commits = n_bytes = n_parcels = parcel_bytes = n_links = n_urls = 0
    distinct: set[str] = set()
    for log in logs:
        for number in range(1, log.last() + 1):
            commit = log.read(number)
            assert commit is not None
            n_commits += 1
            _, urls = urls_in(commit.rows)
            n_urls += len(urls)
            distinct.update(urls)
            for content in commit.parcels.values():
                n_parcels += 1
                parcel_bytes += len(content)
                n_links += len(Parcel.from_bytes(content).urls)
        n_bytes += sum(file.stat().st_size for file in Path(log.location).iterdir())
    with CrawlStore.open(folder) as store:
        n_pages = store.n_visits()
    return Logs(n_pages, n_bytes, n_commits, n_parcels, parcel_bytes, n_links, n_urls, len(distinct))


def replay(folder: Path, shard: int, temporary: Path) -> Work:
    """Rebuild the folder of a shard from its log, and bring its engine to the last commit, as a successor does."""
    settings = replace(CrawlSettings.from_settings(CrawlAbout.read(folder).settings), shard=shard)
    log = shard_log(shards_of(folder).location_in(folder), shard)
    gc.collect()
    before, began_s = resident_bytes(os.getpid()), time.process_time()
    with CrawlStore.open(temporary / f"shard-{shard}", commit_log=log.location) as store:
        parts, _ = started(settings, store)
        cpu_s = time.process_time() - began_s
        n_urls, n_pages = len(parts.crawl.engine.web.table), store.n_visits()
        grown = resident_bytes(os.getpid()) - before
        parts.close()
    return Work(cpu_s, grown, n_pages, n_urls)


def assemble(folder: Path, out: Path) -> Work:
    """Assemble the folder of the whole crawl once more."""
    settings, shards = CrawlAbout.read(folder).settings, shards_of(folder)
    began_s = time.process_time()
    with CrawlStore.create(out, settings, ArchiveSettings("scale")) as store:
        Assembly(store, logs_of(shards.location_in(folder), shards.n_shards)).catch_up()
        return Work(time.process_time() - began_s, 0, store.n_visits(), 0)


def url_memory() -> float:
    """Bytes of a queued URL in a shard: the URL table and the frontier."""
    table, frontier = new_url_table(), UnboundedFrontier(Random(1))
    rng = np.random.default_rng(1)
    return _grown_per_url(
        table, lambda pages: frontier.push(pages, table.hosts(pages), rng.random(len(pages)), UpdateRule.MAX)
    )


def assembly_memory() -> float:
    """Bytes of a URL in the assembly: the URL table, and its number in two shards."""
    shards = ShardPages(), ShardPages()
    return _grown_per_url(new_url_table(), lambda pages: [each.extend(pages) for each in shards])


def _grown_per_url(table: Any, use: Callable[[IntArray], object]) -> float:
    urls = SyntheticUrls(10_000)
    gc.collect()
    before = resident_bytes(os.getpid())
    for chunk in urls.chunks(N_URLS, 10_000):
        use(table.add_all(chunk))
    del chunk, urls
    gc.collect()
    return (resident_bytes(os.getpid()) - before) / N_URLS


class ExchangePartner:
    """Answers reports like an actor of a shard."""

    def start(self) -> None:
        self._report = _report_of(0, 1_000)

    def report(self) -> Report:
        return self._report

    def apply(self, grant: Grant, reported_s: float) -> None:
        """Grants are ignored."""


def _report_of(shard: int, n_pages: int) -> Report:
    best = np.linspace(1.0, 0.5, N_BEST).tolist()
    return Report(shard, n_pages + 500, n_pages, 32, 10, 100_000, best, is_idle=False)


def exchange() -> float:
    """CPU seconds of the supervisor for one report and its grant."""
    with connected("local", 1) as connection:
        actor = connection.new_service(1.0)
        connection.ray.get(actor.become.remote(__name__, ExchangePartner.__name__))
        grant = Grant(1_000)
        began_s = 0.0
        for number in range(N_EXCHANGES + 100):
            if number == 100:
                began_s = time.process_time()
            connection.ray.get(actor.call.remote("report"))
            actor.call.remote("apply", grant, 0.0)
        return (time.process_time() - began_s) / N_EXCHANGES


def coordination(n_shards: int) -> float:
    """CPU seconds of the coordinator for one report and its grant."""
    coordinator = Coordinator(n_shards, 10**9, PolitenessSettings())
    n_rounds = max(2, 2_000 // n_shards)
    began_s = 0.0
    for number in range(n_rounds + 1):
        if number == 1:
            began_s = time.process_time()
        for shard in range(n_shards):
            coordinator.note(_report_of(shard, 100 * number))
            coordinator.grant(shard, 0.0)
    return (time.process_time() - began_s) / n_rounds / n_shards
