"""CHC (Eshelman 1991): elitist survival, crossover as disruptive as can be, no incest, and cataclysms.

1. The whole population mates in random pairs, without selection. The parents of a pair exchange half of the bits in
   which they differ (HUX), and both children are kept; nothing else mutates.
2. No incest: a pair has children only if half the number of bits in which it differs is more than a threshold, which
   begins at a quarter of all bits and may be a fraction.
3. Parents and children together are cut to the fittest; of equal fitness parents stay.
4. When no child got in, or none was made, the threshold falls by 1.
5. When it falls below 0, the population has converged: all but its best individual are replaced by copies of that one
   with `divergence` of their bits flipped, and the threshold is set to divergence x (1 - divergence) of all bits.

A generation is one round of matings, also one without children, which asks for nothing, or one cataclysm. The search
ends at a number of generations or of evaluations, whichever comes first. Until the copies of a cataclysm are evaluated,
the best individual is the whole population.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from scenthound.errors import BadParameter
from scenthound.evolve.base import Generations, Method, Search
from scenthound.evolve.beginning import Beginning
from scenthound.evolve.genome import Genes, bits_of, genes_of
from scenthound.evolve.operators import distance, flipped, half_uniform
from scenthound.evolve.scored import Scored, best_first
from scenthound.registry import Bounds


@dataclass(frozen=True, slots=True)
class Chc(Method):
    """Population and divergence are Eshelman's; by default it ends after the evaluations of the search of johnson2003,
    which take it many more generations, because not every pair has children. `evaluations=none` lifts that limit."""

    name: ClassVar[str] = "chc"
    summary: ClassVar[str] = (
        "CHC: half-uniform crossover, no incest, restarts from the best when nothing moves any more"
    )

    generations: Generations = 1000
    evaluations: Annotated[int | None, Bounds(1)] = 2550
    divergence: Annotated[float, Bounds(0, 1, above=True, below=True)] = 0.35

    def __post_init__(self) -> None:
        Method.__post_init__(self)
        if self.population % 2:
            raise BadParameter(
                f"chc: population={self.population} leaves one individual without a mate, because everybody mates "
                "once in a generation; give an even number."
            )
        if self.evaluations is not None and self.evaluations < self.population:
            raise BadParameter(
                f"chc: evaluations={self.evaluations} do not suffice for the first population of {self.population}; "
                "give more of them or a smaller population."
            )

    @property
    def most_evaluations(self) -> int:
        all_children = self.population * (self.generations + 1)
        return all_children if self.evaluations is None else min(self.evaluations, all_children)

    def begin(self, beginning: Beginning) -> "ChcSearch":
        return ChcSearch(self, beginning)


class ChcSearch(Search):
    """One search by CHC."""

    method: Chc

    def _first(self) -> list[Genes]:
        self._rng = self.beginning.rng()
        self._threshold = self.beginning.n_bits / 4
        return list(self.beginning.first_population(self.method.population, self._rng))

    def _next(self, told: list[Scored]) -> list[Genes]:
        self.generation += bool(self._population)
        survivors = best_first([*self._population, *told])[: self.method.population]
        if survivors == self._population:
            self._threshold -= 1
        self._population = survivors
        return self._wanted()[: self.method.most_evaluations - self.n_evaluated]

    def _wanted(self) -> list[Genes]:
        """The children of the next generation that has any."""
        while self.generation < self.method.generations and self.n_evaluated < self.method.most_evaluations:
            wanted = self._cataclysm() if self._threshold < 0 else self._children()
            if wanted:
                return [genes_of(bits, self.beginning.n_weights) for bits in wanted]
            self.generation += 1
            self._threshold -= 1
        return []

    def _children(self) -> list[int]:
        mates = [bits_of(each.genes) for each in self._population]
        self._rng.shuffle(mates)
        children: list[int] = []
        for first, second in zip(mates[::2], mates[1::2], strict=True):
            if distance(first, second) / 2 > self._threshold:
                children += half_uniform(first, second, self.beginning.n_bits, self._rng)
        return children

    def _cataclysm(self) -> list[int]:
        n_bits, rate = self.beginning.n_bits, self.method.divergence
        self._threshold = rate * (1 - rate) * n_bits
        self._population = self._population[:1]
        template, n_flips = bits_of(self._population[0].genes), max(1, round(rate * n_bits))
        copies = range(self.method.population - 1)
        return [flipped(template, self._rng.sample(range(n_bits), n_flips), n_bits) for _ in copies]
