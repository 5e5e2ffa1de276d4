"""The progress of a live crawl: a display on a terminal, otherwise a line every few seconds, or JSON lines.

The display and plain lines go to standard error, JSON lines to standard output.
"""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from scenthound.errors import printable
from scenthound.ui.formats import counted, json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import RenderableType

    from scenthound.crawler.recrawl import RefreshStatus
    from scenthound.crawler.start import CrawlSummary
    from scenthound.reasons import SkipReason
    from scenthound.store.crawl_records import CrawlStatus

SECONDS_BETWEEN_LINES = 5.0
SECONDS_UNTIL_RESUMING = 1.0
SECONDS_BETWEEN_JSON = 1.0
#: Skip reasons listed while a crawl runs; the summary lists all.
REASONS_LISTED = 3


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


def recall(status: CrawlStatus) -> str:
    """Empty while it is unknown."""
    if status.recall is None or status.recall_low is None or status.recall_high is None:
        return ""
    return f"about {status.recall:.0%} ({status.recall_low:.0%} to {status.recall_high:.0%})"


def harvest(status: CrawlStatus) -> str:
    return f"{status.harvest or 0:.3f}, recently {status.recent_harvest or 0:.3f}"


def regret(status: CrawlStatus) -> str:
    """The share of scores given up."""
    return "unknown" if status.regret is None else f"{status.regret:.1%}"


def seconds_left(status: CrawlStatus, time_s: float | None) -> float | None:
    """Until the page budget or the time limit is reached, whichever is first."""
    until_time = None if time_s is None else max(0.0, time_s - status.seconds)
    return min((each for each in (until_time, status.seconds_left) if each is not None), default=None)


def time_left(status: CrawlStatus, time_s: float | None) -> str:
    """Empty while it is unknown."""
    seconds = seconds_left(status, time_s)
    return "" if seconds is None else f"{clock_time(seconds)} left"


def most_frequent(reasons: Mapping[SkipReason, int]) -> list[tuple[SkipReason, int]]:
    return sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0]))


def reason_values(reasons: Mapping[SkipReason, int]) -> dict[str, int]:
    return {reason.value: count for reason, count in most_frequent(reasons)}


def print_reasons(caption: str, reasons: Mapping[SkipReason, int]) -> None:
    from scenthound.ui.terminal import print_rows

    rows = [[reason.value, reason.text, f"{count:,}"] for reason, count in most_frequent(reasons)]
    print_rows(caption, ["reason", "meaning", "pages"], rows, n_text_columns=2)


def skipped(status: CrawlStatus) -> str:
    counted = most_frequent(status.reasons)
    parts = [f"{reason} {count:,}" for reason, count in counted[:REASONS_LISTED]]
    n_others = sum(count for _, count in counted[REASONS_LISTED:])
    if n_others:
        parts.append(f"others {n_others:,}")
    return f"{status.n_skipped:,}" + (f": {', '.join(parts)}" if parts else "")


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
    for name in ("time_s", "run", "host_statistics", "problem", "failure"):
        del values[name]
    values["seconds"] = round(status.seconds, 3)
    values["seconds_left"] = None if left_s is None else round(left_s, 1)
    values["pages_per_s"] = round(status.pages_per_s, 3)
    values["reasons"] = reason_values(status.reasons)
    values["ending"] = status.ending and status.ending.name.lower()
    return values


def summary_values(summary: CrawlSummary) -> dict[str, Any]:
    """The values of the last JSON line."""
    from scenthound.records import to_json
    from scenthound.ui.endings import ending_text

    values = status_values(summary.status, None)
    del values["ending"], values["seconds_left"], values["in_flight"], values["paused"]
    return {
        "folder": str(summary.folder),
        "ended": summary.ended.name.lower(),
        "failed": summary.ending.is_failure,
        "why": ending_text(summary.ending),
        **values,
        "n_on_topic_lost": summary.n_on_topic_lost,
        "n_caught_up": summary.n_caught_up,
        **to_json(summary.topic_notes),
        "reasons": reason_values(summary.reasons),
    }


class CrawlWatcher:
    """Receives the status of a crawl. `time_s` is the time limit of the run."""

    def __init__(self, time_s: float | None) -> None:
        self._time_s = time_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def progress(self, share: float, text: str) -> None:
        """The share of an earlier run that has been replayed."""

    def watch(self, status: CrawlStatus) -> None:
        """Called twice a second."""


def watcher(title: str, time_s: float | None, *, log_json: bool) -> CrawlWatcher:
    if log_json:
        return JsonLines(lambda status: status_values(status, time_s))
    return LiveDisplay(title, time_s) if sys.stderr.isatty() else PlainLines(time_s)


class LiveDisplay(CrawlWatcher):
    """A few lines at the bottom of the terminal, updated in place."""

    def __init__(self, title: str, time_s: float | None) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(time_s)
        self._title = printable(title)
        self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def progress(self, share: float, text: str) -> None:
        self._live.update(_bar_line(f"resuming {self._title}", share, [("", printable(text))]), refresh=True)

    def watch(self, status: CrawlStatus) -> None:
        self._live.update(_display(self._title, status, self._time_s), refresh=True)


def _display(title: str, status: CrawlStatus, time_s: float | None) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    texts = [("bold", pages_of_budget(status)), ("green", speed(status)), ("cyan", time_left(status, time_s))]
    head = _bar_line(title, status.n_pages / status.page_budget, texts)
    facts = Table.grid(padding=(0, 2))
    rows = {
        **({} if status.n_on_topic is None else {"on topic": counted(status.n_on_topic, "page")}),
        **({"recall": known} if (known := recall(status)) else {}),
        "harvest": harvest(status),
        "given up": f"{regret(status)} of the best score",
        "frontier": f"{status.frontier:,} queued, {status.in_flight:,} in flight",
        "hosts": hosts(status),
        "skipped": skipped(status),
    }
    for name, value in rows.items():
        facts.add_row(Text(name, "dim", no_wrap=True), Text(value, overflow="ellipsis", no_wrap=True))
    ending = ending_text(status)
    return Group(head, facts, *([Text(ending, "bold yellow")] if ending else []))


def _bar_line(title: str, share: float, texts: list[tuple[str, str]]) -> RenderableType:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=1.0, completed=min(1.0, share), width=24)
    line.add_row(Text(title, "bold", no_wrap=True), bar, *(Text(text, style, no_wrap=True) for style, text in texts))
    return line


class PlainLines(CrawlWatcher):
    """For log files: a line every few seconds, and one as soon as the crawl is ending."""

    def __init__(self, time_s: float | None) -> None:
        super().__init__(time_s)
        self._last_s = monotonic()
        self._ending = ""
        self._is_resuming = False

    def progress(self, share: float, text: str) -> None:
        """The first line comes soon, because nothing else shows that the crawl is not stuck."""
        if self._is_due(SECONDS_BETWEEN_LINES if self._is_resuming else SECONDS_UNTIL_RESUMING):
            self._is_resuming = True
            self._print(f"resuming: {share:4.0%}  {printable(text)}")

    def watch(self, status: CrawlStatus) -> None:
        ending = ending_text(status)
        if ending and not self._ending:
            self._print(ending)
        elif self._is_due(SECONDS_BETWEEN_LINES):
            left, known = time_left(status, self._time_s), recall(status)
            on_topic = "" if status.n_on_topic is None else f"{status.n_on_topic:,} on topic; "
            self._print(
                f"{pages_of_budget(status)}, {speed(status)}{left and f', {left}'}; {on_topic}"
                f"{known and f'recall {known}; '}harvest {harvest(status)}; frontier {status.frontier:,}; "
                f"hosts {hosts(status)}; score given up {regret(status)}; skipped {skipped(status)}"
            )
        self._ending = ending

    def _is_due(self, after_s: float) -> bool:
        return monotonic() - self._last_s >= after_s

    def _print(self, line: str) -> None:
        self._last_s = monotonic()
        print(line, file=sys.stderr, flush=True)


class JsonLines(CrawlWatcher):
    """One object a line, `event` first; `values` are those of a status."""

    def __init__(self, values: Callable[[Any], dict[str, Any]]) -> None:
        super().__init__(None)
        self._values = values
        self._last_s = -SECONDS_BETWEEN_JSON
        self._was_ending = False

    def progress(self, share: float, text: str) -> None:
        if self._is_due():
            self._print("resuming", {"share": round(share, 4)})

    def watch(self, status: CrawlStatus | RefreshStatus) -> None:
        is_ending = status.ending is not None
        if self._is_due() or is_ending != self._was_ending:
            self._print("status", self._values(status))
        self._was_ending = is_ending

    def _is_due(self) -> bool:
        return monotonic() - self._last_s >= SECONDS_BETWEEN_JSON

    def _print(self, event: str, values: dict[str, Any]) -> None:
        self._last_s = monotonic()
        print_event(event, values)


def print_event(event: str, values: dict[str, Any]) -> None:
    print(json_text({"event": event, **values}), flush=True)
