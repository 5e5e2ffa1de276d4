"""johnson2003 from files to findings: choose topics, run searches for each, and compare the results with Best-First.

Rules
- Results are measured at one, two and three times the page budget of the settings, or at fewer pages in this
  proportion: no crawl visits more than half of the web.
- Crawls start from at most a quarter of the pages of the shortest crawl, or they would have little left to choose. Seed
  sets are scaled down in proportion.
- The folder of a search is named by a digest of its settings, the web, the topic file and the code that crawls and
  searches. So a finished search is used again, an interrupted one continues, and if anything changed, a new one starts
  beside it. Crawls are cached in the same way.
- The searches of a topic differ in their random seed, and in the random numbers of their crawls unless the settings say
  otherwise; they start from the same pages. H17 is decided over them.
- Validated are the best individuals of one search of each topic: the one with the highest fitness of its best
  individual on its own crawls, the first among equals.
- Every strategy crawls for all topics searched on, its own and the others, because the study also tried what it evolved
  on one web on both; and for topics that no search saw, which the study did not have.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.command_line import unless
from scenthound.errors import InvalidParameter
from scenthound.experiments.evolve.evolution import Evolution, EvolutionStatus, evolve, resume_search
from scenthound.experiments.evolve.settings import SearchSettings as EvolveSettings
from scenthound.experiments.johnson2003.findings import TopicSearches, findings_by_group, strategy_groups
from scenthound.experiments.johnson2003.topics import search_topics
from scenthound.experiments.papers import Published
from scenthound.experiments.setup import CrawlConditions, ExperimentSetup
from scenthound.experiments.starts import Start, Starts, TopicChoice, training_pages_of
from scenthound.experiments.study.settings import SearchSettings, StudySettings
from scenthound.experiments.study.study import Parts, Timing
from scenthound.experiments.trace_cache import code_digest
from scenthound.experiments.validate.settings import ValidationProtocol, ValidationSettings, fitting_budgets
from scenthound.experiments.validate.validation import Validation, prepared, validate
from scenthound.model import Progress, Topic
from scenthound.processes import WorkersLike
from scenthound.records import to_json
from scenthound.relevance.base import RELEVANCE, score_range
from scenthound.store.folder import is_kind
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.evolved import choice_of
from scenthound.topics.files import read_topics

PUBLISHED_INDIVIDUAL = "rank_function:preset=johnson2003"
PUBLISHED = Published(pages=10_000, topics=2, largest_n=50, relevance="svm:bigrams=true,scores=margin")

#: The lengths of the study's crawls, in multiples of the shortest.
LENGTHS = (1, 2, 3)
#: Start pages are at most this share of the pages of a crawl.
MAX_START_SHARE = 0.25
#: The large seed set must be larger than the small one.
MIN_LARGE = 2
#: What decides which individuals a search requests, and the start pages, training pages and random numbers of their
#: crawls, besides the code that decides all crawls.
SEARCHING_PACKAGES = ("experiments/search", "experiments/evolve", "experiments/starts.py")
#: The folders of searches and of cached crawls within that of the study.
SEARCH_FOLDER, CRAWLS_FOLDER = "search", "crawls"


#: Maximum lengths of a topic id and of a digest in the name of a folder.
MAX_NAME_LENGTH = 60
DIGEST_LENGTH = 12


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
    return CrawlConditions(
        page_budget=page_budget,
        n_start=n_start,
        mode=search.mode,
        relevance=search.relevance,
        training_pages=search.training_pages,
    )


def evolve_settings(search: SearchSettings, seed: int) -> EvolveSettings:
    method = f"johnson2003:population={search.population},generations={search.generations}"
    # Unknown choices are rejected with the names of the known ones when the first search starts.
    choices: dict[str, Any] = {"random_streams": search.random_streams, "renew": search.renew}
    return EvolveSettings(search=method, n_crawls=search.crawls, seed=seed, **choices)


class Johnson2003Run:
    """Runs the searches and the validation of a study in its folder, reports the overall progress and takes times."""

    def __init__(
        self,
        settings: StudySettings,
        web: RecordedWeb,
        topics_file: Path,
        folder: Path,
        *,
        workers: WorkersLike,
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
        self._wanted_budgets = tuple(length * settings.pages for length in LENGTHS)
        budgets = fitting_budgets(self._wanted_budgets, web.n_pages)
        self._topics = search_topics(settings, search, web, topics_file)
        self._n_large, self._n_small = seed_set_sizes(search, budgets[0])
        self._conditions = search_conditions(search, budgets[0])
        self._parts = Parts(progress, len(self._topics.searched) * search.repeats + 1)

    @property
    def timings(self) -> tuple[Timing, ...]:
        return tuple(self._parts.timings)

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

    def searches(self) -> tuple[TopicSearches, ...]:
        """The searches for each topic; finished searches are used again, interrupted ones continue."""
        n_searches = self._search.repeats
        return tuple(
            TopicSearches(topic.id, tuple(self._one_search(topic, position, k) for k in range(n_searches)))
            for position, topic in enumerate(self._topics.searched)
        )

    def _one_search(self, topic: Topic, position: int, k: int) -> Evolution:
        # No two searches share a seed, also of different topics: they would start with the same population.
        seed = position * self._search.repeats + k
        number = f" {k + 1} of {self._search.repeats}" if self._search.repeats > 1 else ""
        with self._parts.part(f"search{number} for {topic.id}") as progress:
            return self._evolution(topic, evolve_settings(self._search, seed), progress)

    def differences(self, validation: Validation) -> str:
        """How the study differs from that of the paper, in a sentence; empty if it does not."""
        found, budgets = [], validation.settings.budgets
        if budgets[0] != PUBLISHED.pages:
            found.append(f"shortest crawls of {budgets[0]:,} pages instead of {PUBLISHED.pages:,}")
        if len(self._topics.searched) != PUBLISHED.topics:
            found.append(f"{len(self._topics.searched)} topics instead of {PUBLISHED.topics}")
        starts = Starts(self._web, n_start=self._conditions.n_start, training_pages=self._search.training_pages)
        searched = [starts.draw(topic, 0) for topic in self._topics.searched]
        n_starts = [len(start.seeds) for start in searched]
        if set(n_starts) != {self._search.start}:
            found.append(f"searches from {_range(n_starts)} start pages instead of {self._search.start}")
        if RELEVANCE.parse(self._search.relevance) != RELEVANCE.parse(PUBLISHED.relevance):
            found.append(f"the relevance model {self._search.relevance} instead of {PUBLISHED.relevance}")
        found += self._training_difference([*searched, *validation.starts])
        return f"Compared with the paper: {'; '.join(found)}." if found else ""

    def _training_difference(self, starts: Sequence[Start]) -> list[str]:
        positives = [len(start.training) for start in starts if start.training]
        wanted = training_pages_of("johnson2003")
        used = training_pages_of(self._search.training_pages)
        if not positives or (used == wanted and set(positives) == {wanted.positives}):
            return []
        negatives = [used.n_negatives(n) for n in positives]
        others = "random pages" if used.from_web else "examples of other topics"
        return [
            f"classifiers trained on {_range(positives)} pages of a topic and {_range(negatives)} {others} instead of "
            f"{wanted.positives} and about {wanted.negatives} random pages"
        ]

    def validation(self, searches: Sequence[TopicSearches]) -> Validation:
        """Crawl with all strategies, measure what is not cached, and test the findings about crawls."""
        settings, notes = self._validation_settings(searches)
        with self._parts.part("validating the results") as progress:
            return validate(
                self._web,
                settings,
                notes=notes,
                cache=self._folder / CRAWLS_FOLDER,
                large_option="`large` under [search] in the settings",
                find=partial(findings_by_group, strategy_groups(searches)),
                workers=self._workers,
                progress=progress,
            )

    def _evolution(self, topic: Topic, settings: EvolveSettings, progress: Progress) -> Evolution:
        def watch(status: EvolutionStatus) -> None:
            progress(status.share, f"generation {status.summary.generation} of {status.summary.n_generations}")

        path, n_best = self._folder / SEARCH_FOLDER / self._name(topic, settings), self._search.validated
        if is_kind(path, "search"):
            return resume_search(path, web=self._web.path, n_best=n_best, workers=self._workers, watch=watch)
        choice = TopicChoice(self._topics_file, (topic.id,))
        setup = ExperimentSetup(web=self._web.path or Path(), topics=choice, **asdict(self._conditions))
        return evolve(setup, settings, path, n_best=n_best, workers=self._workers, watch=watch)

    def _name(self, topic: Topic, settings: EvolveSettings) -> str:
        """The name of a search's folder: topic and number, for people, and a digest of everything that decides it."""
        decides = {
            "code": code_digest(SEARCHING_PACKAGES),
            "web": self._web.fingerprint,
            "crawls": to_json(self._conditions),
            "search": to_json(settings),
            "topic": topic.id,
            # Relevance models learn from the examples of other topics.
            "topics": [asdict(each) for each in read_topics(self._topics_file)],
        }
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        letters = re.sub(r"[^A-Za-z0-9._-]+", "_", topic.id).strip("._")[:MAX_NAME_LENGTH]
        return f"{letters or 'topic'}-{settings.seed + 1}-{digest[:DIGEST_LENGTH]}"

    def _validation_settings(self, searches: Sequence[TopicSearches]) -> tuple[ValidationSettings, tuple[str, ...]]:
        """The settings of the validation, and notes on them."""
        validated = [choice_of(each.file.resolve()) for topic in searches for each in topic.best.individuals]
        setup = ExperimentSetup(
            web=self._web.path or Path(),
            topics=TopicChoice(self._topics_file, tuple(each.topic for each in searches)),
            strategies=(*validated, self._published_individual()),
            repeats=self._repeats,
            mode=self._search.mode,
            relevance=self._search.relevance,
            training_pages=self._search.training_pages,
        )
        protocol = ValidationProtocol(
            budgets=self._wanted_budgets,
            n_large=self._n_large,
            n_small=self._n_small,
            unseen_topics=tuple(topic.id for topic in self._topics.unseen),
        )
        _, settings, notes = prepared(setup, protocol)
        for group, individuals in strategy_groups(searches).items():
            for index in individuals.values():
                # Paths of files say less than names, and the same is true of all individuals of a search.
                notes = tuple(note.replace(settings.all_strategies[index], group) for note in notes)
        return settings, tuple(dict.fromkeys(notes))

    def _published_individual(self) -> str:
        """With the scores and renewals of the searches."""
        scores = score_range(RELEVANCE.make(self._search.relevance))
        parameters = {"score_range": unless(scores, 1.0), "renew": unless(self._search.renew, "links")}
        given = (f",{name}={value}" for name, value in parameters.items() if value is not None)
        return f"{PUBLISHED_INDIVIDUAL}{''.join(given)}"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
