"""What a comparison came to as its file `comparison.json` tells it: all that words, tables and the page are made of.

A file of an earlier version may lack curves, single observations and the command that repeats it; then there are none.
Numbers that the file has null for are not-a-number.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import BadInput, printable
from scenthound.lab.comparing.ranking import mark_of
from scenthound.model import FloatArray
from scenthound.report.comparisons.files import FORMAT, VERSION
from scenthound.report.comparisons.place import RANKING_FILE


@dataclass(frozen=True, slots=True)
class ToldRow:
    """A row of the ranking; `low` and `high` are the interval of its difference to the best."""

    place: int
    strategy: str
    name: str  #: with the values of a sweep that share the row
    mean: float
    standard_error: float
    difference: float
    low: float
    high: float
    p_corrected: float
    mark: str
    precision: float
    recall: float
    gap_closed: float
    chosen_share: float
    cpu_us_per_page: float
    missing_per_page: float
    observations: FloatArray


@dataclass(frozen=True, slots=True)
class ToldContestant:
    """One that took part, and the place of its row."""

    strategy: str
    base: str
    swept: tuple[object, ...]
    place: int


@dataclass(frozen=True, slots=True)
class ToldCurves:
    """By row of the ranking and place on the axis; the bounds by place."""

    pages: FloatArray
    mean: FloatArray
    standard_error: FloatArray
    random: FloatArray
    oracle: FloatArray


@dataclass(frozen=True, slots=True)
class ToldComparison:
    """`observed` are the names of single observations: topics, or the starts of one. `values` are all of the file."""

    by: str
    lower_is_better: bool
    topics: tuple[str, ...]
    says: str
    rows: tuple[ToldRow, ...]
    contestants: tuple[ToldContestant, ...]
    sweeps: tuple[str, ...]
    observed: tuple[str, ...]
    curves: ToldCurves | None
    random: float
    oracle: float
    held_out: float
    topics_won: tuple[int, int, int] | None
    notes: tuple[str, ...]
    values: Mapping[str, Any]

    @property
    def metric(self) -> str:
        """In words, without the pages."""
        return self.by.partition("@")[0].replace("_", " ")

    @property
    def pages(self) -> int:
        """After so many it decides."""
        return int(self.by.rpartition("@")[2])


def read_comparison(folder: Path) -> ToldComparison:
    """What `comparison.json` in a folder tells; BadInput if there is none, or a newer one."""
    file = folder / RANKING_FILE
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise BadInput(f"{printable(folder)} has no finished comparison: make one with `scenthound compare --out`.")
    if values.get("version") != VERSION:
        said = printable(values.get("version"), 40)
        raise BadInput(
            f"{printable(file)} has version {said} of the format and this Scenthound reads {VERSION}: install the "
            "Scenthound that made it."
        )
    try:
        return told_comparison(values)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise BadInput(f"{printable(file)} is damaged: compare again.") from None


def told_comparison(values: Mapping[str, Any]) -> ToldComparison:
    """From the plain values of the file."""
    bounds, won = values["bounds"], values["topics_won"]
    return ToldComparison(
        by=str(values["by"]),
        lower_is_better=bool(values["lower_is_better"]),
        topics=tuple(map(str, values["topics"])),
        says=str(values["says"]),
        rows=tuple(map(_row, values["ranking"])),
        contestants=tuple(map(_contestant, values.get("contestants", ()))),
        sweeps=tuple(map(str, values["sweeps"])),
        observed=tuple(map(str, values.get("observed", {}).get("names", ()))),
        curves=_curves(values["curves"]) if "curves" in values else None,
        random=_number(bounds["random"]),
        oracle=_number(bounds["oracle"]),
        held_out=_number(values["held_out"]),
        topics_won=(int(won["wins"]), int(won["ties"]), int(won["losses"])) if won else None,
        notes=tuple(map(str, values["notes"])),
        values=values,
    )


def _row(row: Mapping[str, Any]) -> ToldRow:
    difference = row["difference"] or {}
    return ToldRow(
        place=int(row["place"]),
        strategy=str(row["strategy"]),
        name=str(row.get("name", row["strategy"])),
        difference=_number(difference.get("mean")),
        low=_number(difference.get("low")),
        high=_number(difference.get("high")),
        mark=mark_of(str(row["mark"])),
        observations=_array(row.get("observations", ())),
        **{name: _number(row[name]) for name in _NUMBERS},
    )


_NUMBERS = (
    "mean",
    "standard_error",
    "p_corrected",
    "precision",
    "recall",
    "gap_closed",
    "chosen_share",
    "cpu_us_per_page",
    "missing_per_page",
)


def _contestant(each: Mapping[str, Any]) -> ToldContestant:
    return ToldContestant(str(each["strategy"]), str(each["base"]), tuple(each["swept"]), int(each["place"]))


def _curves(told: Mapping[str, Any]) -> ToldCurves:
    means, errors = (np.array([_array(row) for row in told[name]]) for name in ("mean", "standard_error"))
    return ToldCurves(_array(told["pages"]), means, errors, _array(told["random"]), _array(told["oracle"]))


def _array(values: Iterable[Any]) -> FloatArray:
    return np.array([_number(value) for value in values], np.float64)


def _number(value: Any) -> float:
    return nan if value is None else float(value)
