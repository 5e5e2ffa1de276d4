"""Figures of a small crawl in shards on one machine, from which `cluster_scale` computes what large crawls need.

The pages are those of a real collection with many hosts (`real_sites`). Each figure of a process is measured in a new
one. Memory is the growth of resident memory.
"""

import gc
import json
import os
import tempfile
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

import numpy as np

from benchmarks.data import SyntheticUrls
from benchmarks.live import CONNECTIONS
from benchmarks.live_crawl import LiveCrawl
from benchmarks.live_server import serving
from benchmarks.live_site import Site
from benchmarks.processes import resident_bytes
from benchmarks.shard_speed import KINDS, measure, summary
from scenthound.cluster.connection import Connection, connected
from scenthound.crawler.replay import started
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import Parcel, shard_of
from scenthound.frontier.base import UpdateRule
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.frontier.url_table import UrlTable
from scenthound.model import IntArray
from scenthound.shards.assembly import Assembly
from scenthound.shards.coordinator import N_BEST, Coordinator, Grant, Report
from scenthound.shards.logs import logs_of, shard_log
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, DATABASE_FILE, ArchiveSettings, CrawlAbout, ShardLogs
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.urls import host_of

#: Shards of the small crawl, and rounds of crawls whose speed is compared.
N_SHARDS = 4
ROUNDS = 5
#: For how many shards it is counted how many of them know a URL, and with how many the coordinator is measured.
SHARD_COUNTS = (4, 16, 64, 256, 1024)
#: URLs of the measurement of memory.
N_URLS = 1_000_000
#: Calls of an actor, how many of them are sent at once, and bytes of a small parcel.
N_CALLS = 2_000
N_AHEAD = 100
PARCEL_BYTES = 500


@dataclass(frozen=True, slots=True)
class Speed:
    """Medians of crawls (`shard_speed`): CPU time of the processes that crawl, of others, and pages per second."""

    crawl_ms: float
    other_ms: float
    pages_per_s: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Bytes and times are those of one page, URL, link, exchange or parcel, as their names say. Times are CPU time."""

    n_pages: int
    n_hosts: int
    #: By the kinds of `shard_speed`.
    speeds: Mapping[str, Speed]
    page_log_bytes: float
    page_archive_bytes: float
    page_database_bytes: float
    #: Different URLs that were found, visited or not.
    page_urls: float
    #: Links that travel to other shards, if there are so many of these that every domain has its own.
    page_links_away: float
    link_bytes: float
    #: How many shards know a URL, by the number of shards: its home, and those with pages that link to it.
    url_copies: Mapping[int, float]
    #: Memory of a shard.
    shard_url_bytes: float
    shard_page_bytes: float
    #: When a successor rebuilds the folder of a shard, and replays its journal.
    page_takeover_us: float
    page_assembly_us: float
    #: Memory of the supervisor.
    assembly_url_bytes: float
    #: The supervisor's part of an exchange with a shard: the calls, and the coordinator by the number of shards.
    exchange_call_us: float
    exchange_coordinator_us: Mapping[int, float]
    #: Both sides.
    parcel_us: float

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Figures":
        values = json.loads(text)
        values["speeds"] = {kind: Speed(**each) for kind, each in values["speeds"].items()}
        for name in ("url_copies", "exchange_coordinator_us"):
            values[name] = {int(n): value for n, value in values[name].items()}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Work:
    """CPU seconds and growth of memory of something that was done for this many pages and URLs."""

    cpu_s: float
    n_pages: int
    grown_bytes: int = 0
    n_urls: int = 0


def measured(name: str, site: Site, rounds: int = ROUNDS) -> Figures:
    """Measure everything. Each figure is printed."""
    crawls = measure(name, site, rounds)
    print("\n".join(summary(crawls)))
    speeds = {
        kind: Speed(
            median(each.crawl_ms for each in crawls[kind]),
            median(each.other_ms for each in crawls[kind]),
            median(each.pages_per_s for each in crawls[kind]),
        )
        for kind in KINDS
    }
    with tempfile.TemporaryDirectory(prefix="scenthound-scale-") as temporary:
        replayed = {}
        for n_shards in (1, N_SHARDS):
            folder = Path(temporary) / f"crawl-{n_shards}"
            crawl = LiveCrawl(str(folder), [site.seeds[0]], list(site.keywords), site.n_pages, CONNECTIONS)
            with serving(site):
                replace(crawl, shards=n_shards).measure()
            replayed[n_shards] = [_alone(replay, folder, shard) for shard in range(n_shards)]
        assembled = _alone(assemble, folder, Path(temporary) / "again")
        stored = _stored(folder)
    url_bytes = _alone(url_memory)
    exchange_s, parcel_s = _alone(call_costs)
    figures = Figures(
        n_hosts=len(site.hosts),
        speeds=speeds,
        shard_url_bytes=url_bytes,
        shard_page_bytes=page_memory(replayed[1][0], replayed[N_SHARDS], url_bytes),
        page_takeover_us=1e6 * replayed[1][0].cpu_s / replayed[1][0].n_pages,
        page_assembly_us=1e6 * assembled.cpu_s / assembled.n_pages,
        assembly_url_bytes=_alone(assembly_memory),
        exchange_call_us=1e6 * exchange_s,
        exchange_coordinator_us={n: 1e6 * _alone(coordination, n) for n in SHARD_COUNTS},
        parcel_us=1e6 * parcel_s,
        **stored,
    )
    print(figures.to_json())
    return figures


def _alone(function: Callable[..., Any], *arguments: object) -> Any:
    """The result of a function in a new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


# What is stored and sent


def _stored(folder: Path) -> dict[str, Any]:
    """The figures of a stored crawl."""
    shards = shards_of(folder)
    log_bytes = parcel_bytes = n_links = 0
    for log in logs_of(shards.location_in(folder), shards.n_shards):
        log_bytes += sum(file.stat().st_size for file in Path(log.location).iterdir())
        for number in range(1, log.last() + 1):
            commit = log.read(number)
            assert commit is not None
            for content in commit.parcels.values():
                parcel_bytes += len(content)
                n_links += len(Parcel.from_bytes(content).urls)
    with StoredCrawl.open(folder) as crawl:
        n, urls = crawl.n_visits(), crawl.urls()
        copies = url_copies(crawl, urls)
    # A part of the links away from a domain leads to other domains of the same shard.
    away = n_links / (1 - 1 / shards.n_shards)
    return {
        "n_pages": n,
        "page_log_bytes": log_bytes / n,
        "page_archive_bytes": sum(file.stat().st_size for file in (folder / ARCHIVE_FOLDER).iterdir()) / n,
        "page_database_bytes": (folder / DATABASE_FILE).stat().st_size / n,
        "page_urls": len(urls) / n,
        "page_links_away": away / n,
        "link_bytes": parcel_bytes / n_links,
        "url_copies": copies,
    }


def url_copies(crawl: StoredCrawl, urls: list[str]) -> dict[int, float]:
    """How many shards would know a URL, by the number of shards."""
    hosts = [host_of(url) for url in urls]
    pages = np.fromiter((visit.page for visit in crawl.visits()), np.int64)
    # Each URL counts as a link from itself, because it is in the table of its home.
    sources: list[Any] = [np.arange(len(urls))]
    targets: list[Any] = [np.arange(len(urls))]
    for arrays in crawl.links(len(pages)):
        sources.append(pages[arrays.sources])
        targets.append(arrays.all_links)
    source, target = np.concatenate(sources), np.concatenate(targets)
    copies = {}
    for n_shards in SHARD_COUNTS:
        of_host = {host: shard_of(host, n_shards) for host in set(hosts)}
        shards = np.array([of_host[host] for host in hosts])
        copies[n_shards] = len(np.unique(shards[source] * len(urls) + target)) / len(urls)
    return copies


# A shard


def page_memory(large: Work, small: Sequence[Work], url_bytes: float) -> float:
    """Bytes of a visited page in a shard, besides its URLs: the growth from small shards to a large one, because caches
    and the like have a size that does not grow."""
    n_pages = mean(each.n_pages for each in small)
    besides = mean(each.grown_bytes - each.n_urls * url_bytes for each in small)
    return (large.grown_bytes - large.n_urls * url_bytes - besides) / (large.n_pages - n_pages)


def replay(folder: Path, shard: int) -> Work:
    """Rebuild the folder of a shard from its log, and bring its engine to the last commit, as a successor does."""
    settings = replace(CrawlSettings.from_settings(CrawlAbout.read(folder).settings), shard=shard)
    log = shard_log(shards_of(folder).location_in(folder), shard)
    gc.collect()
    before, began_s = resident_bytes(os.getpid()), time.process_time()
    with CrawlStore.open(folder.with_name(f"{folder.name}-shard-{shard}"), commit_log=log.location) as store:
        parts, _ = started(settings, store)
        cpu_s = time.process_time() - began_s
        n_urls, n_pages = len(parts.crawl.engine.web.table), store.n_visits()
        grown = resident_bytes(os.getpid()) - before
    return Work(cpu_s, n_pages, grown, n_urls)


def url_memory() -> float:
    """Bytes of a queued URL in a shard: the URL table and the frontier."""
    table, frontier = UrlTable(), UnboundedFrontier(Random(1))
    rng = np.random.default_rng(1)
    return _grown_per_url(
        table, lambda pages: frontier.push(pages, table.hosts(pages), rng.random(len(pages)), UpdateRule.MAX)
    )


def shards_of(folder: Path) -> ShardLogs:
    shards = ShardLogs.read(folder)
    assert shards is not None, f"{folder} is no crawl in shards"
    return shards


# The supervisor


def assemble(folder: Path, out: Path) -> Work:
    """Assemble the folder of the whole crawl once more."""
    settings, shards = CrawlAbout.read(folder).settings, shards_of(folder)
    began_s = time.process_time()
    with CrawlStore.create(out, settings, ArchiveSettings("scale")) as store:
        Assembly(store, logs_of(shards.location_in(folder), shards.n_shards)).catch_up()
        return Work(time.process_time() - began_s, store.n_visits())


def assembly_memory() -> float:
    """Bytes of a URL in the assembly: the URL table, and its number in two shards."""
    shards = array("i"), array("i")

    def extend(pages: IntArray) -> None:
        for each in shards:
            each.frombytes(pages.astype(np.int32, copy=False).tobytes())

    return _grown_per_url(UrlTable(), extend)


def _grown_per_url(table: Any, use: Callable[[IntArray], object]) -> float:
    urls = SyntheticUrls(10_000)
    gc.collect()
    before = resident_bytes(os.getpid())
    for chunk in urls.chunks(N_URLS, 10_000):
        use(table.add_all(chunk))
    del chunk, urls
    gc.collect()
    return (resident_bytes(os.getpid()) - before) / N_URLS


def coordination(n_shards: int) -> float:
    """CPU seconds of the coordinator for one report and its grant."""
    coordinator = Coordinator(n_shards, 10**9, PolitenessSettings())
    n_rounds = max(2, 2_000 // n_shards)
    began_s = 0.0
    for number in range(n_rounds + 1):
        if number == 1:
            began_s = time.process_time()
        for shard in range(n_shards):
            coordinator.note(_report(shard, 100 * number))
            coordinator.grant(shard, 0.0)
    return (time.process_time() - began_s) / n_rounds / n_shards


def _report(shard: int, n_pages: int) -> Report:
    best = np.linspace(1.0, 0.5, N_BEST).tolist()
    return Report(
        shard,
        page_budget=n_pages + 500,
        n_pages=n_pages,
        n_issued=32,
        n_requests=n_pages + 700,
        n_requested=n_pages + 100,
        n_waiting=10,
        n_queued=100_000,
        best=best,
        is_idle=False,
    )


class Partner:
    """An actor of the measurement of calls."""

    def start(self) -> None:
        self._report = _report(0, 1_000)

    def report(self) -> Report:
        return self._report

    def apply(self, grant: Grant, reported_s: float) -> None:
        """Grants are ignored."""

    def deliver(self, _source: int, _commit: int, _content: bytes) -> None:
        """Parcels are ignored."""

    def send(self, peer: Any, n: int) -> None:
        """Send parcels as a shard does, without waiting for each."""
        import ray

        content = bytes(PARCEL_BYTES)
        for first in range(0, n, N_AHEAD):
            ray.get([peer.call.remote("deliver", 0, first + number, content) for number in range(N_AHEAD)])

    def cpu_s(self) -> float:
        return time.process_time()


def call_costs() -> tuple[float, float]:
    """CPU seconds of the supervisor for the calls of one exchange, and of two shards for a parcel."""
    with connected("local", 2) as connection:
        ray = connection.ray
        first, second = _partner(connection), _partner(connection)
        grant = Grant(1_000)
        began_s = 0.0
        for number in range(N_CALLS + 100):
            if number == 100:
                began_s = time.process_time()
            ray.get(first.call.remote("report"))
            first.call.remote("apply", grant, 0.0)
        exchange_s = (time.process_time() - began_s) / N_CALLS

        def both_s() -> float:
            return float(sum(ray.get([each.call.remote("cpu_s") for each in (first, second)])))

        ray.get(first.call.remote("send", second, N_AHEAD))
        before_s = both_s()
        ray.get(first.call.remote("send", second, N_CALLS))
        return exchange_s, (both_s() - before_s) / N_CALLS


def _partner(connection: Connection) -> Any:
    actor = connection.new_service(0.5)
    connection.ray.get(actor.become.remote(__name__, Partner.__name__))
    return actor
