"""Why a crawl took a page, or did not: what its folder knows of one URL."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from scenthound.errors import UsageError, printable
from scenthound.store.crawl_records import SkippedRecord, VisitRecord
from scenthound.store.export_pages import html_of
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.parse import anchors_of
from scenthound.web.urls import canonical

#: Parents that are told of; all are counted.
MOST_PARENTS = 10
#: URLs with the same beginning that are compared to find the nearest.
MOST_COMPARED = 200


class Fate(StrEnum):
    """What became of a page."""

    TAKEN = "taken"
    NOT_TAKEN = "not-taken"
    WAITING = "waiting"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Parent:
    """A visited page that links to the one in question, by the first of its links that does.

    `anchor` is the link's text, and None where the page itself has no such link: a sitemap of its host names it, or the
    page came from a recording. `context_relevance` and `anchor_relevance` are what the words around the link, and its
    own, promised to the strategy, if it goes by them.
    """

    url: str
    visit: int
    relevance: float
    anchor: str | None
    context_relevance: float | None
    anchor_relevance: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """All about one URL. `parents` are the first in order of discovery, `n_parents` counts all."""

    url: str
    fate: Fate
    asked_url: str | None = None  #: the address that the strategy asked for
    is_seed: bool = False
    visit: VisitRecord | None = None
    skipped: SkippedRecord | None = None
    parents: tuple[Parent, ...] = ()
    n_parents: int = 0
    nearest: str | None = None  #: of an unknown URL


def explain(folder: str | Path, url: str) -> Explanation:
    """What the crawl in a folder knows of a URL, also while it is running."""
    with StoredCrawl.open(folder) as crawl:
        return _Witness(crawl).explain(url)


def explain_visit(crawl: StoredCrawl, visit: int) -> Explanation:
    """Why a page was taken, by the number of its visit: that is found without looking through all addresses."""
    row = next(crawl.visits(visit), None)
    if row is None:
        raise UsageError(f"There is no visit {visit:,}: the crawl has {crawl.counts().visits:,}, counted from 0.")
    return _Witness(crawl).with_parents(Explanation(row.url, Fate.TAKEN, visit=row), row.page)


class _Witness:
    """Answers for one crawl."""

    def __init__(self, crawl: StoredCrawl) -> None:
        self._crawl = crawl
        self._seeds = set(crawl.about.settings.get("seeds", ()))

    @cached_property
    def _urls(self) -> list[str]:
        return self._crawl.urls()

    @cached_property
    def _number(self) -> dict[str, int]:
        return {url: number for number, url in enumerate(self._urls)}

    def explain(self, written: str) -> Explanation:
        ways = _ways_to_write(written)
        for url in ways:
            found = self._found(url)
            if found is not None:
                return found
        return Explanation(ways[0], Fate.UNKNOWN, nearest=self._nearest(ways[-1]))

    def _found(self, url: str) -> Explanation | None:
        page = self._number.get(url)
        visit = None if page is None else self._crawl.visit_of_page(page)
        visit = visit or self._crawl.visit_of_url(url)
        if visit is not None:
            return self.with_parents(Explanation(url, Fate.TAKEN, visit=visit), visit.page)
        if page is None:
            return None
        row = self._crawl.skipped_page(page)
        fate = Fate.WAITING if row is None else Fate.NOT_TAKEN
        return self.with_parents(Explanation(url, fate, skipped=row), page)

    def with_parents(self, found: Explanation, page: int) -> Explanation:
        visits = self._crawl.parents_of(page).tolist()
        asked = self._crawl.url_of(page)
        parents = tuple(self._parent(visit, page, asked) for visit in visits[:MOST_PARENTS])
        return replace(found, asked_url=asked, is_seed=asked in self._seeds, parents=parents, n_parents=len(visits))

    def _parent(self, visit: int, page: int, url: str) -> Parent:
        row = next(self._crawl.visits(visit))
        place = int(np.flatnonzero(row.links == page)[0])
        return Parent(
            url=row.url,
            visit=visit,
            relevance=row.relevance,
            anchor=self._anchor(row, url),
            context_relevance=None if row.predicted is None else float(row.predicted[place]),
            anchor_relevance=None if row.anchors is None else float(row.anchors[place]),
        )

    def _anchor(self, parent: VisitRecord, url: str) -> str | None:
        if parent.location is None:
            return None
        obeys = self._crawl.about.settings.get("respect_nofollow", True)
        anchors = anchors_of(html_of(self._crawl.archive.record(parent.location)), parent.url)
        return next((each.text for each in anchors if each.url == url and not (obeys and each.nofollow)), None)

    def _nearest(self, url: str) -> str | None:
        """Of those that agree with it for longest: to compare all would take a minute where there are millions."""
        urls = self._urls
        # A beginning that some URL has is one whose own beginnings some URL has, so the longest is found by halving.
        n_alike = bisect_left(range(1, len(url) + 1), True, key=lambda n: not any(map(_begins(url[:n]), urls)))
        alike = islice(filter(_begins(url[:n_alike]), urls), MOST_COMPARED)
        return max(alike, key=lambda known: SequenceMatcher(None, known, url).ratio(), default=None)


def _ways_to_write(written: str) -> list[str]:
    """The URLs that may be meant; the scheme may be left out."""
    full = [written] if "://" in written else [f"https://{written}", f"http://{written}"]
    ways = [url for url in map(canonical, full) if url is not None]
    if not ways:
        raise UsageError(f"{printable(written, 200)!r} is no URL: write http:// or https:// before it.")
    return ways


def _begins(beginning: str) -> Callable[[str], bool]:
    return lambda known: known.startswith(beginning)
