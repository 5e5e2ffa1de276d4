"""All measures of a validation as arrays, and the samples that are cut from them.

The axes of an array are strategies, topics, seed sets, random seeds, budgets; histograms have distances behind them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenthound.lab.statistics import PairedSample
from scenthound.lab.validating.crawls import MeasuredRound
from scenthound.lab.validating.measures import MEASURES, CrawlMeasures
from scenthound.lab.validating.settings import SeedSet, ValidationSettings
from scenthound.model import FloatArray, IntArray, LongArray

SEED_SETS = tuple(SeedSet)


@dataclass(frozen=True, slots=True)
class Measurements:
    """What was measured of every crawl; the first strategy is the one that the others are held against."""

    values: dict[str, FloatArray]
    distances: LongArray | FloatArray  #: counts, or their means over random seeds
    good_distances: LongArray | FloatArray
    good_share: FloatArray  #: by topic: of all pages in the web, those that the guide calls good

    @classmethod
    def of(cls, settings: ValidationSettings, rounds: Iterable[MeasuredRound]) -> "Measurements":
        """Rounds come in the order of topics and seeds."""
        done = list(rounds)
        n_topics, n_strategies = len(settings.topics), len(settings.all_strategies)
        crawls = np.empty((n_strategies, n_topics, len(SEED_SETS), settings.n_seeds, len(settings.budgets)), object)
        for place, each in enumerate(done):
            crawls[:, place // settings.n_seeds, :, place % settings.n_seeds, :] = _as_array(each, crawls.shape)
        return cls(
            {name: _numbers(crawls, name) for name in MEASURES},
            _histograms(crawls, "distances"),
            _histograms(crawls, "good_distances"),
            np.array([each.good_share for each in done[:: settings.n_seeds]]),
        )

    @property
    def is_dense(self) -> list[bool]:
        """By topic: whether more of the web's pages are good than for the median topic."""
        middle = float(np.median(self.good_share))
        return [share > middle for share in self.good_share.tolist()]

    def sample(
        self, measure: str, strategy: int, topics: Sequence[int], seed_set: SeedSet, budget: int
    ) -> PairedSample:
        """A measure of a strategy's crawls, by topic and seed. Strategies, topics and budgets go by their places."""
        place = SEED_SETS.index(seed_set)
        return PairedSample(self.values[measure][strategy, list(topics), place, :, budget])

    def difference(
        self, measure: str, strategy: int, topics: Sequence[int], budgets: Sequence[int], seed_sets: Sequence[SeedSet]
    ) -> PairedSample:
        """How much more a strategy has than the one it is held against, in the mean over seed sets and budgets."""
        more = self.values[measure][strategy] - self.values[measure][0]
        cut = more[list(topics)][:, [SEED_SETS.index(each) for each in seed_sets]][..., list(budgets)]
        return PairedSample(cut.mean(axis=(1, 3)))


def _as_array(done: MeasuredRound, shape: tuple[int, ...]) -> Any:
    n_strategies, _, n_sets, _, n_budgets = shape
    flat = [crawl for by_set in done.measures for by_budget in by_set for crawl in by_budget]
    array = np.empty(len(flat), object)
    array[:] = flat
    return array.reshape(n_strategies, n_sets, n_budgets)


def _numbers(crawls: Any, name: str) -> FloatArray:
    return np.array([getattr(crawl, name) for crawl in crawls.flat], np.float64).reshape(crawls.shape)


def _histograms(crawls: Any, name: str) -> LongArray:
    counts = [_counts(crawl, name) for crawl in crawls.flat]
    widest = max(map(len, counts))
    padded = np.array([np.pad(each, (0, widest - len(each))) for each in counts], np.int64)
    return padded.reshape(*crawls.shape, widest)


def _counts(crawl: CrawlMeasures, name: str) -> IntArray:
    return np.array(getattr(crawl, name).counts, np.int32)
