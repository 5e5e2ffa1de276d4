"""The report and the folder of johnson2003, the study that searches for rank functions first.

Figures 3 to 10 are those of the paper if two topics were searched on, with the sparser topic in the role of middle
eastern dance and the denser one in that of baseball. Further figures show the same for unseen topics, and the searches.

The folder is that of other studies with two folders more: `search/` has a folder for each search, `measured/` the
measurements of the crawls that evaluate them. `crawls.csv`, with a row for each crawl and length, takes the place of
measures.csv and topics.csv.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from scenthound.experiments.johnson2003.searches import GROUPS
from scenthound.experiments.johnson2003.study import Johnson2003Study, run_johnson2003
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
from scenthound.model import Progress, silent
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import ResultFolder
from scenthound.strategies.rank_file import read_rank_file
from scenthound.ui.document import Chart, Document, Figure, Section, Series, WinLossGrid
from scenthound.ui.figures import figure_files, require_figures
from scenthound.ui.html import document_html
from scenthound.ui.reports.findings import verdict_counts, verdict_lines
from scenthound.ui.reports.search import history_series
from scenthound.ui.reports.study import common_findings, common_values, study_document
from scenthound.ui.reports.study_folder import SHARE_OF_CRAWLS
from scenthound.ui.reports.validation_charts import BARS, DISTANCES, DISTANCES_TITLE, ValidationCharts
from scenthound.ui.reports.validation_folder import CRAWLS_FILE, crawls_csv
from scenthound.ui.reports.validation_folder import READING as READING_A_VALIDATION

SEARCHES_CAPTION = "Fitness in the searches: of the best individual, and the mean"
#: The numbers of the paper's figures: of the sparse topic, and of the dense one.
NUMBERS = {"fitness": (3, 4), "community_cohesiveness": (5, 7), "overall_cohesiveness": (6, 8), DISTANCES: (10, 9)}
READING = (
    f"{READING_A_VALIDATION} Whether a topic is dense is decided separately among the topics searched on and among the "
    "unseen ones."
)


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
    for label, search in zip(study.labels[1:], study.searches, strict=False):
        series += history_series(read_rank_file(search.evolution.result).history, f"{label}, ")
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
    lines = (f"{verdict_counts(study.findings)}.", study.names_told, *verdict_lines(study.findings))
    strategies = zip(study.labels, study.validation.settings.all_strategies, strict=True)
    return study_document(
        study,
        out,
        summary=(*lines, _setting_text(study)),
        figures=figure_sections(study),
        grids=(win_loss_grid(study),),
        facts=((f"strategy {label}", spec) for label, spec in strategies),
        reading=READING,
        notes=tuple(note for note in study.notes if note != study.names_told),
    )


def _setting_text(study: Johnson2003Study) -> str:
    settings = study.validation.settings
    budgets = ", ".join(f"{budget:,}" for budget in settings.budgets)
    return (
        f"On the recorded web {study.web.name}, {study.n_pages:,} pages: {len(settings.trained)} topics searched on "
        f"and {len(settings.unseen)} unseen ones, {settings.repeats} random seeds, crawls of {budgets} pages from two "
        f"seed sets, {study.n_crawls:,} crawls in total."
    )


def study_values(study: Johnson2003Study) -> dict[str, Any]:
    """The values of `study.json`."""
    settings = study.validation.settings
    return common_values(study) | {
        "strategies": dict(zip(study.labels, settings.all_strategies, strict=True)),
        "searches": [_search_values(study, at) for at in range(len(study.searches))],
        "topics": {"searched_on": [topic.id for topic in settings.trained], "unseen": [t.id for t in settings.unseen]},
        "page_budgets": list(settings.budgets),
    }


def _search_values(study: Johnson2003Study, at: int) -> dict[str, Any]:
    search = study.searches[at]
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
    """The values of `findings.json`."""
    return common_findings(study, len(study.validation.settings.topics), f"{study.names_told} {READING}")


def johnson2003_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Run the study and write its folder. Run again, it only does what is missing."""
    require_figures("Drawing a study")
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
        images = figure_files(study_figures(study), "figures/")
        timed = replace(study, timings=(*study.timings, Timing("drawing figures", perf_counter() - before)))
        _write(folder, timed, images)
    progress(1.0, "done")
    return timed


def _write(folder: ResultFolder, study: Johnson2003Study, images: dict[str, bytes]) -> None:
    texts = {
        SETTINGS_FILE: settings_toml(study.settings),
        CRAWLS_FILE: crawls_csv(study.validation),
        REPORT_FILE: document_html(study_report(study, folder.path)),
        **table_files(study.tables),
    }
    contents = {name: text.encode("utf-8") for name, text in texts.items()}
    write_results(folder, contents | images, study_values(study), findings_values(study))
