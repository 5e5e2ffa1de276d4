"""The order in which a refresh checks pages."""

from contextlib import closing
from pathlib import Path

from scenthound.crawler.check_order import in_order, known_pages
from scenthound.store.crawl_records import CheckOutcome, CheckRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import NOON_S, add_page, new_crawl, response, visit

DAY_S = 86_400.0
UNCHANGED, CHANGED, GONE = CheckOutcome.UNCHANGED, CheckOutcome.CHANGED, CheckOutcome.GONE


def a_crawl(folder: Path, *hosts: str, modified: dict[int, str] | None = None) -> Path:
    """A page of each host; later ones are less relevant."""
    with new_crawl(folder) as store:
        for number, host in enumerate(hosts):
            lines = [f"Last-Modified: {(modified or {})[number]}"] if number in (modified or {}) else []
            page = response(f"http://{host}/{number}", headers=("Content-Type: text/html", *lines))
            add_page(store, number, page, relevance=0.9 - number / 100, time_s=NOON_S)
        store.commit()
    return folder


def checked(folder: Path, day: int, *outcomes: CheckOutcome) -> None:
    """A check of each page, after this many days."""
    with closing(CrawlStore.open(folder)) as store:
        for number, (row, outcome) in enumerate(zip(store.visits(), outcomes, strict=True)):
            location = row.location if outcome in (UNCHANGED, CHANGED) else None
            store.add(
                CheckRecord(
                    visit=number,
                    refresh=day,
                    time_s=NOON_S + day * DAY_S,
                    outcome=outcome,
                    url=row.url,
                    location=location,
                    relevance=row.relevance,
                    status=200,
                )
            )
        store.commit()


def order(folder: Path, day: float) -> list[int]:
    with StoredCrawl.open(folder) as crawl:
        return [page.visit for page in in_order(known_pages(crawl), NOON_S + day * DAY_S)]


def test_of_pages_that_nothing_is_known_of_the_most_relevant_is_first(tmp_path: Path) -> None:
    assert order(a_crawl(tmp_path / "crawl", *["a.test"] * 4), 1) == [0, 1, 2, 3]


def test_pages_that_were_modified_lately_come_first(tmp_path: Path) -> None:
    modified = {0: "Mon, 05 Jan 2015 08:00:00 GMT", 2: "Fri, 30 Jan 2026 08:00:00 GMT"}
    assert order(a_crawl(tmp_path / "crawl", *["a.test"] * 3, modified=modified), 1) == [2, 1, 0]


def test_pages_that_change_often_come_first_and_those_that_are_gone_last(tmp_path: Path) -> None:
    folder = a_crawl(tmp_path / "crawl", "a.test", "a.test", "b.test", "b.test")
    for day in (1, 2, 3):
        checked(folder, day, GONE, UNCHANGED, UNCHANGED, CHANGED)
    assert order(folder, 4) == [3, 2, 1, 0]


def test_a_page_of_a_host_whose_pages_change_is_expected_to_change_too(tmp_path: Path) -> None:
    folder = a_crawl(tmp_path / "crawl", "old.test", "news.test", "old.test", "news.test")
    failed = CheckOutcome.FAILED
    checked(folder, 1, UNCHANGED, CHANGED, failed, failed)
    with StoredCrawl.open(folder) as crawl:
        known = known_pages(crawl)
    # Checks that failed say nothing: these pages were last seen at their visit.
    assert [each.seen_s for each in known] == [NOON_S + DAY_S] * 2 + [NOON_S] * 2
    assert [each.checked_in for each in known] == [1, 1, 1, 1]
    assert order(folder, 2) == [3, 1, 2, 0]


def test_pages_of_a_recorded_web_are_left_out(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add(visit(0))
        add_page(store, 1, response())
        store.commit()
    assert order(tmp_path / "crawl", 1) == [1]
