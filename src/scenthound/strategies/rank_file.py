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

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from scenthound.caller_files import local_path
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, UsageError, printable
from scenthound.files import DAMAGE, machine_fault, opened
from scenthound.registry import check_arguments
from scenthound.strategies.rank_function import RankFunction
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

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """A value as TOML: the standard library reads TOML, but does not write it. Lone surrogates are escaped."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(toml_lines(value))}}}"
    raise InvalidParameter(
        f"{printable(repr(value), 60)} cannot be written as TOML; use strings, numbers, booleans and lists."
    )


def toml_lines(table: Mapping[str, Any]) -> list[str]:
    """`key = value` for each entry of a table."""
    return [f"{_key(key)} = {toml_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    escaped = text.encode("utf-8", "backslashreplace").decode()
    # A JSON string is a TOML string, except for the delete character, which TOML requires to be escaped.
    return json.dumps(escaped, ensure_ascii=False).replace("\x7f", "\\u007f")


#: The keys of the rules in a document.
RULE_KEYS = ("formula", "weights", "rule")

#: The keys of the end of a rule.
_BOUND_KEYS: Mapping[str, SplitBy] = {"up_to_distance": "distance", "before_page": "phase"}
_ROW_KEYS = ("formula", "weights")


def rules_of(document: Mapping[str, Any]) -> RankRules:
    """The rules in a document."""
    rules = document.get("rule")
    if rules is None:
        return RankRules((_row(document),))
    if any(key in document for key in _ROW_KEYS):
        raise InvalidInput(
            "There are [[rule]] tables and a formula or weights outside them: move these into a [[rule]]."
        )
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, dict) for rule in rules):
        raise InvalidInput("`rule` is not a list of tables; start each rule with [[rule]].")
    return _split(rules)


def _split(rules: Sequence[Mapping[str, Any]]) -> RankRules:
    weights, ends = [], []
    for number, rule in enumerate(rules, 1):
        try:
            check_keys(rule, (*_ROW_KEYS, *_BOUND_KEYS), "key of a rule")
            weights.append(_row(rule))
            ends.append(_end(rule, is_last=number == len(rules)))
        except UsageError as error:
            raise type(error)(f"Rule {number}: {error}") from None
    split_by = ends[0][0]
    if any(kind != split_by for kind, _ in ends[:-1]):
        raise InvalidInput("Some rules end by up_to_distance and some by before_page; use the same for all.")
    return RankRules(tuple(weights), split_by, tuple(bound for _, bound in ends[:-1]))


def _end(rule: Mapping[str, Any], *, is_last: bool) -> tuple[SplitBy, int]:
    """What a rule is split by, and its bound."""
    keys = [key for key in _BOUND_KEYS if key in rule]
    if is_last:
        if keys:
            raise InvalidInput(f"The last rule is for all other URLs: remove {keys[0]}.")
        return "nothing", 0
    if len(keys) != 1:
        raise InvalidInput("Every rule except the last needs either up_to_distance or before_page.")
    bound = rule[keys[0]]
    if type(bound) is not int:
        raise InvalidInput(f"{keys[0]} is {printable(bound, 60)}; it must be an integer.")
    return _BOUND_KEYS[keys[0]], bound


def _row(table: Mapping[str, Any]) -> Weights:
    formula, weights = table.get("formula"), table.get("weights")
    if formula is None and weights is None:
        raise InvalidInput('There are no weights; write formula = "0.5*COMM_OUT + 0.5*PARENT_1", for example.')
    if formula is not None and not isinstance(formula, str):
        raise InvalidInput(f"formula is {printable(formula, 60)}; it must be a string in quotes.")
    by_name = None if weights is None else _named(weights)
    if by_name is None or formula is None:
        return by_name or weights_of(formula or "")
    if not _agree(weights_of(formula), by_name):
        raise InvalidInput(
            f"The formula {printable(formula, 300)} does not agree with the weights {formula_of(by_name)}; correct or "
            "remove one of them."
        )
    return by_name


def _named(table: Any) -> Weights:
    if not isinstance(table, dict):
        raise InvalidInput(f"weights is {printable(table, 60)}; it must be a table, headed [weights].")
    check_keys(table, SCORE_NAMES, "score")
    for name, weight in table.items():
        if type(weight) not in (int, float):
            raise InvalidParameter(f"The weight {name} is {printable(weight, 60)}; it must be a number of at least 0.")
    return normalised(tuple(float(table.get(name, 0.0)) for name in SCORE_NAMES))


def _agree(formula: Weights, weights: Weights) -> bool:
    """Whether a formula agrees with the weights up to rounding, with or without a sum of 1."""
    tolerance = 1.01 * ROUNDED
    return any(
        all(abs(rounded - weight) <= tolerance for rounded, weight in zip(row, weights, strict=True))
        for row in (formula, normalised(formula))
    )


def check_keys(table: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """Raise UnknownName for unknown keys, which are probably misspelt."""
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
_KEYS = ("format", "version", "relevance_model", *_PARAMETERS, *RULE_KEYS, "training", "history")


@dataclass(frozen=True, slots=True)
class Generation:
    """The state of a search after a generation; evaluations are counted from its start."""

    generation: int
    best: float
    mean: float
    evaluations: int

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Generation":
        names = [each.name for each in fields(cls)]
        check_keys(table, names, "key of a generation")
        for name in names:
            if type(table.get(name)) not in ((int, float) if name in ("best", "mean") else (int,)):
                raise InvalidInput(f"A generation of [history] has no number {name}; add it, or remove [history].")
        return cls(table["generation"], float(table["best"]), float(table["mean"]), table["evaluations"])


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
        check_arguments(RankFunction, "rank file", (), {name: getattr(self, name) for name in _PARAMETERS})
        if not isinstance(self.relevance_model, str):
            raise InvalidInput(
                f"relevance_model is {printable(self.relevance_model, 60)}; it must be the name of a relevance model."
            )


def rank_file_text(rank_file: RankFile) -> str:
    """The file as TOML."""
    about = {
        "format": FORMAT,
        "version": VERSION,
        "relevance_model": rank_file.relevance_model,
        **{name: getattr(rank_file, name) for name in _PARAMETERS},
    }
    lines = [_HEAD, "", *toml_lines(about), *rule_lines(rank_file.rules)]
    if rank_file.training:
        lines += ["", "[training]", *toml_lines(rank_file.training)]
    if rank_file.history:
        rows = [f"    {toml_value(asdict(each))}," for each in rank_file.history]
        lines += ["", "[history]", "generations = [", *rows, "]"]
    return "\n".join([*lines, ""])


def read_rank_file(path: Path | str) -> RankFile:
    """Read a file that a search or a person wrote."""
    path = Path(path)
    document = _document(local_path(path))
    try:
        return _rank_file(document)
    except UsageError as error:
        raise type(error)(f"{printable(path)}: {error}") from None


def _document(path: Path) -> dict[str, Any]:
    with opened(path) as source:
        try:
            return tomllib.loads(source.content.read().decode("utf-8-sig"))
        except DAMAGE as error:
            raise InvalidInput(
                machine_fault(path, error) or f"{printable(path)}: damaged ({printable(error)}); is it complete?"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{printable(path)} is no rank file: not TOML ({printable(error, 200)}).") from error


def _rank_file(document: Mapping[str, Any]) -> RankFile:
    _check_version(document)
    # Version 0.6 called the relevance model a guide.
    document = {"relevance_model" if key == "guide" else key: value for key, value in document.items()}
    check_keys(document, _KEYS, "key of a rank file")
    chosen = {key: document[key] for key in ("relevance_model", *_PARAMETERS) if key in document}
    training = document.get("training", {})
    if not isinstance(training, dict):
        raise InvalidInput("`training` is not a table; head it with [training].")
    history = _history(document.get("history", {}))
    return RankFile(rules_of(document), **chosen, training=training, history=history)


def _history(table: Any) -> tuple[Generation, ...]:
    if not isinstance(table, dict):
        raise InvalidInput("`history` is not a table; head it with [history].")
    check_keys(table, ("generations",), "key of [history]")
    rows = table.get("generations", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput("`generations` is not a list of tables; write each as {generation = 0, best = 0.5, ...}.")
    return tuple(map(Generation.of, rows))


def _check_version(document: Mapping[str, Any]) -> None:
    """Check format and version first: a newer version may have other keys."""
    if document.get("format", FORMAT) != FORMAT:
        raise InvalidInput(f"The format is {printable(document['format'], 60)!r}; it must be {FORMAT!r}.")
    version = document.get("version", VERSION)
    if type(version) is not int or version < 1:
        raise InvalidInput(f"The version is {printable(version, 60)}; it must be {VERSION}.")
    if version > VERSION:
        raise InvalidInput(f"The version is {version}, but this Scenthound reads {VERSION}: install a newer one.")


def topic_ids(training: Mapping[str, object], key: str, file: str | Path) -> tuple[str, ...]:
    """The topics under a key of a training record; none if the file was written by hand."""
    ids = training.get(key, [])
    if not isinstance(ids, list) or not all(isinstance(topic_id, str) for topic_id in ids):
        raise InvalidInput(
            f'{printable(file)}: `{key}` in its training record is not a list of ids; write it as ["...", "..."].'
        )
    return tuple(ids)
