"""What a live crawl has seen of the web: URLs by number, visited pages, and what strategies may read of them.

Pages and hosts are numbered in order of discovery, as in simulated crawls, so that a strategy requests the same numbers
in both. Memory for visited pages is bounded; other pages are read back from the crawl folder.
"""

from collections.abc import Callable, Sequence

import numpy as np

from scenthound.bounded_cache import BoundedCache
from scenthound.crawler.link_depths import LinkDepths
from scenthound.crawler.tasks import PageText
from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.errors import Failure, LeakageError
from scenthound.frontier.url_table import FoundUrls, UrlTable
from scenthound.model import BoolArray, FloatArray, IntArray, Links, Seed
from scenthound.saved_state import State
from scenthound.simulator.scores import TopicWords
from scenthound.store.crawl_records import RobotsRecord
from scenthound.web.urls import registrable_domain

#: Memory for the links and the words of recently used pages.
LINK_CACHE_BYTES = 16_000_000
TEXT_CACHE_BYTES = 8_000_000
#: What a value takes besides its arrays.
OBJECT_BYTES = 500

#: The numbers of a visited page's links, their predicted relevance and that of their anchors.
StoredLinks = tuple[IntArray, FloatArray | None, FloatArray | None]
#: Predicted relevance of links and that of their anchors, for strategies that use them.
LinkScores = tuple[FloatArray | None, FloatArray | None]


class LiveWeb:
    """The engine's view. `visits` maps pages to the numbers of their visits; `load_links` and `load_text` read a
    visited page from the crawl folder, `load_robots` a robots.txt file, or None if it is not there. `store_visit` is
    called before a visit is read, and `store_all` if a robots.txt file is missing, so that they are there.

    With `max_depth`, links to pages that are out of reach are stored, but strategies do not see them."""

    def __init__(
        self,
        topic: TopicWords,
        table: UrlTable,
        visits: VisitNumbers,
        *,
        load_links: Callable[[int], StoredLinks],
        load_text: Callable[[int], PageText],
        load_robots: Callable[[int], RobotsRecord | None],
        max_depth: int | None = None,
    ) -> None:
        self.table = table
        self.links = BoundedCache(LINK_CACHE_BYTES, _link_bytes, lambda page: load_links(self._stored(page)))
        self.texts = BoundedCache(TEXT_CACHE_BYTES, _text_bytes, lambda page: load_text(self._stored(page)))
        self._load_robots = load_robots
        self.store_visit: Callable[[int], None] = lambda _visit: None
        self.store_all: Callable[[], None] = lambda: None
        self.visits = visits
        #: In the order of visits.
        self._final_urls: dict[str, None] = {}
        self.depths: LinkDepths | None = None
        if max_depth is not None:
            self.depths = LinkDepths(max_depth, lambda page: self.links.get(page)[0], visits.__contains__)
        self.seen = LiveSeen(self, topic)

    def state(self) -> State:
        """A checkpoint for `restore`. URLs and what was read of pages are in the crawl folder."""
        return {
            "visits": self.visits.pages(),
            "final_urls": list(self._final_urls),
            "domains": list(self.seen.domains),
            "depths": None if self.depths is None else self.depths.state(),
        }

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        self.visits.restore(state["visits"])
        self._final_urls = dict.fromkeys(state["final_urls"])
        self.seen.domains = {domain: number for number, domain in enumerate(state["domains"])}
        if self.depths is not None:
            self.depths.restore(state["depths"])

    def _stored(self, page: int) -> int:
        self.store_visit(self.visits[page])
        return page

    def robots(self, number: int) -> RobotsRecord:
        """A robots.txt file of the crawl; they are numbered in the order of the responses."""
        found = self._load_robots(number)
        if found is None:
            self.store_all()
            found = self._load_robots(number)
        if found is None:
            raise Failure(f"The crawl folder has no robots.txt file {number:,}: restore the folder from a backup.")
        return found

    def seeds(self, urls: Sequence[str]) -> list[Seed]:
        numbers = self.table.add_all(list(dict.fromkeys(urls)))
        hosts = self.table.hosts(numbers)
        if self.depths is not None:
            self.depths.start(numbers.tolist())
        return [Seed(page, host) for page, host in zip(numbers.tolist(), hosts.tolist(), strict=True)]

    def is_visited(self, url: str, page: int | None = None) -> bool:
        """Whether the page at a URL was visited, whatever URL was requested. `page` is the number of the URL, if it is
        known."""
        if url in self._final_urls:
            return True
        number = self.table.find(url) if page is None else page
        return number is not None and number in self.visits

    def is_visited_elsewhere(self, page: int) -> bool:
        """Whether a page that was not requested before was visited through a redirect."""
        return bool(self._final_urls) and self.table.url(page) in self._final_urls

    def visit(
        self, page: int, redirected_to: str | None, links: list[str] | FoundUrls | IntArray, scores: LinkScores
    ) -> tuple[IntArray, Links]:
        """Register a visit; returns its links, and those that the strategy receives."""
        if isinstance(links, FoundUrls):
            numbers = self.table.add_found(links)
        else:
            numbers = self.table.add_all(links) if isinstance(links, list) else links
        self.visits.add(page)
        if redirected_to is not None:
            self._final_urls[redirected_to] = None
        self.links.add(page, (numbers, *scores))
        if self.depths is None:
            return numbers, Links(numbers, self.table.hosts(numbers), *scores)
        return numbers, self._with_revealed(page, self.depths)

    def _with_revealed(self, page: int, depths: LinkDepths) -> Links:
        """The visible links of a page that was visited just now, and links of earlier pages that it brought into
        reach, each once."""
        revealed = depths.visit(page, self.links.get(page)[0])
        own = self.visible_links(page)
        parts = [own, *(self._selected(earlier, is_new) for earlier, is_new in revealed)]
        numbers = np.concatenate([part.pages for part in parts])
        is_kept = np.zeros(len(numbers), np.bool_)
        is_kept[np.unique(numbers, return_index=True)[1]] = True
        is_kept[: len(own)] = True
        return Links(
            numbers[is_kept],
            np.concatenate([part.hosts for part in parts])[is_kept],
            _joined([part.predicted for part in parts], is_kept),
            _joined([part.anchors for part in parts], is_kept),
        )

    def visible_links(self, page: int) -> Links:
        """The links of a visited page that strategies may see now."""
        numbers, predicted, anchors = self.links.get(page)
        if self.depths is not None:
            return self._selected(page, self.depths.in_reach(numbers))
        return Links(numbers, self.table.hosts(numbers), predicted, anchors)

    def visible_positions(self, page: int) -> tuple[IntArray, IntArray]:
        """The positions of these links among the words."""
        text = self.texts.get(page)
        if self.depths is None:
            return text.link_start, text.link_end
        in_reach = self.depths.in_reach(self.links.get(page)[0])
        return text.link_start[in_reach], text.link_end[in_reach]

    def is_known(self, page: int) -> bool:
        """Whether strategies know the page."""
        if not 0 <= page < len(self.table):
            return False
        return self.depths is None or bool(self.depths.in_reach(np.array([page], np.int32))[0])

    def _selected(self, page: int, is_selected: BoolArray) -> Links:
        numbers, predicted, anchors = self.links.get(page)
        numbers = numbers[is_selected]
        return Links(
            numbers,
            self.table.hosts(numbers),
            None if predicted is None else predicted[is_selected],
            None if anchors is None else anchors[is_selected],
        )


def _joined(parts: Sequence[FloatArray | None], is_kept: BoolArray) -> FloatArray | None:
    scores = [part for part in parts if part is not None]
    return np.concatenate(scores)[is_kept] if scores else None


def _link_bytes(links: StoredLinks) -> int:
    return OBJECT_BYTES + sum(part.nbytes for part in links if part is not None)


def _text_bytes(text: PageText) -> int:
    return OBJECT_BYTES + text.words.nbytes + text.link_start.nbytes + text.link_end.nbytes


class LiveSeen:
    """What a strategy may read of the crawl so far: a `SeenWeb`."""

    def __init__(self, web: LiveWeb, topic: TopicWords) -> None:
        self._web = web
        self._topic = topic
        #: The numbers of the domains that the strategy knows.
        self.domains: dict[str, int] = {}

    def url(self, page: int) -> str:
        self._check_known(page)
        return self._web.table.url(page)

    def host(self, page: int) -> int:
        self._check_known(page)
        return int(self._web.table.hosts(np.array([page], np.int32))[0])

    def words(self, page: int) -> IntArray:
        self._check_visited(page)
        return self._web.texts.get(page).words

    def link_positions(self, page: int) -> tuple[IntArray, IntArray]:
        self._check_visited(page)
        return self._web.visible_positions(page)

    def links(self, page: int) -> Links:
        self._check_visited(page)
        return self._web.visible_links(page)

    def domain(self, host: int) -> int:
        domain = registrable_domain(self._web.table.host(host))
        return self.domains.setdefault(domain, len(self.domains))

    def topic_words(self, *, description: bool = False) -> IntArray:
        return self._topic.description if description else self._topic.keywords

    def _check_known(self, page: int) -> None:
        if not self._web.is_known(page):
            raise LeakageError(f"Page {page} is unknown: it is not a seed, and no visited page links to it.")

    def _check_visited(self, page: int) -> None:
        if page not in self._web.visits:
            raise LeakageError(f"Page {page} has not been visited: only its URL and the links to it are known.")
