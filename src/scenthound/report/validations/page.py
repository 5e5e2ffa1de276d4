"""The page of a validation: which findings of the study the strategies bear out, what was measured, and on which
topics."""

from collections.abc import Iterator
from pathlib import Path

from scenthound.lab.command_line import in_lines
from scenthound.lab.statistics import PairedSample, spread_told
from scenthound.lab.validating.measurements import SEED_SETS
from scenthound.report.number_words import mean_told
from scenthound.report.page.values import Block, Cell, Facts, Page, Prose, Section, TableBlock, Verbatim
from scenthound.report.setting_rows import setting_rows
from scenthound.report.studies.page import findings_blocks, findings_style, verdict_facts
from scenthound.report.studies.words import verdicts_told
from scenthound.report.validations.charts import ValidationCharts
from scenthound.report.validations.told import ToldValidation, read_validation
from scenthound.report.versions import versions_told

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
