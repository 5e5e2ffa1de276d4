"""The topics of johnson2003: those that searches are for, from sparse to dense, and those that no search sees.

Rules
- The study had two webs, one with few pages of its topic and one with many. Here, topics with enough examples are
  sorted by how many pages of the web are known to belong to them. Two searches are for the sparsest and the densest
  topic, more of them for topics at even steps between, a single one for the median topic.
- They share no example with each other: if one does, the nearest topic in this order that does not replaces it. If
  there is none, it is used nevertheless, and a note says so.
- Unseen topics are drawn at random, always the same ones, from all others that meet the needs of the study and share no
  example with those.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.errors import InvalidTopic, printable
from scenthound.experiments.starts import Starts, known_relevant
from scenthound.experiments.study.arms import MIN_EXAMPLES, study_topics
from scenthound.experiments.study.settings import SearchSettings, StudySettings
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb


@dataclass(frozen=True, slots=True)
class SearchTopics:
    """Topics that searches are for, the sparsest first, and topics that no search sees."""

    searched: tuple[Topic, ...]
    unseen: tuple[Topic, ...]
    notes: tuple[str, ...]


def search_topics(settings: StudySettings, search: SearchSettings, web: RecordedWeb, file: Path) -> SearchTopics:
    """Read the file and choose; InvalidTopic, with what is possible, if there are too few topics."""
    # In random order, so that the first ones of any selection are drawn at random.
    usable = study_topics(replace(settings, topics_max=None), web, file)
    chooser = _Chooser(web, usable.drawn)
    searched, notes = chooser.searched(search, chooser.candidates(search, printable(file)))
    wanted = search.unseen if settings.topics_max is None else settings.topics_max
    unseen = [topic for topic in usable.drawn if topic not in searched and not chooser.n_shared(topic, searched)]
    if len(unseen) < wanted:
        notes.append(
            f"{len(unseen)} unseen topics instead of the {wanted} wanted: no others have {settings.needs.examples} "
            "examples and share none with the topics searched on."
        )
    return SearchTopics(tuple(searched), tuple(unseen[:wanted]), (*usable.notes, *notes))


class _Chooser:
    """Chooses among topics that meet the needs of the study."""

    def __init__(self, web: RecordedWeb, usable: Sequence[Topic]) -> None:
        self._web = web
        self._usable = usable
        starts = Starts(web)
        self._examples = {topic.id: set(starts.example_pages(topic)) for topic in usable}

    def n_shared(self, topic: Topic, others: Iterable[Topic]) -> int:
        """The number of examples that a topic shares with others."""
        theirs: set[int] = set().union(*(self._examples[other.id] for other in others))
        return len(self._examples[topic.id] & theirs)

    def candidates(self, search: SearchSettings, file: str) -> dict[Topic, int]:
        """Topics with enough examples, from sparse to dense, and how many pages are known to belong to each."""
        large = [topic for topic in self._usable if len(self._examples[topic.id]) >= search.examples]
        if len(large) >= search.topics:
            known = {topic: len(known_relevant(self._web, topic)) for topic in large}
            return dict(sorted(known.items(), key=lambda each: (each[1], each[0].id)))
        sizes = sorted(map(len, self._examples.values()), reverse=True)
        possible = sizes[search.topics - 1] if len(sizes) >= search.topics else 0
        instead = "give more topics whose examples are in this web"
        if possible >= MIN_EXAMPLES:
            instead = f"possible is `examples = {possible}` under [search] in a settings file"
        raise InvalidTopic(
            f"johnson2003 searches on {search.topics} topics with {search.examples} examples in the web; in {file} "
            f"{len(large)} have that, and the largest has {sizes[0] if sizes else 0:,}: {instead}."
        )

    def searched(self, search: SearchSettings, candidates: dict[Topic, int]) -> tuple[list[Topic], list[str]]:
        """The topics that searches are for, and notes on them."""
        rank = {topic: index for index, topic in enumerate(candidates)}
        chosen: list[Topic] = []
        notes = []
        for position in even_positions(len(candidates), search.topics):
            free = sorted(rank.keys() - chosen, key=lambda topic: (abs(rank[topic] - position), rank[topic]))
            topic = next((topic for topic in free if not self.n_shared(topic, chosen)), free[0])
            notes.append(
                f"A search is for topic {topic.id!r}: {candidates[topic]:,} pages are known to belong to it, "
                f"{candidates[topic] / self._web.n_pages:.1%} of the web. It is number {rank[topic] + 1} of "
                f"{len(candidates)} topics with {search.examples} examples, sparsest first."
            )
            n_shared = self.n_shared(topic, chosen)
            if n_shared:
                notes.append(f"Topic {topic.id!r} shares {n_shared:,} examples with others that are searched on.")
            chosen.append(topic)
        return chosen, notes


def even_positions(n_candidates: int, n_wanted: int) -> list[int]:
    """From the first candidate to the last at even steps; the middle one if one is wanted."""
    if n_wanted == 1:
        return [n_candidates // 2]
    return [round(number * (n_candidates - 1) / (n_wanted - 1)) for number in range(n_wanted)]
