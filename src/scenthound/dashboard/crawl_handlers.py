"""What is done for each question about one crawl: open its folder, read, answer.

Rules
- Each answer opens the crawl for itself, which costs a millisecond or two. So no connection is ever shared, and a
  folder that was replaced meanwhile is read as it is now.
- These functions block. They are called in threads.
"""

from dataclasses import replace

from scenthound.dashboard.answers import (
    Crawl,
    Curves,
    Explanation,
    Pages,
    RefusedPages,
    TopHosts,
)
from scenthound.dashboard.crawl_answers import crawl_answer, curves_answer, labels_of
from scenthound.dashboard.page_answers import explanation, listed_pages, refused_pages, seeds_of, taken_page
from scenthound.dashboard.problems import NotThere
from scenthound.dashboard.questions import AddressOf, OfFolder, PageOf, PagesOf, RefusedOf
from scenthound.dashboard.rooms import Rooms
from scenthound.lab.crawl_state import crawl_state
from scenthound.lab.explain import Explanation as Explained
from scenthound.lab.explain import explain, explain_visit
from scenthound.lab.overview.curves import shown_curves
from scenthound.lab.overview.link_graph import CrawlGraph, crawl_graph
from scenthound.store.page_lists import PageLists
from scenthound.store.stored_text import text_of_visit

#: Of a page's text.
MOST_TEXT_LETTERS = 2_000


def crawl(rooms: Rooms, asked: OfFolder) -> Crawl:
    found = rooms.book.crawl(asked.id)
    with PageLists.open(found.path) as stored:
        return crawl_answer(found, stored)


def curves(rooms: Rooms, asked: OfFolder) -> Curves:
    with PageLists.open(rooms.book.crawl(asked.id).path) as stored:
        return curves_answer(shown_curves(stored, is_alive=crawl_state(stored).is_alive))


def pages(rooms: Rooms, asked: PagesOf) -> Pages:
    found = rooms.book.crawl(asked.id)
    with PageLists.open(found.path) as stored, rooms.indexes.of(stored) as indexing:
        labels = labels_of(stored)
        if not asked.query.strip():
            return replace(listed_pages(stored, asked, labels), indexing=indexing.told(stored))
        hits = indexing.found(asked, stored)
        seeds = seeds_of(stored)
        rows = stored.visits_numbered(hits.visits)
        shown = tuple(
            taken_page(row, stored, labels, seeds, indexing.excerpt(stored, row, asked.query)) for row in rows
        )
        return Pages(shown, hits.next, hits.found, indexing.told(stored))


def page(rooms: Rooms, asked: PageOf) -> Explanation:
    with PageLists.open(rooms.book.crawl(asked.id).path) as stored:
        if asked.visit >= stored.n_visits():
            raise NotThere(f"There is no visit {asked.visit:,}: the crawl has {stored.n_visits():,}, counted from 0.")
        return _explained(stored, explain_visit(stored, asked.visit))


def explained(rooms: Rooms, asked: AddressOf) -> Explanation:
    found = rooms.book.crawl(asked.id)
    told = explain(found.path, asked.url.strip())
    with PageLists.open(found.path) as stored:
        return _explained(stored, told)


def not_taken(rooms: Rooms, asked: RefusedOf) -> RefusedPages:
    with PageLists.open(rooms.book.crawl(asked.id).path) as stored:
        return refused_pages(stored, asked)


def hosts(rooms: Rooms, asked: OfFolder) -> TopHosts:
    with PageLists.open(rooms.book.crawl(asked.id).path) as stored:
        return rooms.tallies.top_of(stored)


def graph(rooms: Rooms, asked: OfFolder) -> CrawlGraph:
    with PageLists.open(rooms.book.crawl(asked.id).path) as stored:
        return crawl_graph(stored)


def _explained(stored: PageLists, told: Explained) -> Explanation:
    text = None if told.visit is None else text_of_visit(stored, told.visit)[:MOST_TEXT_LETTERS]
    return explanation(told, stored, labels_of(stored), text or None)
