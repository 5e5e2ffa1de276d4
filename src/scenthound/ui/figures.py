"""Drawing the figures of documents with matplotlib, for image files.

A `Figure` is drawn in panels, one for each of its charts, with one legend; a series looks the same in all of them.
Drawing the same figure again gives the same bytes: no dates, no random ids. Text in an SVG remains text. Characters
that the font of a PNG lacks become boxes, without a warning. Texts from outside go through `drawn`.
"""

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scenthound.errors import InvalidParameter, MissingExtra, printable
from scenthound.experiments.threshold.suggestion import Suggestion
from scenthound.model import FloatArray
from scenthound.ui.document import Chart, Figure, Marker, Series

#: The palette of Okabe and Ito, distinguishable for colour-blind readers; line styles and markers help on paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v")
#: Lines of references, such as bounds.
REFERENCE_STYLES = ((0, (1, 2)), (0, (6, 3)))
DOTS_PER_INCH = 120
PANEL_INCHES = (4.9, 3.5)
#: A single panel is wider, to make room for the legend.
SINGLE_PANEL_INCHES = (6.4, 4.2)
LEGEND_INCHES = 0.45
MAX_PANEL_COLUMNS = 2
#: For the width of a legend: characters in an inch, and the space that a sample line takes.
CHARACTERS_PER_INCH = 11
SAMPLE_CHARACTERS = 8
MAX_NAME_CHARACTERS = 80
MAX_NOTE_CHARACTERS = 160
#: Longer labels of a y axis are set in a smaller type.
LONG_LABEL = 30
#: The number of points of a curve that have a marker and an error bar.
MARKED_POINTS = 10
#: The share of the space between two ticks that bars fill.
BARS_WIDTH = 0.8
MAX_CATEGORY_TICKS = 12
#: The images of a result folder.
IMAGES = ("svg", "png")
#: Metadata that would contain the date and the version of matplotlib.
_NO_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def require_figures(feature: str) -> Any:
    """matplotlib's figure and a canvas without a screen; MissingExtra, with the name of the feature, if it is not
    installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Drawing
    except ImportError:
        raise MissingExtra.named("lab", feature) from None
    return Drawing, FigureCanvasAgg


def figure_files(figures: Iterable[Figure], folder: str = "", title: str = "") -> dict[str, bytes]:
    """Every figure as SVG and PNG, by file name."""
    contents = {}
    for figure in figures:
        drawing = draw(figure, title)
        for form in IMAGES:
            contents[f"{folder}{figure.name}.{form}"] = image_bytes(drawing, form)
    return contents


def draw(figure: Figure, title: str = "") -> Any:
    """A figure of matplotlib."""
    n_columns = max(1, min(len(figure.charts), MAX_PANEL_COLUMNS))
    n_rows = max(1, -(-len(figure.charts) // n_columns))
    width, height = PANEL_INCHES if len(figure.charts) > 1 else SINGLE_PANEL_INCHES
    drawing = new_drawing(n_columns * width, n_rows * height + LEGEND_INCHES)
    names = (series.name for chart in figure.charts for series in chart.series if not series.reference)
    styles = line_styles(list(dict.fromkeys(names)))
    notes = {chart.note for chart in figure.charts}
    for number, chart in enumerate(figure.charts, 1):
        axes = drawing.add_subplot(n_rows, n_columns, number)
        _draw_chart(axes, chart, styles, note=chart.note if len(notes) > 1 else "")
    _share_y_axes(figure.charts, drawing.axes)
    if title:
        drawing.suptitle(drawn(title))
    elif len(notes) == 1:
        drawing.suptitle(drawn(notes.pop(), MAX_NOTE_CHARACTERS), fontsize="small")
    add_legend(drawing)
    settle(drawing)
    return drawing


@dataclass(frozen=True, slots=True)
class LineStyle:
    colour: str
    line: str
    marker: str


def line_styles(names: Sequence[str]) -> dict[str, LineStyle]:
    """A style for each name. They repeat after as many names as there are combinations."""
    return dict(zip(names, map(LineStyle, cycle(COLOURS), cycle(STYLES), cycle(MARKERS)), strict=False))


def new_drawing(width_inches: float, height_inches: float) -> Any:
    make_drawing, make_canvas = require_figures("Drawing figures")
    drawing = make_drawing(figsize=(width_inches, height_inches), layout="constrained")
    make_canvas(drawing)
    return drawing


def drawn(text: str, longest: int = MAX_NAME_CHARACTERS) -> str:
    """A text from outside as matplotlib shows it literally: a dollar starts no formula, and control characters, which
    XML cannot contain, are escaped."""
    return printable(text, longest).replace("$", r"\$")


def settle(drawing: Any) -> None:
    """Compute the layout, once for all files."""
    drawing.get_layout_engine().set(w_pad=0.1, h_pad=0.06)
    with _missing_glyphs_as_boxes():
        drawing.draw_without_rendering()
    drawing.set_layout_engine("none")


def image_bytes(drawing: Any, form: str) -> bytes:
    from matplotlib import rc_context

    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "scenthound", "svg.fonttype": "none"}), _missing_glyphs_as_boxes():
        drawing.savefig(content, format=form, dpi=DOTS_PER_INCH, metadata=_NO_METADATA[form])
    return content.getvalue()


@contextmanager
def _missing_glyphs_as_boxes() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        warnings.filterwarnings("ignore", r"Matplotlib currently does not support .* natively", UserWarning)
        yield


def plain_axes(axes: Any, grid: Literal["both", "y"] = "both") -> None:
    """A light grid behind the curves, and no frame at the top and right."""
    axes.grid(alpha=0.25, axis=grid)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def add_legend(drawing: Any) -> None:
    """One legend below all panels, each name once, in as many columns as fit."""
    named = {
        label: handle for axes in drawing.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if named:
        texts = [drawn(label) for label in named]
        n_characters = drawing.get_figwidth() * CHARACTERS_PER_INCH
        n_columns = max(1, int(n_characters / (max(map(len, texts)) + SAMPLE_CHARACTERS)))
        drawing.legend(
            named.values(), texts, loc="outside lower center", ncols=min(len(named), n_columns), frameon=False
        )


def _draw_chart(axes: Any, chart: Chart, styles: dict[str, LineStyle], note: str) -> None:
    if chart.kind == "bars":
        _draw_bars(axes, chart, styles)
    else:
        _draw_curves(axes, chart, styles)
    axes.set_title(drawn(chart.title) + (f"\n{drawn(note, MAX_NOTE_CHARACTERS)}" if note else ""), fontsize="small")
    axes.set_xlabel(drawn(chart.x_label))
    axes.set_ylabel(drawn(chart.y_label), fontsize="small" if len(chart.y_label) > LONG_LABEL else "medium")
    plain_axes(axes, grid="y" if chart.kind == "bars" else "both")


def _share_y_axes(charts: Sequence[Chart], all_axes: Sequence[Any]) -> None:
    """Panels side by side have the same y axis if it shows the same."""
    for left in range(0, len(charts) - 1, MAX_PANEL_COLUMNS):
        pair = all_axes[left : left + 2]
        if charts[left].kind == "bars" and charts[left].y_label == charts[left + 1].y_label:
            top = max(axes.get_ylim()[1] for axes in pair)
            for axes in pair:
                axes.set_ylim(top=top)


def _draw_curves(axes: Any, chart: Chart, styles: dict[str, LineStyle]) -> None:
    curves = [series for series in chart.series if not series.reference]
    for number, series in enumerate(curves):
        _draw_curve(axes, series, styles[series.name], marked_points(len(series.x), number, len(curves)))
    references = (series for series in chart.series if series.reference)
    for series, line in zip(references, cycle(REFERENCE_STYLES), strict=False):
        axes.plot(series.x, series.y, linestyle=line, color="0.45", linewidth=1.0, label=series.name, zorder=1)
    known_x = np.unique(np.concatenate([np.empty(0), *(series.x for series in chart.series)]))
    if len(known_x) and known_x[-1] > 0:
        axes.set_xlim(0, known_x[-1])
    for marker in chart.markers:
        axes.axvline(marker.x, color="0.45", linewidth=1, label=marker.label)
    if len(known_x) and known_x[-1] > 1:  # Numbers of pages; others are shares.
        axes.locator_params(axis="x", nbins=6, integer=True)
        axes.xaxis.set_major_formatter("{x:,.0f}")
    if not chart.lower_is_better:
        axes.set_ylim(bottom=0)
    elif axes.get_ylim()[1] >= 1000:
        axes.yaxis.set_major_formatter("{x:,.0f}")


def marked_points(n_points: int, number: int, n_curves: int) -> list[int]:
    """The points of a curve that have a marker: all of a few, else some, offset for each further curve so that
    markers remain distinguishable where curves meet."""
    every = max(1, n_points // MARKED_POINTS)
    return list(range((number + 1) * every // (n_curves + 1), n_points, every))


def _draw_curve(axes: Any, series: Series, style: LineStyle, marked: list[int]) -> None:
    axes.plot(
        *(series.x, series.y, style.line),
        color=style.colour,
        label=series.name,
        linewidth=1.6,
        marker=style.marker,
        markersize=4.5,
        markevery=marked,
    )
    if series.error is not None:
        errors = np.nan_to_num(series.error[..., marked])
        bars = {"fmt": "none", "ecolor": style.colour, "elinewidth": 1.0, "capsize": 2.5}
        axes.errorbar(series.x[marked], series.y[marked], errors, **bars)


def _draw_bars(axes: Any, chart: Chart, styles: dict[str, LineStyle]) -> None:
    """A group of bars for each category."""
    width = BARS_WIDTH / max(1, len(chart.series))
    for number, series in enumerate(chart.series):
        axes.bar(
            series.x + (number + 0.5) * width - BARS_WIDTH / 2,
            series.y,
            width,
            yerr=None if series.error is None else np.nan_to_num(series.error),
            capsize=3,
            color=styles[series.name].colour,
            label=series.name,
        )
    last = len(chart.categories) - 1
    ticks = range(last, -1, -(last // MAX_CATEGORY_TICKS + 1))[::-1]
    axes.set_xticks(ticks, [drawn(chart.categories[tick]) for tick in ticks])


# A suggested threshold

FILE_TYPES = (".svg", ".png", ".pdf")


def check_figure_file(file: Path) -> None:
    """Reject a file that cannot be written before any work is done."""
    if file.suffix.lower() not in FILE_TYPES:
        raise InvalidParameter(f"{printable(file)} is not an image file: use one of {', '.join(FILE_TYPES)}.")
    if not file.parent.is_dir():
        raise InvalidParameter(f"Cannot write {printable(file)}: the folder {printable(file.parent)} does not exist.")
    require_figures("Drawing a threshold")


def threshold_figure(suggestion: Suggestion) -> Figure:
    """Precision against recall, and both with F1 against the threshold."""
    choice, row = suggestion.choice, suggestion.choice.row
    n_labels = suggestion.n_relevant + suggestion.n_irrelevant
    of_topic = f"{suggestion.topic}, {suggestion.relevance}: " if suggestion.relevance else ""
    note = f"{of_topic}{n_labels} labels, {suggestion.n_relevant} of them relevant; bars are 95 % intervals"

    def rate(name: str) -> tuple[FloatArray, FloatArray]:
        """The values by threshold, and their errors to both sides."""
        measured = [getattr(each, name) for each in choice.rows]
        value, low, high = np.array([(each.value, each.low, each.high) for each in measured]).T
        return value, np.maximum(0, [value - low, high - value])

    (precision, errors), (recall, _) = rate("precision"), rate("recall")
    chosen = [choice.index]
    by_recall = (
        Series("each threshold", recall, precision),
        Series(f"threshold {row.threshold}", recall[chosen], precision[chosen], errors[:, chosen]),
    )
    thresholds = np.array([each.threshold for each in choice.rows])
    series = tuple(Series(name.replace("f1", "F1"), thresholds, *rate(name)) for name in ("precision", "recall", "f1"))
    marker = (Marker(row.threshold, f"threshold {row.threshold}"),)
    return Figure(
        "threshold",
        note,
        (
            Chart("precision", "Precision and recall", "recall", "precision", by_recall, note=note),
            Chart("rates", "Rates", "threshold", "on the labelled pages", series, markers=marker, note=note),
        ),
    )
