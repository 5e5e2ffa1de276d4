"""Evolved and fitted strategies and thresholds from Python: search for rank rules, validate them, fit the weights of
`scent`, suggest a threshold."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from scenthound.api.arguments import (
    called_with,
    chosen,
    folder_of,
    path_or_none,
    public,
    topics_file,
    web_folder,
    workers_on,
)
from scenthound.api.progress import show_progress
from scenthound.api.results import Result, Table
from scenthound.errors import InvalidInput, InvalidParameter, UsageError, printable
from scenthound.experiments.options import (
    EvolveOptions,
    FitScentOptions,
    LabelOptions,
    ResumeSearchOptions,
    Scoring,
    ThresholdOptions,
    ValidateOptions,
)
from scenthound.files import write_atomic
from scenthound.model import Topic
from scenthound.options import PathLike, listed, stored_values
from scenthound.processes import processors
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.folder import check_replaceable
from scenthound.store.record import open_web
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.evolved import choice_of
from scenthound.ui.formats import counted

if TYPE_CHECKING:
    from scenthound.experiments.evolve.evolution import Compared, EvolutionStatus
    from scenthound.experiments.evolve.evolution import Evolution as FinishedSearch
    from scenthound.experiments.scent_fit import FitSettings
    from scenthound.experiments.scent_fit import ScentFit as FinishedFit
    from scenthound.experiments.threshold.suggestion import ScoredBy, Suggestion
    from scenthound.experiments.validate.validation import ValidatedFinding
    from scenthound.experiments.validate.validation import Validation as FinishedValidation
    from scenthound.model import Progress
    from scenthound.ui.document import Chart


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
        evaluated = counted(self.finished.n_evaluated, "candidate")
        return f"Search in {self.folder}: {evaluated} evaluated. Best: {self.strategy}"

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.candidates]


@called_with(EvolveOptions)
def evolve(options: EvolveOptions) -> Evolution:
    """Search for the weights of a rank function that crawl best for the topics, by a genetic algorithm.

    The search is written to the folder `out`, with the best rules in evolved.toml and, if `best` is more than 1, the
    next ones in evolved-2.toml and so on; `resume_search` continues it if it is interrupted.
    """
    from scenthound.api.laboratory import experiment
    from scenthound.experiments.evolve.evolution import evolve as search_rules
    from scenthound.experiments.evolve.settings import SearchSettings, parse_scores

    given = {**vars(options), **stored_values(options), "scores": parse_scores(options.scores)}
    settings = SearchSettings(**{each.name: given[each.name] for each in fields(SearchSettings) if each.name in given})
    seeds, out = [Path(each) for each in listed(options.seed_with)], Path(options.out)
    with experiment(options, "evolving", random_seed=0) as (setup, how):
        how["watch"] = watch = SearchProgress(how["progress"])
        done = search_rules(setup, settings, out, seed_with=seeds, n_best=options.best, force=options.force, **how)
    return Evolution(done, watch.seconds, watch.visits_per_s)


@called_with(ResumeSearchOptions)
def resume_search(options: ResumeSearchOptions) -> Evolution:
    """Continue the search in a folder; its result is that of an uninterrupted search. `web` is where its recorded web
    is now, if that was moved; the `best` individuals are written. For a finished search nothing else is done."""
    from scenthound.experiments.evolve.evolution import resume_search as resume_rules

    folder, moved_to = folder_of(options.folder), None if options.web is None else folder_of(options.web)
    with (
        workers_on(options.cluster, options.workers) as workers,
        show_progress("evolving", options.progress) as report,
    ):
        watch = SearchProgress(report)
        done = resume_rules(folder, web=moved_to, n_best=options.best, workers=workers, watch=watch)
    return Evolution(done, watch.seconds, watch.visits_per_s)


class SearchProgress:
    """Reports the status of a search. Speed is measured from the first finished evaluation on: reading and training
    come before."""

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


@called_with(ValidateOptions)
def validate(options: ValidateOptions) -> Validation:
    """Compare evolved strategies with Best-First as in johnson2003, and check which of its findings hold.

    `topic` are ids of topics that the strategies were evolved on, by default those that their files name; `unseen` are
    topics that no search saw, and `unseen_max` draws more of them. `pages` are page budgets; `large` and `small` are
    the sizes of the two seed sets. Pages with a relevance of at least `threshold` are relevant.
    """
    from scenthound.api.laboratory import experiment
    from scenthound.experiments.validate.results import validate_into
    from scenthound.experiments.validate.settings import ValidationProtocol
    from scenthound.ui.reports.validation_charts import RENDERER

    STRATEGIES.resolve_all([options.against, *listed(options.strategies)])
    protocol = ValidationProtocol(
        against=chosen(STRATEGIES, options.against),
        budgets=tuple(sorted(set(listed(options.pages)))),
        n_large=options.large,
        n_small=options.small,
        threshold=options.threshold,
        unseen_topics=tuple(listed(options.unseen)),
        unseen_max=options.unseen_max,
    )
    out = Path(options.out)
    with experiment(options, "validating", options.strategies) as (setup, how):
        done = validate_into(out, setup, protocol, render=RENDERER, force=options.force, **how)
    return Validation(out, done)


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
        done = self.finished
        fitted_on = (
            f"{counted(done.n_topics, 'topic')}, {counted(done.n_snapshots, 'snapshot')}, {counted(done.n_urls, 'URL')}"
        )
        return f"Weights in {self.file}, fitted on {fitted_on}. Strategy: {self.strategy}"

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.features]


@called_with(FitScentOptions)
def fit_scent(options: FitScentOptions) -> ScentFit:
    """Fit the weights of the strategy `scent` on recorded webs with known topics, and write them to the file `out`.

    `web` and `topics` are a web and its topic file, or lists of them in the same order. Crawls of `pages` pages for at
    most `topics_max` topics of each web, drawn at random, take snapshots of their queues; the weights are fitted to
    find the pages of the topics in these. Each of the `rounds` crawls with the weights of the round before.
    """
    from scenthound.experiments.scent_fit import FitSettings, LabelledWeb
    from scenthound.experiments.scent_fit import fit_scent as fit

    file, relevance = Path(options.out), chosen(RELEVANCE, options.relevance)
    settings = FitSettings(options.topics_max, options.pages, options.rounds, relevance, options.random_seed)
    _check_fit(settings)
    _check_weights_file(file, force=options.force)
    webs, topics = listed(options.web), listed(options.topics)
    of_webs = [options.topics] if any(isinstance(each, Topic) for each in topics) else topics
    if not webs or len(webs) != len(of_webs):
        raise UsageError(
            f"{counted(len(webs), 'web')} and {counted(len(of_webs), 'topic file')}: give one --topics for each --web, "
            "in the same order."
        )
    with ExitStack() as stack:
        files = [stack.enter_context(topics_file(each)) for each in of_webs]
        report = stack.enter_context(show_progress("fitting", options.progress))
        labelled = [LabelledWeb(_recorded(each, report), of) for each, of in zip(webs, files, strict=True)]
        done = fit(labelled, settings, options.workers or processors(), report)
    write_atomic(file, done.file.text().encode())
    return ScentFit(file, done)


def _recorded(web: Any, report: Progress) -> Path:
    """The folder of a recorded web, or of that of a crawl."""
    folder = open_web(web_folder(web), report).path
    assert folder is not None
    return folder


def _check_fit(settings: FitSettings) -> None:
    """InvalidParameter for a relevance model that no weights can be fitted with."""
    if trains(RELEVANCE.make(settings.relevance)):
        raise InvalidParameter(
            f"The relevance model {settings.relevance} needs training pages, which crawls for a fit do not have: use "
            "another --relevance, for example rocchio."
        )


def _check_weights_file(file: Path, *, force: bool) -> None:
    """UsageError if weights cannot be written to a file, or not be used from there."""
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
        from scenthound.ui.figures import check_figure_file, draw, image_bytes, threshold_figure

        check_figure_file(Path(file))
        try:
            Path(file).write_bytes(image_bytes(draw(threshold_figure(self.suggestion)), Path(file).suffix[1:].lower()))
        except OSError as reason:
            raise InvalidInput(
                f"Cannot write {printable(file)}: {reason.strerror}. Choose another file with --out."
            ) from None

    def _headline(self) -> str:
        return f"Threshold: {self.value}, {self.suggestion.choice.goal}."

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.thresholds]

    def _charts(self) -> Sequence[Chart]:
        from scenthound.ui.figures import threshold_figure

        return threshold_figure(self.suggestion).charts


@called_with(ThresholdOptions)
def threshold(options: ThresholdOptions) -> Threshold:
    """Suggest a relevance threshold from 20 to 50 labelled pages: the one with the best F1, or the best for a minimum
    `precision` or `recall`.

    `labels` is a CSV or JSON Lines file of url,label or score,label; labels are yes or no. Pages are scored by the
    model `relevance` ("cosine") for a topic of the file `topics`. The model is trained on the folder `train_from`, by
    cross-validation on the labelled pages, or on examples of the topic that are not labelled.
    """
    from scenthound.experiments.threshold.curve import Goal
    from scenthound.experiments.threshold.suggestion import suggest_threshold

    with ExitStack() as stack:
        scored_by = None
        if options.topics is not None:
            topics = stack.enter_context(topics_file(options.topics))
            scored_by = _scored_by(options, topics, cross_validate=options.cross_validate)
        report = stack.enter_context(show_progress("scoring", options.progress))
        folder = None if options.web is None else web_folder(options.web)
        goal, labels = Goal(options.precision, options.recall), Path(options.labels)
        return Threshold(suggest_threshold(labels, goal=goal, web=folder, scored_by=scored_by, progress=report))


@called_with(LabelOptions)
def pages_to_label(options: LabelOptions) -> int:
    """Write `n` pages to the file `labels`, spread over the scores, for a person to label; return how many there are.

    `threshold` reads the file when the column `label` has been filled in with yes or no.
    """
    from scenthound.experiments.threshold.suggestion import draw_pages_to_label

    assert options.topics is not None
    with topics_file(options.topics) as file, show_progress("scoring", options.progress) as report:
        return draw_pages_to_label(
            Path(options.labels),
            options.n,
            web=web_folder(options.web),
            scored_by=_scored_by(options, file),
            seed=options.random_seed,
            force=options.force,
            progress=report,
        )


def _scored_by(options: Scoring, topics: Path, *, cross_validate: bool = False) -> ScoredBy:
    from scenthound.experiments.threshold.suggestion import ScoredBy

    model = chosen(RELEVANCE, options.relevance or "cosine")
    return ScoredBy(topics, options.topic, model, path_or_none(options.train_from), cross_validate)
