"""What large crawls in shards need, computed from figures of a small one (immediately; 10 minutes with `--measure`).

    python -m benchmarks.cluster_scale             print the tables of docs/scale.md
    python -m benchmarks.cluster_scale --measure   measure the figures again, and write them to results/

`ASSUMED` has what cannot be measured here: what machines and the web are like. Change it, and compute again.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from benchmarks import command_parser, port, positive
from benchmarks.live_site import PORT
from benchmarks.scale_figures import N_SHARDS, ROUNDS, Figures, measured
from benchmarks.shard_speed import COMPARED, N_HOSTS, PLAIN, TWO_SHARDS
from scenthound.shards.supervisor import EXCHANGE_S

COLLECTION = "debdocs"
RESULTS = Path(__file__).parent / "results" / "cluster_scale.json"
DAY_S = 86_400
#: URLs have numbers of 32 bits, in a shard and in the folder of the whole crawl.
MAX_URLS = 2**31


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a machine is, what the web is like, and what is wanted."""

    cores: int = 16
    memory_gb: int = 64
    #: Cores of a machine that are left to the system and to Ray, and how much of the rest and of the memory is used.
    spare_cores: int = 2
    load: float = 0.7
    #: The largest shard: several of them fit into a machine.
    shard_memory_gb: int = 8
    #: New URLs per visited page. A closed collection has few.
    page_urls: int = 14
    #: Links per page that lead to other domains. In the collection most links stay on their host.
    page_links_away: int = 10
    #: The longest time in which a shard is taken over.
    takeover_s: float = 600.0
    commit_s: float = 1.0
    #: Pages per second of a host that is ready.
    host_pages_per_s: float = 1.0


#: Pages, and the days in which they are to be visited.
CRAWLS = ((10**7, 1), (10**8, 3), (10**9, 10))
ASSUMED = Assumed()


@dataclass(frozen=True, slots=True)
class Scale:
    """What a crawl needs."""

    n_pages: int
    days: int
    figures: Figures
    assumed: Assumed = ASSUMED

    @property
    def seconds(self) -> int:
        return self.days * DAY_S

    @property
    def pages_per_s(self) -> float:
        return self.n_pages / self.seconds

    @property
    def hosts(self) -> float:
        return self.pages_per_s / self.assumed.host_pages_per_s

    @property
    def shards_for_cpu(self) -> int:
        return ceil(self.pages_per_s * self.figures.speeds[TWO_SHARDS].crawl_ms / 1e3 / self.assumed.load)

    @property
    def shards_for_takeover(self) -> int:
        return ceil(self.n_pages * self.figures.page_takeover_us / 1e6 / self.assumed.takeover_s)

    @property
    def shards_for_memory(self) -> int:
        # More shards know a URL if there are more shards.
        n_shards = 1
        while self._memory_bytes(n_shards) > n_shards * self.assumed.shard_memory_gb * 1e9:
            n_shards = ceil(self._memory_bytes(n_shards) / (self.assumed.shard_memory_gb * 1e9))
        return n_shards

    @property
    def n_shards(self) -> int:
        return max(self.shards_for_cpu, self.shards_for_takeover, self.shards_for_memory)

    @property
    def copies(self) -> float:
        """Shards that know a URL."""
        return _of_shards(self.figures.url_copies, self.n_shards)

    @property
    def memory_bytes(self) -> float:
        """Of all shards."""
        return self._memory_bytes(self.n_shards)

    def _memory_bytes(self, n_shards: int) -> float:
        urls = self.assumed.page_urls * _of_shards(self.figures.url_copies, n_shards)
        return self.n_pages * (self.figures.shard_page_bytes + urls * self.figures.shard_url_bytes)

    @property
    def n_machines(self) -> int:
        """Of shards; each has whole ones."""
        cores = self.pages_per_s * self.figures.speeds[TWO_SHARDS].crawl_ms / 1e3 + self.parcel_cores
        for_cpu = cores / self.assumed.load / (self.assumed.cores - self.assumed.spare_cores)
        gb_per_shard = self.memory_bytes / 1e9 / self.n_shards
        shards_per_machine = int(self.assumed.memory_gb * self.assumed.load / gb_per_shard)
        return max(ceil(for_cpu), ceil(self.n_shards / shards_per_machine))

    @property
    def log_bytes(self) -> float:
        return self.n_pages * self.figures.page_log_bytes

    @property
    def commits(self) -> float:
        """A shard without new pages commits nothing."""
        return min(self.n_shards * self.seconds / self.assumed.commit_s, self.n_pages)

    @property
    def folder_bytes(self) -> float:
        return self.n_pages * (self.figures.page_archive_bytes + self.figures.page_database_bytes)

    @property
    def links_per_s(self) -> float:
        """Links that travel to other shards."""
        return self.pages_per_s * self.assumed.page_links_away * (1 - 1 / self.n_shards)

    @property
    def parcels_per_s(self) -> float:
        """A commit has one parcel for each other shard at most, and a link at least for each parcel."""
        commits_per_s = self.commits / self.seconds
        return min(commits_per_s * (self.n_shards - 1), self.links_per_s)

    @property
    def parcel_bytes_per_s(self) -> float:
        return self.links_per_s * self.figures.link_bytes

    @property
    def parcel_cores(self) -> float:
        return self.parcels_per_s * self.figures.parcel_us / 1e6

    @property
    def exchanges_per_s(self) -> float:
        return self.n_shards / EXCHANGE_S

    @property
    def supervisor_cores(self) -> float:
        coordinator_us = _of_shards(self.figures.exchange_coordinator_us, self.n_shards)
        exchanges_us = self.exchanges_per_s * (self.figures.exchange_call_us + coordinator_us)
        return (exchanges_us + self.pages_per_s * self.figures.page_assembly_us) / 1e6

    @property
    def supervisor_bytes(self) -> float:
        return self.n_pages * self.assumed.page_urls * self.figures.assembly_url_bytes


def _of_shards(measured: Mapping[int, float], n_shards: int) -> float:
    """The figure that was measured for at least this many shards."""
    return next((value for n, value in sorted(measured.items()) if n >= n_shards), measured[max(measured)])


# Tables

#: The name of a row, how it is computed, and its cell.
ROWS: tuple[tuple[str, str, Callable[[Scale], str]], ...] = (
    ("days", "chosen", lambda each: str(each.days)),
    ("pages per second", "pages / time", lambda each: _many(each.pages_per_s)),
    ("hosts that are ready at any time", "a page a second of each", lambda each: _many(each.hosts)),
    (
        "shards, for CPU time without parcels",
        "CPU time per page of two shards",
        lambda each: _many(each.shards_for_cpu),
    ),
    ("shards, for a takeover in 10 minutes", "takeover per page", lambda each: _many(each.shards_for_takeover)),
    ("shards, for 8 GB each", "memory per page, and per URL", lambda each: _many(each.shards_for_memory)),
    ("shards that know a URL", "counted in the small crawl", lambda each: f"{each.copies:.2f}"),
    ("memory of all shards", "per page, and per URL", lambda each: _bytes(each.memory_bytes)),
    ("memory of a shard", "the same", lambda each: _bytes(each.memory_bytes / each.n_shards)),
    ("**machines for shards**, of 16 cores and 64 GB", "memory, cores", lambda each: _many(each.n_machines)),
    ("logs, in common storage", "per page", lambda each: _bytes(each.log_bytes)),
    ("files in the logs", "a commit a second of each shard", lambda each: _many(each.commits)),
    ("archives and databases of shards, on their nodes", "per page", lambda each: _bytes(each.folder_bytes)),
    ("the folder of the crawl, on the supervisor's disk", "per page", lambda each: _bytes(each.folder_bytes)),
    ("links that travel per second", "10 links to other domains per page", lambda each: _many(each.links_per_s)),
    ("parcels per second", "one for each link, at most", lambda each: _many(each.parcels_per_s)),
    ("bytes of parcels per second", "per link", lambda each: _bytes(each.parcel_bytes_per_s)),
    ("cores for parcels, of all shards", "CPU time of a call", lambda each: f"{each.parcel_cores:.2f}"),
    ("exchanges per second", "two of each shard", lambda each: _many(each.exchanges_per_s)),
    ("supervisor: cores", "exchanges, assembly per page", lambda each: f"{each.supervisor_cores:.2f}"),
    ("supervisor: memory of URLs", "per URL", lambda each: _bytes(each.supervisor_bytes)),
)


def scale_table(figures: Figures) -> str:
    """What crawls need, in Markdown."""
    scales = [Scale(*crawl, figures) for crawl in CRAWLS]
    rows = [[name, origin, *map(cell, scales)] for name, origin, cell in ROWS]
    return _table(["pages", "computed from", *(f"10^{len(str(each.n_pages)) - 1}" for each in scales)], rows, n_texts=2)


def limits_table(figures: Figures) -> str:
    """Where the parts that exist once end, in Markdown."""
    a, urls = ASSUMED, ASSUMED.page_urls
    copies = max(figures.url_copies.values())
    coordinator_us = max(figures.exchange_coordinator_us.values())
    ends = [
        ("supervisor: numbers of URLs have 32 bits", f"{_many(MAX_URLS / urls)} pages"),
        (
            f"supervisor: memory of {a.memory_gb} GB",
            f"{_many(a.memory_gb * a.load * 1e9 / figures.assembly_url_bytes / urls)} pages",
        ),
        ("supervisor: one core assembles", f"{_many(1e6 / figures.page_assembly_us)} pages per second"),
        (
            "supervisor: one core exchanges",
            f"{_many(EXCHANGE_S * 1e6 / (figures.exchange_call_us + coordinator_us))} shards",
        ),
        ("a shard: numbers of URLs have 32 bits", f"{_many(MAX_URLS / urls / copies)} pages"),
        ("a shard: takeover in 10 minutes", f"{_many(a.takeover_s * 1e6 / figures.page_takeover_us)} pages"),
        ("a shard: one core crawls", f"{_many(1e3 / figures.speeds[TWO_SHARDS].crawl_ms)} pages per second"),
        ("parcels: one core sends and receives", f"{_many(1e6 / figures.parcel_us)} parcels per second"),
    ]
    return _table(["limit", "reached at"], [list(end) for end in ends])


def speed_table(figures: Figures) -> str:
    """Speed of crawls in shards and of plain ones, in Markdown."""
    rows = []
    for kind, speed in figures.speeds.items():
        compared = figures.speeds.get(COMPARED.get(kind, ""))
        more = f"{speed.crawl_ms / compared.crawl_ms - 1:+.0%}" if compared else ""
        other = f"{speed.other_ms:.3f}" if compared else ""
        rows.append([kind, f"{speed.crawl_ms:.3f}", more, other, f"{speed.pages_per_s:,.0f}"])
    header = ["crawl", "CPU ms per page", "more than plain", "supervisor and Ray, CPU ms per page", "pages per second"]
    return _table(header, rows)


def figures_table(figures: Figures) -> str:
    """What was measured, in Markdown."""
    fewest, most = min(figures.url_copies), max(figures.url_copies)
    rows = [
        ("log", f"{figures.page_log_bytes:,.0f} bytes per page"),
        ("archive", f"{figures.page_archive_bytes:,.0f} bytes per page"),
        ("database", f"{figures.page_database_bytes:,.0f} bytes per page"),
        ("links to other domains, combined by commit", f"{figures.page_links_away:.1f} per page"),
        ("parcels", f"{figures.link_bytes:.0f} bytes per link"),
        ("sending and receiving a parcel", f"{figures.parcel_us:,.0f} µs"),
        (f"shards that know a URL, of {fewest}", f"{figures.url_copies[fewest]:.2f}"),
        (f"shards that know a URL, of {most:,}", f"{figures.url_copies[most]:.2f}"),
        ("memory of a shard", f"{figures.shard_url_bytes:,.0f} bytes per URL"),
        ("memory of a shard, besides", f"{figures.shard_page_bytes:,.0f} bytes per page"),
        ("takeover of a shard", f"{figures.page_takeover_us:,.0f} µs per page"),
        ("assembly of the folder", f"{figures.page_assembly_us:,.0f} µs per page"),
        ("memory of the assembly", f"{figures.assembly_url_bytes:,.0f} bytes per URL"),
        ("an exchange: calls of the supervisor", f"{figures.exchange_call_us:,.0f} µs"),
        *(
            (f"an exchange: coordinator of {n:,} shards", f"{us:,.0f} µs")
            for n, us in figures.exchange_coordinator_us.items()
            if n in (fewest, most)
        ),
    ]
    return _table(["figure", "measured"], [list(row) for row in rows])


def tables(figures: Figures) -> list[str]:
    """Those of docs/scale.md, in their order."""
    return [speed_table(figures), figures_table(figures), scale_table(figures), limits_table(figures)]


def _table(header: list[str], rows: list[list[str]], n_texts: int = 1) -> str:
    """The first columns are texts, the others numbers."""
    rule = ["---" if column < n_texts else "---:" for column in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def _many(number: float) -> str:
    for unit, name in ((1e9, " billion"), (1e6, " million")):
        if number >= unit:
            return f"{number / unit:,.1f}{name}"
    return f"{number:,.0f}"


def _bytes(number: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{number / unit:,.1f} {name}"
    return f"{number:,.0f} B"


def main() -> None:
    options = _options()
    if options.measure:
        from benchmarks.real_sites import write_real_site

        site = write_real_site(COLLECTION, options.port, N_HOSTS)
        if site is None:
            return
        RESULTS.write_text(measured(COLLECTION, site, options.rounds).to_json())
    figures = Figures.from_json(RESULTS.read_text())
    print(f"Measured with {figures.n_pages:,} pages of {figures.n_hosts} hosts in {N_SHARDS} shards.\n")
    print("\n\n".join(tables(figures)))
    plain, shards = figures.speeds[PLAIN], figures.speeds[TWO_SHARDS]
    print(f"\nTwo shards: {shards.pages_per_s / plain.pages_per_s:.2f} times the pages per second of a plain crawl.")


def _options() -> argparse.Namespace:
    parser = command_parser("cluster_scale", __doc__)
    parser.add_argument("--measure", action="store_true", help="measure the figures on this machine")
    parser.add_argument("--rounds", type=positive, default=ROUNDS, help="crawls of each kind, to measure")
    parser.add_argument("--port", type=port, default=PORT, help="port of the web server")
    return parser.parse_args()


if __name__ == "__main__":
    main()
