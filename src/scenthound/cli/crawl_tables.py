"""What a live crawl says at its end: why it ended, what it came to, why pages were not taken, and what to do next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scenthound.cli import crawl_words as words
from scenthound.cli import wrapped
from scenthound.cli.tables import print_table
from scenthound.cli.wrapped import filled, filled_command, say
from scenthound.drivers.ended import Ended
from scenthound.errors import printable
from scenthound.reasons import Reason

if TYPE_CHECKING:
    from scenthound.lab.crawl import CrawlSummary

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
            "harvest": f"{status.harvest:.3f} mean relevance, {status.harvest_of_late:.3f} over the last pages",
            "regret": f"{words.regret(status)}, the mean score given up because hosts of better pages rested",
            "hosts": words.hosts_met(status),
            "frontier": f"{words.counted(status.frontier, 'page still waits', 'pages still wait')}",
        }
    )
    if summary.reasons:
        counted = words.most_frequent(summary.reasons)
        print_table(
            f"{words.counted(sum(summary.reasons.values()), 'page was', 'pages were')} not taken",
            ["reason", "which means", "pages"],
            [[reason.value, reason.told, f"{count:,}"] for reason, count in counted],
            n_words=2,
        )
    _print_next(summary)


def _took_nothing(summary: CrawlSummary) -> str:
    """Why, as far as the reasons tell."""
    if not summary.reasons:
        return "It took no page, and was refused none: it ended before the first answer."
    reason, count = words.most_frequent(summary.reasons)[0]
    hint = " Is that meant, as in an intranet? --allow-private lets it." if reason is Reason.ADDRESS_FORBIDDEN else ""
    pages = words.counted(count, "page", "pages")
    return f"It took no page. The most frequent reason, for {pages}: {reason.told} ({reason}).{hint}"


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
    if summary.ended is Ended.STOPPED:
        commands = resume | commands
    elif summary.ended is not Ended.FRONTIER:
        commands |= resume
    if summary.n_recorded and summary.recording is not None:
        commands[f"{scenthound} simulate --web {shlex.quote(summary.recording)} ..."] = (
            "other strategies on the recording"
        )
    elif summary.status.n_pages:
        commands[f"{scenthound} simulate --web {folder} ..."] = "other strategies on the pages it got"
    typer.echo("Next:")
    print_commands(commands)
