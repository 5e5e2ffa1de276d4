"""From files to a run folder: the topics chosen, the starts drawn, the crawls run, the traces written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import InvalidParameter
from scenthound.experiments.experiment import Experiment, Run, plan, run
from scenthound.experiments.runs import is_run_folder, require_parquet, write_run
from scenthound.experiments.starts import (
    DEFAULT_START,
    Starts,
    Task,
    TopicChoice,
    check_start,
    choose_topics,
    parse_task,
)
from scenthound.model import Progress, silent
from scenthound.simulator.modes import SEQUENTIAL
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import check_replaceable, new_folder


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a simulation came to."""

    out: Path
    experiment: Experiment
    skipped_topics: dict[str, str]  #: topics left out, and why
    missing: tuple[str, ...]  #: examples and targets of the others that are not in the web
    pages_wanted: int  #: the page budget asked for; the experiment's own is no larger than the web
    n_crawls: int
    n_pages: int
    n_not_recorded: int
    n_ended_early: int
    n_compiled: int  #: crawls by compiled code


def simulate_topics(
    web: Path,
    topics: TopicChoice,
    out: Path,
    *,
    strategies: Sequence[str],
    page_budget: int = 2000,
    n_seeds: int = 1,
    task: str = Task.EXAMPLES,
    n_start: int = DEFAULT_START,
    closed_world: bool = False,
    respect_nofollow: bool = True,
    relevance: str | None = None,
    n_train: int = 0,
    n_judge: int = 0,
    train_from: Path | None = None,
    as_published: bool = False,
    mode: str = str(SEQUENTIAL),
    plain: bool = False,
    workers: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Simulation:
    """Crawl for every chosen topic with every strategy and seed, and write the run folder `out` whole or not at all.
    `web` is a recorded web, or a live crawl, whose pages are then recorded first.

    `Experiment` tells what the settings mean.
    """
    if isinstance(strategies, str):
        raise InvalidParameter(f"Strategies are a list of names: [{strategies!r}].")
    require_parquet()
    check_replaceable(out, force, is_run_folder)
    recorded = open_web(web, progress)
    check_start(n_start, recorded)
    starts = Starts(recorded, parse_task(task), n_start)
    chosen = choose_topics(topics, starts)
    experiment = Experiment(
        # Of a crawl that goes on all processes see the same pages.
        web=(recorded.path or web).resolve(),
        topics=chosen.topics,
        strategies=tuple(strategies),
        # No crawl gets more pages than there are, and none is judged by pages that do not exist.
        page_budget=min(page_budget, recorded.n_pages),
        n_seeds=n_seeds,
        task=parse_task(task),
        n_start=n_start,
        closed_world=closed_world,
        respect_nofollow=respect_nofollow,
        relevance=relevance,
        n_train=n_train,
        n_judge=n_judge,
        as_published=as_published,
        train_from=Path(train_from).resolve() if train_from else None,
        other_topics=chosen.others,
        mode=mode,
        plain=plain,
    )
    planned = plan(experiment, recorded)
    tally = _Tally(experiment.page_budget)
    with new_folder(out, force, is_run_folder) as folder:
        runs = run(experiment, planned, workers=workers, progress=progress)
        write_run(folder, experiment, recorded, [start for _, start in planned], map(tally.count, runs))
    return Simulation(
        out=out,
        experiment=experiment,
        skipped_topics=dict(chosen.skipped),
        missing=tuple(url for topic in chosen.topics for url in starts.missing(topic)),
        pages_wanted=page_budget,
        n_crawls=tally.n_crawls,
        n_pages=tally.n_pages,
        n_not_recorded=tally.n_missing,
        n_ended_early=tally.n_early,
        n_compiled=tally.n_compiled,
    )


class _Tally:
    """Counts crawls as they pass by."""

    def __init__(self, page_budget: int) -> None:
        self._page_budget = page_budget
        self.n_crawls = self.n_pages = self.n_missing = self.n_early = self.n_compiled = 0

    def count(self, done: Run) -> Run:
        n_pages = len(done.crawl.pages)
        self.n_crawls += 1
        self.n_pages += n_pages
        self.n_missing += done.crawl.n_missing
        self.n_early += n_pages < self._page_budget
        self.n_compiled += done.crawl.is_compiled
        return done
