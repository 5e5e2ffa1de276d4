"""Pictures of a validation, after the figures of johnson2003: bars with standard errors, and histograms of distances.

Figures 3 and 4 are `fitness`, 5 and 7 `community_cohesiveness`, 6 and 8 `overall_cohesiveness`, 9 and 10 `distances`.
A row of panels for topics trained on, and one for unseen topics, where there are any; bars are means over topics and
random seeds. Strategies go by the short names of the tables; the legend says which they are.
"""

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.lab.statistics import spread_told
from scenthound.lab.validating.measurements import SEED_SETS
from scenthound.lab.validating.measures import MEASURES
from scenthound.lab.validating.settings import SeedSet
from scenthound.lab.validating.validation import Validation
from scenthound.model import FloatArray
from scenthound.report.styles import COLOURS, new_figure, plain_axes
from scenthound.report.styles import require_figures as required

#: What bars show, and what their axes say.
BARS = {
    "fitness": MEASURES["fitness"],
    "community_cohesiveness": "community cohesiveness:\nlinks into the community per page of it",
    "overall_cohesiveness": "overall cohesiveness:\nlinks into the community per page visited",
}
FORMATS = ("png", "svg")
FEATURE = "Drawing a validation"
#: Of the room between two ticks, bars take so much.
WIDTH_OF_BARS = 0.8
PANEL_INCHES = (4.8, 3.2)
#: Bins of distances end where less than this share of the pages of every strategy lies beyond; the last holds them too.
FAR_SHARE = 0.005
MOST_TICKS = 12


def require_figures() -> None:
    """A word on how to get what draws, where it is not installed."""
    required(FEATURE)


def draw_validation(validation: Validation, folder: Path) -> list[Path]:
    """Write every picture into a folder, in every format."""
    figures = {name: _bars(validation, name) for name in BARS}
    figures["distances"] = _histograms(validation)
    written = []
    for name, figure in figures.items():
        for ending in FORMATS:
            written.append(folder / f"{name}.{ending}")
            figure.savefig(written[-1], dpi=120)
    return written


def _bars(validation: Validation, measure: str) -> Any:
    """A panel for each group and seed set: budgets side by side, a bar for each strategy."""
    groups = validation.settings.groups()
    figure = _figure(validation, n_rows=len(groups))
    for row, (group, topics) in enumerate(groups.items()):
        axes = None
        for column, seed_set in enumerate(SEED_SETS):
            axes = figure.add_subplot(len(groups), 2, 2 * row + column + 1, sharey=axes)
            spread = _draw_bars(axes, validation, measure, topics, seed_set)
            axes.set_title(f"{_told(topics, group)}, {seed_set} seed set\n{spread}", fontsize="small")
            _finish(axes, "pages visited", BARS[measure])
    return _with_legend(figure)


def _draw_bars(axes: Any, validation: Validation, measure: str, topics: Sequence[int], seed_set: SeedSet) -> str:
    """Answers with what bars and the lines on them are."""
    budgets, drawn = validation.settings.budgets, []
    for strategy, (offset, width, look) in enumerate(bar_places(_names(validation))):
        samples = [
            validation.measurements.sample(measure, strategy, topics, seed_set, place) for place in range(len(budgets))
        ]
        means, errors = ([getattr(each, name) for each in samples] for name in ("mean", "standard_error"))
        axes.bar(np.arange(len(budgets)) + offset, means, width, yerr=np.nan_to_num(errors), capsize=2, **look)
        drawn += samples
    axes.set_xticks(range(len(budgets)), [f"{budget:,}" for budget in budgets])
    return spread_told(drawn)


def _histograms(validation: Validation) -> Any:
    """A panel for each group, of all pages and of the good ones, at the largest budget; both seed sets together."""
    groups, measured = validation.settings.groups(), validation.measurements
    figure = _figure(validation, n_rows=len(groups))
    kinds = {"pages": measured.distances, "good pages": measured.good_distances}
    for row, (group, topics) in enumerate(groups.items()):
        for column, (pages, counts) in enumerate(kinds.items()):
            axes = figure.add_subplot(len(groups), 2, 2 * row + column + 1)
            draw_histogram(axes, _names(validation), counts[:, list(topics)][..., -1, :].mean(axis=(1, 2, 3)))
            about = f"{_told(topics, group)}, {pages} among the first {validation.settings.budgets[-1]:,}"
            axes.set_title(f"{about}\nmean over crawls from both seed sets", fontsize="small")
            _finish(axes, "links from the seeds of the crawl", f"{pages} per crawl")
    return _with_legend(figure)


def draw_histogram(axes: Any, names: Sequence[str], counts: FloatArray) -> None:
    """`counts` are by strategy and distance, `names` those of the strategies."""
    near, is_cut = without_far_bins(counts)
    for row, (offset, width, look) in zip(near, bar_places(names), strict=True):
        axes.bar(np.arange(len(row)) + offset, row, width, **look)
    last = near.shape[1] - 1
    ticks = range(last, -1, -(last // MOST_TICKS + 1))
    axes.set_xticks(ticks, [f"{tick} or more" if is_cut and tick == last else str(tick) for tick in ticks])


def without_far_bins(counts: FloatArray) -> tuple[FloatArray, bool]:
    """Counts by strategy and distance without the empty end, what is far put into the last bin; and whether any was."""
    # Summed from the far end, so that nothing beyond is exactly 0.
    from_here_on = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    beyond = np.pad(from_here_on[:, 1:], ((0, 0), (0, 1)))
    is_little = (beyond == 0) | (beyond < FAR_SHARE * from_here_on[:, :1])
    last = int(is_little.all(axis=0).argmax())
    near = counts[:, : last + 1].copy()
    near[:, last] += beyond[:, last]
    return near, bool((beyond[:, last] > 0).any())


def _names(validation: Validation) -> list[str]:
    settings = validation.settings
    return [f"{label}: {spec}" for label, spec in zip(settings.labels, settings.all_strategies, strict=True)]


def bar_places(names: Sequence[str]) -> Iterator[tuple[float, float, dict[str, Any]]]:
    """Where the bar of each name stands beside a tick, how wide it is and how it looks."""
    width = WIDTH_OF_BARS / len(names)
    for place, (name, colour) in enumerate(zip(names, cycle(COLOURS), strict=False)):
        yield (place + 0.5) * width - WIDTH_OF_BARS / 2, width, {"color": colour, "label": name}


def _told(topics: Sequence[int], group: str) -> str:
    return f"{len(topics)} topic{'s' if len(topics) > 1 else ''} {group}"


def _figure(validation: Validation, n_rows: int) -> Any:
    width, height = PANEL_INCHES
    legend_inches = 0.25 * len(validation.settings.all_strategies)
    return new_figure(2 * width, n_rows * height + legend_inches, FEATURE)


def _finish(axes: Any, x_label: str, y_label: str) -> None:
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label, fontsize="small")
    plain_axes(axes, grid="y")


def _with_legend(figure: Any) -> Any:
    """One line for each strategy, because names with parameters are long."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=1, frameon=False, fontsize="small")
    return figure
