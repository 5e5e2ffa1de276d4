"""`scenthound crawl --refresh`: checks the pages of a crawl again, displays the progress, and prints what was found."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import typer

from scenthound.api.progress import show_progress
from scenthound.cli import INTERRUPTED
from scenthound.cli.crawl import print_note
from scenthound.cli.crawl_progress import JsonLines, clock_time, print_event, print_reasons, reason_values
from scenthound.cli.crawl_results import program
from scenthound.cli.options import print_json
from scenthound.crawler.recrawl import RefreshStatus, RefreshSummary
from scenthound.errors import printable
from scenthound.reasons import EndReason
from scenthound.ui.formats import counted
from scenthound.ui.terminal import print_commands, print_facts

if TYPE_CHECKING:
    from scenthound.crawler.options import RefreshArguments


def refresh_crawl(arguments: RefreshArguments, *, log_json: bool, as_json: bool) -> None:
    from scenthound.api.runs import refreshed

    with show_progress(f"refreshing {printable(arguments.crawl)}", not log_json) as progress:
        watched: dict[str, Any] = (
            {"watch": JsonLines(status_values).watch}
            if log_json
            else {
                "progress": lambda _share, text: progress(0.0, text),
                "watch": lambda status: progress(status.counts.n_checked / max(1, status.n_pages), _counts(status)),
            }
        )
        summary = refreshed(arguments, handle_signals=True, note=print_note, **watched)
    if log_json:
        print_event("ended", summary_values(summary))
    elif as_json:
        print_json(summary_values(summary))
    else:
        print_summary(summary)
    if summary.ended is EndReason.STOPPED:
        sys.exit(INTERRUPTED)


def _counts(status: RefreshStatus) -> str:
    found = ", ".join(f"{count:,} {outcome}" for outcome, count in status.counts.outcomes.items() if count)
    ending = (
        f"; {status.ending}: finishing {status.in_flight:,} in flight" if status.ending and status.in_flight else ""
    )
    return f"{status.counts.n_checked:,} of {counted(status.n_pages, 'page')} checked{found and f': {found}'}{ending}"


def status_values(status: RefreshStatus) -> dict[str, Any]:
    """Plain values for programs; docs/crawling.md lists them."""
    return {
        "n_pages": status.n_pages,
        "n_checked": status.counts.n_checked,
        **{f"n_{outcome}": count for outcome, count in status.counts.outcomes.items()},
        "body_bytes": status.counts.body_bytes,
        "seconds": round(status.seconds, 3),
        "seconds_left": None if status.seconds_left is None else round(status.seconds_left, 1),
        "pages_per_s": round(status.pages_per_s, 3),
        "in_flight": status.in_flight,
        "ending": status.ending and status.ending.name.lower(),
    }


def summary_values(summary: RefreshSummary) -> dict[str, Any]:
    values = status_values(summary.status)
    del values["ending"], values["seconds_left"], values["in_flight"]
    return {
        "folder": str(summary.folder),
        "refresh": summary.refresh,
        "ended": "complete" if summary.is_complete else summary.ended.name.lower(),
        "continued": summary.is_continued,
        **values,
        "n_recorded": summary.n_recorded,
        "reasons": reason_values(summary.reasons),
    }


def print_summary(summary: RefreshSummary) -> None:
    status = summary.status
    ended = "is complete" if summary.is_complete else f"ended: {summary.ended}"
    recorded = counted(summary.n_recorded, "page")
    continued = ", continued from an earlier run," if summary.is_continued else ""
    typer.echo(f"Refresh {summary.refresh:,} of {printable(summary.folder)}{continued} {ended}.")
    print_facts(
        {
            "checked": f"{status.counts.n_checked:,} of {counted(status.n_pages, 'page')}",
            "time": clock_time(status.seconds),
            **{str(outcome): f"{count:,}" for outcome, count in status.counts.outcomes.items()},
            "downloaded": f"{status.counts.body_bytes:,} bytes of pages",
            **({"not checked": f"{recorded} that the crawl read from a recording"} if summary.n_recorded else {}),
        }
    )
    if summary.reasons:
        print_reasons("Pages that are gone, failed or were skipped", summary.reasons)
    _print_next(summary)


def _print_next(summary: RefreshSummary) -> None:
    scenthound, folder = program(), shlex.quote(str(summary.folder))
    go_on = {f"{scenthound} crawl --refresh {folder}": "check the other pages"} if not summary.is_complete else {}
    export = f"{scenthound} export {folder} --to jsonl --out pages.jsonl"
    typer.echo("Next:")
    print_commands({**go_on, export: "export the latest version of each page"})
