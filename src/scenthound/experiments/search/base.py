"""What every search answers: ask and tell.

Whoever runs a search asks for individuals, evaluates them in any order or all at once, and tells their fitness in the
order of the question, until the search is done:

    search = parse_search("johnson2003").search(n_weights=9, seed=1)
    while not search.done:
        search.tell([fitness(search.weights_of(genes)) for genes in search.ask()])

Rules, the same for all searches
- The same method, beginning and fitnesses give the same questions. `ask` answers the same until it is told.
- Higher fitness is better. Of equal ones the individual that came first stands first.
- An individual is evaluated when it is asked for, and keeps its fitness. A child that equals an earlier individual is
  asked for like any other.
- So the fitnesses told are the whole state of a search: it is taken up where it stood by telling them again.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from random import Random
from statistics import fmean, pstdev
from typing import Annotated, ClassVar, Self

from scenthound.errors import InvalidParameter, PluginError
from scenthound.registry import Bounds, NamedValue

# Genes and the weights they stand for (johnson2003 section 3: seven bits a weight, a number between 0 and 127).
#
# - Genes and weights are in the order of the scores, all of the first rule before those of the second.
# - Weights are not normalised here: what uses them divides those of each rule by their sum.
# - A rule whose genes are all 0 has no sum to be divided by. It is read as if they were all equal; the genes stay as
#   they are, so that no operator is biased by the repair.
# - Seen as bits an individual is one whole number. Its first bit, that of the highest value, is the highest one of
#   the first gene.

BITS_PER_WEIGHT = 7
LARGEST_GENE = 2**BITS_PER_WEIGHT - 1

#: One for each weight: whole numbers from 0 to 127 in genetic searches, numbers from 0 to 1 in CMA-ES.
Genes = tuple[float, ...]
#: Never negative, and never all 0 within a rule.
Weights = tuple[float, ...]


def weights_of(genes: Sequence[float], n_rules: int = 1) -> Weights:
    """The weights of all rules, one rule after the other; those of a rule of zeros are 1 each."""
    return tuple(weight for rule in _rules(genes, n_rules) for weight in _repaired(rule))


def _repaired(rule: Sequence[float]) -> list[float]:
    return [float(gene) for gene in rule] if any(rule) else [1.0] * len(rule)


def scaled(weights: Sequence[float], n_rules: int, largest: float) -> Weights:
    """The same rules in other numbers: the largest weight of each rule becomes `largest`."""
    return tuple(weight for rule in _rules(weights, n_rules) for weight in _stretched(rule, largest))


def _stretched(rule: Sequence[float], largest: float) -> Iterable[float]:
    top = max(rule)
    # Division comes first: the largest becomes exactly 1, and no product overflows.
    return (weight / top * largest for weight in rule) if top else (0.0 for _ in rule)


def nearest_genes(weights: Sequence[float], n_rules: int = 1) -> tuple[int, ...]:
    """The genes whose rules are nearest to given ones: the largest gene of each is 127, halves are rounded up."""
    return tuple(int(weight + 0.5) for weight in scaled(weights, n_rules, LARGEST_GENE))


def bits_of(genes: Iterable[float]) -> int:
    """The individual as one number, seven bits a gene."""
    bits = 0
    for gene in genes:
        bits = bits << BITS_PER_WEIGHT | int(gene)
    return bits


def genes_of(bits: int, n_weights: int) -> tuple[int, ...]:
    """The genes that an individual's bits spell."""
    return tuple(bits >> BITS_PER_WEIGHT * place & LARGEST_GENE for place in reversed(range(n_weights)))


def _rules(values: Sequence[float], n_rules: int) -> list[Sequence[float]]:
    size = len(values) // n_rules
    return [values[start : start + size] for start in range(0, len(values), size)]


# What a search begins with: how many weights there are, the seed of its dice, and the winners of earlier searches.


@dataclass(frozen=True, slots=True)
class Beginning:
    """`n_weights` counts those of all `n_rules` rules together. `winners` are weights that take the first places of
    the first population; those that it has no place for are left out."""

    n_weights: int
    seed: int
    winners: tuple[Weights, ...] = ()
    n_rules: int = 1

    def __post_init__(self) -> None:
        if self.n_weights < 1:
            raise InvalidParameter(f"A search for {self.n_weights} weights has nothing to find: give at least 1.")
        if self.n_rules < 1 or self.n_weights % self.n_rules:
            raise InvalidParameter(
                f"{self.n_weights} weights cannot be shared out to {self.n_rules} rules: "
                "give a number of weights that is a multiple of the number of rules."
            )
        for place, winner in enumerate(self.winners, 1):
            _check_winner(winner, place, self.n_weights)

    @classmethod
    def given(cls, n_weights: int, seed: int, seeds: Iterable[Sequence[float]], n_rules: int) -> Self:
        """From numbers of any kind: dice of Python take no seed of numpy."""
        winners = tuple(tuple(float(weight) for weight in weights) for weights in seeds)
        return cls(n_weights, int(seed), winners, n_rules)

    @property
    def n_bits(self) -> int:
        """The length of an individual of a genetic search."""
        return BITS_PER_WEIGHT * self.n_weights

    def rng(self) -> Random:
        """The dice of the search, as they are before the first throw."""
        return Random(self.seed)

    def first_population(self, size: int, rng: Random) -> list[tuple[int, ...]]:
        """Random bits, the first of which give way to the winners; the others are the same with and without them."""
        drawn = [genes_of(rng.getrandbits(self.n_bits), self.n_weights) for _ in range(size)]
        known = [nearest_genes(winner, self.n_rules) for winner in self.winners[:size]]
        return known + drawn[len(known) :]


def _check_winner(winner: Weights, place: int, n_weights: int) -> None:
    if len(winner) != n_weights:
        raise InvalidParameter(
            f"Earlier winner {place} has {len(winner)} weights, but the search is for {n_weights}: "
            "seed it with winners of the same scores and rules."
        )
    if not all(isfinite(weight) and weight >= 0 for weight in winner):
        raise InvalidParameter(f"Earlier winner {place} has a weight that is not a non-negative number.")


# Individuals with their fitness, and what a search says of them.


@dataclass(frozen=True, slots=True)
class Scored:
    """An individual that was evaluated."""

    genes: Genes
    fitness: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a search stands. The last three are of fitness, and NaN before anything was told: the best ever, and the
    mean and standard deviation over the population."""

    generation: int
    n_generations: int
    n_evaluated: int
    most_evaluations: int  #: where the search ends if it does not end earlier
    best: float
    mean: float
    spread: float


def best_first(scored: Iterable[Scored]) -> list[Scored]:
    """By falling fitness; equal ones keep their order."""
    return sorted(scored, key=lambda each: -each.fitness)


def mean_and_spread(population: Sequence[Scored]) -> tuple[float, float]:
    """Of the fitness; NaN of nobody."""
    fitnesses = [each.fitness for each in population]
    return (fmean(fitnesses), pstdev(fitnesses)) if fitnesses else (nan, nan)


Population = Annotated[int, Bounds(1)]
Generations = Annotated[int, Bounds(1)]
Probability = Annotated[float, Bounds(0, 1)]


@dataclass(frozen=True, slots=True)
class Method(NamedValue, ABC):
    """A way to search. Every field has a default, and `Bounds` in its annotation where it has limits."""

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
    @abstractmethod
    def most_evaluations(self) -> int:
        """How many individuals a search by this method may ask for."""

    @abstractmethod
    def begin(self, beginning: Beginning) -> "Search":
        """A new search by this method."""

    def search(self, n_weights: int, *, seed: int, seeds: Iterable[Sequence[float]] = (), n_rules: int = 1) -> "Search":
        """A new search for so many weights, those of all rules together; `seeds` are the weights of earlier winners."""
        return self.begin(Beginning.given(n_weights, seed, seeds, n_rules))


class Search(ABC):
    """One search on its way."""

    #: How many generations are over. The first population of a genetic search is none: it is what they begin with.
    generation: int
    n_evaluated: int

    def __init__(self, method: Method, beginning: Beginning) -> None:
        self.method = method
        self.beginning = beginning
        self.generation = 0
        self.n_evaluated = 0
        self._history: list[Summary] = []
        self._best: Scored | None = None
        self._population: list[Scored] = []
        self._asked: list[Genes] = self._first()

    @abstractmethod
    def _first(self) -> list[Genes]:
        """Take up the dice, and answer what is to be evaluated first."""

    @abstractmethod
    def _next(self, told: list[Scored]) -> list[Genes]:
        """Let those just evaluated into the population, and answer what is next; nothing when the search is over."""

    def ask(self) -> list[Genes]:
        """The individuals to be evaluated now; none when the search is done."""
        return list(self._asked)

    def tell(self, fitnesses: Sequence[float]) -> None:
        """Learn the fitness of each individual asked for, in their order."""
        values = [float(fitness) for fitness in fitnesses]
        self._check_told(values)
        told = [Scored(genes, fitness) for genes, fitness in zip(self._asked, values, strict=True)]
        self.n_evaluated += len(told)
        self._best = best_first([self._best, *told] if self._best else told)[0]
        self._asked = self._next(told)
        self._history.append(self.summary())

    def _check_told(self, fitnesses: list[float]) -> None:
        if len(fitnesses) != len(self._asked) or self.done:
            raise PluginError(
                f"{self.method}: {len(fitnesses)} fitness values were given for {len(self._asked)} individuals."
            )
        if not all(map(isfinite, fitnesses)):
            raise PluginError(f"{self.method}: fitness values must be finite numbers.")

    @property
    def done(self) -> bool:
        return not self._asked

    @property
    def best(self) -> Scored | None:
        """The fittest of all that were ever evaluated, of equal ones the earliest; None before the first."""
        return self._best

    @property
    def population(self) -> tuple[Scored, ...]:
        """Those that compete now, best first; nobody before the first are evaluated."""
        return tuple(self._population)

    @property
    def history(self) -> tuple[Summary, ...]:
        """Where the search stood after each `tell`."""
        return tuple(self._history)

    def weights_of(self, genes: Genes) -> Weights:
        """The weights that genes of this search stand for, the rules one after the other."""
        return weights_of(genes, self.beginning.n_rules)

    def summary(self) -> Summary:
        """Where the search stands now."""
        mean, spread = mean_and_spread(self._population)
        return Summary(
            generation=self.generation,
            n_generations=self.method.generations,
            n_evaluated=self.n_evaluated,
            most_evaluations=self.method.most_evaluations,
            best=self._best.fitness if self._best else nan,
            mean=mean,
            spread=spread,
        )
