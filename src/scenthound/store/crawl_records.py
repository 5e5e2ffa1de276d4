"""The records of a crawl. Each is defined once: tables, JSON, metrics and API schemas are derived from the fields.

Pages are numbered 0, 1, 2, ... in order of discovery.
"""

from copy import copy
from dataclasses import astuple, dataclass
from enum import StrEnum
from hashlib import sha256
from math import isfinite
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from scenthound.model import FloatArray, IntArray
from scenthound.reasons import EndReason, SkipReason
from scenthound.records import column


class StoredRecord:
    """What has a row of its own in the database."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ArchiveLocation:
    """Where a record is in the archive: number of the WARC file, offset and compressed length."""

    file: int
    offset: int
    length: int

    @property
    def end(self) -> int:
        """The offset of what follows."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """What is known of a page from its response. Those marked `exported` are in exports."""

    status: int = column("HTTP status", exported=True)
    title: str = column()
    content_bytes: int = column("size", unit="bytes", default=0, help="size of the decoded body")
    simhash: int = column(default=0, help="fingerprint of the text, as a signed 64-bit number; 0 for short pages")
    noindex: bool = column(default=False, help="the page asks not to be indexed", exported=True)
    truncated: bool = column(default=False, help="the body was cut off at the size limit", exported=True)

    @property
    def fingerprint(self) -> int | None:
        """The simhash as an unsigned number; None for short pages."""
        return self.simhash % (1 << 64) if self.simhash else None


def signed_simhash(fingerprint: int | None) -> int:
    """A fingerprint as SQLite can store it."""
    fingerprint = fingerprint or 0
    return fingerprint - (1 << 64) if fingerprint >= 1 << 63 else fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVisit(PageFacts):
    """The facts of a visited page. Those marked `listed` are shown in the dashboard's lists of pages."""

    visit: int = column(help="position in the crawl, counted from 0", listed="count", exported=True)
    page: int = column(help="number of the URL that was requested")
    url: str = column("URL", help="final URL, after redirects")
    time_s: float = column("visited", unit="s", help="when the page was visited, in seconds since 1970", listed="time")
    relevance: float = column(help="score of the relevance model", exported=True)
    score: float | None = column(
        default=None, help="score that the strategy gave the page", listed="score", exported=True
    )
    regret: float | None = column(
        default=None,
        help="how much higher the best queued score was whose host had to wait, in the strategy's own units",
        exported=True,
    )
    rank: int = column(default=0, help="pages requested before it")
    queue_size: int = column("queued", default=0, help="pages queued when it was requested")


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitRecord(PageVisit, StoredRecord):
    """A visited page as it is stored. `links` leaves out links that the page asks not to follow; `predicted` and
    `anchors` are the relevance of each link's context and anchor text, for strategies that use them."""

    links: IntArray = column(is_array=True)
    location: ArchiveLocation | None = column(help="None if the page was read from a recorded web")
    predicted: FloatArray | None = column(default=None, is_array=True)
    anchors: FloatArray | None = column(default=None, is_array=True)


def share_given_up(score: float | None, regret: float | None) -> float | None:
    """The share of the best queued score that was given up for a page, because the host of the best had to wait.

    None if it is unknown: the strategy has no scores, a seed had to wait, or scores are below 0, such as the sequence
    numbers of `breadth_first`, and have no ratio."""
    if regret is None or not isfinite(regret):
        return None
    if regret == 0:
        return 0.0
    return None if score is None or score < 0 else regret / (score + regret)


def shares_given_up(scores: FloatArray, regrets: FloatArray) -> FloatArray:
    """That of each page; NaN if it is unknown, and for all pages if scores have no ratio."""
    shares = [share_given_up(*each) for each in zip(scores.tolist(), regrets.tolist(), strict=True)]
    known = np.array([np.nan if share is None else share for share in shares])
    return known if not (np.isnan(known) & np.isfinite(regrets)).any() else np.full(len(known), np.nan)


#: With fewer pages in or out of order, the cost of politeness is not estimated.
MIN_PAGES_FOR_COST = 10


def on_topic_pages_lost(relevance: FloatArray, regrets: FloatArray, threshold: float) -> int | None:
    """How many more pages would be on topic if those requested although a better one had to wait were so as often as
    the others; None if there are too few pages. Pages that only a seed had to wait for are left out."""
    is_out_of_order = regrets > 0
    others, in_order = relevance[is_out_of_order & ~np.isposinf(regrets)], relevance[~is_out_of_order]
    if min(len(others), len(in_order)) < MIN_PAGES_FOR_COST:
        return None
    more = (in_order >= threshold).mean() - (others >= threshold).mean()
    return max(0, round(float(more) * len(others)))


@dataclass(frozen=True, slots=True)
class RenderedRecord(StoredRecord):
    """A page that was visited, or found changed, as a browser rendered it. `location` is that of its response; the
    record of the rendered document follows it in the archive, and is what was read."""

    visit: int = column(help="number of the visit")
    time_s: float = column("rendered", unit="s", help="when the page was rendered, in seconds since 1970")
    location: ArchiveLocation = column(help="the record of the response")
    words_before: int = column(help="words of the page as it was fetched")
    words: int = column(help="words of the rendered page")
    links_before: int = column(help="links of the page as it was fetched")
    links: int = column(help="links of the rendered page")

    def is_of(self, rendered: ArchiveLocation) -> bool:
        """Whether a record of the archive is the rendered document."""
        return (rendered.file, rendered.offset) == (self.location.file, self.location.end)


@dataclass(frozen=True, slots=True)
class ArrivalRecord(StoredRecord):
    """What another shard of the crawl has sent."""

    source: int = column(help="number of the shard that sent it")
    commit_number: int = column(help="number of the commit that it was sent with")
    content: bytes = column(help="the parcel")


@dataclass(frozen=True, slots=True)
class SentRecord(StoredRecord):
    """The last parcel for another shard of the crawl."""

    destination: int = column(help="number of the shard that it was sent to")
    commit_number: int = column(help="number of the commit that it was sent with")


@dataclass(frozen=True, slots=True)
class AssembledRecord(StoredRecord):
    """How much of a shard the folder of the whole crawl has (`shards/assembly`)."""

    shard: int = column()
    commit_number: int = column(help="number of the last commit of the shard that was added")


@dataclass(frozen=True, slots=True)
class ShardPagesRecord(StoredRecord):
    """The numbers that pages of a shard have in the folder of the whole crawl: those of consecutive pages of the shard,
    as 32-bit integers."""

    shard: int = column()
    pages: bytes = column()


@dataclass(frozen=True, slots=True)
class SkippedRecord(StoredRecord):
    """A requested page that was not visited. `status` is that of the response, if there was one."""

    page: int = column(help="number of the URL that was requested")
    url: str = column("URL")
    reason: SkipReason = column()
    detail: str = column()
    time_s: float = column("skipped", unit="s", help="when it was decided, in seconds since 1970")
    status: int | None = column("HTTP status", default=None)


class CheckOutcome(StrEnum):
    """What became of a visited page when it was checked again."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"  #: not found any more, or merged into another page of the crawl
    FAILED = "failed"  #: no usable response; the page is as it was, as far as is known
    SKIPPED = "skipped"  #: not requested, for example because robots.txt disallows it now


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord(StoredRecord):
    """A visited page that was checked again. If it has changed, `url` and the last fields are those of its new
    version, whose response is at `location`; the record of an unchanged page is a revisit."""

    visit: int = column(help="number of the visit")
    refresh: int = column(help="number of the refresh, from 1")
    time_s: float = column("checked", unit="s", help="when the page was checked, in seconds since 1970")
    outcome: CheckOutcome = column()
    url: str = column("URL", help="final URL, after redirects")
    status: int | None = column("HTTP status", default=None)
    reason: SkipReason | None = column(default=None, help="why the page is gone, or was not checked")
    detail: str = column(default="")
    location: ArchiveLocation | None = column(default=None, help="the record of the response")
    body_bytes: int = column("received", unit="bytes", default=0, help="size of the body as it was sent")
    relevance: float | None = column(default=None, help="score of the relevance model")
    title: str = column(default="")
    content_bytes: int = column("size", unit="bytes", default=0, help="size of the decoded body")
    simhash: int = column(default=0)
    noindex: bool = column(default=False, help="the page asks not to be indexed")
    truncated: bool = column(default=False, help="the body was cut off at the size limit")


@dataclass(frozen=True, slots=True)
class RefreshRecord(StoredRecord):
    """A refresh, which may take several runs. `ended` is that of the last one; None while it runs, or if its process
    died. `is_complete`: all of its pages have been checked."""

    refresh: int  #: 1, 2, 3, ...
    began_s: float
    started_s: float  #: the start of the last run
    page_limit: int | None  #: check this many pages; None for all
    process: int  #: process ID
    ended_s: float | None = None
    ended: str | None = None  #: a value of `EndReason`
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class RobotsRecord(StoredRecord):
    """The response to a request for robots.txt; `status` is None if there was none."""

    origin: str
    time_s: float
    status: int | None
    body: bytes = column(is_packed=True)


@dataclass(frozen=True, slots=True)
class CrawlPosition:
    """How many records of each kind a crawl has up to a commit. Events are counted by commits with at least one.

    `mark` is a digest of the crawl's id, its last visit and its last events: other crawls, and copies of a crawl that
    were continued, have another one at the same counts."""

    visits: int = 0
    urls: int = 0
    stems: int = 0
    events: int = 0
    robots: int = 0
    arrivals: int = 0
    mark: str = ""

    def is_within(self, other: "CrawlPosition") -> bool:
        """Whether the other one has as many records."""
        counts = zip(astuple(self)[:-1], astuple(other)[:-1], strict=True)
        return all(mine <= its for mine, its in counts)


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    """The last visit and the last events of a crawl up to a commit."""

    visit: tuple[str, float] | None = None  #: URL and time
    events: bytes = b""  #: their digest

    def mark(self, crawl_id: UUID) -> str:
        """The mark of a position."""
        return sha256(repr((crawl_id.hex, self.visit, self.events)).encode("utf-8", "surrogatepass")).hexdigest()

    @staticmethod
    def digest(events: bytes) -> bytes:
        return sha256(events).digest()


@dataclass(frozen=True, slots=True)
class RunRecord(StoredRecord):
    """One run of a crawl, from start or resume to its end. `ended` is None while it runs, or if its process died."""

    run: int  #: 1, 2, 3, ...
    began_s: float
    n_pages_before: int
    process: int  #: process ID
    version: str  #: of Scenthound
    ended_s: float | None = None
    ended: str | None = None  #: a value of `EndReason`


class HostState(StrEnum):
    """Whether a page of a host can be requested now."""

    ACTIVE = "active"
    WAITING = "waiting"
    READY = "ready"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Sample(StoredRecord):
    """The state of a running crawl at one time: a row of its time series. `metric` is the name of a Prometheus metric;
    those marked `is_live` exist only while a process crawls, and those with `needs_pages` after the first page."""

    time_s: float = column("time", unit="s", help="seconds since 1970")
    run: int = column(help="number of the run, from 1")
    n_pages: int = column("pages", help="pages visited", metric="pages_total")
    page_budget: int = column("page budget", help="pages to visit", metric="page_budget")
    harvest: float | None = column(help="mean relevance of all pages", metric="harvest", needs_pages=True)
    recent_harvest: float | None = column(
        "recent harvest",
        help="mean relevance of the last 200 pages",
        metric="recent_harvest",
        needs_pages=True,
    )
    regret: float | None = column(
        "score given up",
        help="mean share of the best queued score that was given up because its host had to wait",
        metric="regret",
    )
    frontier: int = column(help="pages queued", metric="frontier")
    in_flight: int = column("in flight", help="requests in flight", metric="in_flight", is_live=True)
    hosts_active: int = column("active", help="hosts with a request in flight", host_state=HostState.ACTIVE)
    hosts_waiting: int = column("waiting", help="hosts in their crawl delay", host_state=HostState.WAITING)
    hosts_ready: int = column("ready", help="hosts ready for a request", host_state=HostState.READY)
    hosts_disabled: int = column("disabled", help="hosts that failed too often", host_state=HostState.DISABLED)
    n_skipped: int = column("skipped", help="pages skipped")
    paused: bool = column(help="whether the crawl is paused")

    @property
    def hosts(self) -> dict[HostState, int]:
        """How many hosts are in each state."""
        return {state: getattr(self, f"hosts_{state}") for state in HostState}


@dataclass(frozen=True, slots=True)
class HostStatistics:
    """A host that responded recently. `waits_s` is the remaining crawl delay, if it is known."""

    host: str = column()
    state: HostState = column()
    waits_s: float | None = column("waits", unit="s")
    n_pages: int = column("pages")


@dataclass(frozen=True, slots=True)
class CrawlStatus(Sample):
    """The state of a crawl as it is displayed. In the crawl folder, `pages_per_s` is that of the last ten seconds."""

    seconds: float = column(unit="s", help="since the run started")
    seconds_left: float | None = column(
        "time left", unit="s", help="until the page budget is reached, at the present speed"
    )
    pages_per_s: float = column(
        "speed", unit="pages/s", help="pages per second", metric="pages_per_second", is_live=True
    )
    reasons: dict[SkipReason, int] = column(help="skipped pages by reason")
    n_on_topic: int | None = column(
        "on topic",
        help="pages on topic by the relevance model; none if its scores are no probabilities",
        metric="on_topic_pages_total",
        default=None,
    )
    host_statistics: tuple[HostStatistics, ...] = column(
        "recent hosts", help="hosts that responded recently", default=()
    )
    ending: EndReason | None = column(help="why the run is about to end", default=None)
    n_evicted: int = column("evicted", help="links that a full frontier dropped", default=0)
    problem: str = column(help="why the last command could not be carried out", default="")
    n_out_of_scope: int = column("links out of scope", help="links of visited pages that are out of scope", default=0)
    failure: str = column(help="why the run failed, if its proxy did", default="")
    skipped_sitemaps: dict[SkipReason, int] = column(
        help="sitemaps that were not read, by skip reason", default_factory=dict
    )
    n_sitemap_links_elsewhere: int = column(
        "sitemap links elsewhere", help="URLs in sitemaps of hosts that the sitemap is not for", default=0
    )
    n_rendered: int = column("rendered", help="pages that a browser rendered", default=0, metric="rendered_pages_total")
    n_renders_paid: int = column(
        "renders that paid", help="rendered pages that brought much more text, or more links", default=0
    )
    n_renders_failed: int = column(
        "failed renders",
        help="pages that could not be rendered, and were read as they were fetched",
        default=0,
        metric="failed_renders_total",
    )
    render_problem: str = column(help="why no more pages are rendered in this run", default="")
    recall: float | None = column(
        help="estimated share of the reachable pages on topic that were found", metric="recall", default=None
    )
    recall_low: float | None = column(
        "recall, lower bound", help="lower bound of the 90 % interval of the recall", metric="recall_low", default=None
    )
    recall_high: float | None = column(
        "recall, upper bound", help="upper bound of the 90 % interval of the recall", metric="recall_high", default=None
    )
    recall_unknown: str = column("recall unknown", help="why the recall cannot be estimated", default="")


@dataclass(frozen=True, slots=True)
class RelevanceRecord(StoredRecord):
    """A retrained relevance model, used from visit `visit` on. `folder` has its training pages, in the crawl folder."""

    visit: int
    time_s: float
    relevance: str
    folder: str
    n_positive: int
    n_negative: int


# The arrays of consecutive visits are stored in one row. `lengths` has three numbers per visit, of its links,
# predictions and anchors; -1 stands for a missing array.

_NO_ARRAY = -1
_ARRAYS = ("links", "predicted", "anchors")


def joined_arrays(rows: list[VisitRecord]) -> tuple[int, bytes, bytes, bytes, bytes]:
    """The number of the first visit, then lengths, links, predictions and anchors of all."""
    columns = [[getattr(row, name) for row in rows] for name in _ARRAYS]
    lengths = [[_NO_ARRAY if array is None else len(array) for array in column] for column in columns]
    links, predicted, anchors = (
        b"".join(array.astype(item, copy=False).tobytes() for array in column if array is not None)
        for column, item in zip(columns, (np.int32, np.float64, np.float64), strict=True)
    )
    return rows[0].visit, np.array(lengths, np.int32).T.tobytes(), links, predicted, anchors


class JoinedArrays:
    """The arrays of the visits from `first` to before `end`, as `joined_arrays` made them."""

    def __init__(self, first: int, lengths: bytes, links: bytes, predicted: bytes, anchors: bytes) -> None:
        self.first = first
        self._lengths = np.frombuffer(lengths, np.int32).reshape(-1, 3)
        self._ends = np.maximum(self._lengths, 0).cumsum(axis=0)
        #: The links of all visits, one after the other.
        self.all_links: IntArray = np.frombuffer(links, np.int32)
        self._predicted, self._anchors = np.frombuffer(predicted), np.frombuffer(anchors)
        if self._lengths[:, 0].sum() != len(self.all_links):
            raise ValueError("links are missing")

    @property
    def end(self) -> int:
        return self.first + len(self._lengths)

    @property
    def sources(self) -> IntArray:
        """The visit that each link is of."""
        return np.repeat(np.arange(self.first, self.end, dtype=np.int32), self._lengths[:, 0])

    def with_links(self, links: IntArray) -> "JoinedArrays":
        """The same with other numbers of links."""
        changed = copy(self)
        changed.all_links = links
        return changed

    def of(self, visit: int) -> dict[str, Any]:
        """The arrays of a visit, by field of its record."""
        number = visit - self.first
        joined: tuple[npt.NDArray[Any], ...] = (self.all_links, self._predicted, self._anchors)
        bounds = zip(self._ends[number].tolist(), self._lengths[number].tolist(), strict=True)
        # Copies: whoever keeps a view keeps the arrays of all visits of the commit.
        return {
            name: None if length == _NO_ARRAY else values[end - length : end].copy()
            for name, values, (end, length) in zip(_ARRAYS, joined, bounds, strict=True)
        }
