"""Prepare the arms of a study for a web: choose topics, fit page budgets, fill in strategies and draw starts.

Topics that lack what the study needs are skipped, and a note says how many and why. If fewer are wanted than there are,
they are drawn at random, always the same ones.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import InvalidParameter, InvalidTopic, printable
from scenthound.experiments.pipeline import PlannedCrawls, plan
from scenthound.experiments.setup import Experiment, fitting_pages
from scenthound.experiments.starts import Start, Starts, check_seeds, parse_task
from scenthound.experiments.study.settings import ArmSettings, Needs, StudySettings
from scenthound.experiments.trace_cache import Provenance
from scenthound.model import Topic
from scenthound.relevance.base import RELEVANCE, trains
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
    # Crawls score pages by the words of a topic, unless their model is trained on pages.
    reads_words = any(arm.relevance is None or not trains(RELEVANCE.make(arm.relevance)) for arm in settings.arms)
    vocabulary = web if reads_words else None
    lacks = {topic.id: _lacks(topic, settings.needs, starts, vocabulary) for topic in listed.values()}
    usable = [topic for topic in listed.values() if not lacks[topic.id]]
    reasons = Counter(filter(None, lacks.values()))
    if len(usable) < settings.needs.topics:
        sizes = sorted((len(starts.example_pages(topic)) for topic in listed.values()), reverse=True)
        raise InvalidTopic(_too_few(settings, reasons, sizes, printable(file)))
    drawn = Random("study").sample(usable, min(settings.topics_max or len(usable), len(usable)))
    notes = [f"{n} topic{'s are' if n > 1 else ' is'} left out: {reason}." for reason, n in reasons.items()]
    if len(drawn) < len(usable):
        notes.append(f"{len(drawn)} of {len(usable)} topics were drawn at random.")
    if len(drawn) < settings.needs.topics:
        notes.append(f"{len(drawn)} topics are too few for verdicts; those need at least {settings.needs.topics}.")
    return StudyTopics(tuple(drawn), listed, tuple(notes))


def _lacks(topic: Topic, needs: Needs, starts: Starts, vocabulary: RecordedWeb | None) -> str:
    """What a topic lacks for the study; empty if nothing. With a vocabulary, words must be in it. A topic without
    keywords has those of its path (`topics/files.py`)."""
    if len(starts.example_pages(topic)) < needs.examples:
        return f"fewer than {needs.examples} examples in the web"
    needed = {"description": topic.description, "keywords": " ".join(topic.keywords)}
    for name, text in needed.items():
        if not getattr(needs, name):
            continue
        stems = stems_of(text)
        if not stems:
            return f"no words in its {name}"
        if vocabulary is not None and not len(vocabulary.find_words(stems)):
            return f"no word of its {name} in the web"
    return "no page to start from" if starts.problem(topic) else ""


def _too_few(settings: StudySettings, reasons: Counter[str], sizes: list[int], file: str) -> str:
    """The message if there are too few topics, with what is possible instead. `sizes` are the numbers of examples of
    all topics, largest first."""
    needs = settings.needs
    possible = sizes[needs.topics - 1] if len(sizes) >= needs.topics else 0
    if MIN_EXAMPLES <= possible < needs.examples:
        n_topics = sum(size >= possible for size in sizes)
        instead = f"possible is `examples = {possible}` under [needs] in a settings file, which {n_topics} topics have"
    elif len(reasons) == 1 and len(sizes) >= needs.topics and possible >= needs.examples:
        instead = "add what the topics lack, or use `scenthound compare`"
    else:
        instead = "add topics whose examples are in this web, or use `scenthound compare` for one topic"
    found = "; ".join(f"{n} ha{'ve' if n > 1 else 's'} {reason}" for reason, n in reasons.items())
    words = " and ".join(name for name in ("description", "keywords") if getattr(needs, name))
    return (
        f"{settings.study} needs at least {needs.topics} topics with {needs.examples} examples in the web"
        f"{words and f' and words in {words}'}; of the {len(sizes)} in {file}, "
        f"{len(sizes) - reasons.total()} have that"
        f"{f' ({found}; the most examples are {sizes[0]:,})' if found else ''}: {instead}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm(PlannedCrawls):
    """One experiment of a study, ready to crawl. `experiment.strategies` are in the order of the settings."""

    settings: ArmSettings


#: The topics that tables show as a sample.
N_SAMPLE_TOPICS = 10


@dataclass(frozen=True, slots=True)
class SampleTopic:
    """A topic of a study, with recorded URLs; seeds and targets are those of its first start."""

    name: str  #: its path in the directory, or its id
    keywords: tuple[str, ...]
    description: str
    examples: tuple[str, ...]
    seeds: tuple[str, ...]
    targets: tuple[str, ...]


def sample_topics(arm: Arm, web: RecordedWeb) -> tuple[SampleTopic, ...]:
    """The first topics in the order in which they were drawn at random."""
    starts = Starts(web)
    first = {topic.id: (topic, start) for topic, start in reversed(arm.planned)}
    chosen = (first[topic.id] for topic in arm.experiment.topics[:N_SAMPLE_TOPICS])
    return tuple(
        SampleTopic(
            topic.path or topic.id,
            topic.keywords,
            topic.description,
            *(tuple(map(web.url, pages)) for pages in (starts.example_pages(topic), start.seeds, start.targets)),
        )
        for topic, start in chosen
    )


def prepared_arms(
    settings: StudySettings, web: RecordedWeb, topics: StudyTopics
) -> tuple[tuple[Arm, ...], tuple[str, ...]]:
    """Every arm that is not optional, on the topics that it can start for, and notes on how topics and arms were
    prepared."""
    notes = list(topics.notes)
    budget = fitting_pages(settings.pages, web.n_pages)
    if budget < settings.pages:
        notes.append(
            f"The web has {web.n_pages:,} pages, of which a crawl may visit half, so crawls of {budget:,} pages stand "
            f"for those of {settings.pages:,}."
        )
    arms = []
    for arm in settings.arms:
        if arm.optional:
            continue
        startable = _startable(arm, web, topics.drawn)
        if len(startable) < len(topics.drawn):
            n_skipped = len(topics.drawn) - len(startable)
            notes.append(f"{arm.name}: {n_skipped} topics are skipped: no crawl can start for them.")
        experiment = _experiment(arm, settings, web, startable[: arm.topics], topics.listed)
        arms.append(_planned(arm, experiment, web))
    return tuple(arms), tuple(notes)


def _startable(arm: ArmSettings, web: RecordedWeb, topics: tuple[Topic, ...]) -> tuple[Topic, ...]:
    starts = Starts(web, parse_task(arm.task), arm.start)
    startable = tuple(topic for topic in topics if not starts.problem(topic))
    if not startable:
        raise InvalidTopic(f"{arm.name}: no crawl can start from {arm.task} for any of {len(topics)} topics.")
    return startable


def _experiment(
    arm: ArmSettings, settings: StudySettings, web: RecordedWeb, topics: tuple[Topic, ...], listed: Mapping[str, Topic]
) -> Experiment:
    pages = max(1, round(fitting_pages(settings.pages, web.n_pages) * arm.pages_share))
    ids = {topic.id for topic in topics}
    many_domains = str(len(domains_of_pages(web)) > 1).lower()
    return Experiment(
        web=(web.path or Path()).resolve(),
        topics=topics,
        other_topics=tuple(topic for topic in listed.values() if topic.id not in ids),
        strategies=tuple(
            spec.replace("{pages}", str(pages)).replace("{many_domains}", many_domains)
            for spec in arm.strategies.values()
        ),
        page_budget=pages,
        repeats=settings.seeds,
        task=parse_task(arm.task),
        n_start=arm.start,
        n_train=arm.train,
        n_judge=arm.judge,
        as_published=arm.as_published,
        mode=arm.mode,
        plain=arm.plain,
        relevance=arm.relevance,
    )


def _planned(arm: ArmSettings, experiment: Experiment, web: RecordedWeb) -> Arm:
    if len(experiment.strategies) < len(arm.strategies):
        raise InvalidParameter(f"{arm.name}: two of its strategies are equal.")
    planned = plan(experiment, web)
    if arm.halves:
        planned = [(topic, half) for topic, start in planned for half in _halves(start)]
    for _, start in planned:
        check_seeds(start, experiment.page_budget, "`start` in the settings")
    return Arm(settings=arm, experiment=experiment, provenance=Provenance.of(web.fingerprint), planned=tuple(planned))


def _halves(start: Start) -> tuple[Start, Start]:
    """Two starts with alternating seed pages; a single seed page starts both. Each has its own random seed."""
    one, other = (replace(start, seed=2 * start.seed + half, seeds=start.seeds[half::2]) for half in (0, 1))
    return one, other if other.seeds else replace(other, seeds=start.seeds)


def hosts_of_pages(web: RecordedWeb) -> list[str]:
    """The hosts that recorded pages are on, each once."""
    return [web.hosts[host] for host in np.unique(web.url_host[: web.n_pages]).tolist()]


def even_hosts(web: RecordedWeb, n_pages: int) -> float:
    """Over how many hosts this many of the recorded pages can be spread: their number, divided by the most pages that
    one host must serve if the load is as even as possible."""
    _, sizes = np.unique(web.url_host[: web.n_pages], return_counts=True)
    loads = range(1, int(sizes.max(initial=1)))
    least = 1 + bisect_left(loads, n_pages, key=lambda load: int(np.minimum(sizes, load).sum()))
    return float(min(n_pages, sizes.sum()) / least)


def domains_of_pages(web: RecordedWeb) -> set[str]:
    """The registrable domains that recorded pages are on."""
    return {registrable_domain(host) for host in hosts_of_pages(web)}


def leaving_share(web: RecordedWeb) -> float:
    """The share of the links between recorded pages that lead to another registrable domain."""
    domain_of = [registrable_domain(host) for host in web.hosts]
    numbers = {domain: number for number, domain in enumerate(dict.fromkeys(domain_of))}
    of_url = np.array([numbers[domain] for domain in domain_of], np.int32)[web.url_host]
    source = np.repeat(np.arange(web.n_pages), np.diff(web.link_offset))
    leaves = (of_url[source] != of_url[web.link_url])[web.url_page[web.link_url] >= 0]
    return float(leaves.mean()) if len(leaves) else 0.0
