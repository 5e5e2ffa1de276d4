"""A crawl made by an earlier version is resumed. Its folder is kept in `data/`.

It was killed in the middle, after about 30 of 45 pages, on the site below."""

import sqlite3
import tarfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from scenthound.crawler.settings import CrawlSettings
from scenthound.store.checkpoints import Checkpoints
from scenthound.store.crawl_folder import CHECKPOINT_FOLDER, DATABASE_FILE, CrawlAbout
from scenthound.store.crawl_records import CrawlPosition
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from virtual_site import VirtualSite, crawl_virtually, visited_urls

DATA = Path(__file__).parent / "data"
N_PAGES, N_DEAD = 50, 5


def page(number: int) -> str:
    words = " ".join(f"sea storm word{number * k % 97}" for k in range(1, 9))
    linked = [n for n in (2 * number + 1, 2 * number + 2, 7 * number % 50, 11 * number % 50) if n < N_PAGES]
    links = "".join(f"<p><a href='http://h{n % 4}.test/{n}'>page {n}</a>" for n in linked)
    return f"<title>Page {number}</title><p>{words}{links}"


def site() -> VirtualSite:
    return VirtualSite({f"http://h{n % 4}.test/{n}": page(n) for n in range(N_PAGES) if n % 9 != 8})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(DATA / "crawl-0.8.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "crawl"


def settings_of(folder: Path) -> CrawlSettings:
    return CrawlSettings.from_settings(CrawlAbout.read(folder).settings)


def test_a_crawl_of_an_earlier_version_is_resumed(folder: Path) -> None:
    before = visited_urls(folder)
    served = site()
    crawl_virtually(folder, settings_of(folder), served)
    after = visited_urls(folder)
    assert len(before) >= 29
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) == N_PAGES - N_DEAD
    assert not set(before) & set(served.requests)


def test_the_checkpoints_of_an_earlier_version_can_be_used(folder: Path) -> None:
    positions = [CrawlPosition(**each) for _, each in Checkpoints(folder / CHECKPOINT_FOLDER).newest("position")]
    with StoredCrawl.open(folder) as crawl:
        assert [crawl.has(position) for position in positions] == [True, True]


def test_a_crawl_of_an_earlier_version_is_resumed_even_if_requests_differ(folder: Path) -> None:
    """As if this version had another order: the strategy is another one."""
    before = visited_urls(folder)
    served = site()
    settings = replace(settings_of(folder), strategy="breadth_first")
    crawl_virtually(folder, settings, served)
    after = visited_urls(folder)
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) == N_PAGES - N_DEAD
    assert not set(before) & set(served.requests)


def test_a_crawl_without_its_checkpoints_and_with_a_damaged_journal_keeps_its_pages(folder: Path) -> None:
    before = visited_urls(folder)
    for file in (folder / CHECKPOINT_FOLDER).glob("*"):
        file.unlink()
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as database:
        database.execute("DELETE FROM event WHERE number > 5")
        database.commit()
    crawl_virtually(folder, settings_of(folder), site())
    with CrawlStore.open(folder) as store:
        assert [row.url for row in store.visits()][: len(before)] == before
