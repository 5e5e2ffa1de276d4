"""The search algorithms by name: `johnson2003`, `chc:population=100`, `cma:population=20,generations=50`.

Individuals of the genetic algorithms are integers of `n_bits` bits (`bits_of`). Bits are counted from the left: bit 0
is the highest one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from random import Random
from typing import Annotated, Any, ClassVar

import numpy as np

from scenthound.errors import InvalidParameter, MissingExtra, PluginError
from scenthound.experiments.search.base import (
    Generations,
    Genes,
    Method,
    Population,
    Probability,
    Scored,
    Search,
    SearchStart,
    best_first,
    bits_of,
    genes_of,
    scaled,
)
from scenthound.model import FloatArray
from scenthound.registry import Bounds, ListedRegistry


class Wheel:
    """Roulette wheel selection: the probability of an individual is its share of the sum of all fitness values, none of
    which is negative. If all are 0, every individual has the same probability."""

    def __init__(self, fitnesses: Sequence[float]) -> None:
        self._running = list(accumulate(fitnesses))  # plain sums, left to right
        # No individual after this index has a share. Rounding could otherwise select one.
        self._last = bisect_left(self._running, self._running[-1])

    def spin(self, rng: Random) -> int:
        """The index of the selected individual."""
        total = self._running[-1]
        if not total:
            return rng.randrange(len(self._running))
        return bisect_right(self._running, rng.random() * total, 0, self._last)


def one_point(first: int, second: int, cut: int, n_bits: int) -> tuple[int, int]:
    """Both children of a one-point crossover: the first `cut` bits of each parent with the other bits of the other."""
    exchanged = (first ^ second) & ((1 << n_bits - cut) - 1)
    return first ^ exchanged, second ^ exchanged


def flipped(bits: int, positions: Sequence[int], n_bits: int) -> int:
    """The individual with the bits at distinct positions flipped."""
    for position in positions:
        bits ^= 1 << n_bits - 1 - position
    return bits


def half_uniform(first: int, second: int, n_bits: int, rng: Random) -> tuple[int, int]:
    """HUX: the parents exchange a random half of the bits in which they differ, rounded down."""
    differing = [position for position in range(n_bits) if (first ^ second) >> n_bits - 1 - position & 1]
    exchanged = rng.sample(differing, len(differing) // 2)
    return flipped(first, exchanged, n_bits), flipped(second, exchanged, n_bits)


def distance(first: int, second: int) -> int:
    """The Hamming distance of two individuals."""
    return (first ^ second).bit_count()


@dataclass(frozen=True, slots=True)
class Johnson2003(Method):
    """The genetic search of johnson2003 (section 3), with the parameters of the study as defaults.

    1. The first population is random bits, seven for each weight.
    2. Parents are selected by roulette wheel, a pair at a time; an individual may be selected twice for one pair.
    3. With probability `crossover` the pair is cut at one position, each from 0 to `n_bits` equally likely, and both
       children are kept; otherwise the children are copies. There are as many children as parents: if their number is
       odd, the last pair has only its first child.
    4. With probability `mutation` one bit of a child is flipped.
    5. The best of parents and children are the next population. Among equals parents come before children, and earlier
       children before later ones.

    Parents keep their fitness: the study's search takes 50 + 50 x 50 = 2,550 evaluations.
    """

    name: ClassVar[str] = "johnson2003"
    summary: ClassVar[str] = "the study's search: roulette wheel, one-point crossover, parents compete with children"

    crossover: Probability = 0.9
    mutation: Probability = 0.01

    def begin(self, start: SearchStart) -> "GeneticSearch":
        return GeneticSearch(self, start)


class GeneticSearch(Search):
    """A search by `Johnson2003`."""

    method: Johnson2003

    def _first(self) -> list[Genes]:
        self._rng = self.start.rng()
        return self.start.first_population(self.method.population, self._rng)

    def _check(self, fitnesses: list[float]) -> None:
        super()._check(fitnesses)
        if min(fitnesses) < 0:
            raise PluginError(
                f"{self.method}: a fitness of {min(fitnesses)} cannot be used for roulette selection; give 0 or more."
            )

    def _next(self, evaluated: list[Scored]) -> list[Genes]:
        self.generation += bool(self.population)
        self.population = best_first([*self.population, *evaluated])[: self.method.population]
        return self._children() if self.generation < self.method.generations else []

    def _children(self) -> list[Genes]:
        wheel = Wheel([each.fitness for each in self.population])
        parents = [bits_of(each.genes) for each in self.population]
        n_pairs = (self.method.population + 1) // 2
        pairs = (self._crossed(parents[wheel.spin(self._rng)], parents[wheel.spin(self._rng)]) for _ in range(n_pairs))
        children = list(chain.from_iterable(pairs))[: self.method.population]
        return [genes_of(self._mutated(child), self.start.n_weights) for child in children]

    def _crossed(self, first: int, second: int) -> tuple[int, int]:
        if self._rng.random() >= self.method.crossover:
            return first, second
        return one_point(first, second, self._rng.randint(0, self.start.n_bits), self.start.n_bits)

    def _mutated(self, child: int) -> int:
        if self._rng.random() >= self.method.mutation:
            return child
        return flipped(child, [self._rng.randrange(self.start.n_bits)], self.start.n_bits)


@dataclass(frozen=True, slots=True)
class Chc(Method):
    """CHC (Eshelman 1991): elitist survival, disruptive crossover, incest prevention and restarts.

    1. All individuals mate in random pairs, without selection. Both children of a half-uniform crossover (HUX) are
       kept; nothing mutates.
    2. A pair has children only if half of its Hamming distance is more than a threshold, which starts at a quarter of
       all bits and need not be an integer.
    3. The best of parents and children are the next population; among equals parents stay.
    4. If no child survives, or there is none, the threshold decreases by 1.
    5. When it is below 0, the population has converged. All but the best individual are replaced by copies of it with
       `divergence` of their bits flipped, and the threshold becomes divergence x (1 - divergence) of all bits.

    A generation is one round of matings, also one without children, or one restart. Until the copies of a restart are
    evaluated, the best individual is the entire population. The search ends after `generations` or `evaluations`,
    whichever comes first; `evaluations=none` removes that limit. The default is the number of evaluations of
    johnson2003, which takes CHC many more generations, because not every pair has children.
    """

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
                f"chc: population={self.population} leaves one individual without a mate, because all mate once in a "
                "generation; give an even number."
            )
        if self.evaluations is not None and self.evaluations < self.population:
            raise InvalidParameter(
                f"chc: evaluations={self.evaluations} are too few for the first population of {self.population}; "
                "give more of them or a smaller population."
            )

    @property
    def most_evaluations(self) -> int:
        all_children = self.population * (self.generations + 1)
        return all_children if self.evaluations is None else min(self.evaluations, all_children)

    def begin(self, start: SearchStart) -> "ChcSearch":
        return ChcSearch(self, start)


class ChcSearch(Search):
    """A search by `Chc`."""

    method: Chc

    def _first(self) -> list[Genes]:
        self._rng = self.start.rng()
        self._threshold = self.start.n_bits / 4
        return self.start.first_population(self.method.population, self._rng)

    def _next(self, evaluated: list[Scored]) -> list[Genes]:
        self.generation += bool(self.population)
        survivors = best_first([*self.population, *evaluated])[: self.method.population]
        if survivors == self.population:
            self._threshold -= 1
        self.population = survivors
        return self._next_children()[: self.method.most_evaluations - self.n_evaluated]

    def _next_children(self) -> list[Genes]:
        """The children of the next generation that has any."""
        while self.generation < self.method.generations and self.n_evaluated < self.method.most_evaluations:
            children = self._restart() if self._threshold < 0 else self._children()
            if children:
                return [genes_of(bits, self.start.n_weights) for bits in children]
            self.generation += 1
            self._threshold -= 1
        return []

    def _children(self) -> list[int]:
        mates = [bits_of(each.genes) for each in self.population]
        self._rng.shuffle(mates)
        children: list[int] = []
        for first, second in zip(mates[::2], mates[1::2], strict=True):
            if distance(first, second) / 2 > self._threshold:
                children += half_uniform(first, second, self.start.n_bits, self._rng)
        return children

    def _restart(self) -> list[int]:
        n_bits, rate = self.start.n_bits, self.method.divergence
        self._threshold = rate * (1 - rate) * n_bits
        self.population = self.population[:1]
        best, n_flips = bits_of(self.population[0].genes), max(1, round(rate * n_bits))
        copies = range(self.method.population - 1)
        return [flipped(best, self._rng.sample(range(n_bits), n_flips), n_bits) for _ in copies]


#: How near to the edge of the range the distribution may start: around a point on an edge half of all draws are out.
MARGIN = 0.1


@dataclass(frozen=True, slots=True)
class Cma(Method):
    """CMA-ES on the weights, by the library `cmaes`: each between 0 and 1, all drawn from one normal distribution.

    The distribution starts in the middle of the range, or at the first of the earlier winners, scaled so that its
    largest weight is 1. A draw out of range is repeated up to a hundred times, then moved to the edge. The first
    population is the first generation. The search ends after its generations, or when the library finds that the
    distribution has converged. `sigma` is the standard deviation of each weight in the first generation.
    """

    name: ClassVar[str] = "cma"
    summary: ClassVar[str] = "CMA-ES: weights from a normal distribution that learns where the good ones are"
    least_population: ClassVar[int] = 4
    why_least: ClassVar[str] = "the distribution learns from the better half of it, which must be two or more"

    population: Population = 20
    sigma: Annotated[float, Bounds(0, 1, above=True)] = 0.3

    @property
    def most_evaluations(self) -> int:
        return self.population * self.generations

    def begin(self, start: SearchStart) -> "CmaSearch":
        return CmaSearch(self, start)


class CmaSearch(Search):
    """A search by `Cma`."""

    method: Cma

    def _first(self) -> list[Genes]:
        winners = [scaled(winner, self.start.n_rules, 1) for winner in self.start.winners[: self.method.population]]
        self._optimizer = self._new_optimizer(winners[0] if winners else None)
        return [*winners, *self._drawn(self.method.population - len(winners))]

    def _new_optimizer(self, centre: Genes | None) -> Any:
        try:
            from cmaes import CMA
        except ImportError:
            raise MissingExtra.named("lab", "The search cma") from None
        n_weights = self.start.n_weights
        mean: FloatArray = np.full(n_weights, 0.5) if centre is None else np.clip(centre, MARGIN, 1 - MARGIN)
        return CMA(
            mean=mean,
            sigma=self.method.sigma,
            bounds=np.tile([0.0, 1.0], (n_weights, 1)),
            seed=self.start.rng().getrandbits(32),
            population_size=self.method.population,
        )

    def _drawn(self, n: int) -> list[Genes]:
        return [tuple(map(float, self._optimizer.ask())) for _ in range(n)]

    def _next(self, evaluated: list[Scored]) -> list[Genes]:
        self.generation += 1
        self.population = best_first(evaluated)
        # The library minimises.
        self._optimizer.tell([(np.array(each.genes, np.float64), -each.fitness) for each in evaluated])
        over = self.generation == self.method.generations or self._optimizer.should_stop()
        return [] if over else self._drawn(self.method.population)


METHODS: ListedRegistry[Method] = ListedRegistry("search", (Johnson2003, Chc, Cma))


def parse_search(text: str) -> Method:
    """The method written as `name:parameter=value,...`; parameters that are left out have their defaults."""
    return METHODS.make(text)
