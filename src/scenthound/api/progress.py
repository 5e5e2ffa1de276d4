"""The progress of long work: a bar in a terminal or a notebook, or a line on standard error every few seconds."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from time import monotonic
from typing import Any

from scenthound.errors import printable
from scenthound.model import Progress, silent
from scenthound.options import ProgressLike

SECONDS_BETWEEN_LINES = 2.0
SECONDS_BETWEEN_UPDATES = 0.2


@contextmanager
def show_progress(title: str, progress: ProgressLike = True) -> Iterator[Progress]:
    """Report the progress of the work within the block."""
    if progress is False:
        yield silent
    elif not isinstance(progress, bool) and progress is not None:
        yield progress
    elif _in_notebook():
        with _notebook_bar(title) as update:
            yield update
    elif sys.stderr.isatty():
        with _terminal_bar(title, transient=progress is None) as update:
            yield update
    else:
        yield _lines(title) if progress else silent


@contextmanager
def _terminal_bar(title: str, *, transient: bool) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(title, total=1.0, text="")
        yield lambda share, text: bar.update(task, completed=share, text=printable(text))


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


@contextmanager
def _notebook_bar(title: str) -> Iterator[Progress]:
    """rich would need ipywidgets for this."""
    ipython: Any = import_module("IPython.display")
    handle = ipython.display(ipython.HTML(""), display_id=True)
    next_s = 0.0

    def update(share: float, text: str) -> None:
        nonlocal next_s
        if monotonic() >= next_s:
            next_s = monotonic() + SECONDS_BETWEEN_UPDATES
            bar = f'<progress value="{share:.4f}" max="1"></progress>'
            handle.update(ipython.HTML(f"{escape(title)} {bar} {share:.0%} {escape(printable(text))}"))

    try:
        yield update
    finally:
        handle.update(ipython.HTML(""))


def _lines(title: str) -> Progress:
    """A line at once, then every few seconds, and at the end. The time left is estimated from the first change on,
    because reading comes before."""
    last_s, last = -math.inf, ""
    initial_share: float | None = None
    measured_from: tuple[float, float] | None = None

    def update(share: float, text: str) -> None:
        nonlocal last_s, last, initial_share, measured_from
        now_s, left = monotonic(), ""
        if initial_share is None:
            initial_share = share
        elif measured_from is None and share > initial_share:
            measured_from = now_s, share
        elif measured_from is not None and measured_from[1] < share < 1.0:
            first_s, first_share = measured_from
            left = f", {time_left((now_s - first_s) * (1 - share) / (share - first_share))} left"
        line = f"{title}: {share:4.0%}  {printable(text)}{left}"
        if (now_s - last_s >= SECONDS_BETWEEN_LINES or share >= 1.0) and line != last:
            last_s, last = now_s, line
            print(line, file=sys.stderr, flush=True)

    return update


def time_left(seconds: float) -> str:
    """In a suitable unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
