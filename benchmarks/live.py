"""What a page of a live crawl costs, everything on, beside Scrapy tuned for the same work: `make bench-live`.

Both crawl the same pages from the same server in the same run, one after the other, with no politeness delay, one
connection a host and as many in all. CPU time is what is compared, because wall time depends on what else runs. That
both score pages alike is checked: a page that both took has one score, or the benchmark fails. They take turns, round
by round, because a machine that others use as well may be half as fast a minute later; of the rounds the median counts.
`--pages` makes it quicker; early pages cost more, because they bring more new URLs, so fewer pages are no fair figure.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median

from benchmarks.live_crawl import STRATEGY, Work, crawl_measured
from benchmarks.live_process import Measured
from benchmarks.live_scrapy import ScrapyEnvironment
from benchmarks.live_server import server_name, serving
from benchmarks.live_site import Measures, Site, site
from scenthound.errors import Failure
from scenthound.store.stored_crawl import StoredCrawl

N_PAGES = 20_000
N_HOSTS = 400
CONNECTIONS = 64
PORT = 18_080
#: Scrapy in its usual way is measured on fewer pages: it takes its time.
SIDE_PAGES = 2_000
MOST_MS_PER_PAGE = 0.8
LEAST_RATIO = 6.0
#: Memory is looked at after so many pages, and again at the end.
EARLY_PAGES = 5_000
MOST_GROWTH_MB = 50
#: Sums come out otherwise by the last bits of a float.
SCORE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ScoredCrawl:
    """A crawl that has ended, and the score of each page by its URL."""

    measured: Measured
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Round:
    """One crawl of each, one after the other; `patched` is Scrapy with another compressor in warcio."""

    ours: Measured
    tuned: Measured | None = None
    patched: Measured | None = None

    def ratio_to(self, name: str) -> float | None:
        """How many times our CPU time another crawl took."""
        other: Measured | None = getattr(self, name)
        return None if other is None else other.cpu_ms_per_page / self.ours.cpu_ms_per_page


def main() -> None:
    options = _options()
    print(f"  {N_PAGES:,} pages on {N_HOSTS} loopback addresses, served by {server_name()}; {CONNECTIONS} connections")
    made_up = site(Measures(N_PAGES, N_HOSTS), options.port)
    scrapy = None if options.alone else _scrapy()
    with serving(made_up):
        rounds = [_round(made_up, options, scrapy) for _ in range(options.rounds)]
        if scrapy is not None:
            side_pages = min(options.pages, SIDE_PAGES)
            _print_crawl(
                "Scrapy with its own link extractor", scrapy.crawl(made_up, side_pages, CONNECTIONS, links="default")
            )
            print(f"  {scrapy.versions()}")
    _print_targets(rounds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare a live crawl with Scrapy.")
    parser.add_argument("--pages", type=int, default=N_PAGES, help="pages to crawl")
    parser.add_argument("--port", type=int, default=PORT, help="port of the made-up site")
    parser.add_argument("--strategy", default=STRATEGY, help="strategy of the crawl")
    parser.add_argument("--rounds", type=int, default=3, help="how often each crawls")
    parser.add_argument("--alone", action="store_true", help="without Scrapy")
    return parser.parse_args()


def _scenthound(made_up: Site, n_pages: int, strategy: str) -> ScoredCrawl:
    with tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        place, keywords = f"{folder}/crawl", list(made_up.keywords)
        work = Work(place, [made_up.seeds[0]], keywords, n_pages, CONNECTIONS, strategy=strategy)
        measured = crawl_measured(work)
        with StoredCrawl.open(place) as stored:
            return ScoredCrawl(measured, {visit.url: visit.relevance for visit in stored.visits()})


def _scrapy() -> ScrapyEnvironment | None:
    try:
        return ScrapyEnvironment()
    except Failure as failure:
        print(f"  {failure}", file=sys.stderr)
        return None


def _round(made_up: Site, options: argparse.Namespace, scrapy: ScrapyEnvironment | None) -> Round:
    ours = _scenthound(made_up, options.pages, options.strategy)
    _print_crawl(f"Scenthound {version('scenthound')}, {options.strategy}", ours.measured)
    if scrapy is None:
        return Round(ours.measured)
    tuned = scrapy.crawl(made_up, options.pages, CONNECTIONS)
    _print_crawl("Scrapy, tuned", tuned)
    print(f"  of {_check_scores(ours.scores, tuned.end.said['scores'])} pages both have the same score")
    patched = scrapy.crawl(made_up, options.pages, CONNECTIONS, zlib="isal")
    _print_crawl("Scrapy, tuned, ISA-L patched into warcio", patched)
    return Round(ours.measured, tuned, patched)


def _check_scores(ours: Mapping[str, float], theirs: Mapping[str, float]) -> int:
    """How many pages both have scored. Failure if there is none, or one that has two scores."""
    both = ours.keys() & theirs.keys()
    differing = [url for url in sorted(both) if not math.isclose(ours[url], theirs[url], abs_tol=SCORE_TOLERANCE)]
    if differing:
        url = differing[0]
        raise Failure(
            f"Scrapy does other work: {len(differing)} of {len(both)} pages have another score there, as {url} with "
            f"{theirs[url]} instead of {ours[url]}. Let the spider score as Scenthound does."
        )
    if not both:
        raise Failure("No page was scored by both Scenthound and Scrapy: crawl more pages with --pages.")
    return len(both)


def _print_crawl(name: str, crawl: Measured) -> None:
    early = crawl.first_with(EARLY_PAGES)
    memory = f"{crawl.end.resident_bytes / 1e6:4.0f} MB"
    if early is not None:
        memory = f"{early.resident_bytes / 1e6:4.0f} MB after {early.pages:,}, {memory} at the end"
    print(
        f"  {name:40} {crawl.end.pages:7,} pages  {crawl.cpu_ms_per_page:6.3f} CPU ms per page"
        f"  {crawl.pages_per_s:6,.0f} pages/s  relevance {crawl.end.said['relevance']:.4f}  {memory}"
        f"  ({crawl.end.said['ended']})",
        flush=True,
    )


def _print_targets(rounds: list[Round]) -> None:
    tuned, patched = ([ratio for one in rounds if (ratio := one.ratio_to(name))] for name in ("tuned", "patched"))
    if tuned:
        is_met = median(tuned) >= LEAST_RATIO
        print(
            f"  Scrapy takes {_listed(tuned, 1)} times the CPU time, median {median(tuned):.1f}; "
            f"{LEAST_RATIO:g} are asked for: {_met(is_met)}"
        )
        print(f"  with warcio patched {_listed(patched, 1)} times, median {median(patched):.1f}")
    costs = [one.ours.cpu_ms_per_page for one in rounds]
    is_cheap = median(costs) <= MOST_MS_PER_PAGE
    print(
        f"  {_listed(costs, 3)} CPU ms per page, median {median(costs):.3f}; at most {MOST_MS_PER_PAGE} asked for: "
        f"{_met(is_cheap)}"
    )
    ours = rounds[-1].ours
    early = ours.first_with(EARLY_PAGES)
    if early is not None:
        growth_mb = (ours.end.resident_bytes - early.resident_bytes) / 1e6
        is_flat = growth_mb <= MOST_GROWTH_MB
        print(f"  {growth_mb:+.0f} MB after page {early.pages:,}; at most {MOST_GROWTH_MB} asked for: {_met(is_flat)}")
    print(f"  not taken: {ours.end.said['reasons'] or 'none'}")


def _listed(values: list[float], digits: int) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def _met(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


if __name__ == "__main__":
    main()
