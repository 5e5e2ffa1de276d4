"""johnson2003 from files to findings: choose topics, run a search for each, and compare the results with Best-First.

Rules
- Results are measured at one, two and three times the page budget of the settings, or at fewer pages in this
  proportion: no crawl visits more than half of the web.
- Crawls start from at most a quarter of the pages of the shortest crawl, or they would have little left to choose. Seed
  sets are scaled down in proportion.
- The folder of a search is named by a digest of its settings, the web, the topic file and the code that crawls and
  searches. So a finished search is used again, an interrupted one continues, and if anything changed, a new one starts
  beside it. Measured crawls are cached in the same way.
- Strategies have short names: BF is Best-First, E1, E2 and so on are the best individuals of the searches, the one for
  the sparsest topic first, P is the published individual.
- Every strategy crawls for all topics searched on, its own and the others, because the study also tried what it evolved
  on one web on both; and for topics that no search saw, which the study did not have.
- Whether a topic is dense is decided within its group: of two topics searched on, one is, as in the study, whatever the
  unseen ones are like.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from scenthound.errors import InvalidParameter
from scenthound.experiments.evolve.evolution import Evolution, EvolutionStatus, evolve, resume_search
from scenthound.experiments.evolve.settings import SearchSettings as EvolveSettings
from scenthound.experiments.findings import Finding
from scenthound.experiments.johnson2003.topics import search_topics
from scenthound.experiments.search.methods import parse_search
from scenthound.experiments.setup import CrawlConditions, ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.experiments.study.settings import SearchSettings, StudySettings
from scenthound.experiments.study.study import Timing
from scenthound.experiments.trace_cache import code_digest
from scenthound.experiments.validate.crawls import SEED_SETS, Measurements
from scenthound.experiments.validate.settings import ValidationProtocol, ValidationSettings, fitting_budgets
from scenthound.experiments.validate.validation import ValidatedFinding, Validation, findings, prepared, validate
from scenthound.model import Progress, Topic
from scenthound.records import to_json
from scenthound.store.folder import is_kind
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.evolved import choice_of
from scenthound.topics.files import read_topics

PUBLISHED = "rank_function:preset=johnson2003"
PUBLISHED_LABEL = "P"
#: Names of the groups of topics in findings. H17 is about the weights that were found on the topics searched on.
GROUPS = {"": "topics searched on", "trained on": "topics searched on", "unseen": "unseen topics"}

#: The lengths of the study's crawls, in multiples of the shortest.
LENGTHS = (1, 2, 3)
#: Start pages are at most this share of the pages of a crawl.
MAX_START_SHARE = 0.25
#: The large seed set must be larger than the small one.
MIN_LARGE = 2
#: The package whose code decides which individuals a search requests, besides those that decide its crawls.
SEARCHING_PACKAGES = ("experiments/search",)
#: Folders within that of the study.
SEARCH_FOLDER = "search"
ROUNDS_FOLDER = "measured"
#: Maximum lengths of a topic id and of a digest in the name of a folder.
MAX_NAME_LENGTH = 60
DIGEST_LENGTH = 12
#: About this share of a search's individuals is new and must be evaluated; only the reported progress depends on it.
NEW_SHARE = 0.5

Result = TypeVar("Result")


def fitting_start(wanted: int, page_budget: int) -> int:
    """The number of start pages, fewer if crawls are short."""
    return max(1, min(wanted, int(page_budget * MAX_START_SHARE)))


def seed_set_sizes(search: SearchSettings, shortest: int) -> tuple[int, int]:
    """The sizes of the large and the small seed set."""
    large = fitting_start(search.large, shortest)
    if large < MIN_LARGE:
        least = int(MIN_LARGE / MAX_START_SHARE)
        raise InvalidParameter(f"The shortest crawls have {shortest:,} pages, and need {least}: give larger --pages.")
    return large, min(large - 1, max(1, round(large * search.small / search.large)))


def search_conditions(search: SearchSettings, shortest: int) -> CrawlConditions:
    """The conditions that the crawls of all searches share."""
    page_budget = max(1, round(shortest * search.pages_share))
    n_start = fitting_start(search.start, page_budget)
    return CrawlConditions(page_budget=page_budget, n_start=n_start, mode=search.mode, relevance=search.relevance)


def evolve_settings(search: SearchSettings) -> EvolveSettings:
    method = f"johnson2003:population={search.population},generations={search.generations}"
    return EvolveSettings(search=method, n_crawls=search.crawls)


class Johnson2003Run:
    """Runs the searches and the validation of a study in its folder, reports the overall progress and takes times."""

    def __init__(
        self,
        settings: StudySettings,
        web: RecordedWeb,
        topics_file: Path,
        folder: Path,
        *,
        workers: int | None,
        progress: Progress,
    ) -> None:
        search = settings.search
        if search is None:
            raise InvalidParameter("The settings have no table [search], which johnson2003 needs.")
        self._search = search
        self._repeats = settings.seeds
        self._web = web
        self._topics_file = topics_file
        self._folder = folder
        self._workers = workers
        self._progress = progress
        self._wanted_budgets = tuple(length * settings.pages for length in LENGTHS)
        budgets = fitting_budgets(self._wanted_budgets, web.n_pages)
        self._topics = search_topics(settings, search, web, topics_file)
        self._n_large, self._n_small = seed_set_sizes(search, budgets[0])
        self._conditions = search_conditions(search, budgets[0])
        self._evolve_settings = evolve_settings(search)
        n_searches, n_topics = len(self._topics.searched), len((*self._topics.searched, *self._topics.unseen))
        most_evaluations = parse_search(self._evolve_settings.search).most_evaluations
        self._search_visits = NEW_SHARE * most_evaluations * search.crawls * self._conditions.page_budget
        # By Best-First, the published individual and those of the searches.
        n_crawls = n_topics * self._repeats * len(SEED_SETS) * (n_searches + 2)
        self._validation_visits = float(n_crawls * budgets[-1])
        self._n_visits = self._search_visits * n_searches + self._validation_visits
        self._n_done = 0.0
        self.timings: list[Timing] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the choice of topics and sizes."""
        if (self._n_large, self._n_small) == (self._search.large, self._search.small):
            return self._topics.notes
        return (
            *self._topics.notes,
            f"Crawls start from at most a quarter of the pages of the shortest, so the seed sets have {self._n_large} "
            f"and {self._n_small} pages instead of {self._search.large} and {self._search.small}.",
        )

    def searches(self) -> dict[str, Evolution]:
        """The search for each topic, by its id; finished searches are used again, interrupted ones continue."""
        return {
            topic.id: self._part(f"search for {topic.id}", self._search_visits, partial(self._evolution, topic))
            for topic in self._topics.searched
        }

    def validation(self, searches: Mapping[str, Evolution]) -> Validation:
        """Crawl with all strategies, measure what is not cached, and test the findings."""
        settings, notes = self._validation_settings(searches)
        work = partial(
            validate,
            self._web,
            settings,
            notes=notes,
            cache=self._folder / ROUNDS_FOLDER,
            large_option="`large` under [search] in the settings",
            find=findings_by_group,
            workers=self._workers,
        )
        return self._part("validating the results", self._validation_visits, work)

    def _part(self, name: str, n_visits: float, work: Callable[..., Result]) -> Result:
        def progress(share: float, text: str) -> None:
            self._progress((self._n_done + share * n_visits) / self._n_visits, text)

        began_s = perf_counter()
        result = work(progress=progress)
        self.timings.append(Timing(name, perf_counter() - began_s))
        self._n_done += n_visits
        progress(0.0, f"{name}: done")
        return result

    def _evolution(self, topic: Topic, progress: Progress) -> Evolution:
        def watch(status: EvolutionStatus) -> None:
            at = f"generation {status.summary.generation} of {status.summary.n_generations}"
            progress(status.share, f"search for {topic.id}, {at}")

        path = self._folder / SEARCH_FOLDER / self._name(topic)
        if is_kind(path, "search"):
            return resume_search(path, web=self._web.path, workers=self._workers, watch=watch)
        choice = TopicChoice(self._topics_file, (topic.id,))
        setup = ExperimentSetup(web=self._web.path or Path(), topics=choice, **asdict(self._conditions))
        return evolve(setup, self._evolve_settings, path, workers=self._workers, watch=watch)

    def _name(self, topic: Topic) -> str:
        """The name of a search's folder: its topic, for people, and a digest of everything that decides it."""
        decides = {
            "code": code_digest(SEARCHING_PACKAGES),
            "web": self._web.fingerprint,
            "crawls": to_json(self._conditions),
            "search": to_json(self._evolve_settings),
            "topic": topic.id,
            # Relevance models learn from the examples of other topics.
            "topics": [asdict(each) for each in read_topics(self._topics_file)],
        }
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        letters = re.sub(r"[^A-Za-z0-9._-]+", "_", topic.id).strip("._")[:MAX_NAME_LENGTH]
        return f"{letters or 'topic'}-{digest[:DIGEST_LENGTH]}"

    def _validation_settings(self, searches: Mapping[str, Evolution]) -> tuple[ValidationSettings, tuple[str, ...]]:
        """The settings of the validation, and notes on them."""
        setup = ExperimentSetup(
            web=self._web.path or Path(),
            topics=TopicChoice(self._topics_file, tuple(searches)),
            strategies=(*(choice_of(search.result.resolve()) for search in searches.values()), PUBLISHED),
            repeats=self._repeats,
            mode=self._search.mode,
            relevance=self._search.relevance,
        )
        protocol = ValidationProtocol(
            budgets=self._wanted_budgets,
            n_large=self._n_large,
            n_small=self._n_small,
            unseen_topics=tuple(topic.id for topic in self._topics.unseen),
        )
        _, settings, notes = prepared(setup, protocol)
        for spec, label in zip(settings.all_strategies, labels_of(len(searches)), strict=True):
            # Paths of files say less than the names in tables and figures.
            notes = tuple(note.replace(spec, label) for note in notes)
        return settings, notes


def labels_of(n_searches: int) -> tuple[str, ...]:
    """The short names of all strategies, in the order of the validation."""
    return ("BF", *(f"E{number}" for number in range(1, n_searches + 1)), PUBLISHED_LABEL)


def findings_by_group(settings: ValidationSettings, measurements: Measurements) -> Iterator[ValidatedFinding]:
    """The findings on topics searched on, then those on unseen ones, each as if there were no other topics. Weights
    are tested once."""
    for name, topics in settings.groups().items():
        is_unseen = name == "unseen"
        experiment = replace(settings.experiment, topics=settings.unseen if is_unseen else settings.trained)
        alone = replace(settings, experiment=experiment, n_trained=0 if is_unseen else settings.n_trained)
        for finding in findings(alone, measurements.on_topics(topics)):
            if finding.topics or not is_unseen:
                yield finding


def named_findings(found: Iterable[ValidatedFinding], label_of: Mapping[str, str]) -> Iterator[Finding]:
    """Sorted by name, those on topics searched on first. The protocol of each is its strategy and group of topics."""
    for each in sorted(found, key=lambda finding: (finding.name, finding.topics == "unseen")):
        yield Finding(each.name, each.says, f"{label_of[each.strategy]}, {GROUPS[each.topics]}", each.claims)
