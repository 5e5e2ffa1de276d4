"""The results of `benchmarks.live`: costs by site and set-up, ratios to Scrapy, and their targets.

The ratio of a site is the median over the rounds, because both crawlers of a round run one after the other. The figure
that is judged is the geometric mean of the ratios over the real collections. A KB is 1,000 bytes of HTML.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean, median

from benchmarks import target
from benchmarks.processes import MeasuredCrawl

MIN_MEAN_RATIO = 6.0
MIN_RATIO = 4.0
MAX_MS_PER_KB = 0.015
MAX_MS_PER_PAGE = 0.2
#: Only printed shares from this one on are worth work.
MIN_FUNCTION_SHARE = 0.005


@dataclass(frozen=True, slots=True)
class PageSizes:
    """Means over the pages of a crawl."""

    kb: float
    links: float

    @property
    def max_ms(self) -> float:
        return MAX_MS_PER_KB * self.kb + MAX_MS_PER_PAGE


@dataclass(slots=True)
class SiteResult:
    """The crawls of a site, one for each round; those of Scenthound by set-up."""

    name: str
    is_real: bool
    sizes: dict[str, PageSizes] = field(default_factory=dict)
    ours: dict[str, list[MeasuredCrawl]] = field(default_factory=dict)
    tuned: list[MeasuredCrawl] = field(default_factory=list)

    def add(self, set_up: str, crawl: MeasuredCrawl, sizes: PageSizes) -> None:
        self.ours.setdefault(set_up, []).append(crawl)
        self.sizes[set_up] = sizes

    def cost_ms(self, set_up: str) -> float:
        return _cost_ms(self.ours[set_up])

    @property
    def tuned_ms(self) -> float:
        return _cost_ms(self.tuned)

    def ratio(self, set_up: str) -> float:
        return median(ratios(self.tuned, self.ours[set_up]))


def _cost_ms(crawls: Sequence[MeasuredCrawl]) -> float:
    return median(crawl.cpu_ms_per_page for crawl in crawls)


def ratios(theirs: Sequence[MeasuredCrawl], ours: Sequence[MeasuredCrawl]) -> list[float]:
    """The ratio of each round."""
    return [their.cpu_ms_per_page / own.cpu_ms_per_page for their, own in zip(theirs, ours, strict=True)]


def print_results(results: Sequence[SiteResult], set_ups: Sequence[str]) -> None:
    """The table of all sites, and the figures that are judged."""
    print("\n| site | set-up | pages | KB | links | CPU ms per page | at most | Scrapy, tuned | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for result in results:
        for set_up in set_ups:
            print(_row(result, set_up))
    real = [result for result in results if result.is_real]
    for set_up in set_ups if real else ():
        _print_targets(real, set_up)


def _row(result: SiteResult, set_up: str) -> str:
    sizes, crawl = result.sizes[set_up], result.ours[set_up][-1]
    theirs = f"{result.tuned_ms:.3f} | {result.ratio(set_up):.2f}" if result.tuned else "- | -"
    mark = "" if result.cost_ms(set_up) <= sizes.max_ms else " (missed)"
    return (
        f"| {result.name} | {set_up} | {crawl.end.pages:,} | {sizes.kb:.1f} | {sizes.links:.0f} "
        f"| {result.cost_ms(set_up):.3f} | {sizes.max_ms:.3f}{mark} | {theirs} |"
    )


def _print_targets(real: Sequence[SiteResult], set_up: str) -> None:
    compared = [result.ratio(set_up) for result in real if result.tuned]
    if compared:
        mean, least = geometric_mean(compared), min(compared)
        print(f"  {set_up}: CPU time of Scrapy / Scenthound, geometric mean over {_names(real)}: ", end="")
        print(f"{mean:.2f}; {target(f'at least {MIN_MEAN_RATIO:g}', is_met=mean >= MIN_MEAN_RATIO)}; ", end="")
        print(f"smallest {least:.2f}; {target(f'at least {MIN_RATIO:g}', is_met=least >= MIN_RATIO)}")
    excess = [result.cost_ms(set_up) / result.sizes[set_up].max_ms for result in real]
    limit = f"at most {MAX_MS_PER_KB:g} ms per KB and {MAX_MS_PER_PAGE:g} ms"
    print(f"  {set_up}: cost of the worst collection is {max(excess):.2f} of what is allowed; ", end="")
    print(target(limit, is_met=max(excess) <= 1))


def _names(results: Sequence[SiteResult]) -> str:
    return ", ".join(result.name for result in results)


def print_stages(site: str, crawls: Mapping[str, MeasuredCrawl]) -> None:
    """CPU time by stage, one column for each set-up, and the functions that cost most."""
    stages = sorted({stage for crawl in crawls.values() for stage in crawl.end.values["stages"]})
    print(f"\n| {site}: CPU ms per page | {' | '.join(crawls)} |")
    print(f"|---|{'---|' * len(crawls)}")
    for stage in stages:
        values = [_per_page(crawl, crawl.end.values["stages"].get(stage, 0.0)) for crawl in crawls.values()]
        print(f"| {stage} | {' | '.join(values)} |")
    ends = [crawl.cpu_s - sum(crawl.end.values["stages"].values()) for crawl in crawls.values()]
    values = [_per_page(crawl, end_s) for crawl, end_s in zip(crawls.values(), ends, strict=True)]
    print(f"| end of the process | {' | '.join(values)} |")
    print(f"| all | {' | '.join(_per_page(crawl, crawl.cpu_s) for crawl in crawls.values())} |")
    for set_up, crawl in crawls.items():
        print(f"\n  {site}, {set_up}: functions of the main thread")
        for stage, function, share in crawl.end.values["functions"]:
            if share >= MIN_FUNCTION_SHARE:
                print(f"  {share:6.1%}  {function}  ({stage})")


def _per_page(crawl: MeasuredCrawl, cpu_s: float) -> str:
    return f"{1e3 * cpu_s / crawl.end.pages:.3f} ({cpu_s / crawl.cpu_s:.0%})"
