"""Rank rules as tables of a TOML document: a formula in plain sight, and beside it the exact weights.

    formula = "0.7500*COMM_OUT + 0.2500*HUB"        or        [[rule]]
    [weights]                                                 up_to_distance = 2    # or: before_page = 1000
    hub = 0.25                                                formula = "1.0000*PARENT_1"
    comm_out = 0.75                                           [rule.weights] ...

Rules
- Either of formula and weights will do. If there are both, the weights are used, and the formula has to agree with them
  as far as it goes: somebody who changed only one of them is told so, and not guessed at.
- Every [[rule]] but the last says where it ends, all in the same way.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scenthound.errors import BadInput, BadParameter, UnknownName, WrongUse, printable
from scenthound.strategies.parts.rank_formula import ROUNDED, formula_of, weights_of
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, RankRules, SplitBy, Weights, normalised
from scenthound.strategies.parts.toml_values import toml_value

#: The keys of a document that tell of its rules.
RULE_KEYS = ("formula", "weights", "rule")

#: How a rule says where it ends.
_BOUND_KEYS: Mapping[str, SplitBy] = {"up_to_distance": "distance", "before_page": "phase"}
_ROW_KEYS = ("formula", "weights")


def rules_of(document: Mapping[str, Any]) -> RankRules:
    """The rules that a document tells of."""
    rules = document.get("rule")
    if rules is None:
        return RankRules((_row(document),))
    if any(key in document for key in _ROW_KEYS):
        raise BadInput("There are rules, and a formula or weights beside them; put these into a [[rule]] too.")
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, dict) for rule in rules):
        raise BadInput("`rule` is no list of tables; head each rule with [[rule]].")
    return _split(rules)


def _split(rules: Sequence[Mapping[str, Any]]) -> RankRules:
    weights, ends = [], []
    for number, rule in enumerate(rules, 1):
        try:
            check_keys(rule, (*_ROW_KEYS, *_BOUND_KEYS), "key of a rule")
            weights.append(_row(rule))
            ends.append(_end(rule, is_last=number == len(rules)))
        except WrongUse as error:
            raise type(error)(f"Rule {number}: {error}") from None
    split_by = ends[0][0]
    if any(kind != split_by for kind, _ in ends[:-1]):
        raise BadInput("Some rules end by up_to_distance and some by before_page; use the same for all.")
    return RankRules(tuple(weights), split_by, tuple(bound for _, bound in ends[:-1]))


def _end(rule: Mapping[str, Any], *, is_last: bool) -> tuple[SplitBy, int]:
    """By what a rule ends, and where."""
    given = [key for key in _BOUND_KEYS if key in rule]
    if is_last:
        if given:
            raise BadInput(f"It is the last one, for all that is left; take {given[0]} away.")
        return "nothing", 0
    if len(given) != 1:
        raise BadInput("Give up_to_distance or before_page, one of them, in each rule but the last.")
    bound = rule[given[0]]
    if type(bound) is not int:
        raise BadInput(f"{given[0]} is {printable(bound, 60)}; it should be a whole number.")
    return _BOUND_KEYS[given[0]], bound


def _row(table: Mapping[str, Any]) -> Weights:
    formula, weights = table.get("formula"), table.get("weights")
    if formula is None and weights is None:
        raise BadInput('There are no weights; write formula = "0.5*COMM_OUT + 0.5*PARENT_1", for example.')
    if formula is not None and not isinstance(formula, str):
        raise BadInput(f"formula is {printable(formula, 60)}; it should be a text in quotes.")
    by_name = None if weights is None else _named(weights)
    if by_name is None or formula is None:
        return by_name or weights_of(formula or "")
    if not _agree(weights_of(formula), by_name):
        raise BadInput(
            f"The formula {printable(formula, 300)} does not agree with the weights {formula_of(by_name)}; mend one of "
            "them, or take it away."
        )
    return by_name


def _named(table: Any) -> Weights:
    if not isinstance(table, dict):
        raise BadInput(f"weights is {printable(table, 60)}; it should be a table, headed [weights].")
    check_keys(table, SCORE_NAMES, "score")
    for name, weight in table.items():
        if type(weight) not in (int, float):
            raise BadParameter(f"The weight {name} is {printable(weight, 60)}; it must be a number from 0 on.")
    return normalised(tuple(float(table.get(name, 0.0)) for name in SCORE_NAMES))


def _agree(formula: Weights, weights: Weights) -> bool:
    """Whether a formula says what the weights are but for rounding, be it written with a sum of 1 or any other."""
    closest = 1.01 * ROUNDED
    return any(
        all(abs(said - weight) <= closest for said, weight in zip(row, weights, strict=True))
        for row in (formula, normalised(formula))
    )


def check_keys(table: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """A misspelt key would go unnoticed otherwise."""
    for key in table:
        if key not in known:
            raise UnknownName.among(what, printable(key, 60), known)


def rule_lines(rules: RankRules) -> list[str]:
    """The lines of a document that `rules_of` reads."""
    if len(rules.weights) == 1:
        (row,) = rules.weights
        return ["", f"formula = {toml_value(formula_of(row))}", "", "[weights]", *_weight_lines(row)]
    key = next((key for key, kind in _BOUND_KEYS.items() if kind == rules.split_by), "")
    ends = [*(f"{key} = {bound}" for bound in rules.bounds), "# for all others"]
    lines = []
    for row, end in zip(rules.weights, ends, strict=True):
        lines += [
            "",
            "[[rule]]",
            end,
            f"formula = {toml_value(formula_of(row))}",
            "[rule.weights]",
            *_weight_lines(row),
        ]
    return lines


def _weight_lines(row: Weights) -> list[str]:
    return [f"{name} = {weight!r}" for name, weight in zip(SCORE_NAMES, row, strict=True) if weight > 0]
