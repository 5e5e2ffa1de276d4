"""The charts of a validation's page: a measure after each number of pages, and how far from the seeds pages were.

The study of 2003 shows the same as bars and histograms (figures 3 to 10). Whiskers are one standard error to either
side; what it is over, the note of a chart says.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from scenthound.lab.statistics import spread_told
from scenthound.lab.validating.measurements import SEED_SETS, Measurements
from scenthound.lab.validating.measures import MEASURES
from scenthound.lab.validating.settings import SeedSet
from scenthound.model import FloatArray
from scenthound.report.page.values import Chart, Series, WinLoss
from scenthound.report.validations.figures import without_far_bins

#: What bars show, and what their axes say.
BARS = {
    "fitness": "fitness: good pages / pages",
    "community_cohesiveness": "links into the community per page of it",
    "overall_cohesiveness": "links into the community per page visited",
}


class ValidationCharts:
    """The charts of one group of topics, which go by their places. `labels` are short names of all strategies."""

    def __init__(
        self, measured: Measurements, labels: Sequence[str], budgets: Sequence[int], topics: Sequence[int], name: str
    ) -> None:
        self._measured = measured
        self._labels = labels
        self._budgets = budgets
        self._topics = list(topics)
        self._name = name

    def bars(self, measure: str, title: str) -> Iterator[Chart]:
        """One for each seed set: a group of bars for each length of crawl."""
        for seed_set in SEED_SETS:
            yield self._bars(measure, seed_set, f"{title}, {seed_set} seed set")

    def _bars(self, measure: str, seed_set: SeedSet, title: str) -> Chart:
        places, lengths = np.arange(len(self._budgets), dtype=np.float64), range(len(self._budgets))
        series, drawn = [], []
        for strategy, label in enumerate(self._labels):
            samples = [self._measured.sample(measure, strategy, self._topics, seed_set, at) for at in lengths]
            means, errors = [each.mean for each in samples], [each.standard_error for each in samples]
            series.append(Series(label, places, np.array(means), np.array(errors)))
            drawn += samples
        return Chart(
            name=f"{measure}-{seed_set}-{self._name}",
            title=title,
            x_label="pages visited",
            y_label=BARS[measure],
            series=tuple(series),
            kind="bars",
            places=tuple(f"{budget:,}" for budget in self._budgets),
            note=f"{spread_told(drawn).capitalize()}.",
        )

    def distances(self, title: str) -> Iterator[Chart]:
        """Of all pages, and of the good ones, in crawls of the greatest length; both seed sets together."""
        kinds = {"pages": self._measured.distances, "good pages": self._measured.good_distances}
        for kind, counts in kinds.items():
            of_crawls = counts[:, self._topics][..., -1, :].mean(axis=(1, 2, 3))
            yield self._distances(kind, of_crawls, f"{title}, {kind} among the first {self._budgets[-1]:,}")

    def _distances(self, kind: str, counts: FloatArray, title: str) -> Chart:
        near, is_cut = without_far_bins(counts)
        last = near.shape[1] - 1
        places = [f"{at} or more" if is_cut and at == last else str(at) for at in range(last + 1)]
        x = np.arange(last + 1, dtype=np.float64)
        return Chart(
            name=f"distances-{kind.replace(' ', '-')}-{self._name}",
            title=title,
            x_label="links from the seeds",
            y_label=f"{kind} per crawl",
            series=tuple(Series(label, x, row) for label, row in zip(self._labels, near, strict=True)),
            kind="bars",
            places=tuple(places),
            note="Means over crawls from both seed sets.",
        )

    def win_loss(self, topics: Sequence[str]) -> WinLoss:
        """Fitness at the end, topic by topic, in the mean over seeds and seed sets; `topics` are the names of all."""
        values = self._measured.values["fitness"][:, self._topics][..., -1].mean(axis=(2, 3))
        return WinLoss(
            name=f"won-{self._name}",
            caption=f"Strategies beside {self._labels[0]}",
            against=self._labels[0],
            rows=tuple(self._labels[1:]),
            topics=tuple(topics[place] for place in self._topics),
            differences=values[1:] - values[0],
            note=f"{MEASURES['fitness'].capitalize()} after {self._budgets[-1]:,} pages, in the mean over random seeds "
            "and both seed sets; more than 0 is better.",
        )
