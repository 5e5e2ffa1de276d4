"""The result of johnson2003: its tables and its files.

The folder is that of other studies with two more folders: `search/` has one for each search, `measured/` the measured
crawls. Instead of measures.csv and topics.csv it has `crawls.csv`, with a row for each crawl and length.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from scenthound.experiments.evolve.evolution import Evolution
from scenthound.experiments.johnson2003.findings import (
    GROUPS,
    PUBLISHED_LABEL,
    TopicSearches,
    best_first,
    evolved,
    labels_of,
    named_findings,
    published,
    strategy_groups,
    weights_finding,
)
from scenthound.experiments.johnson2003.study import Johnson2003Run
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
from scenthound.model import FloatArray, Progress, silent
from scenthound.processes import WorkersLike
from scenthound.store.record import open_web
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules

READING = (
    f"{VALIDATION_READING} Whether a topic is dense is decided separately among the topics searched on and among the "
    "unseen ones."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Johnson2003Study(FinishedStudy):
    """The finished study. Its crawls are those of the validation, without those of the searches."""

    searches: tuple[TopicSearches, ...]
    validation: Validation
    labels: tuple[str, ...]  #: of all validated strategies, Best-First first
    legend: str  #: the meaning of the labels


def run_johnson2003(
    settings: StudySettings,
    web: Path,
    topics: Path,
    folder: Path,
    *,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Search, crawl, measure and test the findings. Searches and measurements in the folder are used again.

    If `web` is a crawl, its pages are recorded first.
    """
    recorded = open_web(web, progress)
    run = Johnson2003Run(settings, recorded, topics, folder, workers=workers, progress=progress)
    searches = run.searches()
    validation = run.validation(searches)
    labels, legend = labels_of(searches), _legend(searches)
    strategies = validation.settings.all_strategies
    # Findings are named by the first strategy of a group.
    group_of = {strategies[min(group.values())]: name for name, group in strategy_groups(searches).items()}
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
        findings=(weights_finding(searches), *named_findings(validation.findings, group_of)),
        tables=tuple(_tables(searches, validation, labels)),
        notes=(legend, *run.notes, *validation.notes, *filter(None, [run.differences(validation)])),
        n_crawls=validation.n_crawls,
        n_made=validation.n_made,
        timings=tuple(run.timings),
    )


def _legend(searches: Sequence[TopicSearches]) -> str:
    found = ", ".join(
        f"{_listed(group)} the {'best individual' if len(group) == 1 else f'{len(group)} best individuals'} of the "
        f"{'search' if len(each.searches) == 1 else f'best of {len(each.searches)} searches'} on {each.topic}"
        for group, each in zip(strategy_groups(searches).values(), searches, strict=False)
    )
    return f"BF is Best-First, {found}, and {PUBLISHED_LABEL} the published individual."


def _listed(labels: Iterable[str]) -> str:
    first, *others = labels
    return f"{first} to {others[-1]}" if others else first


def _tables(searches: Sequence[TopicSearches], validation: Validation, labels: Sequence[str]) -> Iterator[Table]:
    """Table 1 of the paper, and tables of the searches, the measurements and the topics."""
    yield _weights_table(searches, labels)
    yield _search_weights_table(searches)
    yield _search_fitness_table(searches)
    yield _searches_table(searches)
    for group, topics in validation.settings.groups().items():
        yield _measures_table(validation, labels, GROUPS[group], topics)
    yield _topics_table(validation)


def _weights_table(searches: Sequence[TopicSearches], labels: Sequence[str]) -> Table:
    """Table 1: the weights of what was validated, beside the published ones."""
    individuals = [individual.rules for each in searches for individual in each.best.individuals]
    columns = [_weights(rules) for rules in (*individuals, published(searches[0].best).rules)]
    return Table(
        name="table-1",
        caption="Table 1: weights of the best individuals",
        heads=("score", *labels[1:]),
        rows=tuple((name.upper(), *(f"{column[name]:.6f}" for column in columns)) for name in STUDY_SCORES),
        note=_legend(searches),
    )


def _weights(rules: RankRules) -> dict[str, float]:
    """The searches of this study have one rule."""
    return dict(zip(SCORE_NAMES, rules.weights[0], strict=True))


def _search_weights_table(searches: Sequence[TopicSearches]) -> Table:
    """The weights that H17 is about: mean and interval over the searches of each topic, and of all."""
    samples = {each.topic: [_weights(search.best.rules) for search in each.searches] for each in searches}
    of_paper = _weights(published(searches[0].best).rules)
    rows = []
    for name in STUDY_SCORES:
        by_topic = np.array([[weights[name] for weights in found] for found in samples.values()])
        cells = [_effect(by_topic[index : index + 1]) for index in range(len(samples))]
        cells += [_effect(by_topic)] if len(samples) > 1 else []
        rows.append((name.upper(), *cells, f"{of_paper[name]:.4f}"))
    pooled = ("all topics",) if len(samples) > 1 else ()
    return Table(
        name="search-weights",
        caption="Weights of the best individual of each search",
        heads=("score", *samples, *pooled, PUBLISHED_LABEL),
        rows=tuple(rows),
        note=f"Mean and 95 % interval over {len(searches[0].searches)} searches of each topic, which differ in their "
        "random seed. Weights of a search sum to 1.",
    )


def _effect(values: FloatArray) -> str:
    effect = PairedSample(values, "searches").effect()
    mean = f"{effect.mean:.4f}"
    return mean if isnan(effect.low) else f"{mean} ({effect.low:.4f} to {effect.high:.4f})"


def _search_fitness_table(searches: Sequence[TopicSearches]) -> Table:
    """Whether searches found anything: the fitness of their best individuals beside that of Best-First."""
    rows = []
    for each in searches:
        found, known = each.fitnesses(evolved), each.fitnesses(best_first)
        gain = np.array([np.subtract(found, known)])
        rows.append((each.topic, str(len(found)), *map(_range, (found, known)), _effect(gain)))
    return Table(
        name="search-fitness",
        caption="Fitness of the best individuals and of Best-First on the crawls of the searches",
        heads=("topic", "searches", "best individuals", "BF", "difference"),
        rows=tuple(rows),
        note="Mean over searches and range, for the difference the 95 % interval. The best individual was selected by "
        "its fitness on these crawls, so that it is higher than on others. Where the difference is small, nearly all "
        "weights are equally good, and searches end with different ones.",
    )


def _range(values: Sequence[float]) -> str:
    return f"{fmean(values):.4f} ({min(values):.4f} to {max(values):.4f})"


def _searches_table(searches: Sequence[TopicSearches]) -> Table:
    """The size and the result of each search."""
    rows = [
        (
            each.topic,
            str(number),
            f"{search.summary.n_evaluated:,}",
            f"{search.n_evaluated:,}",
            f"{search.n_visits:,}",
            *(f"{individual.fitness:.4f}" for individual in (search.best, *search.others)),
            *(f"{weight:.3f}" for name, weight in _weights(search.best.rules).items() if name in STUDY_SCORES),
        )
        for each in searches
        for number, search in enumerate(each.searches, 1)
    ]
    heads = ("topic", "search", "individuals", "evaluated", "visits", "best fitness", "BF", PUBLISHED_LABEL)
    return Table(
        name="searches",
        caption="The searches",
        heads=(*heads, *map(str.upper, STUDY_SCORES)),
        rows=tuple(rows),
        note="Individuals that occur again are not evaluated again. Fitness is the mean over the crawls of the search, "
        "which is higher than it would be on others, because the best individual was selected by it. Weights are those "
        "of the best individual.",
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
        {"topic": each.topic, "is_validated": search is each.best, **_search_values(search)}
        for each in study.searches
        for search in each.searches
    ]
    return common_values(study) | {
        "strategies": dict(zip(study.labels, settings.all_strategies, strict=True)),
        "searches": searches,
        "topics": {"searched_on": [topic.id for topic in settings.trained], "unseen": [t.id for t in settings.unseen]},
        "page_budgets": list(settings.budgets),
    }


def _search_values(search: Evolution) -> dict[str, Any]:
    return {
        "folder": search.folder.name,
        "seed": search.settings.seed,
        "individuals": search.summary.n_evaluated,
        "crawled_for": search.n_evaluated,
        "visits": search.n_visits,
        "visits_now": search.n_visits_now,
        "best_fitness": search.best.fitness,
        "best_first_fitness": best_first(search).fitness,
        "weights": {name: weight for name, weight in _weights(search.best.rules).items() if name in STUDY_SCORES},
    }


def johnson2003_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    render: Renderer[Johnson2003Study] | None = None,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Run the study, and write the result to the folder `out`. Run again, it only does what is missing."""

    def run(part: Progress) -> Johnson2003Study:
        return run_johnson2003(settings, web, topics, out, workers=workers, progress=part)

    def findings(study: Johnson2003Study) -> dict[str, Any]:
        return common_findings(study, len(study.validation.settings.topics), f"{study.legend} {READING}")

    files = StudyFiles(lambda study: {CRAWLS_FILE: crawls_csv(study.validation)}, _study_values, findings)
    return run_into(out, settings, web, run, files, render=render, progress=progress)
