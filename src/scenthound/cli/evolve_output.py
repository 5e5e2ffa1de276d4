"""What `evolve` prints: its progress, and the result of the search as tables or JSON."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.results import print_compiled_code
from scenthound.cli.terminal import show_progress
from scenthound.errors import printable
from scenthound.experiments.evolve.settings import STRATEGY
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.strategies.evolved import choice_of
from scenthound.strategies.rank_rules import formula_of
from scenthound.ui.formats import counted, json_text
from scenthound.ui.terminal import print_rows

if TYPE_CHECKING:
    from scenthound.experiments.evolve.evolution import Compared, Evolution


#: With more topics, the proposed commands use all topics of the file.
MOST_TOPICS_NAMED = 3
#: The number of unseen topics that the proposed validation uses.
UNSEEN_PROPOSED = 4


def print_evolution(done: Evolution, seconds: float, as_json: bool, visits_per_s: float | None = None) -> None:
    """`seconds` is the duration of this run, `visits_per_s` its speed from the first crawl on."""
    if as_json:
        typer.echo(json_text(_values(done, seconds, visits_per_s), indent=1))
        return
    if not done.n_visits_now:
        typer.echo(f"The search in {printable(done.folder)} had finished before; this is its result.")
    settings, pages = done.settings, done.settings.experiment.page_budget
    rows = [[each.name, f"{each.fitness:.4f}", _formula(each)] for each in (done.best, *done.others)]
    n_crawls, n_topics = settings.n_crawls, len(settings.experiment.topics)
    print_rows(
        f"{settings.fitness}: mean of {n_crawls} x {pages:,} pages on {counted(n_topics, 'topic')}",
        ["rank function", "fitness", "formula"],
        rows,
        n_text_columns=3,
    )
    print_rows(f"The search {settings.search}", ["number of", "details", "count"], _work(done), n_text_columns=2)
    if done.pages_wanted > pages:
        typer.echo(f"--pages {done.pages_wanted:,}: the web has {pages:,}, which is the maximum.")
    for reason in done.skipped_topics:
        typer.echo(f"Left out: {reason}")
    for note in done.notes:
        typer.echo(f"Note: {note}")
    for line in _this_run(done, seconds, visits_per_s):
        typer.echo(line)
    print_compiled_code()
    for line in _next_steps(done):
        typer.echo(line)


def _work(done: Evolution) -> list[list[str]]:
    """What the search requested and what was evaluated: less, because most searches request some genes again."""
    crawled_for = (
        "every one requested, known or not (--reevaluate)"
        if done.settings.reevaluate
        else "the same genes are evaluated once, unless with --reevaluate"
    )
    return [
        ["evaluations requested", f"in {done.summary.generation:,} generations", f"{done.summary.n_evaluated:,}"],
        ["distinct individuals", "of different genes", f"{done.n_distinct:,}"],
        ["individuals evaluated", crawled_for, f"{done.n_evaluated:,}"],
        ["visits made", "by all their crawls", f"{done.n_visits:,}"],
    ]


def _this_run(done: Evolution, seconds: float, visits_per_s: float | None) -> list[str]:
    if not done.n_visits_now:
        return []
    speed = "" if visits_per_s is None else f", {visits_per_s:,.0f} visits/s from the first crawl on"
    return [f"This run: {done.n_visits_now:,} visits in {seconds:,.1f} s{speed}."]


def _next_steps(done: Evolution) -> list[str]:
    experiment = done.settings.experiment
    strategy, web, topics = (shlex.quote(str(each)) for each in (choice_of(done.result), experiment.web, done.topics))
    run = shlex.quote(f"{done.folder}-run")
    ids = [shlex.quote(topic.id) for topic in experiment.topics]
    named = ids if experiment.other_topics and len(ids) <= MOST_TOPICS_NAMED else []
    only = "".join(f" --topic {topic_id}" for topic_id in named)
    return [
        f"The formula, its weights and how they were found: {done.result}",
        f"Next: scenthound simulate --web {web} --topics {topics}{only} --strategy {strategy} --mode {experiment.mode} "
        f"--out {run}",
        f"Beside Best-First: scenthound validate --web {web} --topics {topics} --strategy {strategy}{_compared(done)}",
        f"Or on the live web: scenthound crawl {topics} --topic {ids[0]} --strategy {strategy}{_training(done)}",
    ]


def _compared(done: Evolution) -> str:
    """Options of a validation with the relevance model and the mode of the search, on its topics and unseen ones."""
    experiment, out = done.settings.experiment, shlex.quote(f"{done.folder}-validation")
    unseen = f" --unseen-max {UNSEEN_PROPOSED}" if experiment.other_topics else ""
    relevance_model = shlex.quote(experiment.relevance_models()[STRATEGY])
    return f"{unseen} --relevance {relevance_model} --mode {experiment.mode} --out {out}"


def _training(done: Evolution) -> str:
    """Options of a live crawl for the relevance model that the formula was found with."""
    relevance_model, given = done.settings.experiment.relevance_models()[STRATEGY], done.settings.experiment.train_from
    if not trains(RELEVANCE.make(relevance_model)):
        return ""
    if given is not None:
        return f" --train-from {shlex.quote(str(given))}"
    return f" --train-from DIR  ({relevance_model} is trained on the pages in DIR/positive and DIR/negative)"


def _formula(rank_function: Compared) -> str:
    """One line for each rule, with its condition."""
    rules = rank_function.rules
    lines = [formula_of(row) for row in rules.weights]
    if len(lines) == 1:
        return lines[0]
    ends = [f"up to {rules.split_by} {bound}" for bound in rules.bounds] + ["beyond"]
    return "\n".join(f"{end}: {line}" for end, line in zip(ends, lines, strict=True))


def _values(done: Evolution, seconds: float, visits_per_s: float | None) -> dict[str, Any]:
    return {
        "folder": str(done.folder),
        "file": str(done.result),
        "settings": done.settings.as_json(),
        "notes": list(done.notes),
        "pages_wanted": done.pages_wanted,
        "evaluations": done.summary.n_evaluated,
        "distinct": done.n_distinct,
        "crawled_for": done.n_evaluated,
        "generations": done.summary.generation,
        "visits": done.n_visits,
        "visits_of_this_run": done.n_visits_now,
        "seconds_of_this_run": round(seconds, 3),
        "visits_per_s": visits_per_s and round(visits_per_s),
        "results": [
            {"name": each.name, "fitness": each.fitness, "formula": _formula(each), "rules": asdict(each.rules)}
            for each in (done.best, *done.others)
        ],
    }


# Progress. Speed and time left are measured from the first finished evaluation on: reading, training and, in a new
# installation, compiling come before and may take longer than the search itself.

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenthound.experiments.evolve.evolution import EvolutionStatus
    from scenthound.model import Progress

TITLE = "evolving"
#: The time left is shown after this many evaluations.
FEW_EVALUATIONS = 5


@contextmanager
def watched() -> Iterator[Watching]:
    """Show the progress of the search that runs inside."""
    # A bar on a terminal has a column for the time left, and is updated at once.
    is_bar = sys.stderr.isatty()
    with show_progress(TITLE) as progress:
        yield Watching(progress, Pace(monotonic), with_time=not is_bar, says_at_once=not is_bar)


@dataclass(frozen=True, slots=True)
class Sample:
    """The progress of a search at a time."""

    at_s: float
    n_visits: int
    n_evaluated: int
    share: float


class Pace:
    """The speed of a search."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._first: Sample | None = None
        self._last: Sample | None = None

    def note(self, status: EvolutionStatus) -> None:
        """What happened before the first finished crawl of this run does not count."""
        if status.n_visits:
            self._last = Sample(self._now(), status.n_visits, status.n_evaluated, status.share)
            self._first = self._first or self._last

    @property
    def visits_per_s(self) -> float | None:
        """None while it is unknown."""
        if self._first is None or self._last is None or self._last.at_s <= self._first.at_s:
            return None
        return (self._last.n_visits - self._first.n_visits) / (self._last.at_s - self._first.at_s)

    @property
    def seconds_left(self) -> float | None:
        """None at the end, and while there are too few evaluations for an estimate."""
        if self._first is None or self._last is None or self._last.share >= 1:
            return None
        if self._last.n_evaluated - self._first.n_evaluated < FEW_EVALUATIONS:
            return None
        spent_s = self._last.at_s - self._first.at_s
        return spent_s * (1 - self._last.share) / (self._last.share - self._first.share)


class Watching:
    """Reports the status of a search to `progress`."""

    def __init__(self, progress: Progress, pace: Pace, *, with_time: bool, says_at_once: bool = False) -> None:
        self._progress = progress
        self._pace = pace
        self._with_time = with_time
        self._says_at_once = says_at_once

    @property
    def visits_per_s(self) -> float | None:
        return self._pace.visits_per_s

    def __call__(self, status: EvolutionStatus) -> None:
        self._pace.note(status)
        words = self._words(status)
        if self._says_at_once and not status.n_visits:
            # Lines come only with new results; until the first of them it may take a minute.
            typer.echo(f"{TITLE}: {words}", err=True)
            self._says_at_once = False
        self._progress(status.share, words)

    def _words(self, status: EvolutionStatus) -> str:
        summary = status.summary
        parts = [f"generation {summary.generation} of {summary.n_generations}"]
        if not math.isnan(summary.best):
            parts.append(f"best {summary.best:.4f}, mean {summary.mean:.4f}")
        if not status.n_visits:
            parts.append("waiting for the first crawls")
        if self._pace.visits_per_s is not None:
            parts.append(f"{self._pace.visits_per_s:,.0f} visits/s")
        if self._with_time and self._pace.seconds_left is not None:
            parts.append(f"{time_left(self._pace.seconds_left)} left")
        return ", ".join(parts)


def time_left(seconds: float) -> str:
    """In a suitable unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
