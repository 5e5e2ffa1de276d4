"""Run a study: check topics, crawl and measure every arm, and test the findings of the paper."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from scenthound.experiments.findings import READING, Finding
from scenthound.experiments.papers import Published, differences_from_paper, paper_of
from scenthound.experiments.pipeline import crawl_all
from scenthound.experiments.study.arms import Arm, hosts_of_pages, prepared_arms, study_topics
from scenthound.experiments.study.measures import ArmMeasurements, arm_named, measure_arm, measures_csv, topics_csv
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.tables import Picture, Table
from scenthound.model import IntArray, Progress, silent
from scenthound.processes import WorkersLike
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb


@dataclass(frozen=True, slots=True)
class Timing:
    """The duration of a part of a study."""

    part: str
    seconds: float


class Parts:
    """The parts of a study: takes the time of each, and reports their progress as that of `n_parts` equal ones."""

    def __init__(self, progress: Progress, n_parts: int = 1) -> None:
        self.timings: list[Timing] = []
        self.n_parts = n_parts
        self._progress = progress
        self._n_done = 0

    @contextmanager
    def part(self, name: str, size: int = 1) -> Iterator[Progress]:
        before = perf_counter()
        yield lambda share, message: self._progress((self._n_done + share) / self.n_parts, f"{name}: {message}")
        self.timings.append(Timing(name, perf_counter() - before))
        self._n_done += size


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A finished study on one web and the topics of one file. Most studies consist of arms."""

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
    arms: tuple[ArmMeasurements, ...] = ()
    pictures: tuple[Picture, ...] = ()

    def arm(self, name: str) -> ArmMeasurements:
        return arm_named(self.arms, name)

    @property
    def n_topics(self) -> int:
        """The number of topics in any arm."""
        return len({topic for arm in self.arms for topic in arm.topics})

    @property
    def reading(self) -> str:
        """How to read the findings."""
        return READING

    def csv_files(self) -> dict[str, str]:
        """The measurements, by the names of their files."""
        return {"measures.csv": measures_csv(self.arms), "topics.csv": topics_csv(self.arms)}

    def own_values(self) -> dict[str, Any]:
        """What `study.json` has for this study only."""
        arms = [
            {
                "name": arm.settings.name,
                "protocol": arm.settings.protocol,
                "page_budget": arm.page_budget,
                "crawlers": dict(arm.settings.strategies),
                "topics": list(arm.topics),
            }
            for arm in self.arms
        ]
        return {"arms": arms}


def run_study(
    settings: StudySettings,
    web: Path,
    topics: Path,
    cache: Path,
    *,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Study:
    """Crawl, measure and test the findings. Crawls are cached in the folder `cache`.

    If `web` is a crawl, its pages are recorded first.
    """
    recorded = open_web(web, progress)
    parts = Parts(progress)
    with parts.part("drawing starts", size=0):
        prepared, notes = prepared_arms(settings, recorded, study_topics(settings, recorded, topics))
    parts.n_parts = 2 * len(prepared)
    arms, n_made = [], 0
    for arm in prepared:
        with parts.part(f"crawling, {arm.settings.name}") as report:
            visited, n_new = _crawl(arm, recorded, cache, workers, report)
            n_made += n_new
        with parts.part(f"measuring, {arm.settings.name}") as report:
            arms.append(measure_arm(recorded, arm, visited, cache, workers=workers, progress=report))
    paper = paper_of(settings.study)
    with parts.part("testing findings", size=0):
        findings = tuple(paper.findings(arms))
    return Study(
        settings=settings,
        web=(recorded.path or web).resolve(),
        web_fingerprint=recorded.fingerprint,
        n_pages=recorded.n_pages,
        n_hosts=len(hosts_of_pages(recorded)),
        topics_file=topics.resolve(),
        arms=tuple(arms),
        findings=findings,
        pictures=tuple(paper.pictures(arms)),
        tables=tuple(paper.tables(arms)),
        notes=(*notes, *_early_notes(arms), *_differences(paper.PUBLISHED, arms)),
        n_crawls=sum(len(arm.planned) * len(arm.experiment.strategies) for arm in prepared),
        n_made=n_made,
        timings=tuple(parts.timings),
    )


def _crawl(arm: Arm, web: RecordedWeb, cache: Path, workers: WorkersLike, progress: Progress) -> tuple[IntArray, int]:
    """All pages that the crawls of an arm visited, and the number of crawls that were not cached."""
    is_visited, n_made = np.zeros(web.n_pages, np.bool_), 0
    for piece in crawl_all(arm.source(cache, web), arm.planned, workers=workers, progress=progress):
        is_visited[piece.visited] = True
        n_made += piece.n_made
    return np.flatnonzero(is_visited).astype(np.int32), n_made


def _differences(published: Mapping[str, Published], arms: Sequence[ArmMeasurements]) -> list[str]:
    """How arms differ from the paper's experiments, those that do so alike in one note. Other arms, such as optional
    ones and those that a settings file adds, have nothing to be compared with."""
    names: dict[str, list[str]] = {}
    for arm in arms:
        name = arm.settings.name
        difference = differences_from_paper(published[name], arm) if name in published else ""
        if difference:
            names.setdefault(difference, []).append(name)
    return [f"{'; '.join(of)} - compared with the paper: {difference}." for difference, of in names.items()]


def _early_notes(arms: Sequence[ArmMeasurements]) -> list[str]:
    """Notes on crawls that ended early."""
    return [
        f"{arm.settings.name}: {arm.n_ended_early:,} of {len(arm.missed):,} crawls ended early. Means over pages are "
        "compared over as many pages as both crawls visited, and with missing pages counted as not relevant, as in "
        "figures."
        for arm in arms
        if arm.n_ended_early
    ]
