"""Which topics a validation is on: those that the strategies were evolved on, and those that no search ever saw.

Rules
- What a search saw stands in the training record of its file (`evolved:file=...`). A topic in any of these records is
  never called unseen, and one in none of them is not called trained on.
- Topics drawn by lot share no example with those trained on, and a crawl can start for each of them. Of a topic that
  was named and does share examples, it is said how many.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from scenthound.errors import BadInput, BadTopic, UnknownName, printable
from scenthound.lab.starts import Starts
from scenthound.model import Topic
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.rank_file import read_rank_file


@dataclass(frozen=True, slots=True)
class TopicsWanted:
    """What was asked for: topics of a file by their ids, and so many drawn by lot from the others."""

    file: Path
    trained: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    most_unseen: int | None = None


@dataclass(frozen=True, slots=True)
class TopicsTaken:
    """What came of it; `others` are all other topics of the file."""

    trained: tuple[Topic, ...]
    unseen: tuple[Topic, ...]
    others: tuple[Topic, ...]
    notes: tuple[str, ...] = ()


def trained_on(strategies: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The topics that each evolved strategy was trained on, as its file says: none, if a person wrote it."""
    records = {}
    for text in strategies:
        choice = STRATEGIES.parse(text)
        file = STRATEGIES.values(choice).get("file") if choice.name == "evolved" else None
        if isinstance(file, str):
            records[str(choice)] = _recorded_topics(file)
    return records


def _recorded_topics(file: str) -> tuple[str, ...]:
    topics = read_rank_file(file).training.get("topics", [])
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise BadInput(f'{file}: `topics` in its training record is no list of ids; write it as ["...", "..."].')
    return tuple(topics)


def chosen_topics(
    wanted: TopicsWanted, listed: Mapping[str, Topic], records: Mapping[str, tuple[str, ...]], starts: Starts
) -> TopicsTaken:
    """The topics of a validation. Those trained on are the records', unless they are named."""
    for topic_id in (*wanted.trained, *wanted.unseen):
        if topic_id not in listed:
            raise UnknownName.among("topic", topic_id, listed, printable(wanted.file))
    recorded = dict.fromkeys(topic_id for ids in records.values() for topic_id in ids)
    trained = tuple(dict.fromkeys(wanted.trained)) or tuple(topic_id for topic_id in recorded if topic_id in listed)
    _check_trained(trained, records)
    _check_unseen(wanted.unseen, trained, records)
    seen = {*trained, *recorded}
    seen_pages = {page for topic_id in seen if topic_id in listed for page in starts.example_pages(listed[topic_id])}
    unseen = list(dict.fromkeys(wanted.unseen))
    if wanted.most_unseen is not None:
        free = [topic for topic in listed.values() if topic.id not in seen and topic.id not in unseen]
        unseen += _drawn([topic for topic in free if _is_fresh(topic, seen_pages, starts)], wanted.most_unseen)
    taken = {*trained, *unseen}
    if not taken:
        raise BadTopic("There is no topic to validate on: name some with --topic, --unseen or --unseen-max.")
    return TopicsTaken(
        tuple(listed[topic_id] for topic_id in trained),
        tuple(listed[topic_id] for topic_id in unseen),
        tuple(topic for topic_id, topic in listed.items() if topic_id not in taken),
        tuple(_overlaps([listed[topic_id] for topic_id in unseen], seen_pages, starts)),
    )


def _check_trained(trained: Iterable[str], records: Mapping[str, tuple[str, ...]]) -> None:
    recorded = {topic_id for ids in records.values() for topic_id in ids}
    for topic_id in trained:
        if recorded and topic_id not in recorded:
            raise BadTopic(
                f"Topic {topic_id!r} is none that the strategies were trained on ({', '.join(sorted(recorded))}); "
                "name it with --unseen."
            )


def _check_unseen(unseen: Iterable[str], trained: Iterable[str], records: Mapping[str, tuple[str, ...]]) -> None:
    for topic_id in unseen:
        for strategy, ids in records.items():
            if topic_id in ids:
                raise BadTopic(f"Topic {topic_id!r} is not unseen: {strategy} was trained on it; name it with --topic.")
        if topic_id in trained:
            raise BadTopic(f"Topic {topic_id!r} cannot be trained on and unseen; name it once.")


def _is_fresh(topic: Topic, seen_pages: set[int], starts: Starts) -> bool:
    try:
        starts.draw(topic, 0)
    except BadTopic:
        return False
    return seen_pages.isdisjoint(starts.example_pages(topic))


def _drawn(topics: list[Topic], most: int) -> list[str]:
    """By lot, and the same ones every time."""
    drawn = set(Random("unseen").sample([topic.id for topic in topics], min(most, len(topics))))
    return [topic.id for topic in topics if topic.id in drawn]


def _overlaps(unseen: Iterable[Topic], seen_pages: set[int], starts: Starts) -> Iterable[str]:
    for topic in unseen:
        n_shared = len(seen_pages.intersection(starts.example_pages(topic)))
        if n_shared:
            yield f"Topic {topic.id!r} is called unseen, but shares {n_shared:,} examples with topics trained on."
