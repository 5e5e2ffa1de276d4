"""The category tree of a directory with numbers of external links, and topics made of its categories.

Parents follow from paths, so the tree is complete even if a dump lacks intermediate categories. Siblings are in the
order of their first occurrence, which is their parent's list of children if there is one. Only a path and three numbers
are stored per category, so that a directory of a million categories fits in memory.
"""

import random
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from scenthound.model import BoolArray, IntArray, LongArray, Topic
from scenthound.topics.files import ROOT, parent_path, path_words
from scenthound.topics.odp import ListedPage, Truncation, read_categories, read_listings
from scenthound.topics.split import split_examples


class Directory:
    """Categories are numbered so that a parent comes before its children; the root is 0."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {ROOT: 0}
        self._parent = array("i", [-1])
        self._n_links = array("i", [0])

    @property
    def paths(self) -> Sequence[str]:
        return list(self._number)

    def add(self, path: str) -> int:
        """Add a category and its ancestors where they are new; return its number."""
        missing = []
        while path not in self._number:
            missing.append(path)
            path = parent_path(path) or ROOT
        number = self._number[path]
        for path in reversed(missing):
            self._parent.append(number)
            self._n_links.append(0)
            number = self._number[path] = len(self._number)
        return number

    def add_links(self, path: str, n_links: int) -> None:
        self._n_links[self.add(path)] += n_links

    def tree(self) -> "Tree":
        """The tree of all categories so far."""
        return Tree(self.paths, np.array(self._parent, np.int32), np.array(self._n_links, np.int64))


class Tree:
    """An immutable category tree. Arrays are indexed by category number."""

    def __init__(self, paths: Sequence[str], parent: IntArray, n_links: LongArray) -> None:
        self.paths = paths
        self.parent = parent
        self.n_links = n_links

    def children(self, number: int) -> IntArray:
        """The child categories in the directory's order."""
        return self._by_parent[self._first_child[number] : self._first_child[number + 1]]

    @cached_property
    def n_links_below(self) -> LongArray:
        """The links of each subtree. A link listed in two of its categories counts twice."""
        total = self.n_links.copy()
        for depth in range(int(self.level.max()), 0, -1):
            at_depth = np.flatnonzero(self.level == depth)
            np.add.at(total, self.parent[at_depth], total[at_depth])
        return total

    @cached_property
    def is_leaf(self) -> BoolArray:
        """Categories without child categories."""
        is_leaf: BoolArray = np.diff(self._first_child) == 0
        return is_leaf

    @cached_property
    def level(self) -> IntArray:
        """The depth of each category; that of the root is 0."""
        level = np.zeros(len(self.parent), np.int32)
        for number, parent in enumerate(self.parent.tolist()):
            if number:
                level[number] = level[parent] + 1
        return level

    @cached_property
    def _by_parent(self) -> IntArray:
        # The parent of the root is -1, so it is first and removed; a stable sort keeps the order of siblings.
        by_parent: IntArray = np.argsort(self.parent, kind="stable")[1:].astype(np.int32)
        return by_parent

    @cached_property
    def _first_child(self) -> LongArray:
        n_children = np.bincount(self.parent[1:], minlength=len(self.parent))
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(n_children, dtype=np.int64)])


def odp_tree(structure: Path | None, content: Path, on_truncated: Callable[[Truncation], None]) -> Tree:
    """The tree of an Open Directory dump; without a structure file siblings are in the order of the content file."""
    directory = Directory()
    if structure is not None:
        for category in read_categories(structure, on_truncated):
            directory.add(category.path)
            for child in category.children:
                directory.add(child)
    for listing in read_listings(content, on_truncated):
        directory.add_links(listing.path, len(listing.pages))
    return directory.tree()


def topic_tree(topics: Iterable[Topic]) -> Tree:
    """The tree of topics with paths. Examples are links of the deepest topics that have them.

    Collections repeat the examples of a topic in its parents; counted only in the deepest topic, each link counts once
    in a subtree, as in a directory.
    """
    directory = Directory()
    with_paths = [topic for topic in topics if topic.path]
    for topic in with_paths:
        directory.add(topic.path)
    counted: dict[str, set[str]] = {}
    for topic in sorted(with_paths, key=lambda topic: -topic.path.count("/")):
        already_counted = counted.setdefault(topic.path, set())
        new = set(topic.examples) - already_counted
        directory.add_links(topic.path, len(new))
        above = topic.path
        while above:
            counted.setdefault(above, set()).update(new)
            above = parent_path(above)
    return directory.tree()


# Topics of selected categories: keywords from the path, examples from the links, description by the editors. The
# content file is read a second time, and only the pages of the selected categories are stored.

N_EXAMPLES = 10


def leaf_topics(content: Path, paths: Sequence[str], on_truncated: Callable[[Truncation], None]) -> list[Topic]:
    """S1 section 5.1, S2 section 2.1: the first ten links are the examples, and their texts the description."""
    pages = _pages_below(content, paths, on_truncated)
    return [_topic(path, pages[path][:N_EXAMPLES]) for path in paths]


def level_topics(
    content: Path,
    paths: Sequence[str],
    rng: random.Random,
    on_truncated: Callable[[Truncation], None],
    *,
    n_seeds: int = 10,
) -> list[Topic]:
    """S3, "Topic selection", step 3: all links of the subtree, ten random ones as seeds and the others as targets."""
    pages = _pages_below(content, paths, on_truncated)
    topics = [_topic(path, pages[path]) for path in paths]
    starts = [split_examples(topic, lambda _url: True, rng, n_seeds) for topic in topics]
    return [replace(topic, seeds=each.seeds, targets=each.targets) for topic, each in zip(topics, starts, strict=True)]


def topics_at_paths(topics: Iterable[Topic], paths: Collection[str]) -> list[Topic]:
    """The topics of a topic file at the given paths, in the order of the paths."""
    at_path: dict[str, list[Topic]] = {path: [] for path in paths}
    for topic in topics:
        if topic.path in at_path:
            at_path[topic.path].append(topic)
    return [topic for path in paths for topic in at_path[path]]


def _pages_below(
    content: Path, paths: Sequence[str], on_truncated: Callable[[Truncation], None]
) -> dict[str, list[ListedPage]]:
    """The distinct pages of each subtree, in the order of the directory."""
    pages: dict[str, dict[str, ListedPage]] = {path: {} for path in paths}
    for listing in read_listings(content, on_truncated):
        above = listing.path
        while above:
            if above in pages:
                for page in listing.pages:
                    pages[above].setdefault(page.url, page)
            above = parent_path(above)
    return {path: list(found.values()) for path, found in pages.items()}


def _topic(path: str, pages: list[ListedPage]) -> Topic:
    texts = (text for page in pages[:N_EXAMPLES] for text in (page.title, page.description) if text)
    return Topic(
        id=path,
        keywords=path_words(path),
        path=path,
        description=" ".join(texts),
        examples=tuple(page.url for page in pages),
    )
