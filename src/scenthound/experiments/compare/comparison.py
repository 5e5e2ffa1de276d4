"""Compare strategies: crawl, measure and rank.

The CPU time of a strategy is that of one crawl of at most 200 pages from the first start, by plain code in this
process: compiled crawls are not timed, and crawls in parallel disturb each other.
"""

from dataclasses import dataclass, replace
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
    Measurements,
    check_metric,
    collect,
    crawled,
    measure_starts,
    part_of,
)
from scenthound.experiments.compare.ranking import (
    HeldOut,
    Placed,
    TopicsWon,
    describe_scope,
    held_out,
    ranking_of,
    reading_notes,
    topics_won,
)
from scenthound.experiments.compare.settings import ComparisonSettings, Contestant, Prepared, prepared
from scenthound.experiments.setup import Experiment, ExperimentSetup
from scenthound.experiments.statistics.samples import scipy_stats
from scenthound.model import Progress, silent
from scenthound.store.record import open_web

#: Pages of the crawl that is timed.
TIMED_PAGES = 200
#: The share of the work that is done after each step.
CRAWLED, TIMED = 0.75, 0.85


@dataclass(frozen=True, slots=True)
class StrategyComparison:
    """A finished comparison. `contestants` and `measured` are in the same order; the ranking, and `held_out`, have one
    of the contestants with equal crawls."""

    setup: ExperimentSetup
    settings: ComparisonSettings
    experiment: Experiment
    web_fingerprint: str
    by: str
    lower_is_better: bool
    contestants: tuple[Contestant, ...]
    measured: Measurements
    ranking: tuple[Placed, ...]
    cpu_us: dict[str, float]  #: per page, by contestant
    held_out: HeldOut | None
    topics_won: TopicsWon | None  #: by the winner; None if topics are not the observations, or if it is alone
    says: str  #: what was observed, and what the result applies to
    notes: tuple[str, ...]
    command: str  #: starts the winner live; empty if it cannot be written
    command_note: str  #: a note on the command; usually empty
    model_pages: ModelPages | None  #: that the winner's relevance model was trained on
    n_made: int  #: crawls that were not cached

    @property
    def topics_file(self) -> Path:
        return self.setup.topics.file

    @property
    def winner(self) -> Placed:
        return self.ranking[0]

    def chosen_share(self, placed: Placed) -> float:
        """The share of halvings in which it was chosen."""
        return self.held_out.chosen[placed.place - 1] if self.held_out else float("nan")


def compare_strategies(
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    cache: Path,
    *,
    learnt_from: Path | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> StrategyComparison:
    """Find out which strategy is best for the topics. Without strategies in the setup, all installed ones take part.

    Crawls are cached in the folder `cache`. If `setup.web` is a crawl, its pages are recorded first. `learnt_from` is
    the folder that `model_pages` will be written to, for the command to name; None if they will not be written.
    """
    scipy_stats()  # Raises before any work is done if it is not installed.
    recorded = open_web(setup.web, progress)
    requested = prepared(recorded, setup, settings)
    check_metric(requested, recorded)
    crawling = part_of(progress, 0.0, CRAWLED)
    may_skip = not setup.strategies
    ready, n_made = crawled(requested, cache, may_skip=may_skip, workers=workers, progress=crawling)
    cpu_us = _timed(ready, cache, part_of(progress, CRAWLED, TIMED))
    starts = measure_starts(ready, cache, workers=workers, progress=part_of(progress, TIMED, 1.0))
    topic_ids = [topic.id for topic in ready.experiment.topics]
    measured = collect(starts, topic_ids, ready.experiment.repeats, ready.point)
    return _ranked(ready, setup, settings, measured, learnt_from=learnt_from, cpu_us=cpu_us, n_made=n_made)


def _ranked(
    ready: Prepared,
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    measured: Measurements,
    *,
    learnt_from: Path | None,
    cpu_us: dict[str, float],
    n_made: int,
) -> StrategyComparison:
    """Rank what was measured."""
    experiment, is_low = ready.experiment, ready.point.metric.lower_is_better
    ranking = ranking_of(measured, ready.contestants, lower_is_better=is_low)
    winner, first_topic = ranking[0].contestant.spec, measured.topics[0]
    command = live_command(setup.topics.file, first_topic, winner, experiment, learnt_from)
    in_order = [ready.contestants.index(placed.contestant) for placed in ranking]
    return StrategyComparison(
        setup=setup,
        settings=settings,
        experiment=experiment,
        web_fingerprint=ready.provenance.web_fingerprint,
        by=str(ready.point),
        lower_is_better=is_low,
        contestants=ready.contestants,
        measured=measured,
        ranking=ranking,
        cpu_us=cpu_us,
        held_out=held_out(measured.observations[in_order], lower_is_better=is_low),
        topics_won=topics_won(measured, in_order, lower_is_better=is_low),
        says=describe_scope(measured),
        notes=(*ready.notes, *reading_notes(ready, measured, ranking)),
        command=command,
        command_note=training_note(winner, experiment, learnt_from) if command else CANNOT_BE_NAMED,
        model_pages=model_pages(ready, first_topic, winner),
        n_made=n_made,
    )


def _timed(ready: Prepared, cache: Path, progress: Progress) -> dict[str, float]:
    """CPU time per page, by contestant."""
    short = replace(ready.experiment, plain=True, repeats=1, page_budget=min(TIMED_PAGES, ready.experiment.page_budget))
    first = ready.planned[0]
    crawls = replace(ready, experiment=short).source(cache).open().of(*first)
    progress(1.0, "CPU time measured")
    return {each.strategy: float(np.mean(each.crawl.cpu_us)) for each in crawls if len(each.crawl.cpu_us)}
