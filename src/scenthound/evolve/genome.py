"""Genes and the weights they stand for (johnson2003 section 3: seven bits a weight, a number between 0 and 127).

- Genes and weights are in the order of the scores, all of the first rule before those of the second.
- Weights are not normalised here: what uses them divides those of each rule by their sum.
- A rule whose genes are all 0 has no sum to be divided by. It is read as if they were all equal; the genes stay as they
  are, so that no operator is biased by the repair.
- Seen as bits an individual is one whole number. Its first bit, that of the highest value, is the highest one of the
  first gene.
"""

from collections.abc import Iterable, Sequence

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
