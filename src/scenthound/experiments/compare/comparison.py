"""A comparison from files to a ranking: crawl, measure, rank, and say what must be known to read it.

The CPU time of a strategy is that of one crawl of at most 200 pages from the first start, by plain code in this
process: compiled crawls are not timed, and crawls side by side disturb each other.
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
    crawled,
    gathered,
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
from scenthound.store.crawl_web import open_web

#: Pages of the crawl that CPU time is taken from.
TIMED_PAGES = 200
#: What part of the whole work is done after each step, for progress.
CRAWLED, TIMED = 0.75, 0.85


@dataclass(frozen=True, slots=True)
class StrategyComparison:
    """What a comparison came to. `contestants` and `measured` are in one order; the ranking has those of them that are
    no twin of another, and `held_out` is in its order."""

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
    topics_won: TopicsWon | None  #: by the winner; None if topics are not the observations, or nobody else is there
    says: str  #: what the observations are, and so what the answer is about
    notes: tuple[str, ...]
    command: str  #: starts the winner live; empty if no command line can
    command_note: str  #: what must be known of it; mostly nothing
    model_pages: ModelPages | None  #: that the winner's guide learnt from, if it learnt from the web
    n_made: int  #: crawls that were not kept from an earlier run

    @property
    def topics_file(self) -> Path:
        return self.setup.topics.file

    @property
    def winner(self) -> Placed:
        return self.ranking[0]

    def chosen_share(self, placed: Placed) -> float:
        """In how many halvings of the observations it was chosen."""
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
    scipy_stats()  # What the tests need, and is not installed, is said before any work is done.
    recorded = open_web(setup.web, progress)
    wished = prepared(recorded, setup, settings)
    check_metric(wished, recorded)
    crawling = part_of(progress, 0.0, CRAWLED)
    may_leave_out = not setup.strategies
    ready, n_made = crawled(wished, cache, may_leave_out=may_leave_out, workers=workers, progress=crawling)
    cpu_us = _timed(ready, cache, part_of(progress, CRAWLED, TIMED))
    starts = measure_starts(ready, cache, workers=workers, progress=part_of(progress, TIMED, 1.0))
    topic_ids = [topic.id for topic in ready.experiment.topics]
    measured = gathered(starts, topic_ids, ready.experiment.repeats, ready.point)
    return _told(ready, setup, settings, measured, learnt_from=learnt_from, cpu_us=cpu_us, n_made=n_made)


def _told(
    ready: Prepared,
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    measured: Measurements,
    *,
    learnt_from: Path | None,
    cpu_us: dict[str, float],
    n_made: int,
) -> StrategyComparison:
    """Rank what was measured, and say what there is to say."""
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
