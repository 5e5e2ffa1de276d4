"""`scenthound evolve`: starts or resumes a search, and prints its result."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenthound.cli.options import (
    Printed,
    is_from_command_line,
    note_missing_pages,
    refuse_settings,
    with_options,
)
from scenthound.errors import Failure, UsageError, printable
from scenthound.experiments.options import EvolveOptions, ResumeSearchOptions, Running
from scenthound.options import Option, options_in, part
from scenthound.ui.formats import counted
from scenthound.ui.terminal import print_rows

if TYPE_CHECKING:
    from scenthound.api.searches import Evolution
    from scenthound.experiments.evolve.evolution import Compared
    from scenthound.experiments.evolve.evolution import Evolution as FinishedSearch

#: Options that may differ when a search is resumed; all others are settings of the search.
RUN_OPTIONS = (*(each.name for each in options_in(ResumeSearchOptions)), "as_json")
#: With more topics, the proposed commands use all topics of the file.
MAX_TOPICS_NAMED = 3
#: The number of unseen topics that the proposed validation uses.
UNSEEN_PROPOSED = 4


@dataclass(frozen=True, kw_only=True)
class Resuming:
    """A search that is resumed.

    What to search on:
        resume: Continue the search in this folder, however it ended; the folder has its settings.
    """

    resume: Annotated[Path | None, Option(metavar="DIR")] = None


def evolve(context: typer.Context, options: EvolveOptions, resuming: Resuming, printed: Printed) -> None:
    """Search for the weights of a rank function that crawl best for a topic, by a genetic algorithm.

    scenthound evolve --web web --topics topics.jsonl --topic chemistry --out search

    scenthound evolve --resume search
    """
    from scenthound.api import searches
    from scenthound.experiments.evolve.folder import check_new
    from scenthound.store.folder import is_kind

    resume, out = resuming.resume, options.out
    if resume is not None:
        refuse_settings(context, "search", resume, RUN_OPTIONS)
    elif options.web is None or options.topics is None or out is None:
        raise UsageError("A search needs --web, --topics and --out; continue one with --resume DIR.")
    else:
        check_new(Path(out), options.force)
        note_missing_pages(options.web)
        if not options.topic:
            _note_topics(options.topics, skip_missing=options.skip_missing)
    folder = Path(resume or out)
    go_on = f"scenthound evolve --resume {printable(folder)}"
    try:
        if resume is not None:
            # The folder has its settings: those that configuration files set are for new searches.
            changes = {name: context.params[name] for name in ("web", "best") if is_from_command_line(context, name)}
            given = {**vars(part(Running, options)), **changes}
            done = with_options(searches.resume_search, ResumeSearchOptions(resume, **given))
        else:
            done = with_options(searches.evolve, options)
    except KeyboardInterrupt:
        if is_kind(folder, "search"):
            typer.echo(f"Finished evaluations are stored. Continue with: {go_on}", err=True)
        raise
    except Failure as error:
        if not is_kind(folder, "search"):
            raise
        raise Failure(
            f"{error.message.rstrip('.')}. Finished evaluations are stored; continue with `{go_on}`."
        ) from error
    printed.show(done, _values, _print)


def _note_topics(topics: Any, *, skip_missing: bool) -> None:
    """Print how many topics there are, because each evaluation crawls for every one of them."""
    from scenthound.topics.files import read_topics

    listed = read_topics(topics)
    if len(listed) > 1:
        but = " that can be crawled for" if skip_missing else ""
        typer.echo(
            f"Note: the search is for all {len(listed):,} topics of {printable(topics)}{but} at once; choose one "
            f"with --topic, for example --topic {shlex.quote(printable(listed[0].id))}.",
            err=True,
        )


def _print(evolution: Evolution) -> None:
    from scenthound.experiments.starts import skipped_text

    done = evolution.finished
    if not done.n_visits_now:
        typer.echo(f"The search in {printable(done.folder)} had finished before; this is its result.")
    settings, pages = done.settings, done.settings.experiment.page_budget
    n_topics = len(settings.experiment.topics)
    print_rows(
        f"{settings.fitness}: mean of {settings.n_crawls} x {pages:,} pages on {counted(n_topics, 'topic')}",
        ["rank function", "fitness", "formula"],
        [[each.name, f"{each.fitness:.4f}", _formula(each)] for each in (done.best, *done.others)],
        n_text_columns=3,
    )
    print_rows(f"The search {settings.search}", ["number of", "details", "count"], _work(done), n_text_columns=2)
    if done.pages_wanted > pages:
        typer.echo(f"--pages {done.pages_wanted:,}: the web has {pages:,}, which is the maximum.")
    if done.skipped_topics:
        typer.echo(skipped_text(done.skipped_topics))
    for note in done.notes:
        typer.echo(f"Note: {note}")
    if done.n_visits_now:
        per_s = evolution.visits_per_s
        speed = "" if per_s is None else f", {per_s:,.0f} visits/s from the first crawl on"
        typer.echo(f"This run: {done.n_visits_now:,} visits in {evolution.seconds:,.1f} s{speed}.")
    for line in _next_steps(done):
        typer.echo(line)


def _work(done: FinishedSearch) -> list[list[str]]:
    """What the search requested and what was evaluated: less, because most searches request some genes again."""
    evaluated = (
        "every one requested, known or not (--reevaluate)"
        if done.settings.reevaluate
        else "the same genes are evaluated once, unless with --reevaluate"
    )
    return [
        ["evaluations requested", f"in {done.summary.generation:,} generations", f"{done.summary.n_evaluated:,}"],
        ["distinct individuals", "of different genes", f"{done.n_distinct:,}"],
        ["individuals evaluated", evaluated, f"{done.n_evaluated:,}"],
        ["visits made", "by all their crawls", f"{done.n_visits:,}"],
    ]


def _next_steps(done: FinishedSearch) -> list[str]:
    from scenthound.experiments.evolve.settings import STRATEGY
    from scenthound.experiments.starts import DEFAULT_TRAINING_PAGES
    from scenthound.strategies.evolved import choice_of

    experiment = done.settings.experiment
    strategy, web, topics, run, validation, model = (
        shlex.quote(str(each))
        for each in (
            choice_of(done.result),
            experiment.web,
            done.topics,
            f"{done.folder}-run",
            f"{done.folder}-validation",
            experiment.relevance_models()[STRATEGY],
        )
    )
    ids = [shlex.quote(topic.id) for topic in experiment.topics]
    named = ids if experiment.other_topics and len(ids) <= MAX_TOPICS_NAMED else []
    only = "".join(f" --topic {topic_id}" for topic_id in named)
    unseen = f" --unseen-max {UNSEEN_PROPOSED}" if experiment.other_topics else ""
    crawls = f"--mode {experiment.mode}"
    if experiment.training_pages != DEFAULT_TRAINING_PAGES:
        crawls += f" --training-pages {experiment.training_pages}"
    return [
        f"The formula, its weights and how they were found: {done.result}",
        f"Next: scenthound simulate --web {web} --topics {topics}{only} --strategy {strategy} {crawls} --out {run}",
        f"Compare with Best-First: scenthound validate --web {web} --topics {topics} --strategy {strategy}{unseen} "
        f"--relevance {model} {crawls} --out {validation}",
        f"Or on the live web: scenthound crawl {topics} --topic {ids[0]} --strategy {strategy}{_training(done)}",
    ]


def _training(done: FinishedSearch) -> str:
    """Options of a live crawl for the relevance model that the formula was found with."""
    from scenthound.experiments.evolve.settings import STRATEGY
    from scenthound.relevance.base import RELEVANCE, trains

    experiment = done.settings.experiment
    relevance_model = experiment.relevance_models()[STRATEGY]
    if not trains(RELEVANCE.make(relevance_model)):
        return ""
    if experiment.train_from is not None:
        return f" --train-from {shlex.quote(str(experiment.train_from))}"
    return f" --train-from DIR  ({relevance_model} is trained on the pages in DIR/positive and DIR/negative)"


def _formula(rank_function: Compared) -> str:
    """One line for each rule, with its condition."""
    from scenthound.strategies.rank_rules import formula_of

    rules = rank_function.rules
    lines = [formula_of(row) for row in rules.weights]
    if len(lines) == 1:
        return lines[0]
    ends = [f"up to {rules.split_by} {bound}" for bound in rules.bounds] + ["beyond"]
    return "\n".join(f"{end}: {line}" for end, line in zip(ends, lines, strict=True))


def _values(evolution: Evolution) -> dict[str, Any]:
    done = evolution.finished
    return {
        "folder": str(done.folder),
        "file": str(done.result),
        "settings": done.settings.as_json(),
        "notes": list(done.notes),
        "skipped_topics": dict(done.skipped_topics),
        "pages_wanted": done.pages_wanted,
        "evaluations": done.summary.n_evaluated,
        "distinct": done.n_distinct,
        "crawled_for": done.n_evaluated,
        "generations": done.summary.generation,
        "visits": done.n_visits,
        "visits_of_this_run": done.n_visits_now,
        "seconds_of_this_run": round(evolution.seconds, 3),
        "visits_per_s": evolution.visits_per_s and round(evolution.visits_per_s),
        "results": [
            {"name": each.name, "fitness": each.fitness, "formula": _formula(each), "rules": asdict(each.rules)}
            for each in (done.best, *done.others)
        ],
    }
