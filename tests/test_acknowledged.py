"""A crawl whose database lost commits that were acknowledged does not go on as if it never had them."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scenthound.errors import InvalidInput
from scenthound.store.archive import file_name
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import add_page, new_crawl, response

N_COMMITS = 5
#: The log begins with a head of 32 bytes; then come pages of 4,096, each with a head of 24.
LOG_HEAD_BYTES, FRAME_BYTES = 32, 24 + 4_096


def killed_crawl(folder: Path) -> Path:
    """What a kill leaves of a crawl that committed a page five times and began to write a sixth into its archive. A
    copy of the open files is just that, but for the sixth page."""
    alive = folder / "alive"
    with new_crawl(alive) as store:
        for number in range(N_COMMITS):
            add_page(store, number, response(f"http://a.test/{number}"))
            store.commit()
        shutil.copytree(alive, folder / "killed")
    archive = folder / "killed" / "archive" / file_name(0)
    archive.write_bytes(archive.read_bytes() + archive.read_bytes()[:300])
    return folder / "killed"


def log_of(folder: Path) -> Path:
    return folder / "crawl.sqlite-wal"


def contents(folder: Path) -> dict[Path, bytes]:
    """All files but the log's index, which readers make anew."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite-shm"}


def n_visits_when_resumed(folder: Path) -> int:
    with CrawlStore.open(folder) as store:
        archived = sum(path.stat().st_size for path in (folder / "archive").iterdir())
        assert archived == store.archive_end().offset
        return store.counts().visits


def test_a_killed_crawl_with_its_log_resumes_with_all_acknowledged_pages(tmp_path: Path) -> None:
    assert n_visits_when_resumed(killed_crawl(tmp_path)) == N_COMMITS


def test_a_killed_crawl_without_its_log_is_not_resumed_or_truncated(tmp_path: Path) -> None:
    folder = killed_crawl(tmp_path)
    log = log_of(folder).read_bytes()
    log_of(folder).unlink()
    # Who reads leaves an empty log behind, which must not be taken for the lost one.
    with closing(sqlite3.connect(f"{(folder / 'crawl.sqlite').as_uri()}?mode=ro", uri=True)) as reader:
        assert reader.execute("SELECT count(*) FROM visit").fetchone() == (0,)
    before = contents(folder)
    for opened in (CrawlStore, StoredCrawl, CrawlStore):
        with pytest.raises(
            InvalidInput, match=r"has lost 5 of 5 commits: crawl\.sqlite-wal was deleted or damaged"
        ) as told:
            opened.open(folder)
    assert "\n" not in str(told.value)
    assert contents(folder) == before
    log_of(folder).write_bytes(log)
    assert n_visits_when_resumed(folder) == N_COMMITS


@pytest.mark.parametrize("damage", ["cut off", "a bit turned", "emptied"])
def test_a_crawl_with_a_damaged_log_is_not_resumed_and_keeps_the_log(tmp_path: Path, damage: str) -> None:
    folder = killed_crawl(tmp_path)
    log = bytearray(log_of(folder).read_bytes())
    half = LOG_HEAD_BYTES + (len(log) - LOG_HEAD_BYTES) // FRAME_BYTES // 2 * FRAME_BYTES
    if damage == "cut off":
        del log[half:]
    elif damage == "emptied":
        log.clear()
    else:
        log[half + FRAME_BYTES // 2] ^= 1
    log_of(folder).write_bytes(log)
    before = contents(folder)
    with pytest.raises(InvalidInput, match=r"has lost [1-5] of 5 commits"):
        CrawlStore.open(folder)
    assert contents(folder) == before


def test_an_older_database_beside_a_newer_archive_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder) as store:
        add_page(store, 0, response())
        store.commit()
    shutil.copy(folder / "crawl.sqlite", tmp_path / "copy")
    with CrawlStore.open(folder) as store:
        add_page(store, 1, response("http://a.test/1"))
        store.commit()
    shutil.copy(tmp_path / "copy", folder / "crawl.sqlite")
    with pytest.raises(InvalidInput, match="has lost 1 of 2 commits"):
        CrawlStore.open(folder)


def test_deleting_the_acknowledged_file_allows_resuming_without_the_lost_commits(tmp_path: Path) -> None:
    folder = killed_crawl(tmp_path)
    log_of(folder).unlink()
    with pytest.raises(InvalidInput, match=r"or delete .*acknowledged"):
        CrawlStore.open(folder)
    (folder / "acknowledged").unlink()
    assert n_visits_when_resumed(folder) == 0
    with CrawlStore.open(folder) as store:
        add_page(store, 0, response())
        store.commit()
    assert n_visits_when_resumed(folder) == 1


def test_a_log_that_another_program_brought_into_the_database_is_not_missed(tmp_path: Path) -> None:
    folder = killed_crawl(tmp_path)
    connection = sqlite3.connect(folder / "crawl.sqlite")
    connection.execute("SELECT count(*) FROM visit").fetchone()
    connection.close()
    assert not log_of(folder).exists()
    assert n_visits_when_resumed(folder) == N_COMMITS


def test_a_crawl_that_ended_by_itself_needs_no_log(tmp_path: Path) -> None:
    killed_crawl(tmp_path)
    assert not log_of(tmp_path / "alive").exists()
    assert n_visits_when_resumed(tmp_path / "alive") == N_COMMITS


@pytest.mark.parametrize("note", [None, b"", b"no number\n"])
def test_a_crawl_without_a_readable_acknowledged_file_is_opened(tmp_path: Path, note: bytes | None) -> None:
    folder = killed_crawl(tmp_path)
    (folder / "acknowledged").unlink()
    if note is not None:
        (folder / "acknowledged").write_bytes(note)
    assert n_visits_when_resumed(folder) == N_COMMITS
    assert int((folder / "acknowledged").read_bytes()) == N_COMMITS


def test_a_kill_before_the_acknowledged_file_is_written_loses_nothing(tmp_path: Path) -> None:
    folder = killed_crawl(tmp_path)
    (folder / "acknowledged").write_bytes(b"%19d\n" % (N_COMMITS - 1))
    assert n_visits_when_resumed(folder) == N_COMMITS


def test_a_commit_is_valid_if_the_acknowledged_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "crawl"
    whole_write = os.pwrite

    def full_for_notes(handle: int, content: bytes, offset: int) -> int:
        if len(content) == 20:
            raise OSError(28, "No space left on device")
        return whole_write(handle, content, offset)

    with new_crawl(folder) as store:
        monkeypatch.setattr(os, "pwrite", full_for_notes)
        add_page(store, 0, response())
        store.commit()
    assert int((folder / "acknowledged").read_bytes()) == 0
    assert n_visits_when_resumed(folder) == 1
