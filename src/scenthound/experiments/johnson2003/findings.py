"""The findings of johnson2003 about the searches of a study and about the crawls of their results.

Rules
- Strategies have short names: BF is Best-First, E1.1, E1.2 and so on are the best individuals of the search for the
  sparsest topic, E2.1 is the best one for the next topic, P is the published individual. If only the best are
  validated, they are E1, E2 and so on. A finding about E1 has the claims about all of E1.1, E1.2 and so on.
- Whether a topic is dense is decided within its group: of two topics searched on, one is, as in the study, whatever the
  unseen ones are like.
- H17 is about all searches, and says what their fitness is beside that of Best-First.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from scenthound.experiments.evolve.evolution import Evolution
from scenthound.experiments.findings import Finding, finding_of
from scenthound.experiments.validate.crawls import Measurements
from scenthound.experiments.validate.settings import ValidationSettings
from scenthound.experiments.validate.validation import SAYS, ValidatedFinding, crawl_findings
from scenthound.experiments.validate.weights import SearchResult, SearchSize, weight_claims

PUBLISHED_LABEL = "P"
#: Names of the groups of topics in findings.
GROUPS = {"trained on": "topics searched on", "unseen": "unseen topics"}


@dataclass(frozen=True, slots=True)
class TopicSearches:
    """The searches for a topic."""

    topic: str
    searches: tuple[Evolution, ...]

    @property
    def best(self) -> Evolution:
        """The search with the best individual, the first among equals."""
        return max(self.searches, key=lambda search: search.best.fitness)


#: The positions of individuals among those that a search compares with its best one.
BEST_FIRST, PUBLISHED = 0, 1


def strategy_groups(searches: Sequence[TopicSearches]) -> dict[str, dict[str, int]]:
    """The validated strategies, by the name of their group: the label of each, and its index in the validation."""
    groups: dict[str, dict[str, int]] = {}
    index = 1
    for number, each in enumerate(searches, 1):
        n_individuals = len(each.best.individuals)
        labels = [f"E{number}.{rank}" for rank in range(1, n_individuals + 1)] if n_individuals > 1 else [f"E{number}"]
        groups[f"E{number}"] = {label: index + offset for offset, label in enumerate(labels)}
        index += n_individuals
    return groups | {PUBLISHED_LABEL: {PUBLISHED_LABEL: index}}


def labels_of(searches: Sequence[TopicSearches]) -> tuple[str, ...]:
    """The short names of all strategies, in the order of the validation."""
    return ("BF", *(label for group in strategy_groups(searches).values() for label in group))


def findings_by_group(
    groups: Mapping[str, Mapping[str, int]], settings: ValidationSettings, measurements: Measurements
) -> Iterator[ValidatedFinding]:
    """The findings about crawls on topics searched on, then those on unseen ones, each as if there were no other
    topics."""
    for name, topics in settings.groups().items():
        is_unseen = name == "unseen"
        experiment = replace(settings.experiment, topics=settings.unseen if is_unseen else settings.trained)
        alone = replace(settings, experiment=experiment, n_trained=0 if is_unseen else settings.n_trained)
        for strategies in groups.values():
            yield from crawl_findings(alone, measurements.on_topics(topics), strategies)


def weights_finding(searches: Sequence[TopicSearches]) -> Finding:
    """H17, over all searches."""
    results = []
    for each in searches:
        for search in each.searches:
            settings = search.settings
            size = SearchSize(settings.method.population, search.summary.generation, settings.n_crawls)
            results.append(SearchResult(search.best.rules, size, (each.topic,)))
    n_each = len(searches[0].searches)
    protocol = f"{n_each} search{'es' if n_each > 1 else ''} of each topic"
    remarks = " ".join(_fitness_remark(each) for each in searches)
    return finding_of("H17", SAYS["H17"], protocol, weight_claims(results), remarks)


def _fitness_remark(searches: TopicSearches) -> str:
    """Whether the searches of a topic found anything."""
    found = [search.best.fitness for search in searches.searches]
    known = [search.others[BEST_FIRST].fitness for search in searches.searches]
    return (
        f"On {searches.topic}, the best individuals have a fitness of {fmean(found):.4f} ({min(found):.4f} to "
        f"{max(found):.4f}), and Best-First {fmean(known):.4f} on the same crawls."
    )


def named_findings(found: Iterable[ValidatedFinding], label_of: Mapping[str, str]) -> Iterator[Finding]:
    """Sorted by name, those on topics searched on first. The protocol of each is its strategies and group of topics."""
    for each in sorted(found, key=lambda finding: (finding.name, finding.topics == "unseen")):
        yield Finding(each.name, each.says, f"{label_of[each.strategy]}, {GROUPS[each.topics]}", each.claims)
