"""Links that sitemaps list, to be told with a page of their host.

A strategy learns of links from visits alone. So what a host's sitemaps list counts as further links of the next page
that is taken from that host, behind the page's own. Their context is the page, and they have no anchor.
"""

from collections.abc import Sequence

import numpy as np

from scenthound.drivers.live.orders import Got, PageText
from scenthound.model import FloatArray

#: Sitemaps asked for per host, those that an index names included.
MOST_SITEMAPS = 5
#: Links that are told of with one page; the next page tells the next ones.
LINKS_PER_PAGE = 200
#: Links that are kept per host.
MOST_LINKS = 10_000


class SitemapLinks:
    """By host: how many sitemaps were asked for, and the links that were not told yet."""

    def __init__(self) -> None:
        self._n_asked: dict[int, int] = {}
        self._links: dict[int, list[str]] = {}

    def take_new(self, host: int, urls: Sequence[str]) -> list[str]:
        """The sitemaps, of those named, that the host is asked for; they count."""
        n_asked = self._n_asked.get(host, 0)
        taken = list(urls[: MOST_SITEMAPS - n_asked])
        self._n_asked[host] = n_asked + len(taken)
        return taken

    def add(self, host: int, urls: tuple[str, ...]) -> None:
        waiting = self._links.setdefault(host, [])
        waiting += urls[: MOST_LINKS - len(waiting)]

    def next_links(self, host: int) -> list[str]:
        """Links to tell now. They are then told, whether by a page that is got or by one that was got before."""
        waiting = self._links.get(host)
        if not waiting:
            return []
        links, self._links[host] = waiting[:LINKS_PER_PAGE], waiting[LINKS_PER_PAGE:]
        return links


def with_further_links(got: Got, links: list[str]) -> Got:
    """A page with links behind its own."""
    if not links or isinstance(got.links, np.ndarray):
        return got
    all_links = got.links + links if isinstance(got.links, list) else got.links.followed_by(links)
    return Got(
        got.url,
        got.relevance,
        all_links,
        _filled(got.predicted, len(links), got.relevance),
        _filled(got.anchors, len(links), 0.0),
        got.text and with_places_behind(got.text, len(all_links)),
        got.elapsed_s,
    )


def with_places_behind(text: PageText, n_links: int) -> PageText:
    """The text of a page whose further links stand behind its last word."""
    if len(text.link_start) >= n_links:
        return text
    behind = np.full(n_links - len(text.link_start), len(text.words), np.int32)
    return PageText(text.words, np.concatenate((text.link_start, behind)), np.concatenate((text.link_end, behind)))


def _filled(scores: FloatArray | None, n_more: int, score: float) -> FloatArray | None:
    return None if scores is None else np.concatenate((scores, np.full(n_more, score)))
