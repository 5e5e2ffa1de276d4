"""Printing parts of a document on a terminal: tables, wrapped text, facts and commands.

Output to a terminal fits its width; output to a file is not wrapped. Texts that may come from a page or a topic file
are never interpreted as markup, and control characters in them are escaped.
"""

import math
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from scenthound.errors import printable
from scenthound.ui.document import Cell, Table

#: The width of tables in files, and of facts.
FILE_WIDTH = 160
#: Longer words, such as URLs, may be broken.
MAX_UNBROKEN = 18
#: Border and padding of a column.
FRAME_WIDTH = 3


def columns() -> int | None:
    """The width of the terminal; None if standard output is not one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=FILE_WIDTH)


def print_table(table: Table) -> None:
    """The caption, the table, and its note."""
    console = _console()
    console.print(printable(table.caption, FILE_WIDTH), style="bold", highlight=False, markup=False)
    texts = cell_texts(table, console.width)
    widths = column_widths(
        table.columns, [[row[at] for row in texts] for at in range(len(table.columns))], console.width
    )
    framed = RichTable()
    for at, (title, width) in enumerate(zip(table.columns, widths, strict=True)):
        justify: Literal["left", "right"] = "left" if at < table.n_text_columns else "right"
        framed.add_column(title, justify=justify, overflow="fold", width=width)
    for row, cells in zip(texts, table.rows, strict=True):
        styles = ["bold" if cell.emphasis else "" for cell in cells]
        wrapped_texts = map(wrapped, row, widths)
        framed.add_row(*map(Text, wrapped_texts, styles))
    console.print(framed)
    signs = [f"{table.best_sign} best."] if table.best_sign and len(table.rows) > 1 else []
    note = " ".join((*signs, table.note)).strip()
    if note:
        say(note)


def print_rows(caption: str, titles: Sequence[str], rows: Iterable[Sequence[str]], n_text_columns: int = 1) -> None:
    """A table of plain texts."""
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    print_table(Table("", caption, tuple(titles), cells, n_text_columns))


def cell_texts(table: Table, width: float = math.inf) -> list[list[str]]:
    """The texts of all cells; means and their errors are in two lines if the table is too wide otherwise."""
    suffixes = [[cell.mark + (table.best_sign if cell.emphasis else "") for cell in row] for row in table.rows]
    widest = [max(map(cell_len, column)) for column in zip(*suffixes, strict=True)]

    def text(row: int, at: int, between: str) -> str:
        cell, suffix = table.rows[row][at], suffixes[row][at]
        first, sign, error = (printable(part) for part in cell.text.partition(" ± "))
        if at < table.n_text_columns:
            return printable(cell.text) + suffix
        padding = " " * (widest[at] - cell_len(suffix))
        if between == "\n" and sign:
            return f"{first}{suffix}{padding}\n± {error}{' ' * widest[at]}"
        return f"{printable(cell.text)}{suffix}{padding}"

    def texts(between: str) -> list[list[str]]:
        return [[text(row, at, between) for at in range(len(table.columns))] for row in range(len(table.rows))]

    in_one_line = texts(" ")
    needed = [
        max(cell_len(text) for text in (*_pieces(title), *(row[at] for row in in_one_line), ""))
        for at, title in enumerate(table.columns)
    ]
    numbers = sum(needed[table.n_text_columns :])
    names = sum(min(each, MAX_UNBROKEN) for each in needed[: table.n_text_columns])
    return in_one_line if numbers + names + FRAME_WIDTH * len(needed) + 1 <= width else texts("\n")


def column_widths(titles: Sequence[str], columns: Sequence[Sequence[str]], available: int) -> list[int]:
    """As wide as the cells, and the titles if there is space. If the cells do not fit, the widest columns are reduced
    first, none below its longest word."""
    least = [
        max((cell_len(piece) for text in (title, *cells) for piece in _pieces(text)), default=0)
        for title, cells in zip(titles, columns, strict=True)
    ]
    widths = [
        max([shortest, *(cell_len(line) for cell in cells for line in cell.split("\n"))])
        for shortest, cells in zip(least, columns, strict=True)
    ]
    space = available - sum(widths) - FRAME_WIDTH * len(columns) - 1
    for at, title in enumerate(titles):
        wider = min(max(0, cell_len(title) - widths[at]), max(0, space))
        widths[at] += wider
        space -= wider
    for _ in range(-space):
        at = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[at] = max(1, widths[at] - 1)
    return widths


def _pieces(text: str) -> list[str]:
    """What is not broken, unless it is very long: words, and the parts of `name:key=value`."""
    words = text.split()
    pieces = [piece for word in words for piece in ([word] if "/" in word else re.findall(r"[^:,=]*[:,=]?", word))]
    return [piece for piece in pieces if cell_len(piece) <= MAX_UNBROKEN]


def wrapped(text: str, width: int) -> str:
    """A name such as `strategy:key=value,key=value` in lines, broken after its separators."""
    if "/" in text or " " in text.strip() or cell_len(text) <= width:
        return text
    lines = [""]
    for piece in re.findall(r"[^:,=]+[:,=]*", text):
        if lines[-1] and cell_len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def say(text: str) -> None:
    """Print paragraphs, each indented like its first line."""
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip(" ")))
        typer.echo(filled(line.strip(" "), indent, indent))


def filled(text: str, first_indent: str, indent: str, ending: str = "") -> str:
    """The text in lines; `ending` ends all but the last. Words, URLs and paths are not broken."""
    width = columns()
    if width is None or len(first_indent) + len(text) <= width:
        return first_indent + text
    lines = textwrap.wrap(
        text,
        max(20, width - len(ending)),
        initial_indent=first_indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{ending}\n".join(lines)


def filled_command(command: str, first_indent: str, indent: str) -> str:
    """A command in lines that can still be copied; in one line if it has quotes, within which it must not be broken."""
    return first_indent + command if "'" in command else filled(command, first_indent, indent, " \\")


def print_facts(facts: Mapping[str, str]) -> None:
    """Names and values, one per line."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        lines = filled(value, " " * (width + 4), " " * (width + 4))
        typer.echo(f"  {typer.style(name.ljust(width), dim=True)}  {lines[width + 4 :]}")


def print_commands(commands: Mapping[str, str]) -> None:
    """Commands and what they do, side by side if all of them fit."""
    width = max(map(len, commands)) + max(map(len, commands.values())) + 4
    if width <= (columns() or FILE_WIDTH):
        print_facts(commands)
        return
    for command, purpose in commands.items():
        typer.echo(f"{filled_command(command, '  ', '      ')}\n      {typer.style(purpose, dim=True)}")
