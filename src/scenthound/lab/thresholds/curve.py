"""Precision, recall and F1 at every threshold that tells labelled pages apart.

Rules
- A page is accepted if its score is at least the threshold.
- Thresholds lie midway between neighbouring scores, rounded to as few digits as leave them between the two; the lowest
  accepts every page. Of more than 200, evenly many are left out.
- A page counts by its weight. Precision is the share of relevant pages among those accepted, recall that of accepted
  ones among the relevant, and F1 = 2 * relevant and accepted / (accepted + relevant), their harmonic mean.
- Intervals of 95 %: Wilson's for precision and recall, with the number of pages that the weights are worth (Kish). A
  bootstrap would call a precision certain when all of five accepted pages are relevant. F1, which is no share of
  anything, has percentiles of a seeded bootstrap over pages.
"""

import math
from dataclasses import dataclass

import numpy as np

from scenthound.model import BoolArray, FloatArray

MOST_THRESHOLDS = 200
COVERAGE = 0.95
#: The standard normal quantile that leaves 2.5 % above.
Z = 1.959963984540054
#: More digits than a score has.
MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """One score, label and weight for each page."""

    score: FloatArray
    is_relevant: BoolArray
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, slots=True)
class Measured:
    """A value, and between what it lies with 95 % confidence. Not-a-number where no page is accepted."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What a threshold does."""

    threshold: float
    n_accepted: int
    precision: Measured
    recall: Measured
    f1: Measured


@dataclass(frozen=True, slots=True)
class Rates:
    """Precision, recall and F1: the last axis is that of the thresholds."""

    precision: FloatArray
    recall: FloatArray
    f1: FloatArray


def thresholds_of(score: FloatArray) -> FloatArray:
    """From the one that accepts all pages upwards."""
    distinct = np.unique(score)
    pairs = zip(distinct[:-1].tolist(), distinct[1:].tolist(), strict=True)
    thresholds = np.array([_at_most(float(distinct[0])), *(_between(low, high) for low, high in pairs)])
    if len(thresholds) <= MOST_THRESHOLDS:
        return thresholds
    kept: FloatArray = thresholds[np.linspace(0, len(thresholds) - 1, MOST_THRESHOLDS).round().astype(np.int64)]
    return kept


def _between(low: float, high: float) -> float:
    """A short number above `low` and not above `high`, near the middle."""
    middle = low + (high - low) / 2
    return next((short for digits in range(2, MOST_DIGITS) if low < (short := round(middle, digits)) <= high), high)


def _at_most(lowest: float) -> float:
    """A short number that is not above the lowest score."""
    short = math.floor(lowest * 100) / 100
    return short if short <= lowest else lowest


def accepted_pages(labelled: LabelledScores, thresholds: FloatArray) -> FloatArray:
    """1 where a page (row) is accepted by a threshold (column): as numbers, whose products are quick."""
    return (labelled.score[:, None] >= thresholds[None, :]).astype(np.float64)


def rates_of(weight: FloatArray, is_relevant: BoolArray, is_accepted: FloatArray) -> Rates:
    """With these weights of the pages: one row of them, or one row for each resample."""
    accepted = weight @ is_accepted
    of_relevant = weight * is_relevant
    found = of_relevant @ is_accepted
    relevant = of_relevant.sum(axis=-1, keepdims=True)
    return Rates(_ratio(found, accepted), _ratio(found, relevant), _ratio(2 * found, accepted + relevant))


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    whole = np.broadcast_to(whole, part.shape)
    ratio: FloatArray = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return ratio


def wilson(share: float, n_pages: float) -> Measured:
    """A share of so many pages with its interval (Wilson 1927), which is open even where the share is 0 or 1."""
    if n_pages == 0:
        return Measured(math.nan, math.nan, math.nan)
    centre = (share + Z * Z / (2 * n_pages)) / (1 + Z * Z / n_pages)
    reach = Z / (1 + Z * Z / n_pages) * math.sqrt(share * (1 - share) / n_pages + Z * Z / (4 * n_pages * n_pages))
    return Measured(share, max(0.0, centre - reach), min(1.0, centre + reach))


def worth_of(weight: FloatArray) -> float:
    """How many pages of equal weight tell as much (Kish 1965)."""
    return float(weight.sum() ** 2 / (weight @ weight)) if len(weight) else 0.0


def rows_of(labelled: LabelledScores, thresholds: FloatArray, resampled: Rates) -> tuple[ThresholdRow, ...]:
    """What each threshold does; `resampled` are rates of a bootstrap, one row for each resample."""
    is_accepted = accepted_pages(labelled, thresholds)
    rates = rates_of(labelled.weight, labelled.is_relevant, is_accepted)
    n_relevant = worth_of(labelled.weight[labelled.is_relevant])
    tail = (1 - COVERAGE) / 2
    low, high = np.quantile(resampled.f1, [tail, 1 - tail], axis=0)
    return tuple(
        ThresholdRow(
            threshold=float(threshold),
            n_accepted=int(is_accepted[:, place].sum()),
            precision=wilson(float(rates.precision[place]), worth_of(labelled.weight[is_accepted[:, place] > 0])),
            recall=wilson(float(rates.recall[place]), n_relevant),
            f1=Measured(float(rates.f1[place]), float(low[place]), float(high[place])),
        )
        for place, threshold in enumerate(thresholds.tolist())
    )
