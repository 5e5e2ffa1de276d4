"""CPU time and speed of crawls in shards, compared with plain crawls (20 minutes; 2 with `--sites debdocs --rounds 1`).

Real pages (`real_sites`) and a generated site (`live_site`) are served on some hundred loopback addresses. Each site is
crawled in alternating rounds, because the speed of a shared machine changes; the median of the rounds counts:

- plain: without a cluster
- 2 plain: two such crawls at the same time, each of all pages. They share processors and caches as two shards do, but
  know nothing of each other: what two shards cost more is the price of shards.
- 1 shard, 2 shards: on a local cluster

There is no crawl delay. All have the same settings and the same number of connections, and at most one connection per
address, so that address tokens limit nobody.

CPU time is that after the first tenth of the visits, so that what is done once is not in it, such as the starts of
Python and Ray: it is printed separately. CPU time is split: processes of shards; the supervisor, which also assembles
the folder; and processes of Ray.

Pages per second are those from the first visit to the last. `busy` is the share of that time in which the thread of a
shard's crawl ran, or waited for a processor that other processes used; for the rest it waited for responses, leases or
other shards.

Shards run with the priority of the plain crawl: Ray's default is lower.
"""

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from benchmarks import command_parser, port, positive, target
from benchmarks.live import CONNECTIONS, GENERATED, SET_UPS
from benchmarks.live_crawl import LiveCrawl
from benchmarks.live_server import server_name, serving
from benchmarks.live_site import PORT, STANDARD, Site, write_site
from benchmarks.processes import ProcessSampler, sample_crawl
from benchmarks.real_sites import COLLECTIONS, write_real_site
from scenthound.blas import ONE_THREAD
from scenthound.store.stored_crawl import StoredCrawl

#: What is compared, with the number of shards and of crawls at the same time.
PLAIN, TWO_PLAIN, ONE_SHARD, TWO_SHARDS = "plain", "2 plain", "1 shard", "2 shards"
KINDS = {PLAIN: (0, 1), TWO_PLAIN: (0, 2), ONE_SHARD: (1, 1), TWO_SHARDS: (2, 1)}
#: What the CPU time of shards is compared with.
COMPARED = {ONE_SHARD: PLAIN, TWO_SHARDS: TWO_PLAIN}
#: Loopback addresses of real pages. The sites of `live` have fewer, and are crawled in some seconds.
N_HOSTS = 500
#: Visits that are not measured.
FIRST_SHARE = 0.1
#: CPU time of shards / that of plain crawls.
MAX_RATIO = 1.1
SHARDS, SUPERVISOR, RAY = "shards", "supervisor", "Ray"
_ROLES = {"ray::Bootstrap": SHARDS, "/ray/": RAY, "ray::": RAY}
_VARIABLES = {**ONE_THREAD, "RAY_worker_niceness": "0"}


@dataclass(frozen=True, slots=True)
class Speed:
    """One crawl, or several at the same time. `cpu_ms` are CPU milliseconds per page by role after the first pages,
    `start_s` CPU seconds before, without as much for the first pages."""

    kind: str
    n_pages: int
    cpu_ms: Mapping[str, float]
    start_s: float
    pages_per_s: float
    busy_share: float
    load: float

    @property
    def crawl_ms(self) -> float:
        """CPU time of the processes that crawl."""
        return self.cpu_ms[SHARDS if KINDS[self.kind][0] else SUPERVISOR]

    @property
    def other_ms(self) -> float:
        return sum(self.cpu_ms.values()) - self.crawl_ms

    def __str__(self) -> str:
        split = ""
        if KINDS[self.kind][0]:
            split = f" + supervisor {self.cpu_ms[SUPERVISOR]:.3f} + Ray {self.cpu_ms[RAY]:.3f}"
        return (
            f"  {self.kind:10} {self.n_pages:7,} pages  {self.crawl_ms:.3f}{split} CPU ms per page"
            f"  {self.pages_per_s:5,.0f} pages/s  busy {self.busy_share:.0%}  start {self.start_s:.1f} CPU s"
            f"  load {self.load:.1f}"
        )


#: Crawls by kind, one for each round.
Speeds = Mapping[str, Sequence[Speed]]


def main() -> None:
    options = _options()
    print(f"  {CONNECTIONS} connections; set-up {options.set_up}; server: {server_name()}; {os.cpu_count()} processors")
    found = {}
    for name in options.sites:
        is_generated = name == GENERATED
        site = write_site(STANDARD, options.port) if is_generated else write_real_site(name, options.port, N_HOSTS)
        if site is not None:
            found[name] = measure(name, site, options.rounds, options.pages, options.set_up)
    for name, crawls in found.items():
        print(f"\n  {name}, medians:")
        print("\n".join(summary(crawls)))


def _options() -> argparse.Namespace:
    parser = command_parser("shard_speed", __doc__)
    sites = [*COLLECTIONS, GENERATED]
    default = ["debdocs", "nlab", GENERATED]
    parser.add_argument("--sites", nargs="+", choices=sites, default=default, metavar="SITE", help=", ".join(sites))
    parser.add_argument("--set-up", choices=SET_UPS, default="best_first", help=", ".join(SET_UPS))
    parser.add_argument("--pages", type=positive, help="pages to crawl of each site; by default all")
    parser.add_argument("--port", type=port, default=PORT, help="port of the web server")
    parser.add_argument("--rounds", type=positive, default=5, help="number of crawls of each kind")
    return parser.parse_args()


def measure(name: str, site: Site, rounds: int, pages: int | None = None, set_up: str = "best_first") -> Speeds:
    """Crawl a site in all ways, and print each crawl."""
    print(f"\n  {name}: {site.n_pages:,} pages on {len(site.hosts)} loopback addresses", flush=True)
    n_pages = min(pages or site.n_pages, site.n_pages)
    found: dict[str, list[Speed]] = {kind: [] for kind in KINDS}
    with serving(site):
        for _ in range(rounds):
            for kind, crawls in found.items():
                crawls.append(_measured(site, kind, n_pages, set_up))
                print(crawls[-1], flush=True)
    return found


def _measured(site: Site, kind: str, n_pages: int, set_up: str) -> Speed:
    _, n_crawls = KINDS[kind]
    with ThreadPoolExecutor(n_crawls) as threads:
        each = [*threads.map(lambda _: _crawl(site, kind, n_pages, set_up), range(n_crawls))]
    n = sum(speed.n_pages for speed in each)
    return Speed(
        kind,
        n,
        {role: sum(speed.n_pages * speed.cpu_ms[role] for speed in each) / n for role in each[0].cpu_ms},
        sum(speed.start_s for speed in each),
        sum(speed.pages_per_s for speed in each),
        sum(speed.busy_share for speed in each) / n_crawls,
        each[0].load,
    )


def _crawl(site: Site, kind: str, n_pages: int, set_up: str) -> Speed:
    chosen = SET_UPS[set_up]
    n_shards, _ = KINDS[kind]
    with tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        crawl = replace(
            LiveCrawl(f"{folder}/crawl", [site.seeds[0]], list(site.keywords), n_pages, CONNECTIONS),
            strategy=chosen.strategy,
            relevance=chosen.relevance,
            shards=n_shards,
        )
        observed = SHARDS if n_shards else SUPERVISOR
        sampler_of = partial(ProcessSampler, role=SUPERVISOR, roles=_ROLES, observed=observed)
        load = os.getloadavg()[0]
        measured = sample_crawl(crawl.command(), "Scenthound", sampler_of, _VARIABLES)
        with StoredCrawl.open(f"{folder}/crawl") as stored:
            times_s = sorted(visit.time_s for visit in stored.visits())
    first_s, last_s, n = times_s[0], times_s[-1], len(times_s)
    n_first = int(FIRST_SHARE * n)
    after = {role: measured.cpu_s(role, times_s[n_first]) for role in (SHARDS, SUPERVISOR, RAY)}
    cpu_ms = {role: 1e3 * cpu_s / (n - n_first) for role, cpu_s in after.items()}
    return Speed(
        kind,
        n,
        cpu_ms,
        sum(measured.cpu_s(role) for role in after) - n * sum(cpu_ms.values()) / 1e3,
        n / (last_s - first_s),
        measured.busy_share(first_s, last_s),
        load,
    )


def summary(crawls: Speeds) -> list[str]:
    """A line for each kind."""
    crawl_ms = {kind: median(each.crawl_ms for each in found) for kind, found in crawls.items()}
    lines = []
    for kind, found in crawls.items():
        others_ms, speed = median(each.other_ms for each in found), median(each.pages_per_s for each in found)
        line = f"  {kind:10} {crawl_ms[kind]:.3f} CPU ms per page, others {others_ms:.3f}, {speed:,.0f} pages/s"
        if kind in COMPARED:
            ratio = crawl_ms[kind] / crawl_ms[COMPARED[kind]]
            line += f"; {ratio - 1:+.0%} of {COMPARED[kind]}; "
            line += target(f"at most {MAX_RATIO - 1:+.0%}", is_met=ratio <= MAX_RATIO)
        lines.append(line)
    return lines


if __name__ == "__main__":
    main()
