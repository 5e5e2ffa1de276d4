"""Rank functions in TOML files, written by a search or by hand and read by the strategy `evolved`.

    format = "scenthound rank function"
    version = 1
    relevance_model = "svm"                           # also threshold, hub_over, score_range and renew
    formula = "0.7500*COMM_OUT + 0.2500*HUB"          # for people
    [weights]                                         # exact
    comm_out = 0.75
    hub = 0.25

or, instead of formula and weights, one [[rule]] for each row of weights, with `up_to_distance = 2` or `before_page =
1000` in all but the last, its `formula` and its [rule.weights]. [training] describes what was trained on, and [history]
the search, one row per generation.

Rules
- Only a formula or weights are required; everything else has the defaults of `rank_function`.
- Weights are read back exactly as written.
- If there are both a formula and weights, the weights are used and the formula must agree with them: a file in which
  only one of them was edited is refused.
- Unknown keys are refused, except in [training].
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from scenthound.caller_files import local_path
from scenthound.errors import InvalidInput, UnknownName, UsageError, printable
from scenthound.registry import check_arguments
from scenthound.strategies.rank_function import RankByRules
from scenthound.strategies.rank_rules import (
    ROUNDED,
    SCORE_NAMES,
    RankRules,
    SplitBy,
    Weights,
    formula_of,
    normalised,
    weights_of,
)
from scenthound.strategies.rank_scores import HubOver, Renew
from scenthound.toml_files import read_toml, table_as, toml_lines, toml_value


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of weights in a file: a formula or weights or both, and its end."""

    formula: str | None = None
    weights: dict[str, float] | None = None
    up_to_distance: int | None = None
    before_page: int | None = None

    def row(self) -> Weights:
        if self.weights is None:
            if self.formula is None:
                raise InvalidInput('There are no weights; write formula = "0.5*COMM_OUT + 0.5*PARENT_1", for example.')
            return weights_of(self.formula)
        for name in self.weights:
            if name not in SCORE_NAMES:
                raise UnknownName.among("score", printable(name, 60), SCORE_NAMES)
        row = normalised(tuple(self.weights.get(name, 0.0) for name in SCORE_NAMES))
        if self.formula is not None and not _agree(weights_of(self.formula), row):
            raise InvalidInput(
                f"The formula {printable(self.formula, 300)} does not agree with the weights {formula_of(row)}; "
                "correct or remove one of them."
            )
        return row

    def end(self, *, is_last: bool) -> tuple[SplitBy, int]:
        """What the rule is split by, and its bound."""
        ends: dict[SplitBy, int | None] = {"distance": self.up_to_distance, "phase": self.before_page}
        given = [(split_by, bound) for split_by, bound in ends.items() if bound is not None]
        if is_last:
            if given:
                raise InvalidInput("The last rule is for all other URLs: remove its end.")
            return "nothing", 0
        if len(given) != 1:
            raise InvalidInput("Every rule except the last needs either up_to_distance or before_page.")
        return given[0]


def _agree(formula: Weights, weights: Weights) -> bool:
    """Whether a formula agrees with the weights up to rounding, with or without a sum of 1."""
    tolerance = 1.01 * ROUNDED
    return any(
        all(abs(rounded - weight) <= tolerance for rounded, weight in zip(row, weights, strict=True))
        for row in (formula, normalised(formula))
    )


def _rules(document: dict[str, Any]) -> RankRules:
    """The rules in a document, which are removed from it."""
    only = {key: document.pop(key) for key in ("formula", "weights") if key in document}
    rules = document.pop("rule", None)
    if rules is None:
        return RankRules((table_as(Rule, only, "the file").row(),))
    if only:
        raise InvalidInput(
            "There are [[rule]] tables and a formula or weights outside them: move these into a [[rule]]."
        )
    if not isinstance(rules, list) or not rules:
        raise InvalidInput("`rule` is not a list of tables; start each rule with [[rule]].")
    weights, ends = [], []
    for number, table in enumerate(rules, 1):
        rule = table_as(Rule, table, f"Rule {number}")
        try:
            weights.append(rule.row())
            ends.append(rule.end(is_last=number == len(rules)))
        except UsageError as error:
            raise type(error)(f"Rule {number}: {error}") from None
    split_by = ends[0][0]
    if any(kind != split_by for kind, _ in ends[:-1]):
        raise InvalidInput("Some rules end by up_to_distance and some by before_page; use the same for all.")
    return RankRules(tuple(weights), split_by, tuple(bound for _, bound in ends[:-1]))


def _rule_lines(rules: RankRules) -> list[str]:
    """The lines of a document that `_rules` reads."""
    if len(rules.weights) == 1:
        (row,) = rules.weights
        return ["", f"formula = {toml_value(formula_of(row))}", "", "[weights]", *_weight_lines(row)]
    key = {"distance": "up_to_distance", "phase": "before_page"}[rules.split_by]
    lines = []
    for row, end in zip(
        rules.weights, [*(f"{key} = {bound}" for bound in rules.bounds), "# for all others"], strict=True
    ):
        formula = f"formula = {toml_value(formula_of(row))}"
        lines += ["", "[[rule]]", end, formula, "[rule.weights]", *_weight_lines(row)]
    return lines


def _weight_lines(row: Weights) -> list[str]:
    return [f"{name} = {weight!r}" for name, weight in zip(SCORE_NAMES, row, strict=True) if weight > 0]


FORMAT = "scenthound rank function"
VERSION = 1

_HEAD = """\
# A rank function of Scenthound: the score of a URL is the sum below, and the URL with the highest score is next.
# Use it with: scenthound simulate --strategy evolved:file=FILE, or scenthound crawl --strategy evolved:file=FILE.
# The formula is rounded; the exact weights are used. To try another formula, change it and delete its weights:
# the table [weights], or the [rule.weights] below it."""
#: The relevance model of johnson2003: that of searches, of their results, and of files that name none.
STUDY_RELEVANCE = "svm"
#: Parameters of the rank function beside its weights.
_PARAMETERS = ("threshold", "hub_over", "score_range", "renew")


@dataclass(frozen=True, slots=True)
class Generation:
    """The state of a search after a generation; evaluations are counted from its start."""

    generation: int
    best: float
    mean: float
    evaluations: int


@dataclass(frozen=True, slots=True)
class History:
    generations: tuple[Generation, ...] = ()


@dataclass(frozen=True, slots=True)
class RankFile:
    """The content of a file. `relevance_model` names the model that the weights were found with."""

    rules: RankRules
    relevance_model: str = STUDY_RELEVANCE
    threshold: float = 0.5
    hub_over: HubOver = "mean"
    score_range: float = 1.0
    renew: Renew = "links"
    training: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Generation, ...] = ()

    def __post_init__(self) -> None:
        check_arguments(RankByRules, "rank file", (), {name: getattr(self, name) for name in _PARAMETERS})


def rank_file_text(rank_file: RankFile) -> str:
    """The file as TOML."""
    about = {"format": FORMAT, "version": VERSION, "relevance_model": rank_file.relevance_model}
    about |= {name: getattr(rank_file, name) for name in _PARAMETERS}
    lines = [_HEAD, "", *toml_lines(about), *_rule_lines(rank_file.rules)]
    if rank_file.training:
        lines += ["", "[training]", *toml_lines(rank_file.training)]
    if rank_file.history:
        rows = [f"    {toml_value(asdict(each))}," for each in rank_file.history]
        lines += ["", "[history]", "generations = [", *rows, "]"]
    return "\n".join([*lines, ""])


def read_rank_file(path: Path | str) -> RankFile:
    """Read a file that a search or a person wrote."""
    path = Path(path)
    document = read_toml(local_path(path), "rank file")
    try:
        # First, because a newer version may have other keys.
        if (found := document.pop("format", FORMAT)) != FORMAT:
            raise InvalidInput(f"The format is {printable(found, 60)!r}; it must be {FORMAT!r}.")
        if (version := document.pop("version", VERSION)) != VERSION:
            raise InvalidInput(
                f"The version is {printable(version, 60)}, but this Scenthound reads {VERSION}: install a newer one."
            )
        rules = _rules(document)
        history = table_as(History, document.pop("history", {}), "[history]").generations
        return replace(table_as(RankFile, {**document, "rules": asdict(rules)}, "the file"), history=history)
    except UsageError as error:
        raise type(error)(f"{printable(path)}: {error}") from None


def topic_ids(training: Mapping[str, object], key: str, file: str | Path) -> tuple[str, ...]:
    """The topics under a key of a training record; none if the file was written by hand."""
    ids = training.get(key, [])
    if not isinstance(ids, list) or not all(isinstance(topic_id, str) for topic_id in ids):
        raise InvalidInput(
            f'{printable(file)}: `{key}` in its training record is not a list of ids; write it as ["...", "..."].'
        )
    return tuple(ids)
