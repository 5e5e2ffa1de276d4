"""`scenthound report`: one page to look at, of a crawl or an experiment."""

from pathlib import Path
from typing import Annotated

import typer

from scenthound.errors import printable


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="The folder of a crawl, run, comparison, study, search or validation; or those of several crawls.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write.", show_default="DIR/report.html; crawls.html for several"),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show it in the web browser.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file even if it is no report.")] = False,
) -> None:
    """Write a report: one HTML file that needs no network, for you or for others to look at.

    scenthound report balloons

    scenthound report balloons balloons-best-first --out both.html
    """
    from scenthound.cli.progress import shown
    from scenthound.report.reports import write_report

    with shown("reporting") as progress:
        written = write_report(folders, out, force=force, progress=progress)
    typer.echo(f"Report: {printable(written.file)} ({written.n_bytes / 1000:,.0f} KB)")
    if open_it:
        import webbrowser

        if not webbrowser.open(written.file.resolve().as_uri()):
            typer.echo("No web browser could be started: open the file in one.", err=True)
