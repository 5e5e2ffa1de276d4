"""The report of a run: the best strategy, curves, tables with significance marks, settings.

It shows what `scenthound evaluate` wrote into the folder; that command also prints the tables.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import command_line
from scenthound.experiments.compare.ranking import observations_needed
from scenthound.experiments.evaluate import Evaluation, StrategyResult, read_evaluation
from scenthound.experiments.options import SimulateOptions
from scenthound.experiments.runs import CrawlEnds, read_about
from scenthound.experiments.setup import reproduce_command
from scenthound.experiments.significance import AgainstBest, against_best
from scenthound.experiments.statistics import ALPHA, MeanCurve
from scenthound.ui.document import (
    Cell,
    Chart,
    Document,
    Figure,
    Section,
    Series,
    Table,
    notes_section,
    settings_section,
)
from scenthound.ui.endings import simulated_text, visited_text
from scenthound.ui.formats import (
    ERRORS_NOTE,
    NO_VALUE,
    counted,
    format_mean,
    format_number,
    format_range,
    plural,
    setting_rows,
)

#: The metric of the summary is the first of these that has values, else the first of all that has.
MAIN_METRICS = ("target_recall", "recall", "on_topic")
#: The metrics of the summary table, if nobody chose others: how many of the pages to be found and of all known ones
#: were found, and how close the visited pages are to the topic, by examples, by the relevance model and by words.
SUMMARY_METRICS = ("target_recall", "recall", "precision", "on_topic", "mean_similarity")
#: Those that are computed whatever the topics are.
USUAL_METRICS = frozenset(SUMMARY_METRICS) - {"on_topic"}
#: More curves would cover each other; the others appear when the reader selects them.
MAX_VISIBLE_CURVES = 8
#: Marks a strategy that is significantly worse than the best of the column.
WORSE = "†"


def run_report(folder: Path) -> Document:
    """The stored evaluation of a run folder; without one, the report says how to make it."""
    about, evaluation = read_about(folder), read_evaluation(folder)
    if evaluation is not None:
        return evaluation_report(evaluation, about, folder)
    command = command_line(("scenthound", "evaluate", str(folder.absolute())), [])
    note = f"The crawls of this run are not evaluated. To evaluate them: {command}"
    return Document("run", _title(len(about["settings"]["strategies"]), about), (note,), (_settings(about, folder),))


def evaluation_report(evaluation: Evaluation, about: Mapping[str, Any], folder: Path) -> Document:
    """`about` is the content of `run.json`."""
    defined = defined_metrics(evaluation)
    metrics = sorted(defined, key=[*MAIN_METRICS, *defined].index)
    return Document(
        kind="run",
        title=_title(len(evaluation.results), about),
        summary=tuple(_summary(evaluation, metrics)),
        sections=(*_sections(evaluation, metrics), _settings(about, folder)),
        key_facts=tuple(_key_facts(evaluation, metrics)),
    )


def _title(n_strategies: int, about: Mapping[str, Any]) -> str:
    return f"{counted(n_strategies, 'strategy')} on {Path(str(about['settings']['web'])).name}"


def defined_metrics(evaluation: Evaluation) -> list[str]:
    return [metric for metric in evaluation.metrics if metric not in evaluation.undefined]


def _sections(evaluation: Evaluation, metrics: list[str]) -> Iterator[Section]:
    yield Section("Curves", tuple(curves_chart(evaluation, metric) for metric in metrics))
    marks = (marks_note(evaluation),) if metrics and len(evaluation.results) > 1 else ()
    yield Section("Values", (*marks, *(metric_table(evaluation, metric) for metric in metrics)))
    yield Section("Cost", (cost_table(evaluation),))
    missing, diagnosed = missing_table(evaluation), diagnostics_table(evaluation)
    yield Section("Diagnostics", (diagnosed,) if diagnosed else ())
    yield Section("Pages missing from the recording", (missing,) if missing else ())
    yield notes_section((*ending_notes(evaluation, metrics), *undefined_notes(evaluation)))


# Text


def ending_notes(evaluation: Evaluation, metrics: Sequence[str]) -> list[str]:
    """How crawls ended, and if some ended early, how these metrics treat missing pages."""
    means = [metric for metric in metrics if metric in evaluation.averages_pages]
    texts = (*map(simulated_text, evaluation.ends), visited_text(evaluation.ends, means))
    return [text for text in texts if text]


def _summary(evaluation: Evaluation, metrics: list[str]) -> Iterator[str]:
    if metrics:
        yield " ".join((*_conclusion(evaluation, metrics[0]), *_caveats(evaluation, metrics[:1])))
    n_crawls = sum(result.n_crawls for result in evaluation.results)
    yield (
        f"{counted(len(evaluation.results), 'strategy')} crawled for {counted(len(evaluation.topics), 'topic')}: "
        f"{counted(n_crawls, 'crawl')} of up to {counted(evaluation.page_budget, 'page')}, in mode {evaluation.mode}."
    )


def _conclusion(evaluation: Evaluation, metric: str) -> Iterator[str]:
    """The strategy with the best mean at the end, and those that are significantly worse."""
    test, names = tests_of(evaluation, metric)[-1], [result.strategy for result in evaluation.results]
    if test.best is None:
        return
    after = counted(evaluation.page_budget, "page")
    value = _final_mean(evaluation, metric, test.best)
    yield f"By {metric} after {after}, {names[test.best]} is best: {value}."
    if len(names) < 2:
        return
    if len(evaluation.topics) < observations_needed(len(names)):
        yield "There are too few topics to test whether that is more than chance."
        return
    worse = [name for name, p in zip(names, test.p_corrected, strict=True) if p < ALPHA]
    unclear = [name for name in names if name not in (*worse, names[test.best])]
    yield f"Significantly worse: {', '.join(worse) or 'none'}."
    if unclear:
        yield f"Not distinguishable from it: {', '.join(unclear)}."


def _final_mean(evaluation: Evaluation, metric: str, index: int) -> str:
    curve = evaluation.results[index].curves[metric]
    return format_mean(float(curve.mean[-1]), float(curve.standard_error[-1]))


def _key_facts(evaluation: Evaluation, metrics: list[str]) -> Iterator[tuple[str, str]]:
    best = tests_of(evaluation, metrics[0])[-1].best if metrics else None
    if best is not None:
        yield f"{metric_name(metrics[0])} of the best", _final_mean(evaluation, metrics[0], best)
    for noun, number in (("strategy", len(evaluation.results)), ("topic", len(evaluation.topics))):
        yield plural(number, noun), f"{number:,}"
    yield "pages per crawl", f"{evaluation.page_budget:,}"


def metric_name(metric: str) -> str:
    return metric.replace("_", " ")


def _caveats(evaluation: Evaluation, metrics: Sequence[str]) -> list[str]:
    """What readers of these metrics must know, each once."""
    return list(dict.fromkeys(evaluation.caveats[metric] for metric in metrics if metric in evaluation.caveats))


def undefined_notes(evaluation: Evaluation, among: Sequence[str] | None = None) -> Iterator[str]:
    """A note on each metric without values, of all or of some."""
    for metric in evaluation.undefined:
        if among is not None and metric not in among:
            continue
        needs = evaluation.needs.get(metric)
        reason = f"it needs {needs}, which no topic here has" if needs else "it has no value for any topic"
        yield f"{metric_name(metric)} is left out: {reason}."


def table_notes(evaluation: Evaluation, metrics: Sequence[str]) -> list[str]:
    """What the marks of printed tables mean, and which of these metrics have no values."""
    is_compared = len(evaluation.results) > 1 and defined_metrics(evaluation)
    undefined = [note[:1].upper() + note[1:] for note in undefined_notes(evaluation, metrics)]
    return [*([marks_note(evaluation, best="")] if is_compared else []), *undefined]


def summary_notes(evaluation: Evaluation) -> list[str]:
    """The notes of the main table, and how the crawls ended."""
    expected = SUMMARY_METRICS if is_default(evaluation) else evaluation.metrics
    return [*table_notes(evaluation, expected), *ending_notes(evaluation, summary_metrics(evaluation))]


# Tables. The best mean of a column is emphasised. A dagger means significantly worse: p of the two-sided test over
# topics, against the best, is below 5 % after Holm's correction over the strategies of the column.


def tests_of(evaluation: Evaluation, metric: str) -> list[AgainstBest]:
    """All strategies against the best, at each checkpoint."""
    values = np.array([result.by_topic[metric] for result in evaluation.results])
    is_low = metric in evaluation.lower_is_better
    return [against_best(values[:, :, at], lower_is_better=is_low) for at in range(values.shape[2])]


def metric_table(evaluation: Evaluation, metric: str) -> Table:
    """A row for each strategy, a column for each checkpoint."""
    curves = [result.curves[metric] for result in evaluation.results]
    steps = evaluation.checkpoints
    at = np.searchsorted(curves[0].steps, steps).tolist()
    tested = zip(steps, at, tests_of(evaluation, metric), strict=True)
    columns = {f"after {step:,} pages": _column(curves, index, test) for step, index, test in tested}
    caption = f"{metric_name(metric)}{'; lower is better' if metric in evaluation.lower_is_better else ''}"
    note = _note(evaluation, max(curve.n_topics for curve in curves), [metric])
    return _table(evaluation, f"values-{metric}", caption, columns, note)


def _table(evaluation: Evaluation, name: str, caption: str, columns: Mapping[str, list[Cell]], note: str) -> Table:
    """A row for each strategy."""
    rows = tuple(zip([Cell(result.strategy) for result in evaluation.results], *columns.values(), strict=True))
    return Table(name, caption, ("strategy", *columns), rows, note=note, best_sign="*")


def _note(evaluation: Evaluation, n_topics: int, metrics: Sequence[str]) -> str:
    spread = f"Mean ± standard error over {n_topics} topics." if n_topics > 1 else "One topic."
    return " ".join((spread, *_caveats(evaluation, metrics)))


def is_default(evaluation: Evaluation) -> bool:
    """Whether nobody chose the metrics."""
    return set(evaluation.metrics) >= USUAL_METRICS


def summary_metrics(evaluation: Evaluation) -> list[str]:
    """The metrics of the summary table that have values: the usual ones, or all if one of these is not evaluated."""
    defined = defined_metrics(evaluation)
    chosen = [metric for metric in SUMMARY_METRICS if metric in defined] if is_default(evaluation) else defined
    return chosen or defined


def summary_table(evaluation: Evaluation) -> Table:
    """A row for each strategy, a column for each metric of the summary, at the end of the crawls."""
    metrics = summary_metrics(evaluation)
    columns = {}
    for metric in metrics:
        curves = [result.curves[metric] for result in evaluation.results]
        low = " (lower is better)" if metric in evaluation.lower_is_better else ""
        columns[f"{metric_name(metric)}{low}"] = _column(curves, -1, tests_of(evaluation, metric)[-1])
    columns["pages"] = [Cell(f"{result.pages_per_crawl:,.0f}") for result in evaluation.results]
    if any(result.running_time is not None for result in evaluation.results):
        columns["simulated minutes"] = [Cell(_simulated_minutes(result)) for result in evaluation.results]
    caption = f"After {counted(evaluation.page_budget, 'page')}, in mode {evaluation.mode}"
    note = _note(evaluation, len(evaluation.topics), metrics)
    return _table(evaluation, "summary", caption, columns, note)


def main_table(evaluation: Evaluation, *, by_pages: bool) -> Table:
    """The one table that is printed: the summary, or a single metric by the number of pages."""
    metrics = summary_metrics(evaluation)
    is_single = len(defined_metrics(evaluation)) == 1 and not is_default(evaluation)
    if metrics and (by_pages or is_single):
        return metric_table(evaluation, metrics[0])
    return summary_table(evaluation)


def all_tables(evaluation: Evaluation) -> dict[str, Table]:
    """All tables: by the number of pages for each metric that has values, `cost`, `diagnostics` if a strategy has any,
    and `missing` if pages of topics with known pages were."""
    tables = {metric: metric_table(evaluation, metric) for metric in defined_metrics(evaluation)}
    more = {"diagnostics": diagnostics_table(evaluation), "missing": missing_table(evaluation)}
    return {**tables, "cost": cost_table(evaluation), **{name: table for name, table in more.items() if table}}


def _column(curves: Sequence[MeanCurve], at: int, test: AgainstBest) -> list[Cell]:
    """The means of all strategies; those that read the same as the best are emphasised too."""
    best = "" if test.best is None else format_number(float(curves[test.best].mean[at]))
    return [
        Cell(
            format_mean(float(curve.mean[at]), float(curve.standard_error[at])),
            mark=WORSE if p < ALPHA else "",
            emphasis=format_number(float(curve.mean[at])) == best,
        )
        for curve, p in zip(curves, test.p_corrected, strict=True)
    ]


def marks_note(evaluation: Evaluation, best: str = "The best mean of a column is bold.") -> str:
    """What the marks mean, or why there are none."""
    n_topics, n_strategies = len(evaluation.topics), len(evaluation.results)
    needed = observations_needed(n_strategies)
    if n_topics < needed:
        few = "1 topic is" if n_topics == 1 else f"{n_topics} topics are"
        return f"{best} {few} too few to test {n_strategies} strategies for significance: {needed} are needed.".strip()
    return (
        f"{best} {WORSE} significantly worse than the best: p of the test over topics, with Holm's correction over "
        "the column, is below 5 %."
    ).strip()


def cost_table(evaluation: Evaluation) -> Table:
    columns: dict[str, Callable[[StrategyResult], str]] = {
        "strategy": lambda result: result.strategy,
        "crawls": lambda result: f"{result.n_crawls:,}",
        "pages per crawl": lambda result: f"{result.pages_per_crawl:,.0f}",
        "CPU µs per page": lambda result: (
            NO_VALUE if isnan(result.cpu_us_per_page) else f"{result.cpu_us_per_page:,.1f}"
        ),
    }
    if any(result.running_time is not None for result in evaluation.results):
        columns["simulated minutes"] = _simulated_minutes
    is_timed = not any(isnan(result.cpu_us_per_page) for result in evaluation.results)
    return Table.build(
        "cost",
        f"Cost in mode {evaluation.mode}",
        columns,
        evaluation.results,
        note="" if is_timed else "The CPU time of some crawls was not measured.",
    )


def _simulated_minutes(result: StrategyResult) -> str:
    """As in wang2009: mean and standard error over topics."""
    time = result.running_time
    if time is None:
        return NO_VALUE
    spread = f" ± {time.standard_error_s / 60:,.2f}" if isfinite(time.standard_error_s) else ""
    return f"{time.mean_s / 60:,.2f}{spread}"


def diagnostics_table(evaluation: Evaluation) -> Table | None:
    """How strategies behaved, as means over crawls; None if none of them tells."""
    diagnosed = [ends for ends in evaluation.ends if ends.diagnostics]
    if not diagnosed:
        return None
    names = list(dict.fromkeys(name for ends in diagnosed for name in ends.diagnostics))
    columns: dict[str, Callable[[CrawlEnds], str]] = {"strategy": lambda ends: ends.strategy}
    for name in names:
        columns[name.replace("_", " ")] = lambda ends, name=name: format_number(ends.diagnostics.get(name, nan))  # type: ignore[misc]
    note = "Means over crawls. A choice entropy of 1, of InfoSpiders, is that of random choices."
    return Table.build("diagnostics", "How strategies behaved", columns, diagnosed, note=note)


def missing_table(evaluation: Evaluation) -> Table | None:
    """How often a strategy requested a page that is not in the recording, and the resulting bounds of its precision
    and recall; None if no page was missing, or no topic has known pages."""
    report = evaluation.closed_world
    if not any(gap.missing_per_page > 0 and isfinite(gap.precision.measured) for gap in report.gaps):
        return None
    orders = [
        f"By {measure} the order of {sum(order.is_safe for order in orders)} of {len(orders)} pairs is certain."
        for measure in ("precision", "recall")
        if (orders := [order for order in report.orders if order.measure == measure])
    ]
    return Table.build(
        "missing",
        f"Requested pages that the recording lacks, after {report.page_budget:,} pages",
        {
            "strategy": lambda gap: gap.strategy,
            "missing per page": lambda gap: format_number(gap.missing_per_page),
            "possible precision": lambda gap: format_range(gap.precision.low, gap.precision.high),
            "possible recall": lambda gap: format_range(gap.recall.low, gap.recall.high),
        },
        report.gaps,
        note=" ".join(("A missing page would have been visited, and may be relevant or not.", *orders)),
    )


# Charts


def evaluation_figure(evaluation: Evaluation) -> Figure:
    """The curves of all metrics that have values."""
    charts = tuple(curves_chart(evaluation, metric) for metric in defined_metrics(evaluation))
    return Figure("curves", "Curves", charts)


def curves_chart(evaluation: Evaluation, metric: str) -> Chart:
    is_low = metric in evaluation.lower_is_better
    return Chart(
        name=f"curves-{metric}",
        title=metric_name(metric).capitalize(),
        x_label="pages visited",
        y_label=f"{metric_name(metric)}{' (lower is better)' if is_low else ''}",
        series=tuple(
            curve_series(result.strategy, result.curves[metric], hidden=index >= MAX_VISIBLE_CURVES)
            for index, result in enumerate(evaluation.results)
        ),
        note=f"Means over topics. {ERRORS_NOTE}",
        lower_is_better=is_low,
    )


def curve_series(label: str, curve: MeanCurve, *, hidden: bool = False) -> Series:
    return Series(label, curve.steps.astype(np.float64), curve.mean, curve.standard_error, hidden)


# Settings


def _settings(about: Mapping[str, Any], folder: Path) -> Section:
    models = about.get("relevance_models", {}).items()
    return settings_section(
        (
            *setting_rows(about["settings"]),
            *((f"relevance model of {strategy}", str(model)) for strategy, model in models),
        ),
        about,
        _repeat(about, folder),
        "Command to repeat the crawls, for the topics stored in the run",
        "A relevance model trained on other topics of the original file needs that file: name it with --topics.",
    )


def _repeat(about: Mapping[str, Any], folder: Path) -> str:
    """The command that makes the crawls again, into a folder beside this one. Relevance models trained on topics that
    are not stored here would be trained on fewer."""
    run = folder.absolute()
    values = {"topics": run / "topics.jsonl", "out": run.with_name(f"{run.name}-again")}
    return reproduce_command("simulate", SimulateOptions, {**about["settings"], **values})
