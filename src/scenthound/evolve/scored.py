"""Individuals with their fitness, and what a search says of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean, pstdev

from scenthound.evolve.genome import Genes


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
