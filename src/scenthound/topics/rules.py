"""The selection rules of the studies by name, applied to an Open Directory dump or to a topic file."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from scenthound.errors import BadTopic, UnknownName
from scenthound.model import Topic
from scenthound.topics.directory import Tree, odp_tree, topic_tree
from scenthound.topics.files import read_topics
from scenthound.topics.from_directory import chosen_topics, leaf_topics, level_topics
from scenthound.topics.odp import Cut
from scenthound.topics.select import LEAF_MIN_LINKS, Selection, categories_at_level, leaves_by_walks, leaves_in_order


class Rule(StrEnum):
    """How topics are chosen (SPEC section 3)."""

    LEAVES = "leaves"  #: menczer2001: the first leaves in breadth-first order
    WALKS = "walks"  #: pant2002: leaves found by randomised breadth-first walks
    LEVEL = "level"  #: wang2009: random categories at level 3, kept apart

    @classmethod
    def named(cls, name: str) -> "Rule":
        try:
            return cls(name)
        except ValueError:
            raise UnknownName.among("selection rule", name, list(cls)) from None


#: wang2009 trains on 75 positives and starts from 10 more; targets, which never train, should remain.
LEVEL_MIN_LINKS = 100


@dataclass(frozen=True, slots=True)
class Chosen:
    """The topics that a rule chose, and a line on what was missing if they are fewer than asked for."""

    topics: list[Topic]
    shortfall: str


@dataclass(frozen=True, slots=True)
class Wish:
    """How many topics, by which rule. Without `min_links` the rule's own least number of links holds."""

    rule: Rule
    n: int
    seed: int = 0
    min_links: int | None = None

    def select(self, tree: Tree) -> Selection:
        rng = Random(f"select/{self.rule}/{self.seed}")
        if self.rule is Rule.LEVEL:
            return categories_at_level(tree, self.n, rng, min_links=self._least(LEVEL_MIN_LINKS))
        if self.rule is Rule.WALKS:
            return leaves_by_walks(tree, self.n, rng, self._least(LEAF_MIN_LINKS))
        return leaves_in_order(tree, self.n, self._least(LEAF_MIN_LINKS))

    def _least(self, default: int) -> int:
        return default if self.min_links is None else self.min_links


def choose_from_odp(structure: Path | None, content: Path, wish: Wish, on_cut: Callable[[Cut], None]) -> Chosen:
    """Two passes over the content file: one counts, the other brings in what the chosen categories list."""
    selection = wish.select(odp_tree(structure, content, on_cut))
    if wish.rule is Rule.LEVEL:
        topics = level_topics(content, selection.paths, Random(f"split/{wish.seed}"), _already_said)
    else:
        topics = leaf_topics(content, selection.paths, _already_said)
    return _at_least_one(topics, selection, content)


def choose_from_file(file: Path, wish: Wish) -> Chosen:
    """Topics of a topic file, as the file has them, by their paths."""
    topics = read_topics(file)
    selection = wish.select(topic_tree(topics))
    return _at_least_one(chosen_topics(topics, selection.paths), selection, file)


def _at_least_one(topics: list[Topic], selection: Selection, file: Path) -> Chosen:
    if not topics:
        raise BadTopic(f"No category of {file} fits the rule: {selection.shortfall}")
    return Chosen(topics, selection.shortfall)


def _already_said(_cut: Cut) -> None:
    """The first pass has told of the cut."""
