"""The database of a crawl: records, commits, and commits that were lost."""

import os
import random
import shutil
import sqlite3
import stat
from contextlib import closing, nullcontext
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from scenthound.errors import InvalidInput
from scenthound.reasons import SkipReason
from scenthound.store.archive import file_name
from scenthound.store.crawl_database import CrawlBatch, CrawlDatabase, plain_rows
from scenthound.store.crawl_records import (
    ArchiveLocation,
    JoinedArrays,
    RobotsRecord,
    SkippedRecord,
    VisitRecord,
    joined_arrays,
)
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.tables import packed, unpacked
from stored_crawls import NOON_S, add_page, new_crawl, response, visit


def same(left: VisitRecord, right: VisitRecord) -> bool:
    """Equal in every field; arrays by value."""
    for name in (each.name for each in fields(VisitRecord)):
        one, other = getattr(left, name), getattr(right, name)
        if not (np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other):
            return False
    return True


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_all_fields_of_a_visit_are_read_back(tmp_path: Path) -> None:
    full = visit(
        0,
        page=7,
        relevance=1 / 3,
        title="Café \x00 \U0001f415",
        simhash=-(2**63),
        links=numbers(1, 2, 2**31 - 1),
        location=ArchiveLocation(3, 2**40, 17),
        score=0.1,
        regret=float("inf"),
        predicted=np.array([0.1, -0.0, 1e-300]),
        anchors=np.array([1.0, 2.0, 3.0]),
        noindex=True,
        truncated=True,
    )
    bare = visit(1)
    with new_crawl(tmp_path / "crawl") as store:
        store.add(full)
        store.add(bare)
        store.commit()
        found = list(store.visits())
    assert len(found) == 2
    assert same(found[0], full)
    assert same(found[1], bare)
    assert found[1].location is None


def test_numbers_out_of_arrays_are_stored_as_numbers(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add(visit(0, page=np.int32(5), simhash=np.int64(-3), relevance=np.float64(0.25)))
        store.add(SkippedRecord(np.int32(6), "http://a.test/", SkipReason.ROBOTS, "", NOON_S))
        store.commit()
        found = store.visit_of_page(5)
        assert found is not None
        assert (found.simhash, found.relevance) == (-3, 0.25)
        assert store.skipped_page(6) is not None


def test_visits_of_many_commits_are_one_list_and_can_be_read_from_any_on(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        for number in range(10):
            store.add(visit(number, page=100 - number, links=numbers(*range(number))))
            if number in (0, 3, 4, 9):
                store.commit()
        for first in range(12):
            assert [row.visit for row in store.visits(first)] == list(range(first, 10))
        assert [len(row.links) for row in store.visits()] == [*range(10)]
        assert list(store.visits(10)) == []
        found = store.visit_of_page(96)
        assert found is not None
        assert (found.visit, found.links.tolist()) == (4, [0, 1, 2, 3])
        assert store.visit_of_page(4) is None
        assert store.visit_of_url("http://a.test/9") is not None
        assert store.visit_of_url("http://a.test/10") is None


def test_parents_are_the_visits_whose_links_hold_the_page(tmp_path: Path) -> None:
    # 65_536 is 0x10000: its bytes 00 00 01 00 stand across the border of the numbers 0 and 0x100 = 256.
    links = [numbers(1, 2), numbers(), numbers(2, 3, 2), numbers(0, 256), numbers(65_536), numbers(2)]
    with new_crawl(tmp_path / "crawl") as store:
        for number, row_links in enumerate(links):
            store.add(visit(number, links=row_links))
            if number in (1, 3):
                store.commit()
        store.commit()
        assert store.parents_of(2).tolist() == [0, 2, 5]
        assert store.parents_of(65_536).tolist() == [4]
        assert store.parents_of(9).tolist() == []


def test_the_last_skip_reason_of_a_page_counts(tmp_path: Path) -> None:
    rows = [
        SkippedRecord(3, "http://a.test/3", SkipReason.SERVER_ERROR, "503", NOON_S, 503),
        SkippedRecord(1, "http://a.test/1", SkipReason.ROBOTS, "", NOON_S),
        SkippedRecord(2, "http://a.test/2", SkipReason.ROBOTS, "\udcff", NOON_S),
        SkippedRecord(3, "http://a.test/3", SkipReason.RATE_LIMITED, "429", NOON_S + 1, 429),
    ]
    with new_crawl(tmp_path / "crawl") as store:
        for row in rows:
            store.add(row)
        store.commit()
        found = list(store.skipped())
        assert [row.page for row in found] == [1, 2, 3]
        assert found[0] == rows[1]
        assert found[2] == store.skipped_page(3) == rows[3]
        assert list(store.reasons().items()) == [(SkipReason.ROBOTS, 2), (SkipReason.RATE_LIMITED, 1)]
        assert store.skipped_page(4) is None
        assert store.n_skipped() == 3


def test_strings_robots_and_events_come_back_in_order_whatever_the_commits(tmp_path: Path) -> None:
    urls = [f"http://a.test/{'long-' * 20}{i}" for i in range(250)]
    stems = ["dog", "", "\udc80", "café"]
    robots = [
        RobotsRecord("http://a.test", NOON_S, 200, b"User-agent: *\n" * 50),
        RobotsRecord("http://b.test", 0.5, None, b""),
    ]
    with new_crawl(tmp_path / "crawl") as store:
        for start in range(250):
            store.add_urls(urls[start : start + 1])
            store.commit()
        store.add_stems(stems[:1])
        store.add_stems(stems[1:])
        for row in robots:
            store.add(row)
        for events in (b"one", b"two"):
            store.add_event_bytes(events)
        store.commit()
        store.add_event_bytes(b"")
        store.commit()
        store.add_event_bytes(b"3" * 1_000)
        store.commit()
        assert store.urls() == urls
        assert b"\n".join(store.stem_texts()).decode("utf-8", "surrogatepass").split("\n") == stems
        assert list(store.robots()) == robots
        assert [store.robots_file(number) for number in range(-1, 3)] == [None, *robots, None]
        assert list(store.events()) == [b"onetwo", b"3" * 1_000]
        assert (store.position().urls, store.position().stems, store.position().events) == (250, 4, 2)


def test_an_unfinished_iterator_blocks_nothing(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add(visit(0))
        store.add(visit(1))
        store.add_event_bytes(b"a")
        store.commit()
        visits, events = store.visits(), store.events()
        next(visits), next(events)
        store.add(visit(2))
        store.commit()
        # An open question would see the state of the first commit only, and keep the log from being emptied.
        assert store.n_visits() == 3
        log = tmp_path / "crawl" / "crawl.sqlite"
        connection = sqlite3.connect(log)
        busy, in_log, moved = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.close()
        assert (busy, in_log, moved) == (0, 0, 0)
        assert [row.visit for row in visits] == [1, 2]


def test_a_reader_sees_each_commit_of_a_running_crawl(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store, StoredCrawl.open(tmp_path / "crawl") as reader:
        assert reader.n_visits() == 0
        store.add(visit(0))
        assert reader.n_visits() == 0
        store.commit()
        assert [row.title for row in reader.visits()] == ["Page 0"]


def test_a_crawl_can_be_read_from_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder) as store:
        store.add(visit(0))
        store.commit()
    os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR)
    os.chmod(folder / "crawl.sqlite", stat.S_IRUSR)
    try:
        with StoredCrawl.open(folder) as reader:
            assert reader.n_visits() == 1
    finally:
        os.chmod(folder, stat.S_IRWXU)


@pytest.mark.parametrize("name", ["", "crawl.sqlite", "archive"])
def test_a_crawl_that_cannot_be_written_is_refused_before_anything_is_fetched(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "crawl"
    new_crawl(folder).close()
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK and Path(path) == folder / name))
    with pytest.raises(InvalidInput, match="permission denied"):
        CrawlStore.open(folder)


@pytest.mark.parametrize(
    ("application_id", "message"),
    [(0x5363 << 16 | 1, None), (0x5363 << 16 | 2, "schema version 2"), (0, "0.8 or later"), (7, "not"), (-1, "not")],
)
def test_a_database_of_another_version_is_refused(application_id: int, message: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    new_crawl(folder).close()
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        (written,) = database.execute("PRAGMA application_id").fetchone()
        database.execute(f"PRAGMA application_id = {application_id}")
        database.commit()
    assert written == 0x5363 << 16 | 1
    for opened in (StoredCrawl.open, CrawlStore.open):
        with nullcontext() if message is None else pytest.raises(InvalidInput, match=message):
            opened(folder).close()


def test_an_invalid_database_is_reported_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    new_crawl(folder).close()
    (folder / "crawl.sqlite").write_bytes(b"no database at all, but long enough to be looked at")
    with pytest.raises(InvalidInput, match=r"crawl\.sqlite"):
        StoredCrawl.open(folder)
    (folder / "crawl.sqlite").unlink()
    with pytest.raises(InvalidInput, match=r"crawl\.sqlite"):
        StoredCrawl.open(folder)
    with pytest.raises(InvalidInput, match=r"crawl\.sqlite"):
        CrawlDatabase(folder / "crawl.sqlite")
    assert not (folder / "crawl.sqlite").exists()


def test_a_batch_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with new_crawl(folder) as store:
        store.add(visit(0))
        store.commit()
        database = CrawlDatabase(folder / "crawl.sqlite")
        twice = CrawlBatch(0, 0, urls=["http://a.test/"])
        twice.rows[VisitRecord] = [visit(1), visit(0)]
        with pytest.raises(sqlite3.IntegrityError):
            database.write([plain_rows(twice)], store.archive_end())
        good = CrawlBatch(0, 0)
        good.rows[VisitRecord] = [visit(1)]
        database.write([plain_rows(good)], store.archive_end())
        database.close()
        assert (store.n_visits(), store.position().urls) == (2, 0)


@given(st.binary(max_size=500), st.integers(1, 50))
@example(random.Random(1).randbytes(1_000), 1)
def test_packed_content_is_restored_and_never_longer(content: bytes, times: int) -> None:
    is_packed, stored = packed(content * times)
    assert unpacked(is_packed, stored) == content * times
    assert len(stored) <= len(content * times)


floats = st.none() | arrays_of.arrays(np.float64, st.integers(0, 4), elements=st.floats(allow_nan=False))
links = arrays_of.arrays(np.int32, st.integers(0, 4))


@given(st.lists(st.tuples(links, floats, floats), min_size=1, max_size=6), st.integers(0, 1_000))
def test_arrays_that_were_joined_come_apart_as_they_were(
    rows: list[tuple[np.ndarray, np.ndarray | None, np.ndarray | None]], first: int
) -> None:
    visits = [
        visit(first + i, links=row_links, predicted=predicted, anchors=anchors)
        for i, (row_links, predicted, anchors) in enumerate(rows)
    ]
    joined = JoinedArrays(*joined_arrays(visits))
    assert (joined.first, joined.end) == (first, first + len(rows))
    for row in visits:
        for name, found in joined.of(row.visit).items():
            stored = getattr(row, name)
            assert (found is None) == (stored is None)
            assert found is None or np.array_equal(found, stored)


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
        return store.n_visits()


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
        with pytest.raises(InvalidInput, match=r"\b5 of 5\b.*crawl\.sqlite-wal") as told:
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
    with pytest.raises(InvalidInput, match=r"\b[1-5] of 5\b"):
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
    with pytest.raises(InvalidInput, match=r"\b1 of 2\b"):
        CrawlStore.open(folder)


def test_deleting_the_acknowledged_file_allows_resuming_without_the_lost_commits(tmp_path: Path) -> None:
    folder = killed_crawl(tmp_path)
    log_of(folder).unlink()
    with pytest.raises(InvalidInput, match="acknowledged"):
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
