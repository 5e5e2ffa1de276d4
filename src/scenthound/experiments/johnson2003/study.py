"""johnson2003 from files to findings: topics chosen, searches run, their results held against Best-First."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from scenthound.experiments.johnson2003.protocol import Protocol
from scenthound.experiments.johnson2003.searches import (
    GROUPS,
    PUBLISHED,
    PUBLISHED_LABEL,
    Searched,
    Searches,
    ValidatedSearches,
    judged,
    names_told,
)
from scenthound.experiments.search.methods import parse_search
from scenthound.experiments.statistics import PairedSample, spread_told
from scenthound.experiments.study.arms import hosts_of_pages
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.study import FinishedStudy, Timing
from scenthound.experiments.study.tables import Table, file_name, shown
from scenthound.experiments.validate.crawls import SEED_SETS
from scenthound.experiments.validate.settings import SeedSet
from scenthound.experiments.validate.validation import Validation
from scenthound.model import Progress, Topic, silent
from scenthound.store.crawl_web import open_web
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.rank_function import RankFunction
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules

# The tables of johnson2003: its Table 1; beyond it, how the searches went, what was measured, and on which topics.

#: What the tables of measures show after all pages, beside the fitness after each length.
AT_THE_END = {
    "precision": "precision",
    "recall": "recall",
    "community_cohesiveness": "community cohesiveness",
    "overall_cohesiveness": "overall cohesiveness",
    "mean_distance": "mean links away",
    "maximum_distance": "most links away",
}


def tables(searches: Sequence[Searched], judged: ValidatedSearches) -> Iterator[Table]:
    """The paper's first."""
    yield weights_table(searches)
    yield searches_table(searches)
    for group, topics in judged.validation.settings.groups().items():
        yield _measures_table(judged, GROUPS[group], topics)
    yield _topics_table(judged)


def weights_table(searches: Sequence[Searched]) -> Table:
    """Table 1: the weights of what was evolved, beside the published ones."""
    evolved = {f"E{number}": each for number, each in enumerate(searches, 1)}
    found = [_weights(each.evolution.best.rules) for each in evolved.values()]
    columns = [*found, _weights(published_rules())]
    told = "; ".join(f"{label} is the best individual of the search on {each.topic}" for label, each in evolved.items())
    return Table(
        name="table-1",
        caption="Table 1: weights of the best individuals",
        heads=("score", *evolved, PUBLISHED_LABEL),
        rows=tuple((name.upper(), *(f"{column[name]:.6f}" for column in columns)) for name in STUDY_SCORES),
        note=f"{told}; {PUBLISHED_LABEL} is the published one.",
    )


def published_rules() -> RankRules:
    made = STRATEGIES.make(PUBLISHED)
    assert isinstance(made, RankFunction)
    return made.rules


def _weights(rules: RankRules) -> dict[str, float]:
    """The searches of this study have one rule."""
    return dict(zip(SCORE_NAMES, rules.weights[0], strict=True))


def searches_table(searches: Sequence[Searched]) -> Table:
    """How much each search asked for, and what its best is worth on the crawls of the search."""
    rows = []
    for number, each in enumerate(searches, 1):
        evolution = each.evolution
        others = (f"{other.fitness:.4f}" for other in evolution.others)
        asked, crawled_for = evolution.summary.n_evaluated, evolution.n_evaluated
        visits = f"{evolution.n_visits:,}"
        best = f"{evolution.best.fitness:.4f}"
        rows.append((f"E{number}", each.topic, f"{asked:,}", f"{crawled_for:,}", visits, best, *others))
    return Table(
        name="searches",
        caption="The searches",
        heads=("result", "topic", "individuals", "crawled for", "visits", "best fitness", "BF", PUBLISHED_LABEL),
        rows=tuple(rows),
        note="Individuals that came again are not crawled for again. Fitness is the mean over the crawls of the "
        "search, which is higher than it would be on others: the best was chosen by it.",
    )


def _measures_table(judged: ValidatedSearches, group: str, topics: Sequence[int]) -> Table:
    settings, measured = judged.validation.settings, judged.validation.measurements
    last = len(settings.budgets) - 1
    columns = {f"fitness at {budget:,}": ("fitness", place) for place, budget in enumerate(settings.budgets)}
    columns |= {head: (name, last) for name, head in AT_THE_END.items()}
    samples = {
        (label, str(seed_set)): [measured.sample(name, place, topics, seed_set, at) for name, at in columns.values()]
        for place, label in enumerate(judged.labels)
        for seed_set in SEED_SETS
    }
    told = spread_told(sample for row in samples.values() for sample in row)
    return Table(
        name=f"measures-{file_name(group)}",
        caption=f"What was measured on {group}",
        heads=("strategy", "seed set", *columns),
        rows=tuple((*row, *map(_cell, cells)) for row, cells in samples.items()),
        note=f"{told[0].upper()}{told[1:]}. Fitness is by the relevance model; precision and recall are by the pages "
        f"known to belong to a topic. All but fitness is after {settings.budgets[-1]:,} pages.",
    )


def _cell(sample: PairedSample) -> str:
    mean, error = shown(sample.mean), shown(sample.standard_error)
    return mean if error == "-" else f"{mean} ± {error}"


def _topics_table(judged: ValidatedSearches) -> Table:
    validation = judged.validation
    settings, measured = validation.settings, validation.measurements
    rows = []
    for place, (topic, start) in enumerate(zip(settings.topics, validation.starts, strict=True)):
        sizes = (str(len(settings.seeds_of(start, each, seed=0))) for each in SEED_SETS)
        dense = "dense" if judged.is_dense[place] else "sparse"
        group = "searched on" if place < len(settings.trained) else "unseen"
        rows.append((topic.id, group, f"{measured.good_share[place]:.2%}", dense, *sizes, str(len(start.targets))))
    return Table(
        name="topics",
        caption="The topics",
        heads=("topic", "group", "good pages", "", *(f"{each} seed set" for each in SEED_SETS), "held out"),
        rows=tuple(rows),
        note="Good pages are the share of the web's pages that the relevance model rates as good. A topic is dense if "
        "it has more of them than the median topic of its group.",
    )


#: Folders within that of the study.
SEARCH_FOLDER = "search"
ROUNDS_FOLDER = "measured"
#: About so many of a search's individuals are new, and so have to be crawled for; it only decides the progress told.
NEW_SHARE = 0.5

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Johnson2003Study(FinishedStudy):
    """What the study came to. Crawls are those that judge the results; searches tell of theirs themselves."""

    searches: tuple[Searched, ...]
    validation: Validation
    labels: tuple[str, ...]  #: of all strategies that were judged, Best-First first
    names_told: str  #: who they are


def run_johnson2003(
    settings: StudySettings,
    web: Path,
    topics: Path,
    folder: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Search, crawl, measure and judge. Searches and measurements are kept in the folder, and found there again.

    `web` is a recorded web, or a live crawl, whose pages are then recorded first.
    """
    protocol = Protocol.of(settings, open_web(web, progress), topics)
    work = _Work(protocol, folder, workers, progress)
    searches = work.searches()
    return _study(protocol, searches, work.judged(searches), work.timings)


def _study(
    protocol: Protocol, searches: tuple[Searched, ...], done: ValidatedSearches, timings: list[Timing]
) -> Johnson2003Study:
    web, validation = protocol.web, done.validation
    crawls_per_round = len(done.labels) * len(SeedSet)
    return Johnson2003Study(
        settings=protocol.settings,
        web=(web.path or Path()).resolve(),
        web_fingerprint=web.fingerprint,
        n_pages=web.n_pages,
        n_hosts=len(hosts_of_pages(web)),
        topics_file=protocol.topics_file.resolve(),
        searches=searches,
        validation=validation,
        labels=done.labels,
        names_told=names_told(searches),
        findings=done.findings,
        tables=tuple(tables(searches, done)),
        notes=(names_told(searches), *protocol.notes, *validation.notes),
        n_crawls=len(done.rounds.measured) * crawls_per_round,
        n_made=done.rounds.n_new * crawls_per_round,
        timings=tuple(timings),
    )


class _Work:
    """Runs one part after the other, takes their times, and tells how far the whole has come."""

    def __init__(self, protocol: Protocol, folder: Path, workers: int | None, progress: Progress) -> None:
        self._protocol = protocol
        self._folder = folder
        self._workers = workers
        self._progress = progress
        self._n_visits = self._visits_of_search() * len(protocol.topics.searched) + self._visits_of_judging()
        self._n_done = 0.0
        self.timings: list[Timing] = []

    def searches(self) -> tuple[Searched, ...]:
        return tuple(map(self._searched, self._protocol.topics.searched))

    def _searched(self, topic: Topic) -> Searched:
        searching = Searches(self._protocol, self._folder / SEARCH_FOLDER, self._workers)
        return self._part(
            f"search for {topic.id}", self._visits_of_search(), lambda told: searching.searched(topic, told)
        )

    def judged(self, searches: tuple[Searched, ...]) -> ValidatedSearches:
        place = self._folder / ROUNDS_FOLDER
        return self._part(
            "judging the results",
            self._visits_of_judging(),
            lambda told: judged(self._protocol, searches, place, workers=self._workers, progress=told),
        )

    def _part(self, name: str, n_visits: float, work: Callable[[Progress], Result]) -> Result:
        def told(share: float, words: str) -> None:
            self._progress((self._n_done + share * n_visits) / self._n_visits, words)

        began_s = perf_counter()
        result = work(told)
        self.timings.append(Timing(name, perf_counter() - began_s))
        self._n_done += n_visits
        told(0.0, f"{name}: done")
        return result

    def _visits_of_search(self) -> float:
        crawls = self._protocol.crawls
        return NEW_SHARE * parse_search(crawls.search).most_evaluations * crawls.n_crawls * crawls.page_budget

    def _visits_of_judging(self) -> float:
        topics = self._protocol.topics
        n_rounds = (len(topics.searched) + len(topics.unseen)) * self._protocol.settings.seeds
        # Best-First and the published individual stand beside those of the searches.
        n_crawls = n_rounds * len(SeedSet) * (len(topics.searched) + 2)
        return float(n_crawls * self._protocol.budgets[-1])
