"""Run a study: check topics, crawl and measure every arm, and test the findings of the paper."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

from scenthound.experiments.findings import Finding
from scenthound.experiments.papers import paper_of
from scenthound.experiments.pipeline import crawl_all
from scenthound.experiments.study.arms import Arm, Prepared, hosts_of_pages, prepared_arms, study_topics
from scenthound.experiments.study.measured import ArmMeasurements, arm_named
from scenthound.experiments.study.measures import measure_arm
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.tables import Picture, Table
from scenthound.model import IntArray, Progress, silent
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb


@dataclass(frozen=True, slots=True)
class Timing:
    """The duration of a part of a study."""

    part: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStudy:
    """A finished study on one web and the topics of one file."""

    settings: StudySettings
    web: Path
    web_fingerprint: str
    n_pages: int
    n_hosts: int
    topics_file: Path
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    n_crawls: int
    n_made: int  #: crawls that were not cached
    timings: tuple[Timing, ...]


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study(FinishedStudy):
    """A finished study that consists of arms."""

    arms: tuple[ArmMeasurements, ...]
    pictures: tuple[Picture, ...]

    def arm(self, name: str) -> ArmMeasurements:
        return arm_named(self.arms, name)


def run_study(
    settings: StudySettings,
    web: Path,
    topics: Path,
    cache: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Study:
    """Crawl, measure and test the findings. Crawls are cached in the folder `cache`.

    If `web` is a crawl, its pages are recorded first.
    """
    recorded = open_web(web, progress)
    clock = _Clock()
    prepared = clock.timed("drawing starts", lambda: _prepared(settings, recorded, topics))
    work = _Work(recorded, cache, clock, workers, progress, n_arms=len(prepared.arms))
    arms = tuple(work.measured(arm) for arm in prepared.arms)
    paper = paper_of(settings.study)
    findings = clock.timed("judging findings", lambda: tuple(paper.findings(arms)))
    return Study(
        settings=settings,
        web=(recorded.path or web).resolve(),
        web_fingerprint=recorded.fingerprint,
        n_pages=recorded.n_pages,
        n_hosts=len(hosts_of_pages(recorded)),
        topics_file=topics.resolve(),
        arms=arms,
        findings=findings,
        pictures=tuple(paper.pictures(arms)),
        tables=tuple(paper.tables(arms)),
        notes=(*prepared.notes, *_early_notes(arms)),
        n_crawls=sum(len(arm.planned) * len(arm.experiment.strategies) for arm in prepared.arms),
        n_made=work.n_made,
        timings=tuple(clock.timings),
    )


def _prepared(settings: StudySettings, web: RecordedWeb, topics: Path) -> Prepared:
    return prepared_arms(settings, web, study_topics(settings, web, topics))


def _early_notes(arms: tuple[ArmMeasurements, ...]) -> list[str]:
    """Notes on crawls that ended early."""
    return [
        f"{arm.settings.name}: {arm.n_ended_early:,} of {len(arm.missed):,} crawls ended early; the pages that they "
        "did not visit count as not relevant."
        for arm in arms
        if arm.n_ended_early
    ]


class _Clock:
    """Times the parts of a study."""

    def __init__(self) -> None:
        self.timings: list[Timing] = []

    def timed(self, part: str, work: Callable[[], Result]) -> Result:
        before = perf_counter()
        result = work()
        self.timings.append(Timing(part, perf_counter() - before))
        return result


class _Work:
    """Crawls and measures one arm after the other, and reports progress."""

    def __init__(
        self, web: RecordedWeb, cache: Path, clock: _Clock, workers: int | None, progress: Progress, *, n_arms: int
    ) -> None:
        self._web = web
        self._cache = cache
        self._clock = clock
        self._workers = workers
        self._progress = progress
        self._n_parts = 2 * n_arms
        self._n_done = 0
        self.n_made = 0

    def measured(self, arm: Arm) -> ArmMeasurements:
        name = arm.settings.name
        visited = self._part(f"crawling, {name}", lambda told: self._crawled(arm, told))
        return self._part(f"judging, {name}", lambda told: self._judged(arm, visited, told))

    def _part(self, name: str, work: Callable[[Progress], Result]) -> Result:
        def told(share: float, words: str) -> None:
            self._progress((self._n_done + share) / self._n_parts, f"{name}: {words}")

        result = self._clock.timed(name, lambda: work(told))
        self._n_done += 1
        return result

    def _crawled(self, arm: Arm, told: Progress) -> IntArray:
        """All pages that the crawls of an arm visited."""
        is_visited = np.zeros(self._web.n_pages, np.bool_)
        source = arm.source(self._web, self._cache)
        for piece in crawl_all(source, arm.planned, workers=self._workers, progress=told):
            is_visited[piece.visited] = True
            self.n_made += piece.n_made
        return np.flatnonzero(is_visited).astype(np.int32)

    def _judged(self, arm: Arm, visited: IntArray, told: Progress) -> ArmMeasurements:
        return measure_arm(self._web, arm, visited, self._cache, workers=self._workers, progress=told)
