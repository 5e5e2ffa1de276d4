"""What a simulated crawl can see of a recorded web.

Strategies see numbers of pages and hosts, assigned in order of discovery. A number reveals nothing about the page, not
even whether it was recorded: a link that leaves the recording looks like any other until it is requested.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from scenthound.errors import LeakageError, PluginError
from scenthound.model import FloatArray, IntArray, Links, LongArray, Seed, Visit
from scenthound.reasons import EndReason
from scenthound.simulator.scores import Observation
from scenthound.store.recorded_web import RecordedWeb
from scenthound.web.urls import registrable_domain


class Numbering:
    """Assigns numbers 0, 1, 2, ... to ids in order of first use; `kind` is for messages."""

    def __init__(self, n_ids: int, kind: str) -> None:
        self._kind = kind
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
        if not 0 <= number < len(self._id_of):
            raise LeakageError(f"{self._kind} {number} is unknown: it is not a seed and no visited page links to it.")
        return self._id_of[number]

    def ids(self, numbers: IntArray | LongArray) -> IntArray:
        """The ids of assigned numbers."""
        return np.fromiter(map(self._id_of.__getitem__, numbers.tolist()), np.int32, len(numbers))


class UrlNumbers(Numbering):
    """The numbers of a crawl's URLs and hosts."""

    def __init__(self, web: RecordedWeb) -> None:
        super().__init__(web.n_urls, "Page")
        self._url_host = web.url_host
        self.of_hosts = Numbering(web.n_hosts, "Host")
        self._host_of_number = np.zeros(web.n_urls, dtype=np.int32)

    def numbers(self, ids: IntArray) -> IntArray:
        n_before = len(self)
        numbers = super().numbers(ids)
        n_now = len(self)
        if n_now > n_before:
            new = self._url_host[self.ids(np.arange(n_before, n_now))]
            self._host_of_number[n_before:n_now] = self.of_hosts.numbers(new)
        return numbers

    def hosts(self, numbers: IntArray) -> IntArray:
        return self._host_of_number[numbers]


class MissReason(Enum):
    """Why there was no visit for a requested page."""

    MISSING = "not in the recording"
    REPEATED = "visited already, under another URL"


class VisibleLinks:
    """The links of a recorded web that crawls can see; computed once for all crawls with the same rules.

    Links marked nofollow are hidden unless `respect_nofollow` is off. With `closed_world`, links that leave the
    recording are hidden too.
    """

    def __init__(self, web: RecordedWeb, *, closed_world: bool = False, respect_nofollow: bool = True) -> None:
        web.check_links()
        visible = np.ones(web.n_links, dtype=np.bool_)
        if respect_nofollow:
            visible &= ~web.link_nofollow
        if closed_world:
            visible &= web.url_page[web.link_url] >= 0
        n_visible_before = np.concatenate(([0], np.cumsum(visible)))
        self.offset: LongArray = n_visible_before[web.link_offset]
        self.index: LongArray = np.flatnonzero(visible)
        self.url: IntArray = web.link_url[visible]

    def range_of(self, recorded_page: int) -> slice:
        return slice(int(self.offset[recorded_page]), int(self.offset[recorded_page + 1]))


@dataclass(eq=False, slots=True)
class Seen:
    """The `SeenWeb` of a simulated crawl: what the visited pages have revealed."""

    _web: RecordedWeb
    _links: VisibleLinks
    _urls: UrlNumbers
    _page_of_visited: Mapping[int, int]
    _observation: Observation
    _domains: dict[str, int] = field(default_factory=dict)

    def url(self, page: int) -> str:
        return self._web.url(self._urls.id_of(page))

    def host(self, page: int) -> int:
        # Raises for an unknown page, for which the array of hosts has a 0.
        self._urls.id_of(page)
        return int(self._urls.hosts(np.array([page], np.int32))[0])

    def words(self, page: int) -> IntArray:
        return self._web.words_copy(self._visited(page))

    def link_positions(self, page: int) -> tuple[IntArray, IntArray]:
        links = self._links.index[self._links.range_of(self._visited(page))]
        return self._web.link_start[links], self._web.link_end[links]

    def links(self, page: int) -> Links:
        recorded_page = self._visited(page)
        visible = self._links.range_of(recorded_page)
        numbers = self._urls.numbers(self._links.url[visible])
        positions = self._links.index[visible] - self._web.link_offset[recorded_page]
        return Links(
            numbers,
            self._urls.hosts(numbers),
            self._observation.predicted(recorded_page, positions),
            self._observation.anchor_scores(recorded_page, positions),
        )

    def domain(self, host: int) -> int:
        domain = registrable_domain(self._web.hosts[self._urls.of_hosts.id_of(host)])
        return self._domains.setdefault(domain, len(self._domains))

    def topic_words(self, *, description: bool = False) -> IntArray:
        return self._observation.topic.description if description else self._observation.topic.keywords

    def _visited(self, number: int) -> int:
        if number not in self._page_of_visited:
            raise LeakageError(f"Page {number} has not been visited: only its URL and the links to it are known.")
        return self._page_of_visited[number]


class SimulatedWeb:
    """The driver's view of one crawl of a recorded web. Strategies have access to `seen` only.

    Strategies identify a page by its *number*, the recording identifies it as a *recorded page*.
    """

    def __init__(self, web: RecordedWeb, observation: Observation, links: VisibleLinks | None = None) -> None:
        self._web = web
        self._observation = observation
        self._urls = UrlNumbers(web)
        self._page_of_visited: dict[int, int] = {}
        self._visited_pages: set[int] = set()
        self._requested: set[int] = set()
        self.seen = Seen(web, links or VisibleLinks(web), self._urls, self._page_of_visited, observation)

    def seeds(self, recorded_pages: Iterable[int]) -> list[Seed]:
        """The seeds with their numbers."""
        numbers = self._urls.numbers(np.fromiter(recorded_pages, dtype=np.int32))
        hosts = self._urls.hosts(numbers)
        return [Seed(page, host) for page, host in zip(numbers.tolist(), hosts.tolist(), strict=True)]

    def get(self, number: int) -> int | MissReason:
        """Fetch: the recorded page of a number, with redirects followed, or why there is none."""
        if number in self._requested:
            raise PluginError(f"Page {number} was requested twice.")
        page = int(self._web.url_page[self._urls.id_of(number)])
        self._requested.add(number)
        if page < 0:
            return MissReason.MISSING
        if page in self._visited_pages:
            return MissReason.REPEATED
        self._visited_pages.add(page)
        self._page_of_visited[number] = page
        return page

    def visit(self, number: int) -> Visit:
        """The visit of a fetched page, for the strategy."""
        return Visit(number, self._observation.scores.page(self._page_of_visited[number]), self.seen.links(number))


@dataclass(frozen=True, slots=True)
class Crawl:
    """The result of a simulated crawl: its pages in order, their relevance and the CPU time."""

    pages: IntArray
    relevance: FloatArray
    #: CPU time per page of the strategy and of the scores it uses, without fetching. NaN: not measured.
    cpu_us: FloatArray
    ended: EndReason
    n_missing: int
    n_repeated: int
    #: The simulated time of each visit, if the mode has a clock.
    time_s: FloatArray | None = None
    #: Links that a full frontier dropped.
    n_evicted: int = 0
    #: `Strategy.diagnostics` at the end.
    diagnostics: Mapping[str, float] = field(default_factory=dict)
