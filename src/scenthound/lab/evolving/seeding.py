"""Earlier winners that take part in a search: which of them have a place, their weights, and what they had seen.

Rules
- The first population has so many places; winners that come later are left out, and leave nothing behind.
- A winner brings what it was searched for into the result, and what its own winners brought: no such topic is unseen.
- A winner with one rule has the same weights in every rule of a search that splits them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import printable
from scenthound.lab.evolving.settings import EvolutionSettings
from scenthound.strategies.rank_file import RankFile, read_rank_file, topic_ids


@dataclass(frozen=True, slots=True)
class Seeding:
    """The winners that are taken, by their weights, and the topics that they were searched for."""

    winners: tuple[tuple[float, ...], ...]
    topics: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, files: Sequence[Path], settings: EvolutionSettings) -> "Seeding":
        """The rank files that a search is seeded with; each is checked, also if it is left out."""
        read = [(file, read_rank_file(file)) for file in files]
        weights = tuple(settings.weights_of(each.rules, printable(file)) for file, each in read)
        n_places = settings.method.population
        topics = [topic for file, each in read[:n_places] for topic in topics_seen(each, file)]
        notes = (*_left_out(len(read), n_places), *_repeated(read[:n_places], settings))
        return cls(weights[:n_places], tuple(dict.fromkeys(topics)), notes)


def topics_seen(rank_file: RankFile, file: Path) -> list[str]:
    """The topics that a search saw by its training record, be it through its winners: none, if a person wrote it."""
    return [topic for key in ("topics", "seeded_topics") for topic in topic_ids(rank_file.training, key, file)]


def _left_out(n_winners: int, n_places: int) -> list[str]:
    if n_winners <= n_places:
        return []
    return [
        f"Of {n_winners:,} earlier winners the first {n_places:,} take part and {n_winners - n_places:,} are left out, "
        "because the population has no more places; give a larger one by --search NAME:population=N."
    ]


def _repeated(read: Sequence[tuple[Path, RankFile]], settings: EvolutionSettings) -> list[str]:
    n_rules = settings.rule_split.n_rules
    return [
        f"{printable(file)} has one rule, so its weights stand in all {n_rules} rules of the search."
        for file, each in read
        if len(each.rules.weights) < n_rules
    ]
