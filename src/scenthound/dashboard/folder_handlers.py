"""What is done for questions about all folders, about experiments, and about several crawls. Called in threads."""

from itertools import combinations

from scenthound.dashboard.answers import Experiment, Folders, Overlap, SideBySide
from scenthound.dashboard.crawl_answers import crawl_answer, curves_answer
from scenthound.dashboard.experiment_answers import experiment_answer
from scenthound.dashboard.questions import Chosen, OfFolder, Plain
from scenthound.dashboard.rooms import Rooms
from scenthound.lab.crawl_state import crawl_state
from scenthound.lab.overview.curves import shown_curves
from scenthound.lab.overview.overlap import in_common, page_numbers
from scenthound.store.page_lists import PageLists

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
            stored.append(PageLists.open(found.path))
            crawls.append(crawl_answer(found, stored[-1]))
            is_alive = crawl_state(stored[-1]).is_alive
            curves.append(curves_answer(shown_curves(stored[-1], is_alive=is_alive)))
        overlaps = _overlaps([found.id for found in chosen], stored)
    finally:
        for each in stored:
            each.close()
    return SideBySide(tuple(crawls), tuple(curves), overlaps)


def _overlaps(ids: list[str], stored: list[PageLists]) -> tuple[Overlap, ...] | None:
    if sum(crawl.n_visits() for crawl in stored) > MOST_HELD_TOGETHER:
        return None
    pages = [page_numbers(crawl) for crawl in stored]
    overlaps = []
    for first, second in combinations(range(len(ids)), 2):
        both = in_common(pages[first], pages[second])
        counts = both.both, both.only_first, both.only_second, both.jaccard
        overlaps.append(Overlap(ids[first], ids[second], *counts))
    return tuple(overlaps)
