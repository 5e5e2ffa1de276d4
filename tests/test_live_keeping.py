"""Answers wait for each other before they are archived; nobody who commits or reads back misses one."""

from pathlib import Path

import pytest

from scenthound.drivers.live import keeping, live_web
from scenthound.drivers.live.keeping import Keeper, TakenAnswer
from scenthound.drivers.live.orders import Kind, Order, Refused, RobotsFound
from scenthound.drivers.live.reading import Read
from scenthound.reasons import Reason
from scenthound.store.archive import ArchiveReader
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.fetch import Response
from virtual_site import crawl_virtually, plan, random_site, visited_urls


def taken(number: int, body: bytes = b"no such page") -> TakenAnswer:
    url = f"http://a.test/{number}"
    response = Response(url, 404, b"HTTP/1.1 404 Gone\r\n", body, body, False, "127.0.0.1", 0.0)
    order = Order(number, Kind.PAGE, url, 0)
    return TakenAnswer(float(number), order, Read(Refused(Reason.CLIENT_ERROR, status=404)), response, None)


def archived(store: CrawlStore) -> list[str]:
    store.commit()
    with ArchiveReader(store.folder / ARCHIVE_FOLDER) as archive:
        return [record.url for _, record in archive.records(store.archive_end()) if record.kind == "response"]


@pytest.fixture
def store(tmp_path: Path):
    with CrawlStore.create(tmp_path / "crawl", {}, ArchiveSettings("test")) as made:
        yield made


def test_answers_wait_until_there_are_many(store: CrawlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_WAITING", 3)
    keeper = Keeper(store)
    for number in range(2):
        keeper.add(taken(number))
    assert archived(store) == []
    keeper.add(taken(2))
    assert archived(store) == [f"http://a.test/{number}" for number in range(3)]
    keeper.add(taken(3))
    keeper.keep()
    keeper.keep()
    assert archived(store) == [f"http://a.test/{number}" for number in range(4)]


def test_large_answers_do_not_wait_in_numbers(store: CrawlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_BYTES", 1_000)
    keeper = Keeper(store)
    keeper.add(taken(0, b"x" * 600))
    assert archived(store) == []
    keeper.add(taken(1, b"x" * 400))
    keeper.add(taken(2, b"x" * 600))
    assert archived(store) == ["http://a.test/0", "http://a.test/1"]


def test_robots_txt_files_get_their_rows(store: CrawlStore) -> None:
    keeper = Keeper(store)
    order = Order(1, Kind.ROBOTS, "http://a.test/robots.txt", 0)
    keeper.add(TakenAnswer(5.0, order, Read(RobotsFound(200, b"User-agent: *", 0.1)), None, None))
    keeper.keep()
    store.commit()
    assert [(row.origin, row.time_s, row.status, row.body) for row in store.robots()] == [
        ("http://a.test/robots.txt", 5.0, 200, b"User-agent: *")
    ]


@pytest.mark.parametrize("strategy", ["infospiders", "link_context", "best_first"])
def test_a_crawl_is_the_same_however_many_answers_wait(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two or three pages are kept at hand, and only who reads others back commits: those of answers that still wait are
    asked for too."""
    monkeypatch.setattr(live_web, "TEXT_BYTES_AT_HAND", 3_000)
    monkeypatch.setattr(live_web, "LINK_BYTES_AT_HAND", 3_000)
    site = random_site(5, n_pages=90)
    settings = plan(tuple(list(site.pages)[:2]), strategy=strategy, relevance="cosine", page_budget=60)
    visited = []
    for most in (1, 7, 1_000):
        monkeypatch.setattr(keeping, "MOST_WAITING", most)
        folder = tmp_path / str(most)
        crawl_virtually(folder, settings, site, commit=lambda: False)
        visited.append(visited_urls(folder))
    assert len(visited[0]) > 40
    assert visited[0] == visited[1] == visited[2]
