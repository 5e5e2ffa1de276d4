"""What one simulated crawl can get from a recorded web, and nothing else.

A strategy sees numbers given out in order of discovery, for pages and for hosts. So a number tells nothing about the
page behind it, not even whether it was recorded: a link that leaves the recording looks like any other until it is
asked for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from scenthound.errors import LeakageError, PluginError
from scenthound.model import FloatArray, IntArray, Links, LongArray, Seed, Visit
from scenthound.reasons import EndReason
from scenthound.simulator.scores import Observation
from scenthound.store.recorded_web import RecordedWeb
from scenthound.web.urls import registrable_domain

# Numbers given out in order of discovery, so that a number tells nothing about the page behind it.


class Numbering:
    """Gives numbers 0, 1, 2, ... to ids in the order in which they first come up."""

    def __init__(self, n_ids: int) -> None:
        self._number_of = np.full(n_ids, -1, dtype=np.int32)
        self._id_of: list[int] = []

    def __len__(self) -> int:
        return len(self._id_of)

    def numbers(self, ids: IntArray) -> IntArray:
        numbers = self._number_of[ids]
        unknown = ids[numbers < 0]
        if len(unknown):
            new = list(dict.fromkeys(unknown.tolist()))
            self._number_of[new] = np.arange(len(self._id_of), len(self._id_of) + len(new), dtype=np.int32)
            self._id_of += new
            numbers = self._number_of[ids]
        return numbers

    def id_of(self, number: int) -> int:
        return self._id_of[number]

    def ids_from(self, first_number: int) -> list[int]:
        return self._id_of[first_number:]


class UrlNumbers:
    """The numbers that a crawl's URLs and their hosts have got so far."""

    def __init__(self, web: RecordedWeb) -> None:
        self._url_host = web.url_host
        self._urls = Numbering(web.n_urls)
        self._hosts = Numbering(web.n_hosts)
        self._host_of_number = np.zeros(web.n_urls, dtype=np.int32)

    def numbers(self, url_ids: IntArray) -> IntArray:
        n_before = len(self._urls)
        numbers = self._urls.numbers(url_ids)
        n_now = len(self._urls)
        if n_now > n_before:
            new = np.array(self._urls.ids_from(n_before))
            self._host_of_number[n_before:n_now] = self._hosts.numbers(self._url_host[new])
        return numbers

    def hosts(self, numbers: IntArray) -> IntArray:
        return self._host_of_number[numbers]

    def id_of(self, number: int) -> int:
        """The URL behind a number that was given out."""
        if not 0 <= number < len(self._urls):
            raise LeakageError(f"Page {number} is unknown: no visited page links to it and it is no seed.")
        return self._urls.id_of(number)

    def host_id(self, host: int) -> int:
        if not 0 <= host < len(self._hosts):
            raise LeakageError(f"Host {host} is unknown: no visited page links to it.")
        return self._hosts.id_of(host)


class MissReason(Enum):
    """Why a page asked for gave no visit."""

    MISSING = "not in the recording"
    REPEATED = "had already, under another address"


class VisibleLinks:
    """The links of a recorded web that crawls are shown; made once for all crawls under the same rules.

    Links marked nofollow are left out unless `respect_nofollow` is off. With `closed_world`, links that leave the
    recording are left out too.
    """

    def __init__(self, web: RecordedWeb, *, closed_world: bool = False, respect_nofollow: bool = True) -> None:
        shown = np.ones(web.n_links, dtype=np.bool_)
        if respect_nofollow:
            shown &= ~web.link_nofollow
        if closed_world:
            shown &= web.url_page[web.link_url] >= 0
        n_shown_before = np.concatenate(([0], np.cumsum(shown)))
        self.offset: LongArray = n_shown_before[web.link_offset]
        self.place: LongArray = np.flatnonzero(shown)
        self.url: IntArray = web.link_url[shown]

    def range_of(self, recorded_page: int) -> slice:
        return slice(int(self.offset[recorded_page]), int(self.offset[recorded_page + 1]))


class Seen:
    """What a strategy may ask of the crawl so far: a `SeenWeb`. It can neither fetch nor look ahead."""

    def __init__(
        self,
        web: RecordedWeb,
        shown: VisibleLinks,
        urls: UrlNumbers,
        page_of_visited: Mapping[int, int],
        observation: Observation,
    ) -> None:
        self._web = web
        self._shown = shown
        self._urls = urls
        self._page_of_visited = page_of_visited
        self._telling = observation
        self._domains: dict[str, int] = {}

    def url(self, page: int) -> str:
        return self._web.url(self._urls.id_of(page))

    def host(self, page: int) -> int:
        # An unknown page has no id, and asking for it raises; the array of hosts would answer with a 0.
        self._urls.id_of(page)
        return int(self._urls.hosts(np.array([page], np.int32))[0])

    def words(self, page: int) -> IntArray:
        return self._web.words_alone(self._visited(page))

    def link_positions(self, page: int) -> tuple[IntArray, IntArray]:
        places = self._shown.place[self._shown.range_of(self._visited(page))]
        return self._web.link_start[places], self._web.link_end[places]

    def links(self, page: int) -> Links:
        recorded_page = self._visited(page)
        shown = self._shown.range_of(recorded_page)
        numbers = self._urls.numbers(self._shown.url[shown])
        places = self._shown.place[shown] - self._web.link_offset[recorded_page]
        return Links(
            numbers,
            self._urls.hosts(numbers),
            self._telling.predicted(recorded_page, places),
            self._telling.anchor_scores(recorded_page, places),
        )

    def domain(self, host: int) -> int:
        domain = registrable_domain(self._web.hosts[self._urls.host_id(host)])
        return self._domains.setdefault(domain, len(self._domains))

    def topic_words(self, *, description: bool = False) -> IntArray:
        return self._telling.topic.description if description else self._telling.topic.keywords

    def _visited(self, number: int) -> int:
        if number not in self._page_of_visited:
            raise LeakageError(f"Page {number} has not been visited: only what its visited parents say of it is known.")
        return self._page_of_visited[number]


class SimulatedWeb:
    """The driver's side of one crawl of a recorded web. Strategies are given `seen` and never this.

    A *number* is what the strategy knows a page by, a *recorded page* what the recording does.
    """

    def __init__(self, web: RecordedWeb, observation: Observation, shown: VisibleLinks | None = None) -> None:
        self._web = web
        self._telling = observation
        self._urls = UrlNumbers(web)
        self._page_of_visited: dict[int, int] = {}
        self._visited_pages: set[int] = set()
        self._asked: set[int] = set()
        self.seen = Seen(web, shown or VisibleLinks(web), self._urls, self._page_of_visited, observation)

    def seeds(self, recorded_pages: Iterable[int]) -> list[Seed]:
        """The start of the crawl, made known to it."""
        numbers = self._urls.numbers(np.fromiter(recorded_pages, dtype=np.int32))
        hosts = self._urls.hosts(numbers)
        return [Seed(page, host) for page, host in zip(numbers.tolist(), hosts.tolist(), strict=True)]

    def get(self, number: int) -> int | MissReason:
        """Fetch: the recorded page behind a number, redirects followed, or why there is none."""
        if number in self._asked:
            raise PluginError(f"Page {number} was asked for twice.")
        page = int(self._web.url_page[self._urls.id_of(number)])
        self._asked.add(number)
        if page < 0:
            return MissReason.MISSING
        if page in self._visited_pages:
            return MissReason.REPEATED
        self._visited_pages.add(page)
        self._page_of_visited[number] = page
        return page

    def visit(self, number: int) -> Visit:
        """What the strategy is told of a page that was got."""
        return Visit(number, self._telling.scores.page(self._page_of_visited[number]), self.seen.links(number))


# What a simulated crawl did.


@dataclass(frozen=True, slots=True)
class Crawl:
    """What a simulated crawl did: its pages in order, what the strategy was told of them, and what it cost."""

    pages: IntArray
    relevance: FloatArray
    #: Of the strategy and of the scores it looks at, per page got; fetching is not in it. Not-a-number: not measured.
    cpu_us: FloatArray
    ended: EndReason
    n_missing: int
    n_repeated: int
    #: The simulated moment of each visit, where the mode has a clock.
    time_s: FloatArray | None = None
    #: Whether compiled code crawled.
    is_compiled: bool = False
