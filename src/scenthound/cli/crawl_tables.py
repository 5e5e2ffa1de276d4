"""What a live crawl says at its end: why it ended, what it came to, why pages were not taken, and what to do next."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli import crawl_output as words
from scenthound.cli import terminal as wrapped
from scenthound.cli.crawl_output import counted
from scenthound.cli.tables import print_table
from scenthound.cli.terminal import filled, filled_command, say
from scenthound.crawler.explain import Fate
from scenthound.errors import printable
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.archive import file_name
from scenthound.store.crawl_folder import ARCHIVE_FOLDER

if TYPE_CHECKING:
    from scenthound.crawler.start import CrawlSummary

NAME = "scenthound"
#: Of lines that go to a file.
LOG_WIDTH = 160


def print_summary(summary: CrawlSummary) -> None:
    status = summary.status
    typer.echo(f"The crawl ended: {summary.ended}.")
    if not status.n_pages:
        say(_took_nothing(summary))
    print_facts(
        {
            "pages": f"{status.n_pages:,} of {summary.page_budget:,}, in {printable(summary.folder)}",
            "speed": f"{words.speed(status)} for {words.clock_time(status.seconds)}",
            "harvest": f"{status.harvest:.3f} mean relevance, {status.recent_harvest:.3f} over the last pages",
            "regret": f"{words.regret(status)}, the mean score given up because hosts of better pages rested",
            "hosts": words.hosts_met(status),
            "frontier": f"{words.counted(status.frontier, 'page still waits', 'pages still wait')}",
            "compiled code": "yes" if summary.is_compiled else "no",
        }
    )
    if summary.reasons:
        counted = words.most_frequent(summary.reasons)
        print_table(
            f"{words.counted(sum(summary.reasons.values()), 'page was', 'pages were')} not taken",
            ["reason", "which means", "pages"],
            [[reason.value, reason.text, f"{count:,}"] for reason, count in counted],
            n_words=2,
        )
    _print_next(summary)


def _took_nothing(summary: CrawlSummary) -> str:
    """Why, as far as the reasons tell."""
    if not summary.reasons:
        return "It took no page, and was refused none: it ended before the first answer."
    reason, count = words.most_frequent(summary.reasons)[0]
    hint = (
        " Is that meant, as in an intranet? --allow-private lets it." if reason is SkipReason.ADDRESS_FORBIDDEN else ""
    )
    pages = words.counted(count, "page", "pages")
    return f"It took no page. The most frequent reason, for {pages}: {reason.text} ({reason}).{hint}"


def program() -> str:
    """How the user can call this program again: by its name, if that is on the path, else by its place."""
    called = Path(sys.argv[0])
    is_known = called.name != NAME or shutil.which(NAME) is not None
    return NAME if is_known else shlex.quote(os.path.relpath(called))


def print_facts(facts: dict[str, str]) -> None:
    """Names and what there is to say of them, one a line."""
    width = max(map(len, facts), default=0)
    for name, told in facts.items():
        lines = filled(told, " " * (width + 4), " " * (width + 4))
        typer.echo(f"  {typer.style(name.ljust(width), dim=True)}  {lines[width + 4 :]}")


def print_commands(commands: dict[str, str]) -> None:
    """Commands and what they are good for, side by side if all of them fit."""
    width = max(map(len, commands)) + max(map(len, commands.values())) + 4
    if width <= (wrapped.columns() or LOG_WIDTH):
        print_facts(commands)
        return
    for command, good_for in commands.items():
        typer.echo(f"{filled_command(command, '  ', '      ')}\n      {typer.style(good_for, dim=True)}")


def _print_next(summary: CrawlSummary) -> None:
    scenthound, folder = program(), shlex.quote(str(summary.folder))
    n_pages = summary.status.n_pages
    more = f" --pages {2 * n_pages}" if n_pages and n_pages >= summary.page_budget else ""
    commands = {
        f"{scenthound} report {folder}": "one page about it, to look at",
        f"{scenthound} explain {folder} URL": "why a page was taken, or was not",
    }
    if summary.n_recorded < summary.status.n_pages:
        commands[f"{scenthound} export {folder} --to jsonl --out pages.jsonl"] = "its pages, for other programs"
    resume = {f"{scenthound} crawl --resume {folder}{more}": "goes on where it stood"}
    if summary.ended is EndReason.STOPPED:
        commands = resume | commands
    elif summary.ended is not EndReason.FRONTIER:
        commands |= resume
    if summary.n_recorded and summary.recording is not None:
        commands[f"{scenthound} simulate --web {shlex.quote(summary.recording)} ..."] = (
            "other strategies on the recording"
        )
    elif summary.status.n_pages:
        commands[f"{scenthound} simulate --web {folder} ..."] = "other strategies on the pages it got"
    typer.echo("Next:")
    print_commands(commands)


# What `scenthound explain` prints.

if TYPE_CHECKING:
    from scenthound.crawler.explain import Explanation, Parent
    from scenthound.store.crawl_rows import ArchiveLocation, SkippedRecord, VisitRecord

MOST_ANCHOR_LETTERS = 60


def print_explanation(told: Explanation) -> None:
    typer.echo(printable(told.url))
    if told.visit is not None:
        _print_visit(told, told.visit)
    elif told.skipped is not None:
        _print_not_taken(told.skipped)
    elif told.fate is Fate.WAITING:
        typer.echo("Neither taken nor given up: it still waits, or was on its way when the crawl stopped.")
    else:
        typer.echo("Unknown: no link that may be followed leads to it from a visited page, and it is no seed.")
        if told.nearest is not None:
            typer.echo(f"The nearest that the crawl knows: {printable(told.nearest)}")
        return
    _print_parents(told)


def _print_visit(told: Explanation, visit: VisitRecord) -> None:
    typer.echo(f"Taken: visit {visit.visit:,}, counted from 0, on {_sample(visit.time_s)}.")
    facts = {
        "title": printable(visit.title, 200) or "none",
        "relevance": f"{visit.relevance:.4f}",
        "asked for": f"after {counted(visit.rank, 'other page', 'other pages')}, when {visit.waiting:,} waited",
        **_figures(visit),
        "answer": f"{visit.status}, {visit.content_bytes:,} bytes{', cut off' if visit.truncated else ''}",
        "links": f"{len(visit.links):,}",
        "stored in": _place(visit.place),
    }
    if told.asked_url not in (None, visit.url):
        facts["redirect"] = f"asked for as {printable(told.asked_url)}, which led to {printable(visit.url)}"
    if visit.noindex:
        facts["noindex"] = "it asks not to be indexed; exports leave it out unless told"
    print_facts(facts)


def _print_not_taken(row: SkippedRecord) -> None:
    typer.echo(f"Not taken: {row.reason.text} ({row.reason}), decided on {_sample(row.time_s)}.")
    facts = {}
    if row.status is not None:
        facts["status"] = str(row.status)
    if row.detail:
        facts["detail"] = printable(row.detail, 500)
    print_facts(facts)


def _print_parents(told: Explanation) -> None:
    if told.is_seed:
        typer.echo("The crawl started from it.")
    if not told.parents:
        typer.echo("No link that may be followed leads to it from a visited page.")
        return
    shown = "" if told.n_parents == len(told.parents) else f"; the first {len(told.parents)}"
    print_table(
        f"Visited pages that link to it, as they were found: {told.n_parents:,}{shown}",
        ["page", "anchor", "visit", "relevance", "link's context", "link's anchor"],
        [_parent_row(parent) for parent in told.parents],
        n_words=2,
    )


def _parent_row(parent: Parent) -> list[str]:
    anchor = "(in a sitemap or recording)" if parent.anchor is None else parent.anchor or "(no text)"
    figures = (parent.relevance, parent.context_relevance, parent.anchor_relevance)
    return [
        parent.url,
        printable(anchor, MOST_ANCHOR_LETTERS),
        f"{parent.visit:,}",
        *("-" if figure is None else f"{figure:.4f}" for figure in figures),
    ]


def _figures(visit: VisitRecord) -> dict[str, str]:
    """Those that the strategy told. A seed comes before all other pages, so its score is endless, and so is the regret
    of a page that was taken while a seed had to wait."""
    told = {"score": (visit.score, "seed"), "regret": (visit.regret, "a seed had to wait")}
    return {
        name: f"{value:.4f}" if math.isfinite(value) else endless
        for name, (value, endless) in told.items()
        if value is not None
    }


def _place(place: ArchiveLocation | None) -> str:
    if place is None:
        return "the recording that it was read from"
    return f"{ARCHIVE_FOLDER}/{file_name(place.file)}, {place.length:,} bytes from byte {place.offset:,} on"


def _sample(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def explanation_values(told: Explanation) -> dict[str, Any]:
    """Plain values for programs."""
    return {
        "url": told.url,
        "fate": told.fate.value,
        "asked_url": told.asked_url,
        "is_seed": told.is_seed,
        "visit": None if told.visit is None else _visit_values(told.visit),
        "skipped": None if told.skipped is None else _not_taken_values(told.skipped),
        "parents": [{name: getattr(parent, name) for name in parent.__slots__} for parent in told.parents],
        "n_parents": told.n_parents,
        "nearest": told.nearest,
    }


def _visit_values(visit: VisitRecord) -> dict[str, Any]:
    names = ("visit", "url", "status", "time_s", "title", "relevance", "score", "regret", "rank", "waiting")
    place = visit.place
    return {
        **{name: getattr(visit, name) for name in (*names, "content_bytes", "noindex", "truncated")},
        "n_links": len(visit.links),
        "archive": None
        if place is None
        else {"file": f"{ARCHIVE_FOLDER}/{file_name(place.file)}", "offset": place.offset, "length": place.length},
    }


def _not_taken_values(row: SkippedRecord) -> dict[str, Any]:
    return {
        "reason": row.reason.value,
        "text": row.reason.text,
        "detail": row.detail,
        "status": row.status,
        "time_s": row.time_s,
    }
