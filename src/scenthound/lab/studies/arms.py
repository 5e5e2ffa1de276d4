"""The arms of a study made ready for one web: budgets that fit, strategies filled in, starts drawn."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from scenthound.errors import BadParameter, BadTopic
from scenthound.lab.experiment import Experiment
from scenthound.lab.planning import plan
from scenthound.lab.starts import Start, Starts, check_seeds
from scenthound.lab.studies.settings import ArmSettings, StudySettings, fitting_pages
from scenthound.lab.studies.study_topics import StudyTopics, can_start
from scenthound.lab.studies.trace_cache import Ground
from scenthound.lab.topic_choice import parse_task
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.web.urls import registrable_domain


@dataclass(frozen=True, slots=True)
class Arm:
    """One experiment of a study, ready to be crawled. `experiment.strategies` are in the order of the settings."""

    settings: ArmSettings
    experiment: Experiment
    ground: Ground
    planned: tuple[tuple[Topic, Start], ...]

    @property
    def topics(self) -> tuple[Topic, ...]:
        return self.experiment.topics

    def starts_of(self, topic: Topic) -> list[Start]:
        return [start for planned, start in self.planned if planned.id == topic.id]


@dataclass(frozen=True, slots=True)
class Prepared:
    """All arms, and what there is to say about how they came to be."""

    arms: tuple[Arm, ...]
    notes: tuple[str, ...]


def prepared_arms(settings: StudySettings, web: RecordedWeb, topics: StudyTopics) -> Prepared:
    """Every arm, on the topics that it can start for."""
    preparing = _Preparing(settings, web, topics)
    arms = [preparing.arm(arm) for arm in settings.arms]
    return Prepared(tuple(arms), (*topics.notes, *preparing.notes))


class _Preparing:
    """Makes arms ready, and notes what there is to say."""

    def __init__(self, settings: StudySettings, web: RecordedWeb, topics: StudyTopics) -> None:
        self._web = web
        self._topics = topics
        self._n_seeds = settings.seeds
        self._ground = Ground.of(web.fingerprint)
        self._budget = fitting_pages(settings.pages, web.n_pages)
        self.notes: list[str] = []
        if self._budget < settings.pages:
            self.notes.append(
                f"The web has {web.n_pages:,} pages, of which a crawl may take half, so crawls of {self._budget:,} "
                f"pages stand for those of {settings.pages:,}."
            )

    def arm(self, settings: ArmSettings) -> Arm:
        experiment = self._experiment(settings)
        if len(experiment.strategies) < len(settings.strategies):
            raise BadParameter(f"{settings.name}: two of its strategies come to the same.")
        planned = plan(experiment, self._web)
        if settings.halves:
            planned = [(topic, half) for topic, start in planned for half in _halves(start)]
        for _, start in planned:
            check_seeds(start, experiment.page_budget, "`start` in the settings")
        return Arm(settings, experiment, self._ground, tuple(planned))

    def _experiment(self, settings: ArmSettings) -> Experiment:
        taken = self._startable(settings)[: settings.topics]
        ids = {topic.id for topic in taken}
        pages = max(1, round(self._budget * settings.pages_share))
        return Experiment(
            web=(self._web.path or Path()).resolve(),
            topics=taken,
            strategies=tuple(_filled_in(spec, pages, self._web) for spec in settings.strategies.values()),
            page_budget=pages,
            n_seeds=self._n_seeds,
            task=parse_task(settings.task),
            n_start=settings.start,
            n_train=settings.train,
            n_judge=settings.judge,
            as_published=settings.as_published,
            other_topics=tuple(topic for topic in self._topics.listed.values() if topic.id not in ids),
            mode=settings.mode,
            plain=settings.plain,
        )

    def _startable(self, settings: ArmSettings) -> tuple[Topic, ...]:
        drawn = self._topics.drawn
        starts = Starts(self._web, parse_task(settings.task), settings.start)
        startable = tuple(topic for topic in drawn if can_start(starts, topic))
        if not startable:
            raise BadTopic(f"{settings.name}: no crawl can start from {settings.task} for any of {len(drawn)} topics.")
        if len(startable) < len(drawn):
            n_left = len(drawn) - len(startable)
            self.notes.append(f"{settings.name}: {n_left} topics are left out; no crawl can start for them.")
        return startable


def _halves(start: Start) -> tuple[Start, Start]:
    """Every other seed, and those between; a single seed starts both. Each has a random seed of its own."""
    one, other = (replace(start, seed=2 * start.seed + half, seeds=start.seeds[half::2]) for half in (0, 1))
    return one, other if other.seeds else replace(other, seeds=start.seeds)


def _filled_in(spec: str, pages: int, web: RecordedWeb) -> str:
    values = {"{pages}": str(pages), "{many_domains}": str(has_many_domains(web)).lower()}
    for name, value in values.items():
        spec = spec.replace(name, value)
    return spec


def hosts_of_pages(web: RecordedWeb) -> list[str]:
    """The hosts that recorded pages are on, each once."""
    return [web.hosts[host] for host in np.unique(web.url_host[: web.n_pages]).tolist()]


def has_many_domains(web: RecordedWeb) -> bool:
    """Whether the recorded pages are of more than one registrable domain."""
    return len({registrable_domain(host) for host in hosts_of_pages(web)}) > 1
