"""The result of a validation as files: `findings.json`, and `crawls.csv` with a row for each crawl and budget.

`findings.json` has the results of every topic, averaged over random seeds; `crawls.csv` has all values.
"""

from collections.abc import Iterator
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from scenthound.command_line import command_line, unless
from scenthound.experiments.results import Renderer, csv_number, csv_text, versions
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.validate.crawls import MEASURES, SEED_SETS
from scenthound.experiments.validate.settings import ValidationProtocol
from scenthound.experiments.validate.validation import Validation, prepared, validate
from scenthound.files import write_atomic
from scenthound.model import Progress, silent
from scenthound.records import to_json
from scenthound.store.folder import KNOWN_KINDS, ResultFolder, check_replaceable, is_kind

FINDINGS_FILE = "findings.json"
CRAWLS_FILE = "crawls.csv"

#: How to read the findings.
READING = (
    "Intervals are 95 % BCa bootstrap intervals of paired differences. With fewer than five topics they are over "
    "random seeds: the seeds of one topic are not independent topics, so such an interval says how other seeds would "
    "do on these topics, and nothing about other topics. From five topics on, they are over topics. A claim must also "
    "pass a permutation test, and its contrary another one to be refuted, p corrected by Holm's method among the "
    "claims of the finding; with fewer than five topics, five seeds are the least for that. Effects are means over "
    "both seed sets. A topic is dense if a larger share of the web's pages is good than for the median topic here. "
    "Distances are shortest ways from the seeds over the links of the recorded web that crawls are shown."
)


def as_json(validation: Validation) -> dict[str, Any]:
    """The content of `findings.json`: plain values, null for NaN."""
    values = {
        "format": KNOWN_KINDS["validation"].format,
        "version": KNOWN_KINDS["validation"].version,
        "scenthound": version("scenthound"),
        "versions": versions(),
        "web": str(validation.web),
        "web_fingerprint": validation.web_fingerprint,
        "n_pages": validation.n_pages,
        "settings": validation.settings.as_json(),
        "notes": list(validation.notes),
        "reading": READING,
        "findings": [{**to_json(each), "verdict": each.verdict.value} for each in validation.findings],
        "topics": list(_topics(validation)),
        "crawls": list(_means(validation)),
        "differences": list(_differences(validation)),
    }
    plain: dict[str, Any] = to_json(values)
    return plain


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
    """By strategy, topic, seed set, budget and measure: the difference to the baseline."""
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
            "effects": effects,
        }


def crawls_csv(validation: Validation) -> str:
    """One row for each strategy, topic, seed set, random seed and budget."""
    return csv_text(["strategy", "topic", "seed_set", "seed", "pages", *MEASURES], _crawl_rows(validation))


def _crawl_rows(validation: Validation) -> Iterator[list[Any]]:
    settings, measured = validation.settings, validation.measurements
    axes = (settings.all_strategies, [topic.id for topic in settings.topics], SEED_SETS, range(settings.repeats))
    for index in product(*(range(len(axis)) for axis in (*axes, settings.budgets))):
        *about, budget = index
        names = [axis[at] for axis, at in zip(axes, about, strict=True)]
        numbers = [csv_number(float(measured.values[name][index])) for name in MEASURES]
        yield [*names, settings.budgets[budget], *numbers]


def reproduce_command(validation: Validation, topics_file: Path, out: Path) -> str:
    """The `scenthound validate` command that repeats the validation into a folder beside `out`; empty if it cannot be
    written. Topics are listed by id, so that those drawn at random are the same."""
    settings, path = validation.settings, out.absolute()
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
            ("--out", path.with_name(f"{path.name}-again")),
        ],
    )


def validate_into(
    out: Path,
    setup: ExperimentSetup,
    protocol: ValidationProtocol,
    *,
    render: Renderer[Validation] | None = None,
    force: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Validation:
    """Validate strategies, and write the result to the folder `out`."""
    if render is not None:
        render.check()
    check_replaceable(out, force, lambda path: is_kind(path, "validation"))
    recorded, settings, notes = prepared(setup, protocol, progress)
    validation = validate(recorded, settings, notes=notes, workers=workers, progress=progress)
    images = {} if render is None else render.figures(validation, silent)
    with ResultFolder.create(out, kind="validation", force=force) as folder:
        command = reproduce_command(validation, setup.topics.file, out)
        folder.write_json(FINDINGS_FILE, {**as_json(validation), "repeat": command})
        for name, content in {CRAWLS_FILE: crawls_csv(validation).encode("utf-8"), **images}.items():
            write_atomic(folder.path / name, content)
    return validation
