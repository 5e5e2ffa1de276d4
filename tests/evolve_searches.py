"""Searches that end soon, problems whose optimum is known, and a loop that runs one on the other."""

from collections.abc import Callable

from scenthound.experiments.search.base import Genes, Search, Weights
from scenthound.experiments.search.methods import parse_search

N_WEIGHTS = 9
#: Small enough for a test to run to the end many times.
SHORT = [
    "johnson2003:population=10,generations=6",
    "chc:population=10,generations=30",
    "cma:population=8,generations=7",
]
#: What CMA-ES, which goes by weights, and genetic searches, which go by bits, can be asked to find alike.
OPTIMUM = (0.1, 0.1, 0.6, 1.0, 0.8, 0.3, 0.2, 0.0, 0.0)


def new_search(text: str, seed: int = 1, **more: object) -> Search:
    return parse_search(text).search(**{"n_weights": N_WEIGHTS, "seed": seed, **more})


def share_of_ones(genes: Genes) -> float:
    return sum(int(gene).bit_count() for gene in genes) / (7 * len(genes))


def nearness(weights: Weights) -> float:
    """1 where the weights, each divided by their sum, are those of OPTIMUM; 0 at the far end."""
    ours, theirs = sum(weights), sum(OPTIMUM)
    return 1 - sum(abs(w / ours - best / theirs) for w, best in zip(weights, OPTIMUM, strict=True)) / 2


def step(search: Search) -> list[Genes]:
    asked = search.ask()
    search.tell([nearness(search.weights_of(genes)) for genes in asked])
    return asked


def run(search: Search, fitness: Callable[[Genes], float] | None = None) -> list[list[Genes]]:
    """Run it to its end; all that it asked for."""
    asked = []
    while not search.done:
        asked.append(search.ask())
        search.tell([fitness(g) if fitness else nearness(search.weights_of(g)) for g in asked[-1]])
    return asked
