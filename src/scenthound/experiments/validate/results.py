"""The result of a validation as files: `findings.json`, and `crawls.csv` with a row for each crawl and budget.

`findings.json` has the results of every topic, averaged over random seeds; `crawls.csv` has all values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from scenthound.experiments.options import ValidateOptions
from scenthound.experiments.results import Renderer, csv_number, csv_text, versions
from scenthound.experiments.setup import ExperimentSetup, reproduce_command
from scenthound.experiments.statistics import PairedSample, describe_spread
from scenthound.experiments.study.tables import Table, file_name, format_number
from scenthound.experiments.validate.crawls import FINAL_MEASURES, MEASURES, SEED_SETS, Measurements
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
        "topics": list(topic_values(validation)),
        "crawls": list(_means(validation)),
    }


def topic_values(validation: Validation) -> Iterator[dict[str, Any]]:
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


def measures_table(
    measured: Measurements, labels: Sequence[str], budgets: Sequence[int], topics: Sequence[int], group: str
) -> Table:
    """Fitness after each number of pages, and the other measures at the end: a row for each strategy and seed set."""
    columns = {f"fitness at {budget:,}": ("fitness", index) for index, budget in enumerate(budgets)}
    columns |= {name.replace("_", " "): (name, len(budgets) - 1) for name in FINAL_MEASURES}
    samples = measured.samples(labels, topics, columns.values())
    spread = describe_spread(sample for row in samples.values() for sample in row)
    return Table(
        name=f"measures-{file_name(group)}",
        caption=f"Measurements on {group}",
        heads=("strategy", "seed set", *columns),
        rows=tuple((*row, *map(_cell, cells)) for row, cells in samples.items()),
        note=f"{spread[0].upper()}{spread[1:]}. Fitness is by the relevance model; precision and recall are by the "
        f"pages known to belong to a topic. All but fitness is after {budgets[-1]:,} pages.",
    )


def _cell(sample: PairedSample) -> str:
    mean, error = format_number(sample.mean), format_number(sample.standard_error)
    return mean if error == "-" else f"{mean} ± {error}"


def topics_table(topics: Iterable[Mapping[str, Any]], trained: str) -> Table:
    """The topics as `findings.json` has them; `trained` is what those are called that strategies were evolved on."""
    rows = tuple(
        (
            topic["id"],
            trained if topic["trained_on"] else "unseen",
            f"{topic['good_share']:.2%}",
            "dense" if topic["dense"] else "sparse",
            *(str(topic["seed_sets"][str(seed_set)]) for seed_set in SEED_SETS),
            str(topic["held_out"]),
        )
        for topic in topics
    )
    return Table(
        name="topics",
        caption="The topics",
        heads=("topic", "group", "good pages", "", *(f"{each} seed set" for each in SEED_SETS), "held out"),
        rows=rows,
        note="Good pages are the share of the web's pages that the relevance model rates as good. A topic is dense if "
        "it has more of them than the median topic of its group.",
    )


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


def _repeat(validation: Validation, topics_file: Path, out: Path) -> str:
    """The command that repeats the validation into a folder beside `out`. Topics are listed by id, so that those drawn
    at random are the same."""
    settings, path = validation.settings, out.absolute()
    values = asdict(settings.experiment) | {
        "web": validation.web,
        "topics": topics_file.absolute(),
        "strategies": settings.strategies,
        "against": settings.against,
        "topic": tuple(topic.id for topic in settings.trained) or None,
        "unseen": tuple(topic.id for topic in settings.unseen),
        "pages": settings.budgets,
        "large": settings.n_large,
        "small": settings.n_small,
        "threshold": settings.threshold,
        "out": path.with_name(f"{path.name}-again"),
    }
    return reproduce_command("validate", ValidateOptions, values)


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
        command = _repeat(validation, setup.topics.file, out)
        folder.write_json(FINDINGS_FILE, {**as_json(validation), "repeat": command})
        for name, content in {CRAWLS_FILE: crawls_csv(validation).encode("utf-8"), **images}.items():
            write_atomic(folder.path / name, content)
    return validation
