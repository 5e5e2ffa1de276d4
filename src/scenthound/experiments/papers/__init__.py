"""The papers, one module each: findings, figures and tables.

What cannot be asked in any study
- Claims about a crawler whose N is more than a quarter of the page budget: it requests N pages before it uses what it
  learned from them, so that the budget decides. N was an eighth of the budget or less in the papers.
- Claims about the end of crawls that all ended early after equally many pages: they visited all pages that can be
  reached.
- Claims about a measure that no topic has, and "about as much" where the other crawler has nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

import numpy as np

from scenthound.experiments.findings import Claim, Finding, PendingClaim, cannot_be_asked, is_about_equal
from scenthound.experiments.study.measures import ArmMeasurements
from scenthound.experiments.study.tables import Picture, Table
from scenthound.model import FloatArray


@dataclass(frozen=True, slots=True)
class Published:
    """The size of a paper's experiments: pages per crawl, topics, the largest N of its crawlers, and its relevance
    model."""

    pages: int
    topics: int
    largest_n: int
    relevance: str


class Paper(Protocol):
    """What a module of this package provides, from the measured arms of its study in the order of the settings."""

    PUBLISHED: Published

    def findings(self, arms: Sequence[ArmMeasurements]) -> Iterable[Finding]: ...

    def pictures(self, arms: Sequence[ArmMeasurements]) -> Iterable[Picture]: ...

    def tables(self, arms: Sequence[ArmMeasurements]) -> Iterable[Table]: ...


#: The largest share of the page budget that the N of a crawler may be.
MAX_N_SHARE = 0.25


def asked(
    claims: Iterable[PendingClaim | Claim], problem: Callable[[PendingClaim | Claim], str]
) -> Iterator[PendingClaim | Claim]:
    """The claims; those with a problem cannot be asked."""
    for claim in claims:
        why = _unmeasured(claim) or problem(claim)
        yield cannot_be_asked(claim.says, why, claim.effect) if why else claim


def _unmeasured(claim: PendingClaim | Claim) -> str:
    """That no topic has the measure of a claim; empty if one has."""
    is_unmeasured = isinstance(claim, PendingClaim) and not claim.effect.n_topics
    return "No topic has this measure." if is_unmeasured else ""


def within_share(
    says: str, differences: FloatArray, theirs: FloatArray, share: float, unit: str = ""
) -> PendingClaim | Claim:
    """The claim that the mean difference is within a share of the mean of the other crawler, rounded to two digits."""
    compared = theirs[~np.isnan(differences)]
    if not len(compared):
        return cannot_be_asked(says, "No topic has this measure.")
    if not compared.mean() > 0:
        return cannot_be_asked(says, "The other crawler has 0 for all topics: nothing is about as much as that.")
    margin = float(f"{share * float(compared.mean()):.2g}")
    return is_about_equal(f"{says}, within {margin:g}{unit}", differences, margin)


def exhausted(arm: ArmMeasurements, claim: PendingClaim | Claim | None = None) -> str:
    """That all crawlers of an arm visited all pages that can be reached; empty if they did not, or if a claim is about
    a moment before that, when they still differed."""
    effect = None if claim is None else claim.effect
    if not arm.is_exhausted or (effect is not None and (effect.low or effect.high)):
        return ""
    pages = f"{arm.length(arm.labels[0]).mean():,.0f} in the mean"
    return f"All crawlers visited all pages that can be reached, {pages}: their order decides nothing."


def too_large_n(arm: ArmMeasurements, crawlers: Iterable[str]) -> str:
    """That the N of one of the crawlers is too large a part of the page budget; empty if it is not."""
    n, crawler = max(((arm.n_of.get(each, 1), each) for each in crawlers), default=(1, ""))
    share = n / arm.page_budget
    if share <= MAX_N_SHARE:
        return ""
    pages = f"{n} pages at once, {share:.0%} of the {arm.page_budget:,}"
    return f"{crawler} requests {pages}: crawls end before it can use what it learned."


def differences_from_paper(published: Published, arm: ArmMeasurements) -> str:
    """How the size of an arm differs from the paper's; empty if it does not."""
    pages, topics, relevance = arm.page_budget, len(arm.topics), arm.settings.relevance
    found = []
    if pages != published.pages:
        found.append(f"crawls of {pages:,} pages instead of {published.pages:,}")
    largest_n = max(arm.n_of.values(), default=1)
    share, published_share = f"{largest_n / pages:.1%}", f"{published.largest_n / published.pages:.1%}"
    if max(largest_n, published.largest_n) > 1 and share != published_share:
        found.append(f"the largest N is {share} of the pages instead of {published_share}")
    if topics != published.topics:
        found.append(f"{topics} topics instead of {published.topics}")
    if relevance is not None and relevance != published.relevance:
        found.append(f"the relevance model {relevance} instead of {published.relevance}")
    return "; ".join(found)


def paper_of(study: str) -> Paper:
    """The paper of a study whose settings are arms."""
    return cast(Paper, import_module(f"{__name__}.{study}"))
