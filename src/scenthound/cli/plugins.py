"""`scenthound plugins` and `new-strategy`."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scenthound.cli.options import Printed, print_json, with_options
from scenthound.errors import printable
from scenthound.plugins.options import NewStrategyOptions, PluginOptions

if TYPE_CHECKING:
    from scenthound.plugins.installed import InstalledPlugin


COMMANDS_OF_KINDS = {"strategy": "strategies", "metric": "metrics", "relevance": "relevance"}


def plugins(options: PluginOptions, printed: Printed) -> None:
    """List the installed plug-ins: where they come from, and whether they can be used.

    scenthound plugins --kind strategy
    """
    from dataclasses import asdict

    from scenthound.api import catalog

    listed = list(with_options(catalog.list_plugins, options))
    if printed.as_json:
        print_json([asdict(each) for each in listed])
        return
    _print_others([each for each in listed if not each.is_built_in])
    _print_built_in([each for each in listed if each.is_built_in])


def _print_others(listed: "list[InstalledPlugin]") -> None:
    from scenthound.ui.formats import counted
    from scenthound.ui.terminal import print_rows, say

    if not listed:
        say("No plug-ins of other packages. `scenthound new-strategy NAME` makes a package to start from.")
        return
    rows = [
        [
            f"{each.name} ({each.kind})",
            f"{each.package} {each.version}",
            f"{each.entry_point}, {each.origin}",
            f"not usable: {each.problem}" if each.problem else each.summary,
        ]
        for each in listed
    ]
    title = f"{counted(len(rows), 'plug-in')} of other packages"
    print_rows(title, ["plug-in", "package and version", "origin", "description"], rows, n_text_columns=4)


def _print_built_in(listed: "list[InstalledPlugin]") -> None:
    from scenthound.ui.terminal import print_rows, say

    names: dict[str, list[str]] = {}
    for each in listed:
        names.setdefault(each.kind, []).append(each.name)
    rows = [[kind, ", ".join(of_kind), f"scenthound {COMMANDS_OF_KINDS[kind]}"] for kind, of_kind in names.items()]
    title = f"{len(listed)} built in: scenthound {listed[0].version}"
    print_rows(title, ["kind", "names", "details"], rows, n_text_columns=3)
    for each in listed:
        if each.problem:
            say(f"Not usable: {each.problem}")


def new_strategy(options: NewStrategyOptions) -> None:
    """Make a package with a strategy, its tests and its entry point.

    The strategy works. The package is the start of a plug-in: install it, run its tests, and change it.

    scenthound new-strategy best_links
    """
    from scenthound.api import catalog
    from scenthound.command_line import shell_word
    from scenthound.ui.terminal import say

    folder = with_options(catalog.new_strategy, options)
    strategy = options.name.replace("-", "_")
    if strategy != options.name:
        say(f"The strategy is called {strategy}: names have underscores instead of hyphens.")
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    say(f"Made the package {printable(folder)}: {', '.join(files)}.")
    typer.echo("Next:")
    for command in (
        f"cd {shell_word(str(folder))}",
        f"{_program('python')} -m pip install --editable '.[test]'",
        f"{_program('python')} -m pytest",
        f"{_program('scenthound')} plugins",
        f"{_program('scenthound')} strategies {strategy}",
    ):
        typer.echo(f"  {command}")
    say("README.md in the package says how to simulate, compare and crawl with it, and what to change.")


def _program(name: str) -> str:
    """How to call a program of this Python environment in a shell."""
    from scenthound.command_line import shell_word

    folder, found = Path(sys.executable).parent, shutil.which(name)
    return name if found and Path(found).parent == folder else shell_word(str(folder / name))
