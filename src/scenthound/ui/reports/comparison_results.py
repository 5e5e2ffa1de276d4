"""What a comparison came to as its file `comparison.json` tells it: all that words, tables and the page are made of.

A file of an earlier version may lack curves, single observations and the command that repeats it; then there are none.
Numbers that the file has null for are not-a-number.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.compare.ranking import mark_of
from scenthound.model import FloatArray
from scenthound.store.locks import try_lock
from scenthound.ui.reports.comparison_files import FORMAT, VERSION

# The folder of a comparison: whether it is one, who works on it, and that it can be written, before any work is done.
#
# Rules
# - A folder with anything else in it than a comparison leaves there is not ours to write into. What a run removes, it
#   made: pages to learn from that a person put there are no part of a comparison.
# - One process at a time works on a folder.
# - A folder that was begun and came to nothing, not even a crawl, is removed again.

RANKING_FILE = "comparison.json"
TABLE_FILE = "comparison.csv"
REPORT_FILE = "report.html"
CRAWLS_FOLDER = "crawls"
TRAINING_FOLDER = "training"
PICTURES = {f"{name}.{form}" for name in ("ranking", "sweep") for form in ("svg", "png")}
FILES = {RANKING_FILE, TABLE_FILE, REPORT_FILE, *PICTURES}
FOLDERS = {CRAWLS_FOLDER, TRAINING_FOLDER}


@contextmanager
def comparison_place(out: Path, train_from: Path | None = None) -> Iterator[None]:
    """Hold the folder of a comparison, and make it if there is none; BadInput if it is something else, or if the pages
    of `train_from` would be lost in it."""
    is_new = not os.path.lexists(out)
    if not is_new:
        _check(out)
    _check_training(out, train_from)
    _make(out)
    with try_lock(out) as is_ours:
        if not is_ours:
            raise InvalidInput(f"Another run is at work in {printable(out)}: wait for it, or choose another --out.")
        try:
            yield
        except BaseException:
            if is_new:
                _remove_if_unused(out)
            raise


def _check(out: Path) -> None:
    if not out.is_dir():
        raise InvalidInput(f"{printable(out)} is no folder: choose another --out.")
    try:
        found = sorted(entry.name for entry in out.iterdir() if not entry.name.startswith("."))
    except OSError as reason:
        raise InvalidInput(f"{printable(out)} cannot be read: {reason.strerror}. Choose another --out.") from None
    others = [name for name in found if not _is_ours(out, name)]
    if others:
        raise InvalidInput(
            f"{printable(out)} has something else in it than a comparison, {printable(others[0])} for one: "
            "choose another --out."
        )


def _is_ours(out: Path, name: str) -> bool:
    place = out / name
    if name == RANKING_FILE:
        return place.is_file() and _has_format(place)
    if name == TRAINING_FOLDER:
        # It is written after crawls were, and would be removed with all that is in it.
        return place.is_dir() and not place.is_symlink() and (out / CRAWLS_FOLDER).is_dir()
    return place.is_dir() if name in FOLDERS else name in FILES and place.is_file()


def _has_format(ranking: Path) -> bool:
    try:
        told = json.loads(ranking.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("format") == FORMAT


def _check_training(out: Path, train_from: Path | None) -> None:
    """Pages in the folder for training are made anew by every run."""
    if train_from is None:
        return
    folder = (out / TRAINING_FOLDER).resolve()
    if folder in (train_from.resolve(), *train_from.resolve().parents):
        raise InvalidInput(
            f"--train-from {printable(train_from)} is in --out, where a run would remove it: copy it to another place, "
            "or choose another --out."
        )


def _make(out: Path) -> None:
    try:
        (out / CRAWLS_FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InvalidInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another --out.") from None
    if not os.access(out, os.W_OK):
        raise InvalidInput(f"{printable(out)} cannot be written into: mend its rights, or choose another --out.")


def _remove_if_unused(out: Path) -> None:
    with suppress(OSError):
        (out / CRAWLS_FOLDER).rmdir()
        out.rmdir()


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
        raise InvalidInput(f"{printable(folder)} has no finished comparison: make one with `scenthound compare --out`.")
    if values.get("version") != VERSION:
        said = printable(values.get("version"), 40)
        raise InvalidInput(
            f"{printable(file)} has version {said} of the format and this Scenthound reads {VERSION}: install the "
            "Scenthound that made it."
        )
    try:
        return told_comparison(values)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InvalidInput(f"{printable(file)} is damaged: compare again.") from None


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
