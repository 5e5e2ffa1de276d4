"""The tables of a run's page: every metric at some numbers of pages, with marks, and what the crawls cost.

Rules
- The best mean of a column is emphasised. A star says that a strategy is clearly worse: p of sign flips over topics,
  two-sided, against the best, is below 5 % after Holm's correction over the strategies of the column.
- Without a star nothing is said: too few topics, or too little difference. The note tells if topics are too few.
"""

from collections.abc import Iterator
from math import isfinite, isnan

import numpy as np

from scenthound.lab.comparing.ranking import observations_needed
from scenthound.lab.evaluate import Evaluation, StrategyResult
from scenthound.lab.statistics import AgainstBest, MeanCurve, against_best
from scenthound.lab.statistics.equivalence import ALPHA
from scenthound.report.number_words import NOTHING, mean_told, number_told
from scenthound.report.page.values import Cell, TableBlock

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
