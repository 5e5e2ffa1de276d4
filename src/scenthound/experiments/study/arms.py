"""Prepare the arms of a study for a web: choose topics, fit page budgets, fill in strategies and draw starts.

Topics that lack what the study needs are skipped, and a note says how many and why. If fewer are wanted than there are,
they are drawn at random, always the same ones.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import InvalidParameter, InvalidTopic, printable
from scenthound.experiments.pipeline import CrawlSource, Planned, plan
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Start, Starts, check_seeds, parse_task
from scenthound.experiments.study.settings import ArmSettings, Needs, StudySettings, fitting_pages
from scenthound.experiments.trace_cache import Provenance
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.tokenizer import stems_of
from scenthound.topics.files import read_topics
from scenthound.web.urls import registrable_domain

#: A topic with fewer examples cannot provide both seeds and targets.
MIN_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class StudyTopics:
    """The topics in the order in which they were drawn; arms on fewer topics use the first ones. `listed` are all
    topics of the file, by id."""

    drawn: tuple[Topic, ...]
    listed: Mapping[str, Topic]
    notes: tuple[str, ...]


def study_topics(settings: StudySettings, web: RecordedWeb, file: Path) -> StudyTopics:
    """Read the file and choose."""
    listed = {topic.id: topic for topic in read_topics(file)}
    starts = Starts(web)
    lacks = {topic.id: _lacks(topic, settings.needs, starts) for topic in listed.values()}
    usable = [topic for topic in listed.values() if not lacks[topic.id]]
    if len(usable) < settings.needs.topics:
        raise InvalidTopic(_too_few(settings, lacks, listed, starts, printable(file)))
    drawn = Random("study").sample(usable, min(settings.topics_max or len(usable), len(usable)))
    counted = Counter(filter(None, lacks.values()))
    notes = [f"{n} topic{'s are' if n > 1 else ' is'} left out: {reason}." for reason, n in counted.items()]
    if len(drawn) < len(usable):
        notes.append(f"{len(drawn)} of {len(usable)} topics were drawn at random.")
    if len(drawn) < settings.needs.topics:
        notes.append(f"{len(drawn)} topics are too few for verdicts; those need at least {settings.needs.topics}.")
    return StudyTopics(tuple(drawn), listed, tuple(notes))


def _lacks(topic: Topic, needs: Needs, starts: Starts) -> str:
    if len(starts.example_pages(topic)) < needs.examples:
        return f"fewer than {needs.examples} examples in the web"
    if needs.description and not stems_of(topic.description):
        return "no words in its description"
    if needs.keywords and not stems_of(" ".join(topic.keywords)):
        return "no words in its keywords"
    return "" if can_start(starts, topic) else "no page to start from"


def can_start(starts: Starts, topic: Topic) -> bool:
    """Whether a crawl can start for a topic."""
    try:
        starts.draw(topic, 0)
    except InvalidTopic:
        return False
    return True


def _too_few(
    settings: StudySettings, lacks: Mapping[str, str], listed: Mapping[str, Topic], starts: Starts, where: str
) -> str:
    """The message if there are too few topics, with what is possible instead."""
    needs = settings.needs
    sizes = sorted((len(starts.example_pages(topic)) for topic in listed.values()), reverse=True)
    reasons = Counter(filter(None, lacks.values()))
    told = "; ".join(f"{n} ha{'ve' if n > 1 else 's'} {reason}" for reason, n in reasons.items())
    possible = sizes[needs.topics - 1] if len(sizes) >= needs.topics else 0
    if MIN_EXAMPLES <= possible < needs.examples:
        n_topics = sum(size >= possible for size in sizes)
        instead = f"possible is `examples = {possible}` under [needs] in a settings file, which {n_topics} topics have"
    elif len(reasons) == 1 and len(listed) >= needs.topics and possible >= needs.examples:
        instead = "give the topics what they lack, or ask `scenthound compare`"
    else:
        instead = "give more topics whose examples are in this web, or ask `scenthound compare` for one topic"
    n_usable = len(listed) - reasons.total()
    return (
        f"{settings.study} needs at least {needs.topics} topics with {needs.examples} examples in the web"
        f"{_words_needed(needs)}; of the {len(listed)} in {where}, {n_usable} have that"
        f"{f' ({told}; the most examples are {sizes[0]:,})' if told else ''}: {instead}."
    )


def _words_needed(needs: Needs) -> str:
    words = [name for name, wanted in (("description", needs.description), ("keywords", needs.keywords)) if wanted]
    return f" and words in {' and '.join(words)}" if words else ""


@dataclass(frozen=True, slots=True)
class Arm:
    """One experiment of a study, ready to crawl. `experiment.strategies` are in the order of the settings."""

    settings: ArmSettings
    experiment: Experiment
    provenance: Provenance
    planned: tuple[Planned, ...]

    @property
    def topics(self) -> tuple[Topic, ...]:
        return self.experiment.topics

    def source(self, web: RecordedWeb, cache: Path) -> CrawlSource:
        return CrawlSource(self.experiment, web, self.provenance, cache)

    def starts_of(self, topic: Topic) -> list[Start]:
        return [start for planned, start in self.planned if planned.id == topic.id]


@dataclass(frozen=True, slots=True)
class Prepared:
    """All arms, with notes on how they were prepared."""

    arms: tuple[Arm, ...]
    notes: tuple[str, ...]


def prepared_arms(settings: StudySettings, web: RecordedWeb, topics: StudyTopics) -> Prepared:
    """Every arm, on the topics that it can start for."""
    preparing = _Preparing(settings, web, topics)
    arms = [preparing.arm(arm) for arm in settings.arms]
    return Prepared(tuple(arms), (*topics.notes, *preparing.notes))


class _Preparing:
    """Prepares arms and collects notes."""

    def __init__(self, settings: StudySettings, web: RecordedWeb, topics: StudyTopics) -> None:
        self._web = web
        self._topics = topics
        self._repeats = settings.seeds
        self._provenance = Provenance.of(web.fingerprint)
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
            raise InvalidParameter(f"{settings.name}: two of its strategies are equal.")
        planned = plan(experiment, self._web)
        if settings.halves:
            planned = [(topic, half) for topic, start in planned for half in _halves(start)]
        for _, start in planned:
            check_seeds(start, experiment.page_budget, "`start` in the settings")
        return Arm(settings, experiment, self._provenance, tuple(planned))

    def _experiment(self, settings: ArmSettings) -> Experiment:
        taken = self._startable(settings)[: settings.topics]
        ids = {topic.id for topic in taken}
        pages = max(1, round(self._budget * settings.pages_share))
        return Experiment(
            web=(self._web.path or Path()).resolve(),
            topics=taken,
            strategies=tuple(_filled_in(spec, pages, self._web) for spec in settings.strategies.values()),
            page_budget=pages,
            repeats=self._repeats,
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
            raise InvalidTopic(
                f"{settings.name}: no crawl can start from {settings.task} for any of {len(drawn)} topics."
            )
        if len(startable) < len(drawn):
            n_left = len(drawn) - len(startable)
            self.notes.append(f"{settings.name}: {n_left} topics are skipped: no crawl can start for them.")
        return startable


def _halves(start: Start) -> tuple[Start, Start]:
    """Two starts with alternating seed pages; a single seed page starts both. Each has its own random seed."""
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
