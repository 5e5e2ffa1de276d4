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
from typing import Annotated, ClassVar

from scenthound.errors import BadParameter, BrokenContract
from scenthound.evolve.beginning import Beginning
from scenthound.evolve.genome import Genes, Weights, weights_of
from scenthound.evolve.scored import Scored, Summary, best_first, mean_and_spread
from scenthound.registry import Bounds, NamedValue

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
            raise BadParameter(
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
            raise BrokenContract(
                f"{self.method}: {len(fitnesses)} fitnesses were told, but {len(self._asked)} individuals asked for."
            )
        if not all(map(isfinite, fitnesses)):
            raise BrokenContract(
                f"{self.method}: a fitness that is no finite number cannot be compared; tell a number."
            )

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
