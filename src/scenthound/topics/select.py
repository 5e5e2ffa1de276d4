"""How the studies chose their topics from a directory: leaves in order, leaves by random walks, one level.

Each rule answers with as many categories as there are, up to the number asked for, and says in `shortfall`
what was missing. The leaf rules want at least five external links (S1 section 5.1, S2 section 2.1).
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import InvalidTopic, UnknownName
from scenthound.model import IntArray, Topic
from scenthound.topics.directory import Tree, chosen_topics, leaf_topics, level_topics, odp_tree, topic_tree
from scenthound.topics.files import read_topics
from scenthound.topics.odp import Cut

LEAF_MIN_LINKS = 5
#: S3, "Topic selection", step 2. The paper writes "Adults"; the directory's category is Adult.
LEVEL_EXCLUDED = frozenset({"Regional", "Kids_and_Teens", "World", "Adult"})


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen category paths, and one line on what was missing if they are too few."""

    paths: tuple[str, ...]
    shortfall: str = ""


def leaves_in_order(tree: Tree, n: int, min_links: int = LEAF_MIN_LINKS) -> Selection:
    """S1 section 5.1: the first n leaves with enough links in the order of a breadth-first walk."""
    return _leaves(tree, _walk(tree, 0, None), n, min_links)


def leaves_by_walks(tree: Tree, n: int, rng: random.Random, min_links: int = LEAF_MIN_LINKS) -> Selection:
    """S2 section 2.1: leaves found by randomised breadth-first walks, one from each main category.

    The paper does not say how the walks share the n topics. Here they take turns, one leaf each, so that no main
    category is favoured; the children of a category are queued in random order.
    """
    main = tree.children(0).tolist()
    rng.shuffle(main)
    walks = [_good_leaves(tree, _walk(tree, start, rng), min_links) for start in main]
    return _leaves(tree, _in_turns(walks), n, min_links)


def categories_at_level(
    tree: Tree,
    n: int,
    rng: random.Random,
    *,
    min_links: int,
    level: int = 3,
    excluded: frozenset[str] = LEVEL_EXCLUDED,
) -> Selection:
    """S3, "Topic selection", step 2: random categories at one level, kept apart from each other.

    At least `min_links` links in the whole subtree, no two with the same parent, no four with the same
    grandparent. These two limits nest, so taking any category that still fits never costs another place: the
    greedy choice is as large as any can be.
    """
    shunned = np.isin(_main_category(tree), [child for child in tree.children(0) if _name(tree, child) in excluded])
    at_level = (tree.level == level) & ~shunned
    candidates = np.flatnonzero(at_level & (tree.n_links_below >= min_links)).tolist()
    rng.shuffle(candidates)
    chosen: list[int] = []
    by_parent: Counter[int] = Counter()
    by_grandparent: Counter[int] = Counter()
    for number in candidates:
        parent = int(tree.parent[number])
        grandparent = int(tree.parent[parent])
        if len(chosen) < n and not by_parent[parent] and by_grandparent[grandparent] < 3:
            chosen.append(number)
            by_parent[parent] += 1
            by_grandparent[grandparent] += 1
    shortfall = (
        f"{len(chosen)} of {n} topics: {int(at_level.sum())} categories at level {level}, {len(candidates)} of "
        f"them with {min_links} links or more, the others too near to a chosen one; ask for fewer or lower min_links."
    )
    return Selection(_paths(tree, chosen), shortfall if len(chosen) < n else "")


def _leaves(tree: Tree, walk: Iterator[int], n: int, min_links: int) -> Selection:
    chosen = list(islice(_good_leaves(tree, walk, min_links), n))
    shortfall = (
        f"{len(chosen)} of {n} topics: {int(tree.is_leaf.sum())} categories have no children, and no more of them "
        f"have {min_links} links or more; ask for fewer topics or lower min_links."
    )
    return Selection(_paths(tree, chosen), shortfall if len(chosen) < n else "")


def _walk(tree: Tree, start: int, rng: random.Random | None) -> Iterator[int]:
    """Breadth-first from a category; with a generator the children of each category in random order."""
    queue = deque([start])
    while queue:
        number = queue.popleft()
        yield number
        children = tree.children(number).tolist()
        if rng is not None:
            rng.shuffle(children)
        queue.extend(children)


def _good_leaves(tree: Tree, walk: Iterator[int], min_links: int) -> Iterator[int]:
    return (number for number in walk if tree.is_leaf[number] and tree.n_links[number] >= min_links)


def _in_turns(walks: list[Iterator[int]]) -> Iterator[int]:
    turns = deque(walks)
    while turns:
        walk = turns.popleft()
        for number in islice(walk, 1):
            yield number
            turns.append(walk)


def _main_category(tree: Tree) -> IntArray:
    """For each category the child of the root that it is under, itself included; the root is its own."""
    main = np.arange(len(tree.parent), dtype=np.int32)
    for depth in range(2, int(tree.level.max()) + 1):
        at_depth = np.flatnonzero(tree.level == depth)
        main[at_depth] = main[tree.parent[at_depth]]
    return main


def _name(tree: Tree, number: int) -> str:
    return tree.paths[number].rpartition("/")[2]


def _paths(tree: Tree, numbers: list[int]) -> tuple[str, ...]:
    return tuple(tree.paths[number] for number in numbers)


# The selection rules of the studies by name, applied to an Open Directory dump or to a topic file.


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
        raise InvalidTopic(f"No category of {file} fits the rule: {selection.shortfall}")
    return Chosen(topics, selection.shortfall)


def _already_said(_cut: Cut) -> None:
    """The first pass has told of the cut."""
