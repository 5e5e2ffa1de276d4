"""What the API answers with. The pages are made from these answers and from nothing else.

Rules
- Every answer is a value of one of these classes, written as JSON; `openapi` describes the API from them.
- Texts that came from crawled pages are plain: whoever shows them writes them as text.
- Moments are seconds since 1970; what is not known is null.
"""

from dataclasses import dataclass
from typing import Literal

from scenthound.store.crawl_records import CrawlStatus, PageVisit, SkippedRecord

# What answers of all kinds are made of.


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something cannot be shown or done: `says` is one or two sentences, `command` what may help."""

    says: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Done:
    """A change was asked for; a running crawl carries it out within a second."""

    says: str


# What the API tells of folders: which there are, and what experiments came to.

Kind = Literal["crawl", "run", "comparison", "study", "search", "validation", "web", "unreadable"]
#: `died`: the process ended without a word. `stopped`: it was told to stop, and can go on. `ended`: by itself.
State = Literal["running", "paused", "ending", "ended", "stopped", "died", "not begun"]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that the dashboard was given, or found in one. `id` stands in addresses."""

    id: str
    name: str
    path: str
    kind: Kind
    title: str  #: what it is about, in a few words
    state: State | None  #: of a crawl, or of a search
    pages: int | None
    page_budget: int | None
    harvest: float | None
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class Folders:
    version: str
    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """A genetic search after each generation: the best fitness so far, and the mean of its population. Generation
    0, where there is one, is what it began with."""

    generation: tuple[int, ...]
    best: tuple[float, ...]
    mean: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A folder of the laboratory. `report` is the address of its page, if it has one yet."""

    id: str
    name: str
    path: str
    kind: Kind
    title: str
    summary: tuple[str, ...]
    facts: tuple[Fact, ...]
    report: str | None
    search: SearchProgress | None


# What the API tells of a crawl: how it stands, how it went, its hosts and links.


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How many pages were skipped for a reason; `text` describes it."""

    reason: str
    text: str
    pages: int


@dataclass(frozen=True, slots=True)
class ModelInfo:
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
    relevance_model: str
    scored_by: str
    state: State
    ended: str | None
    resume_command: str | None
    status: CrawlStatus | None  #: null in the first second, and for crawls made before 0.6
    reasons: tuple[ReasonCount, ...]  #: the most frequent first
    relevance_models: tuple[ModelInfo, ...]
    n_labels: int
    settings: tuple[Fact, ...]


#: How a crawl went, as arrays of one length, by name: after `seconds` of work (pauses and the time between runs left
#: out) it had so many `pages`, and so on. `pages_per_s` is of the last ten seconds. Unknown numbers are null.
Curves = dict[str, tuple[float | None, ...]]


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


# What the API tells of pages: lists of them, and why one was taken or was not.

Order = Literal["latest", "first", "best", "worst"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitedPage(PageVisit):
    """A visited page. `score` is null for seeds and for strategies without scores. `label` is that of a person;
    `excerpt` is the text around the words that were searched for."""

    n_links: int
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

    pages: tuple[VisitedPage, ...]
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
class SkippedPage(SkippedRecord):
    """A skipped page; `text` describes the reason."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a page was visited or skipped: `outcome` is visited, skipped, queued or unknown; `says` explains it."""

    url: str
    outcome: str
    says: tuple[str, ...]
    is_seed: bool
    page: VisitedPage | None
    skipped: SkippedPage | None
    parents: tuple[LinkingPage, ...]
    n_parents: int
    nearest: str | None
    text: str | None  #: the beginning of the page's text


@dataclass(frozen=True, slots=True)
class SkippedPages:
    pages: tuple[SkippedPage, ...]
    next: int | None


# What the API tells of labels, and of a guide that was trained on them.


@dataclass(frozen=True, slots=True)
class ModelQuality:
    """How well labelled pages are told apart: `area_before` (the guide so far) and `area_after` (the new one) are the
    chance that a relevant page scores above another: 0.5 is nothing, null is not known. Each is of pages that the guide
    did not learn from."""

    area_before: float | None
    area_after: float | None
    n_positive: int
    n_negative: int


@dataclass(frozen=True, slots=True)
class Labels:
    """Pages that a person labelled, the latest first. `missing` says what a new guide still needs, and is null
    when it needs nothing."""

    pages: tuple[VisitedPage, ...]
    n_positive: int
    n_negative: int
    missing: str | None


@dataclass(frozen=True, slots=True)
class Retrained:
    """What came of training the guide anew. A running crawl takes it up within a second or two (`taken_up`); `command`
    starts a crawl by it."""

    quality: ModelQuality
    taken_up: bool
    folder: str
    command: str
    says: str


# How records are displayed.


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A field of a record: its title, unit and description. `listed` is how a list of pages formats it, and
    `host_state` the state of the hosts that it counts."""

    name: str
    title: str
    unit: str
    help: str
    listed: str | None
    host_state: str | None


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields of pages and of the status, in display order."""

    page: tuple[ColumnInfo, ...]
    status: tuple[ColumnInfo, ...]


# What is sent while a crawl is watched.


@dataclass(frozen=True, slots=True)
class Live:
    """What is sent while a crawl is watched: how it stands, the curve's new points and the latest pages."""

    crawl: Crawl
    new: Curves
    latest: tuple[VisitedPage, ...]
