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
from typing import Any, Literal

from scenthound.errors import MissingExtra, printable

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
