"""The page of a run: who did best in words, curves, tables with marks, topics won and lost, and how to repeat it.

The crawls of a run are judged for the page, by the metrics that `scenthound evaluate` takes unless told.
"""

from collections.abc import Iterator, Mapping
from math import isfinite, isnan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import command_line, in_lines, unless
from scenthound.experiments.compare.ranking import observations_needed
from scenthound.experiments.evaluate import Evaluation, StrategyResult, chosen_metrics, evaluate
from scenthound.experiments.runs import RunFolder, read_about
from scenthound.experiments.starts import DEFAULT_START, Task
from scenthound.experiments.statistics import AgainstBest, MeanCurve, against_best, aligned_differences
from scenthound.experiments.statistics.tests import ALPHA
from scenthound.model import Progress, silent
from scenthound.simulator.modes import SEQUENTIAL
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    Facts,
    Page,
    Prose,
    Section,
    Series,
    TableBlock,
    Verbatim,
    WinLoss,
)
from scenthound.ui.formats import NOTHING, counted, maker_rows, mean_told, number_told, setting_rows, things

# The command line that makes the crawls of a run again: for the topics that are kept with it.


def reproduce_command(about: Mapping[str, Any], folder: Path) -> str:
    """`scenthound simulate` with what `run.json` says, into a folder beside this one; empty if no command line can say
    it. Guides that learn from other topics than those kept here learn from fewer, so such a run needs its own file."""
    settings, place = about["settings"], folder.absolute()
    return command_line(
        ("scenthound", "simulate"),
        [
            ("--web", settings["web"]),
            ("--topics", place / "topics.jsonl"),
            ("--strategy", tuple(settings["strategies"])),
            ("--pages", settings["page_budget"]),
            ("--repeats", settings.get("repeats", settings.get("n_seeds"))),
            ("--task", unless(settings["task"], Task.EXAMPLES.value)),
            ("--start", unless(settings["n_start"], DEFAULT_START)),
            ("--relevance", settings["relevance"]),
            ("--train", unless(settings.get("n_train"), 0)),
            ("--train-from", settings.get("train_from")),
            ("--judge", unless(settings.get("n_judge"), 0)),
            ("--as-published", bool(settings.get("as_published"))),
            ("--mode", unless(settings.get("mode"), str(SEQUENTIAL))),
            ("--closed-world", bool(settings["closed_world"])),
            ("--follow-nofollow", not settings["respect_nofollow"]),
            ("--plain", bool(settings.get("plain"))),
            ("--out", place.with_name(f"{place.name}-again")),
        ],
    )


# The tables of a run's page: every metric at some numbers of pages, with marks, and what the crawls cost.
#
# Rules
# - The best mean of a column is emphasised. A star says that a strategy is clearly worse: p of sign flips over
#   topics, two-sided, against the best, is below 5 % after Holm's correction over the strategies of the column.
# - Without a star nothing is said: too few topics, or too little difference. The note tells if topics are too few.

WORSE = "*"


def tests_of(evaluation: Evaluation, metric: str) -> list[AgainstBest]:
    """For each checkpoint, all strategies against the best."""
    values = np.array([result.by_topic[metric] for result in evaluation.results])
    is_low = metric in evaluation.lower_is_better
    return [against_best(values[:, :, place], lower_is_better=is_low) for place in range(values.shape[2])]


def metric_table(evaluation: Evaluation, metric: str) -> TableBlock:
    """A row for each strategy, a column for each checkpoint."""
    tests = tests_of(evaluation, metric)
    rows = [
        (Cell(result.strategy), *_cells(result.curves[metric], evaluation.checkpoints, place, tests))
        for place, result in enumerate(evaluation.results)
    ]
    low = "; low is good" if metric in evaluation.lower_is_better else ""
    return TableBlock(
        name=f"values-{metric}",
        caption=f"{metric_told(metric)}{low}",
        heads=("strategy", *(f"after {step:,} pages" for step in evaluation.checkpoints)),
        rows=tuple(rows),
        note=_note(evaluation, metric),
    )


def _cells(curve: MeanCurve, checkpoints: tuple[int, ...], place: int, tests: list[AgainstBest]) -> Iterator[Cell]:
    at = np.searchsorted(curve.steps, checkpoints)
    for mean, error, test in zip(curve.mean[at].tolist(), curve.standard_error[at].tolist(), tests, strict=True):
        mark = WORSE if test.p_corrected[place] < ALPHA else ""
        yield Cell(mean_told(mean, error), mark=mark, emphasis=test.best == place)


def _note(evaluation: Evaluation, metric: str) -> str:
    n_topics = max(result.curves[metric].n_topics for result in evaluation.results)
    return f"Mean ± standard error over {n_topics} topics." if n_topics > 1 else "Of one topic."


def marks_told(evaluation: Evaluation) -> str:
    """What bold figures and stars say, or why there are no stars."""
    n_topics, n_strategies = len(evaluation.topics), len(evaluation.results)
    needed = observations_needed(n_strategies)
    best = "The best mean of a column is bold."
    if n_topics < needed:
        few = "1 topic is" if n_topics == 1 else f"{n_topics} topics are"
        return f"{best} {few} too few for a test among {n_strategies} strategies: that takes {needed} or more."
    return (
        f"{best} {WORSE} clearly worse than the best: p of sign flips over topics, corrected by Holm's method over all "
        "in the column, is below 5 %."
    )


def cost_table(evaluation: Evaluation) -> TableBlock:
    """What crawls took."""
    has_clock = any(result.running_time is not None for result in evaluation.results)
    heads = ("strategy", "crawls", "pages per crawl", "CPU µs per page", *(["simulated minutes"] if has_clock else []))
    is_timed = not any(isnan(result.cpu_us_per_page) for result in evaluation.results)
    return TableBlock(
        name="cost",
        caption=f"Cost in mode {evaluation.mode}",
        heads=heads,
        rows=tuple(tuple(_cost(result))[: len(heads)] for result in evaluation.results),
        note="" if is_timed else "Compiled crawls are not timed page by page; --plain measures CPU time.",
    )


def _cost(result: StrategyResult) -> Iterator[Cell]:
    yield Cell(result.strategy)
    yield Cell(f"{result.n_crawls:,}")
    yield Cell(f"{result.pages_per_crawl:,.0f}")
    yield Cell(NOTHING if isnan(result.cpu_us_per_page) else f"{result.cpu_us_per_page:,.1f}")
    time = result.running_time
    spread = f" ± {time.standard_error_s / 60:,.2f}" if time is not None and isfinite(time.standard_error_s) else ""
    yield Cell(NOTHING if time is None else f"{time.mean_s / 60:,.2f}{spread}")


def missing_table(evaluation: Evaluation) -> TableBlock | None:
    """How often a strategy wanted a page that the recording lacks, and what that leaves of its measures; None if no
    page was missing."""
    report = evaluation.closed_world
    if not any(gap.missing_per_page > 0 for gap in report.gaps):
        return None
    rows = [
        (
            gap.strategy,
            number_told(gap.missing_per_page),
            *(
                NOTHING if isnan(between.low) else f"{between.low:.3f} to {between.high:.3f}"
                for between in (gap.precision, gap.recall)
            ),
        )
        for gap in report.gaps
    ]
    return TableBlock(
        name="missing",
        caption=f"Pages wanted that the recording lacks, after {report.page_budget:,} pages",
        heads=("strategy", "missing per page", "precision could be", "recall could be"),
        rows=tuple(tuple(map(Cell, row)) for row in rows),
        note="Had these pages been there, they would have been visited, and might have been relevant or not.",
    )


def metric_told(metric: str) -> str:
    """A metric in words: `target_recall` is `target recall`."""
    return metric.replace("_", " ")


#: The metric that is told first, where it has values; else the first that has.
MAIN_METRIC = "target_recall"
#: More curves at once would hide each other.
SHOWN_AT_ONCE = 8


def run_page(folder: Path, progress: Progress = silent) -> Page:
    """Judge the crawls in a run folder, and show what came of it."""
    about = read_about(folder)
    metrics, _ = chosen_metrics()
    return evaluation_page(evaluate(RunFolder.open(folder), metrics, progress=progress), about, folder)


def evaluation_page(evaluation: Evaluation, about: Mapping[str, Any], folder: Path) -> Page:
    """`about` is what `run.json` says."""
    defined = [metric for metric in evaluation.metrics if metric not in evaluation.undefined]
    metrics = sorted(defined, key=lambda metric: metric != MAIN_METRIC)
    return Page(
        kind="run",
        title=f"{counted(len(evaluation.results), 'strategy')} on {_web_name(about)}",
        summary=tuple(_summary(evaluation, metrics)),
        sections=tuple(section for section in _sections(evaluation, metrics, about, folder) if section.blocks),
        key_facts=tuple(_key_facts(evaluation, metrics)),
    )


def _web_name(about: Mapping[str, Any]) -> str:
    return Path(str(about["settings"]["web"])).name


def _summary(evaluation: Evaluation, metrics: list[str]) -> Iterator[str]:
    if metrics:
        yield " ".join(_answer(evaluation, metrics[0]))
    n_crawls = sum(result.n_crawls for result in evaluation.results)
    yield (
        f"{counted(len(evaluation.results), 'strategy')} crawled for {counted(len(evaluation.topics), 'topic')}: "
        f"{counted(n_crawls, 'crawl')} of up to {counted(evaluation.page_budget, 'page')}, in mode {evaluation.mode}."
    )


def _answer(evaluation: Evaluation, metric: str) -> Iterator[str]:
    """Who has the best mean at the end, and who is clearly worse."""
    test, names = tests_of(evaluation, metric)[-1], [result.strategy for result in evaluation.results]
    if test.best is None:
        return
    value = _end_told(evaluation, metric, test.best)
    n_pages = counted(evaluation.page_budget, "page")
    yield f"By {metric_told(metric)} after {n_pages}, {names[test.best]} is best: {value}."
    if len(names) < 2:
        return
    if len(evaluation.topics) < observations_needed(len(names)):
        yield "There are too few topics to test whether that is more than chance."
        return
    worse = [name for name, p in zip(names, test.p_corrected, strict=True) if p < ALPHA]
    unclear = [name for name in names if name not in (*worse, names[test.best])]
    yield f"Clearly worse: {', '.join(worse) or 'none'}."
    if unclear:
        yield f"Not told apart from it: {', '.join(unclear)}."


def _end_told(evaluation: Evaluation, metric: str, place: int) -> str:
    curve = evaluation.results[place].curves[metric]
    return mean_told(float(curve.mean[-1]), float(curve.standard_error[-1]))


def _key_facts(evaluation: Evaluation, metrics: list[str]) -> Iterator[tuple[str, str]]:
    best = tests_of(evaluation, metrics[0])[-1].best if metrics else None
    if best is not None:
        yield f"{metric_told(metrics[0])} of the best", _end_told(evaluation, metrics[0], best)
    for thing, number in (("strategy", len(evaluation.results)), ("topic", len(evaluation.topics))):
        yield things(number, thing), f"{number:,}"
    yield "pages per crawl", f"{evaluation.page_budget:,}"


def _sections(evaluation: Evaluation, metrics: list[str], about: Mapping[str, Any], folder: Path) -> Iterator[Section]:
    yield Section("Curves", tuple(_curves(evaluation, metric) for metric in metrics))
    marks = (Prose((marks_told(evaluation),)),) if metrics and len(evaluation.results) > 1 else ()
    yield Section("Values", (*marks, *(metric_table(evaluation, metric) for metric in metrics)))
    yield Section("Topic by topic", tuple(_win_loss(evaluation, metrics[:1])))
    yield Section("Cost", (cost_table(evaluation),))
    missing = missing_table(evaluation)
    yield Section("Pages that the recording lacks", (missing,) if missing else ())
    yield Section("Notes", tuple(_notes(evaluation)))
    yield Section("Settings and versions", tuple(_settings(about, folder)), folded=True)


def _curves(evaluation: Evaluation, metric: str) -> Chart:
    low = " (low is good)" if metric in evaluation.lower_is_better else ""
    series = [
        Series(
            result.strategy, curve.steps.astype(np.float64), curve.mean, curve.standard_error, place >= SHOWN_AT_ONCE
        )
        for place, result in enumerate(evaluation.results)
        for curve in (result.curves[metric],)
    ]
    return Chart(
        name=f"curves-{metric}",
        title=metric_told(metric).capitalize(),
        x_label="pages visited",
        y_label=f"{metric_told(metric)}{low}",
        series=tuple(series),
        note="Means over topics; bands are one standard error to either side.",
    )


def _win_loss(evaluation: Evaluation, metrics: list[str]) -> Iterator[WinLoss]:
    """The others beside the best, at the end."""
    n_pages = counted(evaluation.page_budget, "page")
    for metric in metrics:
        best = tests_of(evaluation, metric)[-1].best
        if best is None or len(evaluation.results) < 2:
            continue
        end = {result.strategy: result.by_topic[metric][:, -1] for result in evaluation.results}
        name = evaluation.results[best].strategy
        own = end.pop(name)
        sign = -1.0 if metric in evaluation.lower_is_better else 1.0
        yield WinLoss(
            name="won",
            caption=f"The others beside {name}",
            against=name,
            rows=tuple(end),
            topics=evaluation.topics,
            differences=sign * np.array([aligned_differences(values, own) for values in end.values()]),
            note=f"{metric_told(metric).capitalize()} after {n_pages}; more than 0 is better.",
        )


def _notes(evaluation: Evaluation) -> Iterator[Block]:
    notes = [
        f"{metric_told(metric)} is left out: it needs {evaluation.needs[metric]}, and no topic here has that."
        if evaluation.needs.get(metric)
        else f"{metric_told(metric)} is left out: it has no value for any topic."
        for metric in evaluation.undefined
    ]
    if notes:
        yield Prose(tuple(notes), as_list=True)


def _settings(about: Mapping[str, Any], folder: Path) -> Iterator[Block]:
    settings = about["settings"]
    relevance_models = [
        (f"guide of {strategy}", str(relevance_model))
        for strategy, relevance_model in about.get("relevance_models", {}).items()
    ]
    fingerprint = [("fingerprint of the web", str(about["web_fingerprint"]))]
    yield Facts((*setting_rows(settings), *relevance_models, *fingerprint, *maker_rows(about)))
    command = reproduce_command(about, folder)
    if command:
        yield Verbatim("This command makes the crawls again, for the topics that are kept with them", in_lines(command))
        yield Prose(("A guide that learnt from other topics of their file needs that file: name it with --topics.",))
