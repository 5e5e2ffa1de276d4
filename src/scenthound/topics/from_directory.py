"""Topics made of chosen categories: keywords from the path, examples from the links, a description by the editors.

The content file is read a second time, and only what the chosen categories list is kept.
"""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from scenthound.model import Topic
from scenthound.topics.odp import Cut, ListedPage, read_listings
from scenthound.topics.paths import parent_path, path_words
from scenthound.topics.split import split_examples

N_EXAMPLES = 10


def leaf_topics(content: Path, paths: Sequence[str], on_cut: Callable[[Cut], None]) -> list[Topic]:
    """S1 section 5.1, S2 section 2.1: the first ten links are the examples, and what the editors wrote of them the
    description."""
    pages = _pages_below(content, paths, on_cut)
    return [_topic(path, pages[path][:N_EXAMPLES]) for path in paths]


def level_topics(
    content: Path, paths: Sequence[str], rng: random.Random, on_cut: Callable[[Cut], None], *, n_seeds: int = 10
) -> list[Topic]:
    """S3, "Topic selection", step 3: all links of the subtree, ten random ones as seeds and the others as targets."""
    pages = _pages_below(content, paths, on_cut)
    return [_with_seeds_and_targets(_topic(path, pages[path]), rng, n_seeds) for path in paths]


def chosen_topics(topics: Iterable[Topic], paths: Collection[str]) -> list[Topic]:
    """The topics of a topic file at the chosen paths, in the order of the paths, as the file has them."""
    at_path: dict[str, list[Topic]] = {path: [] for path in paths}
    for topic in topics:
        if topic.path in at_path:
            at_path[topic.path].append(topic)
    return [topic for path in paths for topic in at_path[path]]


def _pages_below(content: Path, paths: Sequence[str], on_cut: Callable[[Cut], None]) -> dict[str, list[ListedPage]]:
    """The distinct pages of each chosen subtree, in the directory's order."""
    pages: dict[str, dict[str, ListedPage]] = {path: {} for path in paths}
    for listing in read_listings(content, on_cut):
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


def _with_seeds_and_targets(topic: Topic, rng: random.Random, n_seeds: int) -> Topic:
    start = split_examples(topic, lambda _url: True, rng, n_seeds)
    return replace(topic, seeds=start.seeds, targets=start.targets)
