"""The document model of reports: what is shown, independent of how it is rendered.

A report is one function that turns a result into a `Document`. `ui/html.py` renders documents as HTML pages,
`ui/terminal.py` prints their tables, and `ui/figures.py` draws their charts with matplotlib.

Rules
- All texts are plain; renderers escape them.
- Undefined numbers are NaN; renderers show them as gaps.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from scenthound.command_line import in_lines
from scenthound.model import FloatArray
from scenthound.ui.formats import version_rows

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Series:
    """One curve, or one set of bars. `error` is drawn on both sides, as a band or a whisker; two rows are the lengths
    below and above, for image files. A `hidden` series appears
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


@dataclass(frozen=True, slots=True)
class Figure:
    """Charts that belong together: one image file with a panel for each of them. `name` is the name of the file."""

    name: str
    caption: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """`mark` is a sign of significance that the table's note explains. `link` is a URL, shown as a link if it is http
    or https."""

    text: str
    mark: str = ""
    link: str = ""
    emphasis: bool = False
    status: Literal["", "good", "bad", "open"] = ""  #: shown as a coloured sign before the text
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, which readers can sort by the texts of a column, or by the numbers at their beginning. Columns
    from `n_text_columns` on are numbers and right-aligned.

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


def as_cell(value: Cell | str) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)


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


#: A text is a paragraph.
Block = Chart | Table | LinkGraph | str | BulletList | Facts | CodeBlock


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


def settings_section(
    facts: Iterable[tuple[str, str]], about: Mapping[str, Any], command: str, caption: str, *notes: str
) -> Section:
    """Settings, the web and the versions of `about`, and the command that repeats the result; an empty command is left
    out, with its notes."""
    web = ("fingerprint of the web", str(about["web_fingerprint"]))
    blocks: list[Block] = [Facts((*facts, web, *version_rows(about)))]
    if command:
        blocks += [CodeBlock(caption, in_lines(command)), *notes]
    return Section("Settings and versions", tuple(blocks), collapsed=True)
