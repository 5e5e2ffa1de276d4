"""What is known of the requests of a spider: URLs that were found, and pages that are in progress."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from scrapy import Request
from scrapy.http import Response

from scenthound.crawler.tasks import PageText
from scenthound.scrapy.order import ReadPage
from scenthound.web.urls import canonical

#: Pages of `Tally.recent`.
N_RECENT = 200


@dataclass(slots=True, eq=False)
class Found:
    """A URL that the spider has requested from a page; without a request if that was filtered, or sent already."""

    url: str
    request: Request | None


@dataclass(slots=True, eq=False)
class OpenPage:
    """A page whose request was sent, until its callback has finished."""

    page: int
    request: Request
    #: Whether the strategy has asked for it.
    was_asked: bool
    response: Response | None = None
    received_s: float = 0.0
    read: ReadPage | None = None
    found: list[Found] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """What became of the pages so far."""

    n_visited: int = 0
    n_on_topic: int = 0
    n_dropped: int = 0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=N_RECENT))


def url_of(request: Request) -> str:
    """The canonical URL of a request; the URL itself if it is not one of the web."""
    url: str = request.url
    return canonical(url) or url


def has_same_callback(one: Request, other: Request) -> bool:
    return bool(one.callback == other.callback and one.errback == other.errback and one.cb_kwargs == other.cb_kwargs)


def callback_name(request: Request) -> str:
    """The name of the method that receives the response."""
    return "parse" if request.callback is None else str(getattr(request.callback, "__name__", request.callback))


def without_text(url: str) -> ReadPage:
    """A response that cannot be parsed."""
    nothing = np.zeros(0, np.int32)
    none = np.zeros(0)
    return ReadPage(canonical(url) or url, 0.0, PageText(nothing, nothing, nothing), [], none, none)
