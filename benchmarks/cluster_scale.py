"""How many machines, bytes and messages large crawls in shards need, extrapolated from small ones (immediately; 3
minutes with `--measure`).

    python -m benchmarks.cluster_scale             the tables of docs/scale.md
    python -m benchmarks.cluster_scale --measure   measure the figures that they are computed from

`MEASURED` has the figures that `--measure` and `python -m benchmarks.shard_speed` printed, `ASSUMED` what cannot be
measured here. Change them, and compute again.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import ceil

from benchmarks import command_parser, port
from benchmarks.live_site import PORT
from scenthound.shards.supervisor import EXCHANGE_S

COLLECTION = "debdocs"
DAY_S = 86_400
#: Pages have numbers of 32 bits in the whole crawl.
MAX_URLS = 2**31


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one machine with two cores and of `COLLECTION`, served on loopback addresses."""

    # python -m benchmarks.shard_speed --sites debdocs: two shards, median of three rounds
    shard_cpu_ms: float = 0.0
    # python -m benchmarks.cluster_scale --measure: bytes per page
    log_bytes: int = 0
    archive_bytes: int = 0
    database_bytes: int = 0
    # the same: links per page that travel from each of four shards to others, and bytes of parcels for each of them
    travelling_links: float = 0.0
    bytes_per_link: float = 0.0
    # the same: memory of a shard, per URL that it knows, and per visited page besides
    shard_url_bytes: int = 0
    shard_page_bytes: int = 0
    # the same: how many of four shards know a URL
    url_copies: float = 0.0
    # the same: CPU time per page when a successor rebuilds the folder of a shard and replays its journal
    takeover_us: float = 0.0
    # the same: CPU time per page of the assembly, memory per URL, and CPU time of an exchange with a shard
    assembly_us: float = 0.0
    assembly_url_bytes: int = 0
    exchange_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a machine is, and what the web is like."""

    cores: int = 16
    memory_gb: int = 64
    #: Cores of a machine that are left to the system, and how busy the others may be.
    spare_cores: int = 2
    load: float = 0.7
    #: New URLs per visited page. A closed collection has few; crawls of the web have found some ten to twenty.
    urls_per_page: int = 14
    #: The longest takeover, and the time between commits.
    takeover_s: float = 600.0
    commit_s: float = 1.0


#: Pages, and the days in which they are to be visited.
CRAWLS = ((10**7, 1), (10**8, 7), (10**9, 30))
MEASURED = Measured()
ASSUMED = Assumed()


@dataclass(frozen=True, slots=True)
class Scale:
    """What a crawl needs. Each property is a row of the table."""

    n_pages: int
    days: int
    measured: Measured = MEASURED
    assumed: Assumed = ASSUMED

    @property
    def seconds(self) -> int:
        return self.days * DAY_S

    @property
    def pages_per_s(self) -> float:
        return self.n_pages / self.seconds

    @property
    def page_memory_bytes(self) -> float:
        """Memory of a shard per visited page, with the URLs that come with it."""
        urls = self.assumed.urls_per_page * self.measured.url_copies
        return self.measured.shard_page_bytes + urls * self.measured.shard_url_bytes

    @property
    def shards_for_cpu(self) -> int:
        return ceil(self.pages_per_s * self.measured.shard_cpu_ms / 1e3 / self.assumed.load)

    @property
    def shards_for_takeover(self) -> int:
        return ceil(self.n_pages * self.measured.takeover_us / 1e6 / self.assumed.takeover_s)

    @property
    def n_shards(self) -> int:
        return max(self.shards_for_cpu, self.shards_for_takeover)

    @property
    def shard_memory_gb(self) -> float:
        return self.n_pages / self.n_shards * self.page_memory_bytes / 1e9

    @property
    def machines_for_memory(self) -> int:
        return ceil(self.n_pages * self.page_memory_bytes / 1e9 / (self.assumed.memory_gb * self.assumed.load))

    @property
    def n_machines(self) -> int:
        used_cores = self.assumed.cores - self.assumed.spare_cores
        # Shards that are rarely busy share cores.
        cores = max(self.shards_for_cpu, 1)
        return max(ceil(cores / used_cores), self.machines_for_memory)

    @property
    def parcels_per_s(self) -> float:
        """Each commit of a shard has a parcel for each other shard at most, and at most one for each link."""
        links = self.measured.travelling_links * self.pages_per_s / self.n_shards * self.assumed.commit_s
        return self.n_shards * min(self.n_shards - 1, links) / self.assumed.commit_s

    @property
    def n_log_files(self) -> float:
        """A shard without new pages commits nothing."""
        return min(self.n_shards * self.seconds / self.assumed.commit_s, self.n_pages)

    @property
    def n_urls(self) -> int:
        return self.n_pages * self.assumed.urls_per_page


def _terabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e12:,.2f} TB"


def _many(number: float) -> str:
    return f"{number:,.0f}" if number < 1e6 else f"{number / 1e6:,.0f} million"


def rows(scales: Sequence[Scale]) -> list[tuple[str, list[str]]]:
    """The rows of the table, with a cell for each crawl."""
    m, a = MEASURED, ASSUMED
    return [
        ("days", [str(each.days) for each in scales]),
        ("pages per second", [f"{each.pages_per_s:,.0f}" for each in scales]),
        ("hosts that are ready at any time, at a page a second each", [f"{each.pages_per_s:,.0f}" for each in scales]),
        ("shards, for CPU time", [f"{each.shards_for_cpu:,}" for each in scales]),
        (f"shards, for a takeover in {a.takeover_s / 60:.0f} minutes", [f"{e.shards_for_takeover:,}" for e in scales]),
        ("memory of a shard", [f"{each.shard_memory_gb:,.1f} GB" for each in scales]),
        (f"machines of {a.cores} cores and {a.memory_gb} GB", [f"{each.n_machines:,}" for each in scales]),
        ("logs, in common storage", [_terabytes(each.n_pages * m.log_bytes) for each in scales]),
        ("files in the logs", [_many(each.n_log_files) for each in scales]),
        (
            "archives and databases of shards, on their nodes",
            [_terabytes(each.n_pages * (m.archive_bytes + m.database_bytes)) for each in scales],
        ),
        (
            "the assembled folder, on the supervisor's disk",
            [_terabytes(each.n_pages * (m.archive_bytes + m.database_bytes)) for each in scales],
        ),
        ("travelling links per second", [_many(each.pages_per_s * m.travelling_links) for each in scales]),
        ("parcels per second", [_many(each.parcels_per_s) for each in scales]),
        (
            "bytes of parcels per second",
            [f"{e.pages_per_s * m.travelling_links * m.bytes_per_link / 1e3:,.1f} kB" for e in scales],
        ),
        ("exchanges per second", [_many(each.n_shards / EXCHANGE_S) for each in scales]),
        (
            "supervisor: CPU of exchanges and assembly, cores",
            [
                f"{each.n_shards / EXCHANGE_S * m.exchange_us / 1e6 + each.pages_per_s * m.assembly_us / 1e6:.2f}"
                for each in scales
            ],
        ),
        ("supervisor: memory of URLs", [f"{each.n_urls * m.assembly_url_bytes / 1e9:,.0f} GB" for each in scales]),
    ]


def table() -> str:
    """The table of crawls, in Markdown."""
    scales = [Scale(*crawl) for crawl in CRAWLS]
    header = ["pages", *(f"10^{len(str(each.n_pages)) - 1}" for each in scales)]
    lines = [header, ["---", *("---:" for _ in scales)], *([name, *cells] for name, cells in rows(scales))]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def limits() -> str:
    """Where the parts that exist once end, in Markdown."""
    m, a = MEASURED, ASSUMED
    memory = a.memory_gb * a.load * 1e9
    ends = [
        ("assembly: one core", f"{1e6 / m.assembly_us:,.0f} pages per second"),
        (f"assembly: {a.memory_gb} GB", f"{_many(memory / m.assembly_url_bytes / a.urls_per_page)} pages"),
        ("assembly: numbers of URLs have 32 bits", f"{_many(MAX_URLS / a.urls_per_page)} pages"),
        ("exchanges: one core", f"{EXCHANGE_S * 1e6 / m.exchange_us:,.0f} shards"),
        ("a shard: numbers of URLs have 32 bits", f"{_many(MAX_URLS / a.urls_per_page / m.url_copies)} pages a shard"),
        (
            f"a shard: takeover in {a.takeover_s / 60:.0f} minutes",
            f"{_many(a.takeover_s * 1e6 / m.takeover_us)} pages a shard",
        ),
        ("a shard: one core", f"{1e3 / m.shard_cpu_ms:,.0f} pages per second"),
    ]
    return "\n".join(["| limit | reached at |", "|---|---|", *(f"| {name} | {end} |" for name, end in ends)])


def figures() -> str:
    """What was measured, in Markdown."""
    titles = {
        "shard_cpu_ms": "CPU time of a shard, ms per page",
        "log_bytes": "log, bytes per page",
        "archive_bytes": "archive, bytes per page",
        "database_bytes": "database, bytes per page",
        "travelling_links": "links that travel to other shards, per page",
        "bytes_per_link": "bytes of a travelling link",
        "shard_url_bytes": "memory of a shard, bytes per URL",
        "shard_page_bytes": "memory of a shard, bytes per visited page besides its URLs",
        "url_copies": "shards that know a URL, of four",
        "takeover_us": "takeover, µs of CPU time per page",
        "assembly_us": "assembly, µs of CPU time per page",
        "assembly_url_bytes": "memory of the assembly, bytes per URL",
        "exchange_us": "exchange of the supervisor with a shard, µs of CPU time",
    }
    values = [(titles[each.name], getattr(MEASURED, each.name)) for each in fields(Measured)]
    return "\n".join(["| figure | measured |", "|---|---:|", *(f"| {name} | {value:,} |" for name, value in values)])


def main() -> None:
    options = _options()
    if options.measure:
        from benchmarks.real_sites import write_real_site
        from benchmarks.scale_figures import measure

        site = write_real_site(COLLECTION, options.port)
        if site is not None:
            measure(site)
        return
    print("\n\n".join((figures(), table(), limits())))


def _options() -> argparse.Namespace:
    parser = command_parser("cluster_scale", __doc__)
    parser.add_argument("--measure", action="store_true", help="measure the figures on this machine")
    parser.add_argument("--port", type=port, default=PORT, help="port of the web server")
    return parser.parse_args()


if __name__ == "__main__":
    main()
