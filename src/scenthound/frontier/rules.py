"""What becomes of a page's score when a page that waits is found again: one rule for each call of a frontier."""

from collections.abc import Callable, Mapping
from enum import Enum
from operator import add

#: The new score of a page that waits, from its old one and the one given.
Combination = Callable[[float, float], float]


class Rule(Enum):
    """What the score given to a page that waits does to the one it has."""

    RAISE = "replaces it if it is higher"
    ADD = "is added to it"
    SET = "replaces it"
    ENTER = "nothing: it is for pages that enter"


def highest(old: float, new: float) -> float:
    """The score of a page found again, by the default rule. NaN, which compares with nothing, is handed on."""
    return old if new <= old else new


def latest(_old: float, new: float) -> float:
    """The score of a page that is ranked anew."""
    return new


def first(old: float, _new: float) -> float:
    """The score of a page for which only its first finding counts."""
    return old


COMBINED: Mapping[Rule, Combination] = {Rule.RAISE: highest, Rule.ADD: add, Rule.SET: latest, Rule.ENTER: first}
