"""The responses of the API, as values that are written as JSON; `openapi` describes them.

Texts from crawled pages are plain texts: escape them where they are displayed. Times are seconds since 1970. Unknown
values are null.
"""

from dataclasses import dataclass
from typing import Literal

from scenthound.crawler.explain import Parent
from scenthound.crawler.state import State
from scenthound.experiments.retraining import ModelQuality
from scenthound.reasons import EndReason
from scenthound.store.crawl_records import CrawlStatus, PageVisit, RelevanceRecord, SkippedRecord
from scenthound.strategies.rank_file import Generation
from scenthound.ui.crawl_overview import HostPages

Kind = Literal["crawl", "run", "comparison", "study", "search", "validation", "web", "unreadable"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request failed: one or two sentences, and a command that may help."""

    message: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Done:
    """A command was accepted; a running crawl carries it out within a second."""

    message: str


# Folders


@dataclass(frozen=True, slots=True)
class Folder:
    """A result folder. `id` identifies it in URLs; `title` is a short description."""

    id: str
    name: str
    path: str
    kind: Kind
    title: str
    state: State | None = None
    pages: int | None = None
    page_budget: int | None = None
    harvest: float | None = None
    n_on_topic: int | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Folders:
    version: str
    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A result folder other than a crawl. `report` is the path of its report, `generations` the progress of a
    search."""

    id: str
    name: str
    path: str
    kind: Kind
    title: str
    summary: tuple[str, ...]
    facts: tuple[Fact, ...]
    report: str | None
    generations: tuple[Generation, ...] | None = None


# Crawls


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """The number of pages skipped for a reason; `text` describes the reason."""

    reason: str
    text: str
    pages: int


@dataclass(frozen=True, slots=True)
class OnTopic:
    """How a crawl decides which pages are on topic: those to which the relevance model gives a probability of at least
    `threshold`. After retraining, `relevance_model` names all models that scored pages."""

    relevance_model: str
    threshold: float


@dataclass(frozen=True, slots=True)
class Crawl:
    """The state of a crawl. `ended` is a sentence that says why it ended, `end_reason` its code; `resume_command` is
    null if it cannot be resumed. Harvests of crawls with the same `scored_by` are comparable."""

    id: str
    name: str
    path: str
    topic: str
    keywords: tuple[str, ...]
    strategy: str
    relevance_model: str
    on_topic: OnTopic | None  #: null if the scores are no probabilities
    scored_by: str
    state: State
    ended: str | None
    end_reason: EndReason | None  #: null if it has not ended, or died
    resume_command: str | None
    status: CrawlStatus | None  #: null in the first second
    reasons: tuple[ReasonCount, ...]  #: most frequent first
    relevance_models: tuple[RelevanceRecord, ...]
    n_labels: int
    settings: tuple[Fact, ...]


#: Time series of a crawl, as arrays of the same length by name: after `seconds` of active time (without pauses and the
#: time between runs) it had visited `pages`, and so on. `pages_per_s` is over the last ten seconds.
Curves = dict[str, tuple[float | None, ...]]


@dataclass(frozen=True, slots=True)
class TopHosts:
    """The hosts with most pages."""

    hosts: tuple[HostPages, ...]
    n_hosts: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """The number of pages that both of two crawls visited, or only one of them."""

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    jaccard: float


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several crawls, in the order of the request. `overlaps` is null if they are too large to compare their pages."""

    crawls: tuple[Crawl, ...]
    curves: tuple[Curves, ...]
    overlaps: tuple[Overlap, ...] | None


# Pages


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitedPage(PageVisit):
    """A visited page. `score` is null for seeds and for strategies without scores. `label` was set by a person;
    `excerpt` is the text around the search terms."""

    n_links: int
    is_seed: bool
    label: bool | None
    excerpt: str | None = None


@dataclass(frozen=True, slots=True)
class Indexing:
    """The progress of the search index; pages that are not indexed yet are not found."""

    indexed: int
    pages: int
    running: bool


@dataclass(frozen=True, slots=True)
class Pages:
    """`next` is the value of `from` for the next request; null at the end. `found` is the total, if it is known."""

    pages: tuple[VisitedPage, ...]
    next: int | None
    found: int | None
    indexing: Indexing | None


@dataclass(frozen=True, slots=True)
class SkippedPage(SkippedRecord):
    """A skipped page; `text` describes the reason."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class SkippedPages:
    pages: tuple[SkippedPage, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a page was visited or not. `nearest` is the most similar URL, if this one is unknown; `text` is the beginning
    of the page's text."""

    url: str
    outcome: str
    sentences: tuple[str, ...]
    is_seed: bool
    page: VisitedPage | None
    skipped: SkippedPage | None
    parents: tuple[Parent, ...]
    n_parents: int
    nearest: str | None
    text: str | None


# Labels and retraining


@dataclass(frozen=True, slots=True)
class Labels:
    """Labelled pages, latest first. `missing` says what is needed to retrain the relevance model; null if nothing."""

    pages: tuple[VisitedPage, ...]
    n_positive: int
    n_negative: int
    missing: str | None


@dataclass(frozen=True, slots=True)
class Retrained:
    """The retrained relevance model. `applied`: a running crawl uses it within a second or two. `command` starts a new
    crawl with it."""

    quality: ModelQuality
    applied: bool
    folder: str
    command: str
    message: str


# Columns and live updates


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


@dataclass(frozen=True, slots=True)
class Live:
    """An update of a running crawl: its state, the new points of its curves, and the latest pages."""

    crawl: Crawl
    new: Curves
    latest: tuple[VisitedPage, ...]
