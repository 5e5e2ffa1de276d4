"""The result of johnson2003: its tables and its files.

The folder is that of other studies with two more folders: `search/` has one for each search, `measured/` the measured
crawls. Instead of measures.csv and topics.csv it has `crawls.csv`, with a row for each crawl and length.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.experiments.evolve.evolution import Evolution
from scenthound.experiments.johnson2003.study import (
    GROUPS,
    PUBLISHED_LABEL,
    Johnson2003Run,
    labels_of,
    named_findings,
)
from scenthound.experiments.results import Renderer
from scenthound.experiments.statistics import PairedSample, describe_spread
from scenthound.experiments.study.arms import hosts_of_pages
from scenthound.experiments.study.results import StudyFiles, common_findings, common_values, run_into
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.study import FinishedStudy
from scenthound.experiments.study.tables import Table, file_name, format_number
from scenthound.experiments.validate.crawls import FINAL_MEASURES, SEED_SETS
from scenthound.experiments.validate.results import CRAWLS_FILE, crawls_csv
from scenthound.experiments.validate.results import READING as VALIDATION_READING
from scenthound.experiments.validate.validation import Validation
from scenthound.model import Progress, silent
from scenthound.store.record import open_web
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules

READING = (
    f"{VALIDATION_READING} Whether a topic is dense is decided separately among the topics searched on and among the "
    "unseen ones."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Johnson2003Study(FinishedStudy):
    """The finished study. Its crawls are those of the validation, without those of the searches."""

    searches: Mapping[str, Evolution]  #: by topic
    validation: Validation
    labels: tuple[str, ...]  #: of all validated strategies, Best-First first
    legend: str  #: the meaning of the labels


def run_johnson2003(
    settings: StudySettings,
    web: Path,
    topics: Path,
    folder: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Search, crawl, measure and test the findings. Searches and measurements in the folder are used again.

    If `web` is a crawl, its pages are recorded first.
    """
    recorded = open_web(web, progress)
    run = Johnson2003Run(settings, recorded, topics, folder, workers=workers, progress=progress)
    searches = run.searches()
    validation = run.validation(searches)
    labels, legend = labels_of(len(searches)), _legend(searches)
    label_of = dict(zip(validation.settings.all_strategies, labels, strict=True))
    return Johnson2003Study(
        settings=settings,
        web=validation.web,
        web_fingerprint=validation.web_fingerprint,
        n_pages=validation.n_pages,
        n_hosts=len(hosts_of_pages(recorded)),
        topics_file=topics.resolve(),
        searches=searches,
        validation=validation,
        labels=labels,
        legend=legend,
        findings=tuple(named_findings(validation.findings, label_of)),
        tables=tuple(_tables(searches, validation, labels)),
        notes=(legend, *run.notes, *validation.notes),
        n_crawls=validation.n_crawls,
        n_made=validation.n_made,
        timings=tuple(run.timings),
    )


def _legend(searches: Mapping[str, Evolution]) -> str:
    best_first, *evolved, published = labels_of(len(searches))
    found = ", ".join(
        f"{label} the best individual of the search on {topic}" for label, topic in zip(evolved, searches, strict=True)
    )
    return f"{best_first} is Best-First, {found}, and {published} the published individual."


def _tables(searches: Mapping[str, Evolution], validation: Validation, labels: Sequence[str]) -> Iterator[Table]:
    """Table 1 of the paper, and tables of the searches, the measurements and the topics."""
    yield _weights_table(searches)
    yield _searches_table(searches)
    for group, topics in validation.settings.groups().items():
        yield _measures_table(validation, labels, GROUPS[group], topics)
    yield _topics_table(validation)


def _weights_table(searches: Mapping[str, Evolution]) -> Table:
    """Table 1: the weights of what was evolved, beside the published ones."""
    evolved = {f"E{number}": topic for number, topic in enumerate(searches, 1)}
    columns = [_weights(search.best.rules) for search in searches.values()]
    # All searches are compared with the published individual.
    columns.append(_weights(next(iter(searches.values())).others[-1].rules))
    legend = "; ".join(f"{label} is the best individual of the search on {topic}" for label, topic in evolved.items())
    return Table(
        name="table-1",
        caption="Table 1: weights of the best individuals",
        heads=("score", *evolved, PUBLISHED_LABEL),
        rows=tuple((name.upper(), *(f"{column[name]:.6f}" for column in columns)) for name in STUDY_SCORES),
        note=f"{legend}; {PUBLISHED_LABEL} is the published one.",
    )


def _weights(rules: RankRules) -> dict[str, float]:
    """The searches of this study have one rule."""
    return dict(zip(SCORE_NAMES, rules.weights[0], strict=True))


def _searches_table(searches: Mapping[str, Evolution]) -> Table:
    """The size of each search, and the fitness of its best individual on the crawls of the search."""
    rows = [
        (
            f"E{number}",
            topic,
            f"{search.summary.n_evaluated:,}",
            f"{search.n_evaluated:,}",
            f"{search.n_visits:,}",
            *(f"{each.fitness:.4f}" for each in (search.best, *search.others)),
        )
        for number, (topic, search) in enumerate(searches.items(), 1)
    ]
    return Table(
        name="searches",
        caption="The searches",
        heads=("result", "topic", "individuals", "evaluated", "visits", "best fitness", "BF", PUBLISHED_LABEL),
        rows=tuple(rows),
        note="Individuals that occur again are not evaluated again. Fitness is the mean over the crawls of the search, "
        "which is higher than it would be on others, because the best individual was selected by it.",
    )


def _measures_table(validation: Validation, labels: Sequence[str], group: str, topics: Sequence[int]) -> Table:
    settings, measured = validation.settings, validation.measurements
    columns = {f"fitness at {budget:,}": ("fitness", index) for index, budget in enumerate(settings.budgets)}
    columns |= {name.replace("_", " "): (name, len(settings.budgets) - 1) for name in FINAL_MEASURES}
    samples = measured.samples(labels, topics, columns.values())
    spread = describe_spread(sample for row in samples.values() for sample in row)
    return Table(
        name=f"measures-{file_name(group)}",
        caption=f"Measurements on {group}",
        heads=("strategy", "seed set", *columns),
        rows=tuple((*row, *map(_cell, cells)) for row, cells in samples.items()),
        note=f"{spread[0].upper()}{spread[1:]}. Fitness is by the relevance model; precision and recall are by the "
        f"pages known to belong to a topic. All but fitness is after {settings.budgets[-1]:,} pages.",
    )


def _cell(sample: PairedSample) -> str:
    mean, error = format_number(sample.mean), format_number(sample.standard_error)
    return mean if error == "-" else f"{mean} ± {error}"


def _topics_table(validation: Validation) -> Table:
    settings, measured = validation.settings, validation.measurements
    is_dense = [dense for topics in settings.groups().values() for dense in measured.on_topics(topics).is_dense]
    rows = []
    for index, (topic, start) in enumerate(zip(settings.topics, validation.starts, strict=True)):
        sizes = (str(len(settings.seeds_of(start, each))) for each in SEED_SETS)
        dense = "dense" if is_dense[index] else "sparse"
        group = "searched on" if index < settings.n_trained else "unseen"
        rows.append((topic.id, group, f"{measured.good_share[index]:.2%}", dense, *sizes, str(len(start.targets))))
    return Table(
        name="topics",
        caption="The topics",
        heads=("topic", "group", "good pages", "", *(f"{each} seed set" for each in SEED_SETS), "held out"),
        rows=tuple(rows),
        note="Good pages are the share of the web's pages that the relevance model rates as good. A topic is dense if "
        "it has more of them than the median topic of its group.",
    )


def _study_values(study: Johnson2003Study) -> dict[str, Any]:
    """The values of `study.json`."""
    settings = study.validation.settings
    searches = [
        {
            "topic": topic,
            "folder": search.folder.name,
            "individuals": search.summary.n_evaluated,
            "crawled_for": search.n_evaluated,
            "visits": search.n_visits,
            "visits_now": search.n_visits_now,
            "best_fitness": search.best.fitness,
        }
        for topic, search in study.searches.items()
    ]
    return common_values(study) | {
        "strategies": dict(zip(study.labels, settings.all_strategies, strict=True)),
        "searches": searches,
        "topics": {"searched_on": [topic.id for topic in settings.trained], "unseen": [t.id for t in settings.unseen]},
        "page_budgets": list(settings.budgets),
    }


def johnson2003_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    render: Renderer[Johnson2003Study] | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Run the study, and write the result to the folder `out`. Run again, it only does what is missing."""

    def run(part: Progress) -> Johnson2003Study:
        return run_johnson2003(settings, web, topics, out, workers=workers, progress=part)

    def findings(study: Johnson2003Study) -> dict[str, Any]:
        return common_findings(study, len(study.validation.settings.topics), f"{study.legend} {READING}")

    files = StudyFiles(lambda study: {CRAWLS_FILE: crawls_csv(study.validation)}, _study_values, findings)
    return run_into(out, settings, web, run, files, render=render, progress=progress)
