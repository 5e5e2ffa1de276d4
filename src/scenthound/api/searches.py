"""Evolved and fitted strategies and thresholds from Python: search for rank rules, validate them, fit the weights of
`scent`, suggest a threshold."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack

from scenthound.api.arguments import (
    FolderLike,
    PathLike,
    TopicsLike,
    chosen,
    folder_of,
    listed,
    path,
    path_or_none,
    public,
    topics_file,
    web_folder,
    workers_on,
)
from scenthound.api.laboratory import ExperimentOptions, experiment_setup
from scenthound.api.progress import ProgressLike, show_progress
from scenthound.api.results import Panel, Result, Table
from scenthound.errors import InvalidInput, InvalidParameter, UsageError, printable
from scenthound.model import Topic

if TYPE_CHECKING:
    from scenthound.experiments.evolve.evolution import Compared, EvolutionStatus
    from scenthound.experiments.evolve.evolution import Evolution as FinishedSearch
    from scenthound.experiments.scent_fit import FitSettings
    from scenthound.experiments.scent_fit import ScentFit as FinishedFit
    from scenthound.experiments.threshold.suggestion import ScoredBy, Suggestion
    from scenthound.experiments.validate.validation import ValidatedFinding
    from scenthound.experiments.validate.validation import Validation as FinishedValidation
    from scenthound.model import Progress


class Evolution(Result):
    """A finished search. `strategy` is the name under which its best rules crawl."""

    def __init__(self, finished: FinishedSearch, seconds: float, visits_per_s: float | None) -> None:
        self.folder = finished.folder
        self.finished = finished
        #: The duration of this run of the search.
        self.seconds = seconds
        #: Its speed from the first finished crawl on; None if it is unknown.
        self.visits_per_s = visits_per_s

    @property
    def strategy(self) -> str:
        """The name under which the best rules crawl."""
        return f"evolved:file={self.finished.result}"

    @property
    def fitness(self) -> float:
        """The fitness of the best individual."""
        return self.finished.best.fitness

    @property
    def candidates(self) -> Table[Compared]:
        """The best rules of the search, and others to compare them with."""
        columns: dict[str, Callable[[Compared], Any]] = {
            "name": lambda each: each.name,
            "fitness": lambda each: each.fitness,
            "rules": lambda each: str(each.rules),
        }
        rows = (self.finished.best, *self.finished.others)
        return Table(rows, columns, "fitness of the best rules, and of others on the same crawls")

    def _headline(self) -> str:
        from scenthound.ui.formats import counted

        evaluated = counted(self.finished.n_evaluated, "candidate")
        return f"Search in {self.folder}: {evaluated} evaluated. Best: {self.strategy}"

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.candidates]


@public
def evolve(
    web: Any,
    topics: TopicsLike,
    out: PathLike,
    *,
    pages: int = 10_000,
    mode: str = "roulette",
    search: str = "johnson2003",
    fitness: str = "harvest",
    scores: str = "nine",
    split: str = "nothing",
    crawls: int = 3,
    same_start: bool = True,
    threshold: float = 0.5,
    seed_with: PathLike | Sequence[PathLike] = (),
    reevaluate: bool = False,
    random_streams: str = "common",
    renew: str = "links",
    best: int = 1,
    random_seed: int = 0,
    force: bool = False,
    progress: ProgressLike = None,
    **options: Unpack[ExperimentOptions],
) -> Evolution:
    """Search for the weights of a rank function that crawl best for the topics, by a genetic algorithm.

    The search is written to the folder `out`, with the best rules in evolved.toml and, if `best` is more than 1, the
    next ones in evolved-2.toml and so on; `resume_search` continues it if it is interrupted. `scenthound evolve --help`
    describes all other arguments under the same names.
    """
    from scenthound.experiments.evolve.evolution import evolve as search_rules
    from scenthound.experiments.evolve.settings import SearchSettings, parse_scores

    choices: dict[str, Any] = {"random_streams": random_streams, "renew": renew}
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
        **choices,
    )
    with (
        experiment_setup(web, topics, (), options, page_budget=pages, mode=mode) as setup,
        workers_on(options.get("cluster"), options.get("workers")) as workers,
        show_progress("evolving", progress) as report,
    ):
        watch = SearchProgress(report)
        done = search_rules(
            setup,
            settings,
            path(out),
            seed_with=[path(each) for each in listed(seed_with)],
            n_best=best,
            workers=workers,
            force=force,
            watch=watch,
            progress=report,
        )
    return Evolution(done, watch.seconds, watch.visits_per_s)


@public
def resume_search(
    folder: FolderLike,
    *,
    web: Any = None,
    best: int = 1,
    workers: int | None = None,
    cluster: str | None = None,
    progress: ProgressLike = None,
) -> Evolution:
    """Continue the search in a folder; its result is that of an uninterrupted search. `web` is where its recorded web
    is now, if that was moved; the `best` individuals are written. For a finished search nothing else is done."""
    from scenthound.experiments.evolve.evolution import resume_search as resume_rules

    with workers_on(cluster, workers) as chosen_workers, show_progress("evolving", progress) as report:
        watch = SearchProgress(report)
        moved_to = None if web is None else folder_of(web)
        done = resume_rules(folder_of(folder), web=moved_to, n_best=best, workers=chosen_workers, watch=watch)
    return Evolution(done, watch.seconds, watch.visits_per_s)


class SearchProgress:
    """Reports the status of a search. Speed is measured from the first finished evaluation on: reading, training and,
    in a new installation, compiling come before and may take longer than the search itself."""

    def __init__(self, report: Progress, now: Callable[[], float] = monotonic) -> None:
        self._report = report
        self._now = now
        self._began_s = now()
        #: The time and the number of visits at the first and the last status with visits.
        self._measured: list[tuple[float, int]] = []

    @property
    def seconds(self) -> float:
        return self._now() - self._began_s

    @property
    def visits_per_s(self) -> float | None:
        """None while it is unknown."""
        if len(self._measured) < 2 or self._measured[1][0] <= self._measured[0][0]:
            return None
        (first_s, n_first), (last_s, n_last) = self._measured
        return (n_last - n_first) / (last_s - first_s)

    def __call__(self, status: EvolutionStatus) -> None:
        if status.n_visits:
            self._measured = [*self._measured[:1], (self._now(), status.n_visits)]
        summary = status.summary
        parts = [f"generation {summary.generation} of {summary.n_generations}"]
        if not math.isnan(summary.best):
            parts.append(f"best {summary.best:.4f}, mean {summary.mean:.4f}")
        if not status.n_visits:
            parts.append("waiting for the first crawls")
        if self.visits_per_s is not None:
            parts.append(f"{self.visits_per_s:,.0f} visits/s")
        self._report(status.share, ", ".join(parts))


class Validation(Result):
    """Evolved strategies compared with a known one: the findings of johnson2003, and whether they hold."""

    def __init__(self, folder: Path, finished: FinishedValidation) -> None:
        self.folder = folder
        self.finished = finished

    @property
    def findings(self) -> Table[ValidatedFinding]:
        """The findings of johnson2003, each with its verdict on this web."""
        columns = ["name", "says", "strategy", "topics", "verdict"]
        title = f"findings of johnson2003, against {self.finished.settings.against}"
        return Table(self.finished.findings, columns, title)

    def _headline(self) -> str:
        return "\n".join([*self.finished.notes, f"Validation in {self.folder}"])

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.findings]


@public
def validate(
    web: Any,
    topics: TopicsLike,
    strategies: Any,
    out: PathLike,
    *,
    topic: str | Sequence[str] | None = None,
    unseen: str | Sequence[str] = (),
    unseen_max: int | None = None,
    against: Any = "rank_function:preset=best_first",
    pages: int | Sequence[int] = (10_000, 20_000, 30_000),
    large: int = 250,
    small: int = 50,
    repeats: int = 15,
    mode: str = "roulette",
    relevance: Any = "svm",
    training_pages: str = "wang2009",
    threshold: float = 0.5,
    closed_world: bool = False,
    follow_nofollow: bool = False,
    plain: bool = False,
    workers: int | None = None,
    cluster: str | None = None,
    force: bool = False,
    progress: ProgressLike = None,
) -> Validation:
    """Compare evolved strategies with Best-First as in johnson2003, and check which of its findings hold.

    `topic` are ids of topics that the strategies were evolved on, by default those that their files name; `unseen` are
    topics that no search saw, and `unseen_max` draws more of them. `pages` are page budgets; `large` and `small` are
    the sizes of the two seed sets. Pages with a relevance of at least `threshold` are relevant.
    """
    from scenthound.experiments.validate.results import validate_into
    from scenthound.experiments.validate.settings import ValidationProtocol
    from scenthound.strategies.base import STRATEGIES
    from scenthound.ui.reports.validation_charts import RENDERER

    options: ExperimentOptions = {
        "topic": topic,
        "relevance": relevance,
        "training_pages": training_pages,
        "closed_world": closed_world,
        "follow_nofollow": follow_nofollow,
        "plain": plain,
    }
    STRATEGIES.resolve_all([against, *listed(strategies)])
    protocol = ValidationProtocol(
        against=chosen(STRATEGIES, against),
        budgets=tuple(sorted(set(listed(pages)))),
        n_large=large,
        n_small=small,
        threshold=threshold,
        unseen_topics=tuple(listed(unseen)),
        unseen_max=unseen_max,
    )
    with (
        experiment_setup(web, topics, strategies, options, repeats=repeats, mode=mode) as setup,
        workers_on(cluster, workers) as chosen_workers,
        show_progress("validating", progress) as report,
    ):
        done = validate_into(
            path(out), setup, protocol, render=RENDERER, force=force, workers=chosen_workers, progress=report
        )
    return Validation(path(out), done)


@dataclass(frozen=True, slots=True)
class FeatureWeight:
    """The weight of a feature with its 95 % interval over topics, and the limits that the feature is clipped to."""

    feature: str
    weight: float
    interval_low: float | None
    interval_high: float | None
    low: float
    high: float
    description: str


class ScentFit(Result):
    """Fitted weights of the strategy `scent` in a file. `strategy` is the name under which they crawl."""

    def __init__(self, file: Path, finished: FinishedFit) -> None:
        self.file = file
        self.finished = finished

    @property
    def strategy(self) -> str:
        """The name under which the weights crawl."""
        from scenthound.strategies.evolved import choice_of

        return choice_of(self.file, "scent")

    @property
    def features(self) -> Table[FeatureWeight]:
        """The features of a link, each with its weight."""
        from scenthound.strategies.link_evidence import FEATURES

        rows = []
        for name, each in self.finished.file.features.items():
            first, last = each.interval or (None, None)
            rows.append(FeatureWeight(name, each.weight, first, last, each.low, each.high, FEATURES[name]))
        title = "weights of features, with 95 % intervals over topics, and limits of the features"
        printed = ["feature", "weight", "interval_low", "interval_high", "low", "high"]
        return Table.of(FeatureWeight, rows, title, printed=printed)

    def _headline(self) -> str:
        from scenthound.ui.formats import counted

        done = self.finished
        fitted_on = (
            f"{counted(done.n_topics, 'topic')}, {counted(done.n_snapshots, 'snapshot')}, {counted(done.n_urls, 'URL')}"
        )
        return f"Weights in {self.file}, fitted on {fitted_on}. Strategy: {self.strategy}"

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.features]


@public
def fit_scent(
    web: Any,
    topics: Any,
    out: PathLike,
    *,
    pages: int = 1000,
    rounds: int = 2,
    topics_max: int | None = None,
    relevance: Any = "rocchio",
    random_seed: int = 0,
    workers: int | None = None,
    force: bool = False,
    progress: ProgressLike = None,
) -> ScentFit:
    """Fit the weights of the strategy `scent` on recorded webs with known topics, and write them to the file `out`.

    `web` and `topics` are a web and its topic file, or lists of them in the same order. Crawls of `pages` pages for at
    most `topics_max` topics of each web, drawn at random, take snapshots of their queues; the weights are fitted to
    find the pages of the topics in these. Each of the `rounds` crawls with the weights of the round before.
    """
    from scenthound.experiments.scent_fit import FitSettings, LabelledWeb
    from scenthound.experiments.scent_fit import fit_scent as fit
    from scenthound.files import write_atomic
    from scenthound.processes import processors
    from scenthound.relevance.base import RELEVANCE
    from scenthound.ui.formats import counted

    file = path(out)
    settings = FitSettings(pages, rounds, topics_max, chosen(RELEVANCE, relevance), random_seed)
    _check_fit(settings)
    _check_weights_file(file, force=force)
    webs = listed(web)
    of_webs = [topics] if any(isinstance(each, Topic) for each in listed(topics)) else listed(topics)
    if not webs or len(webs) != len(of_webs):
        raise UsageError(
            f"{counted(len(webs), 'web')} and {counted(len(of_webs), 'topic file')}: give one --topics for each --web, "
            "in the same order."
        )
    with ExitStack() as stack:
        files = [stack.enter_context(topics_file(each)) for each in of_webs]
        report = stack.enter_context(show_progress("fitting", progress))
        labelled = [LabelledWeb(_recorded(each, report), of) for each, of in zip(webs, files, strict=True)]
        done = fit(labelled, settings, workers or processors(), report)
    write_atomic(file, done.file.text().encode())
    return ScentFit(file, done)


def _recorded(web: Any, report: Progress) -> Path:
    """The folder of a recorded web, or of that of a crawl."""
    from scenthound.store.record import open_web

    folder = open_web(web_folder(web), report).path
    assert folder is not None
    return folder


def _check_fit(settings: FitSettings) -> None:
    """InvalidParameter for settings that no weights can be fitted with."""
    from scenthound.experiments.scent_fit import SNAPSHOT_SIZES
    from scenthound.relevance.base import RELEVANCE, trains

    for name, least in {"pages": min(SNAPSHOT_SIZES), "rounds": 1, "topics_max": 1, "random_seed": 0}.items():
        value = getattr(settings, name)
        if value is not None and value < least:
            raise InvalidParameter(f"{name} is {value}; it must be at least {least}.")
    if trains(RELEVANCE.make(settings.relevance)):
        raise InvalidParameter(
            f"The relevance model {settings.relevance} needs training pages, which crawls for a fit do not have: use "
            "another --relevance, for example rocchio."
        )


def _check_weights_file(file: Path, *, force: bool) -> None:
    """UsageError if weights cannot be written to a file, or not be used from there."""
    from scenthound.store.folder import check_replaceable
    from scenthound.strategies.evolved import choice_of

    choice_of(file, "scent")
    check_replaceable(file, None, force=force)
    if not file.parent.is_dir():
        raise InvalidInput(
            f"Cannot write {printable(file)}: there is no folder {printable(file.parent)}. Create it, or choose "
            "another file with --out."
        )
    if not os.access(file.parent, os.W_OK):
        raise InvalidInput(f"Cannot write {printable(file)}: permission denied. Choose another file with --out.")


@dataclass(frozen=True, slots=True)
class ThresholdScores:
    """What a threshold accepts, with 95 % intervals of its rates."""

    threshold: float
    is_suggested: bool
    n_accepted: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float
    f1: float


class Threshold(Result):
    """A suggested relevance threshold: `value`, and `thresholds` with the rates of all that were considered."""

    def __init__(self, suggestion: Suggestion) -> None:
        self.suggestion = suggestion

    @property
    def value(self) -> float:
        """The suggested threshold."""
        return self.suggestion.choice.row.threshold

    @property
    def thresholds(self) -> Table[ThresholdScores]:
        """All thresholds that were tried, with precision, recall and F1."""
        chosen_row = self.suggestion.choice.row
        rows = [
            ThresholdScores(
                row.threshold,
                row is chosen_row,
                row.n_accepted,
                *(row.precision.value, row.precision.low, row.precision.high),
                *(row.recall.value, row.recall.low, row.recall.high),
                row.f1.value,
            )
            for row in self.suggestion.choice.rows
        ]
        return Table.of(ThresholdScores, rows, "thresholds")

    @public
    def draw(self, file: PathLike) -> None:
        """Draw the curves to a file: .svg, .png or .pdf."""
        from scenthound.ui.figures import check_figure_file, draw_threshold

        check_figure_file(path(file))
        try:
            draw_threshold(self.suggestion, path(file))
        except OSError as reason:
            raise InvalidInput(
                f"Cannot write {printable(file)}: {reason.strerror}. Choose another file with --out."
            ) from None

    def _headline(self) -> str:
        return f"Threshold: {self.value}, {self.suggestion.choice.goal}."

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.thresholds]

    def _panels(self) -> list[Panel]:
        rows = self.suggestion.choice.rows
        x = [row.threshold for row in rows]
        lines = {name: (x, [getattr(row, name).value for row in rows]) for name in ("precision", "recall", "f1")}
        return [Panel("rates by threshold", "threshold", lines)]


@public
def threshold(
    labels: PathLike,
    *,
    web: Any = None,
    topics: TopicsLike | None = None,
    topic: str | None = None,
    relevance: Any = None,
    train_from: PathLike | None = None,
    cross_validate: bool = False,
    precision: float | None = None,
    recall: float | None = None,
    progress: ProgressLike = None,
) -> Threshold:
    """Suggest a relevance threshold from 20 to 50 labelled pages: the one with the best F1, or the best for a minimum
    `precision` or `recall`.

    `labels` is a CSV or JSON Lines file of url,label or score,label; labels are yes or no. Pages are scored by the
    model `relevance` ("cosine") for a topic of the file `topics`. The model is trained on the folder `train_from`, by
    cross-validation on the labelled pages, or on examples of the topic that are not labelled.
    """
    from scenthound.experiments.threshold.curve import Goal
    from scenthound.experiments.threshold.suggestion import suggest_threshold

    if topics is None and (topic or relevance or train_from or cross_validate):
        raise UsageError("--topic, --relevance, --train-from and --cross-validate need --topics.")
    with ExitStack() as stack:
        scored_by = None
        if topics is not None:
            file = stack.enter_context(topics_file(topics))
            scored_by = _scored_by(file, topic, relevance, train_from, cross_validate)
        report = stack.enter_context(show_progress("scoring", progress))
        folder = None if web is None else web_folder(web)
        goal = Goal(precision, recall)
        return Threshold(suggest_threshold(path(labels), goal=goal, web=folder, scored_by=scored_by, progress=report))


@public
def pages_to_label(
    labels: PathLike,
    n: int,
    *,
    web: Any,
    topics: TopicsLike,
    topic: str | None = None,
    relevance: Any = None,
    train_from: PathLike | None = None,
    random_seed: int = 0,
    force: bool = False,
    progress: ProgressLike = None,
) -> int:
    """Write `n` pages to the file `labels`, spread over the scores, for a person to label; return how many there are.

    `threshold` reads the file when the column `label` has been filled in with yes or no.
    """
    from scenthound.experiments.threshold.suggestion import draw_pages_to_label

    with topics_file(topics) as file, show_progress("scoring", progress) as report:
        scored_by = _scored_by(file, topic, relevance, train_from)
        return draw_pages_to_label(
            path(labels), n, web=web_folder(web), scored_by=scored_by, seed=random_seed, force=force, progress=report
        )


def _scored_by(
    topics: Path, topic: str | None, relevance: Any, train_from: PathLike | None, cross_validate: bool = False
) -> ScoredBy:
    from scenthound.experiments.threshold.suggestion import ScoredBy
    from scenthound.relevance.base import RELEVANCE

    model = chosen(RELEVANCE, "cosine" if relevance is None else relevance)
    return ScoredBy(topics, topic, model, path_or_none(train_from), cross_validate)
