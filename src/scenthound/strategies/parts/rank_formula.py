"""A row of weights as a formula that a person can read and write: `0.3127*COMM_OUT + 0.2506*PARENT_1`.

Rules
- The largest weight stands first, equal ones in the order of `SCORE_NAMES`; weights of 0 are left out.
- Weights are written with four decimals; one too small for that with its first digit, so that it is still there.
- Read is what a person would write (`weighted_sum`), with weights that sum to what they will.
"""

from scenthound.strategies.parts.rank_rules import SCORE_NAMES, Weights
from scenthound.strategies.parts.weighted_sum import SumReader

DECIMALS = 4
#: By how much a weight in a formula may be off.
ROUNDED = 0.5 * 10**-DECIMALS

_FORMULA = SumReader("formula", "score", tuple(name.upper() for name in SCORE_NAMES), "0.5*COMM_OUT + 0.5*PARENT_1")


def formula_of(weights: Weights) -> str:
    """The formula of a row of weights, in the order of `SCORE_NAMES`."""
    largest_first = sorted(zip(SCORE_NAMES, weights, strict=True), key=lambda term: -term[1])
    return " + ".join(f"{_written(weight)}*{name.upper()}" for name, weight in largest_first if weight > 0)


def _written(weight: float) -> str:
    return f"{weight:.{DECIMALS}f}" if weight >= ROUNDED else f"{weight:.1g}"


def weights_of(formula: str) -> Weights:
    """The weights of a formula as they stand there, in the order of `SCORE_NAMES`."""
    found = _FORMULA.weights_of(formula)
    return tuple(found.get(name.upper(), 0.0) for name in SCORE_NAMES)
