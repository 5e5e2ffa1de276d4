"""How a live crawl is watched: a display on a terminal, a plain line now and then otherwise, or JSON for programs.

Displays and lines go to standard error. JSON lines go to standard output, because who asks for them wants to read them;
errors stay where they are.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from scenthound.cli import crawl_words as words
from scenthound.errors import printable
from scenthound.report.json_text import json_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from scenthound.drivers.live.status import CrawlStatus

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_JSON = 1.0


class CrawlWatcher(AbstractContextManager["CrawlWatcher"], Protocol):
    """Is told how a crawl is doing, from `with` to its end."""

    def progress(self, share: float, said: str) -> None:
        """How much of an earlier run has been taken up."""

    def watch(self, status: CrawlStatus) -> None:
        """How the crawl is doing; told twice a second."""


def watcher(title: str, time_s: float | None, *, log_json: bool) -> CrawlWatcher:
    """`time_s` is the time that the run has."""
    if log_json:
        return JsonLines(time_s)
    return LiveDisplay(title, time_s) if sys.stderr.isatty() else PlainLines(time_s)


class LiveDisplay:
    """A few lines at the bottom of the terminal that are written anew each time."""

    def __init__(self, title: str, time_s: float | None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._title = printable(title)
        self._time_s = time_s
        self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> LiveDisplay:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def progress(self, share: float, said: str) -> None:
        self._show(_bar_line(f"taking up {self._title}", share, [("", printable(said))]))

    def watch(self, status: CrawlStatus) -> None:
        self._show(_display(self._title, status, self._time_s))

    def _show(self, what: RenderableType) -> None:
        self._live.update(what, refresh=True)


def _display(title: str, status: CrawlStatus, time_s: float | None) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    pages = f"{words.pages_of_budget(status)}"
    said = [("bold", pages), ("green", words.speed(status)), ("cyan", words.time_left(status, time_s))]
    head = _bar_line(title, status.n_pages / status.page_budget, said)
    facts = Table.grid(padding=(0, 2))
    rows = {
        "harvest": words.harvest(status),
        "regret": words.regret(status),
        "frontier": f"{status.frontier:,} waiting, {status.in_flight:,} in flight",
        "hosts": words.hosts(status),
        "not taken": words.not_taken(status),
    }
    for name, told in rows.items():
        facts.add_row(Text(name, "dim", no_wrap=True), Text(told, overflow="ellipsis", no_wrap=True))
    ending = words.ending(status)
    return Group(head, facts, *([Text(ending, "bold yellow")] if ending else []))


def _bar_line(title: str, share: float, said: list[tuple[str, str]]) -> RenderableType:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=1.0, completed=min(1.0, share), width=24)
    line.add_row(Text(title, "bold", no_wrap=True), bar, *(Text(text, style, no_wrap=True) for style, text in said))
    return line


class PlainLines:
    """For log files: often enough to see life, seldom enough to read; a crawl that is to end says so at once."""

    def __init__(self, time_s: float | None) -> None:
        self._time_s = time_s
        self._last_s = monotonic()
        self._said = ""

    def __enter__(self) -> PlainLines:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def progress(self, share: float, said: str) -> None:
        if self._is_due():
            self._say(f"taking up: {share:4.0%}  {printable(said)}")

    def watch(self, status: CrawlStatus) -> None:
        said = words.ending(status)
        if said and not self._said:
            self._say(said)
        elif self._is_due():
            self._say(self._line(status))
        self._said = said

    def _line(self, status: CrawlStatus) -> str:
        left = words.time_left(status, self._time_s)
        return (
            f"{words.pages_of_budget(status)}, {words.speed(status)}{left and f', {left}'}; "
            f"harvest {words.harvest(status)}; "
            f"frontier {status.frontier:,}; hosts {words.hosts(status)}; regret {words.regret(status)}; "
            f"not taken {words.not_taken(status)}"
        )

    def _is_due(self) -> bool:
        return monotonic() - self._last_s >= SECONDS_BETWEEN_LINES

    def _say(self, line: str) -> None:
        self._last_s = monotonic()
        print(line, file=sys.stderr, flush=True)


class JsonLines:
    """One object a line, `event` first."""

    def __init__(self, time_s: float | None) -> None:
        self._time_s = time_s
        self._last_s = -SECONDS_BETWEEN_JSON
        self._was_ending = False

    def __enter__(self) -> JsonLines:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def progress(self, share: float, said: str) -> None:
        if self._is_due():
            self._say("taking-up", {"share": round(share, 4)})

    def watch(self, status: CrawlStatus) -> None:
        is_ending = status.ending is not None
        if self._is_due() or is_ending != self._was_ending:
            self._say("status", words.status_values(status, self._time_s))
        self._was_ending = is_ending

    def _is_due(self) -> bool:
        return monotonic() - self._last_s >= SECONDS_BETWEEN_JSON

    def _say(self, event: str, values: dict[str, Any]) -> None:
        self._last_s = monotonic()
        print_event(event, values)


def print_event(event: str, values: dict[str, Any]) -> None:
    print(json_text({"event": event, **values}), flush=True)
