"""`scenthound compare`: which strategy is best for a topic."""

from pathlib import Path
from typing import Annotated

import typer

from scenthound.cli.options import (
    AsJson,
    ClosedWorld,
    FollowNofollow,
    RecordedWebFolder,
    StartPages,
    TaskName,
    TopicsFile,
    Workers,
    experiment_options,
)
from scenthound.cli.terminal import show_progress
from scenthound.errors import printable
from scenthound.ui.formats import json_text


def compare(
    context: typer.Context,
    web: RecordedWebFolder,
    topics: TopicsFile,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="The topic; repeatable. Required if the file has several."),
    ] = None,
    topics_max: Annotated[int | None, typer.Option(min=1, help="The first N topics of the file.")] = None,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave out topics that have no start page in the web.")
    ] = False,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="name or name:parameter=value,...; repeatable.", show_default="all installed, with their defaults"
        ),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PARAMETER=VALUE,...",
            help="Run the strategies with each of these values, e.g. buffer=64,256,1024; repeatable for a grid.",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="METRIC",
            help="The metric that decides, at the end or after some pages: target_recall, precision@500.",
        ),
    ] = "target_recall",
    pages: Annotated[int, typer.Option(min=1, help="Page budget of each crawl; at most half of the web.")] = 2000,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Independent starts of each topic.",
            show_default="10, divided among the topics if there are five or more",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the report, ranking, figures and crawls; a second run makes only new crawls.",
        ),
    ] = None,
    task: TaskName = "examples",
    start: StartPages = 10,
    relevance: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Scores pages and links for all strategies; `scenthound relevance` lists the models.",
            show_default="each strategy's own",
        ),
    ] = None,
    train: Annotated[
        int, typer.Option(metavar="N", min=0, help="Set up to N examples aside to train relevance models.")
    ] = 0,
    train_from: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Train relevance models on the pages in DIR/positive and DIR/negative."),
    ] = None,
    judge: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Set N examples aside to train the classifiers of the metric harvest."),
    ] = 0,
    mode: Annotated[
        str,
        typer.Option(metavar="MODE", help="The order in which requested pages return: sequential, roulette or polite."),
    ] = "sequential",
    closed_world: ClosedWorld = False,
    follow_nofollow: FollowNofollow = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Rank strategies for a topic: all crawl from the same starts, with intervals and corrected tests.

    scenthound compare --web web --topics topics.jsonl --topic balloons

    scenthound compare --web web --topics topics.jsonl --topic balloons --strategy best_n_first --sweep n=1,16,256
    """
    from scenthound.api.laboratory import compare as compare_strategies
    from scenthound.cli.results import print_comparison
    from scenthound.experiments.compare.results import as_json as plain_values

    with show_progress("comparing") as progress:
        done = compare_strategies(
            web,
            topics,
            strategy,
            by=by,
            pages=pages,
            repeats=repeats,
            sweep=sweep or (),
            out=out,
            progress=progress,
            **experiment_options(context),
        ).compared
    if as_json:
        typer.echo(json_text(plain_values(done), indent=1))
        return
    print_comparison(done)
    if out is not None:
        typer.echo(
            f"\nReport: {printable(out / 'report.html')}; ranking, every crawl and pictures are beside it "
            f"({done.n_made:,} crawls were new)"
        )
