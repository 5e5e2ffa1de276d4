"""What one live crawl has seen of the web: URLs by number, pages visited, and what strategies may ask of them.

Pages and hosts are numbered in order of discovery, as in simulated crawls, so that a strategy asks for the same numbers
in both. What is kept in memory of visited pages is bounded: the rest is read back from the crawl's folder.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from scenthound.drivers.live.orders import PageText
from scenthound.drivers.telling import TopicWords
from scenthound.errors import Peeked
from scenthound.frontier.url_table import UrlTable
from scenthound.model import FloatArray, IntArray, Links, Seed
from scenthound.web.urls import registrable_domain

#: Of so many visited pages the links and the words are kept at hand. Commits come more often than that.
LINKS_AT_HAND = 8_192
TEXTS_AT_HAND = 2_048

#: The numbers of a visited page's links, their predicted relevance and that of their anchors.
StoredLinks = tuple[IntArray, FloatArray | None, FloatArray | None]

Kept = TypeVar("Kept")


class Recent(OrderedDict[int, Kept]):
    """The values of the pages used last; others are loaded anew."""

    def __init__(self, most: int, load: Callable[[int], Kept]) -> None:
        super().__init__()
        self._most = most
        self._load = load

    def of(self, page: int) -> Kept:
        value = self.get(page)
        if value is None:
            value = self._load(page)
        self.keep(page, value)
        return value

    def keep(self, page: int, value: Kept) -> None:
        self[page] = value
        self.move_to_end(page)
        if len(self) > self._most:
            self.popitem(last=False)


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
        self.links = Recent(LINKS_AT_HAND, load_links)
        self.texts = Recent(TEXTS_AT_HAND, load_text)
        self.visits = visits
        self._final_urls: set[str] = set()
        self.seen = LiveSeen(self, topic)

    def seeds(self, urls: Sequence[str]) -> list[Seed]:
        numbers = self.table.add_all(list(dict.fromkeys(urls)))
        hosts = self.table.hosts(numbers)
        return [Seed(page, host) for page, host in zip(numbers.tolist(), hosts.tolist(), strict=True)]

    def is_had(self, url: str) -> bool:
        """Whether the page at this address was visited, under whatever address it was asked for."""
        if url in self._final_urls:
            return True
        number = self.table.find(url)
        return number is not None and number in self.visits

    def is_had_elsewhere(self, page: int) -> bool:
        """Whether a page that was not asked for before was visited under another address."""
        return bool(self._final_urls) and self.table.url(page) in self._final_urls

    def visit(self, page: int, final_url: str, links: list[str] | IntArray, scores: "LinkScores") -> Links:
        """Note a visit; its links as the strategy is told them."""
        numbers = links if isinstance(links, np.ndarray) else self.table.add_all(links)
        self.visits[page] = len(self.visits)
        if final_url != self.table.url(page):
            self._final_urls.add(final_url)
        self.links.keep(page, (numbers, *scores))
        return Links(numbers, self.table.hosts(numbers), *scores)


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
            raise Peeked(f"Page {page} is unknown: no visited page links to it and it is no seed.")

    def _check_visited(self, page: int) -> None:
        if page not in self._web.visits:
            raise Peeked(f"Page {page} has not been visited: only what its visited parents say of it is known.")
