"""How good a crawl is for a search: measures between 0 and 1, and weighted sums of them, that print as they parse.

harvest         good pages / page budget: the fitness of johnson2003 (section 2.1)
new_hosts       hosts with a good page that are not the host of any seed / page budget
distance        d / (d + 1), d the mean link distance of the good pages from the seeds (`metrics/link_distance`)
target_recall   targets of the start that were visited / targets

A page is good if the guide's relevance is at least the threshold; seeds are pages like others. Pages that a crawl did
not get are not good, and they count in every page budget (the one rule of `metrics/base`). The last three reward
exploration. A distance is the shortest way there is and not the way that a crawl went, so that detours do not pay; but
alone it rewards a single good page far away, and should stand beside another: `0.7*harvest + 0.3*distance`. Targets are
held out: no guide learnt from them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from scenthound.drivers.simulated_crawl import Crawl
from scenthound.errors import BadParameter, printable
from scenthound.metrics.fitness import fitness as share_of_good
from scenthound.model import IntArray
from scenthound.strategies.parts.weighted_sum import SumReader

#: The fitness of the study.
DEFAULT_FITNESS = "harvest"
#: A weight that is larger is a slip of the finger.
MOST_WEIGHT = 1_000_000


@dataclass(frozen=True, slots=True)
class Aim:
    """What the crawls from one start are measured by. Arrays are by page of the recorded web."""

    page_budget: int
    threshold: float
    host: IntArray
    seeds: tuple[int, ...]
    targets: tuple[int, ...]
    distance: IntArray  #: from the seeds; empty unless it is asked for

    def good_pages(self, crawl: Crawl) -> IntArray:
        return crawl.pages[crawl.relevance >= self.threshold]


def _harvest(crawl: Crawl, aim: Aim) -> float:
    return share_of_good(crawl.relevance, aim.threshold, aim.page_budget)


def _new_hosts(crawl: Crawl, aim: Aim) -> float:
    hosts = np.unique(aim.host[aim.good_pages(crawl)])
    n_new = int(np.count_nonzero(~np.isin(hosts, aim.host[list(aim.seeds)])))
    return n_new / aim.page_budget


def _distance(crawl: Crawl, aim: Aim) -> float:
    good = aim.good_pages(crawl)
    total = int(aim.distance[good].sum())
    # With d = total / n this is d / (d + 1), and 0 without a good page.
    return total / max(total + len(good), 1)


def _target_recall(crawl: Crawl, aim: Aim) -> float:
    return int(np.count_nonzero(np.isin(crawl.pages, aim.targets))) / len(aim.targets)


MEASURES: Mapping[str, Callable[[Crawl, Aim], float]] = {
    "harvest": _harvest,
    "new_hosts": _new_hosts,
    "distance": _distance,
    "target_recall": _target_recall,
}
_SUM = SumReader("fitness", "measure", tuple(MEASURES), "0.7*harvest + 0.3*target_recall")


@dataclass(frozen=True, slots=True)
class Fitness:
    """A weighted sum of measures: `0.7*harvest + 0.3*target_recall`. A weight of 1 is not written."""

    terms: tuple[tuple[float, str], ...]

    def __call__(self, crawl: Crawl, aim: Aim) -> float:
        total = 0.0
        for weight, measure in self.terms:
            total += weight * MEASURES[measure](crawl, aim)
        return total

    def __str__(self) -> str:
        return " + ".join(measure if weight == 1 else f"{weight!r}*{measure}" for weight, measure in self.terms)

    def measures(self, measure: str) -> bool:
        return any(measure == named for _, named in self.terms)


def parse_fitness(text: str) -> Fitness:
    """Read `measure`, `weight*measure`, or several of them with + between."""
    weights = _SUM.weights_of(text)
    for measure, weight in weights.items():
        if not 0 < weight <= MOST_WEIGHT:
            raise BadParameter(
                f"Fitness {printable(text, 80)!r}: the weight {weight:g} of {measure} has to be more than 0 and at "
                f"most {MOST_WEIGHT:,}."
            )
    return Fitness(tuple((weight, measure) for measure, weight in weights.items()))
