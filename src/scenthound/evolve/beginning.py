"""What a search begins with: how many weights there are, the seed of its dice, and the winners of earlier searches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from random import Random
from typing import Self

from scenthound.errors import BadParameter
from scenthound.evolve.genome import BITS_PER_WEIGHT, Weights, genes_of, nearest_genes


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
            raise BadParameter(f"A search for {self.n_weights} weights has nothing to find: give at least 1.")
        if self.n_rules < 1 or self.n_weights % self.n_rules:
            raise BadParameter(
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
        raise BadParameter(
            f"Earlier winner {place} has {len(winner)} weights, but the search is for {n_weights}: "
            "seed it with winners of the same scores and rules."
        )
    if not all(isfinite(weight) and weight >= 0 for weight in winner):
        raise BadParameter(f"Earlier winner {place} has a weight that is no number of at least 0: mend it.")
