"""`scenthound validate`: evolved strategies beside Best-First, on topics trained on and unseen."""

from pathlib import Path
from typing import Annotated

import typer

from scenthound.cli.options import AsJson, ClosedWorld, FollowNofollow, Force, RecordedWebFolder, TopicsFile, Workers
from scenthound.cli.terminal import show_progress


def validate(
    web: RecordedWebFolder,
    topics: TopicsFile,
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
    mode: Annotated[
        str,
        typer.Option(
            help="The order in which requested pages return: roulette (as in johnson2003), sequential or polite."
        ),
    ] = "roulette",
    relevance: Annotated[
        str,
        typer.Option(metavar="MODEL", help="Relevance model of all strategies; also decides which pages are relevant."),
    ] = "svm",
    threshold: Annotated[float, typer.Option(help="Pages with at least this relevance are relevant.")] = 0.5,
    closed_world: ClosedWorld = False,
    follow_nofollow: FollowNofollow = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Use no compiled code: slower, with the same results.")
    ] = False,
    workers: Workers = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare evolved strategies with Best-First as in johnson2003, and check which of its findings hold.

    scenthound validate --web web --topics topics.jsonl --strategy evolved:file=evolved.toml --unseen-max 9 --out out
    """
    from scenthound.experiments.setup import ExperimentSetup
    from scenthound.experiments.starts import TopicChoice
    from scenthound.experiments.validate.results import FINDINGS_FILE, validate_into
    from scenthound.experiments.validate.settings import JOHNSON2003_BUDGETS, ValidationProtocol
    from scenthound.ui.reports.validation_charts import RENDERER

    setup = ExperimentSetup(
        web=web,
        topics=TopicChoice(topics, tuple(topic or ())),
        strategies=tuple(strategy),
        repeats=repeats,
        mode=mode,
        relevance=relevance,
        closed_world=closed_world,
        respect_nofollow=not follow_nofollow,
        plain=plain,
    )
    protocol = ValidationProtocol(
        against=against,
        budgets=tuple(sorted(set(pages or JOHNSON2003_BUDGETS))),
        n_large=large,
        n_small=small,
        threshold=threshold,
        unseen_topics=tuple(unseen or ()),
        unseen_max=unseen_max,
    )
    with show_progress("validating") as progress:
        done = validate_into(out, setup, protocol, render=RENDERER, force=force, workers=workers, progress=progress)
    if as_json:
        typer.echo((out / FINDINGS_FILE).read_text(encoding="utf-8"), nl=False)
        return
    from scenthound.cli.results import print_validation

    print_validation(done)
    typer.echo(f"Findings, all crawls and pictures: {out}")
