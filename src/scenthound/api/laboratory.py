"""The laboratory from Python: simulate crawls, evaluate and compare them, reproduce studies."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, cast

from scenthound.api.arguments import (
    called_with,
    chosen,
    chosen_or_none,
    folder_of,
    path_or_none,
    public,
    several,
    topics_file,
    web_folder,
    workers_on,
)
from scenthound.api.progress import show_progress
from scenthound.api.results import Result, Table
from scenthound.errors import InvalidParameter, UsageError, printable
from scenthound.experiments.options import CompareOptions, EvaluateOptions, SimulateOptions, StudyOptions
from scenthound.experiments.runs import CrawlRow, RunFolder, Simulation, require_parquet, simulate_topics
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.metrics.base import METRICS, Point
from scenthound.model import Topic
from scenthound.options import FolderLike, PathLike, ProgressLike, listed, stored_values
from scenthound.registry import format_value
from scenthound.relevance.base import RELEVANCE
from scenthound.store.folder import is_kind
from scenthound.strategies.base import STRATEGIES
from scenthound.ui.formats import counted

if TYPE_CHECKING:
    from scenthound.experiments.compare.comparison import ComparisonResult
    from scenthound.experiments.compare.ranking import RankingRow
    from scenthound.experiments.compare.verdict import Verdict
    from scenthound.experiments.evaluate import Evaluation as EvaluatedRun
    from scenthound.experiments.findings import Finding
    from scenthound.experiments.statistics import MeanCurve
    from scenthound.experiments.study.settings import StudySettings
    from scenthound.experiments.study.study import Study as FinishedStudy
    from scenthound.experiments.trec import TrecSummary
    from scenthound.ui.document import Chart
    from scenthound.ui.document import Table as ShownTable


@contextmanager
def experiment(
    options: Any, title: str, strategies: Any = (), **conditions: Any
) -> Iterator[tuple[ExperimentSetup, dict[str, Any]]]:
    """What to crawl, from options as people write them, and how: the arguments `workers`, which end with the block, and
    `progress`. Topics that are objects are in a file within the block."""
    values = {**vars(options), **stored_values(options), **conditions}
    seeds, topics = tuple(listed(values.get("seeds"))), values["topics"]
    if isinstance(topics, Topic) and seeds:
        topics = replace(topics, seeds=seeds)  # It may have neither keywords nor pages of its own.
    with (
        topics_file(topics) as file,
        workers_on(options.cluster, options.workers) as workers,
        show_progress(title, options.progress) as report,
    ):
        values |= {
            "web": web_folder(values["web"]),
            "topics": TopicChoice(
                file, tuple(listed(values["topic"])), values.get("topics_max"), values.get("skip_missing", False), seeds
            ),
            "strategies": tuple(map(str, STRATEGIES.resolve_all(listed(strategies)))),
            "relevance": chosen_or_none(RELEVANCE, values["relevance"]),
            "train_from": path_or_none(values.get("train_from")),
        }
        known = [each.name for each in fields(ExperimentSetup) if values.get(each.name) is not None]
        yield ExperimentSetup(**{name: values[name] for name in known}), {"workers": workers, "progress": report}


@called_with(SimulateOptions)
def simulate(options: SimulateOptions) -> Run:
    """Let strategies crawl a recorded web, or the pages of a crawl, for each topic, and return the crawls.

    `topics` is a topic file or `Topic` objects; `strategies` are names, classes or instances. `seeds` are the pages to
    start from, for a single topic, instead of its own seeds or examples. Each crawl visits at most `pages` pages; each
    topic has `repeats` independent starts, with random seeds from `random_seed` on. `mode` is the order in which
    requested pages return: "sequential", "roulette" or "polite". `out` keeps the run in a folder; without it the run is
    temporary.
    """
    if not listed(options.strategies):
        raise InvalidParameter("No strategy is given; see `sh.list_strategies()`.")
    temporary = _TemporaryFolder() if options.out is None else None
    folder = Path(options.out or "") if temporary is None else temporary.path / "run"
    with experiment(options, "simulating", options.strategies) as (setup, how):
        run = Run(folder, simulation=simulate_topics(setup, folder, force=options.force, **how))
    run._temporary = temporary
    return run


class _TemporaryFolder:
    """A folder that is removed with this object."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="scenthound-run-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


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

    _temporary: _TemporaryFolder | None = None

    def __init__(self, folder: PathLike, web: Any = None, simulation: Simulation | None = None) -> None:
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
        return Table.of(CrawlRow, self._run.crawls(), "crawls")

    @property
    def pages(self) -> Table[TracePage]:
        """Every page of every crawl, in order."""
        return Table.of(TracePage, self._pages, "pages of all crawls", length=self._n_pages)

    def _n_pages(self) -> int:
        return sum(each.pages for each in self._run.crawls())

    def _pages(self) -> Iterable[TracePage]:
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
        crawls = self._run.crawls()
        topics = counted(len({each.topic for each in crawls}), "topic")
        return f"{counted(len(crawls), 'simulated crawl')} for {topics}: {counted(self._n_pages(), 'page')}."

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.crawls]

    def _charts(self) -> Sequence[Chart]:
        """The curves of the evaluation that is saved beside the traces, if there is one."""
        from scenthound.experiments.evaluate import read_evaluation

        saved = read_evaluation(self.folder)
        return Evaluation(self.folder, saved)._charts() if saved else []


def export_run(run: Any, out: PathLike, *, web: Any, force: bool, progress: ProgressLike) -> TrecSummary:
    """Write a run, or that of a folder, in the formats of TREC."""
    from scenthound.experiments.trec import export_trec

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
def open_run(folder: FolderLike, *, web: FolderLike | None = None) -> Run:
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
        from scenthound.ui.reports.run import summary_notes

        return "\n".join(summary_notes(self.evaluated))

    def _charts(self) -> Sequence[Chart]:
        from scenthound.ui.reports.run import evaluation_figure

        return evaluation_figure(self.evaluated).charts


def _printed(shown: ShownTable) -> Table[Any]:
    """A table of a report, as the command line prints it."""
    from scenthound.ui.terminal import cell_texts

    rows = cell_texts(shown)
    signs = f" {shown.best_sign} best." if shown.best_sign and len(rows) > 1 else ""
    columns = {name: itemgetter(at) for at, name in enumerate(shown.columns)}
    return Table(rows, columns, f"{shown.caption}.{signs} {shown.note}".rstrip())


@called_with(several(EvaluateOptions))
def evaluate(options: EvaluateOptions) -> Evaluation:
    """Evaluate the crawls of a run by metrics: names such as "target_recall" or "precision@500", classes or instances,
    one by one or in a list; all that are cheap to compute if there are none. `at` are numbers of pages that the tables
    have columns for. The result prints one table: the most important metrics at the end of the crawls or, with `at` or
    a single metric, its values by the number of pages; `Evaluation.tables` has all tables."""
    from scenthound.experiments.evaluate import check_defined, chosen_metrics, default_metrics
    from scenthound.experiments.evaluate import evaluate as evaluate_run

    opened = options.run if isinstance(options.run, Run) else Run(options.run, options.web)
    chosen_ones = [metric for each in options.metrics for metric in listed(each)]
    METRICS.resolve_all(each for each in chosen_ones if not isinstance(each, str | Point))
    names = [_metric_name(each) for each in chosen_ones]
    found, steps = chosen_metrics(names or default_metrics(opened._run))
    marks = [*listed(options.at), *steps]
    with show_progress("evaluating", options.progress) as report:
        evaluated = evaluate_run(opened._run, found, marks, report)
    if names:
        check_defined(evaluated, opened._run)
    return Evaluation(opened.folder, evaluated, by_pages=bool(marks))


def _metric_name(metric: Any) -> str:
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


def _ranked(each: RankingRow) -> RankedStrategy:
    gap = each.difference
    difference = (gap.mean, gap.low, gap.high) if gap else (math.nan,) * 3
    certainty = each.p_corrected, str(each.mark)
    return RankedStrategy(
        each.rank, each.strategy, each.mean, each.standard_error, *difference, *certainty, each.precision, each.recall
    )


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
        rows = [_ranked(each) for each in self.compared.ranking]
        better = "lower is better" if self.compared.lower_is_better else "higher is better"
        return Table.of(RankedStrategy, rows, f"{self.compared.by} ({better})")

    def _headline(self) -> str:
        from scenthound.ui.reports.comparison import conclusion_lines, notes_of

        conclusion = next(conclusion_lines(self.compared))
        return "\n".join([*notes_of(self.compared), self.compared.says, conclusion])

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.ranking]

    def _charts(self) -> Sequence[Chart]:
        from scenthound.ui.reports.comparison import curves_chart

        return [curves_chart(self.compared)]


@called_with(CompareOptions)
def compare(options: CompareOptions) -> Comparison:
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
    from scenthound.experiments.compare.settings import ComparisonSettings, parse_sweeps
    from scenthound.ui.reports.comparison import RENDERER

    sweep: Any = options.sweep
    if isinstance(sweep, Mapping):
        sweep = [f"{name}={','.join(map(format_value, listed(values)))}" for name, values in sweep.items()]
    settings = ComparisonSettings(
        None if options.by is None else _metric_name(options.by),
        parse_sweeps(listed(sweep)),
        baseline=BASELINE,
        chooses_mode=options.mode is None,
    )
    folder = path_or_none(options.out)
    with experiment(options, "comparing", options.strategies) as (setup, how):
        done = compare_into(folder, setup, settings, render=RENDERER, **how)
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


def scaled_settings(options: StudyOptions) -> StudySettings:
    """The settings of a study with the sizes and experiments that are given."""
    from scenthound.experiments.study.settings import read_settings

    settings = read_settings(options.name, path_or_none(options.settings))
    return settings.scaled(options.pages, options.topics_max, options.repeats).with_arms(listed(options.arm))


def study_settings(options: StudyOptions) -> str:
    """The settings file of a study; the one that is shipped, which has comments, if nothing differs from it."""
    from scenthound.experiments.study.results import settings_toml
    from scenthound.experiments.study.settings import preset_text, read_settings

    scaled = scaled_settings(options)
    return preset_text(options.name) if scaled == read_settings(options.name) else settings_toml(scaled)


@called_with(StudyOptions)
def study(options: StudyOptions) -> Study:
    """Reproduce a study of the literature, "menczer2001", "pant2002", "wang2009" or "johnson2003", and check which of
    its findings hold on this web. Results and the report are written to the folder `out`; an interrupted study goes on
    there. `arm` are optional experiments to run, too: "buffer" and "more" of pant2002."""
    from scenthound.experiments.study.results import study_into
    from scenthound.ui.reports.study import RENDERER

    scaled = scaled_settings(options)
    folder, cached = Path(options.out), path_or_none(options.cache)
    if scaled.search is not None and cached is not None:
        raise InvalidParameter(f"{scaled.study} keeps its crawls in --out: leave --cache out.")
    with (
        topics_file(options.topics) as file,
        workers_on(options.cluster, options.workers) as workers,
        show_progress(options.name, options.progress) as report,
    ):
        done = study_into(
            folder,
            scaled,
            web_folder(options.web),
            file,
            cache=cached,
            render=RENDERER,
            workers=workers,
            progress=report,
        )
    return Study(folder, done)
