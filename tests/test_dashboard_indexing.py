"""Search indexes and host counts of the dashboard: one for each folder, closed when unused."""

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dashboard_client import Client, ended_crawl
from scenthound.store.crawl_folder import DATABASE_FILE
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.search_index import PageSearch
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard import services
from scenthound.ui.dashboard.problems import Workers
from scenthound.ui.dashboard.queries import PagesQuery
from scenthound.ui.dashboard.services import SearchIndexes
from stored_crawls import add_page, response
from timing import WAIT_S, wait_until

QUERY = PagesQuery("crawl", query="balloon")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Copies of a crawl."""
    first = ended_crawl(tmp_path / "crawl0")
    return [first, *(Path(shutil.copytree(first, tmp_path / f"crawl{number}")) for number in range(1, 6))]


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> SearchIndexes:
    monkeypatch.setattr(services, "_MAX_INDEXES", 2)
    monkeypatch.setattr(services, "PAGES_PER_STEP", 1)
    return SearchIndexes(Workers("test", 1, 50))


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the folders whose indexes were closed."""
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


def test_an_evicted_index_is_closed_when_its_last_user_releases_it(
    indexes: SearchIndexes, folders: list[Path], closed: list[str]
) -> None:
    with used(indexes, folders[0]) as (index, crawl):
        assert wait_until(lambda: index.progress(crawl).indexed)
        for folder in folders[1:]:
            with used(indexes, folder):
                pass
        assert wait_until(lambda: {"crawl1", "crawl2"} <= set(closed))
        assert "crawl0" not in closed
        assert index.search(QUERY, crawl).n_found == index.progress(crawl).indexed >= 1
    assert wait_until(lambda: "crawl0" in closed)


def test_an_index_is_not_closed_while_it_grows(
    indexes: SearchIndexes, folders: list[Path], closed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grows, may_end = threading.Event(), threading.Event()
    index_on = PageSearch.index_on

    def slow(search: PageSearch, *arguments: Any) -> bool:
        grows.set()
        assert may_end.wait(WAIT_S)
        return index_on(search, *arguments)

    monkeypatch.setattr(PageSearch, "index_on", slow)
    for folder in folders[:4]:
        with used(indexes, folder):
            assert grows.wait(WAIT_S)
    # The steps of the others are queued, so their indexes are in use.
    assert closed == []
    may_end.set()
    assert wait_until(lambda: closed[:2] == ["crawl0", "crawl1"])


def test_concurrent_requests_for_many_crawls_succeed(indexes: SearchIndexes, folders: list[Path]) -> None:
    errors: list[Exception] = []

    def request(number: int) -> None:
        try:
            for turn in range(40):
                with used(indexes, folders[(number * 5 + turn * 3) % len(folders)]) as (index, crawl):
                    index.search(QUERY, crawl)
                    index.progress(crawl)
        except Exception as error:  # noqa: BLE001 - asserted below
            errors.append(error)

    threads = [threading.Thread(target=request, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_changed_copy_of_a_crawl_has_its_own_index_and_counts(folders: list[Path]) -> None:
    with sqlite3.connect(folders[1] / DATABASE_FILE) as database:
        database.execute("DELETE FROM visit WHERE visit >= 2")
    database.close()
    client = Client(folders[0].parent)
    complete, cut = (client.get(f"/api/crawls/crawl{number}/hosts").json["hosts"] for number in (0, 1))
    assert [(host["host"], host["pages"]) for host in complete] == [("a.test", 2), ("b.test", 2)]
    assert [(host["host"], host["pages"]) for host in cut] == [("a.test", 2)]
    for number, n_pages in ((0, 4), (1, 2)):
        path = f"/api/crawls/crawl{number}/pages?query=balloon"
        assert wait_until(lambda path=path, n_pages=n_pages: client.get(path).json["found"] == n_pages)
        assert client.get(path).json["indexing"]["indexed"] == n_pages


def test_the_index_of_a_renamed_folder_continues_to_grow(folders: list[Path]) -> None:
    client = Client(folders[0])
    before = "/api/crawls/crawl0/pages?query=balloon"
    assert wait_until(lambda: client.get(before).json["found"] == 4)
    moved = folders[0].rename(folders[0].with_name("moved"))
    with CrawlStore.open(moved) as store:
        add_page(store, 4, response("http://a.test/new", b"<title>New</title>balloon number 5"))
        store.commit()
    client.dashboard.services.folders._roots = [moved]
    client.dashboard.services.folders._searched_s = None
    assert wait_until(lambda: client.get("/api/crawls/moved/pages?query=balloon").json["found"] == 5)
