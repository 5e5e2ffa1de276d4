"""The indexes and tallies that the dashboard keeps: one for each folder, let go of when nobody uses them."""

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from asked_dashboard import Asker, ended_crawl
from scenthound.store.crawl_folder import DATABASE_FILE
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.search_index import PageSearch
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard import services as indexing
from scenthound.ui.dashboard.problems import Workers
from scenthound.ui.dashboard.queries import PagesOf
from scenthound.ui.dashboard.services import SearchIndexes
from stored_crawls import add_page, response
from timing import WAIT_S, wait_until

WORD = PagesOf("crawl", query="balloon")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Some crawls, copies of each other."""
    first = ended_crawl(tmp_path / "crawl0")
    return [first, *(Path(shutil.copytree(first, tmp_path / f"crawl{number}")) for number in range(1, 6))]


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> SearchIndexes:
    monkeypatch.setattr(indexing, "_MAX_INDEXES", 2)
    monkeypatch.setattr(indexing, "STEP_PAGES", 1)
    return SearchIndexes(Workers("test", 1, 50))


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of folders whose indexes were closed."""
    names: list[str] = []
    close = PageSearch.close

    def noted(search: PageSearch) -> None:
        names.append(search.file.parent.name)
        close(search)

    monkeypatch.setattr(PageSearch, "close", noted)
    return names


@contextmanager
def used(indexes: SearchIndexes, folder: Path) -> Iterator[tuple[Any, StoredCrawl]]:
    with StoredCrawl.open(folder) as crawl, indexes.of(crawl) as index:
        yield index, crawl


def come(wanted: Any) -> bool:
    return bool(wait_until(wanted))


def test_an_index_that_has_to_go_is_closed_when_its_last_user_leaves(
    indexes: SearchIndexes, folders: list[Path], closed: list[str]
) -> None:
    with used(indexes, folders[0]) as (index, crawl):
        assert come(lambda: index.told(crawl).indexed)
        for folder in folders[1:]:
            with used(indexes, folder):
                pass
        assert come(lambda: {"crawl1", "crawl2"} <= set(closed))
        assert "crawl0" not in closed
        assert index.found(WORD, crawl).found == index.told(crawl).indexed >= 1
    assert come(lambda: "crawl0" in closed)


def test_an_index_is_not_closed_while_it_grows(
    indexes: SearchIndexes, folders: list[Path], closed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grows, may_end = threading.Event(), threading.Event()
    index_on = PageSearch.index_on

    def slow(search: PageSearch, *asked: Any) -> bool:
        grows.set()
        assert may_end.wait(WAIT_S)
        return index_on(search, *asked)

    monkeypatch.setattr(PageSearch, "index_on", slow)
    for folder in folders[:4]:
        with used(indexes, folder):
            assert grows.wait(WAIT_S)
    # The others only wait for their turn, which is use enough.
    sleep(0.05)
    assert closed == []
    may_end.set()
    assert come(lambda: closed[:2] == ["crawl0", "crawl1"])


def test_many_who_ask_for_many_crawls_are_all_answered(indexes: SearchIndexes, folders: list[Path]) -> None:
    faults: list[Exception] = []

    def ask(number: int) -> None:
        try:
            for turn in range(40):
                with used(indexes, folders[(number * 5 + turn * 3) % len(folders)]) as (index, crawl):
                    index.found(WORD, crawl)
                    index.told(crawl)
        except Exception as fault:  # noqa: BLE001 - whatever it is, the test tells it
            faults.append(fault)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_a_copy_of_a_crawl_that_went_its_own_way_is_told_of_by_itself(folders: list[Path]) -> None:
    with sqlite3.connect(folders[1] / DATABASE_FILE) as database:
        database.execute("DELETE FROM visit WHERE visit >= 2")
    database.close()
    asker = Asker(folders[0].parent)
    whole, cut = (asker.get(f"/api/crawls/crawl{number}/hosts").json["hosts"] for number in (0, 1))
    assert [(host["host"], host["pages"]) for host in whole] == [("a.test", 2), ("b.test", 2)]
    assert [(host["host"], host["pages"]) for host in cut] == [("a.test", 2)]
    for number, n_pages in ((0, 4), (1, 2)):
        path = f"/api/crawls/crawl{number}/pages?query=balloon"
        assert come(lambda path=path, n_pages=n_pages: asker.get(path).json["found"] == n_pages)
        assert asker.get(path).json["indexing"]["indexed"] == n_pages


def test_the_index_of_a_folder_that_was_renamed_goes_on_growing(folders: list[Path]) -> None:
    asker = Asker(folders[0])
    before = "/api/crawls/crawl0/pages?query=balloon"
    assert come(lambda: asker.get(before).json["found"] == 4)
    moved = folders[0].rename(folders[0].with_name("moved"))
    with CrawlStore.open(moved) as store:
        add_page(store, 4, response("http://a.test/new", b"<title>New</title>balloon number 5"))
        store.commit()
    asker.dashboard._rooms.book._given = [moved]
    asker.dashboard._rooms.book._looked_s = None
    assert come(lambda: asker.get("/api/crawls/moved/pages?query=balloon").json["found"] == 5)
