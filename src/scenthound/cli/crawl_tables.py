"""What a live crawl says at its end: why it ended, what it came to, why pages were not taken, and what to do next."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import typer

from scenthound.cli import crawl_words as words
from scenthound.cli.tables import print_table
from scenthound.drivers.ended import Ended
from scenthound.errors import printable

if TYPE_CHECKING:
    from scenthound.lab.crawl import CrawlSummary

#: Of lines that go to a file.
LOG_WIDTH = 160


def print_summary(summary: CrawlSummary) -> None:
    status = summary.status
    typer.echo(f"The crawl ended: {summary.ended}.")
    print_facts(
        {
            "pages": f"{status.n_pages:,} of {summary.page_budget:,}, in {printable(summary.folder)}",
            "speed": f"{words.speed(status)} for {words.clock_time(status.seconds)}",
            "harvest": f"{status.harvest:.3f} mean relevance, {status.harvest_of_late:.3f} over the last pages",
            "regret": f"{words.regret(status)}, the mean score given up because hosts of better pages rested",
            "hosts": words.hosts_met(status),
            "frontier": f"{status.frontier:,} pages still wait",
        }
    )
    if summary.reasons:
        counted = words.most_frequent(summary.reasons)
        print_table(
            f"{sum(summary.reasons.values()):,} pages were not taken",
            ["reason", "which means", "pages"],
            [[reason.value, reason.told, f"{count:,}"] for reason, count in counted],
            n_words=2,
        )
    _print_next(summary)


def print_facts(facts: dict[str, str]) -> None:
    """Names and what there is to say of them, one a line."""
    width = max(map(len, facts), default=0)
    for name, told in facts.items():
        typer.echo(f"  {typer.style(name.ljust(width), dim=True)}  {told}")


def print_commands(commands: dict[str, str]) -> None:
    """Commands and what they are good for, side by side if all of them fit."""
    width = max(map(len, commands)) + max(map(len, commands.values())) + 4
    if width <= shutil.get_terminal_size((LOG_WIDTH, 0)).columns:
        print_facts(commands)
        return
    for command, good_for in commands.items():
        typer.echo(f"  {command}\n      {typer.style(good_for, dim=True)}")


def _print_next(summary: CrawlSummary) -> None:
    folder = shlex.quote(str(summary.folder))
    more = f" --pages {2 * summary.page_budget}" if summary.ended is Ended.BUDGET else ""
    commands = {
        f"scenthound explain {folder} URL": "why a page was taken, or was not",
        f"scenthound export {folder} --to jsonl --out pages.jsonl": "its pages, for other programs",
    }
    resume = {f"scenthound crawl --resume {folder}{more}": "goes on where it stood"}
    if summary.ended is Ended.STOPPED:
        commands = resume | commands
    elif summary.ended is not Ended.FRONTIER:
        commands |= resume
    commands[f"scenthound simulate --web {folder} ..."] = "other strategies on the pages it got"
    typer.echo("Next:")
    print_commands(commands)
