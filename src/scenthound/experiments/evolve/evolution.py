"""Evolve rank rules: choose topics, draw starts, run the search, and compare the best individual with known strategies.

Rules
- Individuals are evaluated in worker processes, logged, and passed to the search in the order in which it requested
  them, so that the number of workers changes nothing.
- What an earlier run logged is not evaluated again; neither are genes that occur again, unless `reevaluate` is set.
- The log must have exactly the evaluations that the search requests, in their order, or it is rejected before anything
  is written.
- Earlier winners can take part in the first population, as many as it has room for. The topics they were searched for,
  and those of their own winners, are then not unseen. A winner with one rule has the same weights in every rule of a
  search that splits them.
- The best individuals of a search are those with the highest fitness that have different weights; among equals the
  earlier ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from math import isclose
from pathlib import Path

from scenthound.errors import InvalidInput, InvalidTopic, printable
from scenthound.experiments.evolve.evaluation import Evaluation, Evaluator, Individual
from scenthound.experiments.evolve.folder import RESULT_FILE, TOPICS_FILE, Logged, SearchFolder, check_new
from scenthound.experiments.evolve.settings import STRATEGY, EvolutionSettings, SearchSettings, parse_fitness
from scenthound.experiments.pipeline import Planned, plan
from scenthound.experiments.search.base import Genes, Scored, Summary, best_first
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import check_seeds
from scenthound.model import Progress, silent
from scenthound.processes import Pool, WorkerFiles, WorkersLike, open_pool
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.evolved import choice_of
from scenthound.strategies.rank_file import (
    STUDY_RELEVANCE,
    Generation,
    RankFile,
    rank_file_text,
    read_rank_file,
    topic_ids,
)
from scenthound.strategies.rank_function import RankByRules
from scenthound.strategies.rank_rules import RankRules

#: The strategies that the result is compared with.
COMPARED_WITH = (f"{STRATEGY}:preset=best_first", f"{STRATEGY}:preset=johnson2003")
#: Fractional genes come from linear algebra, whose last digits may differ between machines.
SAME_GENES = 1e-6


@dataclass(frozen=True, slots=True)
class EvolutionStatus:
    """The progress of a search."""

    summary: Summary
    n_done: int  #: of the current round, known ones included
    n_requested: int  #: in the current round
    n_visits: int  #: of this run

    @property
    def n_evaluated(self) -> int:
        """Individuals whose fitness is known."""
        return self.summary.n_evaluated + self.n_done

    @property
    def share(self) -> float:
        return self.n_evaluated / self.summary.most_evaluations


Watch = Callable[[EvolutionStatus], None]


def unwatched(_status: EvolutionStatus) -> None:
    """Ignore the progress of a search."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A rank function and its fitness on the crawls of a search."""

    name: str
    rules: RankRules
    fitness: float


@dataclass(frozen=True, slots=True)
class Ranked(Compared):
    """One of the best individuals of a search, and the file of its rules."""

    file: Path


@dataclass(frozen=True, slots=True)
class Evolution:
    """A finished search."""

    folder: Path
    result: Path
    topics: Path  #: the topic file
    settings: EvolutionSettings
    pages_wanted: int  #: the requested page budget; crawls visit at most the pages of the web
    summary: Summary
    best: Compared
    others: tuple[Compared, ...]
    individuals: tuple["Ranked", ...]  #: as many of the best as were wanted
    n_distinct: int  #: distinct individuals
    n_evaluated: int  #: individuals that crawls were made for
    n_visits: int
    n_visits_now: int  #: of this run, without earlier ones
    skipped_topics: Mapping[str, str] = field(default_factory=dict)  #: the reason, by topic
    notes: tuple[str, ...] = ()  #: on earlier winners


def evolve(
    setup: ExperimentSetup,
    search: SearchSettings,
    out: Path,
    *,
    seed_with: Sequence[Path] = (),
    n_best: int = 1,
    workers: WorkersLike = None,
    force: bool = False,
    watch: Watch = unwatched,
    progress: Progress = silent,
) -> Evolution:
    """Search for the rank rules that crawl best for the chosen topics, and write them to the folder `out`.

    The strategies of the setup are not used: every individual is a rank function. If `setup.web` is a crawl, its pages
    are recorded first. `seed_with` are rank files whose rules take part from the beginning. `n_best` individuals are
    written.
    """
    check_new(out, force)
    choice_of(out / RESULT_FILE)
    recorded = open_web(setup.web, progress)
    setup = replace(setup, strategies=(STRATEGY,), relevance=setup.relevance or STUDY_RELEVANCE)
    chosen = setup.choose_topics(recorded)
    experiment = setup.experiment(recorded, chosen)
    settings, notes = _with_winners(EvolutionSettings(experiment=experiment, **asdict(search)), seed_with)
    settings.new_search()  # Raises before any work is done if a library is missing.
    planned = _planned(settings, recorded, can_skip=setup.can_skip(chosen))
    with SearchFolder.new(out, settings, recorded, force) as folder:
        run = _EvolutionRun(settings, recorded.fingerprint, folder, watch)
        run.finish(planned, workers)
        done = run.evolution(setup.topics.file, n_best)
    return replace(done, pages_wanted=setup.page_budget, skipped_topics=chosen.skipped, notes=notes)


def resume_search(
    folder: Path, *, web: Path | None = None, n_best: int = 1, workers: WorkersLike = None, watch: Watch = unwatched
) -> Evolution:
    """Continue the search in a folder; the result is that of an uninterrupted search.

    For a finished search this only writes the `n_best` individuals and returns the result.
    """
    choice_of(folder / RESULT_FILE)
    with SearchFolder.open(folder) as held:
        settings, recorded = held.settings(web)
        run = _EvolutionRun(settings, recorded.fingerprint, held, watch)
        run.catch_up()
        if not run.is_finished:
            run.finish(_planned(settings, recorded), workers)
        return run.evolution(folder / TOPICS_FILE, n_best)


def _with_winners(settings: EvolutionSettings, files: Sequence[Path]) -> tuple[EvolutionSettings, tuple[str, ...]]:
    """The settings with the winners in rank files, and notes on them. All files are checked, even those that there is
    no room for."""
    read = {file: read_rank_file(file) for file in files}
    weights = [settings.weights_of(read[file].rules, printable(file)) for file in files]
    room, n_rules = max(0, settings.method.population - len(settings.winners)), settings.rule_split.n_rules
    taking_part = files[:room]
    topics = [
        topic
        for file in taking_part
        for key in ("topics", "seeded_topics")
        for topic in topic_ids(read[file].training, key, file)
    ]
    notes = []
    if len(files) > room:
        notes.append(
            f"Only the first {room:,} of {len(files):,} earlier winners take part: the population is no larger. Give a "
            "larger one with --search NAME:population=N."
        )
    notes += [
        f"{printable(file)} has one rule, so all {n_rules} rules of the search get its weights."
        for file in taking_part
        if len(read[file].rules.weights) < n_rules
    ]
    winners = (*settings.winners, *weights[:room])
    seeded_topics = tuple(dict.fromkeys((*settings.seeded_topics, *topics)))
    return replace(settings, winners=winners, seeded_topics=seeded_topics), tuple(notes)


def _planned(settings: EvolutionSettings, web: RecordedWeb, *, can_skip: bool = False) -> list[Planned]:
    planned = plan(settings.experiment, web, can_skip=can_skip)
    for topic, start in planned:
        check_seeds(start, settings.experiment.page_budget, "--start")
        if not start.targets and "target_recall" in parse_fitness(settings.fitness).weights:
            raise InvalidTopic(
                f"Topic {topic.id!r} has no target left, so target_recall is undefined: give it more examples, or use "
                "fewer start pages."
            )
    return planned


class _EvolutionRun:
    """One run of a search, from the beginning or from where an earlier run stopped."""

    def __init__(self, settings: EvolutionSettings, web_fingerprint: str, folder: SearchFolder, watch: Watch) -> None:
        self._settings = settings
        self._web_fingerprint = web_fingerprint
        self._folder = folder
        self._watch = watch
        self._search = settings.new_search()
        self._logged = folder.logged()
        self._n_replayed = 0  #: of those logged
        self._known: dict[Genes, Evaluation] = {}
        self._in_round: dict[int, Evaluation] = {}  #: by index, what was evaluated in the current round
        self._n_evaluated = 0  #: in this run; so are the visits
        self._n_visits = 0

    @property
    def is_finished(self) -> bool:
        return self._search.done and self._folder.compared().keys() >= set(COMPARED_WITH)

    def catch_up(self) -> None:
        """Replay the complete rounds of earlier runs, and write the best rules so far."""
        while not self._search.done:
            requested = self._search.ask()
            self._replay(requested)
            if self._unknown(requested):
                break
            self._tell(requested)
        if self._n_replayed < len(self._logged):
            raise self._mismatch()
        if self._search.best is not None:
            self._write(self._best)

    def finish(self, planned: Sequence[Planned], workers: WorkersLike) -> None:
        """Run the search to its end, and evaluate the strategies that the best is compared with."""
        make, files = partial(Evaluator, self._settings, planned), WorkerFiles(self._settings.experiment.files())
        with open_pool(make, workers, at_most=self._settings.method.population, files=files) as pool:
            while not self._search.done:
                requested = self._search.ask()
                self._evaluate(requested, pool)
                self._tell(requested)
                self._write(self._best)
                self._report(0, 0)
            evaluated = pool.in_order([Individual(_rules_of(name), self._stream(name)) for name in COMPARED_WITH])
            self._folder.write_compared(
                {name: each.fitness for name, each in zip(COMPARED_WITH, evaluated, strict=True)}
            )

    def evolution(self, topics: Path, n_best: int) -> Evolution:
        """The result of a finished search; writes its best individuals."""
        compared = self._folder.compared()
        individuals = self._best_individuals(n_best)
        for rank, each in enumerate(individuals[1:], 2):
            self._write(each, rank)
        return Evolution(
            folder=self._folder.path,
            result=self._folder.result,
            topics=topics,
            settings=self._settings,
            pages_wanted=self._settings.experiment.page_budget,
            summary=self._search.summary(),
            best=self._best,
            others=tuple(Compared(name, _rules_of(name), compared[name]) for name in COMPARED_WITH),
            individuals=individuals,
            n_distinct=len(self._known),
            n_evaluated=len(self._logged) + self._n_evaluated,
            n_visits=sum(each.evaluation.visits for each in self._logged) + self._n_visits,
            n_visits_now=self._n_visits,
        )

    def _unknown(self, requested: Sequence[Genes]) -> list[int]:
        """The indices of this round that must be evaluated: the first of equal genes, or all of them."""
        if self._settings.reevaluate:
            return list(range(len(self._in_round), len(requested)))
        return [
            index
            for index, genes in enumerate(requested)
            if genes not in self._known and genes not in requested[:index]
        ]

    def _replay(self, requested: Sequence[Genes]) -> None:
        """Use what an earlier run logged for this round."""
        logged = self._logged[self._n_replayed :]
        for index, line in zip(self._unknown(requested), logged, strict=False):
            crawls = [self._settings.n_crawls] * len(self._settings.experiment.topics)
            if (
                (line.round, line.index) != (len(self._search.history), index)
                or len(line.genes) != len(requested[index])
                or not all(map(partial(isclose, abs_tol=SAME_GENES), line.genes, requested[index]))
                or list(map(len, line.evaluation.crawls)) != crawls
            ):
                raise self._mismatch()
            self._known[requested[index]] = self._in_round[index] = line.evaluation
            self._n_replayed += 1

    def _mismatch(self) -> InvalidInput:
        """The error for the first logged line that does not match the search."""
        reason = "the search took another course there than here, perhaps with another version of a library"
        return self._folder.invalid_line(self._n_replayed + 1, reason)

    def _evaluate(self, requested: Sequence[Genes], pool: Pool[Individual, Evaluation]) -> None:
        """Evaluate in worker processes what is not known."""
        unknown = self._unknown(requested)
        n_known = len(requested) - len(unknown)
        self._report(n_known, len(requested))
        round_ = len(self._search.history)
        evaluated = pool.in_order(
            Individual(self._individual(requested[index]), self._stream(f"{round_}.{index}")) for index in unknown
        )
        for n_new, (index, evaluation) in enumerate(zip(unknown, evaluated, strict=True), 1):
            self._folder.append(Logged(len(self._search.history), index, requested[index], evaluation))
            self._known[requested[index]] = self._in_round[index] = evaluation
            self._n_evaluated += 1
            self._n_visits += evaluation.visits
            if n_new < len(unknown):  # the last one is reported when the search has received it
                self._report(n_known + n_new, len(requested))

    def _tell(self, requested: Sequence[Genes]) -> None:
        evaluations = [self._in_round.get(index, self._known[genes]) for index, genes in enumerate(requested)]
        self._search.tell([evaluation.fitness for evaluation in evaluations])
        self._in_round.clear()

    def _stream(self, individual: str) -> str:
        """What is added to the random seeds of the crawls of an individual."""
        search = f"/search {self._settings.seed}"
        return {"common": "", "search": search, "individual": f"{search}/{individual}"}[self._settings.random_streams]

    def _individual(self, genes: Genes) -> RankRules:
        return self._settings.rules_of(self._search.weights_of(genes))

    def _report(self, n_done: int, n_requested: int) -> None:
        self._watch(EvolutionStatus(self._search.summary(), n_done, n_requested, self._n_visits))

    @property
    def _best(self) -> Compared:
        assert self._search.best is not None, "a search always requests individuals first"
        return self._compared(self._search.best)

    def _compared(self, scored: Scored) -> Compared:
        return Compared("evolved", self._individual(scored.genes), scored.fitness)

    def _best_individuals(self, n_wanted: int) -> tuple[Ranked, ...]:
        """The best individuals with different weights, the best of the search first."""
        known = best_first(Scored(genes, evaluation.fitness) for genes, evaluation in self._known.items())
        found: dict[RankRules, Ranked] = {}
        for each in (self._best, *map(self._compared, known)):
            if each.rules not in found:
                file = self._folder.file_of(len(found) + 1)
                found[each.rules] = Ranked(each.name, each.rules, each.fitness, file)
            if len(found) == n_wanted:
                break
        return tuple(found.values())

    def _write(self, individual: Compared, rank: int = 1) -> None:
        """Write one of the best individuals, and how it was found."""
        history = self._search.history
        file = RankFile(
            rules=individual.rules,
            relevance_model=self._settings.experiment.relevance_model_of(STRATEGY),
            threshold=self._settings.threshold,
            score_range=self._settings.score_range,
            renew=self._settings.renew,
            training=self._training(individual.fitness, rank),
            history=tuple(Generation(each.generation, each.best, each.mean, each.n_evaluated) for each in history),
        )
        self._folder.write_rules(rank, rank_file_text(file))

    def _training(self, fitness: float, rank: int) -> dict[str, object]:
        """The training record: plain values, independent of this run and this machine."""
        settings, experiment = self._settings, self._settings.experiment
        return {
            "fitness": settings.fitness,
            "best_fitness": fitness,
            "individual": rank,
            "search": settings.search,
            "seed": settings.seed,
            "random_streams": settings.random_streams,
            "evaluations": self._search.n_evaluated,
            "is_complete": self._search.done,
            "topics": [topic.id for topic in experiment.topics],
            "web_fingerprint": self._web_fingerprint,
            "crawls": settings.n_crawls,
            "pages": experiment.page_budget,
            "mode": experiment.mode,
            "same_start": settings.same_start,
            "task": experiment.task.value,
            "start_pages": experiment.n_start,
            "train": experiment.n_train,
            "training_pages": experiment.training_pages,
            "as_published": experiment.as_published,
            "closed_world": experiment.closed_world,
            "respect_nofollow": experiment.respect_nofollow,
            "scores": list(settings.scores),
            "split": settings.split,
            "seeded_with": len(settings.winners),
            "seeded_topics": list(settings.seeded_topics),
            "scenthound": version("scenthound"),
        }


def _rules_of(strategy: str) -> RankRules:
    made = STRATEGIES.make(strategy)
    assert isinstance(made, RankByRules)
    return made.rules
