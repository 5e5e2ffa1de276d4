"""The pictures of a study, drawn: curves and bars of means over topics, with lines of one standard error.

Rules
- A crawler looks the same in all panels of a picture, and there is one legend for all of them.
- Marks and errors stand at a few places of a curve, each crawler's a little beside the others', so that they can be
  told apart where curves meet.
- Where low values are good, the axis says so. Shares begin at 0; ranks begin where they begin.
- The bounds, where a panel asks for them, are thin and grey: they are no crawlers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scenthound.lab.statistics import MeanCurve
from scenthound.lab.studies.measured import BOUNDS, ArmMeasurements, Measured
from scenthound.lab.studies.pictures import PAGES_VISITED, Panel, Picture
from scenthound.report.styles import Look, drawn, looks, new_figure, plain_axes, settle, shared_legend

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
