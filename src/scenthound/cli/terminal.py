"""Progress for people: a bar on a terminal, a plain line every few seconds otherwise; on standard error either way."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import typer

from scenthound.errors import printable

if TYPE_CHECKING:
    from scenthound.model import Progress

#: Plain lines are for log files: often enough to see life, seldom enough to read.
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def shown(title: str) -> Iterator[Progress]:
    """Show the progress of the work that runs inside."""
    if sys.stderr.isatty():
        with _bar(title) as progress:
            yield progress
    else:
        yield _lines(title)


@contextmanager
def _bar(title: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=1.0, words="")

        def update(share: float, words: str) -> None:
            bar.update(task, completed=share, words=printable(words))

        yield update


def _lines(title: str) -> Progress:
    last_s = monotonic()
    last = ""

    def update(share: float, words: str) -> None:
        nonlocal last_s, last
        now_s = monotonic()
        line = f"{title}: {share:4.0%}  {printable(words)}"
        if (now_s - last_s >= SECONDS_BETWEEN_LINES or share >= 1.0) and line != last:
            last_s, last = now_s, line
            print(line, file=sys.stderr, flush=True)

    return update


# Lines that fit the terminal, broken between words; what goes to a file stays as long as it is.

#: What a shell takes for the end of a line that is none.
_GOES_ON = " \\"


def columns() -> int | None:
    """Of the terminal that standard output is; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(text: str) -> None:
    """Print paragraphs, each of them indented as its first line is."""
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip(" ")))
        typer.echo(filled(line.strip(" "), indent, indent))


def filled(text: str, first_indent: str, indent: str, ending: str = "") -> str:
    """The text in lines; `ending` stands at the end of all but the last. Words are left whole, URLs and paths too."""
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
    """A command that can be copied although it stands in several lines."""
    return filled(command, first_indent, indent, _GOES_ON)
