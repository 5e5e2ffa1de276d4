"""The command group: a command's module is imported when the command runs, not for `scenthound --help`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from scenthound.cli.options import CONFIG_HELP, PROFILE_HELP, Command, Group, command_of

CRAWLING = "Crawl"
LABORATORY = "Laboratory"
LISTS = "List and inspect"


#: Commands by help panel: the module that defines each, and the first line of its docstring, so that help needs no
#: import. The function has the name of the command, with underscores for hyphens.
COMMANDS = {
    CRAWLING: {
        "crawl": (
            "crawl",
            "Crawl the web for a topic, politely, into a folder that can be resumed after any interruption.",
        ),
        "dashboard": ("inspect", "Show crawls and experiments, running or finished, on a local web page."),
        "explain": ("inspect", "Explain why a crawl visited a page, or why it skipped it."),
        "export": ("inspect", "Write the texts of a crawl, its archive, or the crawls of a run for other programs."),
        "report": ("inspect", "Write a report: one HTML file that needs no network."),
        "demo": ("demo", "Crawl a small web on this machine, live, and compare the crawls with simulated ones."),
    },
    LABORATORY: {
        "record": ("laboratory", "Make a recorded web from files of pages."),
        "synthesize": (
            "laboratory",
            "Make a synthetic web with hosts, topics, hubs and words, and topics to crawl it for.",
        ),
        "simulate": ("laboratory", "Let strategies crawl a recorded web, topic by topic, and write their traces."),
        "evaluate": (
            "laboratory",
            "Evaluate the crawls of a run: a table here, curves in evaluation.json and evaluation.csv beside the "
            "traces.",
        ),
        "evolve": (
            "evolve",
            "Search for the weights of a rank function that crawl best for a topic, by a genetic algorithm.",
        ),
        "fit-scent": (
            "fit_scent",
            "Fit the weights of the strategy scent on recorded webs with known topics.",
        ),
        "validate": (
            "laboratory",
            "Compare evolved strategies with Best-First as in johnson2003, and check which of its findings hold.",
        ),
        "compare": (
            "laboratory",
            "Rank strategies for a topic: all crawl from the same starts, with intervals and corrected tests.",
        ),
        "study": (
            "laboratory",
            "Reproduce a study of the literature, and check which of its findings hold on this web.",
        ),
        "threshold": (
            "threshold",
            "Suggest a relevance threshold from 20 to 50 labelled pages: by default the one with the best F1.",
        ),
    },
    LISTS: {
        "plugins": ("plugins", "List the installed plug-ins: where they come from, and whether they can be used."),
        "new-strategy": ("plugins", "Make a package with a strategy, its tests and its entry point."),
        "strategies": ("inspect", "List the installed strategies with their parameters and defaults."),
        "metrics": ("inspect", "List the installed metrics."),
        "relevance": ("inspect", "List the installed relevance models, which score pages during a crawl."),
        "config": ("config", "Show which options configuration files, profiles and environment variables set."),
        "topics": (
            "topics",
            "List topics, select them by the rules of the studies, import them from Open Directory RDF.",
        ),
    },
}
MODULE_OF = {name: module for commands in COMMANDS.values() for name, (module, _) in commands.items()}


class LazyGroup(Group):
    """Lists the commands from `COMMANDS`; imports one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(MODULE_OF)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        for panel, commands in COMMANDS.items():
            if cmd_name in commands:
                return Command(cmd_name, help=commands[cmd_name][1], rich_help_panel=panel)
        return None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        self.commands = {name: self.get_command(ctx, name) for name in MODULE_OF}
        name, command, rest = super().resolve_command(ctx, args)
        return name, (command and load(name or "")), rest


def load(name: str) -> Any:
    """The real command."""
    loaded = getattr(import_module(f"scenthound.cli.{MODULE_OF[name]}"), name.replace("-", "_"))
    return loaded if isinstance(loaded, Group) else command_of(loaded)


app = typer.Typer(
    cls=LazyGroup,
    help="A topic-driven web crawler, and a laboratory that measures crawls.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def common(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", envvar="SCENTHOUND_CONFIG", help=f"{CONFIG_HELP} Also after the command."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", envvar="SCENTHOUND_PROFILE", help=f"{PROFILE_HELP} Also after the command."),
    ] = None,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"scenthound {version_of('scenthound')}")
        raise typer.Exit
