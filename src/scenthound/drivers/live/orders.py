"""What the engine wants done, and what it is told of it.

Rules
- Each order is answered once, or never, if the crawl is stopped before; a crawl that is taken up gives the orders
  without an answer once more.
- An answer has what decides about the crawl and nothing else: bodies go to the archive, not to the engine.
"""

from dataclasses import dataclass
from enum import StrEnum

from scenthound.frontier.found_urls import FoundUrls
from scenthound.model import FloatArray, IntArray
from scenthound.reasons import Reason

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

    reason: Reason
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
