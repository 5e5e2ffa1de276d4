"""Commit logs: crashes, races, takeovers on another machine, and storage that cannot be used."""

import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

import pytest
from benchmarks.commit_log_faults import content_of, crash_at_every_write, race

import scenthound as sh
from live_site import LiveSite, live_site
from scenthound.crawler.control import use_relevance_model
from scenthound.errors import Failure, Fenced, InvalidInput, MissingExtra, UsageError
from scenthound.store import commit_log, crawl_store, log_storage
from scenthound.store.archive import ArchiveBatch, ArchiveEnd, ArchivePart, joined_parts
from scenthound.store.commit_log import CommitLog, LoggedCommit
from scenthound.store.crawl_database import TableRows
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.log_storage import LocalStorage, RemoteStorage
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import AGENT, CRAWL_ID, add_page, response
from timing import WAIT_S
from virtual_site import busy_site, crawl_virtually, crawl_with_kills, plan, visited_urls

pytest.importorskip("msgpack", reason="the extra cluster is not installed")

Call = Callable[..., tuple[int, str, str]]
KILLS = 3

#: Continues the crawl in a folder, and says after each commit how many visits are acknowledged.
CRAWLER = """
import sys
from scenthound.errors import Failure
from scenthound.store.crawl_store import CrawlStore
from stored_crawls import add_page, response
try:
    with CrawlStore.open(sys.argv[1], commit_log=sys.argv[2]) as store:
        number = store.n_visits()
        while True:
            add_page(store, number, response(f"http://a.test/{number}"))
            store.add_urls([f"http://a.test/{number}"])
            store.commit()
            number += 1
            print(number, flush=True)
except Failure as failure:
    print(failure)
"""


@pytest.fixture(autouse=True)
def empty_memory() -> Iterator[None]:
    """The file system memory:// is one for the whole process."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    yield
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


def crawler(folder: Path, log: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join((str(Path(__file__).parent), *sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", CRAWLER, str(folder), str(log)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def logged_crawl(folder: Path, log: Path | str, **options: Any) -> CrawlStore:
    settings = ArchiveSettings(AGENT, most_file_bytes=3_000)
    return CrawlStore.create(folder, {}, settings, commit_log=log, crawl_id=CRAWL_ID, **options)


def add_commits(store: CrawlStore, n_commits: int) -> None:
    first = store.n_visits()
    for number in range(first, first + n_commits):
        add_page(store, number, response(f"http://a.test/{number}"), score=inf)
        store.add_urls([f"http://a.test/{number}"])
        store.commit()


def commit_of(text: str = "page", **more: Any) -> LoggedCommit:
    rows = [TableRows("status", ("one", "text"), ((1, text.encode("utf-8", "surrogatepass")),))]
    rows.append(TableRows("robots", ("origin", "time_s", "status"), ((text, inf, None), (text, -0.5, 1 << 62))))
    parts = (ArchivePart(0, 100, b"WARC" * 2_000), ArchivePart(1, 0, b"more"))
    return LoggedCommit(ArchiveBatch(parts, ArchiveEnd(1, 4, 0)), rows, "mark", **more)


def same_rows(commit: LoggedCommit | None) -> list[tuple[Any, ...]]:
    assert commit is not None
    return [(rows.table, tuple(rows.columns), tuple(rows.rows)) for rows in commit.rows]


# The files of a log


@pytest.mark.parametrize("location", ["folder", "memory://logs/a"])
def test_a_commit_is_read_as_it_was_written(location: str, tmp_path: Path) -> None:
    log = CommitLog.at(tmp_path / location if location == "folder" else location)
    log.prepare()
    written = commit_of("lone \ud800", files={"run.json": b"{}"}, parcels={"shard-2": b"links"})
    log.append(1, written)
    log.append(2, LoggedCommit(ArchiveBatch((), ArchiveEnd())))
    read = log.read(1)
    assert read is not None
    assert same_rows(read) == same_rows(written)
    assert (read.archive, read.mark) == (written.archive, "mark")
    assert (read.files, read.parcels) == (written.files, written.parcels)
    assert (log.last(), log.read(3), log.header(3)) == (2, None, None)
    header = log.header(1)
    assert header is not None
    assert (header.writer, header.end) == (log.writer, ArchiveEnd(1, 4, 0))


def test_parcels_are_read_without_the_archive(tmp_path: Path) -> None:
    class Counting(LocalStorage):
        n_read = 0

        def read(self, name: str, start: int = 0, end: int | None = None) -> bytes:
            content = super().read(name, start, end)
            self.n_read += len(content)
            return content

    storage = Counting(tmp_path / "log")
    log = CommitLog(storage)
    log.prepare()
    storage.n_read = 0
    parcels = {f"shard-{number}": bytes([number]) * 3_000 for number in range(100)}
    big = ArchiveBatch((ArchivePart(0, 0, b"x" * 10_000_000),), ArchiveEnd(0, 10_000_000, 0))
    log.append(1, LoggedCommit(big, parcels=parcels))
    assert log.read_parcels(1, "shard-7") == parcels["shard-7"]
    assert storage.n_read < 20_000
    assert (log.read_parcels(1, "other"), log.read_parcels(2, "shard-7")) == (b"", None)


def test_any_damage_of_a_commit_is_one_clear_line(tmp_path: Path) -> None:
    log = CommitLog.at(tmp_path / "log")
    log.prepare()
    log.append(1, commit_of(parcels={"a": b"links"}))
    file = tmp_path / "log" / "000000001"
    whole = file.read_bytes()
    places = {*range(0, len(whole), 97), *range(60)}
    damaged = [whole[:place] for place in places]
    damaged += [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in places - {8, 9, 10, 11}]
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(InvalidInput, match=r"Commit 1 of .*log is damaged.*000000001") as raised:
            log.read(1)
        assert "\n" not in str(raised.value)
    file.write_bytes(whole[:8] + b"\x02" + whole[9:])
    with pytest.raises(InvalidInput, match="format version 2"):
        log.read(1)
    file.write_bytes(whole)
    file.rename(tmp_path / "log" / "000000002")
    with pytest.raises(InvalidInput, match="it is commit 1"):
        log.read(2)
    with pytest.raises(InvalidInput, match=r"Commit 1 of .* is missing"):
        log.last()


@pytest.mark.parametrize(
    "rows",
    [
        TableRows("sqlite_master", ("sql",), (("x",),)),
        TableRows("url", ("first) VALUES (1); --",), ((1,),)),
    ],
)
def test_rows_of_unknown_tables_and_columns_are_refused(rows: TableRows, tmp_path: Path) -> None:
    log = CommitLog.at(tmp_path / "log")
    log.prepare()
    log.append(1, LoggedCommit(ArchiveBatch((), ArchiveEnd()), [rows]))
    with pytest.raises(InvalidInput, match="unknown"):
        log.read(1)


def test_a_number_has_one_owner(tmp_path: Path) -> None:
    first, second = (CommitLog.at(tmp_path / "log") for _ in range(2))
    first.prepare()
    first.append(1, commit_of())
    with pytest.raises(Fenced, match="Another process has taken over this crawl"):
        second.append(1, commit_of())
    # The answer to the first attempt was lost.
    first.append(1, commit_of())
    with pytest.raises(Fenced):
        first.append(1, commit_of("other"))
    assert same_rows(first.read(1)) == same_rows(commit_of())


def test_two_processes_that_race_for_commits_never_both_win(tmp_path: Path) -> None:
    counts = race(tmp_path, 300)
    assert sum(counts.won) == sum(counts.fenced) == 300


def test_nothing_is_lost_or_applied_twice_after_a_crash_at_any_write(tmp_path: Path) -> None:
    counts = crash_at_every_write(tmp_path / "crashes", step=9)
    assert counts.n_crashes > 25
    assert counts.n_unreturned > 3


# Crawls with a log


def test_a_crawl_with_a_log_equals_one_without_and_so_does_its_rebuilt_folder(tmp_path: Path) -> None:
    site = busy_site(5)
    settings = plan(tuple(list(site.pages)[:2]), connections=4, strict_order=False, sitemaps=True, relevance="cosine")
    log, crawl_id = tmp_path / "log", UUID(int=5)
    rng = random.Random(5)
    crawl_virtually(tmp_path / "without", settings, busy_site(5), commit=lambda: rng.random() < 0.3, crawl_id=crawl_id)
    rng = random.Random(5)
    crawl_virtually(
        tmp_path / "with",
        settings,
        busy_site(5),
        commit=lambda: rng.random() < 0.3,
        crawl_id=crawl_id,
        commit_log=log,
    )
    content = content_of(tmp_path / "without")
    assert content_of(tmp_path / "with") == content
    said: list[str] = []
    with CrawlStore.open(tmp_path / "rebuilt", commit_log=log, progress=lambda _, text: said.append(text)) as store:
        assert store.n_visits() > 30
    assert content_of(tmp_path / "rebuilt") == content
    assert (tmp_path / "rebuilt" / "crawl.json").read_bytes() == (tmp_path / "with" / "crawl.json").read_bytes()
    assert said


@pytest.mark.parametrize("seed", range(3))
def test_a_crawl_that_loses_its_machine_again_and_again_visits_the_same_pages(seed: int, tmp_path: Path) -> None:
    settings = plan(tuple(list(busy_site(seed).pages)[:2]), connections=4, strict_order=False, sitemaps=True)
    crawl_virtually(tmp_path / "complete", settings, busy_site(seed))
    folder = tmp_path / "crawl"

    def lose_machine(part: int) -> None:
        if part % 2:
            shutil.rmtree(folder)

    kills = crawl_with_kills(
        folder,
        settings,
        lambda: busy_site(seed),
        random.Random(seed),
        kills=0.03,
        before_part=lose_machine,
        commit_log=tmp_path / "log",
    )
    assert kills > 1
    assert visited_urls(folder) == visited_urls(tmp_path / "complete")


def test_after_kills_all_acknowledged_pages_exist_in_the_folder_and_elsewhere(tmp_path: Path) -> None:
    folder, log = tmp_path / "crawl", tmp_path / "log"
    logged_crawl(folder, log).close()
    acknowledged, rng = 0, random.Random(7)
    for kill in range(KILLS):
        with crawler(folder, log) as process:
            assert process.stdout is not None
            process.stdout.readline()
            threading.Timer(rng.uniform(0.0, 0.1), process.kill).start()
            said = process.stdout.read().split("\n")
        acknowledged = max([acknowledged, *(int(line) for line in said[:-1] if line)])
        elsewhere = tmp_path / f"elsewhere-{kill}"
        with CrawlStore.open(elsewhere, commit_log=log) as store:
            urls = [row.url for row in store.visits()]
            assert urls == store.urls() == [f"http://a.test/{number}" for number in range(len(urls))]
            assert len(urls) >= acknowledged
            assert all(row.location and store.archive.record(row.location).url == row.url for row in store.visits())
        CrawlStore.open(folder).close()
        CrawlStore.open(elsewhere).close()
        assert content_of(folder) == content_of(elsewhere)
        # Then on another machine, every other time.
        folder = elsewhere if kill % 2 else folder
    assert acknowledged > KILLS


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be paused here")
def test_a_process_that_was_paused_during_a_takeover_ends_and_damages_nothing(tmp_path: Path) -> None:
    folder, log, elsewhere = tmp_path / "crawl", tmp_path / "log", tmp_path / "elsewhere"
    logged_crawl(folder, log).close()
    with crawler(folder, log) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        try:
            with CrawlStore.open(elsewhere, commit_log=log) as store:
                n_before = store.n_visits()
                add_commits(store, 2)
        finally:
            process.send_signal(signal.SIGCONT)
        *_, last = process.communicate(timeout=WAIT_S)[0].splitlines()
    assert last.startswith("Another process has taken over this crawl")
    with CrawlStore.open(elsewhere) as store:
        assert store.n_visits() == n_before + 2
    CrawlStore.open(folder).close()
    CrawlStore.open(elsewhere).close()
    assert content_of(folder) == content_of(elsewhere)


def test_a_commit_that_a_network_file_system_shows_late_is_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 3)
    seen = LocalStorage.read
    n_late = iter(range(4))

    def read(self: LocalStorage, name: str, start: int = 0, end: int | None = None) -> bytes:
        if name == "000000003" and next(n_late, None) is not None:
            raise FileNotFoundError(name)
        return seen(self, name, start, end)

    def fenced(*_: object) -> None:
        raise Fenced("taken")

    monkeypatch.setattr(LocalStorage, "read", read)
    monkeypatch.setattr(crawl_store, "_RETRY_S", 0)
    with CrawlStore.open(tmp_path / "elsewhere", commit_log=tmp_path / "log") as store:
        assert (store.n_visits(), store.change_counter()) == (3, 4)
    # One that exists and can never be read is no endless loop.
    monkeypatch.setattr(CommitLog, "append", fenced)
    with pytest.raises(Fenced):
        CrawlStore.open(tmp_path / "elsewhere-2", commit_log=tmp_path / "log")


def test_a_fenced_process_writes_nothing_more(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 2)
        CrawlStore.open(tmp_path / "elsewhere", commit_log=tmp_path / "log").close()
        before = content_of(tmp_path / "crawl")
        add_page(store, 2, response())
        with pytest.raises(Fenced):
            store.commit()
        with pytest.raises(Failure, match="taken over"):
            store.commit()
        assert content_of(tmp_path / "crawl") == before


def test_a_log_that_cannot_be_written_ends_the_run_and_the_crawl_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 1)
        with monkeypatch.context() as patched:
            patched.setattr(log_storage, "create_exclusively", full)
            with pytest.raises(Failure, match=r"commit log .*log: no space left") as raised:
                add_commits(store, 1)
            assert "\n" not in str(raised.value)
    with CrawlStore.open(tmp_path / "crawl") as store:
        assert store.n_visits() == 1
        add_commits(store, 1)


def test_what_a_commit_has_besides_rows_is_kept_by_the_log_only(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        (store.folder / "run.json").write_bytes(b'{"page_budget": 7}')
        page = store.folder / "relevance_models" / "1" / "positive" / "Café .x.html"
        page.parent.mkdir(parents=True)
        page.write_bytes(b"<p>sea")
        store.log_file(store.folder / "run.json")
        store.log_file(page)
        store.add_parcel("shard-1", b"links")
        store.commit()
    assert CommitLog.at(tmp_path / "log").read_parcels(1, "shard-1") == b"links"
    with CrawlStore.open(tmp_path / "elsewhere", commit_log=tmp_path / "log") as store:
        assert (store.folder / "run.json").read_bytes() == b'{"page_budget": 7}'
        assert (store.folder / page.relative_to(tmp_path / "crawl")).read_bytes() == b"<p>sea"
        assert store.change_counter() == 2


@pytest.mark.parametrize("name", ["../a.html", "a/../../b.html", "crawl.json", "archive/x.warc.gz", "/tmp/a.html", "a"])
def test_a_log_writes_no_other_files(name: str, tmp_path: Path) -> None:
    logged_crawl(tmp_path / "crawl", tmp_path / "log").close()
    CommitLog.at(tmp_path / "log").append(1, LoggedCommit(ArchiveBatch((), ArchiveEnd()), files={name: b"x"}))
    with pytest.raises(InvalidInput, match="a file that no crawl writes"):
        CrawlStore.open(tmp_path / "crawl")


def test_parts_that_follow_each_other_are_joined() -> None:
    parts = [ArchivePart(0, 0, b"ab"), ArchivePart(0, 2, b"c"), ArchivePart(1, 0, b"d"), ArchivePart(1, 5, b"e")]
    assert joined_parts(parts) == (ArchivePart(0, 0, b"abc"), ArchivePart(1, 0, b"d"), ArchivePart(1, 5, b"e"))
    assert joined_parts([]) == ()


# Folders and logs that do not fit


def test_a_log_belongs_to_one_crawl(tmp_path: Path) -> None:
    logged_crawl(tmp_path / "crawl", tmp_path / "log").close()
    with pytest.raises(InvalidInput, match="log of another crawl"):
        CrawlStore.create(tmp_path / "second", {}, ArchiveSettings(AGENT), commit_log=tmp_path / "log")
    assert not (tmp_path / "second").exists()
    CrawlStore.create(tmp_path / "second", {}, ArchiveSettings(AGENT), commit_log=tmp_path / "log-2").close()
    with pytest.raises(InvalidInput, match="log of another crawl"):
        CrawlStore.open(tmp_path / "second", commit_log=tmp_path / "log")
    CrawlStore.create(tmp_path / "plain", {}, ArchiveSettings(AGENT)).close()
    with pytest.raises(UsageError, match="has no commit log"):
        CrawlStore.open(tmp_path / "plain", commit_log=tmp_path / "log")


def test_a_log_that_was_moved_is_remembered(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 2)
    (tmp_path / "log").rename(tmp_path / "moved")
    with pytest.raises(InvalidInput, match="not a commit log"):
        CrawlStore.open(tmp_path / "crawl")
    CrawlStore.open(tmp_path / "crawl", commit_log=tmp_path / "moved").close()
    CrawlStore.open(tmp_path / "crawl").close()
    assert json.loads((tmp_path / "crawl" / "commit_log.json").read_bytes()) == {"location": str(tmp_path / "moved")}


def test_an_older_copy_of_a_log_is_refused(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 2)
        shutil.copytree(tmp_path / "log", tmp_path / "copy")
        add_commits(store, 1)
    with pytest.raises(InvalidInput, match="older copy"):
        CrawlStore.open(tmp_path / "crawl", commit_log=tmp_path / "copy")


def test_a_folder_that_went_on_without_its_log_is_refused(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 1)
        shutil.copytree(tmp_path / "crawl", tmp_path / "copy")
        add_commits(store, 1)
    location = (tmp_path / "copy" / "commit_log.json").read_bytes()
    (tmp_path / "copy" / "commit_log.json").unlink()
    with CrawlStore.open(tmp_path / "copy") as store:
        add_page(store, 1, response("http://a.test/other"))
        store.commit()
    (tmp_path / "copy" / "commit_log.json").write_bytes(location)
    with pytest.raises(InvalidInput, match="other commits than its log"):
        CrawlStore.open(tmp_path / "copy")


def test_a_damaged_commit_stops_rebuilding_and_can_be_restored(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 3)
    file = tmp_path / "log" / "000000002"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(InvalidInput, match="Commit 2"):
        CrawlStore.open(tmp_path / "elsewhere", commit_log=tmp_path / "log")
    file.write_bytes(whole)
    with CrawlStore.open(tmp_path / "elsewhere") as store:
        assert store.n_visits() == 3


def test_rows_that_do_not_fit_are_one_clear_line(tmp_path: Path) -> None:
    logged_crawl(tmp_path / "crawl", tmp_path / "log").close()
    twice = TableRows("url", ("first",), ((1,), (1,)))
    CommitLog.at(tmp_path / "log").append(1, LoggedCommit(ArchiveBatch((), ArchiveEnd()), [twice]))
    with pytest.raises(Failure, match=r"Cannot apply the commits up to 1 .*UNIQUE"):
        CrawlStore.open(tmp_path / "crawl")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"location": '])
def test_a_damaged_location_is_never_taken_for_none(content: bytes, tmp_path: Path) -> None:
    logged_crawl(tmp_path / "crawl", tmp_path / "log").close()
    (tmp_path / "crawl" / "commit_log.json").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"commit_log\.json is damaged"):
        CrawlStore.open(tmp_path / "crawl")


# Storage


def test_a_crawl_is_rebuilt_from_a_url(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", "memory://logs/a") as store:
        add_commits(store, 4)
    with CrawlStore.open(tmp_path / "elsewhere", commit_log="memory://logs/a") as store:
        assert store.n_visits() == 4
    assert content_of(tmp_path / "crawl") == content_of(tmp_path / "elsewhere")


def test_a_crawl_is_rebuilt_from_a_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moto_server = pytest.importorskip("moto.server", reason="moto is not installed")
    s3fs = pytest.importorskip("s3fs")
    server = moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    values = {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "s3cret", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in {**values, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        s3fs.S3FileSystem().mkdir("logs")
        with logged_crawl(tmp_path / "crawl", "s3://logs/a") as store:
            add_commits(store, 2)
            with CrawlStore.open(tmp_path / "elsewhere", commit_log="s3://logs/a") as successor:
                assert successor.n_visits() == 2
            with pytest.raises(Fenced):
                add_commits(store, 1)
        with pytest.raises(InvalidInput, match="nowhere"):
            CrawlStore.create(tmp_path / "b", {}, ArchiveSettings(AGENT), commit_log="s3://nowhere/a")
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        server.stop()


def remote_log(files: Any) -> CommitLog:
    return CommitLog(RemoteStorage("fake", "fake://log", files, "/log"))


@pytest.fixture
def memory_class() -> Any:
    return pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem


def test_storage_that_replaces_files_is_refused(memory_class: Any) -> None:
    class Replacing(memory_class):
        store: ClassVar[dict[str, Any]] = {}

        def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
            super().pipe_file(path, value)

    log = remote_log(Replacing())
    with pytest.raises(InvalidInput, match="cannot be created exclusively") as raised:
        log.prepare()
    assert "\n" not in str(raised.value)
    assert not Replacing.store


def test_storage_that_asks_and_then_writes_is_refused(memory_class: Any) -> None:
    from fsspec.spec import AbstractFileSystem

    class Asking(memory_class):
        pipe_file = AbstractFileSystem.pipe_file

    log = remote_log(Asking())
    with pytest.raises(InvalidInput, match="cannot be created exclusively"):
        log.prepare()


def test_a_lost_answer_of_a_remote_storage_is_no_failure(memory_class: Any) -> None:
    class Forgetful(memory_class):
        store: ClassVar[dict[str, Any]] = {}

        def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
            super().pipe_file(path, value, mode=mode)
            raise TimeoutError("no answer")

    class Dead(memory_class):
        store: ClassVar[dict[str, Any]] = {}

        def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
            raise ConnectionError("no\nroute")

    log = remote_log(Forgetful())
    log.prepare()
    log.append(1, commit_of())
    with pytest.raises(Fenced):
        remote_log(Forgetful()).append(1, commit_of())
    with pytest.raises(InvalidInput, match="no route"):
        remote_log(Dead()).prepare()


def test_a_file_system_without_links_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted", source, None, target)

    monkeypatch.setattr(os, "link", no_link)
    with pytest.raises(InvalidInput, match="cannot be created exclusively"):
        CommitLog.at(tmp_path / "log").prepare()
    assert not list((tmp_path / "log").iterdir())


def test_a_log_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match=r"Cannot write the commit log .*file/log: not a directory"):
        logged_crawl(tmp_path / "crawl", tmp_path / "file" / "log")

    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(log_storage, "create_exclusively", denied)
    with pytest.raises(InvalidInput, match="permission denied"):
        logged_crawl(tmp_path / "crawl", tmp_path / "log")
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("nosuch://logs/a", "nosuch"),
        ("s3://logs", "names no file"),
        ("s3://me:s3cret@logs/a", "password"),
        ("file://elsewhere/log", "no path of this machine"),
    ],
)
def test_locations_that_cannot_be_used(location: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        CommitLog.at(location)
    assert "s3cret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_log_in_the_crawl_folder_would_be_lost_with_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="in the crawl folder"):
        logged_crawl(tmp_path / "crawl", tmp_path / "crawl" / "log")


def test_without_the_extra_a_line_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "msgpack", None)
    with pytest.raises(MissingExtra, match=r"scenthound\[cluster\]"):
        commit_log.CommitLog.at(tmp_path / "log")


# The command


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    with live_site(tmp_path) as running:
        yield running


def ended(scenthound: Call, *arguments: object) -> tuple[str, int, int]:
    code, out, err = scenthound(*arguments, "--json")
    assert code == 0, err
    printed = json.loads(out)
    return printed["ended"], printed["n_pages"], printed["page_budget"]


def test_a_crawl_goes_on_elsewhere_with_the_conditions_of_its_last_run(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    folder, log = tmp_path / "out", tmp_path / "log"
    command = site.crawl("--pages", 3, "--out", folder, "--commit-log", log, "--min-harvest", 0.001)
    assert ended(scenthound, *command) == ("budget", 3, 3)
    assert ended(scenthound, "crawl", "--resume", folder, "--pages", 9) == ("budget", 9, 9)
    conditions = (folder / "run.json").read_bytes()
    shutil.rmtree(folder)
    code, _, err = scenthound("crawl", "--resume", folder, "--commit-log", log, "--dry-run")
    assert (code, len(err.splitlines()), folder.exists()) == (2, 1, False)
    assert ended(scenthound, "crawl", "--resume", folder, "--commit-log", log) == ("budget", 9, 9)
    assert (folder / "run.json").read_bytes() == conditions
    assert ended(scenthound, "crawl", "--resume", folder, "--pages", 20) == ("budget", 20, 20)
    assert max(site.pages_requested().values()) == 1
    assert len(visited_urls(folder)) == 20


def test_python_continues_a_crawl_elsewhere(site: LiveSite, tmp_path: Path) -> None:
    folder, log = tmp_path / "out", tmp_path / "log"
    options = {"hosts": site.hosts, "allow_private": True, "delay": 0.0, "progress": False}
    crawl = sh.crawl(["balloon"], site.url(0), out=folder, pages=3, commit_log=log, **options)
    urls = [page.url for page in crawl.pages]
    shutil.rmtree(folder)
    with pytest.raises(InvalidInput, match="commit_log="):
        sh.resume(folder, commit_log=tmp_path)
    resumed = sh.resume(folder, commit_log=log, pages=5, progress=False)
    assert [page.url for page in resumed.pages][:3] == urls
    assert len(resumed) == 5


def test_a_retrained_relevance_model_goes_on_elsewhere(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    pytest.importorskip("sklearn", reason="the extra learn is not installed")
    folder, log = tmp_path / "out", tmp_path / "log"
    ended(scenthound, *site.crawl("--pages", 3, "--out", folder, "--commit-log", log))
    for kind, words in (("positive", "balloon"), ("negative", "train")):
        training = folder / "relevance_models" / "1" / kind
        training.mkdir(parents=True)
        for number in range(3):
            (training / f"{number}.html").write_text(f"<title>{kind}</title><p>{words} {number}")
    use_relevance_model(folder, "relevance_models/1")
    ended(scenthound, "crawl", "--resume", folder, "--pages", 5)
    shutil.rmtree(folder)
    assert ended(scenthound, "crawl", "--resume", folder, "--commit-log", log, "--pages", 7) == ("budget", 7, 7)
    with StoredCrawl.open(folder) as crawl:
        (model,) = crawl.relevance_models()
        assert (model.folder, model.visit) == ("relevance_models/1", 3)


def test_a_refresh_is_in_the_log(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder, log = tmp_path / "out", tmp_path / "log"
    ended(scenthound, *site.crawl("--pages", 3, "--out", folder, "--commit-log", log))
    assert scenthound("crawl", "--refresh", folder)[0] == 0
    with CrawlStore.open(tmp_path / "elsewhere", commit_log=log) as store:
        assert len(list(store.checks())) == 3
    CrawlStore.open(folder).close()
    assert content_of(folder) == content_of(tmp_path / "elsewhere")


def test_a_dry_run_notices_that_the_folder_is_behind(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder, log = tmp_path / "out", tmp_path / "log"
    ended(scenthound, *site.crawl("--pages", 3, "--out", folder, "--commit-log", log))
    assert scenthound("crawl", "--resume", folder, "--pages", 5, "--dry-run")[0] == 0
    CrawlStore.open(tmp_path / "elsewhere", commit_log=log).close()
    code, _, err = scenthound("crawl", "--resume", folder, "--pages", 5, "--dry-run")
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(log) in err


def test_credentials_are_not_in_the_log_and_given_again(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder, log = tmp_path / "out", tmp_path / "log"
    ended(
        scenthound,
        *site.crawl(
            "--pages", 3, "--out", folder, "--commit-log", log, "--header", "X-Token: s3cret", "--header", "B: c"
        ),
    )
    assert not any(b"s3cret" in file.read_bytes() for file in log.iterdir())
    shutil.rmtree(folder)
    resume = ("crawl", "--resume", folder, "--commit-log", log)
    n_commits = CommitLog.at(log).last()
    for given, code, message in (
        ([], 2, "--header 'X-Token: ***'"),
        (["--header", "X-Token: new"], 2, "only renew"),
        (["--header", "Other: new", "--header", "B: c"], 2, "only renew"),
        (["--proxy", "http://127.0.0.1:1"], 2, "only renew"),
    ):
        assert scenthound(*resume, *given)[0] == code
        code, _, err = scenthound(*resume, *given)
        assert len(err.splitlines()) == 1
        assert message in err
    # The process that has the credentials was not fenced off.
    assert CommitLog.at(log).last() == n_commits
    given = ["--header", "X-Token: new", "--header", "B: c"]
    assert ended(scenthound, *resume, *given, "--pages", 5) == ("budget", 5, 5)
    assert ended(scenthound, "crawl", "--resume", folder, "--pages", 6) == ("budget", 6, 6)


def test_a_crawl_without_a_log_has_no_option_for_it(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    ended(scenthound, *site.crawl("--pages", 1, "--out", folder))
    code, _, err = scenthound("crawl", "--resume", folder, "--commit-log", tmp_path / "log")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "has no commit log" in err
    code, _, err = scenthound("crawl", "--resume", tmp_path / "none", "--commit-log", tmp_path / "log")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "is not a commit log" in err


def test_a_running_crawl_that_is_taken_over_ends_with_one_line(tmp_path: Path) -> None:
    with live_site(tmp_path) as site:
        folder, log = tmp_path / "out", tmp_path / "log"
        arguments = [str(each) for each in site.crawl("--pages", 40, "--out", folder, "--commit-log", log)]
        arguments[arguments.index("--delay") + 1] = "1"
        command = [sys.executable, "-m", "scenthound", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            while not (log / "000000003").exists():
                assert process.poll() is None
                threading.Event().wait(0.05)
            with CrawlStore.open(tmp_path / "elsewhere", commit_log=log) as store:
                n_commits = store.change_counter()
            _, err = process.communicate(timeout=WAIT_S)
        assert process.returncode == 1
        assert "Another process has taken over this crawl" in err.splitlines()[-1]
        assert "Traceback" not in err
        assert CommitLog.at(log).last() == n_commits


def test_the_database_of_a_rebuilt_folder_is_valid(tmp_path: Path) -> None:
    with logged_crawl(tmp_path / "crawl", tmp_path / "log") as store:
        add_commits(store, 70)
    CrawlStore.open(tmp_path / "elsewhere", commit_log=tmp_path / "log").close()
    with closing(sqlite3.connect(tmp_path / "elsewhere" / "crawl.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA user_version").fetchone() == (71,)
    assert (tmp_path / "elsewhere" / "acknowledged").read_text().strip() == "71"
