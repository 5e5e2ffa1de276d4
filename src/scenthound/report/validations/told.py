"""What the folder of a validation tells: its measurements and findings, read back from the files that it left.

Numbers of single crawls are in `crawls.csv`, with six digits; all else is in `findings.json`. Histograms there are
means over random seeds, so here they have a single one.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import BadInput, printable
from scenthound.files import open_regular
from scenthound.lab.findings import Claim, Finding, Verdict
from scenthound.lab.statistics import Effect
from scenthound.lab.validating.measurements import SEED_SETS, Measurements
from scenthound.lab.validating.measures import MEASURES
from scenthound.model import FloatArray
from scenthound.report.validations.files import CRAWLS_FILE, FINDINGS_FILE, FORMAT, VERSION


@dataclass(frozen=True, slots=True)
class ToldValidation:
    """`labels` are short names of all strategies, `groups` the places of topics by what the strategies are to them.
    `values` are all of `findings.json`."""

    labels: tuple[str, ...]
    specs: tuple[str, ...]
    budgets: tuple[int, ...]
    topics: tuple[str, ...]
    groups: Mapping[str, tuple[int, ...]]
    measured: Measurements
    findings: tuple[Finding, ...]
    values: Mapping[str, Any]


def read_validation(folder: Path) -> ToldValidation:
    """BadInput if the folder is no validation, a newer one, or damaged."""
    values = _values(folder)
    try:
        with open_regular(folder / CRAWLS_FILE) as file:
            text = TextIOWrapper(file, encoding="utf-8", newline="")
            return _told(values, list(csv.DictReader(text)))
    except (OSError, KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise BadInput(f"The files of the validation in {printable(folder)} are damaged: validate again.") from None


def _values(folder: Path) -> dict[str, Any]:
    try:
        values = json.loads((folder / FINDINGS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise BadInput(f"{printable(folder)} is not the folder of a validation: make one with `scenthound validate`.")
    if values.get("version") != VERSION:
        said = printable(values.get("version"), 40)
        raise BadInput(
            f"{printable(folder)} has version {said} of the format and this Scenthound reads {VERSION}: install the "
            "Scenthound that made it."
        )
    return values


def _told(values: Mapping[str, Any], rows: Sequence[Mapping[str, str]]) -> ToldValidation:
    settings, topics = values["settings"], values["topics"]
    specs = (str(settings["against"]), *map(str, settings["strategies"]))
    labels = ("base", *(f"S{number}" for number in range(1, len(specs))))
    budgets = tuple(map(int, settings["budgets"]))
    trained = [place for place, topic in enumerate(topics) if topic["trained_on"]]
    unseen = [place for place in range(len(topics)) if place not in trained]
    groups = {"trained on": tuple(trained), "unseen": tuple(unseen)}
    shape = len(specs), len(topics), len(SEED_SETS), int(settings["n_seeds"]), len(budgets)
    return ToldValidation(
        labels=labels,
        specs=specs,
        budgets=budgets,
        topics=tuple(str(topic["id"]) for topic in topics),
        groups={name: places for name, places in groups.items() if places},
        measured=_measured(values, rows, shape),
        findings=tuple(_finding(each, dict(zip(specs, labels, strict=True))) for each in values["findings"]),
        values=values,
    )


def _measured(
    values: Mapping[str, Any], rows: Sequence[Mapping[str, str]], shape: tuple[int, int, int, int, int]
) -> Measurements:
    """Rows and crawls are in the order of the axes."""
    numbers = {name: np.array([float(row[name] or nan) for row in rows]).reshape(shape) for name in MEASURES}
    good_share = np.array([float(topic["good_share"]) for topic in values["topics"]])
    near, good = (
        _histograms(values["crawls"], name, shape) for name in ("pages_at_distance", "good_pages_at_distance")
    )
    return Measurements(numbers, near, good, good_share)


def _histograms(crawls: Sequence[Mapping[str, Any]], name: str, shape: tuple[int, ...]) -> FloatArray:
    n_strategies, n_topics, n_sets, _, n_budgets = shape
    counts = np.array([crawl[name] for crawl in crawls], np.float64)
    return counts.reshape(n_strategies, n_topics, n_sets, 1, n_budgets, -1)


def _finding(each: Mapping[str, Any], label_of: Mapping[str, str]) -> Finding:
    """Which strategy and which topics it is about is its protocol."""
    group = f", topics {each['topics']}" if each["topics"] else ""
    claims = tuple(map(_claim, each["claims"]))
    return Finding(str(each["name"]), str(each["says"]), f"{label_of[each['strategy']]}{group}", claims)


def _claim(each: Mapping[str, Any]) -> Claim:
    effect = each["effect"]
    numbers = {name: _number(each[name]) for name in ("p", "p_corrected", "p_contrary_corrected")}
    return Claim(
        says=str(each["says"]),
        effect=None if effect is None else _effect(effect),
        verdict=Verdict(each["verdict"]),
        why=str(each["why"]),
        test=str(each["test"]),
        **numbers,
    )


def _effect(each: Mapping[str, Any]) -> Effect:
    mean, low, high = (_number(each[name]) for name in ("mean", "low", "high"))
    return Effect(mean, low, high, each["over"], int(each["n_topics"]), int(each["n_seeds"]))


def _number(value: Any) -> float:
    return nan if value is None else float(value)
