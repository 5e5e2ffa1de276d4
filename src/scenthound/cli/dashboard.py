"""`scenthound dashboard`: watch crawls and look at experiments in the browser."""

from pathlib import Path
from typing import Annotated

import typer


def dashboard(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR", help="Crawls, experiments, or folders that hold some.", show_default="."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Where to listen on this machine.", show_default="8787, or the next free"),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = False,
) -> None:
    """Show crawls and experiments, running or finished, as a page on this machine.

    scenthound dashboard balloons

    scenthound dashboard --open
    """
    from scenthound.dashboard.server import serve

    serve(folders or [], port, _say, open_browser=open_browser)


def _say(address: str) -> None:
    typer.echo(f"The dashboard is at {address}")
    typer.echo("Only this machine can reach it. Who has the whole address can steer crawls. Ctrl-C ends it.")
