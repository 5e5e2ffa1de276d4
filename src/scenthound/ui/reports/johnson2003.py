"""The figures of johnson2003, the study that searches for rank functions first.

Figures 3 to 10 are those of the paper if two topics were searched on, with the sparser topic in the role of middle
eastern dance and the denser one in that of baseball. Further figures show the same for unseen topics, and the searches.
"""

from collections.abc import Iterator
from math import inf

from scenthound.experiments.johnson2003.findings import GROUPS
from scenthound.experiments.johnson2003.results import Johnson2003Study
from scenthound.strategies.rank_file import read_rank_file
from scenthound.ui.document import Chart, Figure, Series
from scenthound.ui.reports.search import history_series
from scenthound.ui.reports.validation_charts import BARS, DISTANCES, TITLES, ValidationCharts

SEARCHES_CAPTION = "Fitness in the best search of each topic: of the best individual, and the mean"
#: The numbers of the paper's figures: of the sparse topic, and of the dense one.
NUMBERS = {"fitness": (3, 4), "community_cohesiveness": (5, 7), "overall_cohesiveness": (6, 8), DISTANCES: (10, 9)}


def johnson2003_figures(study: Johnson2003Study) -> Iterator[Figure]:
    """Those of the paper first, then those of unseen topics, and the searches."""
    settings = study.validation.settings
    has_numbers = len(settings.trained) == len(NUMBERS[DISTANCES])
    groups = [([at], f"topic {topic.id}", f"topic-{at + 1}") for at, topic in enumerate(settings.trained)]
    unseen = [*settings.groups().get("unseen", ())]
    if unseen:
        text = f"{len(unseen)} {GROUPS['unseen']}" if len(unseen) > 1 else "1 unseen topic"
        groups.append((unseen, text, "unseen"))
    figures: list[tuple[float, Figure]] = []
    for topics, text, suffix in groups:
        charts = ValidationCharts(
            study.validation.measurements, study.labels, settings.budgets, topics, suffix, by_strategy=True
        )
        for measure, numbers in NUMBERS.items():
            is_numbered = has_numbers and suffix != "unseen"
            number = numbers[topics[0]] if is_numbered else inf
            title = f"Figure {number}: {TITLES[measure]}" if is_numbered else TITLES[measure]
            name = f"figure-{number}" if is_numbered else f"{measure.replace('_', '-')}-{suffix}"
            figures.append((number, Figure(name, f"{title}, {text}", charts.of(measure, title))))
    yield from (figure for _, figure in sorted(figures, key=lambda each: each[0]))
    yield Figure("searches", SEARCHES_CAPTION, (_searches_chart(study),))


def _searches_chart(study: Johnson2003Study) -> Chart:
    series: list[Series] = []
    for number, searches in enumerate(study.searches, 1):
        series += history_series(read_rank_file(searches.best.result).history, f"E{number}, ")
    return Chart("searches", "Fitness by generation", "generation", BARS["fitness"][1], tuple(series))
