"""Which threshold to take, and how sure one can be of it with so few labels.

Rules
- The goal is the best F1; or the highest recall of those with a precision of at least so much; or the highest precision
  of those with a recall of at least so much. Of equals the higher threshold is taken, which accepts fewer pages; under
  a goal of recall the lower one, which misses fewer.
- The pages that a threshold was chosen by flatter it. What it is worth on other pages is estimated by a bootstrap: in
  each of 2,000 resamples of the pages a threshold is chosen anew. By how much it does better there than on all pages
  is, in the mean, taken off (Efron and Tibshirani 1993, chapter 17).
- Where every accepted page is relevant, or every relevant page accepted, no resample has a mistake in it either, and
  next to nothing is taken off. Such a rate is without a mistake, and only its interval says what it is worth.
- The thresholds chosen in resamples tell how much another set of labels could move it: 95 % of them lie in its range.
- Resamples without a relevant or without an irrelevant page tell nothing and are left out.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scenthound.errors import InvalidInput, InvalidParameter
from scenthound.model import BoolArray, FloatArray, LongArray

# Precision, recall and F1 at every threshold that tells labelled pages apart.
#
# Rules
# - A page is accepted if its score is at least the threshold.
# - Thresholds lie midway between neighbouring scores, rounded to as few digits as leave them between the two; the
#   lowest accepts every page. Of more than 200, evenly many are left out.
# - A page counts by its weight. Precision is the share of relevant pages among those accepted, recall that of
#   accepted ones among the relevant, and F1 = 2 * relevant and accepted / (accepted + relevant), their harmonic mean.
# - Intervals of 95 %: Wilson's for precision and recall, with the number of pages that the weights are worth (Kish).
#   A bootstrap would call a precision certain when all of five accepted pages are relevant. F1, which is no share of
#   anything, has percentiles of a seeded bootstrap over pages.

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


LEAST_LABELS = 5
N_RESAMPLES = 2000
#: The generator of the bootstrap: the same labels have the same intervals in every run.
BOOTSTRAP_SEED = 0
#: Resamples that are held at once.
CHUNK = 100
#: Sums of weights that are equal on paper may differ in the last digits.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Goal:
    """The best F1, unless a least precision or a least recall is given."""

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
        """The place of the threshold to take; for each resample, if there are several rows. If none is good enough for
        the goal, that with the highest precision."""
        if self.least_recall is not None:
            return _first_best(np.where(rates.recall >= self.least_recall - ROUNDING, rates.precision, -1.0))
        if self.least_precision is None:
            return _last_best(rates.f1)
        is_enough = np.nan_to_num(rates.precision, nan=-1.0) >= self.least_precision - ROUNDING
        return _last_best(np.where(is_enough, 2.0 + rates.recall, rates.precision))


def _first_best(worth: FloatArray) -> LongArray:
    known = np.nan_to_num(worth, nan=-1.0)
    is_best = known >= known.max(axis=-1, keepdims=True) - ROUNDING
    place: LongArray = is_best.argmax(axis=-1)
    return place


def _last_best(worth: FloatArray) -> LongArray:
    place: LongArray = worth.shape[-1] - 1 - _first_best(worth[..., ::-1])
    return place


@dataclass(frozen=True, slots=True)
class Expected:
    """What the chosen threshold is worth on other pages of the kind that was labelled."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Choice:
    """All thresholds, and the place of the one to take; `low` to `high` is where other labels would have put it."""

    goal: Goal
    rows: tuple[ThresholdRow, ...]
    place: int
    low: float
    high: float
    expected: Expected

    @property
    def row(self) -> ThresholdRow:
        return self.rows[self.place]

    @property
    def without_mistake(self) -> tuple[str, ...]:
        """The rates for which no labelled page speaks against the threshold: what is expected of them is too much."""
        rates = {"precision": self.row.precision, "recall": self.row.recall}
        return tuple(name for name, rate in rates.items() if rate.value >= 1 - ROUNDING)


def choose_threshold(labelled: LabelledScores, goal: Goal) -> Choice:
    """The threshold for a goal; BadInput if the labels cannot tell one, or BadParameter if none reaches the goal."""
    _check(labelled)
    thresholds = thresholds_of(labelled.score)
    is_accepted = accepted_pages(labelled, thresholds)
    rates = rates_of(labelled.weight, labelled.is_relevant, is_accepted)
    place = int(goal.choices(rates))
    _check_goal(goal, rates, thresholds)
    resampled = _resampled_rates(labelled, is_accepted)
    chosen = goal.choices(resampled)
    tail = (1 - COVERAGE) / 2
    low, high = np.quantile(thresholds[chosen], [tail, 1 - tail], method="nearest")
    rows = rows_of(labelled, thresholds, resampled)
    return Choice(goal, rows, place, float(low), float(high), _expected(rates, place, resampled, chosen))


def _check(labelled: LabelledScores) -> None:
    n_relevant = int(labelled.is_relevant.sum())
    if len(labelled) < LEAST_LABELS:
        raise InvalidInput(f"There are {len(labelled)} labelled pages; label at least {LEAST_LABELS}, better 20 to 50.")
    if n_relevant in (0, len(labelled)):
        word = "relevant" if n_relevant else "irrelevant"
        raise InvalidInput(f"All {len(labelled)} labelled pages are {word}; label some that are not.")
    if np.ptp(labelled.score) == 0:
        raise InvalidInput(
            f"All labelled pages have the same score, {labelled.score[0]:.4g}, so that no threshold tells them apart; "
            "take another relevance model, or a topic with other words."
        )


def _check_goal(goal: Goal, rates: Rates, thresholds: FloatArray) -> None:
    best = int(np.nanargmax(rates.precision))
    highest = float(rates.precision[best])
    if goal.least_precision is not None and highest < goal.least_precision - ROUNDING:
        raise InvalidParameter(
            f"No threshold has a precision of {goal.least_precision:g} on these labels: the highest is {highest:.3f} "
            f"at {float(thresholds[best])}; ask for less, or label more pages."
        )


def _resampled_rates(labelled: LabelledScores, is_accepted: FloatArray) -> Rates:
    parts = list(_rates_in_chunks(labelled, is_accepted, np.random.default_rng(BOOTSTRAP_SEED)))
    return Rates(
        np.concatenate([part.precision for part in parts]),
        np.concatenate([part.recall for part in parts]),
        np.concatenate([part.f1 for part in parts]),
    )


def _rates_in_chunks(labelled: LabelledScores, is_accepted: FloatArray, rng: np.random.Generator) -> Iterator[Rates]:
    n_pages = len(labelled)
    for _ in range(N_RESAMPLES // CHUNK):
        times_drawn = rng.multinomial(n_pages, np.full(n_pages, 1 / n_pages), size=CHUNK)
        n_relevant = times_drawn @ labelled.is_relevant
        told = times_drawn[(n_relevant > 0) & (n_relevant < n_pages)]
        yield rates_of(told * labelled.weight, labelled.is_relevant, is_accepted)


def _expected(rates: Rates, place: int, resampled: Rates, chosen: LongArray) -> Expected:
    def corrected(whole: FloatArray, parts: FloatArray) -> float:
        flattery = parts[np.arange(len(chosen)), chosen] - whole[chosen]
        return min(1.0, max(0.0, float(whole[place] - np.nanmean(flattery))))

    return Expected(
        corrected(rates.precision, resampled.precision),
        corrected(rates.recall, resampled.recall),
        corrected(rates.f1, resampled.f1),
    )
