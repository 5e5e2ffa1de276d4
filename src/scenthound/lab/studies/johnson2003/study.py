"""johnson2003 from files to findings: topics chosen, searches run, their results held against Best-First."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from scenthound.evolve.naming import parse_search
from scenthound.lab.studies.arms import hosts_of_pages
from scenthound.lab.studies.finished import FinishedStudy, Timing
from scenthound.lab.studies.johnson2003.judging import Judged, judged, names_told
from scenthound.lab.studies.johnson2003.protocol import Protocol
from scenthound.lab.studies.johnson2003.searching import Searched, Searches
from scenthound.lab.studies.johnson2003.tables import tables
from scenthound.lab.studies.settings import StudySettings
from scenthound.lab.validating.settings import SeedSet
from scenthound.lab.validating.validation import Validation
from scenthound.model import Progress, Topic, silent
from scenthound.store.crawl_web import open_web

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


def _study(protocol: Protocol, searches: tuple[Searched, ...], done: Judged, timings: list[Timing]) -> Johnson2003Study:
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

    def judged(self, searches: tuple[Searched, ...]) -> Judged:
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
