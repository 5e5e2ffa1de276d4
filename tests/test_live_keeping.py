"""Answers wait for each other before they are archived; nobody who commits or reads back misses one."""

from datetime import datetime
from pathlib import Path

import pytest

from scenthound.crawler import live_crawl as keeping
from scenthound.crawler import live_web
from scenthound.crawler.live_crawl import CompletedTask, CrawlWriter, LiveCrawl
from scenthound.crawler.reader import PageGuards, Read
from scenthound.crawler.tasks import Failed, Kind, RobotsFetched, Task
from scenthound.model import Visit
from scenthound.reasons import SkipReason
from scenthound.store.archive import ArchiveReader
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.web.fetch import Response
from virtual_site import VirtualSite, crawl_virtually, page_of_words, plan, random_site, visited_urls


def taken(number: int, body: bytes = b"no such page") -> CompletedTask:
    url = f"http://a.test/{number}"
    response = Response(url, 404, b"HTTP/1.1 404 Gone\r\n", body, body, False, "127.0.0.1", 0.0)
    order = Task(number, Kind.PAGE, url, 0)
    return CompletedTask(float(number), order, Read(Failed(SkipReason.CLIENT_ERROR, status=404)), response, None)


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
    keeper = CrawlWriter(store, 0)
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
    # As they came and decoded, which is the same here: 1,200 bytes and 800, and the last ones wait again.
    monkeypatch.setattr(keeping, "MOST_BYTES", 2_000)
    keeper = CrawlWriter(store, 0)
    keeper.add(taken(0, b"x" * 600))
    assert archived(store) == []
    keeper.add(taken(1, b"x" * 400))
    keeper.add(taken(2, b"x" * 600))
    assert archived(store) == ["http://a.test/0", "http://a.test/1"]


def test_robots_txt_files_get_their_rows(store: CrawlStore) -> None:
    keeper = CrawlWriter(store, 0)
    order = Task(1, Kind.ROBOTS, "http://a.test/robots.txt", 0)
    keeper.add(CompletedTask(5.0, order, Read(RobotsFetched(200, b"User-agent: *", 0.1)), None, None))
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


def test_rows_and_records_bear_the_time_of_the_answer_however_long_they_waited(tmp_path: Path) -> None:
    site = random_site(5, n_pages=20)
    site.takes_s = lambda _: 0.25
    crawl_virtually(tmp_path / "crawl", plan(tuple(list(site.pages)[:2])), site, commit=lambda: False)
    answered_s = {url: asked_s + 0.25 for asked_s, url in site.asked}
    with CrawlStore.open(tmp_path / "crawl") as store, ArchiveReader(store.folder / ARCHIVE_FOLDER) as archive:
        times = {row.url: row.time_s for row in store.visits()}
        assert len(set(times.values())) > 10
        assert times == {url: answered_s[url] for url in times}
        responses = [record for _, record in archive.records(store.archive_end()) if record.kind == "response"]
        said = {record.url: datetime.fromisoformat(record.date).timestamp() for record in responses}
    assert said == pytest.approx(answered_s, abs=1e-5)


def test_no_visit_is_acknowledged_before_its_row_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strategy that is told of a page reads the one before it back, which makes a commit. The page that it is told of
    has no row then."""
    monkeypatch.setattr(live_web, "TEXT_BYTES_AT_HAND", 0)
    told: list[int] = []
    written: list[tuple[int, int]] = []
    tell, write_commits = BreadthFirst.tell, LiveCrawl.write_commits

    def look_back(strategy: BreadthFirst, visit: Visit) -> None:
        assert all(len(strategy._seen.words(page)) for page in told[-1:])
        told.append(visit.page)
        tell(strategy, visit)

    def write_and_compare(crawl: LiveCrawl) -> None:
        write_commits(crawl)
        with StoredCrawl.open(tmp_path / "crawl") as store:
            written.append((crawl.n_acknowledged, store.counts().visits))

    monkeypatch.setattr(BreadthFirst, "tell", look_back)
    monkeypatch.setattr(LiveCrawl, "write_commits", write_and_compare)
    site = random_site(5, n_pages=90)
    crawl_virtually(tmp_path / "crawl", plan(tuple(site.pages)[:2], page_budget=10), site, commit=lambda: False)
    # Each page but the last is looked back at; the last commit is that of the end.
    assert written == [(n_visits, n_visits) for n_visits in range(1, 11)]


def test_a_crawl_that_is_taken_up_knows_its_pages_by_the_same_fingerprints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of few words has none, before and after."""
    noted: list[tuple[int, int | None]] = []
    monkeypatch.setattr(PageGuards, "note_page", lambda _, page, simhash: noted.append((page, simhash)))
    urls = [f"http://a.test/{number}" for number in range(12)]
    site = VirtualSite({url: page_of_words("sea", [], seed) for seed, url in enumerate(urls)})
    site.pages[urls[0]] = "few words" + "".join(f"<a href='{url}'>on</a>" for url in urls)
    crawl_virtually(tmp_path / "crawl", plan((urls[0],)), site)
    before = list(noted)
    noted.clear()
    crawl_virtually(tmp_path / "crawl", plan((urls[0],)), site)
    assert noted == before
    simhashes = [simhash for _, simhash in before]
    assert simhashes[0] is None
    # Rows have signed numbers: some of these were negative there.
    assert {simhash >> 63 for simhash in simhashes[1:] if simhash is not None} == {0, 1}
