"""What the engine wants done, and what it is told of it.

Rules
- Each order is answered once, or never, if the crawl is stopped before; a crawl that is taken up gives the orders
  without an answer once more.
- An answer has what decides about the crawl and nothing else: bodies go to the archive, not to the engine.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from scenthound.errors import InvalidParameter
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.frontier.url_index import FoundUrls
from scenthound.frontier.url_table import UrlTable
from scenthound.model import FloatArray, IntArray
from scenthound.reasons import SkipReason
from scenthound.web.urls import host_of, registrable_domain

NO_PAGE = -1


class Kind(StrEnum):
    """What an order is for."""

    ADDRESS = "address"  #: look up the host of the URL
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    PAGE = "page"
    RECORDED = "recorded"  #: read the page from a recording, without a request


@dataclass(frozen=True, slots=True)
class Order:
    """One thing to do. `page` is the number that the strategy knows the page by, whatever `url` it has by now; `asked`
    is the address before any redirect."""

    number: int
    kind: Kind
    url: str
    issued_s: float
    addresses: tuple[str, ...] = ()
    page: int = NO_PAGE
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The addresses of a host."""

    addresses: tuple[str, ...]
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RobotsFound:
    """What a host answered to the question for robots.txt, redirects aside."""

    status: int
    body: bytes
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class SitemapFound:
    """The pages that a sitemap lists, and further sitemaps."""

    urls: tuple[str, ...]
    sitemaps: tuple[str, ...]
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect; `url` is where it leads, in canonical form."""

    url: str
    status: int
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no page, and why. `fingerprint` is that of a page which came with a 404, `like` the page that
    it is nearly the same as."""

    reason: SkipReason
    detail: str = ""
    status: int | None = None
    retry_after_s: float | None = None
    fingerprint: int | None = None
    like: int | None = None
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PageText:
    """The words of a page and where the anchors of its links stand among them, in the order of the links told."""

    words: IntArray
    link_start: IntArray
    link_end: IntArray


@dataclass(frozen=True, slots=True)
class Got:
    """A page. Its links are URLs, as far as they are new, or, when a crawl is taken up, the numbers that they were
    given."""

    url: str
    relevance: float
    links: list[str] | FoundUrls | IntArray
    predicted: FloatArray | None = None
    anchors: FloatArray | None = None
    text: PageText | None = None
    elapsed_s: float = 0.0


Answer = Found | RobotsFound | SitemapFound | Moved | Refused | Got


# A job: what the engine wants to have, through all its redirects and retries; and the jobs that wait.


@dataclass(slots=True)
class Job:
    """`url` and `host` change with redirects; `page` stays what the strategy asked for."""

    kind: Kind
    url: str
    host: int
    page: int = NO_PAGE
    origin: str = ""  #: whose robots.txt this is for
    n_tries: int = 0
    passed: list[str] = field(default_factory=list)  #: the addresses that redirected
    n_followers: int = 0  #: other jobs that wait for what becomes of this one
    has_place: bool = False  #: whether a place in the budgets is reserved for it
    regret: float | None = None
    score: float | None = None
    rank: int = 0  #: how many pages had been asked for before
    n_waiting: int = 0  #: how many pages waited when it was asked for


class HeldJobs:
    """Jobs that wait for their host to be ready, first come, first served."""

    def __init__(self) -> None:
        self._of_host: dict[int, deque[Job]] = {}
        self._n_jobs = 0

    def __len__(self) -> int:
        return self._n_jobs

    def __contains__(self, host: int) -> bool:
        return host in self._of_host

    def hosts(self) -> list[int]:
        return list(self._of_host)

    def add(self, job: Job, *, first: bool = False) -> None:
        jobs = self._of_host.setdefault(job.host, deque())
        if first:
            jobs.appendleft(job)
        else:
            jobs.append(job)
        self._n_jobs += 1

    def next(self, host: int) -> Job:
        jobs = self._of_host[host]
        job = jobs.popleft()
        if not jobs:
            del self._of_host[host]
        self._n_jobs -= 1
        return job

    def of(self, host: int) -> Iterable[Job]:
        """The jobs of a host, the next one first."""
        return self._of_host[host]

    def take_all(self, host: int) -> Iterator[Job]:
        while host in self._of_host:
            yield self.next(host)


# The hosts that a crawl talks to, by numbers of their own.
#
# A strategy knows hosts by the numbers of the URL table, in which only links count. A crawl also talks to hosts that
# it was redirected to, so it numbers by name; both kinds of numbers are given out in order of first use.


class Hosts:
    """Numbers for names, the domain of each host, and where its name was found to lead."""

    def __init__(self, table: UrlTable) -> None:
        self._table = table
        self._number_of: dict[str, int] = {}
        self._names: list[str] = []
        self._domain: list[int] = []
        self._domain_numbers: dict[str, int] = {}
        #: By the strategy's number of a host.
        self._of_strategy: list[int] = []
        self._addresses: list[tuple[str, ...]] = []

    def __len__(self) -> int:
        return len(self._names)

    def of_url(self, url: str) -> int:
        return self._numbered(host_of(url))

    def find(self, name: str) -> int | None:
        """The number of a host that has one; to ask gives out none."""
        return self._number_of.get(name)

    def of_strategy(self, host: int) -> int:
        """The number of what the strategy calls host so-and-so."""
        known = self._of_strategy
        while host >= len(known):
            known.append(self._numbered(self._table.host(len(known))))
        return known[host]

    def domain(self, host: int) -> int:
        return self._domain[host]

    def addresses(self, host: int) -> tuple[str, ...]:
        """Empty as long as the name was not looked up."""
        return self._addresses[host]

    def set_addresses(self, host: int, addresses: tuple[str, ...]) -> None:
        self._addresses[host] = addresses

    def _numbered(self, name: str) -> int:
        number = self._number_of.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
            self._addresses.append(())
            domain = registrable_domain(name)
            self._domain.append(self._domain_numbers.setdefault(domain, len(self._domain_numbers)))
        return number


# What a live crawl holds to, beside the strategy: how many pages, how many tries, in which order.


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The rules that the engine decides by. `agent` is the name that robots.txt files know the crawler by."""

    agent: str
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    #: Requests in flight at a time, all hosts together.
    connections: int = 16
    #: Redirects that are followed for one page; browsers follow 20, RFC 9309 asks for 5 for robots.txt.
    redirects: int = 5
    #: Requests for one page, if the host fails or asks to come later.
    tries: int = 3
    #: Wait for the page that the strategy wants most, even if its host rests: the order of a simulated crawl.
    strict_order: bool = False
    traps: bool = True
    sitemaps: bool = False

    def __post_init__(self) -> None:
        for name in ("connections", "tries"):
            if getattr(self, name) < 1:
                raise InvalidParameter(f"{name} is {getattr(self, name)}; it has to be 1 or more.")
        if self.redirects < 0:
            raise InvalidParameter(f"redirects is {self.redirects}; it has to be 0 or more.")
