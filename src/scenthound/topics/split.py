"""Seeds and targets of a topic (S3, "Topic selection", step 3), and neighbours of its examples (S2 section 2.1).

- Seeds and targets given by a topic are used as they are; missing ones are drawn from its examples.
- Seeds and targets are disjoint. Pages of `description_from` may be seeds but are never targets.
- Unavailable pages are omitted, but a given seed must be available.
- URLs are compared as written. The draw depends on the random generator and on the set of examples, not on their order;
  seeds and targets are in the order of the topic.
"""

import random
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass

import numpy as np

from scenthound.errors import InvalidParameter, InvalidTopic, NoStartPage
from scenthound.model import IntArray, LongArray, Topic

Available = Callable[[str], bool] | Container[str]


@dataclass(frozen=True, slots=True)
class SeedsAndTargets:
    """The pages a crawl starts from, and those it should find."""

    seeds: tuple[str, ...]
    targets: tuple[str, ...]


def split_examples(topic: Topic, available: Available, rng: random.Random, n_seeds: int = 10) -> SeedsAndTargets:
    """Ten random examples are seeds, the others targets, unless the topic gives them.

    With fewer than `2 * n_seeds` usable examples half of them are seeds (rounded down, at least one), so that targets
    remain. A topic with seeds but without examples has no targets, so its crawls have no recall.
    """
    if n_seeds < 1:
        raise InvalidParameter(f"n_seeds must be 1 or more, not {n_seeds}.")
    is_recorded = available if callable(available) else available.__contains__
    examples = _usable(topic.examples, is_recorded)
    if topic.seeds:
        seeds = _given_seeds(topic, is_recorded)
    elif topic.targets:
        named = set(topic.targets)
        candidates = [url for url in examples if url not in named]
        seeds = _draw(_require_candidates(topic, candidates), rng, min(n_seeds, len(candidates)))
    else:
        seeds = _draw_leaving_targets(topic, _require_candidates(topic, examples), rng, n_seeds)
    chosen = _usable(topic.targets, is_recorded) if topic.targets else examples
    targets = _without(chosen, {*seeds, *topic.description_from})
    if topic.targets and not targets:
        raise InvalidTopic(
            f"Topic {topic.id!r} has no usable target: each is a seed, a page of description_from "
            "or not in the recorded web. Give other targets, or none to use the examples."
        )
    return SeedsAndTargets(tuple(seeds), tuple(targets))


def _usable(urls: Collection[str], is_recorded: Callable[[str], bool]) -> list[str]:
    return [url for url in dict.fromkeys(urls) if is_recorded(url)]


def _without(urls: Collection[str], excluded: Collection[str]) -> list[str]:
    return [url for url in urls if url not in excluded]


def _given_seeds(topic: Topic, is_recorded: Callable[[str], bool]) -> list[str]:
    seeds = list(dict.fromkeys(topic.seeds))
    for url in seeds:
        if not is_recorded(url):
            similar = next(filter(is_recorded, _similar_urls(url)), None)
            advice = f"Did you mean {similar}?" if similar else "Give another one, or record a web that contains it."
            raise InvalidTopic(f"Seed {url} of topic {topic.id!r} is not in the recorded web. {advice}")
    return seeds


def _similar_urls(url: str) -> list[str]:
    """The URL with the other scheme, and with or without a slash at its end."""
    scheme, _, rest = url.partition("://")
    other = "http" if scheme == "https" else "https"
    slash = rest.removesuffix("/") if rest.endswith("/") else f"{rest}/"
    return [f"{other}://{rest}", f"{scheme}://{slash}", f"{other}://{slash}"]


def _require_candidates(topic: Topic, candidates: list[str]) -> list[str]:
    if not candidates:
        raise NoStartPage(
            f"Topic {topic.id!r} has no start page in the recorded web (seeds: 0, examples: {len(topic.examples)}, "
            f"targets: {len(topic.targets)}). Add `seeds` or examples that are in the web to the topic."
        )
    return candidates


def _draw_leaving_targets(topic: Topic, examples: list[str], rng: random.Random, n_seeds: int) -> list[str]:
    """Draw seeds so that a target remains if possible.

    A draw that contains every possible target is repeated. At most half of the examples are seeds, so at least every
    second draw succeeds.
    """
    n_drawn = n_seeds if len(examples) >= 2 * n_seeds else max(1, len(examples) // 2)
    possible_targets = set(_without(examples, set(topic.description_from)))
    can_leave_one = len(examples) > 1 and bool(possible_targets)
    seeds = _draw(examples, rng, n_drawn)
    while can_leave_one and possible_targets <= set(seeds):
        seeds = _draw(examples, rng, n_drawn)
    return seeds


def _draw(examples: list[str], rng: random.Random, n_drawn: int) -> list[str]:
    drawn = set(rng.sample(sorted(examples), n_drawn))
    return [url for url in examples if url in drawn]


# Neighbours of a topic's examples, the seeds of S2's second task (S2 section 2.1)
#
# The paper takes the top 20 in-links of each example, then the top 20 in-links of each of those, and notes that ten
# examples give at most 4,000 URLs. Ten times 20 times 20 is 4,000, so only the pages of the second step count. Ten of
# them, drawn at random, are the neighbours. "Top" means highest in-degree, because a recorded web has no search engine;
# ties are broken by page number. Examples are not neighbours, because the crawl should find them.


@dataclass(frozen=True, slots=True)
class InLinks:
    """In-links as of `RecordedWeb.inlinks`: the distinct other pages that link to page p are
    `page[offset[p]:offset[p + 1]]`, ascending."""

    offset: LongArray
    page: IntArray

    def top(self, page: int, n_inlinks: int) -> IntArray:
        """The in-links of a page with the highest in-degree, best first."""
        linking = self.page[self.offset[page] : self.offset[page + 1]]
        in_degree = self.offset[linking + 1] - self.offset[linking]
        # A stable sort of pages in ascending order breaks ties by page number.
        return linking[np.argsort(-in_degree, kind="stable")[:n_inlinks]]

    def top_of_all(self, pages: IntArray, n_inlinks: int) -> IntArray:
        """The distinct top in-links of all these pages, in page order."""
        found = [self.top(int(page), n_inlinks) for page in pages]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int32)


def neighbourhood(examples: IntArray, inlinks: InLinks, n_inlinks: int = 20) -> IntArray:
    """All pages two steps back from the examples, in page order, without the examples."""
    first_step = inlinks.top_of_all(np.unique(examples), n_inlinks)
    second_step = inlinks.top_of_all(first_step, n_inlinks)
    return np.setdiff1d(second_step, examples).astype(np.int32)


def neighbours(
    topic_id: str,
    examples: IntArray,
    inlinks: InLinks,
    rng: random.Random,
    *,
    n_neighbours: int = 10,
    n_inlinks: int = 20,
) -> IntArray:
    """Ten random pages of the neighbourhood, or all of a smaller one, in page order."""
    around = neighbourhood(examples, inlinks, n_inlinks)
    if not len(around):
        raise InvalidTopic(
            f"Topic {topic_id!r} has no neighbours: no page of the recorded web is two links before one of "
            f"its {len(examples)} examples. Start from examples instead, or record a larger web."
        )
    drawn = rng.sample(around.tolist(), min(n_neighbours, len(around)))
    return np.array(sorted(drawn), dtype=np.int32)
