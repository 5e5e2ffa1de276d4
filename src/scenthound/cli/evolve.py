"""`scenthound evolve`: from options to a search, watched while it runs, and how to go on with one that was stopped."""

from __future__ import annotations

import shlex
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import typer

from scenthound.cli import evolve_options as options
from scenthound.cli.options import AsJson, Force, Workers
from scenthound.errors import Failure, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenthound.experiments.evolve.evolution import Evolution, Watch
    from scenthound.experiments.starts import TopicChoice


def evolve(
    context: typer.Context,
    web: options.Web = None,
    topics: options.Topics = None,
    topic: options.TopicIds = None,
    skip_missing: options.SkipMissing = False,
    out: options.Out = None,
    resume: options.Resume = None,
    search: options.Method = "johnson2003",
    fitness: options.FitnessSum = "harvest",
    random_seed: options.RandomSeed = 0,
    scores: options.Scores = "nine",
    split: options.Split = "nothing",
    seed_with: options.SeedWith = None,
    reevaluate: options.Reevaluate = False,
    crawls: options.Crawls = 3,
    pages: options.Pages = 10_000,
    start: options.StartPages = 10,
    same_start: options.SameStart = True,
    mode: options.CrawlMode = "roulette",
    task: options.StartTask = "examples",
    closed_world: options.ClosedWorld = False,
    follow_nofollow: options.FollowNofollow = False,
    plain: options.Plain = False,
    relevance: options.ModelInfo = None,
    threshold: options.Threshold = 0.5,
    train: options.Train = 0,
    train_from: options.TrainFrom = None,
    as_published: options.AsPublished = False,
    workers: Workers = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Search for the weights of a rank function that crawl best for a topic, by a genetic algorithm.

    scenthound evolve --web web --topics topics.jsonl --topic chemistry --out search

    scenthound evolve --resume search
    """
    from scenthound.experiments.evolve.evolution import evolve as search_rules
    from scenthound.experiments.evolve.evolution import resume_search
    from scenthound.experiments.evolve.folder import check_new
    from scenthound.experiments.evolve.settings import SearchSettings, parse_scores
    from scenthound.experiments.setup import ExperimentSetup
    from scenthound.experiments.starts import TopicChoice, parse_task

    if resume is not None:
        folder = resume
        _refuse_what_is_kept(context, folder)
        _run(folder, as_json, lambda watch: resume_search(folder, web=web, workers=workers, watch=watch))
        return
    if web is None or topics is None or out is None:
        raise UsageError("A search needs --web, --topics and --out; --resume DIR goes on with one.")
    check_new(out, force)
    _record_crawl(web)
    choice, folder = TopicChoice(topics, tuple(topic or ()), skip_missing=skip_missing), out
    _note_topics(choice)
    setup = ExperimentSetup(
        web=web,
        topics=choice,
        page_budget=pages,
        n_start=start,
        mode=mode,
        task=parse_task(task),
        closed_world=closed_world,
        respect_nofollow=not follow_nofollow,
        relevance=relevance,
        n_train=train,
        train_from=train_from,
        as_published=as_published,
        plain=plain,
    )
    settings = SearchSettings(
        search=search,
        fitness=fitness,
        n_crawls=crawls,
        same_start=same_start,
        seed=random_seed,
        scores=parse_scores(scores),
        split=split,
        threshold=threshold,
        reevaluate=reevaluate,
    )
    _run(
        folder,
        as_json,
        lambda watch: search_rules(
            setup, settings, folder, seed_with=seed_with or (), workers=workers, force=force, watch=watch
        ),
    )


def _refuse_what_is_kept(context: typer.Context, folder: Path) -> None:
    """A search goes on as it was begun: what decides about it is in its folder."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in options.OF_A_RUN and source is not None and source.name == "COMMANDLINE":
            raise UsageError(
                f"{parameter.opts[0]} cannot be changed when a search is resumed; {printable(folder)} has its "
                "settings. With --resume go only --web, --workers and --json."
            )


def _record_crawl(web: Path) -> None:
    """Record the pages of a crawl, if it is one, and say what it lacks."""
    from scenthound.cli.terminal import show_progress
    from scenthound.store.crawl_web import open_web, pages_elsewhere

    elsewhere = pages_elsewhere(web)
    if elsewhere is not None and elsewhere.n_recorded < elsewhere.n_pages:
        typer.echo(f"Note: {elsewhere.told()}", err=True)
    with show_progress("recording") as progress:
        open_web(web, progress)


def _note_topics(choice: TopicChoice) -> None:
    """Whoever names no topic may not know how many there are, and every one is crawled for in each evaluation."""
    from scenthound.topics.files import read_topics

    if choice.ids:
        return
    listed = read_topics(choice.file)
    if len(listed) > 1:
        but = " that have a start page" if choice.skip_missing else ""
        typer.echo(
            f"Note: the search is for all {len(listed):,} topics of {printable(choice.file)}{but} at once; choose one "
            f"with --topic, for example --topic {shlex.quote(printable(listed[0].id))}.",
            err=True,
        )


def _run(folder: Path, as_json: bool, run: Callable[[Watch], Evolution]) -> None:
    from scenthound.cli.evolve_output import print_evolution, watched

    began_s = monotonic()
    try:
        with watched() as watch:
            done = run(watch)
    except KeyboardInterrupt:
        if _can_go_on(folder):
            typer.echo(f"What was evaluated is kept. Go on with: {_how_to_go_on(folder)}", err=True)
        raise
    except Failure as error:
        if not _can_go_on(folder):
            raise
        said = str(error).rstrip(".")
        raise Failure(f"{said}. What was evaluated is kept; go on with `{_how_to_go_on(folder)}`.") from error
    print_evolution(done, monotonic() - began_s, as_json, watch.visits_per_s)


def _how_to_go_on(folder: Path) -> str:
    return f"scenthound evolve --resume {printable(folder)}"


def _can_go_on(folder: Path) -> bool:
    from scenthound.store.folder import is_kind

    return is_kind(folder, "search")
