"""What was read in a page, before its links are resolved, whoever has read it."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, IntArray
from scenthound.web.urls import resolve_all


@dataclass(frozen=True, slots=True)
class ResolvedLinks:
    """Where links lead: `urls` of all or, beside `numbers`, of those that a table lacks, which are `NEW` there. Links
    that lead nowhere are left out of both; `leads` tells them, None if there are none."""

    urls: list[str]
    numbers: IntArray | None
    leads: BoolArray | None


class PageLinks(Protocol):
    """The links of a page as they are written, in page order."""

    def nofollow(self) -> BoolArray:
        """Which of them the page asks not to follow."""

    def resolved(self, base_url: str, table: UrlTable | None, /) -> ResolvedLinks:
        """Where they lead. With a table that finds pieces, those that it has may be told by their numbers; the base is
        canonical then."""


@dataclass(frozen=True, slots=True)
class WrittenLinks:
    """The text of references and of their relations."""

    references: list[str]
    relations: list[str | None]

    def nofollow(self) -> BoolArray:
        return np.fromiter(map(is_nofollow, self.relations), np.bool_, len(self.relations))

    def resolved(self, base_url: str, _table: UrlTable | None, /) -> ResolvedLinks:
        return resolved_text(base_url, self.references)


def resolved_text(base_url: str, references: list[str]) -> ResolvedLinks:
    """Where references lead, all told as text."""
    resolved = resolve_all(base_url, references)
    urls = [url for url in resolved if url is not None]
    if len(urls) == len(resolved):
        return ResolvedLinks(urls, None, None)
    return ResolvedLinks(urls, None, np.array([url is not None for url in resolved], np.bool_))


def is_nofollow(relation: str | None) -> bool:
    return relation is not None and "nofollow" in relation.lower().split()


@dataclass(frozen=True, slots=True)
class PageContent:
    """`metas` are names and contents; `words` are numbers, and the anchor of a link is `words[start:end]`."""

    title: str
    base_reference: str | None
    metas: list[tuple[str, str]]
    links: PageLinks
    words: IntArray
    start: IntArray
    end: IntArray
