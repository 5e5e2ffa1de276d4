"""What the figures and tables of a study show; `report` draws and writes them.

A picture has the number of its figure in the paper, and panels with the paper's axes. Those that the paper lacks are
named for what they show.
"""

from dataclasses import dataclass
from typing import Literal

PAGES_VISITED = "pages visited"


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves of one measure, or bars of several at their last place, which may have names; `crawlers` none shows
    all."""

    title: str
    arm: str
    measures: tuple[str, ...]
    y_label: str
    x_label: str = PAGES_VISITED
    kind: Literal["curves", "bars"] = "curves"
    crawlers: tuple[str, ...] = ()
    with_bounds: bool = False
    measure_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure: `name` is its file's."""

    name: str
    caption: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads; `note` says what the figures are."""

    name: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
