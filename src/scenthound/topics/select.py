"""How the studies chose their topics from a directory: leaves in order, leaves by random walks, one level.

Each rule answers with as many categories as there are, up to the number asked for, and says in `shortfall`
what was missing. The leaf rules want at least five external links (S1 section 5.1, S2 section 2.1).
"""

import random
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from scenthound.model import IntArray
from scenthound.topics.directory import Tree

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
