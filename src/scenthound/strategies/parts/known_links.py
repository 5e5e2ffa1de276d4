"""Who links to whom, as far as the downloaded pages tell: the sets L(p) and P(u) of johnson2003, section 2.2.

Every downloaded page's links are kept, one after the other in the order of the downloads; and each link knows the
earlier link to the same URL, so that a URL's parents are found by going back from its latest link.
"""

from typing import Any

import numpy as np

from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.strategies.parts.per_url import grown

#: No download, no link.
NONE = -1


class KnownLinks:
    """`n_downloaded` pages and their `n_links` links."""

    def __init__(self) -> None:
        self.n_downloaded = 0
        self.n_links = 0
        # By URL: the number of its download, and its latest link.
        self._turn = np.zeros(0, np.int32)
        self._latest = np.zeros(0, np.int32)
        # By download: its page, and where its links start; one more start than downloads.
        self._page = np.zeros(0, np.int32)
        self._start = np.zeros(1, np.int64)
        # By link: where it leads, and the earlier link to the same URL.
        self._target = np.zeros(0, np.int32)
        self._earlier = np.zeros(0, np.int32)

    def reach(self, n_urls: int) -> None:
        """Have room for URLs with numbers below `n_urls`."""
        self._turn = grown(self._turn, n_urls, NONE)
        self._latest = grown(self._latest, n_urls, NONE)

    def add(self, page: int, links: IntArray) -> None:
        """Learn of a page that was downloaded; none of its links stands twice."""
        first, last = self.n_links, self.n_links + len(links)
        self._page = grown(self._page, self.n_downloaded + 1, NONE)
        self._start = grown(self._start, self.n_downloaded + 2, 0)
        self._target, self._earlier = grown(self._target, last, NONE), grown(self._earlier, last, NONE)
        self._target[first:last] = links
        self._earlier[first:last] = self._latest[links]
        self._latest[links] = np.arange(first, last)
        self._turn[page] = self.n_downloaded
        self._page[self.n_downloaded] = page
        self._start[self.n_downloaded + 1] = last
        self.n_downloaded, self.n_links = self.n_downloaded + 1, last

    def downloaded(self, pages: IntArray) -> BoolArray:
        """Which of the pages were downloaded."""
        downloaded: BoolArray = self._turn[pages] != NONE
        return downloaded

    def out_links(self, pages: IntArray) -> tuple[LongArray, IntArray]:
        """All links of some downloaded pages: for each, which of the pages it is on, and where it leads."""
        turns = self._turn[pages]
        first = self._start[turns]
        n_links = self._start[turns + 1] - first
        on_page = np.repeat(np.arange(len(pages)), n_links)
        n_before = np.cumsum(n_links) - n_links
        place = np.arange(len(on_page)) + (first - n_before)[on_page]
        return on_page, self._target[place]

    def parents(self, page: int) -> IntArray:
        """P(u): the downloaded pages with a link to this one."""
        links = []
        link = self._latest.item(page)
        while link != NONE:
            links.append(link)
            link = self._earlier.item(link)
        # Links stand in the order of downloads, so the page a link is on is the last that starts no later.
        turns = np.searchsorted(self._start[: self.n_downloaded + 1], np.array(links, np.int64), side="right") - 1
        return self._page[turns]

    def state(self) -> dict[str, Any]:
        return {
            "pages": self._page[: self.n_downloaded].tolist(),
            "starts": self._start[: self.n_downloaded + 1].tolist(),
            "targets": self._target[: self.n_links].tolist(),
        }
