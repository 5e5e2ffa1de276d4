"""A comparison made ready: topics chosen, a page budget that fits the web, contestants listed, starts drawn.

Where no strategy was named, those that cannot be made or cannot crawl for the topics are left out, and a note says why.
A strategy that was named must be able to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.errors import BrokenContract, ScenthoundError, WrongUse, printable
from scenthound.lab.comparing.budget import budget_notes, check_length
from scenthound.lab.comparing.contestants import Contestant, contestants_of
from scenthound.lab.comparing.settings import ComparisonSettings, deciding_point
from scenthound.lab.experiment import Experiment
from scenthound.lab.planning import plan
from scenthound.lab.starts import Start, Starts, check_start
from scenthound.lab.studies.settings import fitting_pages
from scenthound.lab.studies.study_topics import can_start
from scenthound.lab.studies.trace_cache import Ground
from scenthound.lab.topic_choice import ChosenTopics, TopicChoice, choose_topics, parse_task
from scenthound.metrics.base import Metric, Point
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import read_topics

#: As many topics are named to who has to choose one.
SHOWN_TOPICS = 10
#: What tells that a strategy cannot take part.
REFUSALS = (WrongUse, BrokenContract)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that the crawls need. `other_starts` are those of the other topics, for judges that learn from them."""

    experiment: Experiment
    ground: Ground
    contestants: tuple[Contestant, ...]
    point: Point
    planned: tuple[tuple[Topic, Start], ...]
    other_starts: tuple[Start, ...]
    notes: tuple[str, ...]


def prepared(web: RecordedWeb, topics: TopicChoice, settings: ComparisonSettings) -> Prepared:
    """Everything checked before the first crawl."""
    _check_choice(topics)
    check_start(settings.n_start, web)
    starts = Starts(web, parse_task(settings.task), settings.n_start, n_judge=settings.n_judge)
    chosen = choose_topics(topics, starts)
    _check_only_topic(topics, chosen, starts)
    pages = fitting_pages(settings.page_budget, web.n_pages)
    point = deciding_point(settings.by, pages)
    usable, unusable = ([*settings.strategies], []) if settings.strategies or settings.sweeps else _installed()
    entrants = contestants_of(usable, settings.sweeps, pages)
    wished = Experiment(
        web=(web.path or Path()).resolve(),
        topics=chosen.topics,
        strategies=tuple(each.spec for each in entrants),
        page_budget=pages,
        n_seeds=settings.seeds_for(len(chosen.topics)),
        task=parse_task(settings.task),
        n_start=settings.n_start,
        closed_world=settings.closed_world,
        obey_nofollow=settings.obey_nofollow,
        relevance=settings.relevance,
        n_train=settings.n_train,
        n_judge=settings.n_judge,
        train_from=settings.train_from.resolve() if settings.train_from else None,
        other_topics=chosen.others,
        mode=settings.mode,
    )
    experiment, planned, left_out = _planned(wished, web, may_leave_out=not settings.strategies)
    for _, start in planned:
        check_length(start, point, pages, web.n_pages)
    return Prepared(
        experiment=experiment,
        ground=Ground.of(web.fingerprint, experiment.train_from),
        contestants=tuple(each for each in entrants if each.spec in experiment.strategies),
        point=point,
        planned=tuple(planned),
        other_starts=_other_starts(point.metric, experiment, starts),
        notes=(
            *budget_notes(settings.page_budget, pages, web.n_pages),
            *_skipped_notes(chosen.skipped),
            *unusable,
            *left_out,
        ),
    )


def _installed() -> tuple[list[str], list[str]]:
    """Every strategy that can be made, and a note on each of the others."""
    usable, notes = [], []
    for name in STRATEGIES.names():
        try:
            STRATEGIES.make(name)
            usable.append(name)
        except ScenthoundError as reason:
            notes.append(f"Left out: {printable(name)}. {printable(reason)}")
    return usable, notes


def _check_only_topic(topics: TopicChoice, chosen: ChosenTopics, starts: Starts) -> None:
    """BadTopic if no crawl can start for the one topic there is: it cannot be skipped, as one of several can."""
    if len(chosen.topics) == 1 and (topics.ids or not chosen.others):
        starts.draw(chosen.topics[0], 0)


def _check_choice(topics: TopicChoice) -> None:
    if topics.ids or topics.most is not None:
        return
    listed = [topic.id for topic in read_topics(topics.file)]
    if len(listed) > 1:
        some = ", ".join(map(printable, listed[:SHOWN_TOPICS]))
        raise WrongUse(
            f"{printable(topics.file)} has {len(listed):,} topics: choose one with --topic, for example {some}; "
            "or several, or the first so many with --topics-max."
        )


def _skipped_notes(skipped: Mapping[str, str]) -> list[str]:
    if not skipped:
        return []
    return [f"No crawl can start for these topics, which are left out: {', '.join(map(printable, skipped))}."]


Planned = list[tuple[Topic, Start]]


def _planned(wished: Experiment, web: RecordedWeb, *, may_leave_out: bool) -> tuple[Experiment, Planned, list[str]]:
    """The starts of all topics; if need be without the strategies that cannot crawl for them, which are noted."""
    try:
        return wished, plan(wished, web), []
    except REFUSALS:
        if not may_leave_out:
            raise
    refused = {
        strategy: _refusal(replace(wished, strategies=(strategy,), n_seeds=1), web) for strategy in wished.strategies
    }
    able = tuple(strategy for strategy, reason in refused.items() if not reason)
    if not able:
        return wished, plan(wished, web), []
    experiment = replace(wished, strategies=able)
    unable: dict[str, list[str]] = {}
    for strategy, reason in refused.items():
        if reason:
            unable.setdefault(reason, []).append(strategy)
    notes = [f"Left out: {', '.join(strategies)}. {reason}" for reason, strategies in unable.items()]
    return experiment, plan(experiment, web), notes


def _refusal(alone: Experiment, web: RecordedWeb) -> str:
    """Why one strategy cannot crawl; empty if it can."""
    try:
        plan(alone, web)
    except REFUSALS as reason:
        return printable(reason)
    return ""


def _other_starts(metric: Metric, experiment: Experiment, starts: Starts) -> tuple[Start, ...]:
    """To draw the starts of all other topics takes a while, and only the classifiers of menczer2001 learn from them."""
    if "classified" not in str(metric):
        return ()
    startable = [topic for topic in experiment.other_topics if can_start(starts, topic)]
    return tuple(starts.draw(topic, seed) for topic in startable for seed in range(experiment.n_seeds))
