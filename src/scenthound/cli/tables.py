"""Tables on the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scenthound.cli.terminal import say
from scenthound.errors import printable

if TYPE_CHECKING:
    from rich.console import JustifyMethod

    from scenthound.experiments.closed_world import ClosedWorldReport, Interval
    from scenthound.experiments.evaluate import Evaluation, RunningTime, StrategyResult
    from scenthound.experiments.statistics import MeanCurve


#: Longer words, which are URLs, may be broken.
MOST_UNBROKEN = 18
#: Of each column, its blanks included.
WIDTH_OF_FRAME = 3
#: Of a table of metrics, with what frames them.
WIDTH_OF_NAME, WIDTH_OF_FIGURE = 22, 17


def print_table(title: str, columns: list[str], rows: list[list[str]], n_words: int = 1) -> None:
    """A table. The first `n_words` columns are words and stand to the left, the others are figures."""
    table, console = Table(), _console()
    widths = _widths([[column, *(row[place] for row in rows)] for place, column in enumerate(columns)], console.width)
    for place, column in enumerate(columns):
        justify: JustifyMethod = "left" if place < n_words else "right"
        table.add_column(column, justify=justify, overflow="fold", width=widths[place])
    for row in rows:
        # Plain text: what came from a page or a topic file must not be read as markup.
        table.add_row(*(Text("\n".join(map(printable, cell.split("\n")))) for cell in row))
    console.print(title, style="bold", highlight=False, markup=False)
    console.print(table)


def _widths(columns: list[list[str]], available: int) -> list[int]:
    """As wide as their cells, or as it takes to fit: the widest lose first, and none so much that a word breaks."""
    widths = [max(cell_len(line) for cell in cells for line in cell.split("\n")) for cells in columns]
    least = [_longest_word(cells) for cells in columns]
    too_much = sum(widths) + WIDTH_OF_FRAME * len(columns) + 1 - available
    for _ in range(too_much):
        place = max(range(len(widths)), key=lambda place: (widths[place] > least[place], widths[place]))
        widths[place] = max(1, widths[place] - 1)
    return widths


def _longest_word(cells: list[str]) -> int:
    return max(
        (cell_len(word) for cell in cells for word in cell.split() if cell_len(word) <= MOST_UNBROKEN), default=0
    )


def _console() -> Console:
    """As wide as the terminal, or wide enough for any table when the output goes to a file."""
    console = Console()
    return console if console.is_terminal else Console(width=160)


def print_evaluation(evaluation: Evaluation) -> None:
    """The metrics, and what the crawls cost."""
    print_metrics(evaluation)
    columns = ["strategy", "crawls", "pages per crawl", "CPU µs per page", "simulated minutes"]
    has_clock = any(result.running_time is not None for result in evaluation.results)
    n_shown = len(columns) if has_clock else len(columns) - 1
    rows = [_cost_row(result)[:n_shown] for result in evaluation.results]
    print_table(f"cost in mode {evaluation.mode}", columns[:n_shown], rows)
    if any(math.isnan(result.cpu_us_per_page) for result in evaluation.results):
        say("Compiled crawls are not timed page by page; `scenthound simulate --plain` measures CPU time.")


def _cost_row(result: StrategyResult) -> list[str]:
    cpu_us = "-" if math.isnan(result.cpu_us_per_page) else f"{result.cpu_us_per_page:.1f}"
    pages = f"{result.pages_per_crawl:,.0f}"
    return [result.strategy, f"{result.n_crawls:,}", pages, cpu_us, _minutes(result.running_time)]


def _minutes(time: RunningTime | None) -> str:
    """As the study of 2009 tells running times: mean and standard error over topics, in minutes."""
    if time is None:
        return "-"
    spread = f" ± {time.standard_error_s / 60:,.2f}" if math.isfinite(time.standard_error_s) else ""
    return f"{time.mean_s / 60:,.2f}{spread}"


def print_missing_pages(report: ClosedWorldReport) -> None:
    """How often each strategy wanted a page that the recording lacks, and what that leaves of its measures."""
    if not any(gap.missing_per_page > 0 for gap in report.gaps):
        return
    rows = [
        [gap.strategy, f"{gap.missing_per_page:.3f}", _between(gap.precision), _between(gap.recall)]
        for gap in report.gaps
    ]
    heads = ["strategy", "missing per page", "precision could be", "recall could be"]
    print_table(f"pages wanted that the recording lacks, after {report.page_budget:,} pages", heads, rows)
    for measure in ("precision", "recall"):
        orders = [order for order in report.orders if order.measure == measure]
        if orders:
            n_safe = sum(order.is_safe for order in orders)
            say(f"By {measure} the order of {n_safe} of {len(orders)} pairs is safe, whatever the missing pages are.")


def _between(interval: Interval) -> str:
    return "-" if math.isnan(interval.low) else f"{interval.low:.3f} to {interval.high:.3f}"


def print_metrics(evaluation: Evaluation) -> None:
    """One table for each metric that has values, the best mean of each column marked."""
    without_values = evaluation.undefined
    for metric in evaluation.metrics:
        if metric in without_values:
            continue
        is_low_good = metric in evaluation.lower_is_better
        curves = {result.strategy: result.curves[metric] for result in evaluation.results}
        n_topics = max(curve.n_topics for curve in curves.values())
        print_table(
            f"{metric}: mean ± standard error over {n_topics} topic{'s' if n_topics != 1 else ''}; "
            f"{'low is good; ' if is_low_good else ''}* best",
            ["strategy", *(f"@{step}" for step in evaluation.checkpoints)],
            _metric_rows(
                curves,
                evaluation.checkpoints,
                "\n" if _is_narrow(len(evaluation.checkpoints)) else " ",
                is_low_good=is_low_good,
            ),
        )
    for metric in without_values:
        say(f"Left out: {metric}{_needed(evaluation.needs.get(metric, ''))}.")


def _needed(needs: str) -> str:
    return f" needs {needs}, and no topic here has that" if needs else " has no value for any topic"


def _is_narrow(n_figures: int) -> bool:
    """Whether a table of so many figures needs two lines for each."""
    return _console().width < WIDTH_OF_NAME + n_figures * WIDTH_OF_FIGURE


def _metric_rows(
    curves: dict[str, MeanCurve], checkpoints: tuple[int, ...], between: str, *, is_low_good: bool
) -> list[list[str]]:
    points = {strategy: [_point(curve, step) for step in checkpoints] for strategy, curve in curves.items()}
    best = [_best([row[place][0] for row in points.values()], is_low_good) for place in range(len(checkpoints))]
    return [
        [strategy, *(_shown(point, top, between) for point, top in zip(row, best, strict=True))]
        for strategy, row in points.items()
    ]


def _best(means: list[float], is_low_good: bool) -> float:
    known = [mean for mean in means if not math.isnan(mean)] or [math.nan]
    return min(known) if is_low_good else max(known)


def _point(curve: MeanCurve, step: int) -> tuple[float, float]:
    place = int(curve.steps.searchsorted(step))
    return float(curve.mean[place]), float(curve.standard_error[place])


def _shown(point: tuple[float, float], best: float, between: str) -> str:
    mean, error = point
    if math.isnan(mean):
        return "-"
    spread = f"± {error:.3f}" if math.isfinite(error) else ""
    mark = "*" if round(mean, 3) == round(best, 3) else " "
    if between == "\n":
        return f"{mean:.3f}{mark}\n{spread} "
    return f"{mean:.3f} {spread}{mark}" if spread else f"{mean:.3f}{mark}"
