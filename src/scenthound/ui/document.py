"""The document model of reports: what is shown, independent of how it is rendered.

A report is one function that turns a result into a `Document`. `ui/html.py` renders documents as HTML pages,
`ui/terminal.py` prints their tables, and `ui/figures.py` draws their charts with matplotlib.

Rules
- All texts are plain; renderers escape them.
- Undefined numbers are NaN; renderers show them as gaps.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from scenthound.command_line import in_lines
from scenthound.model import FloatArray

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Series:
    """One curve, or one set of bars. `error` is drawn on both sides, as a band or a whisker. A `hidden` series appears
    when the reader selects it; a `reference` (such as a bound) is drawn thinner than the others in image files."""

    name: str
    x: FloatArray
    y: FloatArray
    error: FloatArray | None = None
    hidden: bool = False
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Marker:
    """A labelled position on the x axis, such as the page at which a model was retrained."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves, or bars with a group for each of `categories` (at x = 0, 1, 2, ...). `name` is its id in the document.

    `lower_is_better`: in image files the y axis need not start at 0.
    `discrete`: x has few values, and in image files each of them gets a tick.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["curves", "bars"] = "curves"
    categories: tuple[str, ...] = ()
    markers: tuple[Marker, ...] = ()
    note: str = ""
    lower_is_better: bool = False
    discrete: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """Charts that belong together: one image file with a panel for each of them. `name` is the name of the file."""

    name: str
    caption: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """`mark` is a sign of significance that the table's note explains. `link` is a URL, shown as a link if it is http
    or https. Tables are sorted by `value`, or by the number at the beginning of the text if there is none."""

    text: str
    mark: str = ""
    link: str = ""
    emphasis: bool = False
    value: float | None = None
    status: Literal["", "good", "bad", "open"] = ""  #: shown as a coloured sign before the text
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, which readers can sort. Columns from `n_text_columns` on are numbers and right-aligned.

    `best_sign` follows emphasised cells where there is no bold type.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_text_columns: int = 1
    note: str = ""
    best_sign: str = ""

    @classmethod
    def build(
        cls,
        name: str,
        caption: str,
        columns: Mapping[str, Callable[[Row], Cell | str]],
        rows: Iterable[Row],
        *,
        n_text_columns: int = 1,
        note: str = "",
    ) -> "Table":
        """A table whose columns are functions of a row."""
        cells = tuple(tuple(as_cell(column(row)) for column in columns.values()) for row in rows)
        return cls(name, caption, tuple(columns), cells, n_text_columns, note)


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows under a heading of their own; `cell` stands in the last column of the heading."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    detail: str = ""
    cell: Cell | None = None


@dataclass(frozen=True, slots=True)
class GroupedTable:
    """Groups of rows, in a fixed order. `numeric` are the columns of numbers."""

    name: str
    caption: str
    columns: tuple[str, ...]
    groups: tuple[RowGroup, ...]
    numeric: frozenset[str] = frozenset()


def as_cell(value: Cell | str) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)


@dataclass(frozen=True, slots=True)
class WinLossGrid:
    """Wins and losses of `rows` (strategies) against a baseline, topic by topic. `differences` has a row for each of
    them and a column for each topic; it is positive where the strategy was better than the baseline."""

    name: str
    caption: str
    against: str
    rows: tuple[str, ...]
    topics: tuple[str, ...]
    differences: FloatArray
    note: str = ""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A page. `parent` is the index of the node it was discovered from (None: a seed), `distance` its number of links
    from a seed."""

    title: str
    url: str
    visit: int
    relevance: float
    distance: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages of a crawl, parents before children, and further links between them (pairs of indices)."""

    name: str
    caption: str
    nodes: tuple[GraphNode, ...]
    links: tuple[tuple[int, int], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paragraphs:
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BulletList:
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and their values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A text shown as it is, such as a settings file or a command."""

    caption: str
    text: str


Block = Chart | Table | GroupedTable | WinLossGrid | LinkGraph | Paragraphs | BulletList | Facts | CodeBlock


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    blocks: tuple[Block, ...]
    collapsed: bool = False  #: until the reader opens it; printed open


@dataclass(frozen=True, slots=True)
class Document:
    """A report. `kind` is the kind of result: crawl, study, run, ... `summary` are paragraphs, the conclusion first;
    `key_facts` are the most important numbers. Sections without blocks are left out."""

    kind: str
    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    key_facts: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", tuple(section for section in self.sections if section.blocks))


def notes_section(notes: Sequence[str]) -> Section:
    return Section("Notes", (BulletList(tuple(notes)),) if notes else ())


def settings_section(facts: Iterable[tuple[str, str]], command: str, caption: str, *notes: str) -> Section:
    """Settings and versions, and the command that repeats the result; an empty command is left out, with its notes."""
    blocks: list[Block] = [Facts(tuple(facts))]
    if command:
        blocks += [CodeBlock(caption, in_lines(command)), *([Paragraphs(notes)] if notes else [])]
    return Section("Settings and versions", tuple(blocks), collapsed=True)
