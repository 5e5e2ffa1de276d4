"""Short searches, problems with a known optimum, and a loop that runs one on the other."""

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
#: An optimum that both CMA-ES, on weights, and genetic searches, on bits, can find.
OPTIMUM = (0.1, 0.1, 0.6, 1.0, 0.8, 0.3, 0.2, 0.0, 0.0)


def new_search(text: str, seed: int = 1, **more: object) -> Search:
    return parse_search(text).search(**{"n_weights": N_WEIGHTS, "seed": seed, **more})


def share_of_ones(genes: Genes) -> float:
    return sum(int(gene).bit_count() for gene in genes) / (7 * len(genes))


def nearness(weights: Weights) -> float:
    """1 if the weights, each divided by their sum, are those of OPTIMUM; at least 0."""
    ours, theirs = sum(weights), sum(OPTIMUM)
    return 1 - sum(abs(w / ours - best / theirs) for w, best in zip(weights, OPTIMUM, strict=True)) / 2


def step(search: Search) -> list[Genes]:
    requested = search.ask()
    search.tell([nearness(search.weights_of(genes)) for genes in requested])
    return requested


def run(search: Search, fitness: Callable[[Genes], float] | None = None) -> list[list[Genes]]:
    """Run a search to its end; returns all requested individuals."""
    requested = []
    while not search.done:
        requested.append(search.ask())
        search.tell([fitness(g) if fitness else nearness(search.weights_of(g)) for g in requested[-1]])
    return requested
