"""The figures of johnson2003, with its axes: a bar for each length of crawl beside every strategy, and histograms.

Figures 3 to 10 are those of the paper where two topics were searched on, the sparser one in the place of middle eastern
dance and the denser one in that of baseball. Beyond the paper there are the same figures for topics that no search saw,
and how the searches went.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from scenthound.lab.statistics import spread_told
from scenthound.lab.studies.johnson2003.judging import GROUPS
from scenthound.lab.studies.johnson2003.study import Johnson2003Study
from scenthound.lab.validating.measurements import SEED_SETS
from scenthound.lab.validating.settings import SeedSet
from scenthound.report.styles import looks, new_figure, picture_bytes, plain_axes, shared_legend
from scenthound.report.validations.figures import bar_places, draw_histogram
from scenthound.strategies.rank_file import read_rank_file

FEATURE = "Drawing a study"
PANEL_INCHES = (4.9, 3.4)
LEGEND_INCHES = 0.45
#: A single panel is so many times as wide, or its legend would have no room.
SINGLE_WIDTH = 1.3
#: The measures that bars show: what captions call them, and what the axes say.
BARS = {
    "fitness": ("Fitness", "fitness: good pages / pages"),
    "community_cohesiveness": ("Community cohesiveness", "links into the community\nper page of the community"),
    "overall_cohesiveness": ("Overall cohesiveness", "links into the community\nper page visited"),
}
DISTANCES = "distances"
SEARCHES_CAPTION = "Fitness in the searches: of the best individual, and in the mean"
#: The numbers of the paper's figures: of the sparse topic, and of the dense one.
NUMBERS = {"fitness": (3, 4), "community_cohesiveness": (5, 7), "overall_cohesiveness": (6, 8), DISTANCES: (10, 9)}


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """A figure in both formats."""

    name: str
    caption: str
    svg: bytes
    png: bytes


@dataclass(frozen=True, slots=True)
class Wanted:
    """A figure that is to be drawn: a measure on some topics, which go by their places. It has a number if the paper
    has it."""

    measure: str
    told: str
    ending: str
    topics: Sequence[int]
    number: int | None

    @property
    def name(self) -> str:
        if self.number is not None:
            return f"figure-{self.number}"
        return f"{self.measure.replace('_', '-')}-{self.ending}"

    @property
    def head(self) -> str:
        """What it shows, with its number."""
        what = BARS[self.measure][0] if self.measure in BARS else "Distances from the seeds"
        return what if self.number is None else f"Figure {self.number}: {what}"

    @property
    def caption(self) -> str:
        return f"{self.head}, {self.told}"


def draw_study(study: Johnson2003Study) -> Iterator[DrawnFigure]:
    """All figures, those of the paper first and in its order."""
    for wanted in wanted_figures(study):
        draw = _bars if wanted.measure in BARS else _histograms
        yield _drawn(wanted.name, wanted.caption, draw(study, wanted))
    yield _drawn("searches", SEARCHES_CAPTION, _searches(study))


def wanted_figures(study: Johnson2003Study) -> list[Wanted]:
    """For each topic that was searched on, and for all unseen ones together."""
    settings = study.validation.settings
    is_as_published = len(settings.trained) == len(NUMBERS[DISTANCES])
    wanted = [
        Wanted(measure, f"topic {topic.id}", f"topic-{place + 1}", [place], numbers[place] if is_as_published else None)
        for place, topic in enumerate(settings.trained)
        for measure, numbers in NUMBERS.items()
    ]
    unseen = settings.groups().get("unseen", range(0))
    if unseen:
        told = f"{len(unseen)} {GROUPS['unseen']}" if len(unseen) > 1 else "1 unseen topic"
        wanted += [Wanted(measure, told, "unseen", unseen, None) for measure in NUMBERS]
    return sorted(wanted, key=lambda each: inf if each.number is None else each.number)


def _drawn(name: str, caption: str, figure: Any) -> DrawnFigure:
    svg = picture_bytes(figure, "svg")
    figure.set_layout_engine("none")  # Everything has its place by now; to find it again takes as long as to draw.
    return DrawnFigure(name, caption, svg, picture_bytes(figure, "png"))


def _bars(study: Johnson2003Study, wanted: Wanted) -> Any:
    """A panel for each seed set: strategies side by side, a bar for each length."""
    figure = _panels()
    axes = None
    for place, seed_set in enumerate(SEED_SETS, 1):
        axes = figure.add_subplot(1, 2, place, sharey=axes)
        spread = _draw_bars(axes, study, wanted, seed_set)
        axes.set_title(f"{seed_set} seed set\n{spread}", fontsize="small")
        axes.set_xlabel("strategy")
        axes.set_ylabel(BARS[wanted.measure][1], fontsize="small")
        plain_axes(axes, grid="y")
    shared_legend(figure)
    return figure


def _draw_bars(axes: Any, study: Johnson2003Study, wanted: Wanted, seed_set: SeedSet) -> str:
    """Answers with what bars and the lines on them are."""
    measured, budgets = study.validation.measurements, study.validation.settings.budgets
    places = np.arange(len(study.labels))
    drawn = []
    for budget, (offset, width, look) in enumerate(bar_places([f"{pages:,} pages" for pages in budgets])):
        samples = [measured.sample(wanted.measure, each, wanted.topics, seed_set, budget) for each in places.tolist()]
        means, errors = [each.mean for each in samples], [each.standard_error for each in samples]
        axes.bar(places + offset, means, width, yerr=np.nan_to_num(errors), capsize=2, **look)
        drawn += samples
    axes.set_xticks(places, study.labels)
    return spread_told(drawn)


def _histograms(study: Johnson2003Study, wanted: Wanted) -> Any:
    """All pages, and the good ones, in crawls of the greatest length; both seed sets together."""
    measured, budgets = study.validation.measurements, study.validation.settings.budgets
    figure = _panels()
    kinds = {"pages": measured.distances, "good pages": measured.good_distances}
    for place, (pages, counts) in enumerate(kinds.items(), 1):
        axes = figure.add_subplot(1, 2, place)
        draw_histogram(axes, study.labels, counts[:, list(wanted.topics)][..., -1, :].mean(axis=(1, 2, 3)))
        axes.set_title(f"{pages} among the first {budgets[-1]:,}\nmean over crawls", fontsize="small")
        axes.set_xlabel("links from the seeds")
        axes.set_ylabel(f"number of {pages}", fontsize="small")
        plain_axes(axes, grid="y")
    shared_legend(figure)
    return figure


def _searches(study: Johnson2003Study) -> Any:
    """The best and the mean fitness of each generation, for each search."""
    figure = _panels(SINGLE_WIDTH)
    axes = figure.add_subplot()
    labels = study.labels[1 : 1 + len(study.searches)]
    for label, look, search in zip(labels, looks(labels).values(), study.searches, strict=True):
        history = read_rank_file(search.evolution.result).history
        generations = [each.generation for each in history]
        for kind, style in (("best", "-"), ("mean", "--")):
            values = [getattr(each, kind) for each in history]
            axes.plot(generations, values, style, color=look.colour, label=f"{label}, {kind}")
    axes.set_xlabel("generation")
    axes.set_ylabel(BARS["fitness"][1], fontsize="small")
    axes.xaxis.get_major_locator().set_params(integer=True)
    plain_axes(axes)
    shared_legend(figure)
    return figure


def _panels(n_panels: float = 2) -> Any:
    width, height = PANEL_INCHES
    return new_figure(n_panels * width, height + LEGEND_INCHES, FEATURE)
