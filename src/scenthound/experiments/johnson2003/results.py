"""The result of johnson2003: its tables and its files.

The folder is that of other studies with one more folder, `search/`, which has one for each search. Instead of
measures.csv and topics.csv it has `crawls.csv`, with a row for each crawl and length.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.experiments.evolve.evolution import Evolution
from scenthound.experiments.johnson2003.findings import (
    BEST_FIRST,
    GROUPS,
    PUBLISHED,
    PUBLISHED_LABEL,
    TopicSearches,
    labels_of,
    named_findings,
    strategy_groups,
    weights_finding,
)
from scenthound.experiments.johnson2003.study import Johnson2003Run
from scenthound.experiments.statistics import PairedSample
from scenthound.experiments.study.arms import hosts_of_pages
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.study import Study
from scenthound.experiments.study.tables import Table
from scenthound.experiments.validate.results import CRAWLS_FILE, crawls_csv, measures_table, topic_values, topics_table
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
class Johnson2003Study(Study):
    """The finished study. Its crawls are those of the validation, without those of the searches."""

    searches: tuple[TopicSearches, ...]
    validation: Validation
    labels: tuple[str, ...]  #: of all validated strategies, Best-First first
    legend: str  #: the meaning of the labels

    @property
    def n_topics(self) -> int:
        return len(self.validation.settings.topics)

    @property
    def reading(self) -> str:
        return f"{self.legend} {READING}"

    def csv_files(self) -> dict[str, str]:
        return {CRAWLS_FILE: crawls_csv(self.validation)}

    def own_values(self) -> dict[str, Any]:
        settings = self.validation.settings
        searches = [
            {"topic": each.topic, "is_validated": search is each.best, **_search_values(search)}
            for each in self.searches
            for search in each.searches
        ]
        return {
            "strategies": dict(zip(self.labels, settings.all_strategies, strict=True)),
            "searches": searches,
            "topics": {
                "searched_on": [topic.id for topic in settings.trained],
                "unseen": [topic.id for topic in settings.unseen],
            },
            "page_budgets": list(settings.budgets),
        }


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
        timings=run.timings,
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
    yield _searches_table(searches)
    settings, measured = validation.settings, validation.measurements
    for group, topics in settings.groups().items():
        yield measures_table(measured, labels, settings.budgets, topics, GROUPS[group])
    is_dense = [dense for topics in settings.groups().values() for dense in measured.on_topics(topics).is_dense]
    rows = ({**row, "dense": dense} for row, dense in zip(topic_values(validation), is_dense, strict=True))
    yield topics_table(rows, "searched on")


def _weights_table(searches: Sequence[TopicSearches], labels: Sequence[str]) -> Table:
    """Table 1: the weights of what was validated, beside the published ones."""
    individuals = [individual.rules for each in searches for individual in each.best.individuals]
    columns = [_weights(rules) for rules in (*individuals, searches[0].best.others[PUBLISHED].rules)]
    return Table(
        name="table-1",
        caption="Table 1: weights of the best individuals",
        heads=("score", *labels[1:]),
        rows=tuple((name.upper(), *(f"{column[name]:.6f}" for column in columns)) for name in STUDY_SCORES),
        note=_legend(searches),
    )


def _weights(rules: RankRules) -> dict[str, float]:
    """The weights that the study has. Its searches have one rule."""
    weights = dict(zip(SCORE_NAMES, rules.weights[0], strict=True))
    return {name: weights[name] for name in weights if name in STUDY_SCORES}


def _search_weights_table(searches: Sequence[TopicSearches]) -> Table:
    """The weights that H17 is about: mean and interval over the searches of each topic, and of all."""
    of_paper = _weights(searches[0].best.others[PUBLISHED].rules)
    pooled = ("all topics",) if len(searches) > 1 else ()
    rows = []
    for name in STUDY_SCORES:
        by_topic = np.array([[_weights(search.best.rules)[name] for search in each.searches] for each in searches])
        samples = [*by_topic[:, np.newaxis], by_topic] if pooled else [by_topic]
        rows.append((name.upper(), *map(_effect, samples), f"{of_paper[name]:.4f}"))
    return Table(
        name="search-weights",
        caption="Weights of the best individual of each search",
        heads=("score", *(each.topic for each in searches), *pooled, PUBLISHED_LABEL),
        rows=tuple(rows),
        note=f"Mean and 95 % interval over {len(searches[0].searches)} searches of each topic, which differ in their "
        "random seed. Weights of a search sum to 1.",
    )


def _effect(values: FloatArray) -> str:
    effect = PairedSample(values, "searches").effect()
    mean = f"{effect.mean:.4f}"
    return mean if isnan(effect.low) else f"{mean} ({effect.low:.4f} to {effect.high:.4f})"


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
            *(f"{weight:.3f}" for weight in _weights(search.best.rules).values()),
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
        "which is higher than it would be on others, because the best individual was selected by it: where Best-First "
        "(BF) is hardly worse, nearly all weights are equally good. Weights are those of the best individual.",
    )


def _search_values(search: Evolution) -> dict[str, Any]:
    return {
        "folder": search.folder.name,
        "seed": search.settings.seed,
        "individuals": search.summary.n_evaluated,
        "crawled_for": search.n_evaluated,
        "visits": search.n_visits,
        "visits_now": search.n_visits_now,
        "best_fitness": search.best.fitness,
        "best_first_fitness": search.others[BEST_FIRST].fitness,
        "weights": _weights(search.best.rules),
    }
