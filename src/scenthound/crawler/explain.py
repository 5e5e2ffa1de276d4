"""Why a crawl visited or skipped a page: what its folder knows of one URL."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from scenthound.crawler.link_depths import LinkDepths
from scenthound.crawler.scope import Scope, ScopeFilter
from scenthound.errors import UsageError, printable
from scenthound.model import IntArray
from scenthound.reasons import SkipReason
from scenthound.records import from_json
from scenthound.store.crawl_records import CheckRecord, RenderedRecord, SkippedRecord, VisitRecord
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.parse import anchors_of
from scenthound.web.urls import canonical

#: Parents that are described; all are counted.
MAX_PARENTS = 10
#: URLs with the same prefix that are compared to find the most similar one.
MAX_COMPARED = 200


class Outcome(StrEnum):
    """What happened to a page."""

    VISITED = "visited"
    SKIPPED = "skipped"
    QUEUED = "queued"
    OUT_OF_SCOPE = "out of scope"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Parent:
    """A visited page that links to the page in question, with the first of these links.

    `anchor` is the link's text; None if the page itself has no such link, because a sitemap of its host lists it, or
    because the page came from a recorded web. `context_relevance` and `anchor_relevance` are the scores of the link's
    context and anchor, if the strategy uses them.
    """

    url: str
    visit: int
    relevance: float
    anchor: str | None
    context_relevance: float | None
    anchor_relevance: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What spoke for a page before its visit, or speaks for it now if it is queued: the mean relevance of the visited
    pages that link to it, compared with that of all visited pages."""

    n_parents: int
    relevance: float
    relevance_of_all: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of one URL. `parents` are the first in order of discovery, `n_parents` counts all."""

    url: str
    outcome: Outcome
    requested_url: str | None = None  #: before redirects
    is_seed: bool = False
    visit: VisitRecord | None = None  #: in its latest version
    checks: tuple[CheckRecord, ...] = ()  #: what refreshes found, in order
    rendering: RenderedRecord | None = None  #: what a browser made of it, if it was rendered
    skipped: SkippedRecord | None = None
    parents: tuple[Parent, ...] = ()
    n_parents: int = 0
    evidence: Evidence | None = None  #: None for seeds, and for pages without links from pages visited before
    nearest: str | None = None  #: the most similar known URL, if this one is unknown
    reason: SkipReason | None = None  #: why it is out of scope, and the option that excludes it
    excluded_by: str = ""


def explain(folder: str | Path, url: str) -> Explanation:
    """Explain a URL from a crawl folder, also while the crawl is running."""
    with StoredCrawl.open(folder) as crawl:
        return _Explainer(crawl).explain(url)


def explain_visit(crawl: StoredCrawl, visit: int) -> Explanation:
    """Explain a visit by its number, without a scan of all URLs."""
    row = next(crawl.visits(visit), None)
    if row is None:
        raise UsageError(f"There is no visit {visit:,}: the crawl has {crawl.n_visits():,}, counted from 0.")
    found = Explanation(row.url, Outcome.VISITED, visit=row, rendering=crawl.rendering_of(row))
    return _Explainer(crawl).with_parents(found, row.page)


def explained_page(crawl: StoredCrawl, page: int, url: str) -> Explanation:
    """Which visited pages link to a page that is queued, or was."""
    return _Explainer(crawl).with_parents(Explanation(url, Outcome.QUEUED), page)


class _Explainer:
    def __init__(self, crawl: StoredCrawl) -> None:
        self._crawl = crawl
        self._seeds = set(crawl.about.settings.get("seeds", ()))
        self._scope = from_json(Scope, crawl.about.settings.get("scope") or {}, crawl.folder)

    @cached_property
    def _urls(self) -> list[str]:
        return self._crawl.urls()

    def explain(self, typed: str) -> Explanation:
        candidates = _candidates(typed)
        for url in candidates:
            found = self._find(url)
            if found is not None:
                return found
        excluded_by = ScopeFilter(self._scope).exclusion(candidates[0])
        if excluded_by is not None:
            reason = SkipReason.OUT_OF_SCOPE
            return Explanation(candidates[0], Outcome.OUT_OF_SCOPE, reason=reason, excluded_by=excluded_by)
        return Explanation(candidates[0], Outcome.UNKNOWN, nearest=self._nearest(candidates[-1]))

    def _find(self, url: str) -> Explanation | None:
        page = self._urls.index(url) if url in self._urls else None
        visit = None if page is None else self._crawl.visit_of_page(page)
        visit = visit or self._crawl.visit_of_url(url)
        if visit is not None:
            checks = tuple(self._crawl.checks_of(visit.visit))
            rendering = self._crawl.rendering_of(visit)
            found = Explanation(url, Outcome.VISITED, visit=visit, checks=checks, rendering=rendering)
            return self.with_parents(found, visit.page)
        if page is None:
            return None
        row = self._crawl.skipped_page(page)
        if row is None and not self._is_in_reach(page):
            excluded_by = f"--max-depth {self._scope.max_depth}"
            found = Explanation(url, Outcome.OUT_OF_SCOPE, reason=SkipReason.MAX_DEPTH, excluded_by=excluded_by)
        else:
            found = Explanation(url, Outcome.QUEUED if row is None else Outcome.SKIPPED, skipped=row)
        return self.with_parents(found, page)

    def _is_in_reach(self, page: int) -> bool:
        """Whether a path leads to the page that is not longer than the maximum depth; reads all visits."""
        if self._scope.max_depth is None:
            return True
        links_of: dict[int, IntArray] = {}
        depths = LinkDepths(self._scope.max_depth, links_of.__getitem__, links_of.__contains__)
        depths.start([number for number, url in enumerate(self._urls) if url in self._seeds])
        for row in self._crawl.visits():
            links_of[row.page] = row.links
            depths.visit(row.page, row.links)
        return bool(depths.in_reach(np.array([page], np.int32))[0])

    def with_parents(self, found: Explanation, page: int) -> Explanation:
        visits = self._crawl.parents_of(page).tolist()
        url = self._crawl.url_of(page)
        parents = tuple(self._parent(visit, page, url) for visit in visits[:MAX_PARENTS])
        found = replace(found, requested_url=url, is_seed=url in self._seeds, parents=parents, n_parents=len(visits))
        return found if found.is_seed else replace(found, evidence=self._evidence(visits, found.visit))

    def _evidence(self, parents: list[int], visit: VisitRecord | None) -> Evidence | None:
        [relevance] = self._crawl.numbers(("relevance",), self._crawl.n_visits() if visit is None else visit.visit)
        before = [parent for parent in parents if parent < len(relevance)]
        if not before:
            return None
        return Evidence(len(before), float(relevance[before].mean()), float(relevance.mean()))

    def _parent(self, visit: int, page: int, url: str) -> Parent:
        row = next(self._crawl.visits(visit))
        position = int(np.flatnonzero(row.links == page)[0])
        return Parent(
            url=row.url,
            visit=visit,
            relevance=row.relevance,
            anchor=self._anchor(row, url),
            context_relevance=None if row.predicted is None else float(row.predicted[position]),
            anchor_relevance=None if row.anchors is None else float(row.anchors[position]),
        )

    def _anchor(self, parent: VisitRecord, url: str) -> str | None:
        if parent.location is None:
            return None
        respects_nofollow = self._crawl.about.settings.get("respect_nofollow", True)
        anchors = anchors_of(self._crawl.archive.record(parent.location).html, parent.url)
        followed = (each for each in anchors if not (respects_nofollow and each.nofollow))
        return next((each.text for each in followed if each.url == url), None)

    def _nearest(self, url: str) -> str | None:
        """The most similar of the URLs with the longest common prefix: comparing millions would take a minute."""
        urls = self._urls
        # If some URL has a prefix, some URL has all shorter ones, so the longest is found by bisection.
        n_common = bisect_left(range(1, len(url) + 1), True, key=lambda n: not any(map(_has_prefix(url[:n]), urls)))
        candidates = islice(filter(_has_prefix(url[:n_common]), urls), MAX_COMPARED)
        return max(candidates, key=lambda known: SequenceMatcher(None, known, url).ratio(), default=None)


def _candidates(typed: str) -> list[str]:
    """The URLs that may be meant; the scheme may be left out."""
    full = [typed] if "://" in typed else [f"https://{typed}", f"http://{typed}"]
    candidates = [url for url in map(canonical, full) if url is not None]
    if not candidates:
        raise UsageError(f"{printable(typed, 200)!r} is not a URL: start it with http:// or https://.")
    return candidates


def _has_prefix(prefix: str) -> Callable[[str], bool]:
    return lambda known: known.startswith(prefix)
