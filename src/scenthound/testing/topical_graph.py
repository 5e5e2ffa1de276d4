"""The settings and the link graph of a topical web: hosts, topics, popularity and links.

Rules
- Pages are numbered at random, as a crawl over many hosts would find them: consecutive pages have nothing in common.
- A host has a topic, and so have most of its pages. Host sizes follow a power law, topic sizes Zipf's law with an
  offset, so that the largest topic is no more than a few times the median.
- A page without a topic has topic `n_topics`.
- The pages of one topic on one host are a *section* of the web. A share of each page's links is mutual: their targets
  are pages of the section that link back. The targets of others are drawn by popularity, from the page's host, its
  topic, both, or all pages.
- Links are drawn in pieces of the web, in order, because URLs that are not recorded are numbered as they appear. Each
  part of a web has its own random numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidParameter, UnknownName
from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.registry import Bounds, parameters_of
from scenthound.store.layout import offsets_of

Share = Annotated[float, Bounds(0, 1)]


@dataclass(frozen=True, slots=True)
class TopicalWeb:
    """Settings of a topical web. The defaults resemble real collections (`python -m benchmarks.realism`).

    `on_host` and `on_topic` are the shares of links that stay on the page's host and in its topic, independently of
    each other; others may still do so by chance. `mutual` is the share of links that are drawn differently: from pages
    of the same host and topic that link back. `host_focus` is the share of a host's pages that have the host's topic.
    `hubs` are pages with `hub_factor` times the links of others, most of them to pages of their topic on any host.
    """

    pages: Annotated[int, Bounds(10, 10_000_000)] = 100_000
    links_per_page: Annotated[float, Bounds(1, 200)] = 20.0
    words_per_page: Annotated[int, Bounds(5, 2000)] = 30  #: without the words of its anchors
    topics: Annotated[int, Bounds(1, 1000)] = 50
    seed: Annotated[int, Bounds(0, 2**63 - 1)] = 1
    pages_per_host: Annotated[float, Bounds(1)] = 100.0
    on_host: Share = 0.7
    on_topic: Share = 0.25
    mutual: Annotated[float, Bounds(0, 0.5)] = 0.2
    host_focus: Share = 0.5
    topical: Annotated[float, Bounds(0, 1, above=True)] = 0.8  #: share of pages that have a topic
    second_topics: Share = 0.15  #: share of these that have a second one
    hubs: Annotated[float, Bounds(0, 0.1)] = 0.01
    hub_factor: Annotated[float, Bounds(1, 100)] = 15.0
    in_degree_exponent: Annotated[float, Bounds(2, 5, above=True)] = 2.3  #: of the power law of page popularity
    host_size_exponent: Annotated[float, Bounds(1, 5, above=True)] = 2.0
    topic_words: Share = 0.4  #: share of a page's words that belong to its topic
    dead_links: Annotated[float, Bounds(0, 1, below=True)] = 0.2  #: share of links to URLs that are not recorded
    aliases: Annotated[float, Bounds(0, 0.5)] = 0.01  #: share of pages with a second URL
    nofollow: Share = 0.01  #: share of links

    def __post_init__(self) -> None:
        for setting in parameters_of(TopicalWeb):
            value = getattr(self, setting.name)
            if isinstance(value, bool):
                raise InvalidParameter(f"topical web: {setting.name}={value} should be a number.")
            setting.check(value, "topical web")
        if self.topics > self.pages:
            raise InvalidParameter(
                f"topical web: topics={self.topics:,} must be at most {self.pages:,}, the number of pages."
            )

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "TopicalWeb":
        """Settings by name; the others have their defaults."""
        known = [setting.name for setting in parameters_of(cls)]
        for name in settings:
            if name not in known:
                raise UnknownName.among("setting", name, known)
        return cls(**settings)


#: Pages that are drawn together; the web depends on it, because each piece has its own generator.
PIECE = 1 << 15


#: Each has its own random numbers.
Part = IntEnum("Part", "HOSTS TOPICS POPULARITY DEGREES TITLES LINKS WORDS EXAMPLES", start=0)


def generator(seed: int, part: Part, piece: int = 0) -> np.random.Generator:
    return np.random.default_rng([seed, part, piece])


NO_SECOND = -1
#: Added to the rank of a topic in Zipf's law.
TOPIC_RANK_OFFSET = 5
#: Spread of the logarithm of the number of links.
DEGREE_SPREAD = 0.9
#: The share of pages without a link.
DEAD_ENDS = 0.04
#: No page has more links than the HTML parser keeps, and no page is more popular than this share of all.
MOST_LINKS = 10_000
MOST_POPULAR_SHARE = 0.05
#: No host is larger than about this share of the web, so that a single draw does not dominate it.
MOST_HOST_SHARE = 0.1
#: The number of tickets of a page of median popularity; more tickets approximate the power law better.
TICKETS = 1.0


class Pages(NamedTuple):
    """One value for each page."""

    host: IntArray
    topic: IntArray
    second: IntArray  #: a second topic, or NO_SECOND
    is_hub: BoolArray
    n_links: IntArray
    popularity: IntArray  #: the number of its tickets in the draw of link targets
    n_hosts: int


def pages_of(web: TopicalWeb) -> Pages:
    host, n_hosts = _hosts(web)
    return Pages(host, *_topics(web, host, n_hosts), *_links(web), _popularity(web), n_hosts)


def drawn(rng: np.random.Generator, weights: FloatArray, n: int) -> LongArray:
    """Numbers drawn with probabilities proportional to weights."""
    bounds = np.cumsum(weights)
    return np.searchsorted(bounds[:-1] / bounds[-1], rng.random(n), side="right")


def _hosts(web: TopicalWeb) -> tuple[IntArray, int]:
    """The host of each page, numbered in order of first appearance, and the number of hosts."""
    rng = generator(web.seed, Part.HOSTS)
    n_wanted = max(1, round(web.pages / web.pages_per_host))
    sizes = (1.0 - rng.random(n_wanted)) ** (-1.0 / (web.host_size_exponent - 1.0))
    largest = max(MOST_HOST_SHARE, 2.0 / n_wanted) * float(sizes.sum())
    host = drawn(rng, sizes.clip(max=largest), web.pages)
    used, first, of_page = np.unique(host, return_index=True, return_inverse=True)
    number = np.empty(len(used), np.int32)
    number[np.argsort(first)] = np.arange(len(used), dtype=np.int32)
    return number[of_page], len(used)


def _topics(web: TopicalWeb, host: IntArray, n_hosts: int) -> tuple[IntArray, IntArray]:
    rng = generator(web.seed, Part.TOPICS)
    # The share of each topic, the largest first.
    shares: FloatArray = 1.0 / (np.arange(web.topics) + 1 + TOPIC_RANK_OFFSET)
    shares /= shares.sum()
    of_host = drawn(rng, shares, n_hosts)
    topic = np.where(rng.random(web.pages) < web.host_focus, of_host[host], drawn(rng, shares, web.pages))
    topic[rng.random(web.pages) >= web.topical] = web.topics
    second = drawn(rng, shares, web.pages)
    has_second = (rng.random(web.pages) < web.second_topics) & (topic < web.topics) & (second != topic)
    return topic.astype(np.int32), np.where(has_second, second, NO_SECOND).astype(np.int32)


def _links(web: TopicalWeb) -> tuple[BoolArray, IntArray]:
    rng = generator(web.seed, Part.DEGREES)
    is_hub = rng.random(web.pages) < web.hubs
    drawn_links = np.exp(DEGREE_SPREAD * rng.standard_normal(web.pages)) * np.where(is_hub, web.hub_factor, 1.0)
    drawn_links[(rng.random(web.pages) < DEAD_ENDS) & ~is_hub] = 0.0
    # Rounded up or down at random, so that the mean stays.
    n_links = np.floor(drawn_links * (web.links_per_page / drawn_links.mean()) + rng.random(web.pages))
    return is_hub, n_links.clip(0, MOST_LINKS).astype(np.int32)


def _popularity(web: TopicalWeb) -> IntArray:
    rng = generator(web.seed, Part.POPULARITY)
    # A power law that starts at 0 rather than at 1 (Lomax), because many pages have few or no in-links.
    tail = (1.0 - rng.random(web.pages)) ** (-1.0 / (web.in_degree_exponent - 1.0)) - 1.0
    tickets = np.floor(TICKETS * tail + rng.random(web.pages))
    # At least one page can be linked to.
    tickets[0] = max(1.0, tickets[0])
    return tickets.clip(0, max(1.0, MOST_POPULAR_SHARE * web.pages)).astype(np.int32)


# Rows of pages: sorted by group, with each page repeated, so that drawing from a group is drawing from a range. In one
# kind of row a page has as many *tickets* as it is popular, and a link leads to the page of a ticket. In the other it
# has as many *slots* as mutual links, and the slots of a group are paired.
#
# Group, random bits and page are packed into 64 bits: sorting these is much faster than sorting indices by key.

#: Enough for any page or group; the other bits are random.
PAGE_BITS = 25
RANDOM_BITS = 64 - 2 * PAGE_BITS
#: Enough for any slot.
SLOT_BITS = 64 - PAGE_BITS
UNPAIRED = -1


class Row(NamedTuple):
    """The pages of a row, and the start and size of each group in it."""

    page: IntArray
    start: LongArray
    size: LongArray


def row_of(group: LongArray | IntArray, n_groups: int, times: IntArray, rng: np.random.Generator) -> Row:
    """A row with each page repeated `times` times, in random order within its group."""
    page = np.repeat(np.arange(len(group), dtype=np.uint64), times)
    packed: npt.NDArray[np.uint64] = np.repeat(group.astype(np.uint64) << (PAGE_BITS + RANDOM_BITS), times)
    packed |= rng.integers(0, 1 << RANDOM_BITS, len(page), np.uint16).astype(np.uint64) << PAGE_BITS
    packed |= page
    packed.sort()
    size = np.bincount(group, times, n_groups).astype(np.int64)
    return Row((packed & ((1 << PAGE_BITS) - 1)).astype(np.int32), offsets_of(size)[:-1], size)


def paired(slots: Row, group: LongArray | IntArray) -> IntArray:
    """The page that each slot is paired with, in order of the slots' pages.

    The first and the second slot of a group are a pair, the third and the fourth, and so on. The last slot of an odd
    number is UNPAIRED, and so is a page that would be paired with itself."""
    packed = slots.page.astype(np.uint64) << SLOT_BITS | np.arange(len(slots.page), dtype=np.uint64)
    packed.sort()
    slot = (packed & ((1 << SLOT_BITS) - 1)).astype(np.int64)
    page = slots.page[slot]
    start = slots.start[group[page]]
    other = (slot - start) ^ 1
    is_last = other >= slots.size[group[page]]
    partner = slots.page[np.where(is_last, slot, start + other)]
    return np.where(partner == page, UNPAIRED, partner).astype(np.int32)


#: The share of links to a page with an alias that use the alias.
BY_ALIAS = 0.3
#: The share of dead links to a URL that no page linked to before.
NEW_DEAD = 0.15
#: Hubs link to pages of their topic on any host.
HUB_ON_HOST, HUB_ON_TOPIC = 0.2, 0.9
#: The relative number of mutual links of a page without tickets, the increase per ticket, and the largest number of
#: tickets that counts; chosen so that the share of pages with few in-links is as in real collections.
WITHOUT_TICKETS, PER_TICKET, MOST_TICKETS = 0.6, 0.3, 5


class PieceLinks(NamedTuple):
    """The links of consecutive pages."""

    source: LongArray
    url: LongArray
    page: LongArray  #: the target, aliases followed; -1 for dead links
    is_nofollow: BoolArray
    new_dead_sources: LongArray  #: the pages that first link to a dead URL, in order


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
        # The sections of a host are consecutive, and so are its tickets.
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
        # Mutual links are never dead, so more of the others are.
        is_dead = ~is_mutual & (rng.random(len(page), np.float32) * (1 - web.mutual) < web.dead_links)
        url[is_dead], is_new = self._dead(rng, int(np.count_nonzero(is_dead)))
        page[is_dead] = -1
        is_nofollow = rng.random(len(page), np.float32) < web.nofollow
        return PieceLinks(source, url, page, is_nofollow, source[is_dead][is_new])

    def _put_partners(self, page: LongArray, first: int, source: LongArray) -> BoolArray:
        """Set the targets of mutual links, which are evenly spread over their page; return which links are mutual."""
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
        row, position = self._by_section, rng.random(n)
        start, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
        both, host = on_host & on_topic, on_host & ~on_topic
        section, hosts = self._section[source[both]], self._pages.host[source[host]]
        start[both], size[both] = row.start[section], row.size[section]
        start[host], size[host] = self._host_start[hosts], self._host_size[hosts]
        # Links to any page, and links within a group without tickets, draw from all tickets.
        start[size == 0], size[size == 0] = 0, len(row.page)
        target = row.page[start + (position * size).astype(np.int64)].astype(np.int64)
        topic = np.flatnonzero(~on_host & on_topic)
        target[topic] = self._of_topic(rng, source[topic], position[topic], target[topic])
        return target

    def _of_topic(
        self, rng: np.random.Generator, source: LongArray, position: FloatArray, anywhere: LongArray
    ) -> LongArray:
        """Pages of the page's topic on any host, half of them of its second topic; any page if it has no topic."""
        row, second = self._by_topic, self._pages.second[source]
        by_second = (second != NO_SECOND) & (rng.random(len(source), np.float32) < 0.5)
        topic = np.where(by_second, second, self._pages.topic[source])
        has_tickets = (topic < self._web.topics) & (row.size[topic] > 0)
        target = row.page[np.where(has_tickets, row.start[topic] + (position * row.size[topic]).astype(np.int64), 0)]
        return np.where(has_tickets, target, anywhere)

    def _dead(self, rng: np.random.Generator, n: int) -> tuple[LongArray, BoolArray]:
        """URLs that are not recorded, numbered after the aliases in order of appearance, and which of them are new."""
        is_new = rng.random(n) < NEW_DEAD
        if n and not self.n_dead:
            is_new[0] = True
        n_known = self.n_dead + np.cumsum(is_new)
        number = np.where(is_new, n_known - 1, (rng.random(n) * n_known).astype(np.int64))
        self.n_dead += int(np.count_nonzero(is_new))
        return self._web.pages + len(self.alias_pages) + number, is_new


def _mutual_links(web: TopicalWeb, pages: Pages, rng: np.random.Generator) -> IntArray:
    """The number of mutual links of each page; hubs have none."""
    rate = WITHOUT_TICKETS + PER_TICKET * np.minimum(pages.popularity, MOST_TICKETS)
    wanted = web.mutual * rate / rate.mean() * pages.n_links * ~pages.is_hub
    return np.minimum(np.floor(wanted + rng.random(web.pages)), pages.n_links).astype(np.int32)
