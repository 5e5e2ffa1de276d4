"""Where links lead: to pages drawn by popularity out of the page's host, its topic, both, or all; and to partners.

The pages of one topic on one host are a *section* of the web. A share of each page's links is mutual: their targets are
pages of the section that link back. Links are drawn for pieces of the web, which must come in order, because URLs that
are not recorded are numbered as they appear.
"""

from typing import NamedTuple

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.store.text_table import offsets_of
from scenthound.testing.topical.pages import NO_SECOND, Pages
from scenthound.testing.topical.settings import TopicalWeb
from scenthound.testing.topical.streams import PIECE, Part, generator
from scenthound.testing.topical.tickets import UNPAIRED, paired, row_of

#: The share of links to a page with an alias that name the alias.
BY_ALIAS = 0.3
#: The share of dead links to a URL that no page linked to before.
NEW_DEAD = 0.15
#: Hubs gather what is of their topic, wherever it is.
HUB_ON_HOST, HUB_ON_TOPIC = 0.2, 0.9
#: How much a page takes part in mutual links, without any popularity and more with each ticket, up to a number of them;
#: chosen so that there are about as many pages with hardly a link to them as in real collections.
UNKNOWN_TAKES, TICKET_ADDS, MOST_TICKETS = 0.6, 0.3, 5


class PieceLinks(NamedTuple):
    """The links of pages that follow each other."""

    source: LongArray
    url: LongArray
    page: LongArray  #: that the link leads to, aliases followed; -1 for dead links
    is_nofollow: BoolArray
    new_dead_sources: LongArray  #: the pages that first named a dead URL, in order


class LinkDraw:
    """Draws the links of pages, piece by piece from the first."""

    def __init__(self, web: TopicalWeb, pages: Pages) -> None:
        self._web, self._pages = web, pages
        rng = generator(web.seed, Part.LINKS)
        self.alias_pages = np.flatnonzero(rng.random(web.pages) < web.aliases)
        self._alias = np.full(web.pages, -1, np.int32)
        self._alias[self.alias_pages] = web.pages + np.arange(len(self.alias_pages))
        sections, self._section = np.unique(
            pages.host.astype(np.int64) * (web.topics + 1) + pages.topic, return_inverse=True
        )
        # The sections of a host follow each other, so the tickets of a host do, too.
        self._by_section = row_of(self._section, len(sections), pages.popularity, rng)
        self._by_topic = row_of(pages.topic, web.topics + 1, pages.popularity, rng)
        self._host_size = np.bincount(pages.host, pages.popularity, pages.n_hosts).astype(np.int64)
        self._host_start = offsets_of(self._host_size)[:-1]
        self._n_mutual = _mutual_links(web, pages, rng)
        self._partner = paired(row_of(self._section, len(sections), self._n_mutual, rng), self._section)
        self._first_mutual = offsets_of(self._n_mutual)
        self.n_dead = 0

    def piece(self, first: int) -> PieceLinks:
        web, n_links = self._web, self._pages.n_links[first : first + PIECE]
        rng = generator(web.seed, Part.LINKS, 1 + first // PIECE)
        source = np.repeat(np.arange(first, first + len(n_links)), n_links)
        page = self._drawn(rng, source)
        is_mutual = self._put_partners(page, first, source)
        by_alias = (self._alias[page] >= 0) & (rng.random(len(page), np.float32) < BY_ALIAS)
        url = np.where(by_alias, self._alias[page], page)
        # Who links back is there, so more of the others are dead.
        is_dead = ~is_mutual & (rng.random(len(page), np.float32) * (1 - web.mutual) < web.dead_links)
        url[is_dead], is_new = self._dead(rng, int(np.count_nonzero(is_dead)))
        page[is_dead] = -1
        is_nofollow = rng.random(len(page), np.float32) < web.nofollow
        return PieceLinks(source, url, page, is_nofollow, source[is_dead][is_new])

    def _put_partners(self, page: LongArray, first: int, source: LongArray) -> BoolArray:
        """Let the mutual links lead to partners, and tell which they are; they are spread evenly over their page."""
        n_links, n_mutual = self._pages.n_links[source].astype(np.int64), self._n_mutual[source].astype(np.int64)
        turn = np.arange(len(source)) - offsets_of(self._pages.n_links[first : first + PIECE])[source - first]
        is_mutual = (turn + 1) * n_mutual // n_links > turn * n_mutual // n_links
        start, end = self._first_mutual[first], self._first_mutual[min(first + PIECE, self._web.pages)]
        partner = self._partner[start:end]
        is_mutual[is_mutual] = partner != UNPAIRED
        page[is_mutual] = partner[partner != UNPAIRED]
        return is_mutual

    def _drawn(self, rng: np.random.Generator, source: LongArray) -> LongArray:
        """Targets by popularity: on the host, in the topic, both or neither."""
        web, n, is_hub = self._web, len(source), self._pages.is_hub[source]
        on_host = rng.random(n, np.float32) < np.where(is_hub, HUB_ON_HOST, web.on_host)
        on_topic = rng.random(n, np.float32) < np.where(is_hub, HUB_ON_TOPIC, web.on_topic)
        row, place = self._by_section, rng.random(n)
        start, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
        both, host = on_host & on_topic, on_host & ~on_topic
        section, hosts = self._section[source[both]], self._pages.host[source[host]]
        start[both], size[both] = row.start[section], row.size[section]
        start[host], size[host] = self._host_start[hosts], self._host_size[hosts]
        # Where nobody has a ticket, all have; so it is for links that may lead anywhere.
        start[size == 0], size[size == 0] = 0, len(row.page)
        target = row.page[start + (place * size).astype(np.int64)].astype(np.int64)
        topic = np.flatnonzero(~on_host & on_topic)
        target[topic] = self._of_topic(rng, source[topic], place[topic], target[topic])
        return target

    def _of_topic(
        self, rng: np.random.Generator, source: LongArray, place: FloatArray, anywhere: LongArray
    ) -> LongArray:
        """Pages on any host of the page's topic, or as often of its second one if it has one; anywhere if of none."""
        row, second = self._by_topic, self._pages.second[source]
        by_second = (second != NO_SECOND) & (rng.random(len(source), np.float32) < 0.5)
        topic = np.where(by_second, second, self._pages.topic[source])
        has_tickets = (topic < self._web.topics) & (row.size[topic] > 0)
        target = row.page[np.where(has_tickets, row.start[topic] + (place * row.size[topic]).astype(np.int64), 0)]
        return np.where(has_tickets, target, anywhere)

    def _dead(self, rng: np.random.Generator, n: int) -> tuple[LongArray, BoolArray]:
        """URLs that are not recorded, numbered behind the aliases in order of appearance, and which are new."""
        is_new = rng.random(n) < NEW_DEAD
        if n and not self.n_dead:
            is_new[0] = True
        n_known = self.n_dead + np.cumsum(is_new)
        number = np.where(is_new, n_known - 1, (rng.random(n) * n_known).astype(np.int64))
        self.n_dead += int(np.count_nonzero(is_new))
        return self._web.pages + len(self.alias_pages) + number, is_new


def _mutual_links(web: TopicalWeb, pages: Pages, rng: np.random.Generator) -> IntArray:
    """How many of each page's links are mutual; none of a hub."""
    takes = UNKNOWN_TAKES + TICKET_ADDS * np.minimum(pages.popularity, MOST_TICKETS)
    wanted = web.mutual * takes / takes.mean() * pages.n_links * ~pages.is_hub
    n_mutual: IntArray = np.minimum(np.floor(wanted + rng.random(web.pages)), pages.n_links).astype(np.int32)
    return n_mutual
