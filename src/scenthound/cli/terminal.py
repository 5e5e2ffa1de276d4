"""The progress of a command on standard error: a bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from scenthound.errors import printable

if TYPE_CHECKING:
    from scenthound.model import Progress

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def show_progress(title: str) -> Iterator[Progress]:
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
