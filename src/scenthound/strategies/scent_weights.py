"""The weights of the strategy `scent` in TOML files, written by `scenthound fit-scent`.

    format = "scenthound scent weights"
    version = 2

    [feature.page_mean]        # one table for each feature of `link_evidence.FEATURES`
    weight = 0.21
    low = -6.0                 # the feature is clipped to these limits
    high = 5.8
    interval = [0.17, 0.25]    # of the weight, over topics: for people

    [fit]                      # what the weights were fitted on: for people

The file that ships with the package is `scent.toml`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.caller_files import local_path
from scenthound.errors import InvalidInput, printable
from scenthound.files import DAMAGE, machine_fault, opened
from scenthound.strategies.link_evidence import FEATURES, Weights
from scenthound.strategies.rank_file import toml_lines

FORMAT = "scenthound scent weights"
VERSION = 2
DEFAULT_FILE = "scent.toml"
#: Larger weights and limits are typing errors, and their sums would not be numbers.
MAX_NUMBER = 1e6


@dataclass(frozen=True, slots=True)
class FittedFeature:
    """The weight of a feature, the limits of its values, and the interval of the weight over topics."""

    weight: float
    low: float
    high: float
    interval: tuple[float, float] | None = None

    def as_table(self) -> dict[str, Any]:
        table: dict[str, Any] = {"weight": self.weight, "low": self.low, "high": self.high}
        return table if self.interval is None else {**table, "interval": list(self.interval)}


@dataclass(frozen=True, slots=True)
class ScentFile:
    """The content of a file: features by name, and what they were fitted on."""

    features: Mapping[str, FittedFeature]
    fit: Mapping[str, Any] = field(default_factory=dict)

    def weights(self) -> Weights:
        fitted = [self.features[name] for name in FEATURES]
        return Weights(np.array([[each.weight, each.low, each.high] for each in fitted]).T.copy())

    def text(self) -> str:
        lines = ["# Weights of the strategy scent, written by scenthound fit-scent.", ""]
        lines += toml_lines({"format": FORMAT, "version": VERSION})
        for name, fitted in self.features.items():
            lines += ["", f"# {FEATURES[name]}", f"[feature.{name}]", *toml_lines(fitted.as_table())]
        if self.fit:
            lines += ["", "[fit]", *toml_lines(self.fit)]
        return "\n".join([*lines, ""])


@cache
def default_weights() -> Weights:
    """The weights that ship with the package."""
    return scent_file_of(
        files("scenthound.strategies").joinpath(DEFAULT_FILE).read_text("utf-8"), DEFAULT_FILE
    ).weights()


def read_weights(path: str | Path) -> Weights:
    """The weights in a file."""
    path = Path(path)
    with opened(local_path(path)) as source:
        try:
            text = source.content.read().decode("utf-8-sig")
        except DAMAGE as error:
            raise InvalidInput(
                machine_fault(path, error) or f"{printable(path)}: damaged ({printable(error)}); is it complete?"
            ) from error
        except ValueError as error:
            raise _not_weights(path, f"not UTF-8 ({printable(error, 200)})") from error
    return scent_file_of(text, path).weights()


def scent_file_of(text: str, path: str | Path) -> ScentFile:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_weights(path, f"not TOML ({printable(error, 200)})") from error
    if document.get("format") != FORMAT:
        raise _not_weights(path, f"its format is not {FORMAT!r}")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise InvalidInput(
            f"{printable(path)} has version {printable(document.get('version'), 60)}, but this Scenthound reads "
            f"{VERSION}: fit the weights again with scenthound fit-scent."
        )
    tables = document.get("feature")
    if not isinstance(tables, dict):
        raise _not_weights(path, "it has no [feature.NAME] tables")
    for name in tables:
        if name not in FEATURES:
            nearest = get_close_matches(name, FEATURES, 1)
            advice = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise InvalidInput(f"{printable(path)}: no feature {printable(name, 60)!r}.{advice}")
    missing = [name for name in FEATURES if name not in tables]
    if missing:
        raise InvalidInput(f"{printable(path)}: [feature.{missing[0]}] is missing; give it the weight 0.")
    return ScentFile({name: _feature(tables[name], name, path) for name in FEATURES}, document.get("fit", {}))


def _feature(table: Any, name: str, path: str | Path) -> FittedFeature:
    numbers: list[Any] = [table.get(key) for key in ("weight", "low", "high")] if isinstance(table, dict) else []
    if not numbers or not all(_is_number(number) for number in numbers):
        raise InvalidInput(f"{printable(path)}: [feature.{name}] needs the numbers weight, low and high, up to 1e6.")
    weight, low, high = (float(number) for number in numbers)
    if low > high:
        raise InvalidInput(f"{printable(path)}: [feature.{name}] has a lower limit above the upper one.")
    interval = table.get("interval")
    is_pair = isinstance(interval, list) and len(interval) == 2 and all(map(_is_number, interval))
    return FittedFeature(weight, low, high, (float(interval[0]), float(interval[1])) if is_pair else None)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= MAX_NUMBER


def _not_weights(path: str | Path, why: str) -> InvalidInput:
    return InvalidInput(f"{printable(path)} is no file of scent weights: {why}. Make one with scenthound fit-scent.")
