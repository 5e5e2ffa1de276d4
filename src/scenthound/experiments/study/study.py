"""Run a study: check topics, crawl and measure every arm, and test the findings of the paper."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from scenthound.experiments.findings import Finding
from scenthound.experiments.papers import Published, differences_from_paper, paper_of
from scenthound.experiments.pipeline import crawl_all
from scenthound.experiments.study.arms import Arm, hosts_of_pages, prepared_arms, study_topics
from scenthound.experiments.study.measures import ArmMeasurements, arm_named, measure_arm
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
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Study:
    """Crawl, measure and test the findings. Crawls are cached in the folder `cache`.

    If `web` is a crawl, its pages are recorded first.
    """
    recorded = open_web(web, progress)
    timings: list[Timing] = []
    with _timed(timings, "drawing starts"):
        prepared, notes = prepared_arms(settings, recorded, study_topics(settings, recorded, topics))
    arms, n_made = [], 0
    for index, arm in enumerate(prepared):
        crawling, measuring = f"crawling, {arm.settings.name}", f"measuring, {arm.settings.name}"
        with _timed(timings, crawling):
            part = _part(progress, crawling, 2 * index, 2 * len(prepared))
            visited, n_new = _crawl(arm, recorded, cache, workers, part)
            n_made += n_new
        with _timed(timings, measuring):
            part = _part(progress, measuring, 2 * index + 1, 2 * len(prepared))
            arms.append(measure_arm(recorded, arm, visited, cache, workers=workers, progress=part))
    paper = paper_of(settings.study)
    with _timed(timings, "testing findings"):
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
        timings=tuple(timings),
    )


@contextmanager
def _timed(timings: list[Timing], part: str) -> Iterator[None]:
    before = perf_counter()
    yield
    timings.append(Timing(part, perf_counter() - before))


def _part(progress: Progress, name: str, n_done: int, n_parts: int) -> Progress:
    return lambda share, message: progress((n_done + share) / n_parts, f"{name}: {message}")


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
