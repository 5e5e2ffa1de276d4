"""What the pictures of all reports share: colours, lines, legends, and how they are made and written.

A picture that is drawn again from the same numbers has the same bytes: no dates, no random ids. The letters of an SVG
stay letters, so that they can be searched and copied; what the font of a PNG lacks is a box there, and no cause for a
warning. Names from outside go through `drawn`.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scenthound.errors import InvalidParameter, MissingExtra, printable
from scenthound.experiments.evaluate import Evaluation
from scenthound.experiments.statistics import MeanCurve
from scenthound.experiments.threshold.curve import Choice, Measured
from scenthound.experiments.threshold.suggestion import Suggestion

#: The palette of Okabe and Ito, which colour-blind readers can tell apart; lines and marks help on paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
MARKS = ("o", "s", "^", "D", "v")
#: As many letters of a legend stand side by side; a line's sample takes the room of a few.
LETTERS_PER_INCH = 11
HANDLE_LETTERS = 8
DOTS_PER_INCH = 120
#: More letters of a name leave no room for what it names.
LONGEST_NAME = 80

Format = Literal["svg", "png"]
#: What would tell when and by which version a picture was drawn.
_UNSIGNED: dict[Format, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}


@dataclass(frozen=True, slots=True)
class Look:
    """How one crawler is drawn."""

    colour: str
    style: str
    mark: str


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """A look for each label. Looks come round again after as many as colours, styles and marks make together."""
    return dict(zip(labels, map(Look, cycle(COLOURS), cycle(STYLES), cycle(MARKS)), strict=False))


def new_figure(width_inches: float, height_inches: float, feature: str) -> Any:
    """A figure that needs no screen; `feature` is what needs it, in an error's words."""
    figure_kind, canvas = require_figures(feature)
    figure = figure_kind(figsize=(width_inches, height_inches), layout="constrained")
    canvas(figure)
    return figure


def require_figures(feature: str) -> Any:
    """matplotlib's figure and the canvas that needs no screen, or a word on how to get them."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra.named("lab", feature) from None
    return Figure, FigureCanvasAgg


def drawn(text: str, longest: int = LONGEST_NAME) -> str:
    """A text from outside as matplotlib shows it letter by letter: a dollar begins no formula, and control characters,
    which XML cannot hold, are spelled out."""
    return printable(text, longest).replace("$", r"\$")


def settle(figure: Any) -> None:
    """Lay the parts of a figure out, once for all the files that it is written to."""
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.06)
    with _missing_letters_as_boxes():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


def picture_bytes(figure: Any, form: Format) -> bytes:
    """The figure as a file."""
    from matplotlib import rc_context

    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "scenthound", "svg.fonttype": "none"}), _missing_letters_as_boxes():
        figure.savefig(content, format=form, dpi=DOTS_PER_INCH, metadata=_UNSIGNED[form])
    return content.getvalue()


@contextmanager
def _missing_letters_as_boxes() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        warnings.filterwarnings("ignore", r"Matplotlib currently does not support .* natively", UserWarning)
        yield


def plain_axes(axes: Any, grid: Literal["both", "y"] = "both") -> None:
    """A light grid behind what is drawn, and no frame above and to the right."""
    axes.grid(alpha=0.25, axis=grid)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def shared_legend(figure: Any) -> None:
    """One legend below all panels, each name once, in as many columns as there is room for; names may be from
    outside."""
    named = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if named:
        texts = [drawn(label) for label in named]
        letters_abreast = figure.get_figwidth() * LETTERS_PER_INCH
        n_columns = max(1, int(letters_abreast / (max(map(len, texts)) + HANDLE_LETTERS)))
        figure.legend(
            named.values(), texts, loc="outside lower center", ncols=min(len(named), n_columns), frameon=False
        )


# Curves of an evaluation as a picture: one panel for each metric, means with a band of one standard error.


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


# A picture of a suggested threshold: precision against recall, and both and F1 against the threshold.

ENDINGS = (".svg", ".png", ".pdf")
PRECISION, RECALL, F1 = COLOURS[:3]
PANEL_INCHES = (4.8, 4.2)


def check_figure(file: Path) -> None:
    """Refuse what cannot be drawn before any work is done."""
    if file.suffix.lower() not in ENDINGS:
        raise InvalidParameter(f"{printable(file)}: no name of a picture; end it with {', '.join(ENDINGS)}.")
    if not file.parent.is_dir():
        raise InvalidParameter(f"{printable(file)}: there is no folder {printable(file.parent)}; make it first.")
    _figure_kind()


def draw_threshold(suggestion: Suggestion, file: Path) -> None:
    """Write the picture; the ending tells the format."""
    figure_kind, canvas = _figure_kind()
    width, height = PANEL_INCHES
    figure = figure_kind(figsize=(2 * width, height), layout="constrained")
    canvas(figure)
    _draw_trade(figure.add_subplot(1, 2, 1), suggestion.choice)
    _draw_by_threshold(figure.add_subplot(1, 2, 2), suggestion.choice)
    n_labels = suggestion.n_relevant + suggestion.n_irrelevant
    of_topic = f"{drawn(suggestion.topic)}, {suggestion.relevance}: " if suggestion.relevance else ""
    figure.suptitle(f"{of_topic}{n_labels} labels, {suggestion.n_relevant} of them relevant")
    figure.savefig(file, dpi=120)


def _figure_kind() -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra.named("lab", "Drawing a threshold") from None
    return Figure, FigureCanvasAgg


def _draw_trade(axes: Any, choice: Choice) -> None:
    """The curve from the threshold that accepts all pages to the one that accepts fewest."""
    recall = [row.recall.value for row in choice.rows]
    precision = [row.precision.value for row in choice.rows]
    # Between two thresholds there is no other, so points, and lines only to lead the eye.
    axes.plot(recall, precision, ".-", color=PRECISION, linewidth=0.8, label="each threshold")
    at = choice.row
    axes.errorbar(
        at.recall.value,
        at.precision.value,
        xerr=_reach(at.recall),
        yerr=_reach(at.precision),
        fmt="o",
        color=RECALL,
        capsize=3,
        label=f"threshold {at.threshold}, 95 % intervals",
    )
    _finish(axes, "recall", "precision")
    axes.set_xlim(-0.02, 1.02)


def _draw_by_threshold(axes: Any, choice: Choice) -> None:
    thresholds = [row.threshold for row in choice.rows]
    for name, colour, style in (("precision", PRECISION, "-"), ("recall", RECALL, "--"), ("f1", F1, "-.")):
        values: list[Measured] = [getattr(row, name) for row in choice.rows]
        label = name.replace("f1", "F1")
        look = {"color": colour, "label": label, "linewidth": 1.8, "drawstyle": "steps-mid"}
        axes.plot(thresholds, [each.value for each in values], style, **look)
        low, high = [each.low for each in values], [each.high for each in values]
        axes.fill_between(thresholds, low, high, color=colour, alpha=0.1, linewidth=0, step="mid")
    axes.axvline(choice.row.threshold, color="black", linewidth=1, label=f"threshold {choice.row.threshold}")
    if choice.low < choice.high:
        axes.axvspan(choice.low, choice.high, color="black", alpha=0.07, linewidth=0, label="by other labels")
    axes.locator_params(axis="x", nbins=6)
    _finish(axes, "threshold", "on the labelled pages")


def _reach(measured: Measured) -> list[list[float]]:
    """How far an interval goes below and above its value."""
    return [[max(0.0, measured.value - measured.low)], [max(0.0, measured.high - measured.value)]]


def _finish(axes: Any, x_label: str, y_label: str) -> None:
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_ylim(-0.02, 1.02)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
