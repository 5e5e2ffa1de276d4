"""The progress of a live crawl: a display on a terminal, otherwise a line every few seconds, or JSON lines.

The display and plain lines go to standard error, JSON lines to standard output.
"""

from __future__ import annotations

import math
import sys
from contextlib import AbstractContextManager
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from scenthound.errors import printable
from scenthound.ui.formats import counted, json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from scenthound.crawler.start import CrawlSummary
    from scenthound.reasons import SkipReason
    from scenthound.store.crawl_records import CrawlStatus

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_JSON = 1.0
#: Skip reasons listed while a crawl runs; the summary lists all.
REASONS_SHOWN = 3


def clock_time(seconds: float) -> str:
    """`1:05`, or `2:01:05` from one hour on."""
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_left:02}" if hours else f"{minutes}:{seconds_left:02}"


def speed(status: CrawlStatus) -> str:
    return f"{status.pages_per_s:,.1f} pages/s"


def pages_of_budget(status: CrawlStatus) -> str:
    return f"{status.n_pages:,} of {counted(status.page_budget, 'page')}"


def hosts(status: CrawlStatus) -> str:
    counts = {state: count for state, count in status.hosts.items() if count or state in ("active", "waiting")}
    return ", ".join(f"{count:,} {state}" for state, count in counts.items() if state != "ready")


def all_hosts(status: CrawlStatus) -> str:
    """Over all runs of the crawl."""
    n_disabled = sum(count for state, count in status.hosts.items() if state == "disabled")
    disabled = f", {n_disabled:,} of them disabled" if n_disabled else ""
    return f"{sum(status.hosts.values()):,}{disabled}"


def harvest(status: CrawlStatus) -> str:
    return f"{status.harvest or 0:.3f}, recently {status.recent_harvest or 0:.3f}"


def regret(status: CrawlStatus) -> str:
    return "unknown" if status.regret is None or not math.isfinite(status.regret) else f"{status.regret:.4f}"


def seconds_left(status: CrawlStatus, time_s: float | None) -> float | None:
    """Until the page budget or the time limit is reached, whichever is first."""
    until_time = [] if time_s is None else [max(0.0, time_s - status.seconds)]
    until_budget = [] if status.seconds_left is None else [status.seconds_left]
    return min((*until_time, *until_budget), default=None)


def time_left(status: CrawlStatus, time_s: float | None) -> str:
    """Empty while it is unknown."""
    seconds = seconds_left(status, time_s)
    return "" if seconds is None else f"{clock_time(seconds)} left"


def most_frequent(reasons: Mapping[SkipReason, int]) -> list[tuple[SkipReason, int]]:
    return sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0]))


def skipped(status: CrawlStatus) -> str:
    counted = most_frequent(status.reasons)
    named = [f"{reason} {count:,}" for reason, count in counted[:REASONS_SHOWN]]
    n_others = sum(count for _, count in counted[REASONS_SHOWN:])
    others = [f"others {n_others:,}"] if n_others else []
    return f"{status.n_skipped:,}" + (f": {', '.join((*named, *others))}" if named else "")


def ending_text(status: CrawlStatus) -> str:
    """That the crawl is ending or paused, and what it still waits for; empty otherwise."""
    from scenthound.reasons import EndReason

    if status.paused and status.ending is None:
        finishing = f": finishing {status.in_flight:,} in flight" if status.in_flight else ""
        return f"paused from the dashboard{finishing}; Ctrl-C stops"
    if status.ending is None or not status.in_flight:
        return ""
    finishing = f"{status.ending}: finishing {status.in_flight:,} in flight"
    return f"{finishing}; Ctrl-C again stops now" if status.ending is EndReason.STOPPED else finishing


def status_values(status: CrawlStatus, time_s: float | None) -> dict[str, Any]:
    """Plain values for programs; docs/crawling.md lists them."""
    from scenthound.records import to_json

    left_s = seconds_left(status, time_s)
    values: dict[str, Any] = to_json(status)
    for name in ("time_s", "run", "host_statistics", "problem"):
        del values[name]
    values["seconds"] = round(status.seconds, 3)
    values["seconds_left"] = None if left_s is None else round(left_s, 1)
    values["pages_per_s"] = round(status.pages_per_s, 3)
    values["reasons"] = {reason.value: count for reason, count in most_frequent(status.reasons)}
    values["ending"] = status.ending and status.ending.name.lower()
    return values


def summary_values(summary: CrawlSummary) -> dict[str, Any]:
    """The values of the last JSON line."""
    values = status_values(summary.status, None)
    del values["ending"], values["seconds_left"], values["in_flight"], values["paused"]
    reasons = {reason.value: count for reason, count in most_frequent(summary.reasons)}
    return {
        "folder": str(summary.folder),
        "ended": summary.ended.name.lower(),
        **values,
        "compiled": summary.is_compiled,
        "reasons": reasons,
    }


class CrawlWatcher(AbstractContextManager["CrawlWatcher"], Protocol):
    """Receives the status of a crawl."""

    def progress(self, share: float, said: str) -> None:
        """The share of an earlier run that has been replayed."""

    def watch(self, status: CrawlStatus) -> None:
        """Called twice a second."""


def watcher(title: str, time_s: float | None, *, log_json: bool) -> CrawlWatcher:
    """`time_s` is the time limit of the run."""
    if log_json:
        return JsonLines(time_s)
    return LiveDisplay(title, time_s) if sys.stderr.isatty() else PlainLines(time_s)


class LiveDisplay:
    """A few lines at the bottom of the terminal, updated in place."""

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
        self._show(_bar_line(f"resuming {self._title}", share, [("", printable(said))]))

    def watch(self, status: CrawlStatus) -> None:
        self._show(_display(self._title, status, self._time_s))

    def _show(self, what: RenderableType) -> None:
        self._live.update(what, refresh=True)


def _display(title: str, status: CrawlStatus, time_s: float | None) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    pages = f"{pages_of_budget(status)}"
    said = [("bold", pages), ("green", speed(status)), ("cyan", time_left(status, time_s))]
    head = _bar_line(title, status.n_pages / status.page_budget, said)
    facts = Table.grid(padding=(0, 2))
    rows = {
        "harvest": harvest(status),
        "regret": regret(status),
        "frontier": f"{status.frontier:,} queued, {status.in_flight:,} in flight",
        "hosts": hosts(status),
        "skipped": skipped(status),
    }
    for name, value in rows.items():
        facts.add_row(Text(name, "dim", no_wrap=True), Text(value, overflow="ellipsis", no_wrap=True))
    ending = ending_text(status)
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
    """For log files: a line every few seconds, and one as soon as the crawl is ending."""

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
            self._say(f"resuming: {share:4.0%}  {printable(said)}")

    def watch(self, status: CrawlStatus) -> None:
        said = ending_text(status)
        if said and not self._said:
            self._say(said)
        elif self._is_due():
            self._say(self._line(status))
        self._said = said

    def _line(self, status: CrawlStatus) -> str:
        left = time_left(status, self._time_s)
        return (
            f"{pages_of_budget(status)}, {speed(status)}{left and f', {left}'}; "
            f"harvest {harvest(status)}; "
            f"frontier {status.frontier:,}; hosts {hosts(status)}; regret {regret(status)}; "
            f"skipped {skipped(status)}"
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
            self._say("resuming", {"share": round(share, 4)})

    def watch(self, status: CrawlStatus) -> None:
        is_ending = status.ending is not None
        if self._is_due() or is_ending != self._was_ending:
            self._say("status", status_values(status, self._time_s))
        self._was_ending = is_ending

    def _is_due(self) -> bool:
        return monotonic() - self._last_s >= SECONDS_BETWEEN_JSON

    def _say(self, event: str, values: dict[str, Any]) -> None:
        self._last_s = monotonic()
        print_event(event, values)


def print_event(event: str, values: dict[str, Any]) -> None:
    print(json_text({"event": event, **values}), flush=True)
