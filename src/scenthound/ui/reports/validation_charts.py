"""Charts of a validation, after figures 3 to 10 of johnson2003: bars with standard errors, and histograms of distances.

Figures 3 and 4 of the paper are `fitness`, 5 and 7 `community_cohesiveness`, 6 and 8 `overall_cohesiveness`, 9 and 10
`distances`. Whiskers are one standard error to either side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.experiments.results import Renderer
from scenthound.experiments.statistics import describe_spread
from scenthound.experiments.validate.crawls import SEED_SETS, Measurements
from scenthound.experiments.validate.settings import SeedSet
from scenthound.experiments.validate.validation import Validation
from scenthound.model import FloatArray
from scenthound.ui.document import Chart, Figure, Series
from scenthound.ui.figures import figure_files, require_figures
from scenthound.ui.formats import counted

#: Measures shown as bars: title, and label of the y axis.
BARS = {
    "fitness": ("Fitness", "fitness: good pages / pages"),
    "community_cohesiveness": ("Community cohesiveness", "links into the community per page of it"),
    "overall_cohesiveness": ("Overall cohesiveness", "links into the community per page visited"),
}
DISTANCES = "distances"
#: By measure.
TITLES = {measure: title for measure, (title, _) in BARS.items()} | {DISTANCES: "Distances from the seeds"}
#: Histograms of distances end where less than this share of the pages of every strategy is farther away; the last bin
#: includes those.
FAR_SHARE = 0.005


@dataclass(frozen=True, slots=True)
class ValidationCharts:
    """The charts of one group of topics, given by their indices. `names` are those of all strategies, `group` is part
    of the ids of charts. Bars are grouped by the length of crawls, or `by_strategy`, as in the paper."""

    measured: Measurements
    names: Sequence[str]
    budgets: Sequence[int]
    topics: Sequence[int]
    group: str
    by_strategy: bool = False

    def of(self, measure: str, title: str) -> tuple[Chart, ...]:
        """The charts of a measure: bars for each seed set, or histograms for all pages and for good pages."""
        if measure == DISTANCES:
            return tuple(self._histograms(title))
        return tuple(self._bars(measure, seed_set, f"{title}, {seed_set} seed set") for seed_set in SEED_SETS)

    def _bars(self, measure: str, seed_set: SeedSet, title: str) -> Chart:
        samples = [
            [
                self.measured.sample(measure, strategy, list(self.topics), seed_set, at)
                for at in range(len(self.budgets))
            ]
            for strategy in range(len(self.names))
        ]
        means, errors = (
            np.array([[getattr(sample, field) for sample in row] for row in samples])
            for field in ("mean", "standard_error")
        )
        names, categories = list(self.names), [f"{budget:,}" for budget in self.budgets]
        if self.by_strategy:
            means, errors = means.T, errors.T
            names, categories = [f"{budget} pages" for budget in categories], names
        x = np.arange(len(categories), dtype=np.float64)
        return Chart(
            name=f"{measure}-{seed_set}-{self.group}",
            title=title,
            x_label="strategy" if self.by_strategy else "pages visited",
            y_label=BARS[measure][1],
            series=tuple(Series(name, x, *values) for name, *values in zip(names, means, errors, strict=True)),
            kind="bars",
            categories=tuple(categories),
            note=f"{describe_spread(sample for row in samples for sample in row).capitalize()}.",
        )

    def _histograms(self, title: str) -> Iterator[Chart]:
        """In crawls of the greatest length, from both seed sets."""
        kinds = {"pages": self.measured.distances, "good pages": self.measured.good_distances}
        for kind, counts in kinds.items():
            near, is_cut = without_far_bins(counts[:, list(self.topics)][..., -1, :].mean(axis=(1, 2, 3)))
            last = near.shape[1] - 1
            x = np.arange(last + 1, dtype=np.float64)
            yield Chart(
                name=f"distances-{kind.replace(' ', '-')}-{self.group}",
                title=f"{title}, {kind} among the first {self.budgets[-1]:,}",
                x_label="links from the seeds",
                y_label=f"{kind} per crawl",
                series=tuple(Series(name, x, row) for name, row in zip(self.names, near, strict=True)),
                kind="bars",
                categories=tuple(f"{at} or more" if is_cut and at == last else str(at) for at in range(last + 1)),
                note="Means over crawls from both seed sets.",
            )


def without_far_bins(counts: FloatArray) -> tuple[FloatArray, bool]:
    """Counts by strategy and distance, with the far bins merged into the last one; and whether any page was there."""
    # Cumulated from the far end, so that the sum of empty bins is exactly 0.
    from_here_on = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    beyond = np.pad(from_here_on[:, 1:], ((0, 0), (0, 1)))
    is_little = (beyond == 0) | (beyond < FAR_SHARE * from_here_on[:, :1])
    last = int(is_little.all(axis=0).argmax())
    near = counts[:, : last + 1].copy()
    near[:, last] += beyond[:, last]
    return near, bool((beyond[:, last] > 0).any())


def validation_figures(validation: Validation) -> Iterator[Figure]:
    """A figure for each measure, with a row of panels for each group of topics."""
    settings = validation.settings
    names = [f"{label}: {spec}" for label, spec in zip(settings.labels, settings.all_strategies, strict=True)]
    charts = {
        f"{counted(len(topics), 'topic')} {group}": ValidationCharts(
            validation.measurements, names, settings.budgets, topics, group
        )
        for group, topics in settings.groups().items()
    }
    for measure, title in TITLES.items():
        panels = [chart for text, group in charts.items() for chart in group.of(measure, f"{title}, {text}")]
        yield Figure(measure, title, tuple(panels))


RENDERER: Renderer[Validation] = Renderer(
    figures=lambda validation, _progress: figure_files(validation_figures(validation)),
    check=lambda: require_figures("Drawing a validation"),
)
