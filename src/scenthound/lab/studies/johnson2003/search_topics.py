"""Which topics johnson2003 is run on: those that searches are for, sparse and dense ones, and those that none saw.

Rules
- The study had two webs, one with few pages of its topic and one with many. Here topics with enough examples are put in
  order by how many pages of the web are known to belong to them. Two searches are on the sparsest and on the densest;
  more of them on topics at even steps between; a single one on the topic in the middle.
- They share no example with each other: where one does, the nearest in this order that does not stands in. Only if
  there is none, it is taken all the same, and a note says so.
- Unseen topics are drawn by lot, the same every time, from all others that have what the study needs and share no
  example with those.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.errors import BadTopic, printable
from scenthound.lab.starts import Starts, known_relevant
from scenthound.lab.studies.settings import SearchSettings, StudySettings
from scenthound.lab.studies.study_topics import FEWEST_EXAMPLES, study_topics
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb


@dataclass(frozen=True, slots=True)
class SearchTopics:
    """Topics that searches are for, the sparsest first, and topics that no search sees."""

    searched: tuple[Topic, ...]
    unseen: tuple[Topic, ...]
    notes: tuple[str, ...]


def search_topics(settings: StudySettings, search: SearchSettings, web: RecordedWeb, file: Path) -> SearchTopics:
    """Read the file and choose; BadTopic with what is possible if there are too few topics."""
    # In the order of a lot, so that the first so many of any of them are drawn by lot.
    usable = study_topics(replace(settings, topics_max=None), web, file)
    choosing = _Choosing(web, usable.drawn)
    notes = list(usable.notes)
    searched = choosing.searched(search, printable(file), notes)
    wanted = search.unseen if settings.topics_max is None else settings.topics_max
    fresh = choosing.fresh(searched)
    if len(fresh) < wanted:
        notes.append(
            f"{len(fresh)} unseen topics stand for the {wanted} wanted: no others have {settings.needs.examples} "
            "examples and share none with the topics searched on."
        )
    return SearchTopics(tuple(searched), tuple(fresh[:wanted]), tuple(notes))


class _Choosing:
    """Chooses among topics that have what the study needs, in the order of a lot."""

    def __init__(self, web: RecordedWeb, usable: Sequence[Topic]) -> None:
        self._web = web
        self._usable = usable
        starts = Starts(web)
        self._examples = {topic.id: set(starts.example_pages(topic)) for topic in usable}

    def searched(self, search: SearchSettings, where: str, notes: list[str]) -> list[Topic]:
        candidates = self._from_sparse_to_dense(search, where)
        taken: list[Topic] = []
        for place in even_places(len(candidates), search.topics):
            chosen = self._nearest(candidates, place, taken)
            notes.append(
                f"A search is for topic {chosen.id!r}: {self._told_density(chosen)}. It has place "
                f"{candidates.index(chosen) + 1} of {len(candidates)} topics with {search.examples} examples, sparsest "
                "first."
            )
            n_shared = self._n_shared(chosen, taken)
            if n_shared:
                notes.append(f"Topic {chosen.id!r} shares {n_shared:,} examples with others that are searched on.")
            taken.append(chosen)
        return taken

    def _nearest(self, candidates: list[Topic], place: int, taken: Sequence[Topic]) -> Topic:
        """The topic at this place, or the nearest to it that shares nothing with those taken."""
        left = [topic for topic in candidates if topic not in taken]
        left.sort(key=lambda topic: abs(candidates.index(topic) - place))
        return next((topic for topic in left if not self._n_shared(topic, taken)), left[0])

    def fresh(self, searched: Sequence[Topic]) -> list[Topic]:
        """Topics that share nothing with those searched on."""
        ids = {topic.id for topic in searched}
        return [topic for topic in self._usable if topic.id not in ids and not self._n_shared(topic, searched)]

    def _from_sparse_to_dense(self, search: SearchSettings, where: str) -> list[Topic]:
        large = [topic for topic in self._usable if len(self._examples[topic.id]) >= search.examples]
        if len(large) < search.topics:
            raise BadTopic(self._too_few(search, len(large), where))
        return sorted(large, key=lambda topic: (self._n_known(topic), topic.id))

    def _too_few(self, search: SearchSettings, n_large: int, where: str) -> str:
        sizes = sorted(map(len, self._examples.values()), reverse=True)
        possible = sizes[search.topics - 1] if len(sizes) >= search.topics else 0
        instead = "give more topics whose examples are in this web"
        if possible >= FEWEST_EXAMPLES:
            instead = f"possible is `examples = {possible}` under [search] in a settings file"
        return (
            f"johnson2003 searches on {search.topics} topics with {search.examples} examples in the web; in {where} "
            f"{n_large} have that, and the largest has {sizes[0] if sizes else 0:,}: {instead}."
        )

    def _n_known(self, topic: Topic) -> int:
        return len(known_relevant(self._web, topic))

    def _told_density(self, topic: Topic) -> str:
        n_known = self._n_known(topic)
        return f"{n_known:,} pages are known to belong to it, {n_known / self._web.n_pages:.1%} of the web"

    def _n_shared(self, topic: Topic, others: Sequence[Topic]) -> int:
        theirs: set[int] = set().union(*(self._examples[other.id] for other in others))
        return len(self._examples[topic.id] & theirs)


def even_places(n_candidates: int, n_wanted: int) -> list[int]:
    """From the first candidate to the last at even steps; that in the middle, if one is wanted."""
    if n_wanted == 1:
        return [n_candidates // 2]
    return [round(number * (n_candidates - 1) / (n_wanted - 1)) for number in range(n_wanted)]
