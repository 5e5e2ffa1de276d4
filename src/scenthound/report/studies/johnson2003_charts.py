"""The figures of johnson2003 as charts of its page: the same measures on the same topics as its figures, and how the
searches went."""

from collections.abc import Iterator

from scenthound.lab.studies.johnson2003.study import Johnson2003Study
from scenthound.report.page.values import Chart, Section, Series, WinLoss
from scenthound.report.searches.history import history_series
from scenthound.report.studies.johnson2003_figures import BARS, SEARCHES_CAPTION, Wanted, wanted_figures
from scenthound.report.validations.charts import ValidationCharts
from scenthound.strategies.rank_file import read_rank_file


def figure_sections(study: Johnson2003Study) -> Iterator[Section]:
    """A section for each topic that was searched on, and for the unseen ones together; the searches last."""
    by_topics: dict[str, list[Chart]] = {}
    for wanted in wanted_figures(study):
        by_topics.setdefault(wanted.told, []).extend(_charts(study, wanted))
    for told, charts in by_topics.items():
        yield Section(told[:1].upper() + told[1:], tuple(charts))
    yield Section(SEARCHES_CAPTION, (_searches(study),))


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


def _searches(study: Johnson2003Study) -> Chart:
    series: list[Series] = []
    for label, search in zip(study.labels[1:], study.searches, strict=False):
        series += history_series(read_rank_file(search.evolution.result).history, f"{label}, ")
    return Chart("searches", "Fitness by generation", "generation", BARS["fitness"][1], tuple(series))
