"""CPU time and speed of crawls in shards, compared with a plain crawl (10 minutes; 3 with
`--sites debdocs --rounds 1`).

Real pages (`real_sites`) and a generated site (`live_site`) are served on some hundred loopback addresses. Each site is
crawled by a plain crawl, by one shard and by two shards on a local cluster, in alternating rounds, because the speed of
a shared machine changes; the median of the rounds counts. There is no crawl delay. All have the same settings and the
same number of connections, and at most one connection per address, so that address tokens limit nobody.

CPU time is that after the first tenth of the visits, so that what is done once is not in it, such as the starts of
Python and Ray: it is printed separately. Each shard finds words and URLs for itself, so several shards have more of the
expensive first pages than a plain crawl. CPU time is split: processes of shards; the supervisor, which also assembles
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

#: Shards of each crawl; 0 is the plain crawl.
CRAWLS = (0, 1, 2)
#: Loopback addresses of real pages. The sites of `live` have fewer, and are crawled in some seconds.
N_HOSTS = 500
#: Visits that are not measured.
FIRST_SHARE = 0.1
#: CPU time of a shard / that of a plain crawl.
MAX_RATIO = 1.1
SHARDS, SUPERVISOR, RAY = "shards", "supervisor", "Ray"
_ROLES = {"ray::Bootstrap": SHARDS, "/ray/": RAY, "ray::": RAY}
_VARIABLES = {**ONE_THREAD, "RAY_worker_niceness": "0"}


@dataclass(frozen=True, slots=True)
class Speed:
    """One crawl. `cpu_ms` are CPU milliseconds per page by role after the first pages, `start_s` CPU seconds before,
    without as much for the first pages."""

    n_shards: int
    n_pages: int
    cpu_ms: Mapping[str, float]
    start_s: float
    pages_per_s: float
    busy_share: float
    load: float

    @property
    def crawl_ms(self) -> float:
        """CPU time of the processes that crawl."""
        return self.cpu_ms[SHARDS if self.n_shards else SUPERVISOR]

    @property
    def total_ms(self) -> float:
        return sum(self.cpu_ms.values())

    def __str__(self) -> str:
        split = ""
        if self.n_shards:
            split = (
                f" (shards {self.crawl_ms:.3f}, supervisor {self.cpu_ms[SUPERVISOR]:.3f}, Ray {self.cpu_ms[RAY]:.3f})"
            )
        return (
            f"  {_name(self.n_shards):10} {self.n_pages:7,} pages  {self.total_ms:.3f} CPU ms per page{split}"
            f"  {self.pages_per_s:5,.0f} pages/s  busy {self.busy_share:.0%}  start {self.start_s:.1f} CPU s"
            f"  load {self.load:.1f}"
        )


def main() -> None:
    options = _options()
    print(f"  {CONNECTIONS} connections; set-up {options.set_up}; server: {server_name()}; {os.cpu_count()} processors")
    found = {}
    for name in options.sites:
        is_generated = name == GENERATED
        site = write_site(STANDARD, options.port) if is_generated else write_real_site(name, options.port, N_HOSTS)
        if site is not None:
            found[name] = _measure(name, site, options)
    for name, crawls in found.items():
        _print_medians(name, crawls)


def _options() -> argparse.Namespace:
    parser = command_parser("shard_speed", __doc__)
    sites = [*COLLECTIONS, GENERATED]
    default = ["debdocs", "nlab", GENERATED]
    parser.add_argument("--sites", nargs="+", choices=sites, default=default, metavar="SITE", help=", ".join(sites))
    parser.add_argument("--set-up", choices=SET_UPS, default="best_first", help=", ".join(SET_UPS))
    parser.add_argument("--pages", type=positive, help="pages to crawl of each site; by default all")
    parser.add_argument("--port", type=port, default=PORT, help="port of the web server")
    parser.add_argument("--rounds", type=positive, default=3, help="number of crawls of each kind")
    parser.add_argument("--shards", nargs="+", type=int, default=CRAWLS, help="shards of each crawl; 0: plain")
    return parser.parse_args()


def _measure(name: str, site: Site, options: argparse.Namespace) -> dict[int, list[Speed]]:
    print(f"\n  {name}: {site.n_pages:,} pages on {len(site.hosts)} loopback addresses", flush=True)
    crawls: dict[int, list[Speed]] = {n_shards: [] for n_shards in options.shards}
    n_pages = min(options.pages or site.n_pages, site.n_pages)
    with serving(site):
        for _ in range(options.rounds):
            for n_shards, found in crawls.items():
                found.append(_crawl(site, n_shards, n_pages, options.set_up))
                print(found[-1], flush=True)
    return crawls


def _crawl(site: Site, n_shards: int, n_pages: int, set_up: str) -> Speed:
    chosen = SET_UPS[set_up]
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
        n_shards,
        n,
        cpu_ms,
        sum(measured.cpu_s(role) for role in after) - n * sum(cpu_ms.values()) / 1e3,
        n / (last_s - first_s),
        measured.busy_share(first_s, last_s),
        load,
    )


def _name(n_shards: int) -> str:
    return f"{n_shards} shard{'s' * (n_shards > 1)}" if n_shards else "plain"


def _print_medians(name: str, crawls: Mapping[int, Sequence[Speed]]) -> None:
    print(f"\n  {name}, medians:")
    plain = median(each.crawl_ms for each in crawls[0]) if 0 in crawls else None
    for n_shards, found in crawls.items():
        crawl_ms = median(each.crawl_ms for each in found)
        others_ms = median(each.total_ms - each.crawl_ms for each in found)
        speed = median(each.pages_per_s for each in found)
        line = f"  {_name(n_shards):10} {crawl_ms:.3f} CPU ms per page, others {others_ms:.3f}, {speed:,.0f} pages/s"
        if n_shards and plain:
            ratio = crawl_ms / plain
            line += f"; {ratio - 1:+.0%} of the plain crawl; "
            line += target(f"at most {MAX_RATIO - 1:+.0%}", is_met=ratio <= MAX_RATIO)
        print(line)


if __name__ == "__main__":
    main()
