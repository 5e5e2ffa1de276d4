"""The report of a validation: verdicts on the findings of johnson2003, measurements and topics."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.findings import Claim, Finding
from scenthound.experiments.validate.crawls import MEASURES, SEED_SETS, Measurements
from scenthound.experiments.validate.results import CRAWLS_FILE, measures_table, topics_table
from scenthound.files import machine_fault, open_regular
from scenthound.model import FloatArray
from scenthound.records import from_json
from scenthound.store.folder import ResultFolder
from scenthound.ui.document import Document, Section, notes_section, settings_section
from scenthound.ui.formats import counted, setting_rows
from scenthound.ui.reports.findings import findings_blocks, verdict_counts, verdict_facts
from scenthound.ui.reports.study import table_block
from scenthound.ui.reports.validation_charts import TITLES, ValidationCharts

#: The protocol of a finding about all searches.
ALL_SEARCHES = "all searches"


class StoredValidation:
    """The folder of a validation; InvalidInput if it is something else, has another version, or is damaged.

    Values of single crawls are in `crawls.csv`, with six digits, all else is in `findings.json`. Histograms are stored
    as means over random seeds, and therefore have a single one here.
    """

    def __init__(self, folder: Path) -> None:
        #: The content of `findings.json`.
        self.values = ResultFolder.open(folder, kind="validation").about
        try:
            with open_regular(folder / CRAWLS_FILE) as file, TextIOWrapper(file, encoding="utf-8", newline="") as text:
                self._read(list(csv.DictReader(text)))
        except (OSError, KeyError, TypeError, ValueError, IndexError, AttributeError) as reason:
            raise InvalidInput(
                machine_fault(folder / CRAWLS_FILE, reason)
                or f"The validation in {printable(folder)} is damaged: make it again."
            ) from None

    def _read(self, rows: Sequence[Mapping[str, str]]) -> None:
        """The rows of `crawls.csv` are in the order of the axes."""
        settings, topics = self.values["settings"], self.values["topics"]
        #: All strategies, and short names of them.
        self.specs = (str(settings["against"]), *map(str, settings["strategies"]))
        self.labels = ("base", *(f"S{number}" for number in range(1, len(self.specs))))
        self.budgets = tuple(map(int, settings["budgets"]))
        #: The indices of topics by whether the strategies were trained on them.
        self.groups: dict[str, list[int]] = {}
        for name, is_trained in (("trained on", True), ("unseen", False)):
            if indices := [index for index, topic in enumerate(topics) if bool(topic["trained_on"]) is is_trained]:
                self.groups[name] = indices
        before, n_budgets = (len(self.specs), len(topics), len(SEED_SETS)), len(self.budgets)

        def histograms(name: str) -> FloatArray:
            counts = np.array([crawl[name] for crawl in self.values["crawls"]], np.float64)
            return counts.reshape(*before, 1, n_budgets, -1)

        shape = *before, int(settings["repeats"]), n_budgets
        self.measured = Measurements(
            {name: np.array([float(row[name] or nan) for row in rows]).reshape(shape) for name in MEASURES},
            histograms("pages_at_distance"),
            histograms("good_pages_at_distance"),
            np.array([float(topic["good_share"]) for topic in topics]),
        )
        label_of = dict(zip(self.specs, self.labels, strict=True))
        self.findings = tuple(_finding(each, label_of) for each in self.values["findings"])


def validation_report(folder: Path) -> Document:
    stored = StoredValidation(folder)
    return Document(
        kind="validation",
        title=f"{counted(len(stored.specs) - 1, 'strategy')} against {stored.specs[0]}",
        summary=tuple(_summary(stored)),
        sections=tuple(_sections(stored)),
        key_facts=verdict_facts(stored.findings),
    )


def _summary(stored: StoredValidation) -> Iterator[str]:
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


def _sections(stored: StoredValidation) -> Iterator[Section]:
    reading = f"Effects are differences to {stored.specs[0]}. {stored.values['reading']}"
    yield Section("Findings", findings_blocks(stored.findings, reading))
    for group, topics in stored.groups.items():
        charts = ValidationCharts(stored.measured, stored.labels, stored.budgets, topics, group.replace(" ", "-"))
        figures = [chart for measure, title in TITLES.items() for chart in charts.of(measure, title)]
        yield Section(f"Topics {group}", tuple(figures))
    tables = [
        measures_table(stored.measured, stored.labels, stored.budgets, topics, f"topics {group}")
        for group, topics in stored.groups.items()
    ]
    tables.append(topics_table(stored.values["topics"], "trained on"))
    yield Section("Tables", tuple(map(table_block, tables)))
    yield notes_section(tuple(map(str, stored.values["notes"])))
    yield _settings(stored)


def _settings(stored: StoredValidation) -> Section:
    values = stored.values
    strategies = ((f"strategy {label}", spec) for label, spec in zip(stored.labels, stored.specs, strict=True))
    facts = (
        *strategies,
        ("web", str(values["web"])),
        ("pages of the web", f"{values['n_pages']:,}"),
        *setting_rows(values["settings"]),
    )
    return settings_section(facts, values, values.get("repeat") or "", "Command to repeat the validation")


def _finding(each: Mapping[str, Any], label_of: Mapping[str, str]) -> Finding:
    claims = tuple(from_json(Claim, claim) for claim in each["claims"])
    label = label_of[each["strategy"]] if each["strategy"] else ALL_SEARCHES
    return named_finding(str(each["name"]), str(each["says"]), label, each["topics"], claims)


def named_finding(name: str, says: str, label: str, topics: str, claims: tuple[Claim, ...]) -> Finding:
    """The protocol of a finding is its strategy and its group of topics. H17 has neither."""
    return Finding(name, says, f"{label}, topics {topics}" if topics else label, claims)
