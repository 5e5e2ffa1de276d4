"""The report of johnson2003, the study that searches for rank functions first.

Figures 3 to 10 are those of the paper if two topics were searched on, with the sparser topic in the role of middle
eastern dance and the denser one in that of baseball. Further figures show the same for unseen topics, and the searches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from scenthound.experiments.johnson2003.findings import GROUPS
from scenthound.experiments.johnson2003.results import READING, Johnson2003Study
from scenthound.experiments.results import Renderer
from scenthound.strategies.rank_file import read_rank_file
from scenthound.ui.document import Chart, Document, Figure, Section, Series, WinLossGrid
from scenthound.ui.figures import figure_files, require_figures
from scenthound.ui.html import document_html
from scenthound.ui.reports.findings import verdict_counts, verdict_lines
from scenthound.ui.reports.search import history_series
from scenthound.ui.reports.study import study_document
from scenthound.ui.reports.validation_charts import BARS, DISTANCES, DISTANCES_TITLE, ValidationCharts

SEARCHES_CAPTION = "Fitness in the best search of each topic: of the best individual, and the mean"
#: The numbers of the paper's figures: of the sparse topic, and of the dense one.
NUMBERS = {"fitness": (3, 4), "community_cohesiveness": (5, 7), "overall_cohesiveness": (6, 8), DISTANCES: (10, 9)}


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """A figure: a measure on some topics, given by their indices. It has a number if the paper has it."""

    measure: str
    topics_text: str
    suffix: str
    topics: Sequence[int]
    number: int | None

    @property
    def name(self) -> str:
        if self.number is not None:
            return f"figure-{self.number}"
        return f"{self.measure.replace('_', '-')}-{self.suffix}"

    @property
    def title(self) -> str:
        what = BARS[self.measure][0] if self.measure in BARS else DISTANCES_TITLE
        return what if self.number is None else f"Figure {self.number}: {what}"

    @property
    def caption(self) -> str:
        return f"{self.title}, {self.topics_text}"


def figure_specs(study: Johnson2003Study) -> list[FigureSpec]:
    """For each topic that was searched on, and for all unseen ones together; those of the paper first."""
    settings = study.validation.settings
    is_as_published = len(settings.trained) == len(NUMBERS[DISTANCES])
    specs = [
        FigureSpec(measure, f"topic {topic.id}", f"topic-{at + 1}", [at], numbers[at] if is_as_published else None)
        for at, topic in enumerate(settings.trained)
        for measure, numbers in NUMBERS.items()
    ]
    unseen = settings.groups().get("unseen", range(0))
    if unseen:
        text = f"{len(unseen)} {GROUPS['unseen']}" if len(unseen) > 1 else "1 unseen topic"
        specs += [FigureSpec(measure, text, "unseen", unseen, None) for measure in NUMBERS]
    return sorted(specs, key=lambda spec: inf if spec.number is None else spec.number)


def study_figures(study: Johnson2003Study) -> Iterator[Figure]:
    for spec in figure_specs(study):
        yield Figure(spec.name, spec.caption, _charts(study, spec))
    yield Figure("searches", SEARCHES_CAPTION, (_searches_chart(study),))


def _charts(study: Johnson2003Study, spec: FigureSpec) -> tuple[Chart, ...]:
    measured, budgets = study.validation.measurements, study.validation.settings.budgets
    charts = ValidationCharts(measured, study.labels, budgets, spec.topics, spec.suffix, by_strategy=True)
    return charts.of(spec.measure, spec.title)


def _searches_chart(study: Johnson2003Study) -> Chart:
    series: list[Series] = []
    for number, searches in enumerate(study.searches, 1):
        series += history_series(read_rank_file(searches.best.result).history, f"E{number}, ")
    return Chart("searches", "Fitness by generation", "generation", BARS["fitness"][1], tuple(series))


def figure_sections(study: Johnson2003Study) -> Iterator[Section]:
    """A section for each topic that was searched on, for the unseen ones together, and for the searches."""
    by_topics: dict[str, list[Chart]] = {}
    for spec in figure_specs(study):
        by_topics.setdefault(spec.topics_text, []).extend(_charts(study, spec))
    for text, charts in by_topics.items():
        yield Section(text[:1].upper() + text[1:], tuple(charts))
    yield Section(SEARCHES_CAPTION, (_searches_chart(study),))


def win_loss_grid(study: Johnson2003Study) -> WinLossGrid:
    """The strategies against Best-First, on all topics."""
    validation = study.validation
    names = [topic.id for topic in validation.settings.topics]
    topics, budgets = range(len(names)), validation.settings.budgets
    return ValidationCharts(validation.measurements, study.labels, budgets, topics, "topics").win_loss(names)


def study_report(study: Johnson2003Study, out: Path) -> Document:
    """The report of the study whose folder is `out`."""
    lines = (f"{verdict_counts(study.findings)}.", study.legend, *verdict_lines(study.findings))
    strategies = zip(study.labels, study.validation.settings.all_strategies, strict=True)
    return study_document(
        study,
        out,
        summary=(*lines, _setting_text(study)),
        figures=figure_sections(study),
        grids=(win_loss_grid(study),),
        facts=((f"strategy {label}", spec) for label, spec in strategies),
        reading=READING,
        notes=tuple(note for note in study.notes if note != study.legend),
    )


def _setting_text(study: Johnson2003Study) -> str:
    settings = study.validation.settings
    budgets = ", ".join(f"{budget:,}" for budget in settings.budgets)
    return (
        f"On the recorded web {study.web.name}, {study.n_pages:,} pages: {len(settings.trained)} topics searched on "
        f"and {len(settings.unseen)} unseen ones, {settings.repeats} random seeds, crawls of {budgets} pages from two "
        f"seed sets, {study.n_crawls:,} crawls in total."
    )


RENDERER: Renderer[Johnson2003Study] = Renderer(
    figures=lambda study, _progress: figure_files(study_figures(study), "figures/"),
    report=lambda study, out: document_html(study_report(study, out)),
    check=lambda: require_figures("Drawing a study"),
)
