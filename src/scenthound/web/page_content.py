"""The content of a page before its links are resolved: the result of both paths of the parser (`parse`)."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, IntArray
from scenthound.web.references import References, ResolvedLinks, resolve_in_table, resolve_texts
from scenthound.web.urls import encoded


class PageLinks(Protocol):
    """The links of a page, unresolved, in page order."""

    def nofollow(self) -> BoolArray:
        """Which of them have rel=nofollow."""

    def resolved(self, base_url: str, table: UrlTable | None, /) -> ResolvedLinks:
        """Resolve the links. With a table that can resolve they are numbers, as far as it knows them; the base URL must
        be canonical then."""


@dataclass(frozen=True, slots=True)
class ReferenceTexts:
    """Links as the texts of their href and rel attributes."""

    references: list[str]
    relations: list[str | None]

    def nofollow(self) -> BoolArray:
        return np.fromiter(map(is_nofollow, self.relations), np.bool_, len(self.relations))

    def resolved(self, base_url: str, table: UrlTable | None, /) -> ResolvedLinks:
        if table is None or not table.can_resolve:
            return resolve_texts(base_url, self.references)
        return resolve_in_table(base_url, References.of(map(encoded, self.references)), table)


def is_nofollow(relation: str | None) -> bool:
    return relation is not None and "nofollow" in relation.lower().split()


@dataclass(frozen=True, slots=True)
class PageContent:
    """`metas` are pairs of name and content; `words` are stem numbers; the anchor of a link is `words[start:end]`.
    `refresh` is the content of the first `<meta http-equiv=refresh>`."""

    title: str
    base_reference: str | None
    metas: list[tuple[str, str]]
    links: PageLinks
    words: IntArray
    start: IntArray
    end: IntArray
    refresh: str | None = None
