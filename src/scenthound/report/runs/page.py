"""The page of a run: who did best in words, curves, tables with marks, topics won and lost, and how to repeat it.

The crawls of a run are judged for the page, by the metrics that `scenthound evaluate` takes unless told.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.lab.command_line import in_lines
from scenthound.lab.comparing.ranking import observations_needed
from scenthound.lab.evaluate import Evaluation, chosen_metrics, evaluate
from scenthound.lab.run_folder import RunFolder, read_about
from scenthound.lab.statistics import aligned_differences
from scenthound.lab.statistics.equivalence import ALPHA
from scenthound.model import Progress, silent
from scenthound.report.number_words import counted, mean_told, things
from scenthound.report.page.values import Block, Chart, Facts, Page, Prose, Section, Series, Verbatim, WinLoss
from scenthound.report.runs.repeat import repeat_command
from scenthound.report.runs.tables import cost_table, marks_told, metric_table, metric_told, missing_table, tests_of
from scenthound.report.setting_rows import setting_rows
from scenthound.report.versions import maker_rows

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
    guides = [(f"guide of {strategy}", str(guide)) for strategy, guide in about.get("guides", {}).items()]
    fingerprint = [("fingerprint of the web", str(about["web_fingerprint"]))]
    yield Facts((*setting_rows(settings), *guides, *fingerprint, *maker_rows(about)))
    command = repeat_command(about, folder)
    if command:
        yield Verbatim("This command makes the crawls again, for the topics that are kept with them", in_lines(command))
        yield Prose(("A guide that learnt from other topics of their file needs that file: name it with --topics.",))
