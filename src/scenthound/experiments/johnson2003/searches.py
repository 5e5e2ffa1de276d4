"""The genetic searches of the study, one for each topic, in folders that are named for what decides them.

The name of a search has a digest of its settings, the web, the topic file and the code that crawls and searches. So a
search that was finished is found again, one that was broken off goes on, and with anything changed a new one begins
beside it.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scenthound.experiments.evolve.evolution import Evolution, evolve, resume_search
from scenthound.experiments.evolve.folder import is_search_folder
from scenthound.experiments.evolve.run import EvolutionStatus, Watch
from scenthound.experiments.evolve.settings import SearchSettings
from scenthound.experiments.findings import Finding
from scenthound.experiments.johnson2003.protocol import Protocol, wanted_budgets
from scenthound.experiments.pipeline import plan
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import Start, TopicChoice, check_seeds
from scenthound.experiments.trace_cache import Provenance, code_digest, crawl_names
from scenthound.experiments.validate.crawls import (
    CrawlMeasures,
    MeasuredRound,
    Measurements,
    Round,
    measured_rounds,
    rounds_of,
)
from scenthound.experiments.validate.settings import SeedSet, ValidationProtocol, ValidationSettings
from scenthound.experiments.validate.validation import ValidatedFinding, Validation, prepared
from scenthound.experiments.validate.validation import findings as validated_findings
from scenthound.files import write_atomic
from scenthound.metrics.page_graph import DistanceHistogram
from scenthound.model import Progress, Topic, silent
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.evolved import choice_of
from scenthound.topics.files import read_topics

#: The room whose code decides what a search asks for, beside those that decide its crawls.
SEARCHING_ROOMS = ("experiments/search",)
#: So many letters of a topic's id, and of a digest, name a folder.
NAME_LETTERS = 60
DIGEST_LETTERS = 12


@dataclass(frozen=True, slots=True)
class Searched:
    """A search that came to its end. `strategy` is its best individual, as crawls name it."""

    topic: str
    strategy: str
    evolution: Evolution


class Searches:
    """Runs the searches of a protocol, or takes them up, in a folder that has one folder for each."""

    def __init__(self, protocol: Protocol, folder: Path, workers: int | None = None) -> None:
        self._protocol = protocol
        self._folder = folder
        self._workers = workers

    def searched(self, topic: Topic, progress: Progress) -> Searched:
        """The search for a topic, from the beginning or from wherever it is."""

        def watch(status: EvolutionStatus) -> None:
            at = f"generation {status.summary.generation} of {status.summary.n_generations}"
            progress(status.share, f"search for {topic.id}, {at}")

        place = self._folder / self.name(topic)
        if is_search_folder(place):
            evolution = resume_search(place, web=self._protocol.web.path, workers=self._workers, watch=watch)
        else:
            evolution = self._begun(topic, place, watch)
        return Searched(topic.id, choice_of(evolution.result.resolve()), evolution)

    def name(self, topic: Topic) -> str:
        """The name of a search's folder: its topic, for people, and a digest of all that decides it."""
        decides = {
            "code": code_digest(SEARCHING_ROOMS),
            "web": self._protocol.web.fingerprint,
            "crawls": asdict(self._protocol.crawls),
            "topic": topic.id,
            # Guides learn from the examples of other topics what is not of this one.
            "topics": [asdict(each) for each in read_topics(self._protocol.topics_file)],
        }
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        letters = re.sub(r"[^A-Za-z0-9._-]+", "_", topic.id).strip("._")[:NAME_LETTERS]
        return f"{letters or 'topic'}-{digest[:DIGEST_LETTERS]}"

    def _begun(self, topic: Topic, place: Path, watch: Watch) -> Evolution:
        protocol, crawls = self._protocol, self._protocol.crawls
        setup = ExperimentSetup(
            web=protocol.web.path or Path(),
            topics=TopicChoice(protocol.topics_file, (topic.id,)),
            page_budget=crawls.page_budget,
            n_start=crawls.n_start,
            mode=crawls.mode,
            relevance=crawls.relevance,
        )
        search = SearchSettings(search=crawls.search, n_crawls=crawls.n_crawls)
        return evolve(setup, search, place, workers=self._workers, watch=watch)


# The rounds of a validation, kept by their content: a study that is run again measures only what is new.
#
# A round is one topic and one random seed: a crawl by every strategy from both seed sets, measured at every length.
# Its name is a digest of all that decides these measures: the crawls (`trace_cache`), the small seed set, lengths and
# threshold, and the code that measures. A file that is damaged or half written is as good as none.

#: The rooms whose code decides what a crawl measures, beside those that decide the crawl.
MEASURING_ROOMS = ("metrics", "experiments/validate")


@dataclass(frozen=True, slots=True)
class Rounds:
    """All rounds of a validation, in the order of topics and seeds, and how many were measured now."""

    measured: tuple[MeasuredRound, ...]
    n_new: int


def kept_rounds(
    web: RecordedWeb,
    settings: ValidationSettings,
    planned: Sequence[tuple[Topic, Start]],
    folder: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Rounds:
    """Every round: those that the folder has, and the others measured and put there."""
    rounds = rounds_of(settings, planned)
    places = [folder / f"{name}.json" for name in _names(web, settings, rounds)]
    measured = {place: _load(place) for place in places}
    missing = {place: each for place, each in zip(places, rounds, strict=True) if measured[place] is None}
    folder.mkdir(parents=True, exist_ok=True)
    results = measured_rounds(web, settings, list(missing.values()), workers=workers, progress=progress)
    for place, result in zip(missing, results, strict=True):
        write_atomic(place, json.dumps(asdict(result)).encode())
        measured[place] = result
    return Rounds(tuple(each for place in places if (each := measured[place]) is not None), len(missing))


def _names(web: RecordedWeb, settings: ValidationSettings, rounds: Sequence[Round]) -> Iterator[str]:
    experiment = settings.experiment
    provenance = Provenance(web.fingerprint, code_digest(MEASURING_ROOMS))
    for each in rounds:
        start = replace(each.large, seed=each.seed)
        crawls = (crawl_names(experiment, provenance, spec, each.topic, start)[0] for spec in experiment.strategies)
        decides = {
            "crawls": [crawl.digest for crawl in crawls],
            # Judges go by the pages known to belong to the topic.
            "known": [each.topic.id, each.topic.examples, each.topic.targets],
            "small": settings.seeds_of(each.large, SeedSet.SMALL, each.seed),
            "budgets": settings.budgets,
            "threshold": settings.threshold,
        }
        yield hashlib.sha256(json.dumps(decides).encode()).hexdigest()


def _load(place: Path) -> MeasuredRound | None:
    try:
        values = json.loads(place.read_bytes())
        measures = tuple(
            tuple(tuple(map(_crawl, by_budget)) for by_budget in by_seed_set) for by_seed_set in values["measures"]
        )
        return MeasuredRound(values["topic"], values["seed"], measures, values["good_share"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _crawl(values: Mapping[str, Any]) -> CrawlMeasures:
    histograms = {name: DistanceHistogram(tuple(values[name]["counts"])) for name in ("distances", "good_distances")}
    return CrawlMeasures(**{**values, **histograms})


# The results of the searches put to the test: held against Best-First, beside the published individual.
#
# Rules
# - Strategies go by short names: BF is Best-First, E1, E2 and so on are the best individuals of the searches, the one
#   on the sparsest topic first, P is the published individual.
# - Every strategy crawls for all topics that searches were on, its own and the others, as the study tried what it
#   evolved on one web on both; and for topics that no search saw, which the study had none of.
# - Whether a topic is dense is told within its group: of two topics that were searched on, one is, as in the study,
#   whatever the unseen ones are like.

BEST_FIRST_LABEL = "BF"
PUBLISHED_LABEL = "P"
PUBLISHED = "rank_function:preset=johnson2003"
#: What findings call the groups of topics. H17 is about the weights that were found on the topics searched on.
GROUPS = {"": "topics searched on", "trained on": "topics searched on", "unseen": "unseen topics"}


@dataclass(frozen=True, slots=True)
class ValidatedSearches:
    """What the results are worth. `labels` are of all strategies, in the order of the settings, `is_dense` is of all
    topics."""

    validation: Validation
    labels: tuple[str, ...]
    is_dense: tuple[bool, ...]
    findings: tuple[Finding, ...]
    rounds: Rounds


def judged(
    protocol: Protocol,
    searches: Sequence[Searched],
    folder: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> ValidatedSearches:
    """Crawl by all strategies and measure, but for what the folder has already; then judge the findings."""
    settings, notes = _prepared(protocol, searches)
    web = protocol.web
    planned = plan(replace(settings.experiment, repeats=1), web)
    for _, start in planned:
        check_seeds(start, settings.budgets[0], "`large` under [search] in the settings")
    rounds = kept_rounds(web, settings, planned, folder, workers=workers, progress=progress)
    measurements = Measurements.of(settings, rounds.measured)
    groups = tuple(_by_group(settings, measurements))
    found = tuple(finding for group in groups for finding in group.findings)
    starts = tuple(start for _, start in planned)
    place = (web.path or Path()).resolve()
    validation = Validation(settings, place, web.fingerprint, web.n_pages, starts, measurements, found, notes)
    labels = labels_of(searches)
    named = dict(zip(settings.all_strategies, labels, strict=True))
    is_dense = tuple(dense for group in groups for dense in group.is_dense)
    return ValidatedSearches(validation, labels, is_dense, tuple(_as_findings(found, named)), rounds)


@dataclass(frozen=True, slots=True)
class _Group:
    """What is said of one group of topics, and of it alone."""

    findings: tuple[ValidatedFinding, ...]
    is_dense: tuple[bool, ...]


def _by_group(settings: ValidationSettings, measurements: Measurements) -> Iterator[_Group]:
    """Topics searched on, then unseen ones. Weights are judged once."""
    for name, topics in settings.groups().items():
        is_unseen = name == "unseen"
        experiment = replace(settings.experiment, topics=settings.unseen if is_unseen else settings.trained)
        alone = replace(settings, experiment=experiment, n_trained=0 if is_unseen else settings.n_trained)
        measured = _of_topics(measurements, topics)
        found = validated_findings(alone, measured)
        yield _Group(tuple(finding for finding in found if finding.topics or not is_unseen), tuple(measured.is_dense))


def _of_topics(measurements: Measurements, topics: Sequence[int]) -> Measurements:
    """As if these had been all topics."""
    cut = slice(topics[0], topics[-1] + 1)
    return Measurements(
        {name: values[:, cut] for name, values in measurements.values.items()},
        measurements.distances[:, cut],
        measurements.good_distances[:, cut],
        measurements.good_share[cut],
    )


def labels_of(searches: Sequence[Searched]) -> tuple[str, ...]:
    return (BEST_FIRST_LABEL, *(f"E{number}" for number in range(1, len(searches) + 1)), PUBLISHED_LABEL)


def names_told(searches: Sequence[Searched]) -> str:
    """Who the strategies are, by the names that findings, tables and figures have for them."""
    best_first, *evolved, published = labels_of(searches)
    told = ", ".join(
        f"{label} the best individual of the search on {search.topic}"
        for label, search in zip(evolved, searches, strict=True)
    )
    return f"{best_first} is Best-First, {told}, and {published} the published individual."


def _prepared(protocol: Protocol, searches: Sequence[Searched]) -> tuple[ValidationSettings, tuple[str, ...]]:
    topics = protocol.topics
    setup = ExperimentSetup(
        web=protocol.web.path or Path(),
        topics=TopicChoice(protocol.topics_file, tuple(topic.id for topic in topics.searched)),
        strategies=(*(search.strategy for search in searches), PUBLISHED),
        repeats=protocol.settings.seeds,
        mode=protocol.search.mode,
        relevance=protocol.search.relevance,
    )
    validation = ValidationProtocol(
        budgets=wanted_budgets(protocol.settings),
        n_large=protocol.seed_sets.large,
        n_small=protocol.seed_sets.small,
        unseen_topics=tuple(topic.id for topic in topics.unseen),
    )
    _, settings, notes = prepared(setup, validation)
    named = dict(zip(settings.all_strategies, labels_of(searches), strict=True))
    return settings, tuple(_relabelled(note, named) for note in notes)


def _relabelled(note: str, named: dict[str, str]) -> str:
    """Specs with the paths of files say less than the names of tables and figures."""
    for spec, label in named.items():
        note = note.replace(spec, label)
    return note


def _as_findings(found: Iterable[ValidatedFinding], named: dict[str, str]) -> Iterator[Finding]:
    """By name, those on topics searched on first; which strategy and which topics one is about is its protocol."""
    for each in sorted(found, key=lambda finding: (finding.name, finding.topics == "unseen")):
        yield Finding(each.name, each.says, f"{named[each.strategy]}, {GROUPS[each.topics]}", each.claims)
