"""A row of weights as a formula that a person can read and write: `0.3127*COMM_OUT + 0.2506*PARENT_1`.

Rules
- The largest weight stands first, equal ones in the order of `SCORE_NAMES`; weights of 0 are left out.
- Weights are written with four decimals; one too small for that with its first digit, so that it is still there.
- Read is what a person would write: any order and case, `HUB` for `1*HUB`, weights that sum to what they will.
"""

import re

from scenthound.errors import BadParameter, UnknownName, printable
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, Weights

DECIMALS = 4
#: By how much a weight in a formula may be off.
ROUNDED = 0.5 * 10**-DECIMALS

_TERM = re.compile(r"(?:([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*\*\s*)?([A-Za-z_]\w*)", re.ASCII)
#: A plus, but not that of a number such as 1e+3.
_BETWEEN_TERMS = re.compile(r"(?<![\d.][eE])\+")


def formula_of(weights: Weights) -> str:
    """The formula of a row of weights, in the order of `SCORE_NAMES`."""
    largest_first = sorted(zip(SCORE_NAMES, weights, strict=True), key=lambda term: -term[1])
    return " + ".join(f"{_written(weight)}*{name.upper()}" for name, weight in largest_first if weight > 0)


def _written(weight: float) -> str:
    return f"{weight:.{DECIMALS}f}" if weight >= ROUNDED else f"{weight:.1g}"


def weights_of(formula: str) -> Weights:
    """The weights of a formula as they stand there, in the order of `SCORE_NAMES`."""
    found: dict[str, float] = {}
    for term in _BETWEEN_TERMS.split(formula):
        name, weight = _term(term.strip())
        if name in found:
            raise BadParameter(f"The score {name.upper()} stands twice in a formula; add up its weights.")
        found[name] = weight
    return tuple(found.get(name, 0.0) for name in SCORE_NAMES)


def _term(term: str) -> tuple[str, float]:
    read = _TERM.fullmatch(term)
    if read is None:
        raise BadParameter(
            f"{printable(term, 60)!r} is no term of a formula; write weight*SCORE, as in 0.5*COMM_OUT + 0.5*PARENT_1."
        )
    weight, name = float(read[1] or 1), read[2].lower()
    if name not in SCORE_NAMES:
        raise UnknownName.among("score", printable(read[2], 60), [known.upper() for known in SCORE_NAMES])
    return name, weight
