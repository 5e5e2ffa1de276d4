"""What a crawl keeps of its work, as rows: the values that cross between the crawler, its folder and its readers.

Numbers of pages are the crawl's own numbers of URLs: 0, 1, 2, ... in the order in which they were discovered.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scenthound.model import FloatArray, IntArray
from scenthound.reasons import SkipReason


@dataclass(frozen=True, slots=True)
class ArchiveLocation:
    """Where an archived record stands: the number of its file, where it begins there, and its bytes, compressed."""

    file: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class VisitRecord:
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
    place: ArchiveLocation | None  #: None if the page came from a recording
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
class SkippedRecord:
    """A page that was not taken, and why. `status` is of the answer, where there was one."""

    page: int
    url: str
    reason: SkipReason
    detail: str
    time_s: float
    status: int | None = None


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What an origin answered when asked for robots.txt; `status` is None if it did not answer."""

    origin: str
    time_s: float
    status: int | None
    body: bytes


@dataclass(frozen=True, slots=True)
class CrawlCounts:
    """How much a crawl holds, as far as it is on the disk."""

    visits: int
    skipped: int
    urls: int
    stems: int
    events: int  #: commits that had any


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of the crawl, from its start or resumption on. `ended` is None while it runs, and for ever if its process
    died."""

    run: int  #: 1, 2, 3, ...
    began_s: float
    n_pages_before: int
    process: int  #: its number on the machine it ran on
    version: str  #: of Scenthound
    ended_s: float | None = None
    ended: str | None = None  #: why: a value of `EndReason`


@dataclass(frozen=True, slots=True)
class Sample:
    """How the crawl was doing at a moment, for curves over time. A crawl keeps one a second at first, and later one for
    each thousandth of its age."""

    time_s: float
    run: int
    pages: int
    page_budget: int
    harvest: float | None  #: None before the first page
    recent_harvest: float | None
    regret: float | None
    frontier: int
    in_flight: int
    hosts_active: int
    hosts_waiting: int
    hosts_ready: int
    hosts_disabled: int
    skipped: int
    paused: bool


@dataclass(frozen=True, slots=True)
class RelevanceRecord:
    """A guide that was trained anew, and scores from visit `visit` on. `folder`, in that of the crawl, has the pages
    that it learnt from."""

    visit: int
    time_s: float
    relevance: str
    folder: str
    n_positive: int
    n_negative: int


# The arrays of visits that follow each other, joined into one row of the database, and cut apart again.
#
# `lengths` has three numbers a visit: of its links, predictions and anchors; -1 stands for an array that is not
# there.

_NO_ARRAY = -1
_LINKS, _PREDICTED, _ANCHORS = 0, 1, 2


def joined_arrays(rows: list[VisitRecord]) -> tuple[int, bytes, bytes, bytes, bytes]:
    """The first visit, then lengths, links, predictions and anchors of all."""
    lengths = [(len(row.links), _length(row.predicted), _length(row.anchors)) for row in rows]
    return (
        rows[0].visit,
        np.array(lengths, np.int32).tobytes(),
        b"".join(row.links.astype(np.int32, copy=False).tobytes() for row in rows),
        _joined(row.predicted for row in rows),
        _joined(row.anchors for row in rows),
    )


class JoinedArrays:
    """What `joined_arrays` made: the arrays of the visits `first` to `end`."""

    def __init__(self, first: int, lengths: bytes, links: bytes, predicted: bytes, anchors: bytes) -> None:
        self.first = first
        self._lengths = np.frombuffer(lengths, np.int32).reshape(-1, 3)
        self._ends = np.maximum(self._lengths, 0).cumsum(axis=0)
        self._links = np.frombuffer(links, np.int32)
        self._predicted, self._anchors = np.frombuffer(predicted), np.frombuffer(anchors)

    @property
    def end(self) -> int:
        return self.first + len(self._lengths)

    def links(self, visit: int) -> IntArray:
        start, end, _ = self._span(visit, _LINKS)
        return self._links[start:end]

    def predicted(self, visit: int) -> FloatArray | None:
        start, end, is_there = self._span(visit, _PREDICTED)
        return self._predicted[start:end] if is_there else None

    def anchors(self, visit: int) -> FloatArray | None:
        start, end, is_there = self._span(visit, _ANCHORS)
        return self._anchors[start:end] if is_there else None

    def visits_with(self, page: int) -> IntArray:
        """The visits whose links hold the page."""
        places = np.flatnonzero(self._links == page)
        found = np.unique(np.searchsorted(self._ends[:, _LINKS], places, "right"))
        return (found + self.first).astype(np.int32)

    def _span(self, visit: int, kind: int) -> tuple[int, int, bool]:
        number = visit - self.first
        end, length = int(self._ends[number, kind]), int(self._lengths[number, kind])
        return end - max(0, length), end, length != _NO_ARRAY


def _length(array: FloatArray | None) -> int:
    return _NO_ARRAY if array is None else len(array)


def _joined(arrays: Iterable[FloatArray | None]) -> bytes:
    return b"".join(array.astype(np.float64, copy=False).tobytes() for array in arrays if array is not None)
