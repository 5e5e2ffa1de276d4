"""`--log-file` and the logger `scenthound`: what is logged, at which level, and what happens if it cannot be."""

import json
import logging
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

import scenthound as sh
from live_site import live_site
from scenthound.cli.log_file import LEVELS, log_to
from scenthound.crawler.log import ProgressLog, values_text
from scenthound.errors import UnknownName
from scenthound.store.crawl_records import CrawlStatus

FULL_DISK = Path("/dev/full")
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR) (.+)")


@pytest.fixture
def site(tmp_path):
    with live_site(tmp_path) as running:
        yield running


def lines(file):
    """Level and message of each line."""
    matches = [LINE.fullmatch(line) for line in file.read_text().splitlines()]
    assert all(matches)
    return [(match[1], match[2]) for match in matches]


def test_runs_are_appended_with_settings_and_counts(site, tmp_path, scenthound):
    log, folder = tmp_path / "crawl.log", tmp_path / "out"
    secret = ("--header", "Authorization: Bearer 1234567")
    assert scenthound(*site.crawl("--pages", 3, "--out", folder, "--log-file", log, *secret))[0] == 0
    first = lines(log)
    assert [level for level, _ in first][:1] == ["INFO"]
    settings = json.loads(first[0][1].partition("settings=")[2])
    assert settings["page_budget"] == 3
    assert "1234567" not in log.read_text()
    assert "pages=3" in first[-1][1]
    assert scenthound("crawl", "--resume", folder, "--pages", 5, "--log-file", log)[0] == 0
    assert lines(log)[: len(first)] == first
    assert "resumed_after=3" in lines(log)[len(first)][1]
    assert scenthound("crawl", "--refresh", folder, "--log-file", log)[0] == 0
    assert "checked=5" in lines(log)[-1][1]


def test_debug_has_a_line_for_each_visited_and_skipped_page(site, tmp_path, scenthound):
    log, folder = tmp_path / "crawl.log", tmp_path / "out"
    more = ("--seed", site.url("private"), "--log-file", log, "--log-level", "debug")
    assert scenthound(*site.crawl("--pages", 4, "--out", folder, *more))[0] == 0
    messages = [message for level, message in lines(log) if level == "DEBUG"]
    crawl = sh.open_crawl(folder)
    visited = [each for each in messages if each.startswith("visited:")]
    assert [row.url in message for row, message in zip(crawl.pages, visited, strict=True)] == [True] * 4
    skipped = [each for each in messages if each.startswith("skipped:")]
    assert sum("robots" in each for each in skipped) == 1
    assert len(skipped) == len(crawl.skipped)


def test_a_file_that_cannot_be_written_is_one_line_before_the_crawl_starts(site, tmp_path, scenthound):
    for file in (tmp_path, tmp_path / "missing" / "crawl.log"):
        code, _, errors = scenthound(
            *site.crawl("--contact", "me@a.test", "--out", tmp_path / "out", "--log-file", file)
        )
        assert (code, str(file) in errors.splitlines()[-1]) == (2, True)
    assert site.server.requests == {}
    assert not (tmp_path / "out").exists()
    code, _, errors = scenthound(*site.crawl("--out", tmp_path / "out", "--log-level", "inof"))
    assert code == 2
    assert "'info'" in errors


def test_a_moved_file_is_opened_anew_and_a_lost_one_is_noted_once(tmp_path, capsys):
    folder = tmp_path / "logs"
    folder.mkdir()
    log = folder / "crawl.log"
    logger = logging.getLogger("scenthound")
    with log_to(log):
        logger.info("one\ntwo \x1b[31m")
        log.rename(folder / "crawl.log.1")
        logger.info("three")
        assert [message for _, message in lines(folder / "crawl.log.1")] == [r"one\ntwo \x1b[31m"]
        assert lines(log) == [("INFO", "three")]
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        logger.info("four")
        logger.info("five")
    assert capsys.readouterr().err.count("\n") == 1
    assert logger.level == logging.NOTSET
    assert not any(isinstance(handler, logging.FileHandler) for handler in logger.handlers)


@pytest.mark.skipif(not FULL_DISK.exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_noted_once_and_the_crawl_goes_on(site, tmp_path, scenthound):
    folder = tmp_path / "out"
    code, out, errors = scenthound(*site.crawl("--pages", 3, "--out", folder, "--log-file", FULL_DISK, "--json"))
    assert (code, json.loads(out)["ended"], len(sh.open_crawl(folder).pages)) == (0, "budget", 3)
    assert errors.count(str(FULL_DISK)) == 1


@pytest.mark.parametrize("name", ["-", "", "."])
def test_a_log_file_needs_a_name(site, tmp_path, scenthound, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, _, errors = scenthound(*site.crawl("--out", "out", "--contact", "me@a.test", "--log-file", name))
    assert (code, "--log-file" in errors.splitlines()[-1]) == (2, True)
    assert not (tmp_path / "-").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_includes_those_above_it(tmp_path, level):
    with log_to(tmp_path / "a.log", level):
        for each in LEVELS:
            logging.getLogger("scenthound").log(logging.getLevelName(each.upper()), each)
    assert [message for _, message in lines(tmp_path / "a.log")] == list(LEVELS[LEVELS.index(level) :])
    with pytest.raises(UnknownName), log_to(None, "loud"):
        pass


def test_a_dry_run_checks_the_level(site, scenthound):
    code, _, errors = scenthound(*site.crawl("--dry-run", "--log-level", "loud"))
    assert (code, "'loud'" in errors.splitlines()[-1]) == (2, True)


def test_progress_is_logged_once_a_minute_and_changes_at_once(caplog):
    now_s = [0.0]
    log = ProgressLog("crawl", lambda: now_s[0])
    values = {each.name: 0 for each in fields(CrawlStatus)} | {"reasons": {}, "ending": None}
    status = CrawlStatus(**values)
    with caplog.at_level(logging.INFO, "scenthound"):
        for seconds in range(0, 130, 10):
            now_s[0] = float(seconds)
            log(status)
        assert len(caplog.records) == 2
        log(replace(status, paused=True))
        log(replace(status, hosts_disabled=2))
        assert [record.levelname for record in caplog.records[2:]] == ["INFO", "WARNING", "INFO"]


def test_a_program_that_uses_the_package_gets_records_without_a_file(site, tmp_path, caplog):
    hosts = {f"h{host}.test": f"127.61.0.{host + 1}" for host in range(4)}
    with caplog.at_level(logging.INFO, "scenthound"):
        sh.crawl(["balloon"], site.url(0), hosts=hosts, allow_private=True, delay=0, pages=2, out=tmp_path / "out")
    assert {record.name for record in caplog.records} == {"scenthound"}
    assert len(caplog.records) >= 2


def test_values_are_quoted_if_they_need_it():
    values = {"url": "http://a.test/", "why": "page budget", "none": None, "sign": 'a="b"', "share": 1 / 3}
    assert values_text(values) == 'url=http://a.test/ why="page budget" sign="a=\\"b\\"" share=0.3333'
