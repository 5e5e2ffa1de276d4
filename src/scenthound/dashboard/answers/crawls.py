"""What the API tells of a crawl: how it stands, how it went, its hosts and links."""

from dataclasses import dataclass
from typing import Literal

from scenthound.dashboard.answers.folders import State
from scenthound.dashboard.answers.shared import Fact

HostState = Literal["in process", "resting", "ready", "retired"]


@dataclass(frozen=True, slots=True)
class ReasonCount:
    reason: str
    told: str
    pages: int


@dataclass(frozen=True, slots=True)
class AskedHost:
    """A host that was asked lately. `rests_s`: how long it still rests."""

    host: str
    state: HostState
    rests_s: float | None
    pages: int


@dataclass(frozen=True, slots=True)
class Status:
    """How a crawl was doing when it last wrote to the disk. `pages_per_s` is of late, `regret` the mean score given up
    because hosts of better pages rested."""

    time_s: float
    seconds: float  #: since its run began
    seconds_left: float | None
    pages: int
    page_budget: int
    pages_per_s: float
    harvest: float
    harvest_of_late: float
    regret: float | None
    frontier: int
    in_flight: int
    hosts_active: int
    hosts_resting: int
    hosts_ready: int
    hosts_retired: int
    not_taken: int
    reasons: tuple[ReasonCount, ...]
    asked_hosts: tuple[AskedHost, ...]
    problem: str  #: why what was last wished of the crawl could not be done; empty if it could


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide that was trained anew, and scores from `visit` on."""

    visit: int
    time_s: float
    relevance: str
    n_positive: int
    n_negative: int


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl as it stands. `ended` is why it ended, in words; `resume_command` is there when it can go on. Crawls with
    the same `scored_by` were for one topic and scored by one guide, so their harvests can be compared."""

    id: str
    name: str
    path: str
    topic: str
    keywords: tuple[str, ...]
    strategy: str
    guide: str
    scored_by: str
    state: State
    ended: str | None
    resume_command: str | None
    status: Status | None  #: null before the first second is over, and for crawls of old versions
    guides: tuple[Guide, ...]
    n_labels: int
    settings: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """How a crawl went, as arrays of one length: after `seconds` of work (time between runs and pauses left out) it had
    so many `pages`. `pages_per_s` is of the last ten seconds. Crawls of old versions do not know the states
    of their hosts, nor how many pages were not taken."""

    seconds: tuple[float, ...]
    pages: tuple[int, ...]
    harvest: tuple[float | None, ...]
    harvest_of_late: tuple[float | None, ...]
    pages_per_s: tuple[float | None, ...]
    regret: tuple[float | None, ...]
    frontier: tuple[int, ...]
    hosts_active: tuple[int | None, ...]
    hosts_resting: tuple[int | None, ...]
    hosts_ready: tuple[int | None, ...]
    hosts_retired: tuple[int | None, ...]
    not_taken: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class TopHost:
    host: str
    pages: int
    mean_relevance: float


@dataclass(frozen=True, slots=True)
class TopHosts:
    """The hosts of most pages. `share_read` of the crawl is counted already; what is missing is being read."""

    hosts: tuple[TopHost, ...]
    n_hosts: int
    share_read: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """Of two crawls: pages that both have, and that only one has."""

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    jaccard: float


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several crawls, in the order asked for. `overlaps` is null where crawls are too large to be held together."""

    crawls: tuple[Crawl, ...]
    curves: tuple[Curves, ...]
    overlaps: tuple[Overlap, ...] | None
