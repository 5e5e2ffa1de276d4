"""The results of the searches put to the test: held against Best-First, beside the published individual.

Rules
- Strategies go by short names: BF is Best-First, E1, E2 and so on are the best individuals of the searches, the one on
  the sparsest topic first, P is the published individual.
- Every strategy crawls for all topics that searches were on, its own and the others, as the study tried what it evolved
  on one web on both; and for topics that no search saw, which the study had none of.
- Whether a topic is dense is told within its group: of two topics that were searched on, one is, as in the study,
  whatever the unseen ones are like.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.lab.findings import Finding
from scenthound.lab.planning import plan
from scenthound.lab.starts import check_seeds
from scenthound.lab.studies.johnson2003.kept_rounds import Rounds, kept_rounds
from scenthound.lab.studies.johnson2003.protocol import Protocol, wanted_budgets
from scenthound.lab.studies.johnson2003.searching import Searched
from scenthound.lab.validating.measurements import Measurements
from scenthound.lab.validating.settings import ValidationSettings
from scenthound.lab.validating.topics import TopicsWanted
from scenthound.lab.validating.validation import Validation, prepared
from scenthound.lab.validating.verdicts import ValidatedFinding
from scenthound.lab.validating.verdicts import findings as validated_findings
from scenthound.model import Progress, silent

BEST_FIRST_LABEL = "BF"
PUBLISHED_LABEL = "P"
PUBLISHED = "rank_function:preset=johnson2003"
#: What findings call the groups of topics. H17 is about the weights that were found on the topics searched on.
GROUPS = {"": "topics searched on", "trained on": "topics searched on", "unseen": "unseen topics"}


@dataclass(frozen=True, slots=True)
class Judged:
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
) -> Judged:
    """Crawl by all strategies and measure, but for what the folder has already; then judge the findings."""
    settings, notes = _prepared(protocol, searches)
    web = protocol.web
    planned = plan(settings.experiment(web), web)
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
    return Judged(validation, labels, is_dense, tuple(_as_findings(found, named)), rounds)


@dataclass(frozen=True, slots=True)
class _Group:
    """What is said of one group of topics, and of it alone."""

    findings: tuple[ValidatedFinding, ...]
    is_dense: tuple[bool, ...]


def _by_group(settings: ValidationSettings, measurements: Measurements) -> Iterator[_Group]:
    """Topics searched on, then unseen ones. Weights are judged once."""
    for name, topics in settings.groups().items():
        is_unseen = name == "unseen"
        alone = replace(settings, trained=()) if is_unseen else replace(settings, unseen=())
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
    wished = ValidationSettings(
        (*(search.strategy for search in searches), PUBLISHED),
        budgets=wanted_budgets(protocol.settings),
        n_large=protocol.seed_sets.large,
        n_small=protocol.seed_sets.small,
        n_seeds=protocol.settings.seeds,
        mode=protocol.search.mode,
        relevance=protocol.search.relevance,
    )
    topics = protocol.topics
    wanted = TopicsWanted(
        protocol.topics_file,
        tuple(topic.id for topic in topics.searched),
        tuple(topic.id for topic in topics.unseen),
    )
    _, settings, notes = prepared(protocol.web.path or Path(), wanted, wished)
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
