"""`scenthound record`, `synthesize`, `simulate`, `evaluate`, `compare`, `study` and `validate`."""

from pathlib import Path
from typing import Annotated

import typer

from scenthound.cli.options import (
    AsJson,
    AsPublished,
    ClosedWorld,
    Cluster,
    FollowNofollow,
    Force,
    Judge,
    Mode,
    OptionalMode,
    OptionalTopics,
    OptionalWeb,
    PageBudget,
    Plain,
    Relevance,
    Repeats,
    SeedPages,
    SkipMissing,
    StartPages,
    Strategies,
    Task,
    Topics,
    TopicsMax,
    Train,
    TrainFrom,
    TrainingPages,
    Web,
    Workers,
    api_arguments,
    note_missing_pages,
)
from scenthound.errors import InvalidParameter, UsageError


def record(
    context: typer.Context,
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
    from scenthound.api.webs import record as record_web
    from scenthound.cli.results import print_record

    conditions = {}
    for condition in where or []:
        field, equals, value = condition.partition("=")
        if not equals or not field:
            raise UsageError(f"--where {condition!r} should be written FIELD=VALUE, for example kind=article.")
        conditions[field] = value
    arguments = api_arguments(context, "source", "more", "where")
    web = record_web([*source, *(more or [])], where=conditions, **arguments, progress=True)
    print_record(web, as_json)


def synthesize(
    context: typer.Context,
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
    from scenthound.api.webs import synthesize as synthesize_web
    from scenthound.cli.results import print_synthesized

    settings: dict[str, float] = {}
    for setting in more or []:
        name, _, value = setting.partition("=")
        try:
            settings[name] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            raise UsageError(f"--set {setting!r} should be written NAME=NUMBER, for example on_host=0.9.") from None
    print_synthesized(synthesize_web(**{**api_arguments(context, "more"), **settings}, progress=True), as_json)


def simulate(
    context: typer.Context,
    web: Web,
    topics: Topics,
    out: Annotated[Path, typer.Option(help="Folder for the traces.")],
    strategy: Strategies,
    seed: SeedPages = None,
    pages: PageBudget = 2000,
    repeats: Repeats = 1,
    random_seed: Annotated[
        int, typer.Option(min=0, help="Seed of the random generator for the first start; others have the next ones.")
    ] = 0,
    task: Task = "examples",
    start: StartPages = 10,
    topic: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this topic; repeatable.")] = None,
    topics_max: TopicsMax = None,
    skip_missing: SkipMissing = False,
    closed_world: ClosedWorld = False,
    follow_nofollow: FollowNofollow = False,
    relevance: Relevance = None,
    train: Train = 0,
    judge: Judge = 0,
    train_from: TrainFrom = None,
    training_pages: TrainingPages = "wang2009",
    as_published: AsPublished = False,
    mode: Mode = "sequential",
    plain: Plain = False,
    workers: Workers = None,
    cluster: Cluster = None,
    force: Force = False,
) -> None:
    """Let strategies crawl a recorded web, topic by topic, and write their traces.

    scenthound simulate --web web --topics topics.jsonl --strategy breadth_first --strategy best_n_first:n=256 --out run

    scenthound simulate --web web --topics topics.toml --seed https://example.org/ --strategy link_context --out run
    """
    from scenthound.api.laboratory import simulate as simulate_crawls
    from scenthound.cli.results import print_run

    note_missing_pages(web)
    print_run(simulate_crawls(**api_arguments(context, strategy="strategies", seed="seeds"), progress=True))


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by `scenthound simulate`.")],
    metric: Annotated[list[str] | None, typer.Option(help="A metric, or name@pages; repeatable.")] = None,
    at: Annotated[list[int] | None, typer.Option(min=1, help="Show values after N pages; repeatable.")] = None,
    web: Annotated[Path | None, typer.Option(help="The recorded web, if it was moved.")] = None,
    print_all: Annotated[
        bool, typer.Option("--all", help="Print a table for each metric, the cost, and pages missing in the recording.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate the crawls of a run: a table here, curves in evaluation.json and evaluation.csv beside the traces.

    scenthound evaluate run

    scenthound evaluate run --metric target_recall --at 100 --at 1000
    """
    from scenthound.api.laboratory import evaluate as evaluate_run
    from scenthound.cli.results import print_evaluation, print_json
    from scenthound.experiments.evaluate import as_json as plain_values

    evaluation = evaluate_run(folder, metric, at=at or (), web=web, progress=True)
    written = evaluation.save()
    if as_json:
        print_json(plain_values(evaluation.evaluated))
        return
    print_evaluation(evaluation.evaluated, by_pages=evaluation.by_pages, print_all=print_all)
    typer.echo(f"Curves: {', '.join(map(str, written))}")


def compare(
    context: typer.Context,
    web: Web,
    topics: Topics,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="The topic; repeatable. Required if the file has several."),
    ] = None,
    topics_max: TopicsMax = None,
    skip_missing: SkipMissing = False,
    seed: SeedPages = None,
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
        str | None,
        typer.Option(
            metavar="METRIC",
            help="The metric that decides, at the end or after some pages: target_recall, precision@500.",
            show_default="target_recall; on_topic if no topic has examples to find",
        ),
    ] = None,
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
    task: Task = "examples",
    start: StartPages = 10,
    relevance: Relevance = None,
    train: Train = 0,
    train_from: TrainFrom = None,
    training_pages: TrainingPages = "wang2009",
    judge: Judge = 0,
    mode: OptionalMode = None,
    closed_world: ClosedWorld = False,
    follow_nofollow: FollowNofollow = False,
    workers: Workers = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Rank strategies for a topic: all crawl from the same starts, with intervals and corrected tests.

    scenthound compare --web web --topics topics.jsonl --topic balloons

    scenthound compare --web web --topics topics.jsonl --topic balloons --strategy best_n_first --sweep n=1,16,256

    scenthound compare --web web --topics topics.toml --seed https://example.org/
    """
    from scenthound.api.laboratory import compare as compare_strategies
    from scenthound.cli.results import print_comparison

    arguments = api_arguments(context, strategy="strategies", seed="seeds")
    print_comparison(compare_strategies(**arguments, progress=True), as_json)


def study(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="menczer2001, pant2002, wang2009 or johnson2003.", metavar="STUDY")],
    web: OptionalWeb = None,
    topics: OptionalTopics = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for findings, figures, tables and the report; an interrupted study continues there."),
    ] = None,
    pages: Annotated[
        int | None, typer.Option(min=1, help="Page budget; at most half of the web.", show_default="the study's")
    ] = None,
    topics_max: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Maximum number of topics, drawn at random; for johnson2003, of topics that no search saw.",
            show_default="the study's",
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Independent starts: crawls for each topic.", show_default="the study's")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A settings file instead of the study's own.")
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Also run this optional experiment: buffer (sizes of the frontier) or more (further crawlers), both "
            "of pant2002; repeatable.",
        ),
    ] = None,
    show_settings: Annotated[bool, typer.Option("--show-settings", help="Print the settings file and exit.")] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for cached crawls, which studies can share.", show_default="crawls within --out"
        ),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce a study of the literature, and check which of its findings hold on this web.

    scenthound study pant2002 --web web --topics topics.jsonl --out pant2002
    """
    from scenthound.api.laboratory import study as run_study
    from scenthound.api.laboratory import study_settings
    from scenthound.cli.results import print_study

    text = study_settings(name, pages, topics_max, repeats, settings, arm=arm)
    if show_settings:
        typer.echo(text, nl=False)
        return
    missing = [f"--{option}" for option in ("web", "topics", "out") if context.params[option] is None]
    if missing:
        raise InvalidParameter(f"A study needs {', '.join(missing)}; see `scenthound study --help`.")
    print_study(run_study(**api_arguments(context, "show_settings"), progress=True), as_json)


def validate(
    context: typer.Context,
    web: Web,
    topics: Topics,
    strategy: Annotated[
        list[str], typer.Option(help="A strategy to validate, e.g. evolved:file=evolved.toml; repeatable.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for findings, measurements and figures.")],
    topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="A topic that the strategies were evolved on; repeatable.",
            show_default="those that their files name",
        ),
    ] = None,
    unseen: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A topic that no search saw; repeatable.")
    ] = None,
    unseen_max: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="N more topics that no search saw, drawn at random with a fixed seed; none shares an example with the "
            "topics of the search.",
        ),
    ] = None,
    against: Annotated[
        str, typer.Option(metavar="STRATEGY", help="The strategy to compare with.")
    ] = "rank_function:preset=best_first",
    pages: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="Page budget; repeatable. All are scaled down if the largest is more than half of the web.",
            show_default="10000 20000 30000",
        ),
    ] = None,
    large: Annotated[
        int, typer.Option(min=2, help="Pages in the large seed set; at most half of the examples are used.")
    ] = 250,
    small: Annotated[
        int, typer.Option(min=1, help="Pages in the small one, a random part of the large one for each repeat.")
    ] = 50,
    repeats: Annotated[
        int, typer.Option(min=1, help="Independent starts: crawls of each strategy from each seed set.")
    ] = 15,
    mode: Mode = "roulette",
    relevance: Annotated[
        str,
        typer.Option(metavar="MODEL", help="Relevance model of all strategies; also decides which pages are relevant."),
    ] = "svm",
    training_pages: TrainingPages = "wang2009",
    threshold: Annotated[float, typer.Option(help="Pages with at least this relevance are relevant.")] = 0.5,
    closed_world: ClosedWorld = False,
    follow_nofollow: FollowNofollow = False,
    plain: Plain = False,
    workers: Workers = None,
    cluster: Cluster = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare evolved strategies with Best-First as in johnson2003, and check which of its findings hold.

    scenthound validate --web web --topics topics.jsonl --strategy evolved:file=evolved.toml --unseen-max 9 --out out
    """
    from scenthound.api.searches import validate as validate_strategies
    from scenthound.cli.results import print_validation

    print_validation(validate_strategies(**api_arguments(context, strategy="strategies"), progress=True), as_json)
