"""The measurements of a study: one array by strategy, topic and step for each measure of an arm.

Crawls of one topic from several random seeds are averaged first; topics are the observations. A measure that is
undefined for a topic is NaN.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scenthound.errors import UnknownName
from scenthound.experiments.closed_world import MissedCounts
from scenthound.experiments.ground_truth import curve_steps
from scenthound.experiments.statistics import MeanCurve, aligned_differences, mean_over_topics
from scenthound.experiments.study.settings import ArmSettings
from scenthound.experiments.topic_analysis import TopicFeatures
from scenthound.model import FloatArray, IntArray

#: The shares of the page budget after which findings compare crawls.
CLAIMED_SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)
#: The shares of the relevant pages, in per cent, that search lengths are of.
FOUND_PERCENT = (25, 50, 75)
#: The rows of the bounds, in this order.
BOUNDS = ("random", "oracle")


def step_after(share: float, page_budget: int, n_start: int) -> int:
    """The number of pages after a share of the budget; at least twice as many as crawls start from, for until then all
    crawlers are alike."""
    return min(page_budget, max(round(page_budget * share), 2 * n_start))


def arm_steps(settings: ArmSettings, page_budget: int) -> IntArray:
    """Where the curves of an arm are kept: evenly, and at the shares that claims are about."""
    return curve_steps(page_budget, [step_after(share, page_budget, settings.start) for share in CLAIMED_SHARES])


@dataclass(frozen=True, slots=True)
class Measured:
    """`values[strategy, topic, step]`; `x` are the steps: numbers of visited pages, or sizes n of a top n."""

    x: IntArray
    values: FloatArray
    lower_is_better: bool = False

    def at(self, x: int) -> FloatArray:
        """By strategy and topic, at the last step that is not after x."""
        place = max(0, int(np.searchsorted(self.x, x, side="right")) - 1)
        values: FloatArray = self.values[:, :, place]
        return values

    def curve(self, strategy: int) -> MeanCurve:
        """The mean over topics with its standard error."""
        return mean_over_topics(self.x, {str(topic): [curve] for topic, curve in enumerate(self.values[strategy])})


@dataclass(frozen=True, slots=True)
class ArmMeasurements:
    """One experiment of a study, measured. `bounds` has the measures of crawlers that know nothing and everything."""

    settings: ArmSettings
    page_budget: int
    n_hosts: int  #: of recorded pages
    topics: tuple[str, ...]
    measured: Mapping[str, Measured]
    bounds: Mapping[str, Measured]
    missed: tuple[MissedCounts, ...]  #: by topic, start and label of the strategy
    features: tuple[TopicFeatures, ...]  #: by topic
    #: Pages until a share of the relevant ones was found, or infinity: by strategy, topic and share.
    search_lengths: FloatArray | None = None
    agreement: Mapping[str, FloatArray] = field(default_factory=dict)  #: of classifiers, by topic

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the crawlers in the study."""
        return tuple(self.settings.strategies)

    def place(self, label: str) -> int:
        try:
            return self.labels.index(label)
        except ValueError:
            raise UnknownName.among("crawler", label, list(self.labels)) from None

    def of(self, measure: str) -> Measured:
        try:
            return self.measured[measure]
        except KeyError:
            raise UnknownName.among("measure", measure, list(self.measured)) from None

    @property
    def n_ended_early(self) -> int:
        """Crawls that ended before their page budget was spent."""
        return sum(crawl.n_pages < self.page_budget for crawl in self.missed)

    def step(self, share: float) -> int:
        """The number of pages after a share of the budget."""
        return step_after(share, self.page_budget, self.settings.start)

    def better(self, measure: str, one: str, other: str, x: int | None = None) -> FloatArray:
        """By topic, how much better one crawler is than another: after x pages, or at the end."""
        measured = self.of(measure)
        values = measured.at(int(measured.x[-1]) if x is None else x)
        ours, theirs = values[self.place(one)], values[self.place(other)]
        return aligned_differences(theirs, ours) if measured.lower_is_better else aligned_differences(ours, theirs)


def arm_named(arms: Sequence[ArmMeasurements], name: str) -> ArmMeasurements:
    """The arm of this name."""
    found = {arm.settings.name: arm for arm in arms}
    if name not in found:
        raise UnknownName.among("arm", name, found)
    return found[name]
