"""Parts of a live crawl: journal, hosts, harvest, writer of completed tasks."""

from datetime import datetime
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler import live_crawl, live_web
from scenthound.crawler.journal import Event, Journal, Resumed, TaskCompleted, Turn, checksum_of, read_journal
from scenthound.crawler.live_crawl import CompletedTask, CrawlWriter, Harvest, LiveCrawl
from scenthound.crawler.reader import PageFilter
from scenthound.crawler.tasks import (
    AddressesResolved,
    Failed,
    Fetched,
    Hosts,
    Job,
    Kind,
    Redirected,
    RobotsFetched,
    SitemapFetched,
    Task,
    WaitingJobs,
)
from scenthound.frontier.url_table import UrlTable
from scenthound.model import Visit
from scenthound.reasons import SkipReason
from scenthound.store.archive import ArchiveReader
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.web.fetch import Response
from virtual_site import VirtualSite, crawl_virtually, page_of_words, plan, random_site, visited_urls

seconds = st.floats(0, 4e9)
texts = st.text(max_size=20)
results = st.one_of(
    st.builds(AddressesResolved, st.tuples(texts), seconds),
    st.builds(Redirected, texts, st.integers(300, 399), seconds),
    st.builds(SitemapFetched, st.tuples(texts, texts), st.tuples(texts), st.integers(0, 9), seconds),
    st.builds(
        Failed,
        st.sampled_from(list(SkipReason)),
        texts,
        st.none() | st.integers(100, 999),
        st.none() | seconds,
        st.none() | st.integers(0, 2**64 - 1),
        st.none() | st.integers(0, 2**31 - 1),
        seconds,
    ),
)


def read_back(journal: Journal) -> list[Event]:
    return list(read_journal(journal.take()))


tasks = st.builds(Task, st.integers(0, 2**40), st.sampled_from(list(Kind)), texts, seconds)


@given(st.lists(st.tuples(seconds, tasks, results)), seconds)
def test_the_journal_is_read_back(written: list[tuple[float, Task, AddressesResolved]], later_s: float) -> None:
    journal = Journal()
    for now_s, task, result in written:
        journal.result(now_s, task, result)
    journal.add(Turn(later_s, 7, 100, [3, 1]))
    journal.add(Turn(later_s, 7, 100, None))
    journal.add(Resumed(later_s))
    expected: list[Event] = [
        TaskCompleted(now_s, task.number, checksum_of(task), result, result.elapsed_s)
        for now_s, task, result in written
    ]
    expected += [Turn(later_s, 7, 100, [3, 1]), Turn(later_s, 7, 100, None), Resumed(later_s)]
    assert read_back(journal) == expected
    assert journal.take() == b""


def test_results_in_records_are_not_in_the_journal() -> None:
    journal = Journal()
    page, robots = Task(4, Kind.PAGE, "http://a.test/", 0.0), Task(5, Kind.ROBOTS, "http://a.test/robots.txt", 0.0)
    journal.result(1.5, page, Fetched("http://a.test/", 0.5, ["http://a.test/b"], elapsed_s=0.25))
    journal.result(2.5, robots, RobotsFetched(200, b"Disallow: /", 0.5))
    assert read_back(journal) == [
        TaskCompleted(1.5, 4, checksum_of(page), None, 0.25),
        TaskCompleted(2.5, 5, checksum_of(robots), None, 0.5),
    ]
    assert checksum_of(page) != checksum_of(robots)


def test_a_journal_without_the_latest_fields_is_read() -> None:
    line = b'["s", 1.5, 4, 17, 0.25, ["http://a.test/b"], []]'
    sitemap = SitemapFetched(("http://a.test/b",), (), elapsed_s=0.25)
    assert list(read_journal(line)) == [TaskCompleted(1.5, 4, 17, sitemap, 0.25)]


def test_hosts_of_redirects_and_links_have_the_same_numbers() -> None:
    table = UrlTable()
    table.add_all(["http://a.test/1", "https://b.test:8080/", "http://www.b.test/"])
    hosts = Hosts(table)
    assert hosts.of_url("http://b.test/elsewhere") == 0
    assert [hosts.of_strategy(host) for host in (0, 1, 2)] == [1, 0, 2]
    assert hosts.domain(0) == hosts.domain(2) != hosts.domain(1)
    assert len(hosts) == 3


def test_waiting_jobs_are_queued_by_host() -> None:
    held = WaitingJobs()
    first, second, urgent, other = (Job(Kind.PAGE, f"http://a.test/{i}", host) for i, host in enumerate((0, 0, 0, 1)))
    for job in (first, second, other):
        held.add(job)
    held.add(urgent, first=True)
    assert (bool(held), held.hosts(), 0 in held, 2 in held) == (True, [0, 1], True, False)
    assert held.next(0) is urgent
    assert list(held.take_all(0)) == [first, second]
    assert (bool(held), held.hosts()) == (True, [1])


def test_harvest_is_mean_relevance_and_infinite_regret_is_ignored() -> None:
    harvest = Harvest(window=2)
    assert (harvest.mean, harvest.recent, harvest.mean_regret, harvest.window_is_full) == (0.0, 0.0, None, False)
    for relevance, score, regret in ((0.5, 0.5, inf), (0.25, 0.5, 0.5), (0.75, None, None), (0.25, 0.75, 0.25)):
        harvest.add(relevance, score, regret)
    # (0.5 + 0.25 + 0.75 + 0.25) / 4, (0.75 + 0.25) / 2, and of the best scores 0.5 / 1 and 0.25 / 1.
    assert (harvest.mean, harvest.recent, harvest.mean_regret) == (0.4375, 0.5, 0.375)
    assert harvest.window_is_full
    harvest.add(0.5, -3.0, 1.0)
    assert harvest.mean_regret is None


def completed(number: int, body: bytes = b"no such page") -> CompletedTask:
    url = f"http://a.test/{number}"
    response = Response(url, 404, b"HTTP/1.1 404 Gone\r\n", body, body, False, "127.0.0.1", 0.0)
    task = Task(number, Kind.PAGE, url, 0)
    return CompletedTask(float(number), task, Failed(SkipReason.CLIENT_ERROR, status=404), None, response, None)


def archived(store: CrawlStore) -> list[str]:
    store.commit()
    with ArchiveReader(store.folder / ARCHIVE_FOLDER) as archive:
        return [record.url for _, record in archive.records(store.archive_end()) if record.kind == "response"]


@pytest.fixture
def store(tmp_path: Path):
    with CrawlStore.create(tmp_path / "crawl", {}, ArchiveSettings("test")) as made:
        yield made


def test_completed_tasks_are_stored_in_batches(store: CrawlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_crawl, "MAX_WAITING", 3)
    writer = CrawlWriter(store, 0)
    for number in range(2):
        writer.add(completed(number))
    assert archived(store) == []
    writer.add(completed(2))
    assert archived(store) == [f"http://a.test/{number}" for number in range(3)]
    writer.add(completed(3))
    writer.flush()
    writer.flush()
    assert archived(store) == [f"http://a.test/{number}" for number in range(4)]


def test_large_responses_make_smaller_batches(store: CrawlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    # As they came and decoded, which is the same here: 1,200 bytes and 800, and the last ones wait again.
    monkeypatch.setattr(live_crawl, "MAX_WAITING_BYTES", 2_000)
    writer = CrawlWriter(store, 0)
    writer.add(completed(0, b"x" * 600))
    assert archived(store) == []
    writer.add(completed(1, b"x" * 400))
    writer.add(completed(2, b"x" * 600))
    assert archived(store) == ["http://a.test/0", "http://a.test/1"]


def test_robots_txt_files_are_stored(store: CrawlStore) -> None:
    writer = CrawlWriter(store, 0)
    task = Task(1, Kind.ROBOTS, "http://a.test/robots.txt", 0)
    writer.add(CompletedTask(5.0, task, RobotsFetched(200, b"User-agent: *", 0.1), None, None, None))
    writer.flush()
    store.commit()
    assert [(row.origin, row.time_s, row.status, row.body) for row in store.robots()] == [
        ("http://a.test/robots.txt", 5.0, 200, b"User-agent: *")
    ]


@pytest.mark.parametrize("strategy", ["infospiders", "link_context", "best_first", "scent"])
def test_the_batch_size_does_not_change_a_crawl(strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pages fit into the caches. Reading back others commits first, also those of completed tasks that wait."""
    monkeypatch.setattr(live_web, "TEXT_CACHE_BYTES", 3_000)
    monkeypatch.setattr(live_web, "LINK_CACHE_BYTES", 3_000)
    site = random_site(5, n_pages=90)
    settings = plan(tuple(list(site.pages)[:2]), strategy=strategy, relevance="cosine", page_budget=60)
    visited = []
    for most in (1, 7, 1_000):
        monkeypatch.setattr(live_crawl, "MAX_WAITING", most)
        folder = tmp_path / str(most)
        crawl_virtually(folder, settings, site, commit=lambda: False)
        visited.append(visited_urls(folder))
    assert len(visited[0]) > 40
    assert visited[0] == visited[1] == visited[2]


def test_rows_and_records_have_the_time_of_the_response(tmp_path: Path) -> None:
    site = random_site(5, n_pages=20)
    site.takes_s = lambda _: 0.25
    crawl_virtually(tmp_path / "crawl", plan(tuple(list(site.pages)[:2])), site, commit=lambda: False)
    responded_s = {url: requested_s + 0.25 for requested_s, url in site.requested}
    with CrawlStore.open(tmp_path / "crawl") as store, ArchiveReader(store.folder / ARCHIVE_FOLDER) as archive:
        times = {row.url: row.time_s for row in store.visits()}
        assert len(set(times.values())) > 10
        assert times == {url: responded_s[url] for url in times}
        responses = [record for _, record in archive.records(store.archive_end()) if record.kind == "response"]
        said = {record.url: datetime.fromisoformat(record.date).timestamp() for record in responses}
    assert said == pytest.approx(responded_s, abs=1e-5)


def test_no_visit_is_acknowledged_before_its_row_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strategy reads the previous page when it receives a visit, which commits. That visit has no row yet."""
    monkeypatch.setattr(live_web, "TEXT_CACHE_BYTES", 0)
    received: list[int] = []
    written: list[tuple[int, int]] = []
    tell, write_commits = BreadthFirst.tell, LiveCrawl.write_commits

    def look_back(strategy: BreadthFirst, visit: Visit) -> None:
        assert all(len(strategy._seen.words(page)) for page in received[-1:])
        received.append(visit.page)
        tell(strategy, visit)

    def write_and_compare(crawl: LiveCrawl) -> None:
        write_commits(crawl)
        with StoredCrawl.open(tmp_path / "crawl") as store:
            written.append((crawl.n_acknowledged, store.n_visits()))

    monkeypatch.setattr(BreadthFirst, "tell", look_back)
    monkeypatch.setattr(LiveCrawl, "write_commits", write_and_compare)
    site = random_site(5, n_pages=90)
    crawl_virtually(tmp_path / "crawl", plan(tuple(site.pages)[:2], page_budget=10), site, commit=lambda: False)
    # Each page but the last is looked back at; the last commit is that of the end.
    assert written == [(n_visits, n_visits) for n_visits in range(1, 11)]


def test_a_resumed_crawl_has_the_same_fingerprints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of few words has none, before and after."""
    noted: list[tuple[int, int | None]] = []
    monkeypatch.setattr(PageFilter, "note_page", lambda _, page, simhash: noted.append((page, simhash)))
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
