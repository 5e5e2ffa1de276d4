"""The laboratory from Python: simulate crawls, evaluate and compare them, reproduce studies."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack, cast

from scenthound.api.arguments import (
    FolderLike,
    PathLike,
    TopicsLike,
    chosen,
    chosen_or_none,
    defaults_of,
    folder_of,
    listed,
    path,
    path_or_none,
    public,
    topics_file,
    web_folder,
    workers_on,
)
from scenthound.api.progress import ProgressLike, show_progress
from scenthound.api.results import Panel, Result, Table
from scenthound.errors import InvalidParameter, UsageError, printable
from scenthound.model import Topic

if TYPE_CHECKING:
    from scenthound.experiments.compare.comparison import ComparisonResult
    from scenthound.experiments.compare.verdict import Verdict
    from scenthound.experiments.evaluate import Evaluation as EvaluatedRun
    from scenthound.experiments.findings import Finding
    from scenthound.experiments.runs import CrawlRow, RunFolder, Simulation
    from scenthound.experiments.setup import ExperimentSetup
    from scenthound.experiments.statistics import MeanCurve
    from scenthound.experiments.study.study import FinishedStudy
    from scenthound.experiments.trec import TrecSummary
    from scenthound.ui.document import Table as ShownTable


class ExperimentOptions(TypedDict, total=False):
    """The conditions of simulated crawls, with their defaults; `scenthound simulate --help` describes them."""

    topic: str | Sequence[str] | None
    topics_max: int | None
    skip_missing: Annotated[bool, False]
    task: Annotated[str, "examples"]
    start: Annotated[int, 10]
    closed_world: Annotated[bool, False]
    follow_nofollow: Annotated[bool, False]
    relevance: Any
    train: Annotated[int, 0]
    judge: Annotated[int, 0]
    train_from: PathLike | None
    training_pages: Annotated[str, "wang2009"]
    as_published: Annotated[bool, False]
    plain: Annotated[bool, False]
    workers: int | None
    cluster: str | None


@contextmanager
def experiment_setup(
    web: Any, topics: TopicsLike, strategies: Any, options: ExperimentOptions, seeds: Any = None, **conditions: Any
) -> Iterator[ExperimentSetup]:
    """What to crawl, from arguments as people write them. Topics that are objects are in a file within the block;
    `seeds` are the start pages of a single topic."""
    from scenthound.experiments.setup import ExperimentSetup
    from scenthound.experiments.starts import TopicChoice, parse_task
    from scenthound.relevance.base import RELEVANCE
    from scenthound.strategies.base import STRATEGIES

    values, start_pages = {**defaults_of(ExperimentOptions), **options}, tuple(listed(seeds))
    ids = tuple(listed(values["topic"]))
    if isinstance(topics, Topic) and start_pages:
        topics = replace(topics, seeds=start_pages)  # It may have neither keywords nor pages of its own.
    with topics_file(topics) as file:
        yield ExperimentSetup(
            web=web_folder(web),
            topics=TopicChoice(file, ids, values["topics_max"], values["skip_missing"], start_pages),
            strategies=tuple(map(str, STRATEGIES.resolve_all(listed(strategies)))),
            task=parse_task(values["task"]),
            n_start=values["start"],
            closed_world=values["closed_world"],
            respect_nofollow=not values["follow_nofollow"],
            relevance=chosen_or_none(RELEVANCE, values["relevance"]),
            n_train=values["train"],
            n_judge=values["judge"],
            train_from=path_or_none(values["train_from"]),
            training_pages=values["training_pages"],
            as_published=values["as_published"],
            plain=values["plain"],
            **conditions,
        )


@public
def simulate(
    web: Any,
    topics: TopicsLike,
    strategies: Any,
    *,
    seeds: str | Sequence[str] | None = None,
    pages: int = 2000,
    repeats: int = 1,
    random_seed: int = 0,
    mode: str = "sequential",
    out: PathLike | None = None,
    force: bool = False,
    progress: ProgressLike = None,
    **options: Unpack[ExperimentOptions],
) -> Run:
    """Let strategies crawl a recorded web, or the pages of a crawl, for each topic, and return the crawls.

    `topics` is a topic file or `Topic` objects; `strategies` are names, classes or instances. `seeds` are the pages to
    start from, for a single topic, instead of its own seeds or examples. Each crawl visits at most `pages` pages; each
    topic has `repeats` independent starts, with random seeds from `random_seed` on. `mode` is the order in which
    requested pages return: "sequential", "roulette" or "polite". `out` keeps the run in a folder; without it the run is
    temporary.
    """
    from scenthound.experiments.runs import simulate_topics

    strategies = listed(strategies)
    if not strategies:
        raise InvalidParameter("No strategy is given; see `sh.list_strategies()`.")
    conditions = {"page_budget": pages, "repeats": repeats, "random_seed": random_seed, "mode": mode}
    with (
        experiment_setup(web, topics, strategies, options, seeds, **conditions) as setup,
        _temporary_unless(out) as (folder, keep),
        workers_on(options.get("cluster"), options.get("workers")) as workers,
        show_progress("simulating", progress) as report,
    ):
        done = simulate_topics(setup, folder, workers=workers, force=force, progress=report)
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
        """The strategies that crawled, as they are written."""
        return self._run.strategies

    @property
    def crawls(self) -> Table[CrawlRow]:
        """One row for each crawl: why it ended, how many pages it visited."""
        from scenthound.experiments.runs import CrawlRow

        return Table.of(CrawlRow, self._run.crawls(), "crawls")

    @property
    def pages(self) -> Table[TracePage]:
        """Every page of every crawl, in order."""
        return Table.of(TracePage, self._pages, "pages of all crawls", length=self._n_pages)

    def _n_pages(self) -> int:
        return sum(each.pages for each in self._run.crawls())

    def _pages(self) -> Iterable[TracePage]:
        from scenthound.experiments.runs import require_parquet

        with require_parquet().ParquetFile(self.folder / "traces.parquet") as traces:
            for batch in traces.iter_batches():
                yield from (TracePage(**row) for row in batch.to_pylist())

    def evaluate(self, *metrics: Any, at: int | Sequence[int] = ()) -> Evaluation:
        """Evaluate the crawls by metrics: names such as "target_recall" or "precision@500", classes or instances, one
        by one or in a list. With none, by all that are cheap to compute."""
        return evaluate(self, *metrics, at=at)

    def export(self, to: str, out: PathLike, *, force: bool = False, progress: ProgressLike = None) -> TrecSummary:
        """Write the crawls for other programs: `to` is "trec", for trec_eval and ir_measures."""
        from scenthound.api.crawls import export

        return cast("TrecSummary", export(self, to, out, force=force, progress=progress))

    def _headline(self) -> str:
        from scenthound.ui.formats import counted

        crawls = self._run.crawls()
        topics = counted(len({each.topic for each in crawls}), "topic")
        return f"{counted(len(crawls), 'simulated crawl')} for {topics}: {counted(self._n_pages(), 'page')}."

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.crawls]

    def _panels(self) -> Sequence[Panel]:
        """The curves of the evaluation that is saved beside the traces, if there is one."""
        from scenthound.experiments.evaluate import read_evaluation

        saved = read_evaluation(self.folder)
        return Evaluation(self.folder, saved)._panels() if saved else []


def export_run(run: Any, out: PathLike, *, web: Any, force: bool, progress: ProgressLike) -> TrecSummary:
    """Write a run, or that of a folder, in the formats of TREC."""
    from scenthound.experiments.trec import export_trec
    from scenthound.store.folder import is_kind

    folder = folder_of(run)
    if is_kind(folder, "crawl"):
        raise UsageError(
            f"{printable(folder)} is a crawl, and a trec export is of a simulation run: simulate on its pages first, "
            f"as in `scenthound simulate --web {shlex.quote(str(folder))} --topics FILE --strategy NAME --out run`."
        )
    opened = run if isinstance(run, Run) and web is None else Run(folder, web)
    with show_progress("exporting", progress) as report:
        return export_trec(opened._run, os.fspath(out), force=force, progress=report)


@public
def open_run(folder: FolderLike, *, web: Any = None) -> Run:
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
    """Metrics of simulated crawls: `scores` at the checkpoints, `curves` after many numbers of pages. It prints one
    table; `tables` has all of them, by name."""

    def __init__(self, folder: Path, evaluated: EvaluatedRun, *, by_pages: bool = False) -> None:
        self.folder = folder
        self.evaluated = evaluated
        #: Whether numbers of pages were chosen, so that the printed table has a column for each of them.
        self.by_pages = by_pages

    @property
    def scores(self) -> Table[Score]:
        """The mean of each metric and strategy at the checkpoints."""
        return Table.of(Score, self._scores(set(self.evaluated.checkpoints)), "scores")

    @property
    def curves(self) -> Table[Score]:
        """The same after many numbers of pages."""
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
        """The scores."""
        return self.scores

    @property
    def tables(self) -> dict[str, Table[Any]]:
        """All tables, as the command line prints them with `--all`: one for each metric that has values, with a column
        for each number of pages; `cost`; and `missing` if requested pages were missing in the recording."""
        from scenthound.ui.reports.run import all_tables

        return {name: _printed(table) for name, table in all_tables(self.evaluated).items()}

    def _tables(self) -> Sequence[Table[Any]]:
        from scenthound.ui.reports.run import main_table

        return [_printed(main_table(self.evaluated, by_pages=self.by_pages))]

    def _headline(self) -> str:
        from scenthound.ui.reports.run import (
            SUMMARY_METRICS,
            defined_metrics,
            ending_notes,
            is_default,
            marks_note,
            summary_metrics,
        )

        needs = self.evaluated.needs
        expected = SUMMARY_METRICS if is_default(self.evaluated) else self.evaluated.metrics
        notes = [
            f"No values for {metric}{f': it needs {needs[metric]}' if metric in needs else ''}."
            for metric in self.evaluated.undefined
            if metric in expected
        ]
        notes += ending_notes(self.evaluated, summary_metrics(self.evaluated))
        if defined_metrics(self.evaluated) and len(self.evaluated.results) > 1:
            notes.append(marks_note(self.evaluated, best=""))
        return "\n".join(notes)

    def _panels(self) -> list[Panel]:
        lines: dict[str, dict[str, Any]] = {}
        for metric, result, curve in self._curves():
            if curve.n_topics:
                lines.setdefault(metric, {})[result.strategy] = (curve.steps, curve.mean)
        return [Panel(metric.replace("_", " "), "pages", each) for metric, each in lines.items()]


def _printed(shown: ShownTable) -> Table[Any]:
    """A table of a report, as the command line prints it."""
    suffixes = [[cell.mark + (shown.best_sign if cell.emphasis else "") for cell in row] for row in shown.rows]
    widest = [max(map(len, column)) for column in zip(*suffixes, strict=True)]
    rows = [
        [cell.text + suffix.ljust(width) for cell, suffix, width in zip(row, marks, widest, strict=True)]
        for row, marks in zip(shown.rows, suffixes, strict=True)
    ]
    signs = f" {shown.best_sign} best." if shown.best_sign and len(rows) > 1 else ""
    columns = {name: itemgetter(at) for at, name in enumerate(shown.columns)}
    return Table(rows, columns, f"{shown.caption}.{signs} {shown.note}".rstrip())


@public
def evaluate(
    run: Run | PathLike,
    *metrics: Any,
    at: int | Sequence[int] = (),
    web: Any = None,
    progress: ProgressLike = None,
) -> Evaluation:
    """Evaluate the crawls of a run by metrics: names such as "target_recall" or "precision@500", classes or instances,
    one by one or in a list; all that are cheap to compute if there are none. `at` are numbers of pages that the tables
    have columns for. The result prints one table: the most important metrics at the end of the crawls or, with `at` or
    a single metric, its values by the number of pages; `Evaluation.tables` has all tables."""
    from scenthound.experiments.evaluate import check_defined, chosen_metrics, default_metrics
    from scenthound.experiments.evaluate import evaluate as evaluate_run
    from scenthound.metrics.base import METRICS, Point

    opened = run if isinstance(run, Run) else Run(run, web)
    chosen_ones = [metric for each in metrics for metric in listed(each)]
    METRICS.resolve_all(each for each in chosen_ones if not isinstance(each, str | Point))
    names = [_metric_name(each) for each in chosen_ones]
    found, steps = chosen_metrics(names or default_metrics(opened._run))
    marks = [*listed(at), *steps]
    with show_progress("evaluating", progress) as report:
        evaluated = evaluate_run(opened._run, found, marks, report)
    if names:
        check_defined(evaluated, opened._run)
    return Evaluation(opened.folder, evaluated, by_pages=bool(marks))


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


#: Takes part in every comparison.
BASELINE = "breadth_first"


class Comparison(Result):
    """Strategies ranked for a topic."""

    def __init__(self, folder: Path | None, compared: ComparisonResult) -> None:
        self.folder = folder
        self.compared = compared

    @property
    def best(self) -> str | None:
        """The best strategy; None if the comparison cannot tell, and `verdict` says why. The first of `ranking` has the
        best mean in any case."""
        return self.compared.winner or None

    @property
    def verdict(self) -> Verdict | None:
        """Which strategy is best, or why that cannot be told. None for a result of an earlier version."""
        return self.compared.verdict

    @property
    def left_out(self) -> dict[str, str]:
        """Installed strategies that did not take part, with the reason."""
        return dict(self.compared.left_out)

    @property
    def command(self) -> str:
        """The command line that starts a live crawl with the best strategy; empty if there is none."""
        return self.compared.command

    @property
    def ranking(self) -> Table[RankedStrategy]:
        """The strategies, best first, each with its difference to the best."""
        nan = math.nan
        rows = [
            RankedStrategy(
                rank=each.rank,
                strategy=each.strategy,
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
        from scenthound.ui.reports.comparison import conclusion_lines, notes_of

        conclusion = next(conclusion_lines(self.compared))
        return "\n".join([*notes_of(self.compared), self.compared.says, conclusion])

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.ranking]

    def _panels(self) -> Sequence[Panel]:
        curves = self.compared.curves
        if curves is None:
            return []
        ranked = zip(self.compared.ranking, curves.mean, strict=True)
        lines = {row.strategy: (curves.pages.tolist(), mean.tolist()) for row, mean in ranked}
        return [Panel(self.compared.metric, "pages", lines)]


@public
def compare(
    web: Any,
    topics: TopicsLike,
    strategies: Any = None,
    *,
    seeds: str | Sequence[str] | None = None,
    by: Any = None,
    pages: int = 2000,
    repeats: int | None = None,
    sweep: Mapping[str, Any] | str | Sequence[str] = (),
    mode: str | None = None,
    out: PathLike | None = None,
    progress: ProgressLike = None,
    **options: Unpack[ExperimentOptions],
) -> Comparison:
    """Rank strategies for a topic: all crawl from the same starts, and tests say which differences are certain, and
    whether there is a best one.

    Without `strategies`, all that are installed take part; otherwise also `breadth_first`, as a baseline. `seeds` are
    the pages to start from, for a single topic, instead of its own seeds or examples. `by` is the metric that decides,
    at the end or after some pages ("precision@500"): "target_recall", or "on_topic" if no topic has pages to find.
    Without `mode`, crawls are polite if the web has several hosts, and otherwise sequential. `sweep` tries values of
    parameters: `sweep={"n": [1, 16, 256]}`. `out` is a folder for the report; crawls that it has already are not made
    again.
    """
    from scenthound.experiments.compare.results import compare_into
    from scenthound.experiments.compare.settings import ComparisonSettings, parse_sweep
    from scenthound.registry import format_value
    from scenthound.ui.reports.comparison import RENDERER

    if isinstance(sweep, Mapping):
        sweep = [f"{name}={','.join(map(format_value, listed(values)))}" for name, values in sweep.items()]
    settings = ComparisonSettings(
        None if by is None else _metric_name(by),
        tuple(map(parse_sweep, listed(sweep))),
        baseline=BASELINE,
        chooses_mode=mode is None,
    )
    folder = path_or_none(out)
    conditions: dict[str, Any] = {"page_budget": pages, "repeats": repeats}
    if mode is not None:
        conditions["mode"] = mode
    with (
        experiment_setup(web, topics, strategies, options, seeds, **conditions) as setup,
        workers_on(options.get("cluster"), options.get("workers")) as workers,
        show_progress("comparing", progress) as report,
    ):
        done = compare_into(folder, setup, settings, render=RENDERER, workers=workers, progress=report)
    return Comparison(folder, done)


# Studies


class Study(Result):
    """A reproduced study: the findings of the paper, and whether they hold."""

    def __init__(self, folder: Path, finished: FinishedStudy) -> None:
        self.folder = folder
        self.finished = finished

    @property
    def findings(self) -> Table[Finding]:
        """The findings of the paper, each with its verdict on this web."""
        columns = ["name", "says", "protocol", "verdict"]
        return Table(self.finished.findings, columns, f"findings of {self.finished.settings.study}")

    def _headline(self) -> str:
        return f"Report: {self.folder / 'report.html'}"

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.findings]


def study_settings(
    name: str,
    pages: int | None,
    topics_max: int | None,
    repeats: int | None,
    settings: PathLike | None,
    *,
    arm: str | Sequence[str] | None = None,
) -> str:
    """The settings file of a study; the one that is shipped, which has comments, if nothing differs from it."""
    from scenthound.experiments.study.results import settings_toml
    from scenthound.experiments.study.settings import preset_text, read_settings

    scaled = read_settings(name, path_or_none(settings)).scaled(pages, topics_max, repeats).with_arms(listed(arm))
    return preset_text(name) if scaled == read_settings(name) else settings_toml(scaled)


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
    arm: str | Sequence[str] | None = None,
    cache: PathLike | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: ProgressLike = None,
) -> Study:
    """Reproduce a study of the literature, "menczer2001", "pant2002", "wang2009" or "johnson2003", and check which of
    its findings hold on this web. Results and the report are written to the folder `out`; an interrupted study goes on
    there. `arm` are optional experiments to run, too: "buffer" and "more" of pant2002."""
    from scenthound.experiments.study.settings import read_settings

    scaled = read_settings(name, path_or_none(settings)).scaled(pages, topics_max, repeats).with_arms(listed(arm))
    folder, cached = path(out), path_or_none(cache)
    if scaled.study == SEARCH_STUDY and cached is not None:
        raise InvalidParameter(f"{SEARCH_STUDY} keeps its crawls in --out: leave --cache out.")
    with (
        topics_file(topics) as file,
        workers_on(cluster, workers) as chosen_workers,
        show_progress(name, progress) as report,
    ):
        if scaled.study == SEARCH_STUDY:
            from scenthound.experiments.johnson2003.results import johnson2003_into
            from scenthound.ui.reports.johnson2003 import RENDERER as SEARCH_RENDERER

            done: FinishedStudy = johnson2003_into(
                folder, scaled, web_folder(web), file, render=SEARCH_RENDERER, workers=chosen_workers, progress=report
            )
        else:
            from scenthound.experiments.study.results import study_into
            from scenthound.ui.reports.study import RENDERER

            done = study_into(
                folder,
                scaled,
                web_folder(web),
                file,
                cache=cached,
                render=RENDERER,
                workers=chosen_workers,
                progress=report,
            )
    return Study(folder, done)
