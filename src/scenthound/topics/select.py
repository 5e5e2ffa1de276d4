"""The topic selection rules of the studies: leaves in order, leaves by random walks, categories of one level.

Each rule returns up to n categories, and explains in `shortfall` why there are fewer. Leaves need at least five
external links (S1 section 5.1, S2 section 2.1).
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import InvalidTopic
from scenthound.model import IntArray, Topic
from scenthound.topics.directory import Tree, leaf_topics, level_topics, odp_tree, topic_tree, topics_at_paths
from scenthound.topics.files import read_topics
from scenthound.topics.odp import Truncation
from scenthound.topics.options import Selecting

LEAF_MIN_LINKS = 5
#: S3, "Topic selection", step 2. The paper writes "Adults"; the directory's category is Adult.
LEVEL_EXCLUDED = frozenset({"Regional", "Kids_and_Teens", "World", "Adult"})


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected category paths, and one line that explains why they are too few."""

    paths: tuple[str, ...]
    shortfall: str = ""


def leaves_in_order(tree: Tree, n: int, min_links: int = LEAF_MIN_LINKS) -> Selection:
    """S1 section 5.1: the first n leaves with enough links in the order of a breadth-first walk."""
    return _leaves(tree, _walk(tree, 0, None), n, min_links)


def leaves_by_walks(tree: Tree, n: int, rng: random.Random, min_links: int = LEAF_MIN_LINKS) -> Selection:
    """S2 section 2.1: leaves found by randomised breadth-first walks, one from each main category.

    The paper does not say how the walks share the n topics. Here they alternate, one leaf each, so that no main
    category is preferred; the children of a category are queued in random order.
    """
    main = tree.children(0).tolist()
    rng.shuffle(main)
    walks = [_eligible_leaves(tree, _walk(tree, start, rng), min_links) for start in main]
    return _leaves(tree, _round_robin(walks), n, min_links)


def categories_at_level(
    tree: Tree,
    n: int,
    rng: random.Random,
    *,
    min_links: int,
    level: int = 3,
    excluded: frozenset[str] = LEVEL_EXCLUDED,
) -> Selection:
    """S3, "Topic selection", step 2: random categories at one level, at a distance from each other.

    At least `min_links` links in the subtree, no two with the same parent, no four with the same grandparent. These
    two limits are nested, so the greedy selection is as large as possible.
    """
    out = [child for child in tree.children(0) if tree.paths[child].rpartition("/")[2] in excluded]
    at_level = (tree.level == level) & ~np.isin(_main_category(tree), out)
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
        f"them with {min_links} links or more, the others too close to a selected one. Lower --count or --min-links."
    )
    return Selection(_paths(tree, chosen), shortfall if len(chosen) < n else "")


def _leaves(tree: Tree, walk: Iterator[int], n: int, min_links: int) -> Selection:
    chosen = list(islice(_eligible_leaves(tree, walk, min_links), min(n, len(tree.parent))))
    shortfall = (
        f"{len(chosen)} of {n} topics: {int(tree.is_leaf.sum())} categories have no children, and no more of them "
        f"have {min_links} links or more. Lower --count or --min-links."
    )
    return Selection(_paths(tree, chosen), shortfall if len(chosen) < n else "")


def _walk(tree: Tree, start: int, rng: random.Random | None) -> Iterator[int]:
    """Breadth-first from a category; with a random generator, children are in random order."""
    queue = deque([start])
    while queue:
        number = queue.popleft()
        yield number
        children = tree.children(number).tolist()
        if rng is not None:
            rng.shuffle(children)
        queue.extend(children)


def _eligible_leaves(tree: Tree, walk: Iterator[int], min_links: int) -> Iterator[int]:
    return (number for number in walk if tree.is_leaf[number] and tree.n_links[number] >= min_links)


def _round_robin(walks: list[Iterator[int]]) -> Iterator[int]:
    queue = deque(walks)
    while queue:
        walk = queue.popleft()
        for number in islice(walk, 1):
            yield number
            queue.append(walk)


def _main_category(tree: Tree) -> IntArray:
    """The main category (child of the root) of each category; the root is its own."""
    main = np.arange(len(tree.parent), dtype=np.int32)
    for depth in range(2, int(tree.level.max()) + 1):
        at_depth = np.flatnonzero(tree.level == depth)
        main[at_depth] = main[tree.parent[at_depth]]
    return main


def _paths(tree: Tree, numbers: list[int]) -> tuple[str, ...]:
    return tuple(tree.paths[number] for number in numbers)


#: wang2009 trains on 75 pages and starts from 10 more; targets, which are never used for training, must remain.
LEVEL_MIN_LINKS = 100


def _selected(tree: Tree, options: Selecting) -> Selection:
    rng, n, min_links = Random(f"select/{options.rule}/{options.random_seed}"), options.count, options.min_links
    if options.rule == "level":
        return categories_at_level(tree, n, rng, min_links=min_links or LEVEL_MIN_LINKS)
    if options.rule == "walks":
        return leaves_by_walks(tree, n, rng, min_links or LEAF_MIN_LINKS)
    return leaves_in_order(tree, n, min_links or LEAF_MIN_LINKS)


def select_from_odp(
    structure: Path | None, content: Path, options: Selecting, on_truncated: Callable[[Truncation], None]
) -> tuple[list[Topic], str]:
    """Select topics of an Open Directory dump: one pass counts links, another reads the selected categories. The text
    explains why there are fewer than requested."""
    selection = _selected(odp_tree(structure, content, on_truncated), options)
    if options.rule == "level":
        topics = level_topics(content, selection.paths, Random(f"split/{options.random_seed}"), _ignore)
    else:
        topics = leaf_topics(content, selection.paths, _ignore)
    return _require_topics(topics, selection, content)


def select_from_file(file: Path, options: Selecting) -> tuple[list[Topic], str]:
    """Select topics of a topic file by their paths."""
    topics = read_topics(file)
    selection = _selected(topic_tree(topics), options)
    return _require_topics(topics_at_paths(topics, selection.paths), selection, file)


def _require_topics(topics: list[Topic], selection: Selection, file: Path) -> tuple[list[Topic], str]:
    if not topics:
        raise InvalidTopic(f"No category of {file} matches the rule: {selection.shortfall}")
    return topics, selection.shortfall


def _ignore(_truncation: Truncation) -> None:
    """The first pass has reported it."""
