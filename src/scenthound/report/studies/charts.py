"""The pictures of a study as charts of its page: the same panels and numbers as its figures, with bands of one standard
error.

A picture is a section of the page, a panel a chart in it. The bounds, where a panel asks for them, stand beside the
crawlers and have no band: they are no crawlers.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from scenthound.lab.statistics import MeanCurve
from scenthound.lab.studies.measured import ArmMeasurements, arm_named
from scenthound.lab.studies.pictures import Panel, Picture
from scenthound.lab.studies.shown import file_name
from scenthound.report.page.values import Chart, Section, Series, WinLoss
from scenthound.report.studies.figures import BOUND_LOOKS, crawlers_of, measure_told, y_label

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
