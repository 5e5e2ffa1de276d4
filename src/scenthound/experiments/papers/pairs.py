"""Pairs of crawlers, which the claims of papers compare, and when such claims cannot be asked.

Rules
- Crawls that ended early and visited the same pages visited all that can be reached, in whatever order. Topics for
  which the crawls of both crawlers did are left out of claims about a moment after that. A claim that is left with
  fewer than five topics because of that cannot be asked.
- Nor can a claim about a crawler whose N is more than a quarter of the page budget, or of the pages that its crawls
  have if they ended early: it requests N pages before it uses what it learned from them. N was an eighth of the budget
  or less in the papers.
- Nor can one about crawls of fewer than twice as many pages as they start from, which all crawlers visit first.
- Crawls that ended early are compared where the shorter one ended. A later moment is compared separately only if the
  crawls have at least a tenth more pages then; otherwise it would be the same comparison again.
- Nor can one that counts missing pages, if a crawler visited less than half of the pages that the claim is about.
- Nor can one that a crawler is better than another which cannot be beaten: that has 1 of a share, such as recall, for
  all topics or all but four. The same is true of "less" than 0, and of "about as much" if both have 1, or 0.
- Nor can one about a measure that no topic has, and "about as much" where the other crawler has nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.experiments.findings import (
    Claim,
    PendingClaim,
    cannot_be_asked,
    is_about_equal,
    is_less,
    is_more,
    up_to,
)
from scenthound.experiments.statistics import MIN_TOPICS, aligned_differences
from scenthound.experiments.study.measures import ArmMeasurements
from scenthound.model import BoolArray, FloatArray, IntArray

#: The largest share of the page budget that the N of a crawler may be.
MAX_N_SHARE = 0.25
#: The least share of pages that crawls must have if missing pages count.
MIN_VISITED_SHARE = 0.5
#: Crawls are compared after at least this many times as many pages as they start from.
MIN_START_TIMES = 2
#: Moments are different if crawls have this many times as many pages.
NEXT_MOMENT = 1.1
#: Measures of the static scheme, which are about complete crawls.
STATIC = "coverage:"
#: Measures that are shares begin with one of these: none is less than 0 or more than 1.
SHARES = ("classified", "coverage", "harvest", "mean_similarity", "target_recall")
UNMEASURED = "No topic has this measure."


@dataclass(frozen=True, slots=True)
class Pair:
    """Two crawlers of an arm, compared by a measure after a number of pages, or at the end. Static measures are means
    over all n of the top n."""

    arm: ArmMeasurements
    measure: str
    one: str
    other: str
    after: int | None = None

    @property
    def n_pages(self) -> int:
        return self.arm.page_budget if self.after is None else self.after

    @property
    def is_exhausted(self) -> BoolArray:
        """By topic: whether both crawlers had visited all pages that can be reached."""
        return self.arm.visited_all(self.one, self.other, self.n_pages)

    @property
    def values(self) -> tuple[FloatArray, FloatArray]:
        """By topic; NaN for topics that are left out."""
        if self.measure.startswith(STATIC):
            found = [self.arm.values(self.measure, crawler).mean(axis=-1) for crawler in (self.one, self.other)]
        else:
            found = list(self.arm.pair(self.measure, self.one, self.other, self.n_pages))
        ours, theirs = (np.where(self.is_exhausted, np.nan, values) for values in found)
        return ours, theirs

    @property
    def better(self) -> FloatArray:
        """By topic, how much better one crawler is than the other."""
        return self.arm.of(self.measure).better(*self.values)

    @property
    def is_share(self) -> bool:
        return self.measure.startswith(SHARES)

    @property
    def room_above(self) -> FloatArray:
        """By topic, how much better than the other any crawler could be; infinity if the measure has no bound."""
        _, theirs = self.values
        return aligned_differences(np.ones_like(theirs), theirs) if self.is_share else np.full_like(theirs, np.inf)

    @property
    def compared_after(self) -> IntArray:
        """The pages after which the crawlers are compared, by topic that is not left out."""
        return self._all_compared_after[~self.is_exhausted]

    @property
    def _all_compared_after(self) -> IntArray:
        if self.measure.startswith(STATIC):
            return np.minimum(self.arm.length(self.one), self.arm.length(self.other))
        return self.arm.compared_after(self.measure, self.one, self.other, self.n_pages)

    def is_later(self, other: "Pair") -> bool:
        """Whether the crawls have considerably more pages than those of another pair."""
        ours, theirs = self._all_compared_after, other._all_compared_after
        return float(ours.mean()) >= NEXT_MOMENT * float(theirs.mean())

    def visited(self, crawler: str) -> float:
        """The pages that a crawler visited up to then, mean over the topics that are not left out."""
        kept = np.minimum(self.arm.length(crawler), self.n_pages)[~self.is_exhausted]
        return float(kept.mean()) if len(kept) else float("nan")

    @property
    def context(self) -> str:
        """After how many pages the crawlers are compared, in words."""
        pages, after = f"after {self.n_pages:,} pages", self.compared_after
        if not len(after) or np.all(after == self.n_pages):
            return pages
        return f"{pages} or where the shorter crawl ended ({after.mean():,.0f} pages in the mean)"

    @property
    def problem(self) -> str:
        """Why the crawls cannot be compared; empty if they can."""
        return self._too_large_n or self._mostly_start_pages or self._mostly_missing

    @property
    def _mostly_start_pages(self) -> str:
        after, start = self.compared_after, self.arm.settings.start
        if not len(after) or after.mean() >= MIN_START_TIMES * start:
            return ""
        return f"The crawls have {after.mean():,.0f} pages in the mean, and start from {start}, which all visit first."

    @property
    def _too_large_n(self) -> str:
        n, crawler = max((self.arm.n_of.get(each, 1), each) for each in (self.one, self.other))
        n_pages = float(self.arm.length(crawler).mean())
        share = n / n_pages
        if share <= MAX_N_SHARE:
            return ""
        pages = f"{n} pages at once, {share:.0%} of the {n_pages:,.0f} of a crawl"
        return f"{crawler} requests {pages}: crawls end before it can use what it learned."

    @property
    def _mostly_missing(self) -> str:
        if self.arm.by_visited_pages or self.measure.startswith(STATIC):
            return ""
        n, crawler = min((self.visited(each), each) for each in (self.one, self.other))
        if not n < MIN_VISITED_SHARE * self.n_pages:
            return ""
        return f"{crawler} visited {n:,.0f} of the {self.n_pages:,} pages in the mean: missing pages decide."


def distinct(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs, by rising number of pages, that are not the same comparison as the one before."""
    kept: list[Pair] = []
    for pair in pairs:
        if not kept or pair.is_later(kept[-1]):
            kept.append(pair)
    return kept


def no_more_pages(pair: Pair) -> str:
    """Why nothing can be asked about the time after the moment of a pair."""
    return f"The crawls that can be compared have hardly more pages than {pair.context}."


def asked(claim: PendingClaim | Claim, *pairs: Pair) -> PendingClaim | Claim:
    """The claim about pairs of crawlers, which cannot be asked if one of them cannot be compared."""
    effect = claim.effect
    reasons = [*(pair.problem for pair in pairs), _exhausted(0 if effect is None else effect.n_topics, pairs)]
    if isinstance(claim, PendingClaim) and not claim.effect.n_topics:
        reasons.append(UNMEASURED)
    why = next(filter(None, reasons), "")
    return cannot_be_asked(claim.says, why, effect) if why else claim


def more(says: str, pair: Pair) -> PendingClaim | Claim:
    """The claim that one crawler is better than the other, if any could be."""
    return asked(up_to(pair.room_above, is_more(says, pair.better), unbeatable(pair.other)), pair)


def less(says: str, pair: Pair) -> PendingClaim | Claim:
    """The claim that one crawler has less of a share than the other, if any could have."""
    _, theirs = pair.values
    return asked(up_to(theirs, is_less(says, pair.better), f"No crawler can have less than {pair.other}."), pair)


def unbeatable(other: str) -> str:
    return f"No crawler can have more than {other}."


def _exhausted(n_left: int, pairs: Sequence[Pair]) -> str:
    """That too few topics are left, because crawls visited all pages; empty if there are enough."""
    arm, is_exhausted = pairs[0].arm, np.any([pair.is_exhausted for pair in pairs], axis=0)
    n_exhausted = int(is_exhausted.sum())
    if not n_exhausted or n_left >= MIN_TOPICS:
        return ""
    pages = f"{float(arm.length(pairs[0].one)[is_exhausted].mean()):,.0f} in the mean"
    topics = f"{n_exhausted} of {len(arm.topics)} topics"
    return f"For {topics} both crawlers visited all pages that can be reached, {pages}: their order decides nothing."


def within_share(says: str, pair: Pair, share: float, unit: str = "") -> PendingClaim | Claim:
    """The claim that the mean difference is within a share of the mean of the other crawler, rounded to two digits."""
    differences, (ours, theirs) = pair.better, pair.values
    compared = theirs[~np.isnan(differences)]
    if len(compared) and compared.mean() > 0:
        margin = float(f"{share * float(compared.mean()):.2g}")
        claim = is_about_equal(f"{says}, within {margin:g}{unit}", differences, margin)
        if pair.is_share:
            # Two crawlers that have all, or nothing, could not differ.
            room = np.minimum(np.maximum(ours, theirs), 1 - np.minimum(ours, theirs))
            return asked(up_to(room, claim, f"{pair.one} and {pair.other} both have all that can be had."), pair)
        return asked(claim, pair)
    nothing = f"{pair.other} has 0 for all topics: nothing is about as much as that." if len(compared) else UNMEASURED
    return cannot_be_asked(says, pair.problem or _exhausted(len(compared), [pair]) or nothing)
