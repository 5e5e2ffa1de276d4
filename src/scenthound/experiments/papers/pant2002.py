"""Pant, Srinivasan, Menczer: Exploration versus exploitation in topic driven crawlers, 2002. Findings H5 to H10.

Task 1 starts from examples, task 2 from their neighbours. Static: the share of the pool's n best pages that a crawler
visited, by lexical and by linkage rank. Dynamic: the mean rank of the pages visited so far, where low is good.

How we interpret the paper
- A static comparison is of the mean over all n of the figure.
- "Throughout" is after a tenth, a quarter, a half and all of the pages; "early" is after a tenth.
- "The others between": the mean of BFS16, BFS64 and BFS128.
- "The gap grows as n shrinks": it is larger in the mean over n up to an eightieth of the page budget (25 of 2,000) than
  over n from a fifth of it on.
- "Recovers": how much worse it is shrinks from early to the end.
- BFS256 requests 256 pages at once, an eighth of the paper's 2,000.
- The static scheme is about all pages of a crawl. Where crawls end early, for example because a frontier of 256 links
  filled with dead ones, the longer crawl covers more, and such claims cannot be asked.
- Lexical rank is that by SMART in all findings; ranks by BM25, and the means of both, are in the tables only.

Optional arms, which no finding is about: the crawlers of task 2 with frontiers of other sizes than 256, and crawlers
that the paper does not have.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from scenthound.experiments.findings import Claim, Finding, PendingClaim, cannot_be_asked, finding_of, is_more, up_to
from scenthound.experiments.papers import Published
from scenthound.experiments.papers.pairs import Pair, asked, distinct, more, no_more_pages, unbeatable
from scenthound.experiments.statistics import aligned_differences
from scenthound.experiments.study.measures import ArmMeasurements, arm_named
from scenthound.experiments.study.tables import (
    PAGES_VISITED,
    Panel,
    Picture,
    Table,
    cost_tables,
    diagnostics_tables,
    end_tables,
    extra_tables,
    file_name,
    sample_table,
    sample_text,
    sample_urls,
)

TASK_1, TASK_2, COST = "task 1", "task 2", "cost"
PUBLISHED = dict.fromkeys((TASK_1, TASK_2), Published(pages=2_000, topics=100, largest_n=256, relevance="cosine"))
BUFFER, MORE = "buffer", ("more, task 1", "more, task 2")
GREEDY, EXPLORING, BLIND = "BFS1", "BFS256", "Breadth-First"
BETWEEN = ("BFS16", "BFS64", "BFS128")
RANKS = ("lexical", "linkage")
#: All ranks that tables show, with their headings.
RANK_HEADS = {
    "lexical": "lexical rank (SMART)",
    "bm25": "lexical rank (BM25)",
    "lexical_mean": "lexical rank (mean of both)",
    "linkage": "linkage rank",
}
EXAMPLES = "target_recall"
EARLY, THROUGHOUT = 0.1, (0.1, 0.25, 0.5, 1.0)
FEW_TOP, MANY_TOP = 1 / 80, 1 / 5
#: Crawls are of equal length if the shorter ones have at least this share of the pages of the longer ones.
EQUAL_LENGTH = 0.9


def findings(arms: Sequence[ArmMeasurements]) -> Iterator[Finding]:
    """All six. Mean ranks and recall are over visited pages, and if crawls ended early also with missing pages
    counted."""
    one, two = arm_named(arms, TASK_1), arm_named(arms, TASK_2)
    yield finding_of("H5", "task 1, static: BFS256 > BFS1, the others between", "", _in_order(one))
    yield finding_of("H6", "task 1, static: the gap grows as n shrinks", "", _growing_gap(one))
    for arm in one.padded_or_visited():
        yield finding_of("H7", "task 1, dynamic lexical: BFS256 better throughout", arm.over, _throughout(arm))
        says = "task 1, dynamic linkage: BFS256 worse early, recovers"
        yield finding_of("H8", says, arm.over, _penalty(arm, "linkage"))
    for arm in two.padded_or_visited():
        yield finding_of("H9", "task 2: BFS256 > BFS1 > Breadth-First, early penalty", arm.over, _task_2(arm))
    for arm in two.padded_or_visited():
        says = "task 2, example recall: BFS256 > BFS1 > Breadth-First"
        yield finding_of("H10", says, arm.over, _recall(arm))


def _static(claim: PendingClaim | Claim, *pairs: Pair) -> PendingClaim | Claim:
    """A claim about the static scheme, which has no values over visited pages: it cannot be asked of crawls of unequal
    length."""
    for pair in pairs:
        (few, shortest), (many, longest) = sorted(
            (pair.visited(crawler), crawler) for crawler in (pair.one, pair.other)
        )
        if few < EQUAL_LENGTH * many:
            visited = f"{shortest} visited {few:,.0f} pages in the mean before its frontier was empty"
            why = f"{visited}, and {longest} {many:,.0f}: the longer crawl covers more."
            return cannot_be_asked(claim.says, why, claim.effect)
    return asked(claim, *pairs)


def _covers_more(arm: ArmMeasurements, rank: str, one: str, other: str) -> PendingClaim | Claim:
    pair = Pair(arm, f"coverage:by={rank}", one, other)
    return _static(more(f"{rank}: {one} covers more than {other}", pair), pair)


def _in_order(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for rank in RANKS:
        yield _covers_more(arm, rank, EXPLORING, GREEDY)
        pairs = [Pair(arm, f"coverage:by={rank}", EXPLORING, crawler) for crawler in BETWEEN]
        yield _in_the_mean(f"{rank}: BFS256 covers more than the others in the mean", "the others", pairs)
        pairs = [Pair(arm, f"coverage:by={rank}", crawler, GREEDY) for crawler in BETWEEN]
        yield _in_the_mean(f"{rank}: the others in the mean cover more than BFS1", GREEDY, pairs)


def _in_the_mean(says: str, other: str, pairs: Sequence[Pair]) -> PendingClaim | Claim:
    """That one crawler is better than another in the mean over pairs."""
    better, room = (
        np.mean(values, axis=0) for values in zip(*((each.better, each.room_above) for each in pairs), strict=True)
    )
    return _static(up_to(room, is_more(says, better), unbeatable(other)), *pairs)


def _growing_gap(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for rank in RANKS:
        pair, measured = Pair(arm, f"coverage:by={rank}", EXPLORING, GREEDY), arm.of(f"coverage:by={rank}")
        gap = measured.values[arm.index(EXPLORING)] - measured.values[arm.index(GREEDY)]
        # At least the first and the last size of the settings are compared.
        few = max(round(FEW_TOP * arm.page_budget), int(measured.x[0]))
        many = min(round(MANY_TOP * arm.page_budget), int(measured.x[-1]))
        narrow, wide = gap[:, measured.x <= few].mean(axis=1), gap[:, measured.x >= many].mean(axis=1)
        shrinking = np.where(pair.is_exhausted, np.nan, aligned_differences(narrow, wide))
        says = f"{rank}: BFS256's lead over BFS1 at n up to {few} is larger than at n from {many} on"
        yield _static(is_more(says, shrinking), pair)


def _throughout(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    pairs = (Pair(arm, "rank:by=lexical", EXPLORING, GREEDY, arm.step(share)) for share in THROUGHOUT)
    for pair in distinct(pairs):
        yield asked(is_more(f"{pair.context} BFS256 has the better mean rank", pair.better), pair)


def _penalty(arm: ArmMeasurements, rank: str) -> Iterator[PendingClaim | Claim]:
    crawlers = (f"rank:by={rank}", GREEDY, EXPLORING)
    early, end = Pair(arm, *crawlers, arm.step(EARLY)), Pair(arm, *crawlers)
    yield asked(is_more(f"{rank}: {early.context} BFS1 has the better mean rank than BFS256", early.better), early)
    says = f"{rank}: how much worse BFS256 is has shrunk {end.context}"
    claim: PendingClaim | Claim = is_more(says, aligned_differences(early.better, end.better))
    if not end.is_later(early):
        claim = cannot_be_asked(says, no_more_pages(early))
    yield asked(claim, early, end)


def _task_2(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for rank in RANKS:
        yield _covers_more(arm, rank, EXPLORING, GREEDY)
        yield _covers_more(arm, rank, GREEDY, BLIND)
        yield from _penalty(arm, rank)


def _recall(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for one, other in ((EXPLORING, GREEDY), (GREEDY, BLIND)):
        pair = Pair(arm, EXAMPLES, one, other)
        yield more(f"{pair.context} {one} finds more examples than {other}", pair)


def pictures(arms: Sequence[ArmMeasurements]) -> Iterator[Picture]:
    """Figures 2 to 4 of the paper, and the same for all crawlers."""
    yield Picture("figure-2", "Task 1: static and dynamic evaluation", _panels(TASK_1, (GREEDY, EXPLORING)))
    yield Picture("figure-3", "Task 2: static and dynamic evaluation", _panels(TASK_2, (GREEDY, EXPLORING, BLIND)))
    recall = Panel("", TASK_2, (EXAMPLES,), "share of the examples found", crawlers=(GREEDY, EXPLORING, BLIND))
    yield Picture("figure-4", "Task 2: average recall of the examples", (recall,))
    yield Picture("all-task-1", "Task 1: all crawlers", _panels(TASK_1, ()))
    yield Picture("all-task-2", "Task 2: all crawlers", _panels(TASK_2, ()))
    bounded = tuple(
        Panel(name, name, ("recall",), "share of the relevant pages found", with_bounds=True)
        for name in (TASK_1, TASK_2)
    )
    yield Picture("recall", "Exact recall of the known relevant pages, between random and the greedy oracle", bounded)
    for arm in _optional(arms):
        yield Picture(
            file_name(arm.settings.name), f"{arm.settings.name}: {arm.settings.says}", _panels(arm.settings.name, ())
        )


def _optional(arms: Sequence[ArmMeasurements]) -> list[ArmMeasurements]:
    """The optional arms that were run."""
    return [arm for arm in arms if arm.settings.name in (BUFFER, *MORE)]


def _panels(arm: str, crawlers: tuple[str, ...]) -> tuple[Panel, ...]:
    schemes = (
        ("static", "coverage", "share of them visited", "number of top pages"),
        ("dynamic", "rank", "mean rank (low is good)", PAGES_VISITED),
    )
    return tuple(
        Panel(f"{scheme}, {rank}", arm, (f"{measure}:by={rank}",), y_label, x_label, crawlers=crawlers)
        for rank in RANKS
        for scheme, measure, y_label, x_label in schemes
    )


def tables(arms: Sequence[ArmMeasurements]) -> Iterable[Table]:
    """Table 1, final values, cost, and the tables of all studies."""
    yield sample_table(
        arm_named(arms, TASK_1),
        {
            "topic keywords": lambda each: " / ".join(each.keywords),
            "topic description": lambda each: sample_text(each.description),
            "examples": lambda each: sample_urls(each.examples),
        },
    )
    heads = {f"coverage:by={rank}": f"coverage, {head}" for rank, head in RANK_HEADS.items()}
    heads |= {f"rank:by={rank}": f"mean {head}" for rank, head in RANK_HEADS.items()}
    heads |= {EXAMPLES: "example recall", "precision": "precision", "recall": "recall"}
    heads |= {"area:of=recall": "area under recall"}
    for name in (TASK_1, TASK_2):
        yield from end_tables(arm_named(arms, name), heads)
    for arm in _optional(arms):
        yield from end_tables(arm, heads)
        yield from diagnostics_tables(arm)
    yield from cost_tables(arm_named(arms, COST))
    yield from extra_tables([arm_named(arms, TASK_1), arm_named(arms, TASK_2)], GREEDY, EXPLORING, EXAMPLES)
