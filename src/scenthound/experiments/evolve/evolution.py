"""Evolve rank rules: choose topics, draw starts, run the search, and compare the best individual with known
strategies."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from scenthound.errors import InvalidTopic
from scenthound.experiments.evolve.evaluation import Evaluator, Seeding
from scenthound.experiments.evolve.folder import RESULT_FILE, TOPICS_FILE, SearchFolder, check_new
from scenthound.experiments.evolve.run import EvolutionRun, EvolutionStatus, Watch
from scenthound.experiments.evolve.settings import (
    STRATEGY,
    EvolutionSettings,
    SearchSettings,
)
from scenthound.experiments.pipeline import plan
from scenthound.experiments.search.base import Summary
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import Start, check_seeds
from scenthound.model import Progress, Topic, silent
from scenthound.processes import WorkerPool, processors
from scenthound.store.crawl_web import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.evolved import choice_of
from scenthound.strategies.rank_function import RankFunction
from scenthound.strategies.rank_rules import RankRules

#: The strategies that the result is compared with.
COMPARED_WITH = (f"{STRATEGY}:preset=best_first", f"{STRATEGY}:preset=johnson2003")


def unwatched(_status: EvolutionStatus) -> None:
    """Ignore the progress of a search."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A rank function and its fitness on the crawls of a search."""

    name: str
    rules: RankRules
    fitness: float


@dataclass(frozen=True, slots=True)
class Evolution:
    """A finished search."""

    folder: Path
    result: Path
    topics: Path  #: the topic file
    settings: EvolutionSettings
    pages_wanted: int  #: the page budget asked for; crawls get at most the number of pages in the web
    summary: Summary
    best: Compared
    others: tuple[Compared, ...]
    n_distinct: int  #: distinct individuals
    n_evaluated: int  #: individuals that crawls were made for
    n_visits: int
    n_visits_now: int  #: of this run, without earlier ones
    skipped_topics: tuple[str, ...] = ()  #: the reason for each
    notes: tuple[str, ...] = ()  #: on earlier winners


def evolve(
    setup: ExperimentSetup,
    search: SearchSettings,
    out: Path,
    *,
    seed_with: Sequence[Path] = (),
    workers: int | None = None,
    force: bool = False,
    watch: Watch = unwatched,
    progress: Progress = silent,
) -> Evolution:
    """Search for the rank rules that crawl best for the chosen topics, and write them to the folder `out`.

    The strategies of the setup are not used: every individual is a rank function. If `setup.web` is a crawl, its pages
    are recorded first. `seed_with` are rank files whose rules take part from the beginning.
    """
    check_new(out, force)
    choice_of(out / RESULT_FILE)
    recorded = open_web(setup.web, progress)
    chosen = setup.choose_topics(recorded)
    experiment = setup.experiment(recorded, chosen, strategies=(STRATEGY,))
    settings = EvolutionSettings(experiment=experiment, **asdict(search))
    seeding = Seeding.of(seed_with, settings)
    settings = replace(settings, winners=seeding.winners, seeded_topics=seeding.topics)
    settings.new_search()  # Raises before any work is done if a library is missing.
    planned = _planned(settings, recorded)
    with SearchFolder.new(out, settings, recorded, force) as folder:
        run = EvolutionRun(settings, recorded.fingerprint, folder, watch)
        _finish(run, planned, workers)
        done = _evolution(run, setup.topics.file)
    skipped = tuple(chosen.skipped.values())
    return replace(done, pages_wanted=setup.page_budget, skipped_topics=skipped, notes=seeding.notes)


def resume_search(
    folder: Path, *, web: Path | None = None, workers: int | None = None, watch: Watch = unwatched
) -> Evolution:
    """Continue the search in a folder; the result is that of an uninterrupted search.

    For a finished search this only returns the result.
    """
    choice_of(folder / RESULT_FILE)
    with SearchFolder.open(folder) as held:
        settings, recorded = held.settings(web)
        run = EvolutionRun(settings, recorded.fingerprint, held, watch)
        run.catch_up()
        if not _is_finished(run):
            _finish(run, _planned(settings, recorded), workers)
        return _evolution(run, folder / TOPICS_FILE)


def _planned(settings: EvolutionSettings, web: RecordedWeb) -> list[tuple[Topic, Start]]:
    planned = plan(settings.experiment, web)
    for _, start in planned:
        check_seeds(start, settings.experiment.page_budget, "--start")
    if settings.measured_by.measures("target_recall"):
        for topic, start in planned:
            if not start.targets:
                raise InvalidTopic(
                    f"Topic {topic.id!r} has no target left, so target_recall is undefined: give it more examples, or "
                    "use fewer start pages."
                )
    return planned


def _is_finished(run: EvolutionRun) -> bool:
    return run.search.done and all(name in run.folder.compared() for name in COMPARED_WITH)


def _finish(run: EvolutionRun, planned: list[tuple[Topic, Start]], workers: int | None) -> None:
    """Run the search to its end, and evaluate the strategies that the best is compared with."""
    n_workers = min(workers or processors(), run.settings.method.population)
    with WorkerPool(partial(Evaluator, run.settings, planned), n_workers) as pool:
        run.finish(pool)
        evaluated = pool.in_order([_rules_of(name) for name in COMPARED_WITH])
        run.folder.write_compared(
            {name: evaluation.fitness for name, evaluation in zip(COMPARED_WITH, evaluated, strict=True)}
        )


def _evolution(run: EvolutionRun, topics: Path) -> Evolution:
    compared = run.folder.compared()
    return Evolution(
        folder=run.folder.path,
        result=run.folder.result,
        topics=topics,
        settings=run.settings,
        pages_wanted=run.settings.experiment.page_budget,
        summary=run.search.summary(),
        best=Compared("evolved", run.best_rules(), run.best.fitness),
        others=tuple(Compared(name, _rules_of(name), compared[name]) for name in COMPARED_WITH),
        n_distinct=run.n_distinct,
        n_evaluated=run.n_evaluated_in_all,
        n_visits=run.n_visits_in_all,
        n_visits_now=run.n_visits,
    )


def _rules_of(strategy: str) -> RankRules:
    made = STRATEGIES.make(strategy)
    assert isinstance(made, RankFunction)
    return made.rules
