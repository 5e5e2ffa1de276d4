"""Crawl folders: commits, kills, and folders of an older format."""

import os
import random
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from dashboard_client import Client
from scenthound.errors import Failure, InvalidInput
from scenthound.store.archive import file_name
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import AGENT, NOON_S, add_page, new_crawl, response, visit
from timing import WAIT_S

KILLS = 3

#: Goes on with the crawl in the folder that is named, and says of each commit how many visits it acknowledged.
CRAWLER = """
import random, sys
from pathlib import Path
from scenthound.store.crawl_store import CrawlStore
from stored_crawls import add_page, response
with CrawlStore.open(Path(sys.argv[1])) as store:
    number = store.n_visits()
    while True:
        for number in range(number, number + 3):
            body = random.Random(number).randbytes(20_000)
            add_page(store, number, response(f"http://a.test/{number}", body))
            store.add_urls([f"http://a.test/{number}"])
        store.commit()
        number += 1
        print(number, flush=True)
"""

#: Adds to a crawl until the system lets no file grow beyond 300,000 bytes.
FILLER = """
import random, resource, signal, sys
from pathlib import Path
from scenthound.errors import Failure
from scenthound.store.crawl_store import CrawlStore
from stored_crawls import add_page, response
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
store = CrawlStore.open(Path(sys.argv[1]))
number = 0
try:
    while True:
        if sys.argv[2] == "archive":
            add_page(store, number, response(f"http://a.test/{number}", random.Random(number).randbytes(20_000)))
        else:
            store.add_event_bytes(random.Random(number).randbytes(20_000))
        store.commit()
        number += 1
except Failure as failure:
    print(number, failure)
store.close()
"""


def program(text: str, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join((str(Path(__file__).parent), *sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", text, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def check_complete_crawl(folder: Path, acknowledged: int) -> int:
    """Every acknowledged page exists once, and all records of the archive are complete. Returns how many visits."""
    with StoredCrawl.open(folder) as crawl:
        visits = list(crawl.visits())
        assert len(visits) == crawl.position().urls >= acknowledged
        for row in visits:
            assert row.location is not None
            assert crawl.archive.record(row.location).body == random.Random(row.visit).randbytes(20_000)
    return len(visits)


def urls_in_archive(folder: Path) -> list[str]:
    """By another program than the one that wrote it; digests must be right."""
    urls = []
    for path in sorted((folder / "archive").iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    urls.append(record.rec_headers.get_header("WARC-Target-URI"))
    return urls


def test_after_kills_at_any_time_all_acknowledged_pages_exist_and_the_crawl_resumes(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    new_crawl(folder, most_file_bytes=300_000).close()
    samples = random.Random(4)
    acknowledged = 0
    for _ in range(KILLS):
        with program(CRAWLER, str(folder)) as crawler:
            assert crawler.stdout is not None
            crawler.stdout.readline()
            threading.Timer(samples.uniform(0.0, 0.1), crawler.kill).start()
            said = crawler.stdout.read().split("\n")
        # The last line may have been cut off by the kill.
        acknowledged = max(acknowledged, *(int(line) for line in said[:-1] if line), 0)
        assert check_complete_crawl(folder, acknowledged) > 0
        with CrawlStore.open(folder) as store:
            n_visits = store.n_visits()
        assert urls_in_archive(folder) == [f"http://a.test/{number}" for number in range(n_visits)]
    assert acknowledged > 3 * KILLS


def test_what_was_not_committed_is_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder) as store:
        add_page(store, 0, response("http://a.test/0"))
        store.commit()
        add_page(store, 1, response("http://a.test/1"))
    with CrawlStore.open(folder) as store:
        assert store.n_visits() == 1
        add_page(store, 1, response("http://a.test/other"))
        store.commit()
    assert urls_in_archive(folder) == ["http://a.test/0", "http://a.test/other"]


def test_only_opening_for_writing_truncates_unacknowledged_records(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder) as store:
        add_page(store, 0, response())
        store.commit()
    first, second = (folder / "archive" / file_name(number) for number in range(2))
    complete = first.read_bytes()
    first.write_bytes(complete + complete[:50])
    second.write_bytes(complete)
    StoredCrawl.open(folder).close()
    assert second.exists()
    CrawlStore.open(folder).close()
    assert first.read_bytes() == complete
    assert not second.exists()


def test_a_crawl_whose_archive_lost_acknowledged_records_is_not_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder) as store:
        add_page(store, 0, response())
        store.commit()
    archive = folder / "archive" / file_name(0)
    archive.write_bytes(archive.read_bytes()[:-1])
    with pytest.raises(InvalidInput, match=archive.name):
        CrawlStore.open(folder)
    # Nothing stays locked after that.
    with pytest.raises(InvalidInput, match=archive.name):
        CrawlStore.open(folder)


def test_a_commit_may_be_written_in_another_thread_while_more_is_added(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder, most_file_bytes=2_000) as store:
        for number in range(0, 20, 2):
            add_page(store, number, response(f"http://a.test/{number}"))
            store.add_urls([f"http://a.test/{number}"])
            writing = threading.Thread(target=store.write, args=(store.take(),))
            writing.start()
            add_page(store, number + 1, response(f"http://a.test/{number + 1}"))
            store.add_urls([f"http://a.test/{number + 1}"])
            writing.join()
        store.commit()
        urls = [f"http://a.test/{number}" for number in range(20)]
        assert store.urls() == urls == [row.url for row in store.visits()]
        assert all(row.location and store.archive.record(row.location).url == row.url for row in store.visits())
    assert urls_in_archive(folder) == urls


def test_a_second_writing_process_is_rejected(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder):
        with pytest.raises(InvalidInput, match=str(folder)):
            CrawlStore.open(folder)
        with pytest.raises(InvalidInput, match=str(folder)):
            CrawlStore.create(folder, {}, ArchiveSettings(AGENT), force=True)
        StoredCrawl.open(folder).close()
    CrawlStore.open(folder).close()


def test_force_replaces_crawls_only(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder, seeds=3) as store:
        store.add(visit(0))
        store.commit()
        assert store.about.settings == {"seeds": 3}
    with pytest.raises(InvalidInput, match="--force"):
        CrawlStore.create(folder, {}, ArchiveSettings(AGENT))
    with CrawlStore.create(folder, {"seeds": 4}, ArchiveSettings(AGENT), force=True) as store:
        assert (store.n_visits(), store.about.settings) == (0, {"seeds": 4})
    (tmp_path / "mine").mkdir()
    with pytest.raises(InvalidInput, match=rf"{tmp_path / 'mine'} .*\bcrawl\b"):
        CrawlStore.create(tmp_path / "mine", {}, ArchiveSettings(AGENT), force=True)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (None, "`scenthound crawl`"),
        (b"{", r"crawl\.json"),
        (b"[]", "`scenthound crawl`"),
        (b'{"format": "scenthound crawl", "version": 3}', r"\b3\b"),
        (b'{"format": "scenthound crawl", "version": 1}', r"\b1\b"),
        (b'{"format": "scenthound crawl", "version": 2, "id": "x", "archive": {}}', r"crawl\.json"),
    ],
)
def test_a_folder_without_a_valid_crawl_is_rejected(tmp_path: Path, about: bytes | None, message: str) -> None:
    if about is not None:
        (tmp_path / "crawl.json").write_bytes(about)
    for kind in (StoredCrawl, CrawlStore):
        with pytest.raises(InvalidInput, match=message) as raised:
            kind.open(tmp_path)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("what", ["archive", "database"])
def test_a_full_disk_ends_in_one_line_and_the_crawl_can_be_resumed(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "crawl"
    new_crawl(folder).close()
    with program(FILLER, str(folder), what) as filler:
        said = filler.communicate(timeout=WAIT_S)[0]
    number, _, line = said.partition(" ")
    assert line.count("\n") == 1
    assert str(folder) in line
    if what == "archive":
        # 14 pages of 20,000 random bytes fit into 300,000 with their heads; 15 do not.
        assert visits_of_cut_crawl(folder) == int(number) == 14
    with CrawlStore.open(folder) as store:
        assert int(number) == (store.n_visits() if what == "archive" else store.position().events) > 5
        add_page(store, store.n_visits(), response("http://a.test/more"))
        store.commit()
    assert urls_in_archive(folder)[-1] == "http://a.test/more"


def visits_of_cut_crawl(folder: Path) -> int:
    """The archive ends with the last acknowledged record already before it is opened for writing."""
    with StoredCrawl.open(folder) as crawl:
        assert (folder / "archive" / file_name(0)).stat().st_size == crawl.archive_end().offset
        return crawl.n_visits()


def test_short_writes_are_carried_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, content, offset: whole_write(handle, content[:7], offset))
    with new_crawl(tmp_path / "crawl") as store:
        add_page(store, 0, response("http://a.test/short"))
        store.commit()
    assert urls_in_archive(tmp_path / "crawl") == ["http://a.test/short"]


def test_after_a_failed_commit_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "full-disk")

    with new_crawl(tmp_path / "crawl") as store:
        add_page(store, 0, response("http://a.test/0"))
        store.commit()
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            add_page(store, 1, response("http://a.test/1"))
            with pytest.raises(Failure, match=r"crawl.*full-disk"):
                store.commit()
        # There is room again, but page 1 is gone, and so is what was numbered with it.
        with pytest.raises(Failure, match=str(tmp_path / "crawl")) as again:
            store.commit()
        assert "full-disk" in str(again.value)
        assert store.n_visits() == 1
    assert urls_in_archive(tmp_path / "crawl") == ["http://a.test/0"]


def test_each_file_of_the_archive_names_the_crawler_and_how_it_treats_robots_txt(tmp_path: Path) -> None:
    settings = ArchiveSettings("Bot/1.0\r\nEvil: yes", robots="obey", software="Scenthound 0.3")
    with CrawlStore.create(tmp_path / "crawl", {}, settings) as store:
        store.archive_response(response(), NOON_S)
        store.commit()
    with (tmp_path / "crawl" / "archive" / file_name(0)).open("rb") as file:
        fields = next(iter(ArchiveIterator(file))).content_stream().read().decode().split("\r\n")
    assert {"software: Scenthound 0.3", "http-header-user-agent: Bot/1.0 Evil: yes", "robots: obey"} <= set(fields)


Call = Callable[..., tuple[int, str, str]]
DATA = Path(__file__).parent / "data" / "crawl-0.6.tar.xz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(DATA) as archive:
        archive.extractall(tmp_path / "crawl", filter="data")
    return tmp_path / "crawl"


def test_a_crawl_of_an_older_format_is_refused_in_one_line(folder: Path, scenthound: Call) -> None:
    before = sorted((file, file.stat().st_mtime_ns) for file in folder.rglob("*") if file.is_file())
    for arguments in (("crawl", "--resume", folder), ("report", folder)):
        code, out, err = scenthound(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "is a crawl of format version 1, and this Scenthound reads version 2" in err
    assert sorted((file, file.stat().st_mtime_ns) for file in folder.rglob("*") if file.is_file()) == before


def test_the_dashboard_says_what_is_wrong_with_it(folder: Path) -> None:
    (shown,) = Client(folder).get("/api/folders").json["folders"]
    assert "format version 1" in shown["problem"]["message"]


def test_a_commit_without_content_writes_nothing(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        add_page(store, 0, response())
        store.commit()
        before = store.change_counter()
        store.add_event_bytes(b"")
        store.commit()
        store.commit()
        assert store.change_counter() == before
        store.add_urls(["http://a.test/new"])
        store.commit()
        assert store.change_counter() == before + 1
