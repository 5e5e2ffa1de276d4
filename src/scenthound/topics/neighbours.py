"""Neighbours of a topic's examples: where the crawls of S2's second task start (S2 section 2.1).

The paper takes the top 20 in-links of each example, then the top 20 in-links of each of those, and notes
that ten examples give at most 4,000 URLs. Ten times 20 times 20 is 4,000, so the set is that of the second
step alone: a page of the first step is in it only where the second step finds it too. Ten of the set, drawn
at random, are the neighbours.

Rules. "Top" means highest in-degree first, since a recorded web has no search engine to ask; the lower page
number wins a tie. Examples are not neighbours, because they are what the crawl should find. A page is no
in-link of itself, and one that links twice is one in-link: the recorded web counts them so. Pages are its numbers.
"""

import random
from dataclasses import dataclass

import numpy as np

from scenthound.errors import BadTopic
from scenthound.model import IntArray, LongArray


@dataclass(frozen=True, slots=True)
class InLinks:
    """Who links to whom, as `RecordedWeb.inlinks()` tells it: the distinct other pages that link to page p are
    `page[offset[p]:offset[p + 1]]`, ascending."""

    offset: LongArray
    page: IntArray

    def top(self, page: int, n_inlinks: int) -> IntArray:
        """The in-links of a page with the highest in-degree of their own, best first."""
        linking = self.page[self.offset[page] : self.offset[page + 1]]
        in_degree = self.offset[linking + 1] - self.offset[linking]
        # A stable sort of pages in ascending order breaks ties by page number.
        return linking[np.argsort(-in_degree, kind="stable")[:n_inlinks]]

    def top_of_all(self, pages: IntArray, n_inlinks: int) -> IntArray:
        """The distinct top in-links of all these pages, in page order."""
        found = [self.top(int(page), n_inlinks) for page in pages]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int32)


def neighbourhood(examples: IntArray, inlinks: InLinks, n_inlinks: int = 20) -> IntArray:
    """Every page that the two steps back from the examples reach, in page order, without the examples."""
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
        raise BadTopic(
            f"Topic {topic_id!r} has no neighbours: no page of the recorded web is two links before one of "
            f"its {len(examples)} examples; start from examples instead, or record a larger web."
        )
    drawn = rng.sample(around.tolist(), min(n_neighbours, len(around)))
    return np.array(sorted(drawn), dtype=np.int32)
