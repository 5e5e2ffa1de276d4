"""The command group: a command's module is imported when the command runs, not for `scenthound --help`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.main import get_command

from scenthound.cli.options import Command, Group

if TYPE_CHECKING:
    from collections.abc import Callable

CRAWLING = "Crawl"
LABORATORY = "Laboratory"
LISTS = "List and inspect"
#: Options that were renamed in 0.7.
RENAMED = {"--seeds": "--repeats", "--seed": "--random-seed"}


class LazyCommand(NamedTuple):
    """Where a command is defined. `summary` is the first line of its docstring, so that help needs no import."""

    module: str
    function: str
    panel: str
    summary: str


COMMANDS = {
    "crawl": LazyCommand(
        "crawl",
        "crawl",
        CRAWLING,
        "Crawl the web for a topic, politely, into a folder that can be resumed after any interruption.",
    ),
    "dashboard": LazyCommand(
        "inspect",
        "dashboard",
        CRAWLING,
        "Show crawls and experiments, running or finished, on a local web page.",
    ),
    "explain": LazyCommand(
        "inspect",
        "explain",
        CRAWLING,
        "Explain why a crawl visited a page, or why it skipped it.",
    ),
    "export": LazyCommand(
        "inspect",
        "export",
        CRAWLING,
        "Write the pages of a crawl to a file for other programs.",
    ),
    "report": LazyCommand(
        "inspect",
        "report",
        CRAWLING,
        "Write a report: one HTML file that needs no network.",
    ),
    "demo": LazyCommand(
        "demo",
        "demo",
        CRAWLING,
        "Crawl a small web on this machine, live, and compare the crawls with simulated ones.",
    ),
    "record": LazyCommand(
        "laboratory",
        "record",
        LABORATORY,
        "Make a recorded web from files of pages.",
    ),
    "synthesize": LazyCommand(
        "laboratory",
        "synthesize",
        LABORATORY,
        "Make a synthetic web with hosts, topics, hubs and words, and topics to crawl it for.",
    ),
    "simulate": LazyCommand(
        "laboratory",
        "simulate",
        LABORATORY,
        "Let strategies crawl a recorded web, topic by topic, and write their traces.",
    ),
    "evaluate": LazyCommand(
        "laboratory",
        "evaluate",
        LABORATORY,
        "Evaluate the crawls of a run: tables here, curves in evaluation.json and evaluation.csv beside the traces.",
    ),
    "evolve": LazyCommand(
        "evolve",
        "evolve",
        LABORATORY,
        "Search for the weights of a rank function that crawl best for a topic, by a genetic algorithm.",
    ),
    "validate": LazyCommand(
        "validate",
        "validate",
        LABORATORY,
        "Compare evolved strategies with Best-First as in johnson2003, and check which of its findings hold.",
    ),
    "compare": LazyCommand(
        "compare",
        "compare",
        LABORATORY,
        "Rank strategies for a topic: all crawl from the same starts, with intervals and corrected tests.",
    ),
    "study": LazyCommand(
        "study",
        "study",
        LABORATORY,
        "Reproduce a study of the literature, and check which of its findings hold on this web.",
    ),
    "threshold": LazyCommand(
        "threshold",
        "threshold",
        LABORATORY,
        "Suggest a relevance threshold from 20 to 50 labelled pages: by default the one with the best F1.",
    ),
    "strategies": LazyCommand(
        "inspect",
        "strategies",
        LISTS,
        "List the installed strategies with their parameters and defaults.",
    ),
    "metrics": LazyCommand(
        "inspect",
        "metrics",
        LISTS,
        "List the installed metrics.",
    ),
    "relevance": LazyCommand(
        "inspect",
        "relevance_models",
        LISTS,
        "List the installed relevance models, which score pages during a crawl.",
    ),
    "topics": LazyCommand(
        "topics",
        "topics_app",
        LISTS,
        "List topics, select them by the rules of the studies, import them from Open Directory RDF.",
    ),
}


class LazyGroup(Group):
    """Lists the commands from `COMMANDS`; imports one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        lazy = COMMANDS.get(cmd_name)
        return lazy and Command(cmd_name, help=lazy.summary, rich_help_panel=lazy.panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        self.commands = {name: self.get_command(ctx, name) for name in COMMANDS}
        name, command, rest = super().resolve_command(ctx, args)
        return name, (command and load(COMMANDS[name or ""])), rest


def load(lazy: LazyCommand) -> Any:
    """The real command."""
    loaded: Callable[..., None] | typer.Typer = getattr(import_module(f"scenthound.cli.{lazy.module}"), lazy.function)
    if isinstance(loaded, typer.Typer):
        return get_command(loaded)
    only = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    only.command(cls=Command)(loaded)
    return get_command(only)


def renamed_option(error: Exception) -> str | None:
    """For an option that has another name since 0.7: one line with the new name."""
    new = RENAMED.get(getattr(error, "option_name", ""))
    command = getattr(getattr(error, "ctx", None), "command", None)
    if new is None or command is None or not any(new in parameter.opts for parameter in command.params):
        return None
    return f"{error.option_name} is now called {new}"  # type: ignore[attr-defined]


app = typer.Typer(
    cls=LazyGroup,
    help="A topic-driven web crawler, and a laboratory that measures crawls.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def common(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"scenthound {version_of('scenthound')}")
        raise typer.Exit
