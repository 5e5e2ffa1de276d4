"""Results: tables of typed rows, and objects with such tables, which terminals and notebooks display."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from html import escape
from io import StringIO
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin, overload

from scenthound.api.arguments import called_with, errors_name_arguments, folder_of, path_or_none, several
from scenthound.errors import MissingExtra, UsageError, printable, with_arguments
from scenthound.options import PathLike
from scenthound.records import columns_of
from scenthound.ui.document import Chart, Figure
from scenthound.ui.options import ReportOptions

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Row = TypeVar("Row")

#: The number of rows that are printed of a long table.
PRINTED_ROWS = 20
#: Where the output is no terminal.
DEFAULT_WIDTH = 120
#: Longer texts are cut in print, not in data frames.
MAX_TEXT = 80
#: Columns up to this width are never reduced.
MIN_TEXT_WIDTH = 20
#: Ends the type of a column with missing values.
OR_NONE = " | None"
#: The frame of a printed table, for each column.
FRAME_WIDTH = 3


class Table(Generic[Row]):
    """Rows of one type. Iterate for the rows; `to_pandas`, `to_polars` and `to_arrow` convert them.

    Rows are read when they are needed: a table of a running crawl has the rows that are stored by then.
    """

    def __init__(
        self,
        rows: Callable[[], Iterable[Row]] | Sequence[Row],
        columns: Mapping[str, Callable[[Row], Any]] | Sequence[str],
        title: str = "",
        *,
        length: Callable[[], int] | None = None,
        printed: Sequence[str] | None = None,
        formats: Mapping[str, Callable[[Any], str]] | None = None,
        hints: Mapping[str, Any] | None = None,
    ) -> None:
        """`columns` are functions of a row, or names of attributes; `printed` are those to print, if not all, and
        `formats` how to print values of some. `hints` are the annotations of columns; other types are inferred."""
        self._rows = rows if callable(rows) else lambda: rows
        self._columns = columns if isinstance(columns, Mapping) else {name: attrgetter(name) for name in columns}
        self._printed = tuple(printed or columns)
        self._types = {name: _value_type(hint) for name, hint in (hints or {}).items()}
        self._formats = formats or {}
        self._length = length
        self.title = title

    @classmethod
    def of(
        cls,
        row_type: type[Row],
        rows: Callable[[], Iterable[Row]] | Sequence[Row],
        title: str = "",
        *,
        length: Callable[[], int] | None = None,
        printed: Sequence[str] | None = None,
        formats: Mapping[str, Callable[[Any], str]] | None = None,
    ) -> Table[Row]:
        """A table of records, with a column for each field that is a plain value."""
        hints = {each.name: each.type for each in columns_of(cast(Any, row_type)) if _is_plain(each.type)}
        return cls(rows, list(hints), title, length=length, printed=printed, formats=formats, hints=hints)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __iter__(self) -> Iterator[Row]:
        with errors_name_arguments({}):
            yield from self._rows()

    def __len__(self) -> int:
        return self._length() if self._length else sum(1 for _ in self)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return list(self)[index]

    def to_dict(self) -> dict[str, list[Any]]:
        """Values by column."""
        values: dict[str, list[Any]] = {name: [] for name in self._columns}
        for row in self:
            for name, value in self._columns.items():
                values[name].append(_plain(value(row)))
        return values

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra.named("pandas", "to_pandas()") from None
        text = pandas.Series([""]).dtype
        known = {"bool": bool, "bool | None": "boolean", "int": "int64", "int | None": "Int64", "float": "float64"}
        known |= {"float | None": "float64", "str": text, "str | None": text}
        columns = {
            name: pandas.Series(values, dtype=known.get(self._types.get(name, "")))
            for name, values in self.to_dict().items()
        }
        return pandas.DataFrame(columns)

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame."""
        try:
            import polars
        except ImportError:
            raise MissingExtra.named("polars", "to_polars()") from None
        known = {"bool": polars.Boolean, "int": polars.Int64, "float": polars.Float64, "str": polars.String}
        return polars.DataFrame(self.to_dict(), schema=self._schema(known), strict=False)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra.named("parquet", "to_arrow()") from None
        known = {"bool": pyarrow.bool_(), "int": pyarrow.int64(), "float": pyarrow.float64(), "str": pyarrow.string()}
        schema = self._schema(known)
        return pyarrow.table({name: pyarrow.array(each, schema[name]) for name, each in self.to_dict().items()})

    def _schema(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """The type of each column, in the terms of a library; None if it has to be inferred."""
        return {name: known.get(self._types.get(name, "").removesuffix(OR_NONE)) for name in self._columns}

    def _cells(self) -> tuple[list[list[str]], list[str]]:
        """The texts of the first rows, and a note on the others."""
        n_rows = len(self)
        rows = islice(self, PRINTED_ROWS if n_rows > PRINTED_ROWS + 5 else n_rows)
        cells = [[self._cell(name, row) for name in self._printed] for row in rows]
        return cells, [f"... and {n_rows - len(cells):,} more rows"] if n_rows > len(cells) else []

    def _cell(self, name: str, row: Row) -> str:
        value = self._columns[name](row)
        return _text(value if value is None or name not in self._formats else self._formats[name](value))

    def _other_columns(self, printed: Sequence[str]) -> list[str]:
        """A note on the columns that are not printed."""
        others = [name for name in self._columns if name not in printed]
        return [f"More columns: {', '.join(others)}"] if others else []

    def _sides(self, cells: list[list[str]]) -> list[Literal["left", "right"]]:
        """Columns of numbers are right-aligned."""
        numeric = [all(_is_number(row[at]) for row in cells) for at in range(len(self._printed))]
        return ["right" if each else "left" for each in numeric]

    def __repr__(self) -> str:
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        file = StringIO()
        # In Jupyter a console would otherwise display what it prints, in addition to writing it.
        console = Console(
            file=file, width=_width(), force_jupyter=False, force_terminal=False, color_system=None, highlight=False
        )
        cells, notes = self._cells()
        widths = _column_widths([self._printed, *cells], console.width)
        table = RichTable()
        for name, side, width in zip(self._printed, self._sides(cells), widths, strict=False):
            table.add_column(Text(name), justify=side, width=width, overflow="fold")
        for row in cells:
            table.add_row(*map(Text, row[: len(widths)]))
        if self.title:
            console.print(Text(self.title))
        console.print(table)
        for note in notes + self._other_columns(self._printed[: len(widths)]):
            console.print(Text(note))
        return file.getvalue().rstrip("\n")

    def _repr_html_(self) -> str:
        cells, notes = self._cells()
        sides = self._sides(cells)
        head = _html_cells("th", self._printed, sides)
        body = "".join(f"<tr>{_html_cells('td', row, sides)}</tr>" for row in cells)
        caption = f'<caption style="text-align:left">{escape(self.title)}</caption>' if self.title else ""
        more = "".join(f"<p>{escape(note)}</p>" for note in notes + self._other_columns(self._printed))
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _html_cells(element: str, row: Sequence[str], sides: Sequence[str]) -> str:
    return "".join(
        f'<{element} style="text-align:{side}">{escape(text)}</{element}>'
        for text, side in zip(row, sides, strict=True)
    )


def _is_plain(hint: Any) -> bool:
    """Whether a value of this type fits a cell."""
    if get_origin(hint) in (Union, types.UnionType):
        return all(_is_plain(each) for each in get_args(hint) if each is not types.NoneType)
    return isinstance(hint, type) and issubclass(hint, int | float | str | bool | Enum)


def _value_type(hint: Any) -> str:
    """`int`, `float | None` and so on; empty if values may be of several types."""
    choices = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    names = {_type_name(each) for each in choices if each is not types.NoneType}
    return "" if len(names) != 1 else f"{names.pop()}{OR_NONE if types.NoneType in choices else ''}"


def _type_name(kind: type[Any]) -> str:
    # A generic type such as `tuple[str, ...]` is no class.
    of_class = get_origin(kind) or kind
    return next((each.__name__ for each in (bool, int, float, str) if issubclass(of_class, each)), "")


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _text(value: Any) -> str:
    value = _plain(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.3f}"
    return printable(value, MAX_TEXT)


def _is_number(text: str) -> bool:
    """Also a mean with its standard error, and marks of significance behind it."""
    text = text.rstrip("*† ").partition(" ± ")[0]
    return text == "-" or text.replace(",", "").lstrip("-").replace(".", "", 1).isdecimal()


def _column_widths(rows: Sequence[Sequence[str]], available: int) -> list[int]:
    """The widths of the first columns, as many as fit: texts are reduced, the widest first, short columns are not."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    space = available - 1
    n_fitting = 0
    for width in widths:
        space -= min(width, MIN_TEXT_WIDTH) + FRAME_WIDTH
        n_fitting += space >= 0
    widths = widths[: max(1, n_fitting)]
    for _ in range(sum(widths) + FRAME_WIDTH * len(widths) + 1 - available):
        widest = max(widths)
        widths[widths.index(widest)] = max(1, widest - 1)
    return widths


def _width() -> int:
    """That of the terminal, or of the variable COLUMNS."""
    import os
    import shutil
    import sys

    is_known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if is_known else DEFAULT_WIDTH


class Result:
    """What a function of the API returns. `table` is the one that data frames are made of."""

    def _tables(self) -> Sequence[Table[Any]]:
        """The tables to display, the most important one first."""
        raise NotImplementedError

    def _headline(self) -> str:
        """One or a few lines above the tables."""
        return ""

    def _charts(self) -> Sequence[Chart]:
        """The curves that a notebook displays."""
        return ()

    @property
    def table(self) -> Table[Any]:
        """The table that data frames are made of."""
        return self._tables()[0]

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame."""
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table as a Polars data frame."""
        return self.table.to_polars()

    def to_arrow(self) -> pyarrow.Table:
        """The table as an Arrow table."""
        return self.table.to_arrow()

    def report(self, out: PathLike | None = None, **options: Any) -> Path:
        """Write a report; see `scenthound.report`."""
        return report(self, out=out, **options)

    def __repr__(self) -> str:
        headline = with_arguments(self._headline(), {})
        return "\n".join(filter(None, [headline, *map(repr, self._tables())]))

    def _repr_html_(self) -> str:
        headline = escape(with_arguments(self._headline(), {})).replace("\n", "<br>")
        tables = "".join(each._repr_html_() for each in self._tables())
        return f"<div><p>{headline}</p>{tables}{chart_svg(self._charts())}</div>"


@called_with(several(ReportOptions))
def report(options: ReportOptions) -> Path:
    """Write a report of a result or its folder, or of several crawls side by side: one HTML file, whose path is
    returned."""
    from scenthound.ui.reports import write_report

    if not options.results:
        raise UsageError("Nothing to report: pass a result, or its folder.")
    return write_report([folder_of(each) for each in options.results], path_or_none(options.out), force=options.force)


def chart_svg(charts: Sequence[Chart]) -> str:
    """The charts as inline SVG; empty without matplotlib, or with nothing to draw."""
    from scenthound.ui.figures import draw, image_bytes

    charts = tuple(chart for chart in charts if chart.series)
    try:
        svg = image_bytes(draw(Figure("curves", "", charts)), "svg").decode() if charts else ""
    except MissingExtra:
        return ""
    return svg[svg.find("<svg") :] if svg else ""
