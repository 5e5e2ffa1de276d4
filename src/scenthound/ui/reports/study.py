"""The report of a study: findings, figures, tables, and the command that repeats it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from scenthound.command_line import command_line, in_lines
from scenthound.experiments.johnson2003.results import Johnson2003Study
from scenthound.experiments.results import Renderer, versions
from scenthound.experiments.study import tables as study_tables
from scenthound.experiments.study.measures import BOUNDS, ArmMeasurements, Measured, arm_named
from scenthound.experiments.study.results import SETTINGS_FILE, settings_toml
from scenthound.experiments.study.study import Study
from scenthound.experiments.study.tables import Panel, Picture
from scenthound.model import Progress
from scenthound.ui.document import (
    Cell,
    Chart,
    CodeBlock,
    Document,
    Facts,
    Figure,
    Section,
    Series,
    Table,
    notes_section,
)
from scenthound.ui.figures import figure_files, require_figures
from scenthound.ui.formats import ERRORS_NOTE, counted, format_versions
from scenthound.ui.html import document_html
from scenthound.ui.reports.findings import findings_blocks, verdict_facts, verdict_lines
from scenthound.ui.reports.johnson2003 import johnson2003_figures
from scenthound.ui.reports.run import curve_series

BOUND_NAMES = dict(zip(BOUNDS, ("random", "greedy oracle"), strict=True))
#: Numbers with their signs, units, errors and marks of significance.
NUMBER = re.compile(r"([<>] ?)?[-+]?[\d.,]+(e[-+]?\d+)?( ?%)?( ?± ?[\d.,]+(e[-+]?\d+)?)?([*†‡]*)|-|")
MARKS = "*†‡"


def study_report(study: Study, out: Path) -> Document:
    """The report of a study whose folder is `out`; sections without content are left out."""
    command = reproduce_command(study, out)
    again = (CodeBlock("Command to run the study again", in_lines(command)),) if command else ()
    sections = (
        Section("Findings", findings_blocks(study.findings, study.reading)),
        *(Section(figure_title(each.name, each.caption), each.charts) for each in study_figures(study)),
        Section("Tables", tuple(map(table_block, study.tables))),
        notes_section(study.notes),
        Section("This run", (Facts(tuple(_run_facts(study))), *again)),
        Section("Settings", (CodeBlock(SETTINGS_FILE, settings_toml(study.settings)),), collapsed=True),
    )
    return Document(
        kind="study",
        title=f"{study.settings.study}: {study.settings.title}",
        summary=(*verdict_lines(study.findings), _setting_text(study)),
        sections=sections,
        key_facts=verdict_facts(study.findings),
    )


# Figures


def study_figures(study: Study) -> list[Figure]:
    if isinstance(study, Johnson2003Study):
        return list(johnson2003_figures(study))
    return [study_figure(picture, study.arms) for picture in study.pictures]


def study_figure(picture: Picture, arms: Sequence[ArmMeasurements]) -> Figure:
    charts = tuple(
        _chart(f"{picture.name}-{number}", panel, arm_named(arms, panel.arm), picture.caption)
        for number, panel in enumerate(picture.panels, 1)
    )
    return Figure(picture.name, picture.caption, charts)


def figure_title(name: str, caption: str) -> str:
    """With the number of the paper's figure, unless the caption has it."""
    number = re.match(r"figure-(\d+[a-z]?)(?:-|$)", name)
    return f"Figure {number[1]}. {caption}" if number and not caption.startswith("Figure") else caption


def _chart(name: str, panel: Panel, arm: ArmMeasurements, caption: str) -> Chart:
    has_curves = panel.kind == "curves"
    names = panel.measure_names or tuple(map(measure_name, panel.measures))
    measured = arm.of(panel.measures[0])
    return Chart(
        name=name,
        title=panel.title or caption,
        x_label=panel.x_label if has_curves else "",
        y_label=_y_label(panel, measured),
        series=tuple(_curves(panel, arm) if has_curves else _bars(panel, arm)),
        kind=panel.kind,
        categories=() if has_curves else (names if len(names) > 1 else ("",)),
        note=f"Means over topics. {ERRORS_NOTE}",
        lower_is_better=measured.lower_is_better,
    )


def measure_name(measure: str) -> str:
    """The label of bars: the classifier or ranking, where measures differ only in that."""
    return measure.rpartition("by=")[2].replace("_", " ")


def _y_label(panel: Panel, measured: Measured) -> str:
    has_it = "low" in panel.y_label.lower()
    return f"{panel.y_label} (lower is better)" if measured.lower_is_better and not has_it else panel.y_label


def _curves(panel: Panel, arm: ArmMeasurements) -> Iterator[Series]:
    measure = panel.measures[0]
    for label in panel.crawlers or arm.labels:
        yield curve_series(label, arm.of(measure).curve(arm.index(label)))
    if panel.with_bounds and measure in arm.bounds:
        for row, name in enumerate(BOUND_NAMES.values()):
            curve = arm.bounds[measure].curve(row)
            yield Series(name, curve.steps.astype(np.float64), curve.mean, reference=True)


def _bars(panel: Panel, arm: ArmMeasurements) -> Iterator[Series]:
    """A group of bars for each measure, at the end of the crawls."""
    for label in panel.crawlers or arm.labels:
        ends = [arm.of(measure).curve(arm.index(label)) for measure in panel.measures]
        means, errors = [end.mean[-1] for end in ends], [end.standard_error[-1] for end in ends]
        yield Series(label, np.arange(len(ends), dtype=np.float64), np.array(means), np.array(errors))


# Tables


def table_block(table: study_tables.Table) -> Table:
    """The first column names the rows; columns are numbers from the one on after which all are."""
    text_columns = [at + 1 for at in range(1, len(table.heads)) if not _is_numeric(table, at)]
    rows = tuple(tuple(map(_cell, row)) for row in table.rows)
    return Table(table.name, table.caption, table.heads, rows, max(text_columns, default=1), table.note)


def _is_numeric(table: study_tables.Table, column: int) -> bool:
    return all(NUMBER.fullmatch(row[column]) for row in table.rows)


def _cell(text: str) -> Cell:
    """Marks of significance are separated from their number."""
    number = text.rstrip(MARKS)
    is_marked = number != text and bool(number) and NUMBER.fullmatch(text) is not None
    return Cell(number, mark=text[len(number) :]) if is_marked else Cell(text)


# Text and facts


def reproduce_command(study: Study, out: Path) -> str:
    """`scenthound study` with the settings stored in the folder; it only makes missing crawls."""
    options = [("--web", study.web), ("--topics", study.topics_file), ("--settings", out.absolute() / SETTINGS_FILE)]
    return command_line(("scenthound", "study", study.settings.study), [*options, ("--out", out.absolute())])


def _setting_text(study: Study) -> str:
    if isinstance(study, Johnson2003Study):
        settings = study.validation.settings
        topics = f"{len(settings.trained)} topics searched on and {len(settings.unseen)} unseen ones"
        pages = f"{', '.join(f'{budget:,}' for budget in settings.budgets)} pages from two seed sets"
    else:
        topics = f"{study.n_topics:,} topics"
        pages = f"up to {max(arm.page_budget for arm in study.arms):,} pages"
    return (
        f"On the recorded web {study.web.name}, {study.n_pages:,} pages of {counted(study.n_hosts, 'host')}: "
        f"{topics}, {counted(study.settings.seeds, 'random seed')}, crawls of {pages}, {study.n_crawls:,} crawls in "
        "total."
    )


def _run_facts(study: Study) -> Iterator[tuple[str, str]]:
    """What a reader needs to repeat a study: input, settings, cost and versions."""
    yield "web", str(study.web)
    yield "fingerprint of the web", study.web_fingerprint
    yield "topics", str(study.topics_file)
    for arm in study.arms:
        size = f"{len(arm.topics):,} topics, {len(arm.labels)} crawlers, {arm.page_budget:,} pages"
        yield f"arm {arm.settings.name!r}", f"{size}; {arm.settings.says}" if arm.settings.says else size
    if isinstance(study, Johnson2003Study):
        for label, spec in zip(study.labels, study.validation.settings.all_strategies, strict=True):
            yield f"strategy {label}", spec
    yield "crawls", f"{study.n_made:,} made, {study.n_crawls - study.n_made:,} reused from earlier runs or other parts"
    for timing in study.timings:
        yield f"time for {timing.part}", f"{timing.seconds:,.1f} s"
    yield "total time", f"{sum(timing.seconds for timing in study.timings):,.1f} s"
    yield "versions", format_versions(versions())


# Files of a study's folder


def _images(study: Study, progress: Progress) -> dict[str, bytes]:
    images: dict[str, bytes] = {}
    figures = study_figures(study)
    for number, figure in enumerate(figures):
        progress(number / len(figures), f"drawing {figure.name}")
        images |= figure_files([figure], "figures/")
    return images


RENDERER: Renderer[Study] = Renderer(
    figures=_images,
    report=lambda study, out: document_html(study_report(study, out)),
    check=lambda: require_figures("Drawing a study"),
)
