"""CPU time of live crawls of real pages and of Scrapy, tuned for the same work (20 minutes; 2 with
`--sites wpschools mdn --rounds 1`).

Real pages of four collections (`real_sites`) and a generated site (`live_site`) are served on loopback addresses. All
crawl the same pages, in alternating rounds because the speed of a shared machine changes; the median of the rounds
counts. There is no crawl delay, and all have one connection per host and the same total number of connections. CPU time
is compared because wall time depends on other load; it is that of all processes of a crawl, its start included.

Set-ups of Scenthound: `best_first` with cosine scores does what the Scrapy spider does; `default` has the strategy and
the relevance model of `scenthound crawl`; `otie` and `scent` have the default relevance model.

The benchmark fails if scores of Scrapy and `best_first` differ: any of the generated site; on real pages more than one
in ten by more than 5 %, because selectolax splits words at inline markup (`CO<sub>2</sub>`).

`--stages` prints where the time of Scenthound goes instead of comparing. `--pages` shortens a run, but early pages find
more new URLs and words, and share the cost of the start, so figures of fewer pages are too high.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from statistics import median

from benchmarks import command_parser, port, positive, target
from benchmarks.live_crawl import RELEVANCE, STRATEGY, LiveCrawl
from benchmarks.live_results import PageSizes, SiteResult, print_results, print_stages, ratios
from benchmarks.live_scrapy import ScrapyEnvironment
from benchmarks.live_server import server_name, serving
from benchmarks.live_site import PORT, STANDARD, Site, write_site
from benchmarks.processes import MeasuredCrawl, measure_cpu_s
from benchmarks.real_sites import COLLECTIONS, write_real_site
from scenthound.crawler.options import DEFAULT_STRATEGY
from scenthound.errors import Failure
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.stored_crawl import StoredCrawl

GENERATED = "generated"
CONNECTIONS = 64
#: Scrapy with its own link extractor is slow, so it crawls fewer pages.
DEFAULT_EXTRACTOR_PAGES = 2_000
MAX_MS_PER_PAGE = 0.8
#: Memory is measured after this many pages, and at the end.
EARLY_PAGES = 5_000
MAX_GROWTH_MB = 50
#: Sums in another order differ in the last bits.
SCORE_TOLERANCE = 1e-9
#: The largest share of real pages whose scores may differ by more than this share.
MAX_DIFFERENT_SCORES = 0.1
MAX_SCORE_DIFFERENCE = 0.05
#: Pages of the crawl whose start is measured.
START_PAGES = 100


@dataclass(frozen=True, slots=True)
class SetUp:
    """A strategy and a relevance model; None is the default one."""

    strategy: str
    relevance: str | None


#: The set-up that scores pages like the Scrapy spider.
COMPARABLE = "best_first"
SET_UPS: Mapping[str, SetUp] = {
    COMPARABLE: SetUp(STRATEGY, RELEVANCE),
    "default": SetUp(DEFAULT_STRATEGY, None),
    "otie": SetUp("otie", None),
    "scent": SetUp("scent", None),
}


def main() -> None:
    options = _options()
    print(f"  Scenthound {version('scenthound')}; {CONNECTIONS} connections; server: {server_name()}")
    print(
        "  "
        + "; ".join(f"{name}: {each.strategy}, {each.relevance or 'default model'}" for name, each in SET_UPS.items())
    )
    scrapy = None if options.alone or options.stages else _scrapy()
    results = []
    is_first = True
    for name in options.sites:
        site = write_site(STANDARD, options.port) if name == GENERATED else write_real_site(name, options.port)
        if site is None:
            continue
        with serving(site):
            if is_first:
                _warm_up(site, options.set_ups)
                _print_start(site)
                is_first = False
            if options.stages:
                _print_stages(name, site, options)
            else:
                results.append(_compare(name, site, options, scrapy))
    if results:
        print_results(results, options.set_ups)
    if scrapy is not None:
        print(f"  {scrapy.versions()}")


def _options() -> argparse.Namespace:
    parser = command_parser("live", __doc__)
    sites = [*COLLECTIONS, GENERATED]
    parser.add_argument("--sites", nargs="+", choices=sites, default=sites, metavar="SITE", help=", ".join(sites))
    parser.add_argument(
        "--set-ups", nargs="+", choices=SET_UPS, default=list(SET_UPS), metavar="SET-UP", help=", ".join(SET_UPS)
    )
    parser.add_argument("--pages", type=positive, help="pages to crawl of each site; by default all")
    parser.add_argument("--port", type=port, default=PORT, help="port of the web server")
    parser.add_argument("--rounds", type=positive, default=3, help="number of crawls of each crawler and set-up")
    parser.add_argument("--alone", action="store_true", help="without Scrapy")
    parser.add_argument("--stages", action="store_true", help="where the time goes, without Scrapy")
    return parser.parse_args()


def _scrapy() -> ScrapyEnvironment | None:
    try:
        return ScrapyEnvironment()
    except Failure as failure:
        print(f"  {failure}", file=sys.stderr)
        return None


def _live_crawl(site: Site, folder: str, set_up: SetUp, n_pages: int) -> LiveCrawl:
    crawl = LiveCrawl(f"{folder}/crawl", [site.seeds[0]], list(site.keywords), n_pages, CONNECTIONS)
    return replace(crawl, strategy=set_up.strategy, relevance=set_up.relevance)


def _warm_up(site: Site, set_ups: Sequence[str]) -> None:
    """Load files."""
    for name in set_ups:
        with tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
            _live_crawl(site, folder, SET_UPS[name], START_PAGES).measure()


def _print_start(site: Site) -> None:
    """What a short crawl costs."""
    with tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        command = [str(Path(sys.executable).with_name("scenthound")), "crawl", "--seed", site.seeds[0]]
        command += [part for keyword in site.keywords for part in ("--keywords", keyword)]
        command += ["--pages", str(START_PAGES), "--connections", str(CONNECTIONS), "--delay", "0", "--allow-private"]
        cpu_s = measure_cpu_s([*command, "--out", f"{folder}/short"], "Scenthound")
    print(f"  `scenthound crawl` of {START_PAGES} pages: {cpu_s:.2f} CPU s, from start to end", flush=True)


def _compare(name: str, site: Site, options: argparse.Namespace, scrapy: ScrapyEnvironment | None) -> SiteResult:
    n_pages = min(options.pages or site.n_pages, site.n_pages)
    print(f"\n  {name}: {site.n_pages:,} pages on {len(site.hosts)} loopback addresses", flush=True)
    result = SiteResult(name, is_real=name != GENERATED)
    patched = []
    for _ in range(options.rounds):
        scores = {set_up: _crawl(site, set_up, n_pages, result) for set_up in options.set_ups}
        if scrapy is not None:
            tuned = scrapy.crawl(site, n_pages, CONNECTIONS)
            _print_crawl("Scrapy, tuned", tuned)
            result.tuned.append(tuned)
            if COMPARABLE in scores:
                _check_scores(scores[COMPARABLE], tuned.end.values["scores"], is_real=result.is_real)
        if scrapy is not None and not result.is_real:
            patched.append(scrapy.crawl(site, n_pages, CONNECTIONS, zlib="isal"))
            _print_crawl("Scrapy, tuned, ISA-L patched into warcio", patched[-1])
    if scrapy is not None and not result.is_real:
        slow = scrapy.crawl(site, min(n_pages, DEFAULT_EXTRACTOR_PAGES), CONNECTIONS, links="default")
        _print_crawl("Scrapy with its own link extractor", slow)
    if COMPARABLE in result.ours and not result.is_real:
        _print_generated(result.ours[COMPARABLE], patched)
    return result


def _crawl(site: Site, set_up: str, n_pages: int, result: SiteResult) -> dict[str, float]:
    """Crawl with a set-up; the scores of pages by URL."""
    with tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        measured = _live_crawl(site, folder, SET_UPS[set_up], n_pages).measure()
        with StoredCrawl.open(f"{folder}/crawl") as stored:
            visits = list(stored.visits())
    _print_crawl(f"Scenthound {set_up}", measured)
    result.add(set_up, measured, _sizes(visits))
    return {visit.url: visit.relevance for visit in visits}


def _sizes(visits: Sequence[VisitRecord]) -> PageSizes:
    n_bytes, n_links = sum(visit.content_bytes for visit in visits), sum(len(visit.links) for visit in visits)
    return PageSizes(n_bytes / 1e3 / len(visits), n_links / len(visits))


def _print_stages(name: str, site: Site, options: argparse.Namespace) -> None:
    crawls = {}
    for set_up in options.set_ups:
        with tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
            crawl = _live_crawl(site, folder, SET_UPS[set_up], min(options.pages or site.n_pages, site.n_pages))
            crawls[set_up] = replace(crawl, stages=True).measure()
    print_stages(name, crawls)


def _check_scores(ours: Mapping[str, float], theirs: Mapping[str, float], *, is_real: bool) -> None:
    """Raises Failure if no page was scored by both, or if scores differ."""
    common = sorted(ours.keys() & theirs.keys())
    relative, absolute = (MAX_SCORE_DIFFERENCE, 0.0) if is_real else (1e-9, SCORE_TOLERANCE)
    different = [url for url in common if not math.isclose(ours[url], theirs[url], rel_tol=relative, abs_tol=absolute)]
    if not common:
        raise Failure("No page was scored by both Scenthound and Scrapy. Crawl more pages with --pages.")
    if len(different) > (MAX_DIFFERENT_SCORES * len(common) if is_real else 0):
        url = different[0]
        raise Failure(
            f"The Scrapy spider does other work: its scores of {len(different)} of {len(common)} pages differ, such as "
            f"{theirs[url]} instead of {ours[url]} of {url}. Make the spider score pages like Scenthound."
        )
    tolerance = f", within {MAX_SCORE_DIFFERENCE:.0%}" if is_real else ""
    print(
        f"  in a sample of {len(common)} pages, {len(common) - len(different)} scores are equal{tolerance}", flush=True
    )


def _print_crawl(name: str, crawl: MeasuredCrawl) -> None:
    end, early = crawl.end, crawl.first_with(EARLY_PAGES)
    memory = f"{end.resident_bytes / 1e6:4.0f} MB"
    if early is not None:
        memory = f"{early.resident_bytes / 1e6:4.0f} MB after {early.pages:,}, {memory} at the end"
    skipped = ", ".join(f"{reason} {n}" for reason, n in end.values.get("reasons", {}).items())
    print(
        f"  {name:40} {end.pages:7,} pages  {crawl.cpu_ms_per_page:6.3f} CPU ms per page"
        f"  {end.pages / end.time_s:6,.0f} pages/s  relevance {end.values['relevance']:.4f}  {memory}"
        f"  ({end.values['ended']}{skipped and '; skipped: '}{skipped})",
        flush=True,
    )


def _print_generated(ours: Sequence[MeasuredCrawl], patched: Sequence[MeasuredCrawl]) -> None:
    """Figures of the generated site only."""
    if patched:
        with_patch = ratios(patched, ours)
        print(f"  CPU time of Scrapy with patched warcio / Scenthound: {_listed(with_patch, 1)}; ", end="")
        print(f"median {median(with_patch):.1f}")
    costs = [crawl.cpu_ms_per_page for crawl in ours]
    print(f"  CPU ms per page: {_listed(costs, 3)}; median {median(costs):.3f}; ", end="")
    print(target(f"at most {MAX_MS_PER_PAGE}", is_met=median(costs) <= MAX_MS_PER_PAGE))
    early = ours[-1].first_with(EARLY_PAGES)
    if early is not None:
        growth_mb = (ours[-1].end.resident_bytes - early.resident_bytes) / 1e6
        print(f"  memory growth after page {early.pages:,}: {growth_mb:+.0f} MB; ", end="")
        print(target(f"at most {MAX_GROWTH_MB} MB", is_met=growth_mb <= MAX_GROWTH_MB))


def _listed(values: Sequence[float], digits: int) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"live: {failure}")
