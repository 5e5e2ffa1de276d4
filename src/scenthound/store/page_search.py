"""Full-text search over the pages of a crawl, running or not: their titles, addresses and texts.

Rules
- A page can be found once it is in the index, which is brought up to date in steps; who searches sees how far it is.
- A page whose text is not in the crawl's archive, or cannot be read, is found by its title and its address.
- How pages are ordered and what may be typed is told in `search_query`. Of very many pages that have the words, the
  first that were taken are ordered, and the others not shown: it would take long, and tell nobody anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from uuid import UUID

from scenthound.errors import BadInput, printable
from scenthound.store.crawl_rows import VisitRow
from scenthound.store.search_index import PageWords, SearchIndex
from scenthound.store.search_query import SearchQuery, spaced
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.stored_text import text_of_visit

#: Pages that are ordered.
MOST_ORDERED = 20_000
_SEARCH = "SELECT rowid, -rank FROM page WHERE page MATCH ? AND rowid < ? ORDER BY rank LIMIT ? OFFSET ?"
_FIRST_TOO_MANY = "SELECT rowid FROM page WHERE page MATCH ? ORDER BY rowid LIMIT 1 OFFSET ?"
_NO_END = 1 << 62
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM page WHERE page MATCH ? LIMIT ?)"


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found: the more, the better its `score` among pages with the words as typed, or among those with
    other forms of them, which come behind."""

    visit: int
    score: float


class PageSearch:
    """The search over one crawl. Any thread may call; a step of indexing does not hold up who searches."""

    def __init__(self, folder: Path, crawl_id: UUID) -> None:
        self._crawl_id = crawl_id
        self._index = SearchIndex(folder, crawl_id)

    @classmethod
    def open(cls, crawl: StoredCrawl) -> "PageSearch":
        return cls(crawl.folder, crawl.about.crawl_id)

    def __enter__(self) -> "PageSearch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._index.close()

    @property
    def n_indexed(self) -> int:
        """How many pages can be found: the first so many of the crawl."""
        return self._index.n_pages

    def index_on(self, crawl: StoredCrawl, most_pages: int = 200) -> bool:
        """Take up the next pages of the crawl; True if there may be more. False also while somebody else is at it."""
        if crawl.about.crawl_id != self._crawl_id:
            raise BadInput(f"{printable(crawl.folder)} holds another crawl by now: open the search over it anew.")
        with self._index.adding() as adding:
            if adding is None:
                return False
            rows = islice(crawl.visits(adding.n_pages), most_pages)
            return adding.add(_words_of(crawl, rows)) == most_pages

    def search(self, typed: str, limit: int = 20, offset: int = 0) -> list[Hit]:
        """The best pages but the first `offset`."""
        query = SearchQuery.typed(typed)
        if not query:
            return []
        hits = self._hits(query.exact(), limit, offset)
        if query.has_forms and len(hits) < limit:
            n_exact = offset + len(hits) if hits else self._count(query.exact(), offset)
            hits += self._hits(query.only_other_forms(), limit - len(hits), offset - min(offset, n_exact))
        return hits

    def count(self, typed: str, most: int = 10_000) -> int:
        """How many pages there are, or `most` if there are more."""
        query = SearchQuery.typed(typed)
        return self._count(query.widened(), most) if query else 0

    def _hits(self, match: str, limit: int, offset: int) -> list[Hit]:
        too_many = self._index.read(_FIRST_TOO_MANY, match, MOST_ORDERED)
        end = too_many[0][0] if too_many else _NO_END
        return [Hit(visit, score) for visit, score in self._index.read(_SEARCH, match, end, limit, offset)]

    def _count(self, match: str, most: int) -> int:
        return int(self._index.read(_COUNT, match, most)[0][0])


def _words_of(crawl: StoredCrawl, rows: Iterator[VisitRow]) -> Iterator[PageWords]:
    for row in rows:
        # The first line of the text is the title once more.
        text = text_of_visit(crawl, row).partition("\n")[2]
        yield row.visit, spaced(row.title), row.url, spaced(text)
