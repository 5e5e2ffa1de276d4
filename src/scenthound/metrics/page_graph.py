"""The links between recorded pages, as arrays that many pages can be asked for at once.

Rules
- A link counts once, however often it stands on its page, and under whatever address it leads to the other page: L(p)
  of johnson2003 is a set.
- A page that links to itself is in its own set, as in the study's scores.
- Links to what was not recorded are left out: nothing is known of where they lead.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.model import IntArray, LongArray


@dataclass(frozen=True, slots=True)
class PageGraph:
    """Page p links to the pages `target[offset[p]:offset[p + 1]]`, which are distinct and ascending."""

    offset: LongArray
    target: IntArray

    @classmethod
    def of(cls, link_offset: LongArray, link_page: IntArray) -> "PageGraph":
        """From the pages behind each page's links, in the order of the links; -1 for a link that leads out."""
        n_pages = len(link_offset) - 1
        source = np.repeat(np.arange(n_pages, dtype=np.int64), np.diff(link_offset))
        inside = link_page >= 0
        pairs = np.sort(source[inside] * n_pages + link_page[inside])
        # Several times as fast as np.unique, which does not trust that an order is all it takes.
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        offset = np.searchsorted(pairs, np.arange(n_pages + 1, dtype=np.int64) * n_pages)
        own = np.repeat(np.arange(n_pages, dtype=np.int64) * n_pages, np.diff(offset))
        return cls(offset.astype(np.int64), (pairs - own).astype(np.int32))

    @property
    def n_pages(self) -> int:
        return len(self.offset) - 1

    def among(self, pages: IntArray) -> "PageGraph":
        """The links among some pages, ascending, which get the numbers 0, 1, ... in this order."""
        if len(pages) == self.n_pages:
            return self
        number = np.full(self.n_pages, -1, dtype=np.int32)
        number[pages] = np.arange(len(pages), dtype=np.int32)
        target = number[self.targets_of(pages)]
        stays = target >= 0
        n_before = np.concatenate(([0], np.cumsum(stays)))
        n_links = self.offset[pages + 1] - self.offset[pages]
        return PageGraph(n_before[np.concatenate(([0], np.cumsum(n_links)))], target[stays])

    def targets_of(self, pages: IntArray) -> IntArray:
        """What the pages link to, page after page."""
        starts = self.offset[pages]
        counts = self.offset[pages + 1] - starts
        ends = np.cumsum(counts)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
        targets: IntArray = self.target[places]
        return targets
