"""What the API tells of pages: lists of them, and why one was taken or was not."""

from dataclasses import dataclass
from typing import Literal

Order = Literal["latest", "first", "best", "worst"]


@dataclass(frozen=True, slots=True)
class TakenPage:
    """A page that was taken. `score` is what the strategy asked for it with; null for seeds and for strategies without
    scores. `label` is what a person said of it; `excerpt` the place where what was searched for stands."""

    visit: int
    url: str
    title: str
    time_s: float
    relevance: float
    score: float | None
    regret: float | None
    rank: int
    waiting: int
    status: int
    content_bytes: int
    links: int
    is_seed: bool
    label: bool | None
    excerpt: str | None = None


@dataclass(frozen=True, slots=True)
class Indexing:
    """How much of the crawl can be searched for words; what is not indexed yet is not found."""

    indexed: int
    pages: int
    running: bool


@dataclass(frozen=True, slots=True)
class Pages:
    """`next` is the value of `from` for the next pages; null at the end. `found`: how many in all, if that is known."""

    pages: tuple[TakenPage, ...]
    next: int | None
    found: int | None
    indexing: Indexing | None


@dataclass(frozen=True, slots=True)
class LinkingPage:
    url: str
    visit: int
    relevance: float
    anchor: str | None
    context_relevance: float | None
    anchor_relevance: float | None


@dataclass(frozen=True, slots=True)
class RefusedPage:
    url: str
    reason: str
    told: str
    detail: str
    time_s: float
    status: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a page was taken, or was not: `fate` is taken, not-taken, waiting or unknown, `says` tells it in words."""

    url: str
    fate: str
    says: tuple[str, ...]
    is_seed: bool
    page: TakenPage | None
    refused: RefusedPage | None
    parents: tuple[LinkingPage, ...]
    n_parents: int
    nearest: str | None
    text: str | None  #: the beginning of the page's text


@dataclass(frozen=True, slots=True)
class RefusedPages:
    pages: tuple[RefusedPage, ...]
    next: int | None
