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

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from random import Random
from typing import Annotated, ClassVar

from scenthound.errors import InvalidParameter, PluginError
from scenthound.experiments.search.base import (
    Beginning,
    Generations,
    Genes,
    Method,
    Probability,
    Scored,
    Search,
    best_first,
    bits_of,
    genes_of,
)
from scenthound.registry import Bounds

# What is done to individuals as bits: the wheel, crossovers, mutation, distance.
#
# An individual is a whole number of `n_bits` bits, as `genome.bits_of` makes it. Bits are counted from the left:
# number 0 is the first one, that of the highest value.


class Wheel:
    """Roulette wheel: each individual's chance is its share of the sum of all fitnesses, none of which is negative.
    Where all are 0, every individual has the same chance."""

    def __init__(self, fitnesses: Sequence[float]) -> None:
        self._running = list(accumulate(fitnesses))  # plain sums, left to right
        # Behind this place nobody has a share. Rounding could otherwise make a draw end there.
        self._last = bisect_left(self._running, self._running[-1])

    def spin(self, rng: Random) -> int:
        """The place of the individual that was drawn."""
        total = self._running[-1]
        if not total:
            return rng.randrange(len(self._running))
        return bisect_right(self._running, rng.random() * total, 0, self._last)


def one_point(first: int, second: int, cut: int, n_bits: int) -> tuple[int, int]:
    """Both children: the first `cut` bits of each parent with the remaining ones of the other."""
    exchanged = (first ^ second) & ((1 << n_bits - cut) - 1)
    return first ^ exchanged, second ^ exchanged


def flipped(bits: int, places: Sequence[int], n_bits: int) -> int:
    """The individual with the bits at some places, all different, turned over."""
    for place in places:
        bits ^= 1 << n_bits - 1 - place
    return bits


def half_uniform(first: int, second: int, n_bits: int, rng: Random) -> tuple[int, int]:
    """HUX: the parents exchange half of the bits in which they differ, drawn at random; of an odd number of them, the
    smaller half."""
    differing = _places(first ^ second, n_bits)
    exchanged = rng.sample(differing, len(differing) // 2)
    return flipped(first, exchanged, n_bits), flipped(second, exchanged, n_bits)


def _places(bits: int, n_bits: int) -> list[int]:
    return [place for place in range(n_bits) if bits >> n_bits - 1 - place & 1]


def distance(first: int, second: int) -> int:
    """The Hamming distance: in how many bits two individuals differ."""
    return (first ^ second).bit_count()


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
            raise PluginError(
                f"{self.method}: a fitness of {min(fitnesses)} cannot be used for roulette selection; give 0 or more."
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


# CHC (Eshelman 1991): elitist survival, crossover as disruptive as can be, no incest, and cataclysms.
#
# 1. The whole population mates in random pairs, without selection. The parents of a pair exchange half of the bits in
# which they differ (HUX), and both children are kept; nothing else mutates. 2. No incest: a pair has children only if
# half the number of bits in which it differs is more than a threshold, which begins at a quarter of all bits and may
# be a fraction. 3. Parents and children together are cut to the fittest; of equal fitness parents stay. 4. When no
# child got in, or none was made, the threshold falls by 1. 5. When it falls below 0, the population has converged:
# all but its best individual are replaced by copies of that one with `divergence` of their bits flipped, and the
# threshold is set to divergence x (1 - divergence) of all bits.
#
# A generation is one round of matings, also one without children, which asks for nothing, or one cataclysm. The
# search ends at a number of generations or of evaluations, whichever comes first. Until the copies of a cataclysm are
# evaluated, the best individual is the whole population.


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
            raise InvalidParameter(
                f"chc: population={self.population} leaves one individual without a mate, because everybody mates "
                "once in a generation; give an even number."
            )
        if self.evaluations is not None and self.evaluations < self.population:
            raise InvalidParameter(
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
