"""The protocol of johnson2003 made ready for one web: which topics, how long the crawls are, where they start.

Rules
- Results are judged at one, two and three times the page budget of the settings, or at fewer pages in this proportion:
  no crawl takes more than half of the web.
- Crawls start from at most a quarter of the pages of the shortest, or they would have little left to choose. Seed sets
  shrink in proportion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.errors import InvalidParameter, InvalidTopic, printable
from scenthound.experiments.starts import Starts, known_relevant
from scenthound.experiments.study.arms import MIN_EXAMPLES, study_topics
from scenthound.experiments.study.settings import SearchSettings, StudySettings
from scenthound.experiments.validate.settings import fitting_budgets
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb

# Which topics johnson2003 is run on: those that searches are for, sparse and dense ones, and those that none saw.
#
# Rules
# - The study had two webs, one with few pages of its topic and one with many. Here topics with enough examples are
#   put in order by how many pages of the web are known to belong to them. Two searches are on the sparsest and on the
#   densest; more of them on topics at even steps between; a single one on the topic in the middle.
# - They share no example with each other: where one does, the nearest in this order that does not stands in. Only if
#   there is none, it is taken all the same, and a note says so.
# - Unseen topics are drawn by lot, the same every time, from all others that have what the study needs and share no
#   example with those.


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
            f"{len(fresh)} unseen topics instead of the {wanted} wanted: no others have {settings.needs.examples} "
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
        for place in even_positions(len(candidates), search.topics):
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
            raise InvalidTopic(self._too_few(search, len(large), where))
        return sorted(large, key=lambda topic: (self._n_known(topic), topic.id))

    def _too_few(self, search: SearchSettings, n_large: int, where: str) -> str:
        sizes = sorted(map(len, self._examples.values()), reverse=True)
        possible = sizes[search.topics - 1] if len(sizes) >= search.topics else 0
        instead = "give more topics whose examples are in this web"
        if possible >= MIN_EXAMPLES:
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


def even_positions(n_candidates: int, n_wanted: int) -> list[int]:
    """From the first candidate to the last at even steps; that in the middle, if one is wanted."""
    if n_wanted == 1:
        return [n_candidates // 2]
    return [round(number * (n_candidates - 1) / (n_wanted - 1)) for number in range(n_wanted)]


#: The lengths of the study's crawls, in multiples of the shortest.
LENGTHS = (1, 2, 3)
#: The pages that a crawl starts from are at most this part of its pages.
LARGEST_START = 0.25
#: The large seed set must have room for a small one.
SMALLEST_LARGE = 2


@dataclass(frozen=True, slots=True)
class SearchCrawls:
    """What the crawls of all searches have in common; `search` is written as `evolve.naming` parses it."""

    page_budget: int
    n_start: int
    n_crawls: int
    mode: str
    relevance: str
    search: str

    @classmethod
    def of(cls, search: SearchSettings, shortest: int) -> "SearchCrawls":
        page_budget = max(1, round(shortest * search.pages_share))
        return cls(
            page_budget,
            fitting_start(search.start, page_budget),
            search.crawls,
            search.mode,
            search.relevance,
            f"johnson2003:population={search.population},generations={search.generations}",
        )


@dataclass(frozen=True, slots=True)
class SeedSets:
    """How many pages the crawls that judge start from."""

    large: int
    small: int

    @classmethod
    def of(cls, search: SearchSettings, shortest: int) -> "SeedSets":
        large = fitting_start(search.large, shortest)
        if large < SMALLEST_LARGE:
            least = int(SMALLEST_LARGE / LARGEST_START)
            raise InvalidParameter(
                f"The shortest crawls have {shortest:,} pages, and need {least}: give larger --pages."
            )
        return cls(large, min(large - 1, max(1, round(large * search.small / search.large))))


@dataclass(frozen=True, slots=True)
class Protocol:
    """All that is decided before the first crawl."""

    settings: StudySettings
    search: SearchSettings
    web: RecordedWeb
    topics_file: Path
    topics: SearchTopics
    budgets: tuple[int, ...]
    crawls: SearchCrawls
    seed_sets: SeedSets

    @classmethod
    def of(cls, settings: StudySettings, web: RecordedWeb, topics: Path) -> "Protocol":
        """Choose topics and sizes, or say what is missing."""
        search = settings.search
        if search is None:
            raise InvalidParameter("The settings have no table [search], which johnson2003 needs.")
        budgets = fitting_budgets(wanted_budgets(settings), web.n_pages)
        return cls(
            settings,
            search,
            web,
            topics,
            search_topics(settings, search, web, topics),
            budgets,
            SearchCrawls.of(search, budgets[0]),
            SeedSets.of(search, budgets[0]),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say about how it came to be."""
        large, small = self.seed_sets.large, self.seed_sets.small
        if (large, small) == (self.search.large, self.search.small):
            return self.topics.notes
        return (
            *self.topics.notes,
            f"Crawls start from at most a quarter of the pages of the shortest, so seed sets of {large} and {small} "
            f"pages stand for those of {self.search.large} and {self.search.small}.",
        )


def wanted_budgets(settings: StudySettings) -> tuple[int, ...]:
    """The page budgets of the settings, whatever the web."""
    return tuple(length * settings.pages for length in LENGTHS)


def fitting_start(wanted: int, page_budget: int) -> int:
    """So many pages to start from, or fewer where crawls are short."""
    return max(1, min(wanted, int(page_budget * LARGEST_START)))
