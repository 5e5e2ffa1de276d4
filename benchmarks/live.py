"""CPU time and memory of a live crawl and of Scrapy, tuned for the same work (estimated 15 minutes; 2 with --alone).

Both crawl the same pages from the same server, in alternating rounds because the speed of a shared machine changes; the
median of the rounds counts. There is no crawl delay, and both have one connection per host and the same total number of
connections. CPU time is compared because wall time depends on other load. The benchmark fails if the scores of a page
differ. `--pages` shortens it, but early pages find more new URLs and cost more, so figures of fewer pages are too high.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median

from benchmarks import command_parser, target
from benchmarks.live_crawl import STRATEGY, LiveCrawl
from benchmarks.live_scrapy import ScrapyEnvironment
from benchmarks.live_server import server_name, serving
from benchmarks.live_site import PORT, STANDARD, Site, write_site
from benchmarks.processes import MeasuredCrawl
from scenthound.errors import Failure
from scenthound.store.stored_crawl import StoredCrawl

CONNECTIONS = 64
#: Scrapy with its own link extractor is slow, so it crawls fewer pages.
DEFAULT_EXTRACTOR_PAGES = 2_000
MAX_MS_PER_PAGE = 0.8
MIN_RATIO = 6.0
#: Memory is measured after this many pages, and at the end.
EARLY_PAGES = 5_000
MAX_GROWTH_MB = 50
#: Sums in another order differ in the last bits.
SCORE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Round:
    """One crawl of each crawler; `patched` is Scrapy with ISA-L as compressor of warcio."""

    ours: MeasuredCrawl
    tuned: MeasuredCrawl | None = None
    patched: MeasuredCrawl | None = None


def main() -> None:
    options = _options()
    print(f"  {STANDARD.n_pages:,} pages on {STANDARD.n_hosts} loopback addresses; {CONNECTIONS} connections")
    print(f"  server: {server_name()}")
    site = write_site(STANDARD, options.port)
    scrapy = None if options.alone else _scrapy()
    with serving(site):
        rounds = [_round(site, options, scrapy) for _ in range(options.rounds)]
        if scrapy is not None:
            n_pages = min(options.pages, DEFAULT_EXTRACTOR_PAGES)
            slow = scrapy.crawl(site, n_pages, CONNECTIONS, links="default")
            _print_crawl("Scrapy with its own link extractor", slow)
            print(f"  {scrapy.versions()}")
    _print_targets(rounds)


def _options() -> argparse.Namespace:
    parser = command_parser("live", __doc__)
    parser.add_argument("--pages", type=int, default=STANDARD.n_pages, help="pages to crawl")
    parser.add_argument("--port", type=int, default=PORT, help="port of the web server")
    parser.add_argument("--strategy", default=STRATEGY, help="strategy of the crawl")
    parser.add_argument("--rounds", type=int, default=3, help="number of crawls of each crawler")
    parser.add_argument("--alone", action="store_true", help="without Scrapy")
    return parser.parse_args()


def _scrapy() -> ScrapyEnvironment | None:
    try:
        return ScrapyEnvironment()
    except Failure as failure:
        print(f"  {failure}", file=sys.stderr)
        return None


def _round(site: Site, options: argparse.Namespace, scrapy: ScrapyEnvironment | None) -> Round:
    ours, scores = _scenthound(site, options.pages, options.strategy)
    _print_crawl(f"Scenthound {version('scenthound')}, {options.strategy}", ours)
    if scrapy is None:
        return Round(ours)
    tuned = scrapy.crawl(site, options.pages, CONNECTIONS)
    _print_crawl("Scrapy, tuned", tuned)
    print(f"  scores of {_check_scores(scores, tuned.end.values['scores'])} common pages are equal")
    patched = scrapy.crawl(site, options.pages, CONNECTIONS, zlib="isal")
    _print_crawl("Scrapy, tuned, ISA-L patched into warcio", patched)
    return Round(ours, tuned, patched)


def _scenthound(site: Site, n_pages: int, strategy: str) -> tuple[MeasuredCrawl, dict[str, float]]:
    """A crawl, and the scores of its pages by URL."""
    with tempfile.TemporaryDirectory(prefix="scenthound-live-") as temporary:
        folder, keywords = f"{temporary}/crawl", list(site.keywords)
        measured = LiveCrawl(folder, [site.seeds[0]], keywords, n_pages, CONNECTIONS, strategy=strategy).measure()
        with StoredCrawl.open(folder) as stored:
            return measured, {visit.url: visit.relevance for visit in stored.visits()}


def _check_scores(ours: Mapping[str, float], theirs: Mapping[str, float]) -> int:
    """The number of pages that both have scored. Raises Failure if there is none, or if scores of a page differ."""
    common = ours.keys() & theirs.keys()
    different = [url for url in sorted(common) if not math.isclose(ours[url], theirs[url], abs_tol=SCORE_TOLERANCE)]
    if different:
        url = different[0]
        raise Failure(
            f"The Scrapy spider does other work: its scores of {len(different)} of {len(common)} pages differ, such as "
            f"{theirs[url]} instead of {ours[url]} of {url}. Make the spider score pages like Scenthound."
        )
    if not common:
        raise Failure("No page was scored by both Scenthound and Scrapy. Crawl more pages with --pages.")
    return len(common)


def _print_crawl(name: str, crawl: MeasuredCrawl) -> None:
    end, early = crawl.end, crawl.first_with(EARLY_PAGES)
    memory = f"{end.resident_bytes / 1e6:4.0f} MB"
    if early is not None:
        memory = f"{early.resident_bytes / 1e6:4.0f} MB after {early.pages:,}, {memory} at the end"
    print(
        f"  {name:40} {end.pages:7,} pages  {crawl.cpu_ms_per_page:6.3f} CPU ms per page"
        f"  {end.pages / end.time_s:6,.0f} pages/s  relevance {end.values['relevance']:.4f}  {memory}"
        f"  ({end.values['ended']})",
        flush=True,
    )


def _print_targets(rounds: list[Round]) -> None:
    tuned = [each.tuned.cpu_ms_per_page / each.ours.cpu_ms_per_page for each in rounds if each.tuned]
    patched = [each.patched.cpu_ms_per_page / each.ours.cpu_ms_per_page for each in rounds if each.patched]
    if tuned:
        ratio = median(tuned)
        print(f"  CPU time of Scrapy / Scenthound: {_listed(tuned, 1)}; median {ratio:.1f}; ", end="")
        print(target(f"at least {MIN_RATIO:g}", is_met=ratio >= MIN_RATIO))
        print(f"  with patched warcio: {_listed(patched, 1)}; median {median(patched):.1f}")
    costs = [each.ours.cpu_ms_per_page for each in rounds]
    cost = median(costs)
    print(f"  CPU ms per page: {_listed(costs, 3)}; median {cost:.3f}; ", end="")
    print(target(f"at most {MAX_MS_PER_PAGE}", is_met=cost <= MAX_MS_PER_PAGE))
    ours = rounds[-1].ours
    early = ours.first_with(EARLY_PAGES)
    if early is not None:
        growth_mb = (ours.end.resident_bytes - early.resident_bytes) / 1e6
        print(f"  memory growth after page {early.pages:,}: {growth_mb:+.0f} MB; ", end="")
        print(target(f"at most {MAX_GROWTH_MB} MB", is_met=growth_mb <= MAX_GROWTH_MB))
    print(f"  skipped: {ours.end.values['reasons'] or 'none'}")


def _listed(values: list[float], digits: int) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


if __name__ == "__main__":
    main()
