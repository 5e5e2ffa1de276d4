"""Which topics of a file are crawled for: those named, the first so many, those that a crawl can start for; and from
where."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import BadInput, BadTopic, UnknownName, printable
from scenthound.lab.starts import Starts, Task
from scenthound.model import Topic
from scenthound.topics.files import read_topics


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """A topic file and which of its topics to take."""

    file: Path
    ids: tuple[str, ...] = ()
    most: int | None = None
    skip_missing: bool = False


@dataclass(frozen=True, slots=True)
class ChosenTopics:
    """The topics to crawl for, the others of their file, and those left out because no crawl can start for them, with
    the reason."""

    topics: tuple[Topic, ...]
    others: tuple[Topic, ...]
    skipped: Mapping[str, str]


def choose_topics(choice: TopicChoice, starts: Starts) -> ChosenTopics:
    """Read the file and choose."""
    listed = {topic.id: topic for topic in read_topics(choice.file)}
    for wanted in choice.ids:
        if wanted not in listed:
            raise UnknownName.among("topic", wanted, listed, printable(choice.file))
    named = [listed[wanted] for wanted in dict.fromkeys(choice.ids)] if choice.ids else list(listed.values())
    skipped = _without_start(named, starts) if choice.skip_missing else {}
    taken = [topic for topic in named if topic.id not in skipped]
    if not taken:
        first = next(iter(skipped.values()))
        raise BadInput(f"No crawl can start for any of the {len(skipped)} topics of {choice.file}; the first: {first}")
    topics = tuple(taken[: choice.most])
    ids = {topic.id for topic in topics}
    return ChosenTopics(topics, tuple(topic for topic in listed.values() if topic.id not in ids), skipped)


def _without_start(topics: list[Topic], starts: Starts) -> dict[str, str]:
    reasons = {}
    for topic in topics:
        try:
            starts.draw(topic, 0)
        except BadTopic as reason:
            reasons[topic.id] = str(reason)
    return reasons


def parse_task(name: str) -> Task:
    """What crawls start from, by its name."""
    try:
        return Task(name)
    except ValueError:
        raise UnknownName.among("task", name, [task.value for task in Task]) from None
