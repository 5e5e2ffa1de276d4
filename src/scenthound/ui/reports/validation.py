"""The report of a validation: verdicts on the findings of johnson2003, measurements and topics."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.findings import Claim, Finding
from scenthound.experiments.setup import with_new_names
from scenthound.experiments.statistics import PairedSample, describe_spread
from scenthound.experiments.validate.crawls import FINAL_MEASURES, MEASURES, SEED_SETS, Measurements
from scenthound.experiments.validate.results import CRAWLS_FILE
from scenthound.experiments.validate.settings import SeedSet
from scenthound.files import machine_fault, open_regular
from scenthound.model import FloatArray
from scenthound.records import from_json
from scenthound.store.folder import ResultFolder
from scenthound.ui.document import Cell, Document, Section, Table, notes_section, settings_section
from scenthound.ui.formats import counted, format_mean, setting_rows, version_rows
from scenthound.ui.reports.findings import findings_blocks, verdict_counts, verdict_facts
from scenthound.ui.reports.validation_charts import BARS, DISTANCES, DISTANCES_TITLE, ValidationCharts

#: The protocol of a finding about all searches.
ALL_SEARCHES = "all searches"


def validation_report(folder: Path) -> Document:
    """InvalidInput if the folder is not a validation."""
    stored = read_validation(folder)
    return Document(
        kind="validation",
        title=f"{counted(len(stored.specs) - 1, 'strategy')} against {stored.specs[0]}",
        summary=tuple(_summary(stored)),
        sections=tuple(_sections(stored)),
        key_facts=verdict_facts(stored.findings),
    )


def _summary(stored: "StoredValidation") -> Iterator[str]:
    for label, spec in zip(stored.labels[1:], stored.specs[1:], strict=True):
        own = [each for each in stored.findings if each.protocol.split(",")[0] == label]
        yield f"{spec} ({label}): {verdict_counts(own)}."
    searches = [each for each in stored.findings if each.protocol == ALL_SEARCHES]
    if searches:
        yield f"The weights of all searches: {verdict_counts(searches)}."
    groups = " and ".join(f"{len(topics)} {name}" for name, topics in stored.groups.items())
    lengths = ", ".join(f"{budget:,}" for budget in stored.budgets)
    yield (
        f"Each is compared with {stored.specs[0]} ({stored.labels[0]}) in crawls of {lengths} pages from two seed "
        f"sets; topics: {groups}."
    )


def _sections(stored: "StoredValidation") -> Iterator[Section]:
    reading = f"Effects are differences to {stored.specs[0]}. {stored.values['reading']}"
    yield Section("Findings", findings_blocks(stored.findings, reading))
    titles = {measure: title for measure, (title, _) in BARS.items()} | {DISTANCES: DISTANCES_TITLE}
    for group, topics in stored.groups.items():
        charts = ValidationCharts(stored.measured, stored.labels, stored.budgets, topics, group.replace(" ", "-"))
        figures = [chart for measure, title in titles.items() for chart in charts.of(measure, title)]
        yield Section(f"Topics {group}", (*figures, charts.win_loss(stored.topics)))
    tables = [
        table
        for group, topics in stored.groups.items()
        for table in measures_tables(stored.measured, stored.labels, stored.budgets, topics, f"topics {group}")
    ]
    yield Section("Tables", (*tables, _topics(stored)))
    yield notes_section(tuple(map(str, stored.values["notes"])))
    yield _settings(stored)


def measures_tables(
    measured: Measurements, labels: Sequence[str], budgets: Sequence[int], topics: Sequence[int], group: str
) -> Iterator[Table]:
    """Fitness after each number of pages, and the other measures at the end: a row for each strategy and seed set."""
    last = len(budgets) - 1
    fitness = {f"after {budget:,} pages": ("fitness", at) for at, budget in enumerate(budgets)}
    final = {name.replace("_", " "): (name, last) for name in FINAL_MEASURES}
    captions = {
        f"Fitness on {group}": (
            fitness,
            "Fitness is the share of pages that the relevance model scores above the threshold.",
        ),
        f"After {budgets[-1]:,} pages on {group}": (
            final,
            "Precision and recall are by the pages known to belong to a topic; distances are in links from the seeds.",
        ),
    }
    for caption, (columns, note) in captions.items():
        samples = measured.samples(labels, topics, columns.values())
        spread = describe_spread(sample for row in samples.values() for sample in row)
        yield Table(
            name=caption,
            caption=caption,
            columns=("strategy", "seed set", *columns),
            rows=tuple((*map(Cell, row), *map(_mean, cells)) for row, cells in samples.items()),
            n_text_columns=2,
            note=f"{spread.capitalize()}. {note}",
        )


def _mean(sample: PairedSample) -> Cell:
    return Cell(format_mean(sample.mean, sample.standard_error))


def _topics(stored: "StoredValidation") -> Table:
    columns = {
        "topic": lambda topic: str(topic["id"]),
        "group": lambda topic: "trained on" if topic["trained_on"] else "unseen",
        "": lambda topic: "dense" if topic["dense"] else "sparse",
        "good pages": lambda topic: f"{topic['good_share']:.2%}",
        **{f"{each} seed set": _seed_set_size(each) for each in SEED_SETS},
        "held out": lambda topic: str(topic["held_out"]),
    }
    return Table.build(
        "topics",
        "Topics",
        columns,
        stored.values["topics"],
        n_text_columns=3,
        note="Good pages are the share of the pages of the web that the relevance model scores above the threshold. A "
        "topic is dense if it has more of them than the median topic here.",
    )


def _seed_set_size(seed_set: SeedSet) -> Callable[[Mapping[str, Any]], str]:
    return lambda topic: str(topic["seed_sets"][str(seed_set)])


def _settings(stored: "StoredValidation") -> Section:
    values = stored.values
    strategies = ((f"strategy {label}", spec) for label, spec in zip(stored.labels, stored.specs, strict=True))
    facts = (
        *strategies,
        ("web", str(values["web"])),
        ("fingerprint of the web", str(values["web_fingerprint"])),
        ("pages of the web", f"{values['n_pages']:,}"),
        *setting_rows(values["settings"]),
        *version_rows(values),
    )
    return settings_section(facts, values.get("repeat") or "", "Command to repeat the validation")


# Reading the folder of a validation. Values of single crawls are in `crawls.csv`, with six digits, all else is in
# `findings.json`. Histograms are stored as means over random seeds, and therefore have a single one here.


@dataclass(frozen=True, slots=True)
class StoredValidation:
    """`labels` are short names of all strategies, `groups` the indices of topics by whether the strategies were trained
    on them. `values` is the content of `findings.json`."""

    labels: tuple[str, ...]
    specs: tuple[str, ...]
    budgets: tuple[int, ...]
    topics: tuple[str, ...]
    groups: Mapping[str, tuple[int, ...]]
    measured: Measurements
    findings: tuple[Finding, ...]
    values: Mapping[str, Any]


def read_validation(folder: Path) -> StoredValidation:
    """InvalidInput if the folder is not a validation, has another version, or is damaged."""
    values = _values(folder)
    try:
        with open_regular(folder / CRAWLS_FILE) as file:
            text = TextIOWrapper(file, encoding="utf-8", newline="")
            return _stored(values, list(csv.DictReader(text)))
    except (OSError, KeyError, TypeError, ValueError, IndexError, AttributeError) as reason:
        raise InvalidInput(
            machine_fault(folder / CRAWLS_FILE, reason)
            or f"The validation in {printable(folder)} is damaged: make it again."
        ) from None


def _values(folder: Path) -> dict[str, Any]:
    about = ResultFolder.open(folder, kind="validation").about
    if isinstance(about.get("settings"), dict):
        about["settings"] = with_new_names(about["settings"])
    return about


def _stored(values: Mapping[str, Any], rows: Sequence[Mapping[str, str]]) -> StoredValidation:
    settings, topics = values["settings"], values["topics"]
    specs = (str(settings["against"]), *map(str, settings["strategies"]))
    labels = ("base", *(f"S{number}" for number in range(1, len(specs))))
    budgets = tuple(map(int, settings["budgets"]))
    trained = [index for index, topic in enumerate(topics) if topic["trained_on"]]
    unseen = [index for index in range(len(topics)) if index not in trained]
    groups = {"trained on": tuple(trained), "unseen": tuple(unseen)}
    repeats = int(settings["repeats"])
    shape = len(specs), len(topics), len(SEED_SETS), repeats, len(budgets)
    return StoredValidation(
        labels=labels,
        specs=specs,
        budgets=budgets,
        topics=tuple(str(topic["id"]) for topic in topics),
        groups={name: indices for name, indices in groups.items() if indices},
        measured=_measured(values, rows, shape),
        findings=tuple(_finding(each, dict(zip(specs, labels, strict=True))) for each in values["findings"]),
        values=values,
    )


def _measured(
    values: Mapping[str, Any], rows: Sequence[Mapping[str, str]], shape: tuple[int, int, int, int, int]
) -> Measurements:
    """Rows of the files are in the order of the axes."""
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
    claims = tuple(from_json(Claim, claim) for claim in each["claims"])
    label = label_of[each["strategy"]] if each["strategy"] else ALL_SEARCHES
    return named_finding(str(each["name"]), str(each["says"]), label, each["topics"], claims)


def named_finding(name: str, says: str, label: str, topics: str, claims: tuple[Claim, ...]) -> Finding:
    """The protocol of a finding is its strategy and its group of topics. H17 has neither."""
    return Finding(name, says, f"{label}, topics {topics}" if topics else label, claims)
