"""What two crawls have in common: the pages that both took, by the addresses that they were had at.

A page of a crawl is a number of 64 bits here, so a million pages take 8 MB. Two of a million addresses have the same
number once in twenty million such comparisons.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from scenthound.model import LongArray
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.visit_columns import VisitColumns


@dataclass(frozen=True, slots=True)
class PagesInCommon:
    """`jaccard` is the share of the pages that at least one has which both have; 0 if neither has any."""

    both: int
    only_first: int
    only_second: int

    @property
    def jaccard(self) -> float:
        n_either = self.both + self.only_first + self.only_second
        return self.both / n_either if n_either else 0.0


def page_numbers(crawl: StoredCrawl) -> LongArray:
    """The pages of a crawl, as numbers that mean the same page in all crawls while this process runs; in order."""
    with VisitColumns.beside(crawl) as columns:
        end = columns.n_visits()
        urls = (url for url, _ in chain.from_iterable(columns.addresses(end)))
        return np.unique(np.fromiter(map(hash, urls), np.int64, end))


def in_common(first: LongArray, second: LongArray) -> PagesInCommon:
    """Of what `page_numbers` answered for two crawls."""
    both = len(np.intersect1d(first, second, assume_unique=True))
    return PagesInCommon(both, len(first) - both, len(second) - both)
