"""A picture of a suggested threshold: precision against recall, and both and F1 against the threshold."""

from pathlib import Path
from typing import Any

from scenthound.errors import BadParameter, MissingExtra, printable
from scenthound.lab.thresholds.choice import Choice
from scenthound.lab.thresholds.curve import Measured
from scenthound.lab.thresholds.suggestion import Suggestion
from scenthound.report.curves import COLOURS
from scenthound.report.styles import drawn

ENDINGS = (".svg", ".png", ".pdf")
PRECISION, RECALL, F1 = COLOURS[:3]
PANEL_INCHES = (4.8, 4.2)


def check_figure(file: Path) -> None:
    """Refuse what cannot be drawn before any work is done."""
    if file.suffix.lower() not in ENDINGS:
        raise BadParameter(f"{printable(file)}: no name of a picture; end it with {', '.join(ENDINGS)}.")
    if not file.parent.is_dir():
        raise BadParameter(f"{printable(file)}: there is no folder {printable(file.parent)}; make it first.")
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
