"""Precision, recall and F1 at every threshold that separates labelled pages, and the choice of one.

Rules
- A page is accepted if its score is at least the threshold. Thresholds are midpoints of neighbouring scores, rounded to
  as few digits as keep them between the two; the lowest accepts every page. At most 200, evenly selected, are used.
- A page counts by its weight. Precision is the share of relevant pages among those accepted, recall the share of
  accepted pages among the relevant, and F1 = 2 * relevant and accepted / (accepted + relevant), their harmonic mean.
- The goal is the best F1, or the highest recall at a minimum precision, or the highest precision at a minimum recall.
  Among equals the higher threshold is chosen, which accepts fewer pages; under a goal of recall the lower one, which
  misses fewer.
- Intervals of 95 %: Wilson's for precision and recall, with the effective number of pages (Kish). A bootstrap would
  call a precision certain when all of five accepted pages are relevant. F1, which is not a share, has percentiles of a
  seeded bootstrap over pages.
- Rates on the pages that a threshold was chosen by are optimistic. The rates on other pages are estimated by a
  bootstrap: in each of 2,000 resamples of the pages a threshold is chosen again, and the mean by which it does better
  there than on all pages is subtracted (Efron and Tibshirani 1993, chapter 17). 95 % of the thresholds chosen in
  resamples are in the range `low` to `high`. Resamples without a relevant or without an irrelevant page are left out.
- If every accepted page is relevant, or every relevant page accepted, the same holds in all resamples, and next to
  nothing is subtracted. Only the interval of such a perfect rate is informative.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scenthound.errors import InvalidInput, InvalidParameter
from scenthound.model import BoolArray, FloatArray, LongArray

MAX_THRESHOLDS = 200
MIN_LABELS = 5
#: The quantiles of a 95 % interval, and the standard normal quantile of the upper one.
TAILS = ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)
Z = 1.959963984540054
#: More digits than a score has.
MAX_DIGITS = 18
N_RESAMPLES = 2000
#: The seed of the bootstrap: the same labels have the same intervals in every run.
BOOTSTRAP_SEED = 0
#: Resamples that are in memory at once.
CHUNK = 100
#: Sums of weights that are mathematically equal may differ in the last digits.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """The score, label and weight of each page."""

    score: FloatArray
    is_relevant: BoolArray
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, slots=True)
class Measured:
    """A value and its 95 % interval; NaN if no page is accepted."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """The rates at a threshold."""

    threshold: float
    n_accepted: int
    precision: Measured
    recall: Measured
    f1: Measured


class Rates(NamedTuple):
    """Precision, recall and F1; thresholds are the last axis."""

    precision: FloatArray
    recall: FloatArray
    f1: FloatArray


def thresholds_of(score: FloatArray) -> FloatArray:
    """In ascending order; the first one accepts all pages."""
    distinct = np.unique(score).tolist()
    lowest = math.floor(distinct[0] * 100) / 100
    between = (_between(low, high) for low, high in pairwise(distinct))
    thresholds = np.array([min(lowest, distinct[0]), *between])
    if len(thresholds) <= MAX_THRESHOLDS:
        return thresholds
    return thresholds[np.linspace(0, len(thresholds) - 1, MAX_THRESHOLDS).round().astype(np.int64)]


def _between(low: float, high: float) -> float:
    """A short number above `low` and not above `high`, near the middle."""
    middle = low + (high - low) / 2
    return next((short for digits in range(2, MAX_DIGITS) if low < (short := round(middle, digits)) <= high), high)


def _rates(weight: FloatArray, is_relevant: BoolArray, is_accepted: FloatArray) -> Rates:
    """With these weights of the pages: one row of them, or one row for each resample."""
    accepted = weight @ is_accepted
    of_relevant = weight * is_relevant
    found = of_relevant @ is_accepted
    relevant = of_relevant.sum(axis=-1, keepdims=True)
    return Rates(_ratio(found, accepted), _ratio(found, relevant), _ratio(2 * found, accepted + relevant))


def _ratio(part: FloatArray, total: FloatArray) -> FloatArray:
    total = np.broadcast_to(total, part.shape)
    return np.divide(part, total, out=np.full(part.shape, np.nan), where=total > 0)


def wilson(share: float, n_pages: float) -> Measured:
    """A share of pages with its interval (Wilson 1927), which is not empty even if the share is 0 or 1."""
    if n_pages == 0:
        return Measured(math.nan, math.nan, math.nan)
    centre = (share + Z * Z / (2 * n_pages)) / (1 + Z * Z / n_pages)
    reach = Z / (1 + Z * Z / n_pages) * math.sqrt(share * (1 - share) / n_pages + Z * Z / (4 * n_pages * n_pages))
    return Measured(share, max(0.0, centre - reach), min(1.0, centre + reach))


def effective_size(weight: FloatArray) -> float:
    """The number of pages of equal weight that are as informative (Kish 1965)."""
    return float(weight.sum() ** 2 / (weight @ weight)) if len(weight) else 0.0


@dataclass(frozen=True, slots=True)
class Goal:
    """The best F1, unless a minimum precision or a minimum recall is given."""

    least_precision: float | None = None
    least_recall: float | None = None

    def __post_init__(self) -> None:
        if self.least_precision is not None and self.least_recall is not None:
            raise InvalidParameter("--precision and --recall are two goals; choose one of them.")
        for name, value in (("precision", self.least_precision), ("recall", self.least_recall)):
            if value is not None and not 0 < value <= 1:
                raise InvalidParameter(f"{name} is {value:g}; it must be more than 0 and at most 1.")

    def __str__(self) -> str:
        if self.least_precision is not None:
            return f"the highest recall with a precision of at least {self.least_precision:g}"
        if self.least_recall is not None:
            return f"the highest precision with a recall of at least {self.least_recall:g}"
        return "the best F1"

    def choices(self, rates: Rates) -> LongArray:
        """The index of the best threshold, for each row of rates; the one with the highest precision if none reaches
        the goal."""
        if self.least_recall is not None:
            return _first_best(np.where(rates.recall >= self.least_recall - ROUNDING, rates.precision, -1.0))
        if self.least_precision is None:
            return _last_best(rates.f1)
        is_enough = np.nan_to_num(rates.precision, nan=-1.0) >= self.least_precision - ROUNDING
        return _last_best(np.where(is_enough, 2.0 + rates.recall, rates.precision))


def _first_best(values: FloatArray) -> LongArray:
    known = np.nan_to_num(values, nan=-1.0)
    return (known >= known.max(axis=-1, keepdims=True) - ROUNDING).argmax(axis=-1)


def _last_best(values: FloatArray) -> LongArray:
    return values.shape[-1] - 1 - _first_best(values[..., ::-1])


@dataclass(frozen=True, slots=True)
class Expected:
    """The rates expected on other pages of the kind that was labelled."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Choice:
    """All thresholds and the index of the chosen one; with other labels it would be between `low` and `high`."""

    goal: Goal
    rows: tuple[ThresholdRow, ...]
    index: int
    low: float
    high: float
    expected: Expected

    @property
    def row(self) -> ThresholdRow:
        return self.rows[self.index]

    @property
    def perfect_rates(self) -> tuple[str, ...]:
        """The rates without an error on the labelled pages, for which `expected` is too high."""
        rates = {"precision": self.row.precision, "recall": self.row.recall}
        return tuple(name for name, rate in rates.items() if rate.value >= 1 - ROUNDING)


def choose_threshold(labelled: LabelledScores, goal: Goal) -> Choice:
    """The threshold for a goal; InvalidInput if no threshold separates the labels, InvalidParameter if none reaches
    the goal."""
    _check(labelled)
    thresholds = thresholds_of(labelled.score)
    # By page and threshold; as numbers, whose products are fast.
    is_accepted = (labelled.score[:, None] >= thresholds[None, :]).astype(np.float64)
    rates = _rates(labelled.weight, labelled.is_relevant, is_accepted)
    _check_goal(goal, rates, thresholds)
    resampled = _resampled_rates(labelled, is_accepted)
    index, resampled_index = int(goal.choices(rates)), goal.choices(resampled)
    low, high = np.quantile(thresholds[resampled_index], TAILS, method="nearest")

    def corrected(on_all: FloatArray, on_resamples: FloatArray) -> float:
        optimism = on_resamples[np.arange(len(resampled_index)), resampled_index] - on_all[resampled_index]
        return min(1.0, max(0.0, float(on_all[index] - np.nanmean(optimism))))

    return Choice(
        goal,
        tuple(_rows(labelled, thresholds, is_accepted, rates, resampled.f1)),
        index,
        float(low),
        float(high),
        Expected(*map(corrected, rates, resampled)),
    )


def _check(labelled: LabelledScores) -> None:
    n_relevant = int(labelled.is_relevant.sum())
    if len(labelled) < MIN_LABELS:
        raise InvalidInput(f"There are {len(labelled)} labelled pages; label at least {MIN_LABELS}, better 20 to 50.")
    if n_relevant in (0, len(labelled)):
        label = "relevant" if n_relevant else "irrelevant"
        raise InvalidInput(f"All {len(labelled)} labelled pages are {label}; label some that are not.")
    if np.ptp(labelled.score) == 0:
        raise InvalidInput(
            f"All labelled pages have the same score, {labelled.score[0]:.4g}, so that no threshold separates them; "
            "use another relevance model, or a topic with other words."
        )


def _check_goal(goal: Goal, rates: Rates, thresholds: FloatArray) -> None:
    best = int(np.nanargmax(rates.precision))
    highest = float(rates.precision[best])
    if goal.least_precision is not None and highest < goal.least_precision - ROUNDING:
        raise InvalidParameter(
            f"No threshold has a precision of {goal.least_precision:g} on these labels: the highest is {highest:.3f} "
            f"at {float(thresholds[best])}; give a lower --precision, or label more pages."
        )


def _resampled_rates(labelled: LabelledScores, is_accepted: FloatArray) -> Rates:
    """One row for each resample that has relevant and irrelevant pages."""
    rng, n_pages, chunks = np.random.default_rng(BOOTSTRAP_SEED), len(labelled), []
    for _ in range(N_RESAMPLES // CHUNK):
        times_drawn = rng.multinomial(n_pages, np.full(n_pages, 1 / n_pages), size=CHUNK)
        n_relevant = times_drawn @ labelled.is_relevant
        times_drawn = times_drawn[(n_relevant > 0) & (n_relevant < n_pages)]
        chunks.append(_rates(times_drawn * labelled.weight, labelled.is_relevant, is_accepted))
    return Rates(*map(np.concatenate, zip(*chunks, strict=True)))


def _rows(
    labelled: LabelledScores, thresholds: FloatArray, is_accepted: FloatArray, rates: Rates, resampled_f1: FloatArray
) -> list[ThresholdRow]:
    n_relevant = effective_size(labelled.weight[labelled.is_relevant])
    low, high = np.quantile(resampled_f1, TAILS, axis=0)
    return [
        ThresholdRow(
            threshold=threshold,
            n_accepted=int(is_accepted[:, at].sum()),
            precision=wilson(float(rates.precision[at]), effective_size(labelled.weight[is_accepted[:, at] > 0])),
            recall=wilson(float(rates.recall[at]), n_relevant),
            f1=Measured(float(rates.f1[at]), float(low[at]), float(high[at])),
        )
        for at, threshold in enumerate(thresholds.tolist())
    ]
