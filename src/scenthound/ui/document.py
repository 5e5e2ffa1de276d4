"""What a report shows, as values: a page has a summary in words, then sections of blocks.

Rules
- A page is made by those who know crawls, comparisons and studies, and drawn by those who know HTML and SVG.
- All texts are plain; whoever writes the page escapes them.
- Numbers that are not defined are not-a-number here, and gaps on the page.
"""

from dataclasses import dataclass, field
from typing import Literal

from scenthound.model import FloatArray


@dataclass(frozen=True, slots=True)
class Series:
    """A curve or a row of bars or dots, with a number for each place `x`; `error` is drawn to either side, as a band
    or a whisker. `hidden` ones are shown when the reader asks for them."""

    name: str
    x: FloatArray
    y: FloatArray
    error: FloatArray | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on the x axis that is told, such as the one at which a guide was trained anew."""

    x: float
    says: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves, or bars (`places` are the names of x = 0, 1, 2, ...). `name` is its id on the page."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["curves", "bars"] = "curves"
    places: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """`mark` is a sign of significance or of the best, told in the table's note; `link` is a URL, shown as a link if it
    is http or https. A table is sorted by the number that a text begins with, or by `value` where there is one."""

    text: str
    mark: str = ""
    link: str = ""
    emphasis: bool = False
    value: float | None = None


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows under heads; columns from `n_words` on are numbers, and stand to the right. A table can be sorted by the
    reader. `note` says what the figures and marks are."""

    name: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_words: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class WinLoss:
    """Topic by topic, how contestants did beside the one they are held against: `differences` has a row for each of
    `rows` (contestants) and a column for each topic, above 0 where the contestant did better. Rows keep their order."""

    name: str
    caption: str
    against: str
    rows: tuple[str, ...]
    topics: tuple[str, ...]
    differences: FloatArray
    note: str = ""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A page: `parent` is the place of the one it was found from (None: a seed), `distance` its links from a seed."""

    title: str
    url: str
    visit: int
    relevance: float
    distance: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Some pages of a crawl, parents before children, and further links between them (pairs of places)."""

    name: str
    caption: str
    nodes: tuple[GraphNode, ...]
    links: tuple[tuple[int, int], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs, or points of a list."""

    texts: tuple[str, ...]
    as_list: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and their values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text as it stands, such as settings or a command; `says` is what it is."""

    says: str
    text: str


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML that this program made, from texts that it escaped."""

    html: str


Block = Chart | TableBlock | WinLoss | LinkGraph | Prose | Facts | Verbatim | Markup


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    blocks: tuple[Block, ...]
    folded: bool = False  #: shown when the reader opens it; printed open


@dataclass(frozen=True, slots=True)
class Page:
    """`kind` is what it is a report of: crawl, comparison, study, run, ... `summary` are paragraphs, the answer first;
    `key_facts` are the few numbers that stand at its head, `style` is CSS for what stands in its `Markup`."""

    kind: str
    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    key_facts: tuple[tuple[str, str], ...] = field(default_factory=tuple)
    style: str = ""
