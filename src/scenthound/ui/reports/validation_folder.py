"""A validation from files to a folder: findings, a table of crawls, and pictures, whole or not at all."""

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from scenthound.command_line import command_line, unless
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.validate.crawls import MEASURES, SEED_SETS
from scenthound.experiments.validate.settings import ValidationProtocol
from scenthound.experiments.validate.validation import ValidatedFinding, Validation, prepared, validate
from scenthound.files import write_atomic
from scenthound.model import Progress, silent
from scenthound.store.folder import check_replaceable, new_folder
from scenthound.ui.figures import figure_files, require_figures
from scenthound.ui.formats import finite, versions
from scenthound.ui.reports.validation_charts import validation_figures

# A validation as files: `findings.json`, and `crawls.csv` with a row for each crawl and budget.
#
# `findings.json` tells of every topic how its crawls did in the mean over random seeds; the rows hold all there was.

FORMAT = "scenthound validation"
VERSION = 1
FINDINGS_FILE = "findings.json"
CRAWLS_FILE = "crawls.csv"

#: What a reader of the findings must know.
READING = (
    "Intervals are 95 % BCa bootstrap intervals of paired differences. With fewer than five topics they are over "
    "random seeds: the seeds of one topic are not independent topics, so such an interval says how other seeds would "
    "do on these topics, and nothing about other topics. From five topics on, they are over topics. A claim must also "
    "pass a permutation test, and its contrary another one to be refuted, p corrected by Holm's method among the "
    "claims of the finding; with fewer than five topics, five seeds are the least for that. Effects are means over "
    "both seed sets. A topic is dense if a larger share of the web's pages is good than for the median topic here. "
    "Distances are shortest ways from the seeds over the links of the recorded web that crawls are shown."
)


def is_validation_folder(folder: Path) -> bool:
    """Whether a folder is the leavings of a validation, and so may be replaced when told to."""
    try:
        about = json.loads((folder / FINDINGS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and about.get("format") == FORMAT


def as_json(validation: Validation) -> dict[str, Any]:
    """Plain values; what is no number is null."""
    values = {
        "format": FORMAT,
        "version": VERSION,
        "scenthound": version("scenthound"),
        "versions": versions(),
        "web": str(validation.web),
        "web_fingerprint": validation.web_fingerprint,
        "n_pages": validation.n_pages,
        "settings": _settings(validation),
        "notes": list(validation.notes),
        "reading": READING,
        "findings": [_finding(finding) for finding in validation.findings],
        "topics": list(_topics(validation)),
        "crawls": list(_means(validation)),
        "differences": list(_differences(validation)),
    }
    plain: dict[str, Any] = finite(values)
    return plain


def _settings(validation: Validation) -> dict[str, Any]:
    return validation.settings.as_json()


def _finding(finding: ValidatedFinding) -> dict[str, Any]:
    return {**asdict(finding), "verdict": finding.verdict.value}


def _topics(validation: Validation) -> Iterator[dict[str, Any]]:
    settings, measured = validation.settings, validation.measurements
    for place, (topic, start) in enumerate(zip(settings.topics, validation.starts, strict=True)):
        yield {
            "id": topic.id,
            "trained_on": place < len(settings.trained),
            "good_share": float(measured.good_share[place]),
            "dense": measured.is_dense[place],
            "seed_sets": {str(each): len(settings.seeds_of(start, each, seed=0)) for each in SEED_SETS},
            "training_pages": len(start.training),
            "held_out": len(start.targets),
        }


def _means(validation: Validation) -> Iterator[dict[str, Any]]:
    """By strategy, topic, seed set and budget: the mean over seeds of each measure, and the mean histograms."""
    settings, measured = validation.settings, validation.measurements
    by_strategy, by_topic = enumerate(settings.all_strategies), enumerate(settings.topics)
    by_set, by_budget = enumerate(SEED_SETS), enumerate(settings.budgets)
    for (s, strategy), (t, topic), (c, seed_set), (b, budget) in product(by_strategy, by_topic, by_set, by_budget):
        samples = {name: measured.sample(name, s, [t], seed_set, b) for name in MEASURES}
        yield {
            "strategy": strategy,
            "topic": topic.id,
            "seed_set": str(seed_set),
            "pages": budget,
            "mean": {name: sample.mean for name, sample in samples.items()},
            "standard_error": {name: sample.standard_error for name, sample in samples.items()},
            "pages_at_distance": measured.distances[s, t, c, :, b].mean(axis=0).tolist(),
            "good_pages_at_distance": measured.good_distances[s, t, c, :, b].mean(axis=0).tolist(),
        }


def _differences(validation: Validation) -> Iterator[dict[str, Any]]:
    """By strategy, topic, seed set, budget and measure: how much more than the one it is held against."""
    settings, measured = validation.settings, validation.measurements
    by_strategy, by_topic = enumerate(settings.strategies, 1), enumerate(settings.topics)
    for (s, strategy), (t, topic), seed_set, (b, budget) in product(
        by_strategy, by_topic, SEED_SETS, enumerate(settings.budgets)
    ):
        effects = {name: measured.difference(name, s, [t], [b], [seed_set]).effect() for name in MEASURES}
        yield {
            "strategy": strategy,
            "topic": topic.id,
            "seed_set": str(seed_set),
            "pages": budget,
            "effects": {name: asdict(effect) for name, effect in effects.items()},
        }


def crawls_csv(validation: Validation) -> str:
    """One row for each strategy, topic, seed set, random seed and budget."""
    settings, measured = validation.settings, validation.measurements
    table = io.StringIO(newline="")
    rows = csv.writer(table)
    rows.writerow(["strategy", "topic", "seed_set", "seed", "pages", *MEASURES])
    axes = (settings.all_strategies, [topic.id for topic in settings.topics], SEED_SETS, range(settings.repeats))
    for places in product(*(range(len(axis)) for axis in (*axes, settings.budgets))):
        *about, budget = places
        names = [axis[place] for axis, place in zip(axes, about, strict=True)]
        numbers = [float(measured.values[name][places]) for name in MEASURES]
        shown = ["" if math.isnan(number) else f"{number:.6g}" for number in numbers]
        rows.writerow([*names, settings.budgets[budget], *shown])
    return table.getvalue()


# The command line that makes a validation again: with the same strategies, topics and seed sets.


def reproduce_command(validation: Validation, topics_file: Path, out: Path) -> str:
    """`scenthound validate` with all that decides, into a folder beside `out`; empty if no command line can say it.
    Topics are named, so that those drawn by lot are the same."""
    settings, place = validation.settings, out.absolute()
    return command_line(
        ("scenthound", "validate"),
        [
            ("--web", validation.web),
            ("--topics", topics_file.absolute()),
            ("--strategy", settings.strategies),
            ("--against", settings.against),
            ("--topic", tuple(topic.id for topic in settings.trained)),
            ("--unseen", tuple(topic.id for topic in settings.unseen)),
            ("--pages", settings.budgets),
            ("--large", settings.n_large),
            ("--small", settings.n_small),
            ("--repeats", settings.repeats),
            ("--mode", settings.experiment.mode),
            ("--relevance", settings.relevance),
            ("--threshold", unless(settings.threshold, 0.5)),
            ("--closed-world", settings.experiment.closed_world),
            ("--follow-nofollow", not settings.experiment.respect_nofollow),
            ("--out", place.with_name(f"{place.name}-again")),
        ],
    )


def validate_into(
    out: Path,
    setup: ExperimentSetup,
    protocol: ValidationProtocol,
    *,
    force: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Validation:
    """Validate the wished strategies on the topics, and leave all that came of it in the folder `out`."""
    require_figures("Drawing a validation")
    check_replaceable(out, force, is_validation_folder)
    recorded, settings, notes = prepared(setup, protocol, progress)
    validation = validate(recorded, settings, notes=notes, workers=workers, progress=progress)
    with new_folder(out, force, is_validation_folder) as folder:
        _write(validation, folder, reproduce_command(validation, setup.topics.file, out))
    return validation


def _write(validation: Validation, folder: Path, repeat: str) -> None:
    values = {**as_json(validation), "repeat": repeat}
    contents = {
        FINDINGS_FILE: json.dumps(values, indent=1) + "\n",
        CRAWLS_FILE: crawls_csv(validation),
    }
    for name, content in contents.items():
        write_atomic(folder / name, content.encode("utf-8"))
    for name, image in _images(validation).items():
        write_atomic(folder / name, image)


def _images(validation: Validation) -> dict[str, bytes]:
    settings = validation.settings
    names = [f"{label}: {spec}" for label, spec in zip(settings.labels, settings.all_strategies, strict=True)]
    return figure_files(validation_figures(validation.measurements, names, settings.budgets, settings.groups()))
