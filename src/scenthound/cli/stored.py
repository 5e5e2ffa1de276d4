"""`scenthound explain` and `scenthound export`: what the folder of a crawl tells, and gives."""

from pathlib import Path
from typing import Annotated

import typer

from scenthound.cli.shared_options import AsJson
from scenthound.report.json_text import json_text

CrawlFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, finished or not.")]


def explain(
    folder: CrawlFolder,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page that was taken, or was not.")],
    as_json: AsJson = False,
) -> None:
    """Tell why a crawl took a page, or why it did not.

    scenthound explain balloons https://example.org/balloons/history.html
    """
    from scenthound.cli.explanation import explanation_values, print_explanation
    from scenthound.lab.explain import explain as explain_url

    told = explain_url(folder, url)
    if as_json:
        typer.echo(json_text(explanation_values(told), indent=1))
    else:
        print_explanation(told)


def export(
    folder: CrawlFolder,
    to: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="jsonl or parquet: the pages with their HTML. warc: all answers. cdxj: an index of the archive.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="File to write; for jsonl .gz and .zst compress, for warc .gz.")
    ],
    include_noindex: Annotated[
        bool, typer.Option("--include-noindex", help="Write pages that ask not to be indexed, too.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the pages of a crawl to a file for other programs.

    scenthound export balloons --to jsonl --out balloons.jsonl.zst
    """
    from scenthound.cli.progress import shown
    from scenthound.cli.summaries import print_export
    from scenthound.store.exports import export as write_export

    with shown("exporting") as progress:
        summary = write_export(folder, to, out, include_noindex=include_noindex, force=force, progress=progress)
    print_export(summary, to, out, as_json)
