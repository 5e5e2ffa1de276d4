"""Searches by name: `johnson2003`, `chc:population=100`, `cma:population=20,generations=50`."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from scenthound.errors import MissingExtra
from scenthound.experiments.search.base import Beginning, Genes, Method, Population, Scored, Search, best_first, scaled
from scenthound.experiments.search.genetic import Chc, Johnson2003
from scenthound.model import FloatArray
from scenthound.registry import Bounds, ListedRegistry

# CMA-ES on the weights, by the library `cmaes`: each between 0 and 1, all drawn from one normal distribution.
#
# The distribution begins in the middle of the range. With winners of earlier searches it begins at the first of them,
# its largest weight being 1, and they take the first places of the first generation. A draw out of range is made
# again, up to a hundred times, then moved to the edge. The search ends after its generations, or when the library
# finds that the distribution does not move any more.

#: How near to the edge of the range the distribution may begin: around a point on an edge half of all draws are out.
MARGIN = 0.1


@dataclass(frozen=True, slots=True)
class Cma(Method):
    """`sigma` is the standard deviation of each weight in the first generation."""

    name: ClassVar[str] = "cma"
    summary: ClassVar[str] = "CMA-ES: weights from a normal distribution that learns where the good ones are"
    least_population: ClassVar[int] = 4
    why_least: ClassVar[str] = "the distribution learns from the better half of it, which must be two or more"

    population: Population = 20
    sigma: Annotated[float, Bounds(0, 1, above=True)] = 0.3

    @property
    def most_evaluations(self) -> int:
        return self.population * self.generations

    def begin(self, beginning: Beginning) -> "CmaSearch":
        return CmaSearch(self, beginning)


class CmaSearch(Search):
    """One search by CMA-ES. The first population is its first generation."""

    method: Cma

    def _first(self) -> list[Genes]:
        winners = self._winners()
        self._optimizer = self._new_optimizer(winners[0] if winners else None)
        return [*winners, *self._drawn(self.method.population - len(winners))]

    def _winners(self) -> list[Genes]:
        known = self.beginning.winners[: self.method.population]
        return [scaled(winner, self.beginning.n_rules, 1) for winner in known]

    def _new_optimizer(self, centre: Genes | None) -> Any:
        try:
            from cmaes import CMA
        except ImportError:
            raise MissingExtra.named("lab", "The search cma") from None
        n_weights = self.beginning.n_weights
        mean: FloatArray = np.full(n_weights, 0.5) if centre is None else np.clip(centre, MARGIN, 1 - MARGIN)
        return CMA(
            mean=mean,
            sigma=self.method.sigma,
            bounds=np.tile([0.0, 1.0], (n_weights, 1)),
            seed=self.beginning.rng().getrandbits(32),
            population_size=self.method.population,
        )

    def _drawn(self, n: int) -> list[Genes]:
        return [tuple(map(float, self._optimizer.ask())) for _ in range(n)]

    def _next(self, told: list[Scored]) -> list[Genes]:
        self.generation += 1
        self._population = best_first(told)
        # The library minimises.
        self._optimizer.tell([(np.array(each.genes, np.float64), -each.fitness) for each in told])
        over = self.generation == self.method.generations or self._optimizer.should_stop()
        return [] if over else self._drawn(self.method.population)


METHODS: ListedRegistry[Method] = ListedRegistry("search", (Johnson2003, Chc, Cma))


def parse_search(text: str) -> Method:
    """The method that `name:parameter=value,...` names; what is not given has its default."""
    return METHODS.make(text)
