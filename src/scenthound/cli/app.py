"""`scenthound` with all its commands, in the order in which help shows them."""

from typing import Annotated

import typer

from scenthound.cli.compare import compare
from scenthound.cli.crawl import crawl
from scenthound.cli.demo import demo
from scenthound.cli.evolve import evolve
from scenthound.cli.inspect import dashboard, explain, export, metrics, relevance_models, report, strategies
from scenthound.cli.laboratory import evaluate, record, simulate, synthesize
from scenthound.cli.study import study
from scenthound.cli.threshold import threshold
from scenthound.cli.topics import topics_app
from scenthound.cli.validate import validate

CRAWLING = "Crawl"
LABORATORY = "Laboratory"
LISTS = "What there is"

app = typer.Typer(
    help="A topic-driven web crawler, and the laboratory that tells how good a crawl is.",
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


app.command(rich_help_panel=CRAWLING)(crawl)
app.command(rich_help_panel=CRAWLING)(dashboard)
app.command(rich_help_panel=CRAWLING)(explain)
app.command(rich_help_panel=CRAWLING)(export)
app.command(rich_help_panel=CRAWLING)(report)
app.command(rich_help_panel=CRAWLING)(demo)
app.command(rich_help_panel=LABORATORY)(record)
app.command(rich_help_panel=LABORATORY)(synthesize)
app.command(rich_help_panel=LABORATORY)(simulate)
app.command(rich_help_panel=LABORATORY)(evaluate)
app.command(rich_help_panel=LABORATORY)(evolve)
app.command(rich_help_panel=LABORATORY)(validate)
app.command(rich_help_panel=LABORATORY)(compare)
app.command(rich_help_panel=LABORATORY)(study)
app.command(rich_help_panel=LABORATORY)(threshold)
app.command(rich_help_panel=LISTS)(strategies)
app.command(rich_help_panel=LISTS)(metrics)
app.command("relevance", rich_help_panel=LISTS)(relevance_models)
app.add_typer(topics_app, name="topics", rich_help_panel=LISTS)
