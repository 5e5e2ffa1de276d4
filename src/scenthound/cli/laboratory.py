"""`scenthound record`, `simulate`, `evaluate` and `synthesize`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli.options import (
    AsJson,
    ClosedWorld,
    FollowNofollow,
    Force,
    RecordedWebFolder,
    Repeats,
    StartPages,
    TaskName,
    TopicsFile,
    Workers,
    experiment_options,
    note_missing_pages,
)
from scenthound.cli.terminal import show_progress
from scenthound.errors import UsageError
from scenthound.ui.formats import json_text

if TYPE_CHECKING:
    from scenthound.store.record import RecordSummary


def record(
    out: Annotated[Path, typer.Option(help="Folder for the recorded web.")],
    source: Annotated[
        list[Path],
        typer.Option(
            "--from", help="A JSON Lines, WARC, ARC or Parquet file, also .gz and .zst, or a crawl; repeatable."
        ),
    ],
    more: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="More files.")] = None,
    without_leaks: Annotated[
        bool, typer.Option("--without-leaks", help="Remove the spans in the field `leak`, which show a topic label.")
    ] = False,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=VALUE", help="Keep only records with this value, e.g. kind=article."),
    ] = None,
    workers: Workers = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a recorded web from files of pages.

    scenthound record --from pages.jsonl.zst --out web
    """
    from scenthound.api.laboratory import record as record_web
    from scenthound.cli.summaries import print_record

    with show_progress("recording") as progress:
        web = record_web(
            [*source, *(more or [])],
            out,
            without_leaks=without_leaks,
            where=_pairs(where or []),
            workers=workers,
            force=force,
            progress=progress,
        )
    if web.summary is not None:
        print_record(web.summary, out, as_json)


def _pairs(conditions: list[str]) -> dict[str, str]:
    pairs = {}
    for condition in conditions:
        field, equals, value = condition.partition("=")
        if not equals or not field:
            raise UsageError(f"--where {condition!r} should be written FIELD=VALUE, for example kind=article.")
        pairs[field] = value
    return pairs


def simulate(
    context: typer.Context,
    web: RecordedWebFolder,
    topics: TopicsFile,
    out: Annotated[Path, typer.Option(help="Folder for the traces.")],
    strategy: Annotated[list[str], typer.Option(help="name or name:parameter=value,...; repeatable.")],
    pages: Annotated[int, typer.Option(min=1, help="Page budget of each crawl.")] = 2000,
    repeats: Repeats = 1,
    task: TaskName = "examples",
    start: StartPages = 10,
    topic: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this topic; repeatable.")] = None,
    topics_max: Annotated[int | None, typer.Option(min=1, help="Only the first N topics.")] = None,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave out topics that have no start page in the web.")
    ] = False,
    closed_world: ClosedWorld = False,
    follow_nofollow: FollowNofollow = False,
    relevance: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Scores pages and links for all strategies: cosine, cosine:description=true, svm; "
            "`scenthound relevance` lists the models.",
            show_default="each strategy's own",
        ),
    ] = None,
    train: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Set up to N examples of each topic aside to train relevance models, in addition to the start pages; "
            "they are not targets. At most half of the targets, and 75 pages in all, as in wang2009.",
        ),
    ] = 0,
    judge: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Set up to N examples of each topic aside to train the classifiers of `evaluate --metric harvest`; 75 "
            "in wang2009.",
        ),
    ] = 0,
    train_from: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Train relevance models on the .html, .htm and .txt pages in DIR/positive and DIR/negative.",
        ),
    ] = None,
    as_published: Annotated[
        bool,
        typer.Option("--as-published", help="Train relevance models on any example, targets too, as in wang2009."),
    ] = False,
    mode: Annotated[
        str,
        typer.Option(
            metavar="MODE",
            # On a narrow terminal a word of more than 26 letters is cut off.
            help="The order in which requested pages return. sequential: one after the other. roulette (size=100, "
            "refill_at=50): drawn from a current list, as in johnson2003. polite (workers=30, delay_s=1, "
            "fetch_s=0.5, fetch_list=none): workers and crawl delays in simulated time, which `evaluate` reports; "
            "polite:preset=wang2009 has the fetch list of wang2009. Parameters are written like those of "
            "strategies: polite:delay_s=2.",
        ),
    ] = "sequential",
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Use no compiled code: slower, with the same traces, and CPU time is measured."),
    ] = False,
    workers: Workers = None,
    force: Force = False,
) -> None:
    """Let strategies crawl a recorded web, topic by topic, and write their traces.

    scenthound simulate --web web --topics topics.jsonl --strategy breadth_first --strategy best_n_first:n=256 --out run
    """
    from scenthound.api.laboratory import simulate as simulate_crawls
    from scenthound.cli.summaries import print_run

    note_missing_pages(web)
    with show_progress("simulating") as progress:
        run = simulate_crawls(
            web,
            topics,
            strategy,
            pages=pages,
            repeats=repeats,
            out=out,
            force=force,
            progress=progress,
            **experiment_options(context),
        )
    if run.simulation is not None:
        print_run(run.simulation)


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by `scenthound simulate`.")],
    metric: Annotated[list[str] | None, typer.Option(help="A metric, or name@pages; repeatable.")] = None,
    at: Annotated[list[int] | None, typer.Option(min=1, help="Show values after N pages; repeatable.")] = None,
    web: Annotated[Path | None, typer.Option(help="The recorded web, if it was moved.")] = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate the crawls of a run: tables here, curves in evaluation.json and evaluation.csv beside the traces.

    scenthound evaluate run --metric target_recall --at 100 --at 1000
    """
    from scenthound.api.laboratory import evaluate as evaluate_run
    from scenthound.api.laboratory import open_run
    from scenthound.cli.results import print_evaluation
    from scenthound.experiments.evaluate import as_json as plain_values

    with show_progress("evaluating") as progress:
        evaluation = evaluate_run(open_run(folder, web=web), metric, at=at or (), progress=progress)
    written = evaluation.save()
    if as_json:
        typer.echo(json_text(plain_values(evaluation.evaluated), indent=1))
        return
    print_evaluation(evaluation.evaluated)
    typer.echo(f"Curves: {', '.join(map(str, written))}")


def synthesize(
    out: Annotated[Path, typer.Option(help="Folder for the web.")],
    pages: Annotated[int, typer.Option(help="Number of pages, up to 10 million.")] = 100_000,
    links: Annotated[float, typer.Option(help="Mean number of links of a page.")] = 20.0,
    words: Annotated[int, typer.Option(help="Mean number of words of a page, without its anchors.")] = 30,
    topics: Annotated[int, typer.Option(help="Number of topics.")] = 50,
    random_seed: Annotated[
        int, typer.Option(help="Seed of the random generator; the same seed makes the same bytes.")
    ] = 1,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting, e.g. on_host=0.9, pages_per_host=50; repeatable. An unknown name lists all.",
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a synthetic web with hosts, topics, hubs and words, and topics to crawl it for.

    scenthound synthesize --pages 100000 --out web
    """
    from scenthound.testing.topical_web import topical_web

    settings = {"pages": pages, "links_per_page": links, "words_per_page": words, "topics": topics, "seed": random_seed}
    with show_progress("generating pages") as progress:
        summary = topical_web(out, force=force, progress=progress, **(settings | _numbers(more or [])))
    _print(summary, out, as_json)


def _numbers(settings: list[str]) -> dict[str, int | float]:
    numbers: dict[str, int | float] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            numbers[name] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            raise UsageError(f"--set {setting!r} should be written NAME=NUMBER, for example on_host=0.9.") from None
    return numbers


def _print(summary: RecordSummary, out: Path, as_json: bool) -> None:
    from scenthound.testing.topical_web import TOPICS_FILE
    from scenthound.ui.formats import counted

    topics = out / TOPICS_FILE
    if as_json:
        # Nothing was read, so nothing was left out.
        counts = {name: count for name, count in summary.counts().items() if name not in ("bytes_read", "skipped")}
        typer.echo(json_text({"folder": str(out), "topics": str(topics), **counts}, indent=1))
        return
    typer.echo(
        f"Generated {counted(summary.pages, 'page')} on {counted(summary.hosts, 'host')} in {out}: "
        f"{counted(summary.links, 'link')}, {summary.links_recorded:,} of them inside, "
        f"{counted(summary.words, 'word')}, {counted(summary.aliases, 'redirect')}; the topics are in {topics}."
    )
    typer.echo(f"Next: scenthound simulate --web {out} --topics {topics} --strategy best_first --out run")
