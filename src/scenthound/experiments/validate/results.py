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
from scenthound.experiments.starts import DEFAULT_TRAINING_PAGES
from scenthound.experiments.validate.crawls import MEASURES, SEED_SETS
from scenthound.experiments.validate.settings import ValidationProtocol
from scenthound.experiments.validate.validation import Validation, prepared, validate
from scenthound.files import write_atomic
from scenthound.model import Progress, silent
from scenthound.processes import WorkersLike
from scenthound.records import to_json
from scenthound.store.folder import ResultFolder, check_replaceable

FINDINGS_FILE = "findings.json"
CRAWLS_FILE = "crawls.csv"

#: How to read the findings.
READING = (
    "Intervals are 95 % BCa bootstrap intervals of paired differences. With fewer than five topics they are over "
    "random seeds: the seeds of one topic are not independent topics, so such an interval says how other seeds would "
    "do on these topics, and nothing about other topics. From five topics on, they are over topics. A claim must also "
    "pass a permutation test, and its contrary another one to be refuted, p corrected by Holm's method among the "
    "claims of the finding; with fewer than five topics, five seeds are the least for that. Effects are means over "
    "both seed sets; those of H17 are differences of weights, over searches instead of seeds. A topic is dense if a "
    "larger share of the web's pages is good than for the median topic here. Distances are shortest paths from the "
    "seeds over the links of the recorded web that crawls see."
)


def as_json(validation: Validation) -> dict[str, Any]:
    """The content of `findings.json`, except for its format."""
    return {
        "scenthound": version("scenthound"),
        "versions": versions(),
        "web": validation.web,
        "web_fingerprint": validation.web_fingerprint,
        "n_pages": validation.n_pages,
        "settings": validation.settings.as_json(),
        "notes": validation.notes,
        "reading": READING,
        "findings": [{**to_json(each), "verdict": each.verdict} for each in validation.findings],
        "topics": list(_topics(validation)),
        "crawls": list(_means(validation)),
        "differences": list(_differences(validation)),
    }


def _topics(validation: Validation) -> Iterator[dict[str, Any]]:
    settings, measured = validation.settings, validation.measurements
    for index, (topic, start) in enumerate(zip(settings.topics, validation.starts, strict=True)):
        yield {
            "id": topic.id,
            "trained_on": index < settings.n_trained,
            "good_share": measured.good_share[index],
            "dense": measured.is_dense[index],
            "seed_sets": {seed_set: len(settings.seeds_of(start, seed_set)) for seed_set in SEED_SETS},
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
            "seed_set": seed_set,
            "pages": budget,
            "mean": {name: sample.mean for name, sample in samples.items()},
            "standard_error": {name: sample.standard_error for name, sample in samples.items()},
            "pages_at_distance": measured.distances[s, t, c, :, b].mean(axis=0),
            "good_pages_at_distance": measured.good_distances[s, t, c, :, b].mean(axis=0),
        }


def _differences(validation: Validation) -> Iterator[dict[str, Any]]:
    """By strategy, topic, seed set, budget and measure: the difference to the baseline."""
    settings, measured = validation.settings, validation.measurements
    by_strategy = enumerate(settings.strategies, 1)
    by_topic, by_budget = enumerate(settings.topics), enumerate(settings.budgets)
    for (s, strategy), (t, topic), seed_set, (b, budget) in product(by_strategy, by_topic, SEED_SETS, by_budget):
        yield {
            "strategy": strategy,
            "topic": topic.id,
            "seed_set": seed_set,
            "pages": budget,
            "effects": {name: measured.difference(name, s, [t], [b], [seed_set]).effect() for name in MEASURES},
        }


def crawls_csv(validation: Validation) -> str:
    """One row for each strategy, topic, seed set, random seed and budget."""
    settings, values = validation.settings, validation.measurements.values
    topics = [topic.id for topic in settings.topics]
    axes = (settings.all_strategies, topics, SEED_SETS, range(settings.repeats), settings.budgets)
    names, indices = product(*axes), product(*(range(len(axis)) for axis in axes))
    rows = (
        [*about, *(csv_number(float(values[measure][index])) for measure in MEASURES)]
        for about, index in zip(names, indices, strict=True)
    )
    return csv_text(["strategy", "topic", "seed_set", "seed", "pages", *MEASURES], rows)


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
            ("--training-pages", unless(settings.experiment.training_pages, DEFAULT_TRAINING_PAGES)),
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
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Validation:
    """Validate strategies, and write the result to the folder `out`."""
    if render is not None:
        render.check()
    check_replaceable(out, "validation", force=force)
    recorded, settings, notes = prepared(setup, protocol, progress)
    validation = validate(recorded, settings, notes=notes, workers=workers, progress=progress)
    images = {} if render is None else render.figures(validation, silent)
    with ResultFolder.create(out, kind="validation", force=force) as folder:
        command = reproduce_command(validation, setup.topics.file, out)
        folder.write_json(FINDINGS_FILE, {**as_json(validation), "repeat": command})
        for name, content in {CRAWLS_FILE: crawls_csv(validation).encode("utf-8"), **images}.items():
            write_atomic(folder.path / name, content)
    return validation
