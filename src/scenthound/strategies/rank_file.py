"""A rank function in a file: what a search came to, or what a person wrote, to be read by people and by `evolved`.

    format = "scenthound rank function"     the formula in plain sight and the exact weights, or several rules
    version = 1                             (`rank_tables`); what was trained on, in [training]; and how the search
    guide, threshold, hub_over              went, one row for each generation, at the end in [history]

Rules
- Only a formula, or weights, must be there; all else has the values of `rank_function`.
- What is written is read back as it was, to the last bit of each weight.
- A key that nobody knows is refused, but in [training], which is a record for people.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from scenthound.errors import BadInput, WrongUse, printable
from scenthound.files import DAMAGE, opened
from scenthound.registry import check_arguments
from scenthound.strategies.parts.rank_rules import RankRules
from scenthound.strategies.parts.rank_scores import HubOver
from scenthound.strategies.parts.rank_tables import RULE_KEYS, check_keys, rule_lines, rules_of
from scenthound.strategies.parts.toml_values import toml_lines, toml_value
from scenthound.strategies.rank_function import RankFunction

FORMAT = "scenthound rank function"
VERSION = 1

_HEAD = """\
# A rank function of Scenthound: the score of a URL is the sum below, and the URL with the highest is next.
# Use it with: scenthound simulate --strategy evolved:file=FILE, and so with scenthound crawl.
# The formula is rounded; the weights are exact, and used. To try another formula, change it and delete its weights:
# the whole table [weights], or the [rule.weights] below it."""
_KEYS = ("format", "version", "guide", "threshold", "hub_over", *RULE_KEYS, "training", "history")


@dataclass(frozen=True, slots=True)
class Generation:
    """How a search stood after a generation; evaluations are counted from its beginning."""

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
                raise BadInput(f"A generation of [history] has no number {name}; mend it, or take [history] away.")
        return cls(table["generation"], float(table["best"]), float(table["mean"]), table["evaluations"])


@dataclass(frozen=True, slots=True)
class RankFile:
    """What a file holds. `guide` is the relevance model that the weights were found with, `training` tells of how."""

    rules: RankRules
    guide: str = RankFunction.guide
    threshold: float = 0.5
    hub_over: HubOver = "mean"
    training: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Generation, ...] = ()

    def __post_init__(self) -> None:
        check_arguments(RankFunction, "rank file", (), {"threshold": self.threshold, "hub_over": self.hub_over})
        if not isinstance(self.guide, str):
            raise BadInput(f"guide is {printable(self.guide, 60)}; it should be the name of a relevance model.")


def rank_file_text(rank_file: RankFile) -> str:
    """The file as TOML."""
    about = {
        "format": FORMAT,
        "version": VERSION,
        "guide": rank_file.guide,
        "threshold": rank_file.threshold,
        "hub_over": rank_file.hub_over,
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
    document = _document(path)
    try:
        return _rank_file(document)
    except WrongUse as error:
        raise type(error)(f"{printable(path)}: {error}") from None


def _document(path: Path) -> dict[str, Any]:
    with opened(path) as source:
        try:
            return tomllib.loads(source.content.read().decode("utf-8-sig"))
        except DAMAGE as error:
            raise BadInput(f"{printable(path)}: damaged ({printable(error)}); check that it is whole.") from error
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{printable(path)} is no rank file: not TOML ({printable(error, 200)}).") from error


def _rank_file(document: Mapping[str, Any]) -> RankFile:
    _check_version(document)
    check_keys(document, _KEYS, "key of a rank file")
    chosen = {key: document[key] for key in ("guide", "threshold", "hub_over") if key in document}
    training = document.get("training", {})
    if not isinstance(training, dict):
        raise BadInput("`training` is no table; head it with [training].")
    history = _history(document.get("history", {}))
    return RankFile(rules_of(document), **chosen, training=training, history=history)


def _history(table: Any) -> tuple[Generation, ...]:
    if not isinstance(table, dict):
        raise BadInput("`history` is no table; head it with [history].")
    check_keys(table, ("generations",), "key of [history]")
    rows = table.get("generations", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput("`generations` is no list of tables; write each as {generation = 0, best = 0.5, ...}.")
    return tuple(map(Generation.of, rows))


def _check_version(document: Mapping[str, Any]) -> None:
    """Before all else: a newer version may have other keys."""
    if document.get("format", FORMAT) != FORMAT:
        raise BadInput(f"It says that its format is {printable(document['format'], 60)!r}; it should be {FORMAT!r}.")
    version = document.get("version", VERSION)
    if type(version) is not int or version < 1:
        raise BadInput(f"Its version is {printable(version, 60)}; it should be {VERSION}.")
    if version > VERSION:
        raise BadInput(f"Its version is {version}, and this Scenthound reads {VERSION}: install a newer one.")


def topic_ids(training: Mapping[str, object], key: str, file: str | Path) -> tuple[str, ...]:
    """The topics that a training record names under a key; none, if a person wrote the file."""
    ids = training.get(key, [])
    if not isinstance(ids, list) or not all(isinstance(topic_id, str) for topic_id in ids):
        raise BadInput(
            f'{printable(file)}: `{key}` in its training record is no list of ids; write it as ["...", "..."].'
        )
    return tuple(ids)
