"""The protocol of johnson2003 made ready for one web: which topics, how long the crawls are, where they start.

Rules
- Results are judged at one, two and three times the page budget of the settings, or at fewer pages in this proportion:
  no crawl takes more than half of the web.
- Crawls start from at most a quarter of the pages of the shortest, or they would have little left to choose. Seed sets
  shrink in proportion.
"""

from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import BadParameter
from scenthound.lab.studies.johnson2003.search_topics import SearchTopics, search_topics
from scenthound.lab.studies.settings import SearchSettings, StudySettings
from scenthound.lab.validating.settings import fitting_budgets
from scenthound.store.recorded_web import RecordedWeb

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
            raise BadParameter(f"The shortest crawls have {shortest:,} pages, and need {least}: give larger --pages.")
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
            raise BadParameter("The settings have no table [search], which johnson2003 needs.")
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
