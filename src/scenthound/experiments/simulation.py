"""Simulate crawls of an experiment and write them to a run folder."""

from dataclasses import dataclass
from pathlib import Path

from scenthound.experiments.pipeline import Run, plan, run
from scenthound.experiments.runs import require_parquet, write_run
from scenthound.experiments.setup import Experiment, ExperimentSetup
from scenthound.model import Progress, silent
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import ResultFolder, check_replaceable, is_kind


@dataclass(frozen=True, slots=True)
class Simulation:
    """The result of a simulation."""

    out: Path
    experiment: Experiment
    skipped_topics: dict[str, str]  #: the reason, by topic
    missing: tuple[str, ...]  #: examples and targets of the others that are not in the web
    pages_wanted: int  #: the page budget asked for; crawls get at most the number of pages in the web
    n_crawls: int
    n_pages: int
    n_not_recorded: int
    n_ended_early: int
    n_compiled: int  #: crawls by compiled code


def simulate_topics(
    setup: ExperimentSetup,
    out: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Simulation:
    """Crawl for every chosen topic with every strategy, and write the run folder `out` atomically.

    If `setup.web` is a crawl, its pages are recorded first.
    """
    require_parquet()
    check_replaceable(out, force, lambda path: is_kind(path, "run"))
    recorded = open_web(setup.web, progress)
    chosen = setup.choose_topics(recorded)
    experiment = setup.experiment(recorded, chosen)
    planned = plan(experiment, recorded)
    tally = _Tally(experiment.page_budget)
    with ResultFolder.create(out, kind="run", force=force) as folder:
        runs = run(experiment, planned, workers=workers, progress=progress)
        write_run(folder, experiment, recorded, [start for _, start in planned], map(tally.count, runs))
    starts = setup.starts(recorded)
    return Simulation(
        out=out,
        experiment=experiment,
        skipped_topics=dict(chosen.skipped),
        missing=tuple(url for topic in chosen.topics for url in starts.missing(topic)),
        pages_wanted=setup.page_budget,
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
