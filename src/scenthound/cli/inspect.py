"""`scenthound explain`, `export`, `report`, `dashboard`, and the lists of what is installed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from scenthound.cli.options import Printed, with_options
from scenthound.corpus.options import ExportOptions
from scenthound.errors import printable
from scenthound.options import Option, installed
from scenthound.ui.options import DashboardOptions, ReportOptions


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """A page of a crawl.

    folder: A crawl folder, finished or running.
    url: A page that was visited or skipped, or is queued.
    """

    folder: Annotated[Path, Option(metavar="DIR", is_argument=True)]
    url: Annotated[str, Option(metavar="URL", is_argument=True)]


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What is done with a report.

    open_it: Open it in the web browser.
    """

    open_it: Annotated[bool, Option(flag="--open")] = False


NAMES_HELP = "Describe these in full: ranges and presets."


@dataclass(frozen=True, kw_only=True)
class StrategyNames:
    names: Annotated[
        Sequence[str], Option(NAMES_HELP, metavar="[NAME]...", is_argument=True, values=installed("strategies"))
    ] = ()


@dataclass(frozen=True, kw_only=True)
class MetricNames:
    names: Annotated[
        Sequence[str], Option(NAMES_HELP, metavar="[NAME]...", is_argument=True, values=installed("metrics"))
    ] = ()


@dataclass(frozen=True, kw_only=True)
class RelevanceNames:
    names: Annotated[
        Sequence[str], Option(NAMES_HELP, metavar="[NAME]...", is_argument=True, values=installed("relevance"))
    ] = ()


def explain(options: ExplainOptions, printed: Printed) -> None:
    """Explain why a crawl visited a page, or why it skipped it.

    All of it is read from the crawl folder, also while the crawl is running.

    scenthound explain balloons https://example.org/balloons/history.html
    """
    from scenthound.api.crawls import open_crawl
    from scenthound.cli.crawl_results import explanation_values, print_explanation

    printed.show(open_crawl(options.folder).explain(options.url), explanation_values, print_explanation)


@dataclass(frozen=True, kw_only=True)
class WithoutMarkdown:
    """What an export leaves out.

    no_markdown: Leave out the column with Markdown (jsonl, parquet).
    """

    no_markdown: bool = False


def export(options: ExportOptions, without: WithoutMarkdown, printed: Printed) -> None:
    """Write the texts of a crawl, its archive, or the crawls of a run for other programs.

    scenthound export balloons --to jsonl --on-topic --language en --deduplicate --out balloons.jsonl.zst

    scenthound export balloons --to parquet --out s3://bucket/balloons.parquet

    scenthound export run --to trec --out trec
    """
    from scenthound.api import crawls
    from scenthound.cli.results import print_export

    summary = with_options(crawls.export, replace(options, markdown=not without.no_markdown))
    out = str(options.out)
    printed.show(summary, lambda each: {"file": out, **asdict(each)}, lambda each: print_export(each, out))


def report(options: ReportOptions, opening: Opening) -> None:
    """Write a report: one HTML file that needs no network.

    scenthound report balloons

    scenthound report balloons balloons-best-first --out both.html
    """
    from scenthound.api import results

    file = with_options(results.report, options)
    typer.echo(f"Report: {printable(file)} ({file.stat().st_size / 1000:,.0f} KB)")
    if opening.open_it:
        import webbrowser

        if not webbrowser.open(file.resolve().as_uri()):
            typer.echo("No web browser could be started: open the file yourself.", err=True)


def dashboard(options: DashboardOptions) -> None:
    """Show crawls and experiments, running or finished, on a local web page.

    scenthound dashboard balloons

    scenthound dashboard --browser
    """
    from scenthound.api import crawls

    def print_address(address: str) -> None:
        typer.echo(f"The dashboard is at {address}")
        typer.echo(_OPEN if options.open_to_all else _CLOSED)

    with_options(crawls.dashboard, replace(options, on_start=print_address))


_CLOSED = "Only this machine can reach it. Anyone with this address can read and control crawls. Stop it with Ctrl-C."
_OPEN = "Everyone on this machine can read it. Anyone with this address can control crawls. Stop it with Ctrl-C."


def strategies(options: StrategyNames, printed: Printed) -> None:
    """List the installed strategies with their parameters and defaults."""
    from scenthound.cli.results import print_plugins
    from scenthound.strategies.base import STRATEGIES

    print_plugins(STRATEGIES, [*options.names], printed, _facts)


def _facts(name: str) -> dict[str, Any]:
    """The relevance model, the memory bound and the sharding of a strategy with default parameters."""
    from scenthound.strategies.base import STRATEGIES

    strategy = STRATEGIES.make(name)
    bound = strategy.memory_bound()
    return {
        "relevance_model": strategy.relevance_model,
        "max_queued": bound.queued,
        "bytes_per_queued": bound.bytes_per_queued,
        "bytes_per_url_seen": bound.bytes_per_url,
        "bytes_per_link_seen": bound.bytes_per_link,
        "sharding": strategy.sharding.kind,
        "sharding_reason": strategy.sharding.reason,
    }


def metrics(options: MetricNames, printed: Printed) -> None:
    """List the installed metrics."""
    from scenthound.cli.results import print_plugins
    from scenthound.metrics.base import METRICS

    print_plugins(METRICS, [*options.names], printed)


def relevance(options: RelevanceNames, printed: Printed) -> None:
    """List the installed relevance models, which score pages during a crawl."""
    from scenthound.cli.results import print_plugins
    from scenthound.relevance.base import RELEVANCE

    print_plugins(RELEVANCE, [*options.names], printed)
