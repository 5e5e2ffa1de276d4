"""Compare strategies: crawl, measure and rank.

The CPU time of a strategy is that of one crawl of at most 200 pages from the first start, with all strategies in
Python, in this process: strategies in C take less time than others, and crawls in parallel disturb each other.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from scenthound.experiments.compare.live_command import (
    CANNOT_BE_NAMED,
    ModelPages,
    live_command,
    model_pages,
    training_note,
)
from scenthound.experiments.compare.measures import (
    MeanCurves,
    Measurements,
    check_metric,
    collect,
    crawled,
    measure_starts,
    merged,
    same_starts,
)
from scenthound.experiments.compare.ranking import (
    MARGIN_SHARE,
    Mark,
    RankingRow,
    TopicsWon,
    describe_scope,
    ranking_order,
    ranking_rows,
    reading_notes,
    rounded,
    topics_won,
)
from scenthound.experiments.compare.settings import ComparisonSettings, Crawler, Prepared, mode_for, prepared
from scenthound.experiments.compare.verdict import Verdict, evidence, verdict_of
from scenthound.experiments.options import CompareOptions
from scenthound.experiments.pipeline import part_of
from scenthound.experiments.results import versions
from scenthound.experiments.setup import Experiment, ExperimentSetup, reproduce_command
from scenthound.experiments.starts import Task
from scenthound.experiments.statistics import scipy_stats
from scenthound.model import Progress, silent
from scenthound.processes import WorkersLike
from scenthound.store.folder import KNOWN_KINDS
from scenthound.store.record import open_web

#: Pages of the crawl that is timed.
TIMED_PAGES = 200
#: The share of the work that is done after each step.
CRAWLED, TIMED = 0.75, 0.85
#: What the marks mean.
MARKS = {
    Mark.WORSE: "clearly worse than the best",
    Mark.ALIKE: f"as good as the best: shown to differ by less than {100 * MARGIN_SHARE:.0f} % of it",
    Mark.UNCLEAR: "not clear either way",
}
#: How to read the ranking.
READING = (
    "Differences are to the best, in pairs of crawls from the same start; intervals are 95 % BCa bootstrap intervals. "
    "p is of a permutation test, corrected by Holm's method for all comparisons with the best."
)


@dataclass(frozen=True, slots=True)
class Observed:
    """The single observations: topics, or the starts of one topic."""

    of: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The mean of the metric in random crawls and in those of the greedy oracle; NaN if it has no bounds."""

    random: float
    oracle: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult:
    """The result of a comparison; its fields are the content of `comparison.json`. Crawlers with equal crawls share
    a row of the ranking."""

    format: str = KNOWN_KINDS["comparison"].format
    version: int = KNOWN_KINDS["comparison"].version
    scenthound: str
    versions: Mapping[str, str]
    web: Path
    web_fingerprint: str
    topics_file: Path
    topics: tuple[str, ...]
    by: str
    lower_is_better: bool
    pages: int  #: the page budget
    seeds: int  #: starts of each topic
    task: Task
    start: int
    mode: str
    relevance: str | None
    sweeps: Mapping[str, tuple[str, ...]]
    says: str  #: what was observed, what the result applies to, and what to know about the metric
    reading: str
    marks: Mapping[str, str]
    notes: tuple[str, ...]
    observed: Observed
    ranking: tuple[RankingRow, ...]
    curves: MeanCurves  #: of the deciding metric, in the order of the ranking
    bounds: Bounds
    topics_won: TopicsWon | None  #: by the best; None if topics are not the observations, or if it is alone
    winner: str  #: the best strategy; empty if the comparison cannot tell
    verdict: Verdict
    left_out: Mapping[str, str]  #: strategies that did not take part, with the reason
    command: str  #: starts the best strategy live; empty if there is none, or if it cannot be written
    command_note: str
    repeat: str  #: the command that repeats the comparison
    crawls_made: int  #: crawls that were not cached

    @property
    def metric(self) -> str:
        """The name of the deciding metric, without the number of pages."""
        return self.by.partition("@")[0].replace("_", " ")

    @property
    def step(self) -> int:
        """The number of pages after which the metric decides."""
        return int(self.by.rpartition("@")[2])


@dataclass(frozen=True, slots=True)
class StrategyComparison:
    """A finished comparison: the result, and the measurements behind it. `crawlers` and `measured` are in the same
    order. `model_pages` are those that the winner's relevance model was trained on."""

    result: ComparisonResult
    experiment: Experiment
    crawlers: tuple[Crawler, ...]
    measured: Measurements
    model_pages: ModelPages | None


def compare_strategies(
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    cache: Path,
    *,
    training_folder: Path | None = None,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> StrategyComparison:
    """Find out whether a strategy is best for the topics. Without strategies in the setup, all installed take part.

    Crawls are cached in the folder `cache`. If `setup.web` is a crawl, its pages are recorded first. `training_folder`
    is where `model_pages` will be written, for the command to name; None if they will not be written.
    """
    scipy_stats()  # Raises before any work is done if it is not installed.
    recorded = open_web(setup.web, progress)
    if settings.chooses_mode:
        setup = replace(setup, mode=mode_for(recorded))
    requested = prepared(recorded, setup, settings)
    check_metric(requested, recorded)
    crawling = part_of(progress, 0.0, CRAWLED)
    may_skip = not setup.strategies
    ready, n_made = crawled(requested, cache, may_skip=may_skip, workers=workers, progress=crawling)
    cpu_us = _timed(ready, cache, part_of(progress, CRAWLED, TIMED))
    starts = measure_starts(ready, cache, workers=workers, progress=part_of(progress, TIMED, 1.0))
    topic_ids = [topic.id for topic in ready.experiment.topics]
    measured = collect(starts, topic_ids, ready.experiment.repeats, ready.point)
    distinct = measured
    if not measured.over_topics:
        groups = same_starts(ready.planned)
        distinct = collect(merged(starts, groups), topic_ids, len(groups), ready.point)
    result = _ranked(ready, setup, settings, distinct, cpu_us=cpu_us, training_folder=training_folder, n_made=n_made)
    pages = model_pages(ready, measured.topics[0], result.winner) if result.winner else None
    return StrategyComparison(result, ready.experiment, ready.crawlers, measured, pages)


def _timed(ready: Prepared, cache: Path, progress: Progress) -> dict[str, float]:
    """CPU time per page, by crawler."""
    short = replace(ready.experiment, plain=True, repeats=1, page_budget=min(TIMED_PAGES, ready.experiment.page_budget))
    crawls = replace(ready, experiment=short).source(cache).open().of(*ready.planned[0])
    progress(1.0, "CPU time measured")
    return {each.strategy: float(np.mean(each.crawl.cpu_us)) for each in crawls if len(each.crawl.cpu_us)}


def _ranked(
    ready: Prepared,
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    measured: Measurements,
    *,
    cpu_us: Mapping[str, float],
    training_folder: Path | None,
    n_made: int,
) -> ComparisonResult:
    """Rank what was measured."""
    experiment, is_low = ready.experiment, ready.point.metric.lower_is_better
    order = ranking_order(measured, lower_is_better=is_low)
    ranking = ranking_rows(
        measured,
        order,
        ready.crawlers,
        lower_is_better=is_low,
        relevance_models=experiment.relevance_models(),
        cpu_us=cpu_us,
    )
    verdict = verdict_of(ranking, evidence(ready, measured))
    curves, n_starts = measured.curves, measured.values.shape[2]
    observations = measured.topics if len(measured.topics) > 1 else tuple(f"start {k + 1}" for k in range(n_starts))
    command, command_note = "", ""
    if verdict.best:
        command = live_command(setup.topics, measured.topics[0], verdict.best, experiment, training_folder)
        command_note = training_note(verdict.best, experiment, training_folder) if command else CANNOT_BE_NAMED
    return ComparisonResult(
        scenthound=version("scenthound"),
        versions=versions(),
        web=experiment.web,
        web_fingerprint=ready.provenance.web_fingerprint,
        topics_file=setup.topics.file,
        topics=measured.topics,
        by=str(ready.point),
        lower_is_better=is_low,
        pages=experiment.page_budget,
        seeds=experiment.repeats,
        task=experiment.task,
        start=experiment.n_start,
        mode=experiment.mode,
        relevance=experiment.relevance,
        sweeps=settings.sweeps,
        says=f"{describe_scope(measured, given_starts=ready.has_given_starts)} {ready.point.metric.caveat}".rstrip(),
        reading=READING,
        marks={str(mark): meaning for mark, meaning in MARKS.items()},
        notes=(*ready.notes, *reading_notes(ready, measured, ranking)),
        observed=Observed("topics" if len(measured.topics) > 1 else "starts", observations),
        ranking=ranking,
        curves=MeanCurves(
            curves.pages,
            rounded(curves.mean[order]),
            rounded(curves.standard_error[order]),
            rounded(curves.random),
            rounded(curves.oracle),
        ),
        bounds=Bounds(float(measured.random.mean()), float(measured.oracle.mean())),
        topics_won=topics_won(measured, order, lower_is_better=is_low),
        winner=verdict.best,
        verdict=verdict,
        left_out=dict(ready.left_out),
        command=command,
        command_note=command_note,
        repeat=_repeat(setup, replace(settings, by=settings.by or str(ready.point.metric)), experiment),
        crawls_made=n_made,
    )


def _repeat(setup: ExperimentSetup, settings: ComparisonSettings, experiment: Experiment) -> str:
    """The command that repeats the comparison. Topics are listed by id, so that topics added to the file later change
    nothing."""
    values = asdict(setup) | {
        "web": experiment.web,
        "topics": setup.topics.file.absolute(),
        "topic": tuple(topic.id for topic in experiment.topics),
        "seeds": setup.topics.seeds or None,
        "strategies": setup.strategies,
        "sweep": tuple(f"{name}={','.join(values)}" for name, values in settings.sweeps.items()),
        "by": settings.by,
        "repeats": experiment.repeats,
        "mode": experiment.mode,
        "train_from": experiment.train_from,
    }
    return reproduce_command("compare", CompareOptions, values)
