"""The pages of a topical web before anything is written: hosts, topics, popularity and numbers of links.

Rules
- Pages are numbered at random, as a crawl over many hosts would find them: neighbours by number have nothing in common.
- A host has a topic of its own, and so have most of its pages; sizes of hosts follow a power law, those of topics
  Zipf's law with an offset, so that the largest topic is no more than a few times the median.
- A page that is of no topic counts as of topic `n_topics`.
"""

from typing import NamedTuple

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.testing.topical.settings import TopicalWeb
from scenthound.testing.topical.streams import Part, generator

NO_SECOND = -1
#: Added to the rank of a topic in Zipf's law.
TOPIC_RANK_OFFSET = 5
#: Spread of the logarithm of the number of links.
DEGREE_SPREAD = 0.9
#: The share of pages without a link.
DEAD_ENDS = 0.04
#: No page has more links than the parser of pages would keep, and none is more popular than a share of all.
MOST_LINKS = 10_000
MOST_POPULAR_SHARE = 0.05
#: No host is larger than about this share of the web, or one draw would decide what the web is like.
MOST_HOST_SHARE = 0.1
#: Tickets of a page of middling popularity; more would follow the power law more finely.
TICKETS = 1.0


class Pages(NamedTuple):
    """One value for each page."""

    host: IntArray
    topic: IntArray
    second: IntArray  #: a second topic, or NO_SECOND
    is_hub: BoolArray
    n_links: IntArray
    popularity: IntArray  #: how many tickets it has in the draw of link targets
    n_hosts: int


def pages_of(web: TopicalWeb) -> Pages:
    host, n_hosts = _hosts(web)
    topic, second = _topics(web, host, n_hosts)
    is_hub, n_links = _links(web)
    return Pages(host, topic, second, is_hub, n_links, _popularity(web), n_hosts)


def topic_shares(n_topics: int) -> FloatArray:
    """The share of each topic, the largest first."""
    shares: FloatArray = 1.0 / (np.arange(n_topics) + 1 + TOPIC_RANK_OFFSET)
    shares /= shares.sum()
    return shares


def drawn(rng: np.random.Generator, weights: FloatArray, n: int) -> LongArray:
    """Numbers drawn with chances in proportion to weights."""
    bounds = np.cumsum(weights)
    return np.searchsorted(bounds[:-1] / bounds[-1], rng.random(n), side="right")


def _hosts(web: TopicalWeb) -> tuple[IntArray, int]:
    """The host of each page, numbered in the order in which pages name them, and how many have a page."""
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
    shares = topic_shares(web.topics)
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
    # A power law that begins at 0 rather than at 1 (Lomax), as many pages have hardly a link to them.
    tail = (1.0 - rng.random(web.pages)) ** (-1.0 / (web.in_degree_exponent - 1.0)) - 1.0
    tickets = np.floor(TICKETS * tail + rng.random(web.pages))
    # One page at least can be linked to.
    tickets[0] = max(1.0, tickets[0])
    return tickets.clip(0, max(1.0, MOST_POPULAR_SHARE * web.pages)).astype(np.int32)
