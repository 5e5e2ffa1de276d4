"""What a crawl keeps of its work, as rows: the values that cross between the crawler, its folder and its readers.

Numbers of pages are the crawl's own numbers of URLs: 0, 1, 2, ... in the order in which they were discovered.
"""

from dataclasses import dataclass

from scenthound.model import FloatArray, IntArray
from scenthound.reasons import Reason


@dataclass(frozen=True, slots=True)
class Place:
    """Where an archived record stands: the number of its file, where it begins there, and its bytes, compressed."""

    file: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class VisitRow:
    """A page that was taken. `links` leaves out what the page asks not to follow.

    `score` is what the strategy asked for the page with, `regret` what waiting for hosts at rest cost; `predicted` and
    `anchors` are the relevance of each link's context and anchor, where the strategy wanted them.
    """

    visit: int  #: 0, 1, 2, ... without gaps
    page: int
    url: str  #: the address in the end, redirects followed
    status: int
    time_s: float
    relevance: float
    title: str
    content_bytes: int  #: decoded
    simhash: int  #: as a signed number of 64 bits
    links: IntArray
    place: Place | None  #: None if the page came from a recording
    score: float | None = None
    regret: float | None = None
    rank: int = 0  #: how many pages the strategy had asked for before
    waiting: int = 0  #: how many pages waited when it asked for this one
    predicted: FloatArray | None = None
    anchors: FloatArray | None = None
    noindex: bool = False
    truncated: bool = False

    @property
    def recorded(self) -> bool:
        """The page came from a recording and was not fetched."""
        return self.place is None


@dataclass(frozen=True, slots=True)
class NotTakenRow:
    """A page that was not taken, and why. `status` is of the answer, where there was one."""

    page: int
    url: str
    reason: Reason
    detail: str
    time_s: float
    status: int | None = None


@dataclass(frozen=True, slots=True)
class RobotsRow:
    """What an origin answered when asked for robots.txt; `status` is None if it did not answer."""

    origin: str
    time_s: float
    status: int | None
    body: bytes


@dataclass(frozen=True, slots=True)
class CrawlCounts:
    """How much a crawl holds, as far as it is on the disk."""

    visits: int
    not_taken: int
    urls: int
    stems: int
    events: int  #: commits that had any


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run of the crawl, from its start or resumption on. `ended` is None while it runs, and for ever if its process
    died."""

    run: int  #: 1, 2, 3, ...
    began_s: float
    n_pages_before: int
    process: int  #: its number on the machine it ran on
    version: str  #: of Scenthound
    ended_s: float | None = None
    ended: str | None = None  #: why: a value of `Ended`


@dataclass(frozen=True, slots=True)
class MomentRow:
    """How the crawl was doing at a moment, for curves over time. A crawl keeps one a second at first, and later one for
    each thousandth of its age."""

    time_s: float
    run: int
    pages: int
    page_budget: int
    harvest: float | None  #: None before the first page
    harvest_of_late: float | None
    regret: float | None
    frontier: int
    in_flight: int
    hosts_active: int
    hosts_resting: int
    hosts_ready: int
    hosts_retired: int
    not_taken: int
    paused: bool


@dataclass(frozen=True, slots=True)
class GuideRow:
    """A guide that was trained anew, and scores from visit `visit` on. `folder`, in that of the crawl, has the pages
    that it learnt from."""

    visit: int
    time_s: float
    relevance: str
    folder: str
    n_positive: int
    n_negative: int
