"""What a study measures beside the metrics: search length, the overlap of crawls from halves of the seeds, and how far
judges agree, with each other and with the pages that are known.

All of it is of one topic. Search lengths and overlaps are by crawler, like the metrics; agreement is of judges.
"""

from collections.abc import Sequence

import numpy as np

from scenthound.lab.judging import VOTE
from scenthound.lab.studies.crawling import KeptCrawl
from scenthound.lab.studies.measured import FOUND_PERCENT
from scenthound.lab.studies.settings import ArmSettings
from scenthound.metrics.base import Judgement
from scenthound.metrics.overlap import overlap
from scenthound.metrics.search_length import search_length
from scenthound.model import FloatArray, IntArray
from scenthound.relevance.judging import LINEAR_JUDGES, VOTING_JUDGES, agreement, cohen_kappa

SHARED_PAGES, SHARED_HOSTS = "shared_pages", "shared_hosts"


def search_lengths(crawls: Sequence[KeptCrawl], judgement: Judgement) -> FloatArray:
    """By crawler and share: the pages visited until that share of what there was to find was found; it is
    infinite if it never was."""
    to_find = judgement.to_find
    if not len(to_find):
        return np.full((len(crawls), len(FOUND_PERCENT)), np.nan)
    lengths = np.array([[search_length(kept.trace, to_find, p / 100) for p in FOUND_PERCENT] for kept in crawls])
    return np.where(np.isnan(lengths), np.inf, lengths)


def overlaps(halves: Sequence[Sequence[KeptCrawl]], host_of_page: IntArray, steps: IntArray) -> dict[str, FloatArray]:
    """What the crawls from both halves of the seeds have in common, by crawler and step."""
    both = [overlap(one.trace, other.trace, host_of_page, int(steps[-1])) for one, other in zip(*halves, strict=True)]
    shared = {SHARED_PAGES: np.array([each.pages[steps - 1] for each in both])}
    if len(np.unique(host_of_page)) > 1:
        # On a web of one host, all crawls have it.
        shared[SHARED_HOSTS] = np.array([each.hosts[steps - 1] for each in both])
    return shared


def judges_of(settings: ArmSettings) -> tuple[str, ...]:
    """The classifiers that judge in an arm."""
    seed_judges = [judge for judge in LINEAR_JUDGES if f"classified:by={judge}" in settings.measures]
    return (*seed_judges, *(VOTING_JUDGES if "harvest" in settings.measures else ()))


def judge_agreement(judgement: Judgement, judges: Sequence[str]) -> dict[str, float]:
    """Cohen's kappa of every two judges on the pages of the pool, Fleiss' of all, and Cohen's of each, and of the vote,
    with what is known to be relevant. Nothing, if one of them had nothing to learn from."""
    verdicts = {name: accepted for name in judges if (accepted := judgement.facts.accepted_by(name)) is not None}
    if not judges or len(verdicts) < len(judges):
        return {}
    found = agreement(verdicts)
    told = {f"{pair.first} and {pair.second}": pair.kappa for pair in found.pairs}
    told["all of them (Fleiss)"] = found.fleiss
    is_relevant = np.isin(judgement.pool, judgement.relevant)
    voted = judgement.facts.accepted_by(VOTE) if set(VOTING_JUDGES) <= verdicts.keys() else None
    for name, accepted in (*verdicts.items(), *([(VOTE, voted)] if voted is not None else [])):
        told[f"{name} and the known pages"] = cohen_kappa(accepted, is_relevant)
    return told
