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

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from scenthound.caller_files import local_path
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, UsageError, printable
from scenthound.strategies.link_evidence import FEATURES, Weights
from scenthound.toml_files import parsed_toml, read_toml, table_as, toml_lines

FORMAT = "scenthound scent weights"
VERSION = 2
DEFAULT_FILE = "scent.toml"
#: Larger weights and limits are typing errors, and their sums would not be numbers.
Number = Annotated[float, Meta(ge=-1e6, le=1e6)]


@dataclass(frozen=True, slots=True)
class FittedFeature:
    """The weight of a feature, the limits of its values, and the interval of the weight over topics."""

    weight: Number
    low: Number
    high: Number
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ScentFile:
    """The content of a file: features by name, and what they were fitted on."""

    features: Mapping[str, FittedFeature]
    fit: Mapping[str, Any] = field(default_factory=dict)

    def weights(self) -> Weights:
        fitted = [self.features[name] for name in FEATURES]
        return np.array([[each.weight, each.low, each.high] for each in fitted]).T.copy()

    def text(self) -> str:
        lines = ["# Weights of the strategy scent, written by scenthound fit-scent.", ""]
        lines += toml_lines({"format": FORMAT, "version": VERSION})
        for name, fitted in self.features.items():
            table = {key: value for key, value in asdict(fitted).items() if value is not None}
            lines += ["", f"# {FEATURES[name]}", f"[feature.{name}]", *toml_lines(table)]
        if self.fit:
            lines += ["", "[fit]", *toml_lines(self.fit)]
        return "\n".join([*lines, ""])


@cache
def default_weights() -> Weights:
    """The weights that ship with the package."""
    text = files("scenthound.strategies").joinpath(DEFAULT_FILE).read_text("utf-8")
    return scent_file_of(parsed_toml(text, DEFAULT_FILE)).weights()


def read_weights(path: str | Path) -> Weights:
    """The weights in a file."""
    path = Path(path)
    document = read_toml(local_path(path), "file of scent weights")
    try:
        return scent_file_of(document).weights()
    except UsageError as error:
        raise InvalidInput(
            f"{printable(path)}: {error} Make a file of scent weights with scenthound fit-scent."
        ) from None


def scent_file_of(document: Mapping[str, Any]) -> ScentFile:
    if document.get("format") != FORMAT:
        raise InvalidInput(f"The format is not {FORMAT!r}.")
    if (version := document.get("version")) != VERSION:
        raise InvalidInput(f"The version is {printable(version, 60)}, but this Scenthound reads {VERSION}.")
    tables = document.get("feature")
    if not isinstance(tables, dict):
        raise InvalidInput("There are no [feature.NAME] tables.")
    for name in tables:
        if name not in FEATURES:
            raise UnknownName.among("feature", printable(name, 60), FEATURES)
    for name in FEATURES:
        if name not in tables:
            raise InvalidInput(f"[feature.{name}] is missing; give it the weight 0.")
    features = {name: table_as(FittedFeature, tables[name], f"[feature.{name}]") for name in FEATURES}
    for name, fitted in features.items():
        if fitted.low > fitted.high:
            raise InvalidParameter(f"[feature.{name}] has a lower limit above the upper one.")
    return ScentFile(features, document.get("fit", {}))
