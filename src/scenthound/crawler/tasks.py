"""Tasks, which the engine hands to the runner, and their results; jobs and hosts.

Rules
- Each task has one result, or none if the crawl is stopped before. A resumed crawl repeats the tasks without a result.
- A result contains only what affects later decisions: bodies go to the archive, not to the engine.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from scenthound.frontier.url_table import FoundUrls, UrlTable
from scenthound.model import FloatArray, IntArray
from scenthound.reasons import SkipReason
from scenthound.saved_state import State, restore_attributes, saved_attributes
from scenthound.web.urls import host_of, registrable_domain

NO_PAGE = NO_HOST = NO_SHARD = -1


class Kind(StrEnum):
    """What a task is for."""

    ADDRESS = "address"  #: resolve the host of the URL
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    PAGE = "page"
    RECORDED = "recorded"  #: read the page from a recording, without a request


#: The tasks that send a request to a host.
REQUESTS = frozenset({Kind.ROBOTS, Kind.SITEMAP, Kind.PAGE})


@dataclass(frozen=True, slots=True)
class Task:
    """A unit of work. `page` is the strategy's number of the page, and `requested_url` its URL before redirects;
    `owner` is the host that a sitemap is read for."""

    number: int
    kind: Kind
    url: str
    issued_s: float
    addresses: tuple[str, ...] = ()
    page: int = NO_PAGE
    requested_url: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class AddressesResolved:
    """The IP addresses of a host."""

    addresses: tuple[str, ...]
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RobotsFetched:
    """The response to a request for robots.txt, after redirects."""

    status: int
    body: bytes
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class SitemapFetched:
    """The pages of its owner and the further sitemaps that a sitemap lists. `n_elsewhere` counts pages of other
    hosts."""

    urls: tuple[str, ...]
    sitemaps: tuple[str, ...]
    n_elsewhere: int = 0
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Redirected:
    """A redirect; `url` is its canonical target."""

    url: str
    status: int
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no page. `fingerprint` is that of the body of a 404 response, `like` the visited page that it nearly
    duplicates."""

    reason: SkipReason
    detail: str = ""
    status: int | None = None
    retry_after_s: float | None = None
    fingerprint: int | None = None
    like: int | None = None
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PageText:
    """The words of a page, and the positions of its links' anchors among them."""

    words: IntArray
    link_start: IntArray
    link_end: IntArray


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page. Its links are URLs or, when a crawl is resumed, the numbers of URLs."""

    url: str
    relevance: float
    links: list[str] | FoundUrls | IntArray
    predicted: FloatArray | None = None
    anchors: FloatArray | None = None
    text: PageText | None = None
    n_out_of_scope: int = 0  #: links left out
    elapsed_s: float = 0.0


TaskResult = AddressesResolved | RobotsFetched | SitemapFetched | Redirected | Failed | Fetched


@dataclass(slots=True)
class Job:
    """A page, robots.txt or sitemap with redirects and retries. Redirects change `url` and `host`, not `page`."""

    kind: Kind
    url: str
    host: int
    page: int = NO_PAGE
    origin: str = ""  #: whose robots.txt this is for
    owner: int = NO_HOST  #: the host that a sitemap is read for
    asker: int = NO_SHARD  #: the shard that a robots.txt file is requested for, if it is another one
    n_hops: int = 0  #: redirects that were followed by other shards
    n_tries: int = 0
    passed: list[str] = field(default_factory=list)  #: the URLs that redirected
    n_followers: int = 0  #: jobs that wait for the outcome of this one
    has_slot: bool = False  #: whether it has a slot in the page budgets
    is_pending: bool = False  #: whether it counts in the throttle
    regret: float | None = None
    score: float | None = None
    rank: int = 0  #: pages requested before
    queue_size: int = 0  #: pages queued when it was requested


class SavedJobs:
    """The jobs of a checkpoint by number: several parts of a crawl refer to the same job."""

    def __init__(self, values: Iterable[State] = ()) -> None:
        self._jobs = [Job(**{**each, "kind": Kind(each["kind"])}) for each in values]
        self._numbers: dict[int, int] = {}

    def number(self, job: Job) -> int:
        number = self._numbers.setdefault(id(job), len(self._jobs))
        if number == len(self._jobs):
            self._jobs.append(job)
        return number

    def numbers(self, jobs: Iterable[Job]) -> list[int]:
        return [self.number(job) for job in jobs]

    def job(self, number: int) -> Job:
        return self._jobs[number]

    def jobs(self, numbers: Iterable[int]) -> list[Job]:
        return [self._jobs[number] for number in numbers]

    def state(self) -> list[State]:
        return [asdict(job) for job in self._jobs]


class WaitingJobs:
    """Jobs that wait until their host is ready, first in, first out."""

    def __init__(self) -> None:
        self._of_host: dict[int, deque[Job]] = {}

    def __bool__(self) -> bool:
        return bool(self._of_host)

    def __contains__(self, host: int) -> bool:
        return host in self._of_host

    def state(self, saved: SavedJobs) -> State:
        """A checkpoint for `restore`. The order of hosts counts."""
        return {"hosts": list(self._of_host), "jobs": [saved.numbers(jobs) for jobs in self._of_host.values()]}

    def restore(self, state: State, saved: SavedJobs) -> None:
        jobs = (deque(saved.jobs(numbers)) for numbers in state["jobs"])
        self._of_host = dict(zip(state["hosts"], jobs, strict=True))

    def hosts(self) -> list[int]:
        return list(self._of_host)

    def add(self, job: Job, *, first: bool = False) -> None:
        jobs = self._of_host.setdefault(job.host, deque())
        if first:
            jobs.appendleft(job)
        else:
            jobs.append(job)

    def next(self, host: int) -> Job:
        jobs = self._of_host[host]
        job = jobs.popleft()
        if not jobs:
            del self._of_host[host]
        return job

    def of(self, host: int) -> Iterable[Job]:
        """The jobs of a host, the next one first."""
        return self._of_host[host]

    def take_all(self, host: int) -> Iterator[Job]:
        while host in self._of_host:
            yield self.next(host)


class Hosts:
    """Numbers, domains and IP addresses of hosts.

    A strategy numbers the hosts of links. A crawl also requests pages of hosts that it was redirected to, so it has
    numbers of its own. Both are assigned in order of first use.
    """

    _SAVED = "names", "_domain", "_domain_numbers", "_of_strategy"

    def __init__(self, table: UrlTable) -> None:
        self._table = table
        self._number_of: dict[str, int] = {}
        self.names: list[str] = []  #: by number
        self._domain: list[int] = []
        self._domain_numbers: dict[str, int] = {}
        #: By the strategy's number of a host.
        self._of_strategy: list[int] = []
        self._addresses: list[tuple[str, ...]] = []

    def __len__(self) -> int:
        return len(self.names)

    def state(self) -> State:
        """A checkpoint for `restore`. Numbers of domains are part of it: the public suffix list may change."""
        return {**saved_attributes(self, self._SAVED), "addresses": [" ".join(each) for each in self._addresses]}

    def restore(self, state: State) -> None:
        restore_attributes(self, self._SAVED, state)
        self._number_of = {name: number for number, name in enumerate(self.names)}
        self._addresses = [tuple(each.split()) for each in state["addresses"]]

    def of_url(self, url: str) -> int:
        return self._numbered(host_of(url))

    def find(self, name: str) -> int | None:
        """The number of a host; None if it has none."""
        return self._number_of.get(name)

    def of_strategy(self, host: int) -> int:
        """The number of a host from its number in the strategy."""
        known = self._of_strategy
        while host >= len(known):
            known.append(self._numbered(self._table.host(len(known))))
        return known[host]

    def domain(self, host: int) -> int:
        return self._domain[host]

    def addresses(self, host: int) -> tuple[str, ...]:
        """Empty until the name is resolved."""
        return self._addresses[host]

    def set_addresses(self, host: int, addresses: tuple[str, ...]) -> None:
        self._addresses[host] = addresses

    def _numbered(self, name: str) -> int:
        number = self._number_of.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
            self._addresses.append(())
            domain = registrable_domain(name)
            self._domain.append(self._domain_numbers.setdefault(domain, len(self._domain_numbers)))
        return number
