"""Corrupt folders: each is reported in one sentence, blocks no request and hides no other folder."""

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

from dashboard_client import Client, ended_crawl, status_values
from scenthound.crawler.state import CrawlState, crawl_state
from scenthound.experiments.evolve.folder import LOG_FILE, SearchFolder
from scenthound.experiments.labels import LABELS_FILE
from scenthound.store import crawl_database
from scenthound.store.crawl_database import is_busy, locked_message
from scenthound.store.crawl_folder import ABOUT_FILE, DATABASE_FILE
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.live import LiveUpdates
from scenthound.ui.dashboard.live_reader import LiveReader
from timing import WAIT_S

Program = Callable[..., tuple[int, str, str]]
PATHS = ("", "/curves", "/pages", "/pages/3", "/skipped", "/hosts", "/graph", "/labels")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return ended_crawl(tmp_path / "corrupt")


def change(folder: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as database:
        database.execute(sql, values)
        database.commit()


def change_about(folder: Path, **settings: Any) -> None:
    about = json.loads((folder / ABOUT_FILE).read_text())
    about["settings"] |= settings
    (folder / ABOUT_FILE).write_text(json.dumps(about))


def statuses(client: Client) -> set[int]:
    """The status of all requests for the crawl."""
    return {client.get(f"/api/crawls/corrupt{path}").status for path in PATHS}


def test_one_corrupt_crawl_does_not_hide_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_for_one(crawl: StoredCrawl) -> CrawlState:
        if crawl.folder == folder:
            raise RecursionError("so deep")
        return crawl_state(crawl)

    for module in ("folder_views", "crawl_views"):
        monkeypatch.setattr(f"scenthound.ui.dashboard.{module}.crawl_state", fails_for_one)
    ended_crawl(folder.parent / "good")
    client = Client(folder.parent)
    corrupt, good = client.get("/api/folders").json["folders"]
    assert (good["kind"], good["state"]) == ("crawl", "ended")
    assert corrupt["kind"] == "unreadable"
    assert "RecursionError: so deep" in corrupt["problem"]["message"]
    metrics = client.get("/metrics")
    assert (metrics.status, 'scenthound_running{crawl="good"} 0.0' in metrics.text) == (200, True)
    assert 'crawl="corrupt"' not in metrics.text


@pytest.mark.parametrize("figure", ["many", [1]])
def test_corrupt_metrics_of_one_crawl_do_not_hide_those_of_others(folder: Path, figure: object) -> None:
    ended_crawl(folder.parent / "good")
    values = status_values(4) | {"pages": figure, "harvest": figure, "frontier": figure}
    change(folder, "UPDATE status SET text = ?", orjson.dumps(values))
    client = Client(folder.parent)
    assert client.get("/api/folders").status == 200
    metrics = client.get("/metrics")
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
def test_corrupt_values_in_the_database_are_reported(folder: Path, sql: str) -> None:
    change(folder, sql)
    client = Client(folder)
    assert 500 not in statuses(client)
    assert client.get("/report/corrupt").status in (200, 409, 422)


@pytest.mark.parametrize(
    "settings",
    [{"seeds": 5}, {"seeds": [{"a": 1}]}, {"strategy": ["x"]}, {"topic": {"id": {"a": 1}, "keywords": 5}}],
)
def test_corrupt_settings_are_reported(folder: Path, settings: dict[str, Any]) -> None:
    change_about(folder, **settings)
    client = Client(folder)
    assert statuses(client) <= {200, 409, 422}
    assert client.get("/report/corrupt").status in (200, 409, 422)


def test_the_message_names_the_crawl_and_the_error(folder: Path, scenthound: Program) -> None:
    change(folder, "UPDATE visit SET relevance = x'00' WHERE visit = 3")
    response = Client(folder).get("/api/crawls/corrupt/pages")
    message = response.json["message"]
    assert (response.status, message.startswith("corrupt "), "TypeError: " in message) == (422, True, True)
    code, _, errors = scenthound("report", folder)
    assert (code, errors.count("\n"), "ValueError: " in errors) == (2, 1, True)
    assert errors.startswith(f"scenthound: {folder} ")
    code, _, errors = scenthound("report", folder, folder, "--out", folder.parent / "both.html")
    assert (code, errors.count("\n")) == (2, 1)


@pytest.mark.parametrize("sql", ["UPDATE sample SET harvest = 'x'", "UPDATE visit SET title = x'fffe'"])
def test_live_updates_of_a_corrupt_crawl_end_with_a_problem(folder: Path, sql: str) -> None:
    change(folder, sql)

    async def received() -> list[bytes]:
        updates = LiveUpdates(interval_s=0.02)
        return [event async for event in updates.events(LiveReader(FoundFolder("corrupt", folder, "crawl")))]

    _, last = asyncio.run(asyncio.wait_for(received(), WAIT_S))
    assert last.startswith(b"event: problem\n")


@pytest.mark.parametrize("name", ["acknowledged", DATABASE_FILE, f"{DATABASE_FILE}-journal", LABELS_FILE, "run.json"])
def test_a_named_pipe_in_a_folder_blocks_no_request(folder: Path, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    client = Client(folder)
    began_s = monotonic()
    assert client.get("/api/folders").status == 200
    assert statuses(client) <= {200, 409}
    assert client.get("/report/corrupt").status in (200, 409)
    assert monotonic() - began_s < WAIT_S


@pytest.mark.parametrize("name", ["archive", "archive/file"])
def test_a_named_pipe_as_archive_blocks_no_request(folder: Path, name: str) -> None:
    if name == "archive":
        shutil.rmtree(folder / "archive")
        os.mkfifo(folder / "archive")
    else:
        (file,) = (folder / "archive").iterdir()
        file.unlink()
        os.mkfifo(file)
    assert statuses(Client(folder)) <= {200, 409}


def test_a_named_pipe_as_marker_file_blocks_no_request(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "good")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "comparison.json")
    (tmp_path / "pipe" / "search.json").write_text("{")
    assert [folder["id"] for folder in Client(tmp_path).get("/api/folders").json["folders"]] == ["good"]


def test_a_named_pipe_is_not_read_as_log_of_a_search(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / LOG_FILE)
    assert SearchFolder(tmp_path).logged() == []


def test_broken_symbolic_links_hide_no_crawl(folder: Path) -> None:
    (folder / "run.json").symlink_to("nowhere")
    (folder.parent / "loop").symlink_to("loop")
    assert [each["id"] for each in Client(folder.parent).get("/api/folders").json["folders"]] == ["corrupt"]


def test_a_locked_database_is_reported_soon(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(folder)
    waits_s: list[float] = []

    def recording_connect(*arguments: Any, timeout: float, **options: Any) -> sqlite3.Connection:
        waits_s.append(timeout)
        return sqlite3.connect(*arguments, timeout=timeout, **options)

    with closing(sqlite3.connect(folder / DATABASE_FILE, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE run SET ended_s = ended_s")
        with monkeypatch.context() as patch:
            patch.setattr(crawl_database, "sqlite3", SimpleNamespace(**{**vars(sqlite3), "connect": recording_connect}))
            response = client.get("/api/crawls/corrupt")
        assert 0 < sum(waits_s) <= 2
        message = locked_message(folder / DATABASE_FILE)
        assert (response.status, response.json["message"]) == (409, message)
        (listed,) = client.get("/api/folders").json["folders"]
        assert listed["problem"]["message"] == message
        other.execute("ROLLBACK")
    assert client.get("/api/crawls/corrupt").status == 200


def test_other_database_errors_are_not_reported_as_locks() -> None:
    assert not is_busy(ValueError())
    with closing(sqlite3.connect(":memory:")) as database, pytest.raises(sqlite3.OperationalError) as raised:
        database.execute("SELECT * FROM nothing")
    assert not is_busy(raised.value)


def test_a_search_without_its_log_is_reported(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    about = {"format": "scenthound search", "version": 1, "settings": {"n_crawls": "many"}}
    (tmp_path / "search" / "search.json").write_text(json.dumps(about))
    client = Client(tmp_path)
    assert client.get("/api/experiments/search").status in (200, 409, 422)
    assert client.get("/report/search").status in (409, 422)


def test_a_corrupt_experiment_is_reported_as_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search.json").write_text('{"format": "scenthound search", "version": 1}')
    monkeypatch.setattr("scenthound.ui.dashboard.api.experiment_response", lambda _found: {}["best"])
    response = Client(tmp_path).get("/api/experiments/search")
    assert (response.status, "experiment" in response.text, "KeyError: 'best'" in response.text) == (422, True, True)
