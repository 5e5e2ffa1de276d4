"""What is done for each question about one crawl: open its folder, read, answer.

Rules
- Each answer opens the crawl for itself, which costs a millisecond or two. So no connection is ever shared, and a
  folder that was replaced meanwhile is read as it is now.
- These functions block. They are called in threads.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from scenthound.crawler import control as steering
from scenthound.crawler.explain import Explanation as Explained
from scenthound.crawler.explain import explain, explain_visit
from scenthound.crawler.state import crawl_state
from scenthound.experiments.labels import Labels as StoredLabels
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import display_curves
from scenthound.ui.dashboard.crawl_views import (
    column_infos,
    crawl_answer,
    curves_answer,
    explanation,
    labels_of,
    listed_pages,
    seeds_of,
    skipped_pages,
    taken_page,
    taken_pages,
)
from scenthound.ui.dashboard.folder_views import experiment_answer
from scenthound.ui.dashboard.problems import NotThere
from scenthound.ui.dashboard.queries import (
    AddressOf,
    BudgetOf,
    Chosen,
    LabelOf,
    OfFolder,
    PageOf,
    PagesOf,
    Plain,
    SkippedOf,
)
from scenthound.ui.dashboard.responses import (
    Columns,
    Crawl,
    Curves,
    Done,
    Experiment,
    Explanation,
    Folders,
    Labels,
    ModelQuality,
    Overlap,
    Pages,
    Retrained,
    SideBySide,
    SkippedPages,
    TopHosts,
)
from scenthound.ui.dashboard.services import Rooms
from scenthound.ui.link_graph import CrawlGraph, crawl_graph, in_common, page_numbers

#: Of a page's text.
MOST_TEXT_LETTERS = 2_000


def columns(_rooms: Rooms, _asked: Plain) -> Columns:
    return column_infos()


def crawl(rooms: Rooms, asked: OfFolder) -> Crawl:
    found = rooms.book.crawl(asked.id)
    with StoredCrawl.open(found.path) as stored:
        return crawl_answer(found, stored)


def curves(rooms: Rooms, asked: OfFolder) -> Curves:
    with StoredCrawl.open(rooms.book.crawl(asked.id).path) as stored:
        return curves_answer(display_curves(stored, is_alive=crawl_state(stored).is_alive))


def pages(rooms: Rooms, asked: PagesOf) -> Pages:
    found = rooms.book.crawl(asked.id)
    with StoredCrawl.open(found.path) as stored, rooms.indexes.of(stored) as indexing:
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
    with StoredCrawl.open(rooms.book.crawl(asked.id).path) as stored:
        if asked.visit >= stored.n_visits():
            raise NotThere(f"There is no visit {asked.visit:,}: the crawl has {stored.n_visits():,}, counted from 0.")
        return _explained(stored, explain_visit(stored, asked.visit))


def explained(rooms: Rooms, asked: AddressOf) -> Explanation:
    found = rooms.book.crawl(asked.id)
    told = explain(found.path, asked.url.strip())
    with StoredCrawl.open(found.path) as stored:
        return _explained(stored, told)


def skipped(rooms: Rooms, asked: SkippedOf) -> SkippedPages:
    with StoredCrawl.open(rooms.book.crawl(asked.id).path) as stored:
        return skipped_pages(stored, asked)


def hosts(rooms: Rooms, asked: OfFolder) -> TopHosts:
    with StoredCrawl.open(rooms.book.crawl(asked.id).path) as stored:
        return rooms.tallies.top_of(stored)


def graph(rooms: Rooms, asked: OfFolder) -> CrawlGraph:
    with StoredCrawl.open(rooms.book.crawl(asked.id).path) as stored:
        return crawl_graph(stored)


def _explained(stored: StoredCrawl, told: Explained) -> Explanation:
    text = None if told.visit is None else stored.text_of(told.visit)[:MOST_TEXT_LETTERS]
    return explanation(told, stored, labels_of(stored), text or None)


# What is done for questions about all folders, about experiments, and about several crawls. Called in threads.

#: Pages of all crawls that are held together at most; more take long.
MOST_HELD_TOGETHER = 3_000_000


def folders(rooms: Rooms, _asked: Plain) -> Folders:
    return rooms.glances.all()


def experiment(rooms: Rooms, asked: OfFolder) -> Experiment:
    return experiment_answer(rooms.book.experiment(asked.id))


def compare(rooms: Rooms, asked: Chosen) -> SideBySide:
    chosen = [rooms.book.crawl(each) for each in dict.fromkeys(asked.crawl)]
    crawls, curves, stored = [], [], []
    try:
        for found in chosen:
            stored.append(StoredCrawl.open(found.path))
            crawls.append(crawl_answer(found, stored[-1]))
            is_alive = crawl_state(stored[-1]).is_alive
            curves.append(curves_answer(display_curves(stored[-1], is_alive=is_alive)))
        overlaps = _overlaps([found.id for found in chosen], stored)
    finally:
        for each in stored:
            each.close()
    return SideBySide(tuple(crawls), tuple(curves), overlaps)


def _overlaps(ids: list[str], stored: list[StoredCrawl]) -> tuple[Overlap, ...] | None:
    if sum(crawl.n_visits() for crawl in stored) > MOST_HELD_TOGETHER:
        return None
    pages = [page_numbers(crawl) for crawl in stored]
    overlaps = []
    for first, second in combinations(range(len(ids)), 2):
        both = in_common(pages[first], pages[second])
        counts = both.both, both.only_first, both.only_second, both.jaccard
        overlaps.append(Overlap(ids[first], ids[second], *counts))
    return tuple(overlaps)


# What is done when a change is asked for: steer a crawl, label a page, train the guide anew. Called in threads.
#
# What only training needs is loaded when somebody labels or trains: the dashboard should be there at once.

#: Labelled pages that are listed, the latest first.
MOST_LABELLED = 200


def _steered(steer: Callable[[Path], str]) -> Callable[[Rooms, OfFolder], Done]:
    def change(rooms: Rooms, asked: OfFolder) -> Done:
        return Done(steer(rooms.book.crawl(asked.id).path))

    return change


pause = _steered(steering.pause)
resume = _steered(steering.resume)
stop = _steered(steering.stop)


def budget(rooms: Rooms, asked: BudgetOf) -> Done:
    return Done(steering.set_page_budget(rooms.book.crawl(asked.id).path, asked.pages))


def labels(rooms: Rooms, asked: OfFolder) -> Labels:
    with StoredCrawl.open(rooms.book.crawl(asked.id).path) as crawl:
        return _labels(crawl)


def label(rooms: Rooms, asked: LabelOf) -> Labels:
    with StoredCrawl.open(rooms.book.crawl(asked.id).path) as crawl:
        rows = crawl.visits_numbered([asked.visit])
        if not rows:
            raise NotThere(f"There is no visit {asked.visit:,}: the crawl has {crawl.n_visits():,}, counted from 0.")
        StoredLabels.of_crawl(crawl.folder, crawl.about.crawl_id).add(rows[0], asked.relevant)
        return _labels(crawl)


def retrain(rooms: Rooms, asked: OfFolder) -> Retrained:
    from scenthound.experiments.retraining import retrain as retrain_guide

    folder = rooms.book.crawl(asked.id).path
    with rooms.trainings.of(folder):
        done = retrain_guide(folder)
    quality = ModelQuality(*(getattr(done.quality, name) for name in ModelQuality.__slots__))
    return Retrained(quality, done.taken_up, done.folder_name, done.command, done.says)


def _labels(crawl: StoredCrawl) -> Labels:
    from scenthound.experiments.retraining import missing_for_training

    by_visit = StoredLabels.of(crawl).by_visit()
    latest = list(by_visit)[::-1][:MOST_LABELLED]
    n_positive = sum(by_visit.values())
    return Labels(
        pages=taken_pages(crawl.visits_numbered(latest), crawl, by_visit),
        n_positive=n_positive,
        n_negative=len(by_visit) - n_positive,
        missing=missing_for_training(crawl.folder),
    )
