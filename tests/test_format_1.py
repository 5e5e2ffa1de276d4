"""Crawl folders made by 0.6 can be read by every command, and a resume says what to do instead."""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard_client import Client
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.start import resume
from scenthound.errors import InvalidInput
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_records import HostState
from scenthound.store.exports import export
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl

Call = Callable[..., tuple[int, str, str]]
DATA = Path(__file__).parent / "data" / "crawl-0.6.tar.xz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(DATA) as archive:
        archive.extractall(tmp_path / "crawl", filter="data")
    return tmp_path / "crawl"


def test_records_have_the_present_names_and_codes(folder: Path) -> None:
    with StoredCrawl.open(folder) as crawl:
        visits = list(crawl.visits())
        assert [row.visit for row in visits] == list(range(8))
        assert visits[0].queue_size == 0
        assert not any(row.noindex or row.truncated for row in visits)
        assert set(crawl.reasons()) == {SkipReason.REPEATED, SkipReason.ROBOTS, SkipReason.CLIENT_ERROR}
        assert [row.reason for row in crawl.skipped_pages(9, reason=SkipReason.REPEATED)] == [SkipReason.REPEATED]
        (_, sample), *_ = crawl.samples()
        assert (sample.run, sample.page_budget) == (1, 8)
        assert crawl.relevance_models() == []
        assert crawl.runs()[0].version == "0.6.0"


def test_the_status_has_the_present_names(folder: Path) -> None:
    with StoredCrawl.open(folder) as crawl:
        status = crawl.status()
    assert status is not None
    assert (status.n_pages, status.n_skipped, status.hosts[HostState.WAITING]) == (8, 3, 4)
    assert status.ending is EndReason.BUDGET
    assert {host.state for host in status.host_statistics} == {HostState.WAITING}
    assert status.reasons[SkipReason.REPEATED] == 1


def test_its_settings_can_be_read(folder: Path) -> None:
    with StoredCrawl.open(folder) as crawl:
        settings = CrawlSettings.from_settings(crawl.about.settings)
    assert (settings.strategy, settings.page_budget, settings.politeness.max_failures) == ("best_first", 8, 10)


def test_it_can_be_exported_and_simulated(folder: Path, tmp_path: Path, scenthound: Call) -> None:
    assert export(folder, "jsonl", tmp_path / "pages.jsonl").written == 8
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["title"] == "Page 0"
    arguments = ["--web", str(folder), "--strategy", "breadth_first", "--pages", "5", "--out", str(tmp_path / "run")]
    topics = tmp_path / "topics.jsonl"
    url = json.loads(lines[0])["url"]
    topics.write_text(json.dumps({"id": "t", "keywords": ["balloon"], "seeds": [url], "targets": []}) + "\n")
    code, _, err = scenthound("simulate", "--topics", topics, *arguments)
    assert (code, err) == (0, err)
    assert RecordedWeb.open(folder / "web").n_pages >= 8


def test_it_has_a_report(folder: Path, tmp_path: Path, scenthound: Call) -> None:
    assert scenthound("report", folder, "--out", tmp_path / "report.html")[0] == 0
    assert "best_first" in (tmp_path / "report.html").read_text()


def test_the_dashboard_shows_it(folder: Path) -> None:
    asker = Client(folder)
    (shown,) = asker.get("/api/folders").json["folders"]
    assert (shown["kind"], shown["state"], shown["pages"], shown["problem"]) == ("crawl", "ended", 8, None)
    crawl = asker.get(f"/api/crawls/{shown['id']}").json
    assert (crawl["status"]["n_pages"], crawl["reasons"][0]["reason"]) == (8, "already-visited")
    assert len(asker.get(f"/api/crawls/{shown['id']}/pages").json["pages"]) == 8
    assert "scenthound_pages_total" in asker.get("/metrics").text


def test_it_cannot_be_resumed(folder: Path) -> None:
    before = sorted((file, file.stat().st_mtime_ns) for file in folder.rglob("*") if file.is_file())
    with pytest.raises(InvalidInput, match=f"--web {folder}"):
        resume(folder)
    assert sorted((file, file.stat().st_mtime_ns) for file in folder.rglob("*") if file.is_file()) == before
