"""What there is to say of a run of a study: in `study.json`, in `findings.json`, and on the page."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import command_line
from scenthound.experiments.findings import Finding
from scenthound.experiments.statistics import MeanCurve
from scenthound.experiments.study.measured import BOUNDS, ArmMeasurements, Measured, arm_named
from scenthound.experiments.study.results import SETTINGS_FILE, findings_as_json
from scenthound.experiments.study.study import FinishedStudy, Study
from scenthound.experiments.study.tables import PAGES_VISITED, Panel, Picture, file_name
from scenthound.ui.document import Chart, Section, Series, WinLoss
from scenthound.ui.figures import Look, drawn, looks, new_figure, plain_axes, settle, shared_legend
from scenthound.ui.formats import versions, versions_told
from scenthound.ui.reports.study import READING, StudyPage, protocol_told, verdicts_told

# The pictures of a study, drawn: curves and bars of means over topics, with lines of one standard error.
#
# Rules
# - A crawler looks the same in all panels of a picture, and there is one legend for all of them.
# - Marks and errors stand at a few places of a curve, each crawler's a little beside the others', so that they can be
#   told apart where curves meet.
# - Where low values are good, the axis says so. Shares begin at 0; ranks begin where they begin.
# - The bounds, where a panel asks for them, are thin and grey: they are no crawlers.

FEATURE = "Drawing a study"
PANEL_INCHES = (4.9, 3.5)
LEGEND_INCHES = 0.45
#: A single panel is drawn wider, or its legend would have no room.
SINGLE_INCHES = (6.4, 4.2)
MOST_COLUMNS = 2
#: Places of a curve that have a mark and an error.
MARKED_PLACES = 10
#: Of the room between two ticks, bars take so much.
WIDTH_OF_BARS = 0.8
#: What the bounds are called, and their lines.
BOUND_LOOKS = dict(zip(BOUNDS, (("random", (0, (1, 2))), ("greedy oracle", (0, (6, 3)))), strict=True))


def draw_picture(picture: Picture, arms: Sequence[ArmMeasurements]) -> Any:
    """A figure of matplotlib. `arms` are those of the study."""
    by_name = {arm.settings.name: arm for arm in arms}
    look_of = looks(
        list(dict.fromkeys(name for panel in picture.panels for name in crawlers_of(panel, by_name[panel.arm])))
    )
    n_columns = min(len(picture.panels), MOST_COLUMNS)
    n_rows = -(-len(picture.panels) // n_columns)
    width, height = PANEL_INCHES if len(picture.panels) > 1 else SINGLE_INCHES
    figure = new_figure(n_columns * width, n_rows * height + LEGEND_INCHES, FEATURE)
    for place, panel in enumerate(picture.panels, 1):
        _draw_panel(figure.add_subplot(n_rows, n_columns, place), panel, by_name[panel.arm], look_of)
    shared_legend(figure)
    settle(figure)
    return figure


def crawlers_of(panel: Panel, arm: ArmMeasurements) -> tuple[str, ...]:
    """Those that a panel shows."""
    return panel.crawlers or arm.labels


def _draw_panel(axes: Any, panel: Panel, arm: ArmMeasurements, look_of: dict[str, Look]) -> None:
    if panel.kind == "curves":
        _draw_curves(axes, panel, arm, look_of)
    else:
        _draw_bars(axes, panel, arm, look_of)
    axes.set_title(drawn(panel.title), fontsize="medium")
    axes.set_ylabel(drawn(y_label(panel, arm.of(panel.measures[0]))))
    plain_axes(axes, grid="both" if panel.kind == "curves" else "y")


def y_label(panel: Panel, measured: Measured) -> str:
    """What the axis says, with a word where low values are good."""
    says_so = "low" in panel.y_label.lower()
    return f"{panel.y_label} (low is good)" if measured.lower_is_better and not says_so else panel.y_label


def _draw_curves(axes: Any, panel: Panel, arm: ArmMeasurements, look_of: dict[str, Look]) -> None:
    measure = panel.measures[0]
    measured, labels = arm.of(measure), crawlers_of(panel, arm)
    for number, label in enumerate(labels):
        marked = marked_places(len(measured.x), number, len(labels))
        _draw_curve(axes, measured.curve(arm.place(label)), label, look_of[label], marked)
    if panel.with_bounds and measure in arm.bounds:
        _draw_bounds(axes, arm.bounds[measure])
    axes.set_xlabel(drawn(panel.x_label))
    if panel.x_label == PAGES_VISITED or measured.x[-1] == arm.page_budget:
        axes.set_xlim(0, arm.page_budget)
    axes.locator_params(axis="x", nbins=6, integer=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if not measured.lower_is_better:
        axes.set_ylim(bottom=0)
    elif axes.get_ylim()[1] >= 1000:
        axes.yaxis.set_major_formatter("{x:,.0f}")


def marked_places(n_places: int, number: int, n_crawlers: int) -> list[int]:
    """The places of a curve that have a mark: all of a few, else some, which begin later for each further crawler."""
    every = max(1, n_places // MARKED_PLACES)
    return list(range((number + 1) * every // (n_crawlers + 1), n_places, every))


def _draw_curve(axes: Any, curve: MeanCurve, label: str, look: Look, marked: list[int]) -> None:
    axes.plot(
        *(curve.steps, curve.mean, look.style),
        color=look.colour,
        label=label,
        linewidth=1.6,
        marker=look.mark,
        markersize=4.5,
        markevery=marked,
    )
    errors = np.nan_to_num(curve.standard_error[marked])
    axes.errorbar(
        *(curve.steps[marked], curve.mean[marked], errors), fmt="none", ecolor=look.colour, elinewidth=1.0, capsize=2.5
    )


def _draw_bounds(axes: Any, bounds: Measured) -> None:
    for row, (label, line) in enumerate(BOUND_LOOKS.values()):
        curve = bounds.curve(row)
        axes.plot(curve.steps, curve.mean, linestyle=line, color="0.45", linewidth=1.0, label=label, zorder=1)


def _draw_bars(axes: Any, panel: Panel, arm: ArmMeasurements, look_of: dict[str, Look]) -> None:
    """A group of bars for each measure, with a bar for each crawler, at the end of the crawls."""
    labels = crawlers_of(panel, arm)
    width = WIDTH_OF_BARS / len(labels)
    for number, label in enumerate(labels):
        curves = [arm.of(measure).curve(arm.place(label)) for measure in panel.measures]
        axes.bar(
            np.arange(len(curves)) + (number + 0.5) * width - WIDTH_OF_BARS / 2,
            [curve.mean[-1] for curve in curves],
            width,
            yerr=[float(np.nan_to_num(curve.standard_error[-1])) for curve in curves],
            capsize=3,
            color=look_of[label].colour,
            label=label,
        )
    told = panel.measure_names or tuple(map(measure_told, panel.measures))
    names = told if len(told) > 1 else ("",)
    axes.set_xticks(range(len(names)), [drawn(name) for name in names])


def measure_told(measure: str) -> str:
    """A measure under its bars: by what, if all are the same but for that."""
    return measure.rpartition("by=")[2].replace("_", " ")


# The pictures of a study as charts of its page: the same panels and numbers as its figures, with bands of one
# standard error.
#
# A picture is a section of the page, a panel a chart in it. The bounds, where a panel asks for them, stand beside the
# crawlers and have no band: they are no crawlers.

#: What is told topic by topic, where it was measured.
MAIN_MEASURE = "target_recall"
#: What is true of all charts.
ERRORS_TOLD = "Means over topics; bands and whiskers are one standard error to either side."


def picture_section(picture: Picture, arms: Sequence[ArmMeasurements]) -> Section:
    """`arms` are those of the study."""
    charts = tuple(
        _chart(f"{picture.name}-{place}", panel, arm_named(arms, panel.arm), picture.caption)
        for place, panel in enumerate(picture.panels, 1)
    )
    return Section(section_title(picture.name, picture.caption), charts)


def section_title(name: str, caption: str) -> str:
    """With the number of the paper's figure, if it is one and the caption does not tell it."""
    number = re.match(r"figure-(\d+[a-z]?)(?:-|$)", name)
    return f"Figure {number[1]}. {caption}" if number and not caption.startswith("Figure") else caption


def _chart(name: str, panel: Panel, arm: ArmMeasurements, caption: str) -> Chart:
    are_curves = panel.kind == "curves"
    told = panel.measure_names or tuple(map(measure_told, panel.measures))
    return Chart(
        name=name,
        title=panel.title or caption,
        x_label=panel.x_label if are_curves else "",
        y_label=y_label(panel, arm.of(panel.measures[0])),
        series=tuple(_curves(panel, arm) if are_curves else _bars(panel, arm)),
        kind=panel.kind,
        places=() if are_curves else (told if len(told) > 1 else ("",)),
        note=ERRORS_TOLD,
    )


def _curves(panel: Panel, arm: ArmMeasurements) -> Iterator[Series]:
    measure = panel.measures[0]
    for label in crawlers_of(panel, arm):
        yield curve_series(label, arm.of(measure).curve(arm.place(label)))
    if panel.with_bounds and measure in arm.bounds:
        for row, (label, _) in enumerate(BOUND_LOOKS.values()):
            curve = arm.bounds[measure].curve(row)
            yield Series(label, curve.steps.astype(np.float64), curve.mean)


def curve_series(label: str, curve: MeanCurve) -> Series:
    return Series(label, curve.steps.astype(np.float64), curve.mean, curve.standard_error)


def _bars(panel: Panel, arm: ArmMeasurements) -> Iterator[Series]:
    """A group of bars for each measure, at the end of the crawls."""
    for label in crawlers_of(panel, arm):
        ends = [arm.of(measure).curve(arm.place(label)) for measure in panel.measures]
        means, errors = [end.mean[-1] for end in ends], [end.standard_error[-1] for end in ends]
        yield Series(label, np.arange(len(ends), dtype=np.float64), np.array(means), np.array(errors))


def win_losses(arms: Sequence[ArmMeasurements]) -> Iterator[WinLoss]:
    """Of each arm: its crawlers against the first, topic by topic."""
    for arm in arms:
        measure = MAIN_MEASURE if MAIN_MEASURE in arm.measured else arm.settings.measures[0]
        baseline, *others = arm.labels
        if others and measure in arm.measured:
            yield WinLoss(
                name=f"won-{file_name(arm.settings.name)}",
                caption=f"{arm.settings.name}: crawlers beside {baseline}",
                against=baseline,
                rows=tuple(others),
                topics=arm.topics,
                differences=np.array([arm.better(measure, other, baseline) for other in others]),
                note=f"{measure.replace('_', ' ').capitalize()} at the end of the crawls; more than 0 is better.",
            )


def common_values(study: FinishedStudy) -> dict[str, Any]:
    """What `study.json` says of every study."""
    return {
        "study": study.settings.study,
        "title": study.settings.title,
        "versions": versions(),
        "web": str(study.web),
        "web_fingerprint": study.web_fingerprint,
        "n_pages": study.n_pages,
        "n_hosts": study.n_hosts,
        "topics_file": str(study.topics_file),
        "crawls": {"all": study.n_crawls, "made": study.n_made, "kept": study.n_crawls - study.n_made},
        "timings": [asdict(timing) for timing in study.timings],
        "notes": list(study.notes),
    }


def study_values(study: Study) -> dict[str, Any]:
    """Plain values for `study.json`."""
    return common_values(study) | {"arms": [_arm(arm) for arm in study.arms]}


def _arm(arm: ArmMeasurements) -> dict[str, Any]:
    return {
        "name": arm.settings.name,
        "protocol": arm.settings.protocol,
        "page_budget": arm.page_budget,
        "crawlers": dict(arm.settings.strategies),
        "topics": list(arm.topics),
    }


def findings_values(study: Study) -> dict[str, Any]:
    """Plain values for `findings.json`."""
    return common_findings(study, n_topics(study), READING)


def common_findings(study: FinishedStudy, n_topics: int, reading: str) -> dict[str, Any]:
    """What `findings.json` says of every study."""
    return {
        "study": study.settings.study,
        "version": version("scenthound"),
        "web": str(study.web),
        "web_fingerprint": study.web_fingerprint,
        "n_topics": n_topics,
        "reading": reading,
        "findings": findings_as_json(study.findings),
    }


def n_topics(study: Study) -> int:
    """Topics that any arm is on."""
    return len({topic for arm in study.arms for topic in arm.topics})


def study_page(study: Study, settings_text: str, out: Path) -> StudyPage:
    """The page of a study, whose folder is `out`."""
    return StudyPage(
        title=f"{study.settings.study}: {study.settings.title}",
        summary=(*verdict_lines(study.findings), _setting_told(study)),
        findings=study.findings,
        figures=tuple(picture_section(picture, study.arms) for picture in study.pictures),
        won=tuple(win_losses(study.arms)),
        tables=study.tables,
        notes=study.notes,
        facts=tuple(all_facts(study, _facts(study))),
        settings=settings_text,
        command=reproduce_command(study, out),
    )


def reproduce_command(study: FinishedStudy, out: Path) -> str:
    """`scenthound study` with the settings that are kept in the folder; it makes only what is new."""
    options = [("--web", study.web), ("--topics", study.topics_file), ("--settings", out.absolute() / SETTINGS_FILE)]
    return command_line(("scenthound", "study", study.settings.study), [*options, ("--out", out.absolute())])


def verdict_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """How many findings have which verdict: a sentence for each protocol."""
    by_protocol: dict[str, list[Finding]] = {}
    for finding in findings:
        by_protocol.setdefault(finding.protocol, []).append(finding)
    for protocol, those in by_protocol.items():
        of_any = " for which protocols do not differ" if len(by_protocol) > 1 else ""
        told = f" by the protocol {protocol_told(protocol)!r}" if protocol else of_any
        yield f"{verdicts_told(those, told)}."


def _setting_told(study: Study) -> str:
    settings = study.settings
    seeds = f"{settings.seeds} random seed{'s' if settings.seeds != 1 else ''}"
    budget = max(arm.page_budget for arm in study.arms)
    return (
        f"On the recorded web {study.web.name}, {study.n_pages:,} pages of {study.n_hosts:,} "
        f"host{'s' if study.n_hosts != 1 else ''}: {n_topics(study):,} topics, {seeds}, crawls of up to {budget:,} "
        f"pages, {study.n_crawls:,} crawls in all."
    )


def _facts(study: Study) -> Iterator[tuple[str, str]]:
    for arm in study.arms:
        about = f"{len(arm.topics):,} topics, {len(arm.labels)} crawlers, {arm.page_budget:,} pages"
        yield f"arm {arm.settings.name!r}", f"{about}; {arm.settings.says}" if arm.settings.says else about


def all_facts(study: FinishedStudy, own: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What a reader needs to repeat a study: what it ran on, what is its own, what it cost, and versions."""
    yield "web", str(study.web)
    yield "fingerprint of the web", study.web_fingerprint
    yield "topics", str(study.topics_file)
    yield from own
    yield "crawls", f"{study.n_made:,} made, {study.n_crawls - study.n_made:,} kept from earlier runs or other parts"
    for timing in study.timings:
        yield f"time for {timing.part}", f"{timing.seconds:,.1f} s"
    yield "time in all", f"{sum(timing.seconds for timing in study.timings):,.1f} s"
    yield "versions", versions_told(versions())
