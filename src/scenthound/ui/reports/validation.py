"""The page of a validation: which findings of the study the strategies bear out, what was measured, and on which
topics."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import in_lines
from scenthound.errors import InvalidInput, printable
from scenthound.experiments.findings import Claim, Finding, Verdict
from scenthound.experiments.statistics import Effect, PairedSample, spread_told
from scenthound.experiments.validate.crawls import MEASURES, SEED_SETS, Measurements
from scenthound.experiments.validate.settings import SeedSet
from scenthound.files import open_regular
from scenthound.model import FloatArray
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    Facts,
    Page,
    Prose,
    Section,
    Series,
    TableBlock,
    Verbatim,
    WinLoss,
)
from scenthound.ui.formats import mean_told, setting_rows, versions_told
from scenthound.ui.reports.study import findings_blocks, findings_style, verdict_facts, verdicts_told
from scenthound.ui.reports.validation_folder import CRAWLS_FILE, FINDINGS_FILE, FORMAT, VERSION, without_far_bins

# The charts of a validation's page: a measure after each number of pages, and how far from the seeds pages were.
#
# The study of 2003 shows the same as bars and histograms (figures 3 to 10). Whiskers are one standard error to either
# side; what it is over, the note of a chart says.

#: What bars show, and what their axes say.
BARS = {
    "fitness": "fitness: good pages / pages",
    "community_cohesiveness": "links into the community per page of it",
    "overall_cohesiveness": "links into the community per page visited",
}


class ValidationCharts:
    """The charts of one group of topics, which go by their places. `labels` are short names of all strategies."""

    def __init__(
        self, measured: Measurements, labels: Sequence[str], budgets: Sequence[int], topics: Sequence[int], name: str
    ) -> None:
        self._measured = measured
        self._labels = labels
        self._budgets = budgets
        self._topics = list(topics)
        self._name = name

    def bars(self, measure: str, title: str) -> Iterator[Chart]:
        """One for each seed set: a group of bars for each length of crawl."""
        for seed_set in SEED_SETS:
            yield self._bars(measure, seed_set, f"{title}, {seed_set} seed set")

    def _bars(self, measure: str, seed_set: SeedSet, title: str) -> Chart:
        places, lengths = np.arange(len(self._budgets), dtype=np.float64), range(len(self._budgets))
        series, drawn = [], []
        for strategy, label in enumerate(self._labels):
            samples = [self._measured.sample(measure, strategy, self._topics, seed_set, at) for at in lengths]
            means, errors = [each.mean for each in samples], [each.standard_error for each in samples]
            series.append(Series(label, places, np.array(means), np.array(errors)))
            drawn += samples
        return Chart(
            name=f"{measure}-{seed_set}-{self._name}",
            title=title,
            x_label="pages visited",
            y_label=BARS[measure],
            series=tuple(series),
            kind="bars",
            places=tuple(f"{budget:,}" for budget in self._budgets),
            note=f"{spread_told(drawn).capitalize()}.",
        )

    def distances(self, title: str) -> Iterator[Chart]:
        """Of all pages, and of the good ones, in crawls of the greatest length; both seed sets together."""
        kinds = {"pages": self._measured.distances, "good pages": self._measured.good_distances}
        for kind, counts in kinds.items():
            of_crawls = counts[:, self._topics][..., -1, :].mean(axis=(1, 2, 3))
            yield self._distances(kind, of_crawls, f"{title}, {kind} among the first {self._budgets[-1]:,}")

    def _distances(self, kind: str, counts: FloatArray, title: str) -> Chart:
        near, is_cut = without_far_bins(counts)
        last = near.shape[1] - 1
        places = [f"{at} or more" if is_cut and at == last else str(at) for at in range(last + 1)]
        x = np.arange(last + 1, dtype=np.float64)
        return Chart(
            name=f"distances-{kind.replace(' ', '-')}-{self._name}",
            title=title,
            x_label="links from the seeds",
            y_label=f"{kind} per crawl",
            series=tuple(Series(label, x, row) for label, row in zip(self._labels, near, strict=True)),
            kind="bars",
            places=tuple(places),
            note="Means over crawls from both seed sets.",
        )

    def win_loss(self, topics: Sequence[str]) -> WinLoss:
        """Fitness at the end, topic by topic, in the mean over seeds and seed sets; `topics` are the names of all."""
        values = self._measured.values["fitness"][:, self._topics][..., -1].mean(axis=(2, 3))
        return WinLoss(
            name=f"won-{self._name}",
            caption=f"Strategies beside {self._labels[0]}",
            against=self._labels[0],
            rows=tuple(self._labels[1:]),
            topics=tuple(topics[place] for place in self._topics),
            differences=values[1:] - values[0],
            note=f"{MEASURES['fitness'].capitalize()} after {self._budgets[-1]:,} pages, in the mean over random seeds "
            "and both seed sets; more than 0 is better.",
        )


# What the folder of a validation tells: its measurements and findings, read back from the files that it left.
#
# Numbers of single crawls are in `crawls.csv`, with six digits; all else is in `findings.json`. Histograms there are
# means over random seeds, so here they have a single one.


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
        raise InvalidInput(f"The files of the validation in {printable(folder)} are damaged: validate again.") from None


def _values(folder: Path) -> dict[str, Any]:
    try:
        values = json.loads((folder / FINDINGS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise InvalidInput(
            f"{printable(folder)} is not the folder of a validation: make one with `scenthound validate`."
        )
    if values.get("version") != VERSION:
        said = printable(values.get("version"), 40)
        raise InvalidInput(
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
    shape = len(specs), len(topics), len(SEED_SETS), int(settings.get("repeats") or settings["n_seeds"]), len(budgets)
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


#: What the tables show after all pages, beside the fitness after each length.
AT_THE_END = {
    "precision": "precision",
    "recall": "recall",
    "community_cohesiveness": "community cohesiveness",
    "overall_cohesiveness": "overall cohesiveness",
    "mean_distance": "mean links away",
    "maximum_distance": "most links away",
}
BAR_TITLES = {
    "fitness": "Fitness",
    "community_cohesiveness": "Community cohesiveness",
    "overall_cohesiveness": "Overall cohesiveness",
}


def validation_page(folder: Path) -> Page:
    """The page of the validation in a folder; BadInput if there is none."""
    told = read_validation(folder)
    strategies = f"{len(told.specs) - 1} strateg{'ies' if len(told.specs) > 2 else 'y'}"
    return Page(
        kind="validation",
        title=f"{strategies} against {told.specs[0]}",
        summary=tuple(_summary(told)),
        sections=tuple(section for section in _sections(told) if section.blocks),
        key_facts=tuple(verdict_facts(told.findings)),
        style=findings_style(),
    )


def _summary(told: ToldValidation) -> Iterator[str]:
    for label, spec in zip(told.labels[1:], told.specs[1:], strict=True):
        own = [each for each in told.findings if each.protocol.split(",")[0] == label]
        yield f"{spec}, here {label}: {verdicts_told(own)}."
    groups = " and ".join(f"{len(places)} {name}" for name, places in told.groups.items())
    lengths = ", ".join(f"{budget:,}" for budget in told.budgets)
    yield (
        f"Each is held against {told.specs[0]}, here {told.labels[0]}, in crawls of {lengths} pages from two seed "
        f"sets; topics: {groups}."
    )


def _sections(told: ToldValidation) -> Iterator[Section]:
    reading = f"Effects are differences to {told.specs[0]}. {told.values['reading']}"
    yield Section("Findings", findings_blocks(told.findings, reading) if told.findings else ())
    for group, places in told.groups.items():
        charts = ValidationCharts(told.measured, told.labels, told.budgets, places, group.replace(" ", "-"))
        bars = [chart for measure, title in BAR_TITLES.items() for chart in charts.bars(measure, title)]
        distances = charts.distances("Distances from the seeds")
        yield Section(f"Topics {group}", (*bars, *distances, charts.win_loss(told.topics)))
    yield Section("Tables", (*(_measures(told, group) for group in told.groups), _topics(told)))
    notes = tuple(map(str, told.values["notes"]))
    yield Section("Notes", (Prose(notes, as_list=True),) if notes else ())
    yield Section("Settings and versions", tuple(_settings(told)), folded=True)


def _measures(told: ToldValidation, group: str) -> TableBlock:
    last = len(told.budgets) - 1
    columns = {f"fitness at {budget:,}": ("fitness", place) for place, budget in enumerate(told.budgets)}
    columns |= {head: (name, last) for name, head in AT_THE_END.items()}
    topics = told.groups[group]
    samples = {
        (label, str(seed_set)): [
            told.measured.sample(name, place, topics, seed_set, at) for name, at in columns.values()
        ]
        for place, label in enumerate(told.labels)
        for seed_set in SEED_SETS
    }
    spread = spread_told(sample for row in samples.values() for sample in row)
    return TableBlock(
        name=f"measures-{group}",
        caption=f"What was measured on topics {group}",
        heads=("strategy", "seed set", *columns),
        rows=tuple((*map(Cell, row), *map(_cell, cells)) for row, cells in samples.items()),
        n_words=2,
        note=f"{spread.capitalize()}. Fitness is by the guide; precision and recall are by the pages that are known to "
        f"belong to a topic. All but fitness is after {told.budgets[-1]:,} pages.",
    )


def _cell(sample: PairedSample) -> Cell:
    return Cell(mean_told(sample.mean, sample.standard_error))


def _topics(told: ToldValidation) -> TableBlock:
    rows = []
    for topic in told.values["topics"]:
        group = "trained on" if topic["trained_on"] else "unseen"
        dense = "dense" if topic["dense"] else "sparse"
        sizes = (str(topic["seed_sets"][str(each)]) for each in SEED_SETS)
        rows.append((str(topic["id"]), group, dense, f"{topic['good_share']:.2%}", *sizes, str(topic["held_out"])))
    return TableBlock(
        name="topics",
        caption="The topics",
        heads=("topic", "group", "", "good pages", *(f"{each} seed set" for each in SEED_SETS), "held out"),
        rows=tuple(tuple(map(Cell, row)) for row in rows),
        n_words=3,
        note="Good pages are the share of the web's pages that the guide calls good. A topic is dense if it has more "
        "of them than the median topic here.",
    )


def _settings(told: ToldValidation) -> Iterator[Block]:
    yield Facts(tuple(_facts(told)))
    if told.values.get("repeat"):
        yield Verbatim("This command makes the validation again", in_lines(told.values["repeat"]))


def _facts(told: ToldValidation) -> Iterator[tuple[str, str]]:
    values = told.values
    for label, spec in zip(told.labels, told.specs, strict=True):
        yield f"strategy {label}", spec
    yield "web", str(values["web"])
    yield "fingerprint of the web", str(values["web_fingerprint"])
    yield "pages of the web", f"{values['n_pages']:,}"
    yield from setting_rows(values["settings"])
    yield "versions", versions_told(values.get("versions", {"scenthound": values["scenthound"]}))
