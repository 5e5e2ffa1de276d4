"""A comparison from files to a folder: ranking, table of crawls, pictures, page; crawls are kept for the next run.

comparison.json  removed before anything is written, and written last: where it is, all files belong together
report.html      the page that shows it all
comparison.csv, ranking.svg, ranking.png; of a sweep also sweep.svg, sweep.png
training/        the pages that the winner's guide learnt from, if it did: made anew by every run
crawls/          the crawls that were made, so that the next run need not make them

All is drawn and told before the result of an earlier run is touched.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scenthound.experiments.compare.comparison import StrategyComparison, compare_strategies
from scenthound.experiments.compare.ranking import Mark, Placed, row_name
from scenthound.experiments.compare.results import (
    CRAWLS_FOLDER,
    PICTURES,
    RANKING_FILE,
    REPORT_FILE,
    TABLE_FILE,
    TRAINING_FOLDER,
    as_json,
    comparison_folder,
    crawls_csv,
    parse_comparison,
)
from scenthound.experiments.compare.settings import ComparisonSettings, Contestant
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.statistics import PairedSample, spread_told
from scenthound.files import write_atomic
from scenthound.model import Progress, silent
from scenthound.registry import Value, format_value
from scenthound.ui.figures import (
    COLOURS,
    drawn,
    looks,
    new_figure,
    picture_bytes,
    plain_axes,
    require_figures,
    settle,
    shared_legend,
)
from scenthound.ui.formats import json_text
from scenthound.ui.html import page_html
from scenthound.ui.reports.comparison import comparison_page

# Pictures of a comparison: the ranking, and the metric against a parameter that was swept.
#
# Points are means, and the bars at them one standard error to each side. Of a sweep, the first parameter is the axis:
# numbers that span more than a factor of 10 on a logarithmic one; if one value is a word or `none`, all are
# categories. There is a line for each strategy and each value of the other parameters.

FEATURE = "Drawing a comparison"
#: As many letters of a topic's id leave room for the rest of the title.
LONGEST_TOPIC = 40
#: Values that span more than this factor stand on a logarithmic axis.
LONG_SPAN = 10
#: A value of a sweep, and the row of the ranking that tells of its crawls.
Swept = tuple[Contestant, Placed]
#: Colour, shape and words for each mark.
LOOKS = {
    Mark.BEST: (COLOURS[0], "o", "best, or shown to be as good"),
    Mark.ALIKE: (COLOURS[0], "o", "best, or shown to be as good"),
    Mark.UNCLEAR: (COLOURS[4], "D", "not clear"),
    Mark.WORSE: ("#777777", "s", "clearly worse"),
}


def ranking_figure(done: StrategyComparison) -> Any:
    """Every contestant in a line of its own, the best on top; dashed lines are the bounds."""
    figure = new_figure(7.2, 1.6 + 0.26 * len(done.ranking), FEATURE)
    axes = figure.add_subplot()
    for placed in done.ranking:
        colour, shape, words = LOOKS[placed.mark]
        error = np.nan_to_num(placed.standard_error)
        axes.errorbar(placed.mean, -placed.place, xerr=error, fmt=shape, color=colour, label=words)
    axes.set_yticks([-placed.place for placed in done.ranking], [drawn(row_name(placed)) for placed in done.ranking])
    axes.set_ylim(-len(done.ranking) - 0.6, -0.4)
    _draw_bounds(axes, done)
    axes.set_xlabel(_axis_label(done))
    axes.set_title(_title(done), fontsize="small")
    plain_axes(axes)
    shared_legend(figure)
    settle(figure)
    return figure


def _draw_bounds(axes: Any, done: StrategyComparison) -> None:
    bounds = {"random crawl": done.measured.random.mean(), "crawl that knows all": done.measured.oracle.mean()}
    for (name, value), style in zip(bounds.items(), (":", "--"), strict=True):
        if np.isfinite(value):
            axes.axvline(value, linestyle=style, color="#777777", linewidth=1, label=name)


def sweep_figure(done: StrategyComparison) -> Any:
    """The metric against the first parameter."""
    figure = new_figure(6.4, 4.4, FEATURE)
    axes = figure.add_subplot()
    in_order = _in_order(done)
    places = _places(axes, list(dict.fromkeys(contestant.swept[0] for contestant, _ in in_order)))
    lines: dict[str, list[Swept]] = {}
    for contestant, placed in in_order:
        lines.setdefault(_line_name(done, contestant), []).append((contestant, placed))
    for (name, points), look in zip(lines.items(), looks(list(lines)).values(), strict=True):
        axes.errorbar(
            [places[contestant.swept[0]] for contestant, _ in points],
            [placed.mean for _, placed in points],
            yerr=np.nan_to_num([placed.standard_error for _, placed in points]),
            color=look.colour,
            linestyle=look.style,
            marker=look.mark,
            capsize=3,
            label=name,
        )
    axes.set_xlabel(drawn(done.settings.sweeps[0].parameter))
    axes.set_ylabel(_axis_label(done))
    axes.set_title(_title(done), fontsize="small")
    plain_axes(axes)
    shared_legend(figure)
    settle(figure)
    return figure


def _in_order(done: StrategyComparison) -> list[Swept]:
    """Every value, also those that share a row: by the first parameter where its values are numbers, else as given."""
    row_of = {contestant: placed for placed in done.ranking for contestant in (placed.contestant, *placed.also)}
    points = [(contestant, row_of[contestant]) for contestant in done.contestants]
    if _are_numbers([contestant.swept[0] for contestant, _ in points]):
        points.sort(key=lambda point: float(point[0].swept[0] or 0))
    return points


def _line_name(done: StrategyComparison, contestant: Contestant) -> str:
    others = zip(done.settings.sweeps[1:], contestant.swept[1:], strict=True)
    return ", ".join([contestant.base, *(f"{sweep.parameter}={format_value(value)}" for sweep, value in others)])


def _places(axes: Any, values: Sequence[Value]) -> dict[Value, float]:
    """Where each value stands on the axis, which is made to show them."""
    are_numbers = _are_numbers(values)
    places = {value: float(value or 0) if are_numbers else float(place) for place, value in enumerate(values)}
    low, high = min(places.values()), max(places.values())
    if are_numbers and low > 0 and high / low > LONG_SPAN:
        axes.set_xscale("log")
    axes.set_xticks(list(places.values()), [drawn(format_value(value)) for value in values])
    axes.minorticks_off()
    return places


def _are_numbers(values: Sequence[Value]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _axis_label(done: StrategyComparison) -> str:
    better = "less is better" if done.lower_is_better else "more is better"
    metric, _, pages = done.by.partition("@")
    return drawn(f"{metric.replace('_', ' ')} after {int(pages):,} pages ({better})")


def _title(done: StrategyComparison) -> str:
    topics = done.measured.topics
    about = f"topic {drawn(topics[0], LONGEST_TOPIC)}" if len(topics) == 1 else f"{len(topics)} topics"
    return f"{about}: {spread_told([PairedSample(done.measured.values[0])])}"


def compare_into(
    out: Path | None,
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> StrategyComparison:
    """Compare, and leave all that came of it in the folder `out`; without one, crawls are kept nowhere."""
    learnt_from = out / TRAINING_FOLDER if out is not None else None
    with _crawls_of(out, setup) as crawls:
        done = compare_strategies(setup, settings, crawls, learnt_from=learnt_from, workers=workers, progress=progress)
        if out is not None:
            _write(done, out)
    return done


@contextmanager
def _crawls_of(out: Path | None, setup: ExperimentSetup) -> Iterator[Path]:
    if out is None:
        with TemporaryDirectory(prefix="scenthound-compare-") as folder:
            yield Path(folder)
        return
    require_figures(FEATURE)
    with comparison_folder(out, setup.train_from):
        yield out / CRAWLS_FOLDER


def _write(done: StrategyComparison, out: Path) -> None:
    values = as_json(done)
    ranking = (json_text(values, indent=1) + "\n").encode("utf-8")
    page = page_html(comparison_page(parse_comparison(values)))
    texts = {TABLE_FILE: crawls_csv(done), REPORT_FILE: page}
    contents = {**{name: text.encode("utf-8") for name, text in texts.items()}, **_pictures(done)}
    training = done.model_pages.files() if done.model_pages else {}
    (out / RANKING_FILE).unlink(missing_ok=True)
    for name, content in contents.items():
        write_atomic(out / name, content)
    for name in PICTURES.difference(contents):
        (out / name).unlink(missing_ok=True)
    _write_training(training, out / TRAINING_FOLDER)
    write_atomic(out / RANKING_FILE, ranking)


def _write_training(texts: Mapping[str, str], folder: Path) -> None:
    """Pages of an earlier run would teach the guide something else."""
    if folder.exists():
        shutil.rmtree(folder)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / name, text.encode("utf-8"))


def _pictures(done: StrategyComparison) -> dict[str, bytes]:
    figures = {"ranking": ranking_figure(done)}
    if done.settings.sweeps:
        figures["sweep"] = sweep_figure(done)
    return {
        f"{name}.{form}": picture_bytes(figure, form) for name, figure in figures.items() for form in ("svg", "png")
    }
