"""What is done when a change is asked for: steer a crawl, label a page, train the guide anew. Called in threads.

What only training needs is loaded when somebody labels or trains: the dashboard should be there at once.
"""

from collections.abc import Callable
from pathlib import Path

from scenthound.dashboard.answers import Done, GuideQuality, Labels, Retrained
from scenthound.dashboard.page_answers import taken_pages
from scenthound.dashboard.problems import NotThere
from scenthound.dashboard.questions import BudgetOf, LabelOf, OfFolder
from scenthound.dashboard.rooms import Rooms
from scenthound.lab import steering
from scenthound.lab.labelling.labels import Labels as StoredLabels
from scenthound.store.page_lists import PageLists

#: Labelled pages that are listed, the latest first.
MOST_LABELLED = 200


def _steered(steer: Callable[[Path], str]) -> Callable[[Rooms, OfFolder], Done]:
    def change(rooms: Rooms, asked: OfFolder) -> Done:
        return Done(steer(rooms.book.crawl(asked.id).path))

    return change


pause = _steered(steering.pause)
go_on = _steered(steering.go_on)
stop = _steered(steering.stop)


def budget(rooms: Rooms, asked: BudgetOf) -> Done:
    return Done(steering.set_page_budget(rooms.book.crawl(asked.id).path, asked.pages))


def labels(rooms: Rooms, asked: OfFolder) -> Labels:
    with PageLists.open(rooms.book.crawl(asked.id).path) as crawl:
        return _labels(crawl)


def label(rooms: Rooms, asked: LabelOf) -> Labels:
    with PageLists.open(rooms.book.crawl(asked.id).path) as crawl:
        rows = crawl.visits_numbered([asked.visit])
        if not rows:
            raise NotThere(f"There is no visit {asked.visit:,}: the crawl has {crawl.n_visits():,}, counted from 0.")
        StoredLabels.of_crawl(crawl.folder, crawl.about.crawl_id).add(rows[0], asked.relevant)
        return _labels(crawl)


def retrain(rooms: Rooms, asked: OfFolder) -> Retrained:
    from scenthound.lab.labelling.retraining import retrain as retrain_guide

    folder = rooms.book.crawl(asked.id).path
    with rooms.trainings.of(folder):
        done = retrain_guide(folder)
    quality = GuideQuality(*(getattr(done.quality, name) for name in GuideQuality.__slots__))
    return Retrained(quality, done.taken_up, done.folder_name, done.command, done.says)


def _labels(crawl: PageLists) -> Labels:
    from scenthound.lab.labelling.training import missing_for_training

    by_visit = StoredLabels.of(crawl).by_visit()
    latest = list(by_visit)[::-1][:MOST_LABELLED]
    n_positive = sum(by_visit.values())
    return Labels(
        pages=taken_pages(crawl.visits_numbered(latest), crawl, by_visit),
        n_positive=n_positive,
        n_negative=len(by_visit) - n_positive,
        missing=missing_for_training(crawl.folder),
    )
