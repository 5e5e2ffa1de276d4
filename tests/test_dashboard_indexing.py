"""Search indexes and host counts of the dashboard: one for each folder."""

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
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard import services
from scenthound.ui.dashboard.parameters import PagesQuery
from scenthound.ui.dashboard.services import SearchIndexes
from stored_crawls import add_page, response
from timing import wait_until

QUERY = PagesQuery(query="balloon")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Copies of a crawl."""
    first = ended_crawl(tmp_path / "crawl0")
    return [first, *(Path(shutil.copytree(first, tmp_path / f"crawl{number}")) for number in range(1, 6))]


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> SearchIndexes:
    monkeypatch.setattr(services, "_MAX_INDEXES", 2)
    monkeypatch.setattr(services, "PAGES_PER_STEP", 1)
    return SearchIndexes()


@contextmanager
def used(indexes: SearchIndexes, folder: Path) -> Iterator[tuple[Any, StoredCrawl]]:
    with StoredCrawl.open(folder) as crawl:
        yield indexes.of(crawl), crawl


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
