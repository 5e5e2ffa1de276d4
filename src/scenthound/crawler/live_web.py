"""What one live crawl has seen of the web: URLs by number, pages visited, and what strategies may ask of them.

Pages and hosts are numbered in order of discovery, as in simulated crawls, so that a strategy asks for the same numbers
in both. What is kept in memory of visited pages is bounded: the rest is read back from the crawl's folder.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from scenthound.crawler.tasks import Fetched, PageText
from scenthound.errors import LeakageError
from scenthound.frontier.url_index import FoundUrls
from scenthound.frontier.url_table import UrlTable
from scenthound.model import FloatArray, IntArray, Links, Seed
from scenthound.simulator.scores import TopicWords
from scenthound.web.urls import registrable_domain

#: Of the visited pages that were used last, so many bytes of links and of words are kept at hand.
LINK_BYTES_AT_HAND = 32_000_000
TEXT_BYTES_AT_HAND = 32_000_000
#: What a value takes beside its arrays.
OBJECT_BYTES = 500

#: The numbers of a visited page's links, their predicted relevance and that of their anchors.
StoredLinks = tuple[IntArray, FloatArray | None, FloatArray | None]

Kept = TypeVar("Kept")


class Recent(Generic[Kept]):
    """The values of the pages used last, up to so many bytes; others are loaded anew."""

    def __init__(self, most_bytes: int, size_of: Callable[[Kept], int], load: Callable[[int], Kept]) -> None:
        self._most_bytes = most_bytes
        self._size_of = size_of
        self._load = load
        self._values: OrderedDict[int, Kept] = OrderedDict()
        self._n_bytes = 0

    def of(self, page: int) -> Kept:
        value = self._values.get(page)
        if value is None:
            value = self._load(page)
            self.keep(page, value)
        else:
            self._values.move_to_end(page)
        return value

    def keep(self, page: int, value: Kept) -> None:
        """Keep the value of a page that has none."""
        self._values[page] = value
        self._n_bytes += self._size_of(value)
        while self._n_bytes > self._most_bytes:
            _, oldest = self._values.popitem(last=False)
            self._n_bytes -= self._size_of(oldest)


class LiveWeb:
    """The driver's side. `visits` tells which visit a page was; `load_links` and `load_text` read a visited page's back
    from the crawl's folder."""

    def __init__(
        self,
        topic: TopicWords,
        table: UrlTable,
        visits: dict[int, int],
        *,
        load_links: Callable[[int], StoredLinks],
        load_text: Callable[[int], PageText],
    ) -> None:
        self.table = table
        self.links = Recent(LINK_BYTES_AT_HAND, _link_bytes, lambda page: load_links(self._stored(page)))
        self.texts = Recent(TEXT_BYTES_AT_HAND, _text_bytes, lambda page: load_text(self._stored(page)))
        #: Told which visit is about to be read back.
        self.store_visit: Callable[[int], None] = lambda _visit: None
        self.visits = visits
        self._final_urls: set[str] = set()
        self.seen = LiveSeen(self, topic)

    def _stored(self, page: int) -> int:
        self.store_visit(self.visits[page])
        return page

    def seeds(self, urls: Sequence[str]) -> list[Seed]:
        numbers = self.table.add_all(list(dict.fromkeys(urls)))
        hosts = self.table.hosts(numbers)
        return [Seed(page, host) for page, host in zip(numbers.tolist(), hosts.tolist(), strict=True)]

    def is_visited(self, url: str, page: int | None = None) -> bool:
        """Whether the page at this address was visited, under whatever address it was asked for. `page` is the number
        of the address, if it is known."""
        if url in self._final_urls:
            return True
        number = self.table.find(url) if page is None else page
        return number is not None and number in self.visits

    def is_visited_elsewhere(self, page: int) -> bool:
        """Whether a page that was not asked for before was visited under another address."""
        return bool(self._final_urls) and self.table.url(page) in self._final_urls

    def visit(
        self, page: int, moved_to: str | None, links: list[str] | FoundUrls | IntArray, scores: "LinkScores"
    ) -> Links:
        """Note a visit; its links as the strategy is told them. `moved_to` is the page's address in the end, if it is
        not the one that was asked for."""
        numbers = self._numbered(links)
        self.visits[page] = len(self.visits)
        if moved_to is not None:
            self._final_urls.add(moved_to)
        self.links.keep(page, (numbers, *scores))
        return Links(numbers, self.table.hosts(numbers), *scores)

    def _numbered(self, links: list[str] | FoundUrls | IntArray) -> IntArray:
        if isinstance(links, FoundUrls):
            return self.table.add_found(links)
        return self.table.add_all(links) if isinstance(links, list) else links


def _link_bytes(links: StoredLinks) -> int:
    return OBJECT_BYTES + sum(part.nbytes for part in links if part is not None)


def _text_bytes(text: PageText) -> int:
    return OBJECT_BYTES + text.words.nbytes + text.link_start.nbytes + text.link_end.nbytes


#: Predicted relevance of links and that of their anchors, where the strategy wants them.
LinkScores = tuple[FloatArray | None, FloatArray | None]


class LiveSeen:
    """What a strategy may ask of the crawl so far: a `SeenWeb`."""

    def __init__(self, web: LiveWeb, topic: TopicWords) -> None:
        self._web = web
        self._topic = topic
        self._domains: dict[str, int] = {}

    def url(self, page: int) -> str:
        self._check_known(page)
        return self._web.table.url(page)

    def host(self, page: int) -> int:
        self._check_known(page)
        return int(self._web.table.hosts(np.array([page], np.int32))[0])

    def words(self, page: int) -> IntArray:
        return self._text(page).words

    def link_positions(self, page: int) -> tuple[IntArray, IntArray]:
        text = self._text(page)
        return text.link_start, text.link_end

    def links(self, page: int) -> Links:
        self._check_visited(page)
        numbers, predicted, anchors = self._web.links.of(page)
        return Links(numbers, self._web.table.hosts(numbers), predicted, anchors)

    def domain(self, host: int) -> int:
        domain = registrable_domain(self._web.table.host(host))
        return self._domains.setdefault(domain, len(self._domains))

    def topic_words(self, *, description: bool = False) -> IntArray:
        return self._topic.description if description else self._topic.keywords

    def _text(self, page: int) -> PageText:
        self._check_visited(page)
        return self._web.texts.of(page)

    def _check_known(self, page: int) -> None:
        if not 0 <= page < len(self._web.table):
            raise LeakageError(f"Page {page} is unknown: no visited page links to it and it is no seed.")

    def _check_visited(self, page: int) -> None:
        if page not in self._web.visits:
            raise LeakageError(f"Page {page} has not been visited: only what its visited parents say of it is known.")


# Links that sitemaps list, to be told with a page of their host.
#
# A strategy learns of links from visits alone. So what a host's sitemaps list counts as further links of the next
# page that is taken from that host, behind the page's own. Their context is the page, and they have no anchor.

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


def with_sitemap_links(fetched: Fetched, links: list[str]) -> Fetched:
    """A page with links behind its own."""
    if not links or isinstance(fetched.links, np.ndarray):
        return fetched
    all_links = fetched.links + links if isinstance(fetched.links, list) else fetched.links.followed_by(links)
    return Fetched(
        fetched.url,
        fetched.relevance,
        all_links,
        _filled(fetched.predicted, len(links), fetched.relevance),
        _filled(fetched.anchors, len(links), 0.0),
        fetched.text and with_positions_at_end(fetched.text, len(all_links)),
        fetched.elapsed_s,
    )


def with_positions_at_end(text: PageText, n_links: int) -> PageText:
    """The text of a page whose further links stand behind its last word."""
    if len(text.link_start) >= n_links:
        return text
    behind = np.full(n_links - len(text.link_start), len(text.words), np.int32)
    return PageText(text.words, np.concatenate((text.link_start, behind)), np.concatenate((text.link_end, behind)))


def _filled(scores: FloatArray | None, n_more: int, score: float) -> FloatArray | None:
    return None if scores is None else np.concatenate((scores, np.full(n_more, score)))
