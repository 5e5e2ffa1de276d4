"""What there is to say of a run of johnson2003: in `study.json`, in `findings.json`, and on the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from scenthound.experiments.johnson2003.searches import GROUPS
from scenthound.experiments.johnson2003.study import Johnson2003Study, run_johnson2003
from scenthound.experiments.statistics import spread_told
from scenthound.experiments.study.results import (
    REPORT_FILE,
    SETTINGS_FILE,
    settings_toml,
    study_folder,
    table_files,
    write_results,
)
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.study import Timing
from scenthound.experiments.validate.crawls import SEED_SETS
from scenthound.experiments.validate.settings import SeedSet
from scenthound.model import Progress, silent
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import ResultFolder
from scenthound.strategies.rank_file import read_rank_file
from scenthound.ui.document import Chart, Section, Series, WinLoss
from scenthound.ui.figures import looks, new_figure, picture_bytes, plain_axes, require_figures, shared_legend
from scenthound.ui.html import page_html
from scenthound.ui.reports.search import history_series
from scenthound.ui.reports.study import StudyPage, page_of, verdicts_told
from scenthound.ui.reports.study_about import (
    all_facts,
    common_findings,
    common_values,
    reproduce_command,
    verdict_lines,
)
from scenthound.ui.reports.study_folder import SHARE_OF_CRAWLS
from scenthound.ui.reports.validation import ValidationCharts
from scenthound.ui.reports.validation_folder import CRAWLS_FILE, bar_places, crawls_csv, draw_histogram
from scenthound.ui.reports.validation_folder import READING as READING_A_VALIDATION

# The figures of johnson2003, with its axes: a bar for each length of crawl beside every strategy, and histograms.
#
# Figures 3 to 10 are those of the paper where two topics were searched on, the sparser one in the place of middle
# eastern dance and the denser one in that of baseball. Beyond the paper there are the same figures for topics that no
# search saw, and how the searches went.

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


# The figures of johnson2003 as charts of its page: the same measures on the same topics as its figures, and how the
# searches went.


def figure_sections(study: Johnson2003Study) -> Iterator[Section]:
    """A section for each topic that was searched on, and for the unseen ones together; the searches last."""
    by_topics: dict[str, list[Chart]] = {}
    for wanted in wanted_figures(study):
        by_topics.setdefault(wanted.told, []).extend(_charts(study, wanted))
    for told, charts in by_topics.items():
        yield Section(told[:1].upper() + told[1:], tuple(charts))
    yield Section(SEARCHES_CAPTION, (_johnson2003_charts_searches(study),))


def _charts(study: Johnson2003Study, wanted: Wanted) -> Iterator[Chart]:
    measured, budgets = study.validation.measurements, study.validation.settings.budgets
    charts = ValidationCharts(measured, study.labels, budgets, wanted.topics, wanted.ending)
    return charts.bars(wanted.measure, wanted.head) if wanted.measure in BARS else charts.distances(wanted.head)


def win_losses(study: Johnson2003Study) -> Iterator[WinLoss]:
    """The strategies against Best-First, on all topics."""
    validation = study.validation
    names = [topic.id for topic in validation.settings.topics]
    places, budgets = range(len(names)), validation.settings.budgets
    yield ValidationCharts(validation.measurements, study.labels, budgets, places, "topics").win_loss(names)


def _johnson2003_charts_searches(study: Johnson2003Study) -> Chart:
    series: list[Series] = []
    for label, search in zip(study.labels[1:], study.searches, strict=False):
        series += history_series(read_rank_file(search.evolution.result).history, f"{label}, ")
    return Chart("searches", "Fitness by generation", "generation", BARS["fitness"][1], tuple(series))


#: What a reader of the findings must know.
READING = (
    f"{READING_A_VALIDATION} Which topics are dense is told among the topics searched on by themselves, and among the "
    "unseen ones."
)


def study_values(study: Johnson2003Study) -> dict[str, Any]:
    """Plain values for `study.json`."""
    settings = study.validation.settings
    return common_values(study) | {
        "strategies": dict(zip(study.labels, settings.all_strategies, strict=True)),
        "searches": [_search(study, place) for place in range(len(study.searches))],
        "topics": {"searched_on": [topic.id for topic in settings.trained], "unseen": [t.id for t in settings.unseen]},
        "page_budgets": list(settings.budgets),
    }


def _search(study: Johnson2003Study, place: int) -> dict[str, Any]:
    search = study.searches[place]
    evolution = search.evolution
    return {
        "topic": search.topic,
        "folder": evolution.folder.name,
        "individuals": evolution.summary.n_evaluated,
        "crawled_for": evolution.n_evaluated,
        "visits": evolution.n_visits,
        "visits_now": evolution.n_visits_now,
        "best_fitness": evolution.best.fitness,
    }


def findings_values(study: Johnson2003Study) -> dict[str, Any]:
    """Plain values for `findings.json`."""
    return common_findings(study, len(study.validation.settings.topics), f"{study.names_told} {READING}")


def study_page(study: Johnson2003Study, settings_text: str, out: Path) -> StudyPage:
    """The page of the study, whose folder is `out`."""
    return StudyPage(
        title=f"{study.settings.study}: {study.settings.title}",
        summary=(
            f"{verdicts_told(study.findings)}.",
            study.names_told,
            *verdict_lines(study.findings),
            _setting_told(study),
        ),
        findings=study.findings,
        figures=tuple(figure_sections(study)),
        won=tuple(win_losses(study)),
        tables=study.tables,
        notes=tuple(note for note in study.notes if note != study.names_told),
        facts=tuple(all_facts(study, _facts(study))),
        reading=READING,
        settings=settings_text,
        command=reproduce_command(study, out),
    )


def _setting_told(study: Johnson2003Study) -> str:
    settings = study.validation.settings
    budgets = ", ".join(f"{budget:,}" for budget in settings.budgets)
    n_searched, n_unseen = len(settings.trained), len(settings.unseen)
    return (
        f"On the recorded web {study.web.name}, {study.n_pages:,} pages: {n_searched} topics searched on and "
        f"{n_unseen} unseen ones, {settings.repeats} random seeds, crawls of {budgets} pages from two seed sets, "
        f"{study.n_crawls:,} crawls in all."
    )


def _facts(study: Johnson2003Study) -> Iterator[tuple[str, str]]:
    for label, spec in zip(study.labels, study.validation.settings.all_strategies, strict=True):
        yield f"strategy {label}", spec


# johnson2003 from files to a folder: searches, measurements, findings, figures, tables and the page that shows them.
#
# The folder is that of other studies (`place`), with two more within it: `search/` has a folder for each search,
# `measured/` what was measured of the crawls that judge. What is there already is not made again. In the place of
# measures.csv and topics.csv it has `crawls.csv`, with a row for each crawl and length.


def johnson2003_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Run the study, and leave all that came of it in the folder `out`. Run again, it does only what is new."""
    require_figures(FEATURE)
    with study_folder(out, settings.study, open_web(web, progress).fingerprint) as folder:
        study = run_johnson2003(
            settings,
            web,
            topics,
            out,
            workers=workers,
            progress=lambda share, words: progress(SHARE_OF_CRAWLS * share, words),
        )
        before = perf_counter()
        progress(SHARE_OF_CRAWLS, "drawing figures")
        drawn = list(draw_study(study))
        timed = replace(study, timings=(*study.timings, Timing("drawing figures", perf_counter() - before)))
        _write(folder, timed, drawn)
    progress(1.0, "done")
    return timed


def _write(folder: ResultFolder, study: Johnson2003Study, drawn: list[DrawnFigure]) -> None:
    settings_text = settings_toml(study.settings)
    texts = {
        SETTINGS_FILE: settings_text,
        CRAWLS_FILE: crawls_csv(study.validation),
        REPORT_FILE: page_html(page_of(study_page(study, settings_text, folder.path))),
    }
    texts |= table_files(study.tables)
    contents = {name: text.encode("utf-8") for name, text in texts.items()}
    for each in drawn:
        contents |= {f"figures/{each.name}.svg": each.svg, f"figures/{each.name}.png": each.png}
    write_results(folder, contents, study_values(study), findings_values(study))
