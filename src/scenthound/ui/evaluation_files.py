"""An evaluation as files for people and programs: JSON and CSV."""

import csv
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenthound.experiments.closed_world import ClosedWorldReport
from scenthound.experiments.evaluate import Evaluation, RunningTime
from scenthound.experiments.statistics import MeanCurve
from scenthound.files import write_atomic

COLUMNS = ("strategy", "metric", "step", "mean", "standard_error", "n_topics")


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Plain values; what is not defined, or was not measured, is null."""
    return {
        "mode": evaluation.mode,
        "page_budget": evaluation.page_budget,
        "checkpoints": list(evaluation.checkpoints),
        "lower_is_better": sorted(evaluation.lower_is_better),
        "undefined": {metric: evaluation.needs.get(metric, "") for metric in evaluation.undefined},
        "missing_pages": _missing_as_json(evaluation.closed_world),
        "strategies": {
            result.strategy: {
                "n_crawls": result.n_crawls,
                "pages_per_crawl": result.pages_per_crawl,
                "cpu_us_per_page": _finite(result.cpu_us_per_page),
                "running_time": _time_as_json(result.running_time),
                "curves": {name: _curve_as_json(curve) for name, curve in result.curves.items()},
            }
            for result in evaluation.results
        },
    }


def _missing_as_json(report: ClosedWorldReport) -> dict[str, Any]:
    """Of each strategy: pages wanted and missing for each page visited, and between what its measures could lie."""
    return {
        gap.strategy: {
            "per_page": _finite(gap.missing_per_page),
            "precision": [_finite(gap.precision.low), _finite(gap.precision.high)],
            "recall": [_finite(gap.recall.low), _finite(gap.recall.high)],
        }
        for gap in report.gaps
    }


def _time_as_json(time: RunningTime | None) -> dict[str, Any] | None:
    if time is None:
        return None
    return {"mean_s": time.mean_s, "standard_error_s": _finite(time.standard_error_s)}


def _curve_as_json(curve: MeanCurve) -> dict[str, Any]:
    return {
        "n_topics": curve.n_topics,
        "steps": curve.steps.tolist(),
        "mean": [_finite(value) for value in curve.mean.tolist()],
        "standard_error": [_finite(value) for value in curve.standard_error.tolist()],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def write_evaluation(evaluation: Evaluation, folder: Path) -> list[Path]:
    """`evaluation.json`, and `evaluation.csv` with one row for each strategy, metric and step."""
    table = io.StringIO(newline="")
    rows = csv.writer(table)
    rows.writerow(COLUMNS)
    rows.writerows(_csv_rows(evaluation))
    contents = {"evaluation.json": json.dumps(as_json(evaluation), indent=1) + "\n", "evaluation.csv": table.getvalue()}
    for name, content in contents.items():
        write_atomic(folder / name, content.encode("utf-8"))
    return [folder / name for name in contents]


def _csv_rows(evaluation: Evaluation) -> Iterator[list[Any]]:
    for result in evaluation.results:
        for name, curve in result.curves.items():
            points = zip(curve.steps.tolist(), curve.mean.tolist(), curve.standard_error.tolist(), strict=True)
            for step, mean, error in points:
                shown = ["" if number is None else f"{number:.6g}" for number in (_finite(mean), _finite(error))]
                yield [result.strategy, name, step, *shown, curve.n_topics]
