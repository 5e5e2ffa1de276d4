"""`scenthound explain`, `export`, `report`, `dashboard`, and the lists of what is installed."""

from pathlib import Path
from typing import Annotated, Any

import typer

from scenthound.cli.options import AsJson, ReplaceFile, Workers
from scenthound.errors import printable

CrawlFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A crawl folder, finished or running.")]


def explain(
    folder: CrawlFolder,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page that was visited or skipped, or is queued.")],
    as_json: AsJson = False,
) -> None:
    """Explain why a crawl visited a page, or why it skipped it.

    If the strategy gives its reasons (scent does), also what speaks for the page. The crawl is replayed for this.

    scenthound explain balloons https://example.org/balloons/history.html
    """
    from scenthound.api.crawls import open_crawl
    from scenthound.cli.crawl_results import explanation_values, print_explanation
    from scenthound.cli.results import print_json

    explanation = open_crawl(folder).explain(url)
    if as_json:
        print_json(explanation_values(explanation))
    else:
        print_explanation(explanation)


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A crawl folder, finished or running; for trec the folder of a run.")
    ],
    to: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="jsonl or parquet: documents with text and metadata. markdown: a folder of Markdown files. wet: texts "
            "as WARC records. warc: all responses. cdxj: an index of the archive. trec: a folder with the crawls of a "
            "run as rankings and the relevant pages of its topics, for trec_eval and ir_measures.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="File or folder to write, or a URL such as s3://bucket/name. For jsonl, .gz and .zst compress, for "
            "wet and warc .gz.",
        ),
    ],
    include_noindex: Annotated[bool, typer.Option("--include-noindex", help="Include pages marked noindex.")] = False,
    on_topic: Annotated[
        bool, typer.Option("--on-topic", help="Only pages that the relevance model finds on topic.")
    ] = False,
    min_relevance: Annotated[
        float | None, typer.Option(metavar="X", help="Only pages of at least this relevance, 0 to 1.")
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Only pages in this language, such as en (the extra language). Repeatable.",
            show_default=False,
        ),
    ] = None,
    min_words: Annotated[int, typer.Option(metavar="N", help="Only pages of at least this many words.")] = 0,
    quality_rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="Leave out pages that fail this quality rule; all for every rule. Repeatable.",
            show_default="none: failed rules are only listed",
        ),
    ] = None,
    deduplicate: Annotated[
        bool, typer.Option("--deduplicate", help="Leave out near-duplicates of earlier pages.")
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="Include the HTML of pages (jsonl, parquet).")] = False,
    no_markdown: Annotated[
        bool, typer.Option("--no-markdown", help="Leave out the column with Markdown (jsonl, parquet).")
    ] = False,
    escalate: Annotated[
        bool | None,
        typer.Option(
            "--escalate/--no-escalate",
            help="Extract difficult pages with trafilatura (the extra corpus).",
            show_default="if it is installed",
        ),
    ] = None,
    workers: Workers = None,
    web: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the recorded web of a run is (trec).", show_default="where it was"),
    ] = None,
    force: ReplaceFile = False,
    as_json: AsJson = False,
) -> None:
    """Write the texts of a crawl, its archive, or the crawls of a run for other programs.

    scenthound export balloons --to jsonl --on-topic --language en --deduplicate --out balloons.jsonl.zst

    scenthound export balloons --to parquet --out s3://bucket/balloons.parquet

    scenthound export run --to trec --out trec
    """
    from scenthound.api.crawls import export as write_export
    from scenthound.cli.results import print_export

    summary = write_export(
        folder,
        to,
        out,
        include_noindex=include_noindex,
        on_topic=on_topic,
        min_relevance=min_relevance,
        language=language or (),
        min_words=min_words,
        quality_rules=quality_rule or (),
        deduplicate=deduplicate,
        html=html,
        markdown=not no_markdown,
        escalate=escalate,
        workers=workers,
        web=web,
        force=force,
        progress=True,
    )
    print_export(summary, out, as_json)


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
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the web browser.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file even if it is not a report.")] = False,
) -> None:
    """Write a report: one HTML file that needs no network.

    scenthound report balloons

    scenthound report balloons balloons-best-first --out both.html
    """
    from scenthound.api.results import report as write_report

    file = write_report(*folders, out=out, force=force)
    typer.echo(f"Report: {printable(file)} ({file.stat().st_size / 1000:,.0f} KB)")
    if open_it:
        import webbrowser

        if not webbrowser.open(file.resolve().as_uri()):
            typer.echo("No web browser could be started: open the file yourself.", err=True)


def dashboard(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR", help="Crawls, experiments, or folders that contain them.", show_default="."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Port on this machine.", show_default="8787, or the next free"),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--browser", help="Open the page in the web browser.")] = False,
    open_to_all: Annotated[
        bool, typer.Option("--open", help="Let everyone on this machine read without the token; changes need it.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the token in this file, which is made if it does not exist.",
            show_default="a new token at each start",
        ),
    ] = None,
) -> None:
    """Show crawls and experiments, running or finished, on a local web page.

    scenthound dashboard balloons

    scenthound dashboard --browser
    """
    from scenthound.api.crawls import dashboard as serve

    def print_address(address: str) -> None:
        typer.echo(f"The dashboard is at {address}")
        typer.echo(_OPEN if open_to_all else _CLOSED)

    serve(
        *(folders or []),
        port=port,
        open_browser=open_browser,
        open_to_all=open_to_all,
        token_file=token_file,
        on_start=print_address,
    )


_CLOSED = "Only this machine can reach it. Anyone with this address can read and control crawls. Stop it with Ctrl-C."
_OPEN = "Everyone on this machine can read it. Anyone with this address can control crawls. Stop it with Ctrl-C."


Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Describe these in full: ranges and presets.")
]


def strategies(names: Names = None, as_json: AsJson = False) -> None:
    """List the installed strategies with their parameters and defaults."""
    from scenthound.cli.results import print_plugins
    from scenthound.strategies.base import STRATEGIES

    print_plugins(STRATEGIES, names or [], as_json, _facts)


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


def metrics(names: Names = None, as_json: AsJson = False) -> None:
    """List the installed metrics."""
    from scenthound.cli.results import print_plugins
    from scenthound.metrics.base import METRICS

    print_plugins(METRICS, names or [], as_json)


def relevance(names: Names = None, as_json: AsJson = False) -> None:
    """List the installed relevance models, which score pages during a crawl."""
    from scenthound.cli.results import print_plugins
    from scenthound.relevance.base import RELEVANCE

    print_plugins(RELEVANCE, names or [], as_json)
