"""Curves of an evaluation as a picture: one panel for each metric, means with a band of one standard error."""

from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import MissingExtra
from scenthound.lab.evaluate import Evaluation
from scenthound.lab.statistics import MeanCurve

#: The palette of Okabe and Ito, which colour-blind readers can tell apart; line styles help on paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
#: As many letters of a legend stand side by side; a line's sample takes the room of a few.
LETTERS_PER_INCH = 11
HANDLE_LETTERS = 8


def draw_curves(evaluation: Evaluation, files: list[Path], title: str = "") -> None:
    """Write the picture to each file; the ending tells the format (.png, .svg, .pdf)."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra.named("lab", "Drawing curves") from None
    shown = [name for name in evaluation.metrics if any(r.curves[name].n_topics for r in evaluation.results)]
    figure = Figure(figsize=(4.6 * max(len(shown), 1), 3.6 + 0.1 * len(evaluation.results)), layout="constrained")
    FigureCanvasAgg(figure)
    for place, name in enumerate(shown, 1):
        axes = figure.add_subplot(1, len(shown), place)
        for result, colour, style in zip(evaluation.results, cycle(COLOURS), cycle(STYLES), strict=False):
            _draw(axes, result.curves[name], result.strategy, colour, style)
        axes.set_title(name.replace("_", " "))
        axes.set_xlabel("pages visited")
        axes.set_xlim(0, evaluation.page_budget)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    _legend(figure)
    if title:
        figure.suptitle(title)
    for file in files:
        figure.savefig(file, dpi=120)


def _draw(axes: Any, curve: MeanCurve, label: str, colour: str, style: str) -> None:
    axes.plot(curve.steps, curve.mean, style, color=colour, label=label, linewidth=1.8)
    error = np.nan_to_num(curve.standard_error)
    axes.fill_between(curve.steps, curve.mean - error, curve.mean + error, color=colour, alpha=0.15, linewidth=0)


def _legend(figure: Any) -> None:
    if figure.axes:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        letters_abreast = figure.get_figwidth() * LETTERS_PER_INCH
        n_columns = max(1, int(letters_abreast / (max(map(len, labels)) + HANDLE_LETTERS)))
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), n_columns), frameon=False)
