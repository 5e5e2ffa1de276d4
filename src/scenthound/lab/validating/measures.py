"""What is measured of one crawl of a validation: johnson2003's measures, and the true ones beside them.

Rules
- Fitness is by the guide, as in the study. Precision and recall are by the pages known to belong to the topic; labels
  are for judges, so no crawl is told of them.
- Recall is of what there was to find: known pages that are neither in the large seed set nor taught to the guide.
- Distances are from the seeds that the crawl started from, over the links that crawls are shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scenthound.lab.starts import Start, known_relevant
from scenthound.metrics.base import Judgement
from scenthound.metrics.cohesiveness import cohesiveness_of
from scenthound.metrics.fitness import fitness
from scenthound.metrics.given_facts import GivenFacts
from scenthound.metrics.link_distance import DistanceHistogram, distances_from
from scenthound.metrics.page_graph import PageGraph
from scenthound.metrics.precision import Precision
from scenthound.metrics.target_recall import TargetRecall
from scenthound.model import IntArray, Topic, Trace
from scenthound.store.recorded_web import RecordedWeb

#: The numbers of a crawl, with what they are called in tables and pictures.
MEASURES = {
    "fitness": "fitness (good pages by the guide)",
    "precision": "precision by known pages",
    "recall": "recall of known pages",
    "community_cohesiveness": "community cohesiveness",
    "overall_cohesiveness": "overall cohesiveness",
    "mean_distance": "mean distance from the seeds",
    "maximum_distance": "greatest distance from the seeds",
    "mean_good_distance": "mean distance of good pages",
}


@dataclass(frozen=True, slots=True)
class CrawlMeasures:
    """A crawl after a number of pages. What cannot be measured is not-a-number."""

    fitness: float
    precision: float
    recall: float
    community_cohesiveness: float
    overall_cohesiveness: float
    distances: DistanceHistogram
    good_distances: DistanceHistogram

    @property
    def mean_distance(self) -> float:
        return self.distances.mean

    @property
    def maximum_distance(self) -> float:
        return self.distances.maximum

    @property
    def mean_good_distance(self) -> float:
        return self.good_distances.mean


def judgement_of(web: RecordedWeb, topic: Topic, start: Start) -> Judgement:
    """The pages known to belong to a topic, and those of them that its crawls have to find."""
    relevant = known_relevant(web, topic)
    to_find = np.setdiff1d(relevant, np.array([*start.seeds, *start.training], dtype=np.int32))
    seeds = np.array(sorted(start.seeds), dtype=np.int32)
    return Judgement(relevant, to_find, seeds, pool=np.zeros(0, np.int32), facts=GivenFacts())


class CrawlJudge:
    """Measures the crawls from one set of seeds."""

    def __init__(self, graph: PageGraph, seeds: Iterable[int], judgement: Judgement, threshold: float) -> None:
        self._graph = graph
        self._seeds: IntArray = np.fromiter(seeds, dtype=np.int32)
        self._judgement = judgement
        self._threshold = threshold
        self._distance = distances_from(graph, self._seeds)

    def measures(self, trace: Trace, page_budget: int) -> CrawlMeasures:
        """Of the first `page_budget` pages."""
        pages = trace.pages[:page_budget]
        is_good = trace.relevance[:page_budget] >= self._threshold
        cohesiveness = cohesiveness_of(self._graph, self._seeds, pages, is_good)
        return CrawlMeasures(
            fitness=fitness(trace.relevance, self._threshold, page_budget),
            precision=(Precision() @ page_budget)(trace, self._judgement),
            recall=(TargetRecall() @ page_budget)(trace, self._judgement),
            community_cohesiveness=cohesiveness.community,
            overall_cohesiveness=cohesiveness.overall,
            distances=DistanceHistogram.of(self._distance[pages]),
            good_distances=DistanceHistogram.of(self._distance[pages[is_good]]),
        )
