"""What a live crawl is about and where it starts, from a topic file or from words alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import UnknownName, WrongUse, printable
from scenthound.lab.crawl_plan import canonical_seeds
from scenthound.model import Topic
from scenthound.topics.files import read_topics


@dataclass(frozen=True, slots=True)
class ChosenTopic:
    """A topic, and the pages to start from."""

    topic: Topic
    seeds: tuple[str, ...]

    @classmethod
    def of(
        cls, file: Path | None, topic_id: str | None, keywords: Sequence[str], seeds: Sequence[str]
    ) -> "ChosenTopic":
        """The topic of a file, or one made of keywords. It starts from `seeds`; without any, from the topic's own
        seeds, or else from its examples."""
        topic = _named(keywords, topic_id) if file is None else _filed(file, topic_id, keywords)
        return cls(topic, canonical_seeds(list(seeds or topic.seeds or topic.examples)))


def _named(keywords: Sequence[str], topic_id: str | None) -> Topic:
    words = tuple(word for word in keywords if word.strip())
    if not words:
        raise WrongUse("There is nothing to crawl for: name a topic file, or words with --keywords.")
    return Topic(topic_id or words[0], words)


def _filed(file: Path, topic_id: str | None, keywords: Sequence[str]) -> Topic:
    if keywords:
        raise WrongUse(f"{printable(file)} has the keywords of its topics: take --keywords away, or the file.")
    topics = {topic.id: topic for topic in read_topics(file)}
    if topic_id is None and len(topics) > 1:
        some = ", ".join(map(printable, list(topics)[:10]))
        raise WrongUse(f"{printable(file)} has {len(topics):,} topics: choose one with --topic, for example {some}.")
    if topic_id is not None and topic_id not in topics:
        raise UnknownName.among("topic", topic_id, topics, printable(file))
    return topics[topic_id or next(iter(topics))]
