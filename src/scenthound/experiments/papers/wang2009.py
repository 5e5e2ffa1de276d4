"""Wang, Guan, Chen and others: focused crawling by on-line topical importance estimation, 2009. Findings H11 to H16.

The findings on crawls are tested twice: by the paper's protocol, in which targets train the relevance model and the
classifiers and the model is one of its own classifiers, and by the corrected one, in which they do not, and in which
the acceptance rate of the classifiers that decide the harvest rate is calibrated.

How we interpret the paper
- "Near 2,000" of 20,000 pages is a tenth of the budget, so link-context "leads first" is after a twentieth.
- "About" the same, "almost equally": within a tenth of the second value; "little above" is above, and by less than
  that. "Immaterial" (d): within a twentieth. "Far above": twice as much, as we interpret johnson2003.
- "Larger a": from 0.85 to 1.5, the ends of the range in which the paper sees a trend.
- "Takes 2.9 times as long": longer, and at least twice as long. The pages of a crawl, spread over the hosts of the web
  as evenly as they can be, are on this many hosts at a time. If that is less than the number of workers, waiting hosts
  leave no choice, and the claims cannot be asked. What crawlers make of the hosts is what the claims are about.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf, nan

import numpy as np

from scenthound.experiments.findings import Claim, Finding, PendingClaim, cannot_be_asked, finding_of, is_more, up_to
from scenthound.experiments.papers import Published
from scenthound.experiments.papers.pairs import Pair, asked, less, more, within_share
from scenthound.experiments.statistics import aligned_differences, defined
from scenthound.experiments.study.classifiers import CALIBRATED_HARVEST, HARVEST
from scenthound.experiments.study.measures import ArmMeasurements, arm_named
from scenthound.experiments.study.tables import (
    Panel,
    Picture,
    Table,
    acceptance_table,
    end_tables,
    extra_tables,
    file_name,
    mean_and_error,
    sample_table,
    sample_urls,
    t_test_table,
)
from scenthound.model import FloatArray
from scenthound.simulator.modes import Polite, parse_mode

PROTOCOLS = {"corrected": "corrected", "as_published": "as published"}
PUBLISHED = {
    **{f"crawls, {words}": Published(20_000, 30, largest_n=50, relevance="svm") for words in PROTOCOLS.values()},
    **{f"revision, {words}": Published(10_000, 3, largest_n=50, relevance="svm") for words in PROTOCOLS.values()},
    "time": Published(100_000, 10, largest_n=50, relevance="svm"),
}
BLIND, CONTEXT, OPIC, OTIE = "Breadth-First", "Link-context", "OPIC", "OTIE"
RECALL, TIME = "target_recall", "running_s"
EARLY = 0.05
#: Shares of a measure: differences this small, and differences that do not count at all.
ABOUT, IMMATERIAL = 0.1, 0.05
FAR_ABOVE = 2.0
USUAL, SMALL_A, LARGE_A = "a=0.85, d=3", "a=0.50, d=3", "a=1.50, d=3"
OTHER_D = ("a=0.85, d=1", "a=0.85, d=5")
#: Table 2 of the paper: 4,115.73 and 1,437.93 minutes.
PUBLISHED_RATIO = 4115.73 / 1437.93
AT_LEAST = 2.0


def findings(arms: Sequence[ArmMeasurements]) -> Iterator[Finding]:
    """H11 to H15 by both protocols, and H16. Harvest is over visited pages, and if crawls ended early also with missing
    pages counted."""
    for protocol, words in PROTOCOLS.items():
        revision, crawls = arm_named(arms, f"revision, {words}"), arm_named(arms, f"crawls, {words}")
        for arm in revision.padded_or_visited():
            yield finding_of(
                "H11",
                "larger a: harvest up, target recall down; a = 0.5 worse in both; d immaterial",
                _protocol(protocol, arm),
                _revision(arm),
            )
        by_recall = {
            ("H12", "target recall at the end: OTIE best"): _best_recall(crawls),
            ("H13", "target recall: link-context leads first, OTIE overtakes"): _overtaking(crawls),
            ("H14", "target recall: link-context ends little above OPIC"): _little_above(crawls),
        }
        for (name, says), claims in by_recall.items():
            yield finding_of(name, says, protocol, claims)
        for arm in crawls.padded_or_visited():
            yield finding_of(
                "H15",
                "harvest at the end: link-context about OTIE, both far above Breadth-First about OPIC",
                _protocol(protocol, arm),
                _harvest(arm),
            )
    yield finding_of(
        "H16", "with politeness link-context takes 2.9 times as long as OTIE", "", _times(arm_named(arms, "time"))
    )


def _harvest_of(arm: ArmMeasurements) -> str:
    """The harvest rate that findings are about: by calibrated classifiers, if the protocol has them."""
    return CALIBRATED_HARVEST if CALIBRATED_HARVEST in arm.measured else HARVEST


def _protocol(protocol: str, arm: ArmMeasurements) -> str:
    return ", ".join(filter(None, (protocol, arm.over)))


def _revision(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    harvest = _harvest_of(arm)
    pair = Pair(arm, harvest, LARGE_A, USUAL)
    yield more(f"{pair.context} a = 1.5 harvests more than a = 0.85", pair)
    pair = Pair(arm, RECALL, LARGE_A, USUAL)
    yield less(f"{pair.context} a = 1.5 recalls less than a = 0.85", pair)
    for measure, words in ((harvest, "harvests"), (RECALL, "recalls")):
        pair = Pair(arm, measure, SMALL_A, USUAL)
        yield less(f"{pair.context} a = 0.5 {words} less than a = 0.85", pair)
        for other in OTHER_D:
            pair = Pair(arm, measure, other, USUAL)
            yield within_share(f"{pair.context} {other} {words} as much as d = 3", pair, IMMATERIAL)


def _recalls_more(pair: Pair) -> PendingClaim | Claim:
    return more(f"{pair.context} {pair.one} recalls more than {pair.other}", pair)


def _best_recall(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for other in (BLIND, CONTEXT, OPIC):
        yield _recalls_more(Pair(arm, RECALL, OTIE, other))


def _overtaking(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for other in (OTIE, OPIC, BLIND):
        yield _recalls_more(Pair(arm, RECALL, CONTEXT, other, arm.step(EARLY)))
    yield _recalls_more(Pair(arm, RECALL, OTIE, CONTEXT))


def _little_above(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    pair = Pair(arm, RECALL, CONTEXT, OPIC)
    yield _recalls_more(pair)
    yield within_share(f"{pair.context} Link-context recalls little more than OPIC", pair, ABOUT)


def _harvest(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    harvest = _harvest_of(arm)
    yield _harvests_as_much(Pair(arm, harvest, CONTEXT, OTIE))
    for one in (CONTEXT, OTIE):
        for other in (BLIND, OPIC):
            yield _far_above(Pair(arm, harvest, one, other))
    yield _harvests_as_much(Pair(arm, harvest, BLIND, OPIC))


def _harvests_as_much(pair: Pair) -> PendingClaim | Claim:
    return within_share(f"{pair.context} {pair.one} harvests as much as {pair.other}", pair, ABOUT)


def _far_above(pair: Pair) -> PendingClaim | Claim:
    """No crawler can harvest more than the accepted pages of the web."""
    arm, (ours, theirs) = pair.arm, pair.values
    n_pages = arm.compared_after(pair.measure, pair.one, pair.other)
    highest = np.where(np.isnan(theirs), np.nan, np.minimum(1.0, arm.n_accepted / n_pages))
    known = defined(theirs)
    times = float(defined(highest).mean() / known.mean()) if known.any() else inf
    claim = up_to(
        aligned_differences(highest, FAR_ABOVE * theirs),
        is_more(
            f"{pair.context} {pair.one} harvests at least {FAR_ABOVE:g} times as much as {pair.other}",
            aligned_differences(ours, FAR_ABOVE * theirs),
        ),
        f"A crawl of as many accepted pages as the web has would harvest {times:.2f} times as much as {pair.other}.",
    )
    return asked(claim, pair)


def _times(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    """By the logarithm of the ratio, so that twice and half as long have the same weight."""
    ratio, pair = _log_ratio(arm), Pair(arm, TIME, CONTEXT, OTIE)
    if not len(defined(ratio)):
        why = pair.problem or f"For no topic did both crawlers reach {arm.page_budget:,} pages in a mode with a clock."
        yield cannot_be_asked("link-context takes longer than OTIE", why)
        return
    times = f"here {_times_as_long(ratio):.2f} times as long"
    for claim in (
        is_more(f"link-context takes longer than OTIE ({times}; logarithm of the ratio)", ratio),
        is_more(f"at least {AT_LEAST:g} times as long (logarithm of the ratio to that)", ratio - np.log(AT_LEAST)),
    ):
        few = _few_hosts(arm)
        yield cannot_be_asked(claim.says, few, claim.effect) if few else asked(claim, pair)


def _few_hosts(arm: ArmMeasurements) -> str:
    """That the pages are on too few hosts for the workers; empty if they are not."""
    mode = parse_mode(arm.settings.mode)
    if not isinstance(mode, Polite) or arm.even_hosts >= mode.workers:
        return ""
    hosts = f"{arm.even_hosts:.1f} of the {arm.n_hosts:,} hosts" if arm.n_hosts > 1 else "1 host"
    spread = f"Spread as evenly as possible, the {arm.page_budget:,} pages of a crawl are on {hosts} at a time"
    return f"{spread}, fewer than the {mode.workers} workers: waiting hosts leave no choice."


def _log_ratio(arm: ArmMeasurements) -> FloatArray:
    if TIME not in arm.measured:
        return np.full(len(arm.topics), nan)
    ratio: FloatArray = np.log(arm.values(TIME, CONTEXT)[:, 0] / arm.values(TIME, OTIE)[:, 0])
    return ratio


def _times_as_long(log_ratio: FloatArray) -> float:
    """The geometric mean; NaN without topics."""
    return float(np.exp(defined(log_ratio).mean())) if len(defined(log_ratio)) else nan


def pictures(arms: Sequence[ArmMeasurements]) -> Iterator[Picture]:
    """Figures 2 and 3 of the paper, by both protocols, and exact recall."""
    by_name = {arm.settings.name: arm for arm in arms}
    for protocol, words in PROTOCOLS.items():
        ending = "" if protocol == "as_published" else "-corrected"
        revision, crawls = f"revision, {words}", f"crawls, {words}"
        yield Picture(f"figure-2{ending}", f"Different revision parameters, {words}", _both(by_name[revision]))
        yield Picture(f"figure-3{ending}", f"The four prioritising algorithms, {words}", _both(by_name[crawls]))
    recall = Panel("", "crawls, corrected", ("recall",), "share of the relevant pages found", with_bounds=True)
    yield Picture("recall", "Exact recall of the known relevant pages, between random and the greedy oracle", (recall,))


def _both(arm: ArmMeasurements) -> tuple[Panel, ...]:
    name, harvest = arm.settings.name, _harvest_of(arm)
    rate = "average harvest rate" if harvest == HARVEST else "average harvest rate, calibrated"
    return (
        Panel("(a)", name, (RECALL,), "average target recall", "number of pages crawled"),
        Panel("(b)", name, (harvest,), rate, "number of pages crawled"),
    )


def tables(arms: Sequence[ArmMeasurements]) -> Iterable[Table]:
    """Table 1, final values, the paper's t-tests, Table 2, and the tables of all studies."""
    yield sample_table(
        arms[0],
        {
            "topic": lambda each: each.name,
            "seed set": lambda each: sample_urls(each.seeds),
            "target set": lambda each: sample_urls(each.targets),
        },
    )
    for words in PROTOCOLS.values():
        for name in (f"crawls, {words}", f"revision, {words}"):
            heads = {RECALL: "target recall"}
            heads |= {f"{RECALL}:linked_by=few": "of obscure targets", f"{RECALL}:linked_by=many": "of popular targets"}
            heads |= {HARVEST: "harvest rate", CALIBRATED_HARVEST: "calibrated harvest rate"}
            heads |= {"precision": "precision", "recall": "recall"}
            heads |= {"area:of=recall": "area under recall"}
            yield from end_tables(arm_named(arms, name), heads)
        crawls = arm_named(arms, f"crawls, {words}")
        yield t_test_table(crawls, RECALL, f"target recall, {words}", (1.0,), one_tailed=True)
        yield t_test_table(crawls, _harvest_of(crawls), f"harvest rate, {words}", (1.0,), one_tailed=True)
        yield from acceptance_table(crawls)
    yield from _time_table(arm_named(arms, "time"))
    yield from extra_tables([arm_named(arms, "crawls, corrected")], OTIE, CONTEXT, RECALL)


def _time_table(arm: ArmMeasurements) -> Iterator[Table]:
    """Nothing if the mode has no clock."""
    if TIME not in arm.measured:
        return
    minutes = arm.of(TIME).values[:, :, 0] / 60
    ratio = _times_as_long(_log_ratio(arm))
    yield Table(
        name=f"table-2-{file_name('running times')}",
        caption="Average running time with politeness",
        heads=("algorithm", "simulated minutes"),
        rows=tuple((label, mean_and_error(row, 2)) for label, row in zip(arm.labels, minutes, strict=True)),
        note=f"Mean ± standard error over {len(arm.topics)} topics, {arm.page_budget:,} pages each, on {arm.n_hosts:,} "
        f"host{'s' if arm.n_hosts != 1 else ''}. Link-context takes {ratio:.2f} times as long as OTIE (geometric "
        f"mean); {PUBLISHED_RATIO:.2f} in the paper.",
    )
