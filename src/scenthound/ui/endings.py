"""How crawls ended, in one line: why a frontier ran empty before the page budget, with counts and what to change, and
why a crawl visited no page at all."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scenthound.crawler.state import RUN_FAILURES, Ending
from scenthound.errors import ScenthoundError, printable
from scenthound.reasons import SkipReason
from scenthound.strategies.base import STRATEGIES
from scenthound.ui.formats import counted

if TYPE_CHECKING:
    from scenthound.experiments.runs import CrawlEnds


class Cause(NamedTuple):
    """What became of pages that were not visited, and what to change about it."""

    text: str
    advice: str = "add start pages"


EVICTED = Cause("evictions from the full frontier", "use a larger buffer, or buffer=none, which is unbounded")
DEAD = Cause("dead links")
ROBOTS = Cause("disallowed by robots.txt", "add start pages on hosts that allow crawling")
OUT_OF_SCOPE = Cause("out of scope", "widen the scope (--allow-domain, --include, --max-depth), or add start pages")
TOO_DEEP = Cause("beyond the maximum depth", "raise --max-depth, or add start pages")
LIMITS = Cause("beyond page limits", "raise --pages-per-host or --pages-per-domain")
TRAPS = Cause("crawler traps", "check them with `scenthound explain`; --no-traps requests them")
_CODES = list(SkipReason)
#: From the first failure of a request to the last of a response.
DEAD_LINKS = _CODES[_CODES.index(SkipReason.DNS_NOT_FOUND) : _CODES.index(SkipReason.PARSE_FAILED) + 1]
#: The reasons of error statuses, which a proxy may send instead of the host.
STATUS_REASONS = frozenset(
    {
        SkipReason.CLIENT_ERROR,
        SkipReason.SERVER_ERROR,
        SkipReason.RATE_LIMITED,
        SkipReason.UNEXPECTED_STATUS,
        SkipReason.ROBOTS_UNREACHABLE,
    }
)
#: Reasons without an entry are named as they are.
CAUSES = {
    **dict.fromkeys((SkipReason.HOST_DISABLED, *DEAD_LINKS), DEAD),
    **dict.fromkeys((SkipReason.ROBOTS, SkipReason.ROBOTS_UNREACHABLE), ROBOTS),
    SkipReason.OUT_OF_SCOPE: OUT_OF_SCOPE,
    SkipReason.MAX_DEPTH: TOO_DEEP,
    **dict.fromkeys((SkipReason.HOST_BUDGET, SkipReason.DOMAIN_BUDGET), LIMITS),
    **{reason: TRAPS for reason in SkipReason if reason.name.startswith("TRAP_")},
    SkipReason.NOT_RECORDED: Cause("not in the recording", "record a larger web, or add start pages"),
    SkipReason.NEAR_DUPLICATE: Cause("near-duplicates", "add start pages; --keep-duplicates keeps them"),
    SkipReason.SOFT_404: Cause("soft 404 pages", "add start pages; --keep-soft-404s keeps them"),
    SkipReason.REPEATED: Cause("already visited under another URL"),
    SkipReason.HANDED_ON: Cause("redirects to pages of other shards"),
}


def empty_frontier_text(skipped: Mapping[SkipReason, int], n_evicted: int, strategy: str) -> str:
    """Why no page was left to request, and what to change. Evictions come first: without them there would be more
    pages, whatever became of the others."""
    counts: dict[Cause, int] = {EVICTED: n_evicted} if n_evicted else {}
    for reason, count in sorted(skipped.items(), key=lambda each: -each[1]):
        cause = CAUSES.get(reason, Cause(reason.text))
        counts[cause] = counts.get(cause, 0) + count
    own_advice = _empty_advice(strategy)
    if counts:
        by_count = sorted(counts.items(), key=lambda each: (each[0] is not EVICTED, -each[1]))
        why = "; ".join(f"{cause.text}: {count:,}" for cause, count in by_count)
    else:
        why = "the strategy followed no other link" if own_advice else "all pages found were visited"
    advice = EVICTED.advice if EVICTED in counts else own_advice
    advice = advice or max(counts, key=lambda cause: counts[cause], default=DEAD).advice
    return f"No page was left to request ({why}). To continue, {advice}."


def _empty_advice(strategy: str) -> str:
    """That of the strategy itself; empty if it has none, or is not installed."""
    try:
        return STRATEGIES.make(strategy).empty_advice
    except ScenthoundError:
        return ""


def failure_text(ending: Ending) -> str:
    """Why a crawl has no page, or by which error it ended; empty for other crawls, and those stopped by the user."""
    if not ending.is_failure:
        return ""
    if ending.ended in RUN_FAILURES:
        return ending.failure
    n_failed = sum(ending.seed_reasons.values())
    if not n_failed:
        return f"0 pages: {ending.ended} before the first response."
    reasons = sorted(ending.seed_reasons.items(), key=lambda each: (-each[1], each[0]))
    texts = [reason.text if len(reasons) == 1 else f"{count:,} {reason.text}" for reason, count in reasons]
    return f"0 pages: {n_failed:,} of {counted(ending.n_seeds, 'seed')} failed: {', '.join(texts)}.{_hint(ending)}"


def _hint(ending: Ending) -> str:
    if SkipReason.ADDRESS_FORBIDDEN in ending.seed_reasons:
        return " To crawl an intranet, use --allow-private."
    if ending.has_http_proxy and STATUS_REASONS.issuperset(ending.seed_reasons):
        return " The responses may be those of the proxy: check whether it allows the seeds."
    return ""


def ending_text(ending: Ending) -> str:
    """Why a crawl failed, or why its frontier ran empty; empty for other ends without evictions."""
    if ending.is_failure:
        return failure_text(ending)
    if ending.ran_dry:
        return empty_frontier_text(ending.reasons, ending.n_evicted, ending.strategy)
    return evicted_text(ending.n_evicted)


def evicted_text(n_evicted: int) -> str:
    """Empty if there were none."""
    if not n_evicted:
        return ""
    return f"{counted(n_evicted, 'link was', 'links were')} evicted from the full frontier; buffer=none is unbounded."


def visited_text(ends: Sequence["CrawlEnds"], means: Sequence[str]) -> str:
    """How to get means over visited pages, if crawls ended early; `means` are metrics to which missing pages
    contribute."""
    n_early, n_crawls = sum(each.n_early for each in ends), sum(each.n_crawls for each in ends)
    if not n_early or not means:
        return ""
    return (
        f"{n_early:,} of {counted(n_crawls, 'crawl')} ended early; the pages that they lack count as not relevant in "
        f"{', '.join(means)}. For the mean over visited pages, use the metric visited:of={means[0]}."
    )


def simulated_text(ends: "CrawlEnds") -> str:
    """How the simulated crawls of a strategy ended; empty if all reached their page budget without evictions."""
    strategy = printable(ends.strategy)
    if not ends.n_early:
        text = evicted_text(ends.n_evicted)
        return f"{strategy}: {text}" if text else ""
    skipped = {SkipReason.NOT_RECORDED: ends.n_not_recorded, SkipReason.REPEATED: ends.n_repeated}
    known = {reason: count for reason, count in skipped.items() if count}
    n_crawls = f"{ends.n_early:,} of {counted(ends.n_crawls, 'crawl')}"
    why = empty_frontier_text(known, ends.n_evicted, ends.strategy)
    return f"{strategy}: {n_crawls} ended before {counted(ends.page_budget, 'page')}. {why}"
