"""The genetic search of johnson2003 (section 3): a wheel for parents, one cut, rare mutations, and the fittest stay.

1. The first population is random bits, seven for each weight.
2. Parents are drawn by roulette wheel, a pair at a time; an individual may be drawn twice for one pair.
3. With the probability `crossover` the pair is cut at one place, which may be any from before the first bit to behind
   the last, each as likely as the others, and both children are kept; otherwise the children are copies. As many
   children are made as there are parents: of an odd number, the last pair gives only its first child.
4. With the probability `mutation` a child has one of its bits flipped.
5. Parents and children together, sorted by fitness, are cut to the size of the population. Parents stand before
   children and earlier children before later ones, so of equal fitness the earlier individuals stay.

Parents keep their fitness: the study's search takes 50 + 50 x 50 = 2,550 evaluations.
"""

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from scenthound.errors import BrokenContract
from scenthound.evolve.base import Method, Probability, Search
from scenthound.evolve.beginning import Beginning
from scenthound.evolve.genome import Genes, bits_of, genes_of
from scenthound.evolve.operators import Wheel, flipped, one_point
from scenthound.evolve.scored import Scored, best_first


@dataclass(frozen=True, slots=True)
class Johnson2003(Method):
    """The parameters of the study are the defaults."""

    name: ClassVar[str] = "johnson2003"
    summary: ClassVar[str] = "the study's search: roulette wheel, one-point crossover, parents compete with children"

    crossover: Probability = 0.9
    mutation: Probability = 0.01

    @property
    def most_evaluations(self) -> int:
        return self.population * (self.generations + 1)

    def begin(self, beginning: Beginning) -> "GeneticSearch":
        return GeneticSearch(self, beginning)


class GeneticSearch(Search):
    """One search of the study's kind."""

    method: Johnson2003

    def _first(self) -> list[Genes]:
        self._rng = self.beginning.rng()
        return list(self.beginning.first_population(self.method.population, self._rng))

    def _check_told(self, fitnesses: list[float]) -> None:
        super()._check_told(fitnesses)
        if min(fitnesses) < 0:
            raise BrokenContract(
                f"{self.method}: a fitness of {min(fitnesses)} has no share of the wheel; tell 0 or more."
            )

    def _next(self, told: list[Scored]) -> list[Genes]:
        self.generation += bool(self._population)
        self._population = best_first([*self._population, *told])[: self.method.population]
        return self._children() if self.generation < self.method.generations else []

    def _children(self) -> list[Genes]:
        wheel = Wheel([each.fitness for each in self._population])
        parents = [bits_of(each.genes) for each in self._population]
        n_pairs = (self.method.population + 1) // 2
        pairs = (self._crossed(parents[wheel.spin(self._rng)], parents[wheel.spin(self._rng)]) for _ in range(n_pairs))
        children = list(chain.from_iterable(pairs))[: self.method.population]
        return [genes_of(self._mutated(child), self.beginning.n_weights) for child in children]

    def _crossed(self, first: int, second: int) -> tuple[int, int]:
        n_bits = self.beginning.n_bits
        if self._rng.random() >= self.method.crossover:
            return first, second
        return one_point(first, second, self._rng.randint(0, n_bits), n_bits)

    def _mutated(self, child: int) -> int:
        n_bits = self.beginning.n_bits
        if self._rng.random() >= self.method.mutation:
            return child
        return flipped(child, [self._rng.randrange(n_bits)], n_bits)
