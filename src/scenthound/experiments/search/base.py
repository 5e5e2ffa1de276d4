"""The interface of a search: ask and tell.

    search = parse_search("johnson2003").search(n_weights=9, seed=1)
    while not search.done:
        search.tell([fitness(search.weights_of(genes)) for genes in search.ask()])

Rules of all searches
- The same method, start and fitness values give the same individuals. `ask` returns the same until `tell` is called.
- Higher fitness is better. Among equals the earlier individual is first.
- An individual keeps its fitness. A child that equals an earlier individual is requested like any other.
- The fitness values are the complete state: a new search that receives them again continues where the old one stopped.

Genes (johnson2003 section 3: seven bits for each weight, an integer from 0 to 127)
- Genes and weights are in the order of the scores, all of the first rule before those of the second.
- Weights are not normalised here: the rank function divides those of each rule by their sum.
- A rule whose genes are all 0 is read as if they were all equal. The genes themselves are not changed, so that no
  operator is biased by the repair.
- As bits, an individual is one integer, whose highest bit is the highest bit of the first gene.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from random import Random
from statistics import fmean, pstdev
from typing import Annotated, ClassVar

from scenthound.errors import InvalidParameter, PluginError
from scenthound.registry import Bounds, NamedValue

BITS_PER_WEIGHT = 7
MAX_GENE = 2**BITS_PER_WEIGHT - 1

#: One for each weight: integers from 0 to 127 in genetic searches, numbers from 0 to 1 in CMA-ES.
Genes = tuple[float, ...]
#: Never negative, and never all 0 within a rule.
Weights = tuple[float, ...]


def weights_of(genes: Sequence[float], n_rules: int = 1) -> Weights:
    """The weights of all rules, one rule after the other; those of a rule of zeros are 1 each."""
    return tuple(float(gene) if any(rule) else 1.0 for rule in _rules(genes, n_rules) for gene in rule)


def scaled(weights: Sequence[float], n_rules: int, largest: float) -> Weights:
    """The same rules with the largest weight of each rule equal to `largest`."""
    # Division comes first: the largest becomes exactly 1, and no product overflows.
    return tuple(
        weight / max(rule) * largest if any(rule) else 0.0 for rule in _rules(weights, n_rules) for weight in rule
    )


def nearest_genes(weights: Sequence[float], n_rules: int = 1) -> tuple[int, ...]:
    """The genes nearest to weights: the largest gene of each rule is 127, halves are rounded up."""
    return tuple(int(weight + 0.5) for weight in scaled(weights, n_rules, MAX_GENE))


def bits_of(genes: Iterable[float]) -> int:
    """The individual as one integer, seven bits for each gene."""
    bits = 0
    for gene in genes:
        bits = bits << BITS_PER_WEIGHT | int(gene)
    return bits


def genes_of(bits: int, n_weights: int) -> tuple[int, ...]:
    """The inverse of `bits_of`."""
    return tuple(bits >> BITS_PER_WEIGHT * gene & MAX_GENE for gene in reversed(range(n_weights)))


def _rules(values: Sequence[float], n_rules: int) -> list[Sequence[float]]:
    size = len(values) // n_rules
    return [values[start : start + size] for start in range(0, len(values), size)]


@dataclass(frozen=True, slots=True)
class SearchStart:
    """What a search starts from. `n_weights` is the total of all `n_rules` rules. `winners` are the weights of earlier
    winners, which are the first individuals of the first population, as far as it has room for them."""

    n_weights: int
    seed: int
    winners: tuple[Weights, ...] = ()
    n_rules: int = 1

    def __post_init__(self) -> None:
        if self.n_weights < 1:
            raise InvalidParameter(f"A search for {self.n_weights} weights has nothing to find: give at least 1.")
        if self.n_rules < 1 or self.n_weights % self.n_rules:
            raise InvalidParameter(
                f"{self.n_weights} weights cannot be divided among {self.n_rules} rules: "
                "give a number of weights that is a multiple of the number of rules."
            )
        for number, winner in enumerate(self.winners, 1):
            if len(winner) != self.n_weights:
                raise InvalidParameter(
                    f"Earlier winner {number} has {len(winner)} weights, but the search is for {self.n_weights}: "
                    "seed it with winners of the same scores and rules."
                )
            if not all(isfinite(weight) and weight >= 0 for weight in winner):
                raise InvalidParameter(f"Earlier winner {number} has a weight that is not a non-negative number.")

    @property
    def n_bits(self) -> int:
        """The length of an individual of a genetic search."""
        return BITS_PER_WEIGHT * self.n_weights

    def rng(self) -> Random:
        """A new random generator."""
        return Random(self.seed)

    def first_population(self, size: int, rng: Random) -> list[Genes]:
        """Random bits. Winners replace the first individuals; the others are the same with and without them."""
        drawn: list[Genes] = [genes_of(rng.getrandbits(self.n_bits), self.n_weights) for _ in range(size)]
        known = [nearest_genes(winner, self.n_rules) for winner in self.winners[:size]]
        return [*known, *drawn[len(known) :]]


@dataclass(frozen=True, slots=True)
class Scored:
    """An individual and its fitness."""

    genes: Genes
    fitness: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The state of a search. `best` is the best fitness so far, `mean` and `spread` (standard deviation) are over the
    population; all three are NaN before the first evaluation."""

    generation: int
    n_generations: int
    n_evaluated: int
    most_evaluations: int  #: the search may end earlier
    best: float
    mean: float
    spread: float


def best_first(scored: Iterable[Scored]) -> list[Scored]:
    """In descending order of fitness; equals keep their order."""
    return sorted(scored, key=lambda each: -each.fitness)


Population = Annotated[int, Bounds(1)]
Generations = Annotated[int, Bounds(1)]
Probability = Annotated[float, Bounds(0, 1)]


@dataclass(frozen=True, slots=True)
class Method(NamedValue, ABC):
    """A search algorithm and its parameters. Every field has a default, and `Bounds` in its annotation if it has
    limits."""

    #: The smallest population that the method works with, and why.
    least_population: ClassVar[int] = 2
    why_least: ClassVar[str] = "an individual needs another one to cross with"

    population: Population = 50
    generations: Generations = 50

    def __post_init__(self) -> None:
        NamedValue.__post_init__(self)
        if self.population < self.least_population:
            raise InvalidParameter(
                f"{self.name}: population={self.population} is too small, because {self.why_least}; "
                f"give at least {self.least_population}."
            )

    @property
    def most_evaluations(self) -> int:
        """The largest number of individuals that a search may request."""
        return self.population * (self.generations + 1)

    @abstractmethod
    def begin(self, start: SearchStart) -> "Search":
        """A new search."""

    def search(self, n_weights: int, *, seed: int, seeds: Iterable[Sequence[float]] = (), n_rules: int = 1) -> "Search":
        """A new search for this many weights of all rules together; `seeds` are the weights of earlier winners."""
        # Numbers of numpy are converted, because `Random` does not accept them.
        winners = tuple(tuple(map(float, weights)) for weights in seeds)
        return self.begin(SearchStart(n_weights, int(seed), winners, n_rules))


class Search(ABC):
    """A search in progress.

    `generation` is the number of completed generations; the first population of a genetic search is not one. `best` is
    the best individual so far, `population` those that compete now, best first, and `history` the state after each
    `tell`.
    """

    def __init__(self, method: Method, start: SearchStart) -> None:
        self.method = method
        self.start = start
        self.generation = 0
        self.n_evaluated = 0
        self.history: list[Summary] = []
        self.best: Scored | None = None
        self.population: list[Scored] = []
        self._requested: list[Genes] = self._first()

    @abstractmethod
    def _first(self) -> list[Genes]:
        """Initialise the search, and return the first individuals to evaluate."""

    @abstractmethod
    def _next(self, evaluated: list[Scored]) -> list[Genes]:
        """Update the population, and return the next individuals to evaluate; none at the end."""

    def ask(self) -> list[Genes]:
        """The individuals to evaluate now; none when the search is done."""
        return list(self._requested)

    def tell(self, fitnesses: Sequence[float]) -> None:
        """Receive the fitness of each individual that `ask` returned, in the same order."""
        values = [float(fitness) for fitness in fitnesses]
        self._check(values)
        evaluated = [Scored(genes, fitness) for genes, fitness in zip(self._requested, values, strict=True)]
        self.n_evaluated += len(evaluated)
        self.best = best_first([self.best, *evaluated] if self.best else evaluated)[0]
        self._requested = self._next(evaluated)
        self.history.append(self.summary())

    def _check(self, fitnesses: list[float]) -> None:
        if len(fitnesses) != len(self._requested) or self.done:
            raise PluginError(
                f"{self.method}: {len(fitnesses)} fitness values were given for {len(self._requested)} individuals."
            )
        if not all(map(isfinite, fitnesses)):
            raise PluginError(f"{self.method}: fitness values must be finite numbers.")

    @property
    def done(self) -> bool:
        return not self._requested

    def weights_of(self, genes: Genes) -> Weights:
        """The weights that genes of this search encode, one rule after the other."""
        return weights_of(genes, self.start.n_rules)

    def summary(self) -> Summary:
        """The current state."""
        fitnesses = [each.fitness for each in self.population]
        return Summary(
            generation=self.generation,
            n_generations=self.method.generations,
            n_evaluated=self.n_evaluated,
            most_evaluations=self.method.most_evaluations,
            best=self.best.fitness if self.best else nan,
            mean=fmean(fitnesses) if fitnesses else nan,
            spread=pstdev(fitnesses) if fitnesses else nan,
        )
