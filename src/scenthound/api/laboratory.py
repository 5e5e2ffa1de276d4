"""The laboratory from Python: record a web, simulate, evaluate, compare, reproduce studies, evolve."""

from __future__ import annotations

import math
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from scenthound.api.arguments import (
    PathLike,
    TopicsLike,
    check_options,
    chosen,
    chosen_or_none,
    folder_of,
    listed,
    path,
    path_or_none,
    public,
    topics_file,
    web_folder,
)
from scenthound.api.results import Panel, Result, Table
from scenthound.errors import InvalidParameter
from scenthound.model import Progress, silent

if TYPE_CHECKING:
    from scenthound.experiments.compare.comparison import StrategyComparison
    from scenthound.experiments.evaluate import Evaluation as EvaluatedRun
    from scenthound.experiments.evolve.evolution import Evolution as FinishedSearch
    from scenthound.experiments.runs import CrawlRow, RunFolder, Simulation
    from scenthound.experiments.setup import ExperimentSetup
    from scenthound.experiments.statistics import MeanCurve
    from scenthound.experiments.study.study import FinishedStudy
    from scenthound.store.record import RecordSummary
    from scenthound.store.recorded_web import RecordedWeb


# Recorded webs


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of a recorded web."""

    page: int
    url: str
    title: str
    links: int
    words: int


class Web(Result):
    """A recorded web: the pages that crawls are simulated on."""

    def __init__(self, folder: Path, recorded: RecordedWeb, summary: RecordSummary | None = None) -> None:
        self.folder = folder
        #: The arrays of the web.
        self.recorded = recorded
        #: What was recorded and left out; None for a web that was opened.
        self.summary = summary

    def __len__(self) -> int:
        return self.recorded.n_pages

    @property
    def pages(self) -> Table[WebPage]:
        """All pages."""
        return Table.of(WebPage, self._pages, "pages", length=lambda: self.recorded.n_pages)

    def _pages(self) -> Iterable[WebPage]:
        web = self.recorded
        for page in range(web.n_pages):
            links = int(web.link_offset[page + 1] - web.link_offset[page])
            words = int(web.word_offset[page + 1] - web.word_offset[page])
            yield WebPage(page, web.url(page), web.title(page), links, words)

    def _headline(self) -> str:
        return f"Recorded web in {self.folder}: {self.recorded.n_pages:,} pages."

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.pages]


@public
def record(
    sources: Any,
    out: PathLike,
    *,
    without_leaks: bool = False,
    where: Mapping[str, str] | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Web:
    """Make a recorded web in the folder `out` from files of pages (JSON Lines, WARC, Parquet) and crawls.

    `where` keeps only records with these values; `without_leaks` cuts the spans that show a topic label.
    """
    from scenthound.store.record import record as record_web
    from scenthound.store.recorded_web import RecordedWeb

    summary = record_web(
        [folder_of(each) for each in listed(sources)],
        path(out),
        without_leaks=without_leaks,
        where=where or {},
        workers=workers,
        force=force,
        progress=progress,
    )
    return Web(path(out), RecordedWeb.open(path(out)), summary)


@public
def open_web(folder: Any, *, progress: Progress = silent) -> Web:
    """Open a recorded web, or the pages of a crawl as one."""
    from scenthound.store.crawl_web import open_web as open_recorded

    found = web_folder(folder)
    return Web(found, open_recorded(found, progress))


# Simulated crawls


class ExperimentOptions(TypedDict, total=False):
    """The conditions of simulated crawls; `scenthound simulate --help` describes them under the same names."""

    topic: str | Sequence[str] | None
    topics_max: int | None
    skip_missing: bool
    task: str
    start: int
    closed_world: bool
    follow_nofollow: bool
    relevance: Any  #: name, class or instance of a `RelevanceModel`, for all strategies
    train: int
    judge: int
    train_from: PathLike | None
    as_published: bool
    mode: str
    plain: bool
    workers: int | None


@contextmanager
def experiment_setup(
    web: Any, topics: TopicsLike, strategies: Any, *, pages: int, repeats: int | None, options: Mapping[str, Any]
) -> Iterator[ExperimentSetup]:
    """What to crawl, from arguments as people write them. Topics that are objects are in a file within the block."""
    from scenthound.experiments.setup import CrawlConditions, ExperimentSetup
    from scenthound.experiments.starts import TopicChoice, parse_task
    from scenthound.relevance.base import RELEVANCE
    from scenthound.strategies.base import STRATEGIES

    usual = CrawlConditions()
    with topics_file(topics) as file:
        yield ExperimentSetup(
            web=web_folder(web),
            topics=TopicChoice(
                file,
                tuple(listed(options.get("topic"))),
                options.get("topics_max"),
                options.get("skip_missing", False),
            ),
            strategies=tuple(chosen(STRATEGIES, each) for each in listed(strategies)),
            page_budget=pages,
            repeats=repeats,
            task=parse_task(options.get("task", usual.task)),
            n_start=options.get("start", usual.n_start),
            closed_world=options.get("closed_world", False),
            respect_nofollow=not options.get("follow_nofollow", False),
            relevance=chosen_or_none(RELEVANCE, options.get("relevance")),
            n_train=options.get("train", 0),
            n_judge=options.get("judge", 0),
            train_from=path_or_none(options.get("train_from")),
            as_published=options.get("as_published", False),
            mode=options.get("mode", usual.mode),
            plain=options.get("plain", False),
        )


@public
def simulate(
    web: Any,
    topics: TopicsLike,
    strategies: Any,
    *,
    pages: int = 2000,
    repeats: int = 1,
    out: PathLike | None = None,
    force: bool = False,
    progress: Progress = silent,
    **options: Unpack[ExperimentOptions],
) -> Run:
    """Let strategies crawl a recorded web, or the pages of a crawl, for each topic, and return the crawls.

    `topics` is a topic file or `Topic` objects. Each crawl visits at most `pages` pages; each topic has `repeats`
    independent starts. `out` keeps the run in a folder; without it the run is temporary. `ExperimentOptions` lists all
    other options.
    """
    from scenthound.experiments.runs import simulate_topics

    check_options("simulate", options, ExperimentOptions.__annotations__)
    with (
        experiment_setup(web, topics, strategies, pages=pages, repeats=repeats, options=options) as setup,
        _temporary_unless(out) as (folder, keep),
    ):
        done = simulate_topics(setup, folder, workers=options.get("workers"), force=force, progress=progress)
        return keep(Run(folder, simulation=done))


@contextmanager
def _temporary_unless(out: PathLike | None) -> Iterator[tuple[Path, Callable[[Run], Run]]]:
    """A folder for a run, and what keeps it: a temporary one is removed with the object, or with the block."""
    if out is not None:
        yield path(out), lambda run: run
        return
    folder = mkdtemp(prefix="scenthound-run-")
    kept = []

    def keep(run: Run) -> Run:
        kept.append(weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True))
        return run

    try:
        yield Path(folder) / "run", keep
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class TracePage:
    """A page of a simulated crawl. `step` counts from 1; `time_s` is simulated time, in modes that have it."""

    topic: str
    strategy: str
    seed: int
    step: int
    url: str
    relevance: float
    cpu_us: float
    time_s: float | None


class Run(Result):
    """Simulated crawls: one for each topic, start and strategy."""

    def __init__(self, folder: PathLike, web: Any = None, simulation: Simulation | None = None) -> None:
        from scenthound.experiments.runs import RunFolder

        self.folder = folder_of(folder, "run")
        #: What was left out, and why; None for a run that was opened.
        self.simulation = simulation
        self._run: RunFolder = RunFolder.open(self.folder, None if web is None else web_folder(web))

    @property
    def strategies(self) -> list[str]:
        return self._run.strategies

    @property
    def crawls(self) -> Table[CrawlRow]:
        """One row for each crawl: why it ended, how many pages it visited."""
        from scenthound.experiments.runs import CrawlRow

        return Table.of(CrawlRow, self._run.crawls(), "crawls")

    @property
    def pages(self) -> Table[TracePage]:
        """Every page of every crawl, in order."""
        return Table.of(
            TracePage, self._pages, "pages of all crawls", length=lambda: sum(note.pages for note in self._run.crawls())
        )

    def _pages(self) -> Iterable[TracePage]:
        from scenthound.experiments.runs import require_parquet

        with require_parquet().ParquetFile(self.folder / "traces.parquet") as traces:
            for batch in traces.iter_batches():
                yield from (TracePage(**row) for row in batch.to_pylist())

    def evaluate(self, *metrics: Any, at: int | Sequence[int] = ()) -> Evaluation:
        """Evaluate the crawls by metrics: names such as "target_recall" or "precision@500", classes or instances. With
        none, by all that are cheap to compute."""
        return evaluate(self, metrics, at=at)

    def report(self, out: PathLike | None = None, **options: Any) -> Path:
        """Write a report; see `scenthound.report`."""
        from scenthound.api.crawls import report

        return report(self, out=out, **options)

    def _headline(self) -> str:
        crawls = self._run.crawls()
        n_topics = len({each.topic for each in crawls})
        n_pages = sum(each.pages for each in crawls)
        return f"{len(crawls):,} simulated crawls for {n_topics:,} topics: {n_pages:,} pages."

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.crawls]


@public
def open_run(folder: PathLike, *, web: Any = None) -> Run:
    """Open the run that `simulate` wrote to a folder. `web` is where its recorded web is now, if that was moved."""
    return Run(folder, web)


# Evaluation


@dataclass(frozen=True, slots=True)
class Score:
    """A metric of a strategy after some pages: the mean over topics, and its standard error."""

    metric: str
    strategy: str
    pages: int
    mean: float
    standard_error: float
    n_topics: int


class Evaluation(Result):
    """Metrics of simulated crawls. `scores` has them at the checkpoints, `curves` after many numbers of pages."""

    def __init__(self, folder: Path, evaluated: EvaluatedRun) -> None:
        self.folder = folder
        self.evaluated = evaluated

    @property
    def scores(self) -> Table[Score]:
        return Table.of(Score, self._scores(set(self.evaluated.checkpoints)), "scores")

    @property
    def curves(self) -> Table[Score]:
        return Table.of(Score, self._scores(), "curves")

    def _scores(self, steps: set[int] | None = None) -> list[Score]:
        return [
            Score(metric, result.strategy, int(step), float(mean), float(error), curve.n_topics)
            for metric, result, curve in self._curves()
            for step, mean, error in zip(curve.steps, curve.mean, curve.standard_error, strict=True)
            if steps is None or int(step) in steps
        ]

    def _curves(self) -> Iterable[tuple[str, Any, MeanCurve]]:
        for metric in self.evaluated.metrics:
            for result in self.evaluated.results:
                yield metric, result, result.curves[metric]

    def save(self) -> list[Path]:
        """Write evaluation.json and evaluation.csv beside the traces."""
        from scenthound.experiments.evaluate import write_evaluation

        return list(write_evaluation(self.evaluated, self.folder))

    @property
    def table(self) -> Table[Any]:
        return self.scores

    def _tables(self) -> Sequence[Table[Any]]:
        """For people, a table for each metric with a column for each number of pages."""
        undefined = set(self.evaluated.undefined)
        return [self._by_pages(metric) for metric in self.evaluated.metrics if metric not in undefined]

    def _by_pages(self, metric: str) -> Table[Any]:
        scores = [score for score in self.scores if score.metric == metric]
        by_strategy: dict[str, dict[int, Score]] = {}
        for score in scores:
            by_strategy.setdefault(score.strategy, {})[score.pages] = score
        columns: dict[str, Any] = {"strategy": lambda row: row[0]}
        for step in self.evaluated.checkpoints:
            columns[f"@{step}"] = lambda row, step=step: _mean_and_error(row[1][step])
        n_topics = max(score.n_topics for score in scores)
        title = f"{metric}: mean ± standard error over {n_topics} topic{'s' if n_topics != 1 else ''}"
        return Table(list(by_strategy.items()), columns, title)

    def _headline(self) -> str:
        needs = self.evaluated.needs
        return "\n".join(
            f"No values for {metric}{f': it needs {needs[metric]}' if metric in needs else ''}."
            for metric in self.evaluated.undefined
        )

    def _panels(self) -> list[Panel]:
        lines: dict[str, dict[str, Any]] = {}
        for metric, result, curve in self._curves():
            if curve.n_topics:
                lines.setdefault(metric, {})[result.strategy] = (curve.steps, curve.mean)
        return [Panel(metric.replace("_", " "), "pages", each) for metric, each in lines.items()]


def _mean_and_error(score: Score) -> str:
    if math.isnan(score.mean):
        return "-"
    error = f" ± {score.standard_error:.3f}" if math.isfinite(score.standard_error) else ""
    return f"{score.mean:.3f}{error}"


@public
def evaluate(
    run: Run | PathLike,
    metrics: Any = None,
    *,
    at: int | Sequence[int] = (),
    web: Any = None,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate the crawls of a run by metrics: names such as "target_recall" or "precision@500", classes or instances;
    all that are cheap to compute if none are given. `at` are numbers of pages that tables show."""
    from scenthound.experiments.evaluate import chosen_metrics
    from scenthound.experiments.evaluate import evaluate as evaluate_run

    opened = run if isinstance(run, Run) else Run(run, web)
    names = [_metric_name(each) for each in listed(metrics)]
    found, steps = chosen_metrics(names or None)
    return Evaluation(opened.folder, evaluate_run(opened._run, found, [*listed(at), *steps], progress))


def _metric_name(metric: Any) -> str:
    from scenthound.metrics.base import METRICS, Point

    if isinstance(metric, str):
        return metric
    if isinstance(metric, Point):
        return f"{chosen(METRICS, metric.metric)}@{metric.step}"
    return chosen(METRICS, metric)


# Comparisons


@dataclass(frozen=True, slots=True)
class RankedStrategy:
    """A strategy in a comparison. The difference is to the best strategy, with a 95 % interval and a corrected p."""

    rank: int
    strategy: str
    mean: float
    standard_error: float
    difference: float
    low: float
    high: float
    p: float
    mark: str
    precision: float
    recall: float


class Comparison(Result):
    """Strategies ranked for a topic."""

    def __init__(self, folder: Path | None, compared: StrategyComparison) -> None:
        self.folder = folder
        self.compared = compared

    @property
    def best(self) -> str:
        """The strategy with the best mean."""
        return self.compared.winner.contestant.spec

    @property
    def command(self) -> str:
        """The command line that starts a live crawl with the best strategy."""
        return self.compared.command

    @property
    def ranking(self) -> Table[RankedStrategy]:
        nan = math.nan
        rows = [
            RankedStrategy(
                rank=each.place,
                strategy=each.contestant.spec,
                mean=each.mean,
                standard_error=each.standard_error,
                difference=each.difference.mean if each.difference else nan,
                low=each.difference.low if each.difference else nan,
                high=each.difference.high if each.difference else nan,
                p=each.p_corrected,
                mark=str(each.mark),
                precision=each.precision,
                recall=each.recall,
            )
            for each in self.compared.ranking
        ]
        better = "lower is better" if self.compared.lower_is_better else "higher is better"
        return Table.of(RankedStrategy, rows, f"{self.compared.by} ({better})")

    def _headline(self) -> str:
        return "\n".join([*self.compared.notes, self.compared.says])

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.ranking]


@public
def compare(
    web: Any,
    topics: TopicsLike,
    strategies: Any = None,
    *,
    by: Any = "target_recall",
    pages: int = 2000,
    repeats: int | None = None,
    sweep: Mapping[str, Any] | str | Sequence[str] = (),
    out: PathLike | None = None,
    progress: Progress = silent,
    **options: Unpack[ExperimentOptions],
) -> Comparison:
    """Rank strategies for a topic: all crawl from the same starts, and tests say which differences are certain.

    Without `strategies`, all that are installed take part. `by` is the metric that decides, at the end or after some
    pages ("precision@500"). `sweep` tries values of parameters: `sweep={"n": [1, 16, 256]}`. `out` is a folder for the
    report; crawls that it has already are not made again.
    """
    from scenthound.experiments.compare.results import compare_into
    from scenthound.experiments.compare.settings import ComparisonSettings, parse_sweep
    from scenthound.registry import format_value
    from scenthound.ui.reports.comparison import RENDERER

    check_options("compare", options, ExperimentOptions.__annotations__)
    if isinstance(sweep, Mapping):
        sweep = [f"{name}={','.join(map(format_value, listed(values)))}" for name, values in sweep.items()]
    settings = ComparisonSettings(_metric_name(by), tuple(map(parse_sweep, listed(sweep))))
    folder = path_or_none(out)
    with experiment_setup(web, topics, strategies, pages=pages, repeats=repeats, options=options) as setup:
        workers = options.get("workers")
        done = compare_into(folder, setup, settings, render=RENDERER, workers=workers, progress=progress)
    return Comparison(folder, done)


# Studies


@dataclass(frozen=True, slots=True)
class StudyFinding:
    """A finding of a paper, and whether it holds on this web."""

    name: str
    says: str
    protocol: str
    verdict: str


class Study(Result):
    """A reproduced study: the findings of the paper, and whether they hold."""

    def __init__(self, folder: Path, finished: FinishedStudy) -> None:
        self.folder = folder
        self.finished = finished

    @property
    def findings(self) -> Table[StudyFinding]:
        rows = [
            StudyFinding(each.name, each.says, each.protocol, each.verdict.value) for each in self.finished.findings
        ]
        return Table.of(StudyFinding, rows, f"findings of {self.finished.settings.study}")

    def _headline(self) -> str:
        return f"Report: {self.folder / 'report.html'}"

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.findings]


#: The study that consists of searches.
SEARCH_STUDY = "johnson2003"


@public
def study(
    name: str,
    web: Any,
    topics: TopicsLike,
    out: PathLike,
    *,
    pages: int | None = None,
    topics_max: int | None = None,
    repeats: int | None = None,
    settings: PathLike | None = None,
    cache: PathLike | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Study:
    """Reproduce a study of the literature, "menczer2001", "pant2002", "wang2009" or "johnson2003", and check which of
    its findings hold on this web. Results and the report are written to the folder `out`; an interrupted study goes on
    there."""
    from scenthound.experiments.study.settings import read_settings

    scaled = read_settings(name, path_or_none(settings)).scaled(pages, topics_max, repeats)
    folder, cached = path(out), path_or_none(cache)
    with topics_file(topics) as file:
        if scaled.study != SEARCH_STUDY:
            from scenthound.experiments.study.results import study_into
            from scenthound.ui.reports.study import RENDERER

            done: FinishedStudy = study_into(
                folder, scaled, web_folder(web), file, cache=cached, render=RENDERER, workers=workers, progress=progress
            )
        elif cached is not None:
            raise InvalidParameter(f"{SEARCH_STUDY} keeps its crawls in --out: leave --cache out.")
        else:
            from scenthound.experiments.johnson2003.results import johnson2003_into
            from scenthound.ui.reports import johnson2003

            done = johnson2003_into(
                folder, scaled, web_folder(web), file, render=johnson2003.RENDERER, workers=workers, progress=progress
            )
    return Study(folder, done)


# Evolutionary searches


class SearchOptions(ExperimentOptions, total=False):
    """The options of an evolutionary search; `scenthound evolve --help` describes them under the same names."""

    search: str
    fitness: str
    random_seed: int
    scores: str
    split: str
    seed_with: PathLike | Sequence[PathLike]
    reevaluate: bool
    crawls: int
    same_start: bool
    threshold: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """Rank rules and their fitness: the best of the search, and rules to compare it with."""

    name: str
    fitness: float
    rules: str


class Evolution(Result):
    """A finished search. `strategy` is the name under which its best rules crawl."""

    def __init__(self, finished: FinishedSearch) -> None:
        self.folder = finished.folder
        self.finished = finished

    @property
    def strategy(self) -> str:
        return f"evolved:file={self.finished.result}"

    @property
    def fitness(self) -> float:
        return self.finished.best.fitness

    @property
    def candidates(self) -> Table[Candidate]:
        rows = [
            Candidate(each.name, each.fitness, str(each.rules)) for each in (self.finished.best, *self.finished.others)
        ]
        return Table.of(Candidate, rows, "fitness of the best rules, and of others on the same crawls")

    def _headline(self) -> str:
        return f"Search in {self.folder}: {self.finished.n_evaluated:,} candidates evaluated. Best: {self.strategy}"

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.candidates]


@public
def evolve(
    web: Any,
    topics: TopicsLike,
    out: PathLike,
    *,
    pages: int = 10_000,
    force: bool = False,
    progress: Progress = silent,
    **options: Unpack[SearchOptions],
) -> Evolution:
    """Search for the weights of a rank function that crawl best for the topics, by a genetic algorithm.

    The search is written to the folder `out`, with the best rules in evolved.toml. `SearchOptions` lists all other
    options.
    """
    from scenthound.experiments.evolve.evolution import evolve as search_rules
    from scenthound.experiments.evolve.settings import SearchSettings, parse_scores

    check_options("evolve", options, {**ExperimentOptions.__annotations__, **SearchOptions.__annotations__})
    usual = SearchSettings()
    search = SearchSettings(
        search=options.get("search", usual.search),
        fitness=options.get("fitness", usual.fitness),
        n_crawls=options.get("crawls", usual.n_crawls),
        same_start=options.get("same_start", usual.same_start),
        seed=options.get("random_seed", usual.seed),
        scores=parse_scores(options["scores"]) if "scores" in options else usual.scores,
        split=options.get("split", usual.split),
        threshold=options.get("threshold", usual.threshold),
        reevaluate=options.get("reevaluate", usual.reevaluate),
    )
    conditions = {"mode": "roulette", **options}
    with experiment_setup(web, topics, (), pages=pages, repeats=None, options=conditions) as setup:
        done = search_rules(
            setup,
            search,
            path(out),
            seed_with=[path(each) for each in listed(options.get("seed_with"))],
            workers=options.get("workers"),
            force=force,
            progress=progress,
        )
    return Evolution(done)
