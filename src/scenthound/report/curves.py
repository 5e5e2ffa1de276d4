"""Curves of an evaluation as a picture: one panel for each metric, means with a band of one standard error."""

from pathlib import Path
from typing import Any

import numpy as np

from scenthound.lab.evaluate import Evaluation
from scenthound.lab.statistics import MeanCurve
from scenthound.report.styles import COLOURS, DOTS_PER_INCH, Look, looks, new_figure, plain_axes, shared_legend

__all__ = ["COLOURS", "draw_curves"]


def draw_curves(evaluation: Evaluation, files: list[Path], title: str = "") -> None:
    """Write the picture to each file; the ending tells the format (.png, .svg, .pdf)."""
    shown = [name for name in evaluation.metrics if any(r.curves[name].n_topics for r in evaluation.results)]
    figure = new_figure(4.6 * max(len(shown), 1), 3.6 + 0.1 * len(evaluation.results), "Drawing curves")
    look_of = looks([result.strategy for result in evaluation.results])
    for place, name in enumerate(shown, 1):
        axes = figure.add_subplot(1, len(shown), place)
        for result in evaluation.results:
            _draw(axes, result.curves[name], result.strategy, look_of[result.strategy])
        axes.set_title(name.replace("_", " "))
        axes.set_xlabel("pages visited")
        axes.set_xlim(0, evaluation.page_budget)
        axes.set_ylim(bottom=0)
        plain_axes(axes)
    shared_legend(figure)
    if title:
        figure.suptitle(title)
    for file in files:
        figure.savefig(file, dpi=DOTS_PER_INCH)


def _draw(axes: Any, curve: MeanCurve, label: str, look: Look) -> None:
    axes.plot(curve.steps, curve.mean, look.style, color=look.colour, label=label, linewidth=1.8)
    error = np.nan_to_num(curve.standard_error)
    axes.fill_between(curve.steps, curve.mean - error, curve.mean + error, color=look.colour, alpha=0.15, linewidth=0)
