"""Folders that hold what no crawl writes: each is told of in a sentence, keeps nobody waiting and hides no other."""

import asyncio
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from asked_dashboard import Asker, ended_crawl, status_values
from scenthound.crawler.state import CrawlState, crawl_state
from scenthound.experiments.evolve.folder import LOG_FILE, SearchFolder
from scenthound.experiments.labels import LABELS_FILE
from scenthound.store import crawl_database
from scenthound.store.crawl_database import is_busy
from scenthound.store.crawl_folder import ABOUT_FILE, DATABASE_FILE
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard import events as event_stream
from scenthound.ui.dashboard.events import Watching
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.problems import Workers
from timing import WAIT_S

Program = Callable[..., tuple[int, str, str]]
ASKED = ("", "/curves", "/pages", "/pages/3", "/skipped", "/hosts", "/graph", "/labels")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return ended_crawl(tmp_path / "odd")


def change(folder: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as database:
        database.execute(sql, values)
        database.commit()


def change_about(folder: Path, **settings: Any) -> None:
    about = json.loads((folder / ABOUT_FILE).read_text())
    about["settings"] |= settings
    (folder / ABOUT_FILE).write_text(json.dumps(about))


def statuses(asker: Asker) -> set[int]:
    """How questions about the crawl are answered; none of them with a stack trace."""
    return {asker.get(f"/api/crawls/odd{path}").status for path in ASKED}


def test_one_odd_crawl_does_not_hide_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_for_one(crawl: StoredCrawl) -> CrawlState:
        if crawl.folder == folder:
            raise RecursionError("so deep")
        return crawl_state(crawl)

    for place in ("folder_views", "crawl_views"):
        monkeypatch.setattr(f"scenthound.ui.dashboard.{place}.crawl_state", fails_for_one)
    ended_crawl(folder.parent / "good")
    asker = Asker(folder.parent)
    good, odd = asker.get("/api/folders").json["folders"]
    assert (good["kind"], good["state"]) == ("crawl", "ended")
    assert (odd["kind"], odd["problem"]["says"]) == (
        "unreadable",
        "It cannot be read: RecursionError: so deep.",
    )
    metrics = asker.get("/metrics")
    assert (metrics.status, 'scenthound_running{crawl="good"} 0.0' in metrics.text) == (200, True)
    assert 'crawl="odd"' not in metrics.text


@pytest.mark.parametrize("figure", ["many", [1]])
def test_odd_figures_of_one_crawl_leave_those_of_others(folder: Path, figure: object) -> None:
    ended_crawl(folder.parent / "good")
    told = status_values(4) | {"pages": figure, "harvest": figure, "frontier": figure}
    change(folder, "UPDATE status SET text = ?", orjson.dumps(told))
    asker = Asker(folder.parent)
    assert asker.get("/api/folders").status == 200
    metrics = asker.get("/metrics")
    assert (metrics.status, 'scenthound_pages_total{crawl="good"} 4.0' in metrics.text) == (200, True)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE run SET ended = 5",
        "UPDATE run SET began_s = 'x'",
        "UPDATE sample SET harvest = 'x'",
        "UPDATE sample SET n_pages = NULL, time_s = NULL",
        "UPDATE visit SET relevance = 'abc' WHERE visit = 3",
        "UPDATE visit SET relevance = NULL WHERE visit = 3",
        "UPDATE visit SET title = x'fffe' WHERE visit = 3",
        "UPDATE visit SET time_s = 1e300 WHERE visit = 3",
        "UPDATE visit SET score = 's', rank = 'x', queue_size = NULL WHERE visit = 3",
        "UPDATE visit SET url = 'javascript:alert(1)' WHERE visit = 3",
        "UPDATE visit SET visit = 2147483646 WHERE visit = 3",
    ],
)
def test_odd_values_in_the_database_are_told_in_a_sentence(folder: Path, sql: str) -> None:
    change(folder, sql)
    asker = Asker(folder)
    assert 500 not in statuses(asker)
    assert asker.get("/report/odd").status in (200, 409, 422)


@pytest.mark.parametrize(
    "settings",
    [{"seeds": 5}, {"seeds": [{"a": 1}]}, {"strategy": ["x"]}, {"topic": {"id": {"a": 1}, "keywords": 5}}],
)
def test_odd_settings_are_told_in_a_sentence(folder: Path, settings: dict[str, Any]) -> None:
    change_about(folder, **settings)
    asker = Asker(folder)
    assert statuses(asker) <= {200, 409, 422}
    assert asker.get("/report/odd").status in (200, 409, 422)


def test_the_sentence_names_the_crawl_the_fault_and_the_way_out(folder: Path, scenthound: Program) -> None:
    change(folder, "UPDATE visit SET relevance = x'00' WHERE visit = 3")
    answer = Asker(folder).get("/api/crawls/odd/hosts")
    begins, ends = "is not a valid crawl (", "): restore it from a backup."
    assert (answer.status, answer.json["says"].endswith(ends)) == (422, True)
    assert answer.json["says"].startswith(f"odd {begins}TypeError: ")
    code, _, errors = scenthound("report", folder)
    assert (code, errors.count("\n"), errors.endswith(f"{ends}\n")) == (2, 1, True)
    assert errors.startswith(f"scenthound: {folder} {begins}ValueError: ")
    code, _, errors = scenthound("report", folder, folder, "--out", folder.parent / "both.html")
    assert (code, errors.count("\n")) == (2, 1)


@pytest.mark.parametrize("sql", ["UPDATE sample SET harvest = 'x'", "UPDATE visit SET title = x'fffe'"])
def test_who_watches_an_odd_crawl_is_told_and_nothing_more_comes(folder: Path, sql: str) -> None:
    change(folder, sql)

    async def watched() -> list[bytes]:
        watching = Watching(Workers("test", 1, 9), polled_every_s=0.02)
        watcher = watching.enter(FoundFolder("odd", folder, "crawl"))
        events = [event async for event in event_stream._events(watcher)]
        watching.leave(watcher)
        return events

    _, last = asyncio.run(asyncio.wait_for(watched(), WAIT_S))
    assert last.startswith(b"event: problem\n")
    assert b"is not a valid crawl" in last


@pytest.mark.parametrize("name", ["acknowledged", DATABASE_FILE, f"{DATABASE_FILE}-journal", LABELS_FILE, "run.json"])
def test_a_pipe_in_a_folder_keeps_nobody_waiting(folder: Path, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    asker = Asker(folder)
    began_s = monotonic()
    assert asker.get("/api/folders").status == 200
    assert statuses(asker) <= {200, 409}
    assert asker.get("/report/odd").status in (200, 409)
    assert monotonic() - began_s < WAIT_S


@pytest.mark.parametrize("name", ["archive", "archive/file"])
def test_a_pipe_in_place_of_the_archive_keeps_nobody_waiting(folder: Path, name: str) -> None:
    if name == "archive":
        shutil.rmtree(folder / "archive")
        os.mkfifo(folder / "archive")
    else:
        (file,) = (folder / "archive").iterdir()
        file.unlink()
        os.mkfifo(file)
    assert statuses(Asker(folder)) <= {200, 409}


def test_a_pipe_that_is_named_as_what_says_what_a_folder_is_keeps_nobody_waiting(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "good")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "comparison.json")
    (tmp_path / "pipe" / "search.json").write_text("{")
    assert [folder["id"] for folder in Asker(tmp_path).get("/api/folders").json["folders"]] == ["good"]


def test_a_log_of_a_search_that_is_a_pipe_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / LOG_FILE)
    assert SearchFolder(tmp_path).logged() == []


def test_a_link_that_leads_nowhere_hides_no_crawl(folder: Path) -> None:
    (folder / "run.json").symlink_to("nowhere")
    (folder.parent / "loop").symlink_to("loop")
    assert [each["id"] for each in Asker(folder.parent).get("/api/folders").json["folders"]] == ["odd"]


def test_a_database_that_another_program_holds_is_told_of_soon_and_as_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = Asker(folder)
    waits_s: list[float] = []

    def noted_connect(*arguments: Any, timeout: float, **options: Any) -> sqlite3.Connection:
        waits_s.append(timeout)
        return sqlite3.connect(*arguments, timeout=timeout, **options)

    with closing(sqlite3.connect(folder / DATABASE_FILE, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE run SET ended_s = ended_s")
        with monkeypatch.context() as patch:
            patch.setattr(crawl_database, "sqlite3", SimpleNamespace(**{**vars(sqlite3), "connect": noted_connect}))
            answer = asker.get("/api/crawls/odd")
        assert 0 < sum(waits_s) <= 2
        assert (answer.status, "is locked by another program" in answer.json["says"]) == (409, True)
        (shown,) = asker.get("/api/folders").json["folders"]
        assert "is locked by another program" in shown["problem"]["says"]
        other.execute("ROLLBACK")
    assert asker.get("/api/crawls/odd").status == 200


def test_another_fault_of_a_database_is_not_told_as_that() -> None:
    assert not is_busy(ValueError())
    with closing(sqlite3.connect(":memory:")) as database, pytest.raises(sqlite3.OperationalError) as raised:
        database.execute("SELECT * FROM nothing")
    assert not is_busy(raised.value)


def test_a_search_without_its_log_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    about = {"format": "scenthound search", "version": 1, "settings": {"n_crawls": "many"}}
    (tmp_path / "search" / "search.json").write_text(json.dumps(about))
    asker = Asker(tmp_path)
    assert asker.get("/api/experiments/search").status in (200, 409, 422)
    assert asker.get("/report/search").status in (409, 422)


def test_an_odd_experiment_is_called_one_in_the_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search.json").write_text('{"format": "scenthound search", "version": 1}')
    monkeypatch.setattr("scenthound.ui.dashboard.handlers.experiment_answer", lambda _found: {}["best"])
    answer = Asker(tmp_path).get("/api/experiments/search")
    assert (answer.status, "search is not a valid experiment (KeyError: 'best')" in answer.text) == (422, True)
