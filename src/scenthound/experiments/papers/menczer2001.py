"""Menczer, Pant, Ruiz, Srinivasan: Evaluating topic-driven web crawlers, SIGIR 2001. Findings H1 to H4.

How we interpret the paper
- The points of its tests, 100, 500 and 1,000 pages, are a tenth, a half and all of the page budget; at least twice the
  start pages, which all crawlers visit first.
- "Equivalent" (BestFirst and InfoSpiders after a tenth) is a mean rank within a twentieth of BestFirst's.
- "Narrows late": PageRank is less far behind BestFirst at the end than after a half of the pages.
- Of a page's links PageRank records only those to other domains. On a web of a single domain there are none, so all
  are recorded there: another crawler than the paper's. Where less than a hundredth of the links lead to other domains,
  claims about PageRank cannot be asked; where less than a tenth does, findings say so.
"""

from collections.abc import Iterator, Sequence

from scenthound.experiments.findings import Claim, Finding, PendingClaim, cannot_be_asked, finding_of, is_more
from scenthound.experiments.papers import Published
from scenthound.experiments.papers.pairs import Pair, asked, distinct, more, no_more_pages, within_share
from scenthound.experiments.statistics import aligned_differences
from scenthound.experiments.study.measures import ArmMeasurements, arm_named
from scenthound.experiments.study.tables import (
    Panel,
    Picture,
    Table,
    cost_tables,
    end_tables,
    extra_tables,
    overlap_table,
    sample_table,
    sample_text,
    sample_urls,
    t_test_table,
)

PUBLISHED = {"crawls": Published(pages=1_000, topics=100, largest_n=1, relevance="cosine")}
BEST, SPIDERS, PAGERANK = "BestFirst", "InfoSpiders", "PageRank"
#: Pairs of crawlers, the better one first.
ORDER = ((BEST, SPIDERS), (SPIDERS, PAGERANK))
#: The classifiers, with their names in Figure 5 of the paper.
CLASSIFIERS = {"rocchio": "Rocchio", "widrow_hoff": "Widrow-Hoff", "exponentiated_gradient": "Exponentiated Gradient"}
POINTS = (0.1, 0.5, 1.0)
EARLY, MIDDLE, END = POINTS
#: Mean ranks that differ by less than this share of BestFirst's are equivalent.
NEAR = 0.05
#: Choices are random if their mean entropy is at least this share of that of random ones.
RANDOM_ENTROPY = 0.99
#: Shares of links that lead to other domains: claims about PageRank need the first; less than the second is few.
MIN_LEAVING, FEW_LEAVING = 0.01, 0.1
RANK, SIMILARITY = "rank:by=lexical", "mean_similarity"


def findings(arms: Sequence[ArmMeasurements]) -> Iterator[Finding]:
    """All four: over visited pages, and if crawls ended early also with missing pages counted."""
    for arm in arms[0].padded_or_visited():
        over, remark = arm.over, _remark(arm)
        yield finding_of(
            "H1",
            "BestFirst > InfoSpiders > PageRank under each classifier",
            over,
            _classified(arm),
            remark,
        )
        yield finding_of(
            "H2",
            "mean lexical rank: at a tenth BestFirst about InfoSpiders, both better than PageRank; later BestFirst "
            "better than InfoSpiders, InfoSpiders than PageRank",
            over,
            _ranked(arm),
            remark,
        )
        says = "mean similarity: the same order, from early on"
        yield finding_of("H3", says, over, _similar(arm), remark)
        says = "mean lexical rank: PageRank's distance narrows late"
        yield finding_of("H4", says, over, _narrowing(arm))


def _asked(claim: PendingClaim | Claim, *pairs: Pair) -> PendingClaim | Claim:
    """The claim; one about PageRank cannot be asked where hardly a link leads to another domain."""
    arm, is_about_pagerank = pairs[0].arm, any(PAGERANK in (pair.one, pair.other) for pair in pairs)
    if is_about_pagerank and arm.leaving_share < MIN_LEAVING:
        return cannot_be_asked(claim.says, _leaving(arm), claim.effect)
    return asked(claim, *pairs)


def _leaving(arm: ArmMeasurements) -> str:
    share = f"{arm.leaving_share:.1%}" if arm.leaving_share else "none"
    return f"The paper's PageRank records only links to other domains: {share} of the links here."


def _remark(arm: ArmMeasurements) -> str:
    """What a reader of the findings must know about the crawls."""
    few = _leaving(arm) if MIN_LEAVING <= arm.leaving_share < FEW_LEAVING else ""
    return " ".join(filter(None, (_randomness(arm), few)))


def _randomness(arm: ArmMeasurements) -> str:
    """A remark if the choices of InfoSpiders were those of a random walk."""
    found = arm.diagnostics.get(SPIDERS, {})
    entropy = found.get("choice_entropy", 0.0)
    if entropy < RANDOM_ENTROPY:
        return ""
    return (
        f"InfoSpiders walked at random: the entropy of its choices is {entropy:.3f} of that of random ones, and "
        f"{found.get('deaths', 0.0):.1f} agents ended per crawl; its net decided nothing."
    )


def _is_better(pair: Pair) -> PendingClaim | Claim:
    return _asked(more(f"{pair.context}: {pair.one} better than {pair.other}", pair), pair)


def _classified(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for judge, name in CLASSIFIERS.items():
        for crawlers in ORDER:
            pair = Pair(arm, f"classified:by={judge}", *crawlers)
            yield _asked(more(f"{name}, {pair.context}: {pair.one} better than {pair.other}", pair), pair)


def _ranked(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    early = arm.step(EARLY)
    # Lower ranks are better: the margin is a share of BestFirst's.
    near = Pair(arm, RANK, SPIDERS, BEST, early)
    yield within_share(f"{near.context}: InfoSpiders about as good as BestFirst", near, NEAR, " ranks")
    for crawler in (BEST, SPIDERS):
        yield _is_better(Pair(arm, RANK, crawler, PAGERANK, early))
    for crawlers in ORDER:
        first, *later = _moments(arm, RANK, crawlers)
        for pair in later:
            yield _is_better(pair)
        if not later:
            says = f"later: {first.one} better than {first.other}"
            yield _asked(cannot_be_asked(says, no_more_pages(first)), first)


def _moments(arm: ArmMeasurements, measure: str, crawlers: tuple[str, str]) -> list[Pair]:
    """The pairs at the points of the paper."""
    return distinct(Pair(arm, measure, *crawlers, arm.step(share)) for share in POINTS)


def _similar(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    for crawlers in ORDER:
        yield from map(_is_better, _moments(arm, SIMILARITY, crawlers))


def _narrowing(arm: ArmMeasurements) -> Iterator[PendingClaim | Claim]:
    middle, end = (Pair(arm, RANK, BEST, PAGERANK, arm.step(share)) for share in (MIDDLE, END))
    says = f"PageRank is further behind BestFirst {middle.context} than {end.context}"
    claim: PendingClaim | Claim = is_more(says, aligned_differences(middle.better, end.better))
    if not end.is_later(middle):
        claim = cannot_be_asked(says, no_more_pages(middle))
    yield _asked(claim, middle, end)


def pictures(arms: Sequence[ArmMeasurements]) -> Iterator[Picture]:
    """Figures 5 to 7 of the paper, and exact recall."""
    arm = arms[0].settings.name
    bars = Panel(
        "",
        arm,
        tuple(f"classified:by={judge}" for judge in CLASSIFIERS),
        "share of pages classified positive",
        kind="bars",
        crawlers=(PAGERANK, SPIDERS, BEST),
        measure_names=tuple(CLASSIFIERS.values()),
    )
    yield Picture("figure-5", "Assessment of crawlers by classifiers", (bars,))
    ranks = Panel("", arm, (RANK,), "mean SMART rank (low is good)")
    yield Picture("figure-6", "Assessment of crawlers by SMART ranks", (ranks,))
    similarity = Panel("", arm, (SIMILARITY,), "mean similarity to the topic")
    yield Picture("figure-7", "Assessment of crawlers by mean similarity between topics and pages", (similarity,))
    recall = Panel("", arm, ("recall",), "share of the relevant pages found", with_bounds=True)
    yield Picture("recall", "Exact recall of the known relevant pages, between random and the greedy oracle", (recall,))


def tables(arms: Sequence[ArmMeasurements]) -> Iterator[Table]:
    """Table 1, final values, the paper's t-tests, cost, and the tables of all studies."""
    arm = arms[0]
    yield sample_table(
        arm,
        {
            "category": lambda each: each.name,
            "topic": lambda each: sample_text(each.description),
            "seed set": lambda each: sample_urls(each.seeds),
        },
    )
    heads = {f"classified:by={judge}": name for judge, name in CLASSIFIERS.items()}
    heads |= {RANK: "mean SMART rank", SIMILARITY: "mean similarity", "precision": "precision", "recall": "recall"}
    heads |= {"area:of=recall": "area under recall"}
    heads |= {"target_recall": "target recall", "novelty": "novelty", "new_relevant_hosts": "new relevant hosts"}
    yield from end_tables(arm, heads)
    yield t_test_table(arm, RANK, "mean SMART rank", POINTS)
    yield t_test_table(arm, SIMILARITY, "mean similarity", POINTS)
    for judge, name in CLASSIFIERS.items():
        yield t_test_table(arm, f"classified:by={judge}", f"pages classified positive by {name}", (END,))
    yield from cost_tables(arm)
    yield from extra_tables([arm], BEST, SPIDERS, "target_recall")
    yield overlap_table(arm_named(arms, "halves"))
