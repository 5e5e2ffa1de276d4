"""What people and programs see of a live crawl while it runs."""

import io
import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from scenthound.cli import crawl_progress
from scenthound.cli.crawl_progress import (
    JsonLines,
    PlainLines,
    _display,
    clock_time,
    ending_text,
    seconds_left,
    skipped,
)
from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.replay import start_or_replay
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.crawl_store import CrawlStore
from virtual_site import crawl_virtually, plan, random_site

STATUS = CrawlStatus(
    time_s=0.0,
    run=1,
    paused=False,
    seconds_left=150.0,
    n_pages=250,
    page_budget=1000,
    seconds=50.0,
    pages_per_s=5.0,
    harvest=0.25,
    recent_harvest=0.125,
    frontier=12_345,
    in_flight=7,
    hosts_active=7,
    hosts_waiting=30,
    hosts_ready=3,
    hosts_disabled=2,
    regret=0.0625,
    n_skipped=18,
    reasons={
        SkipReason.ROBOTS: 3,
        SkipReason.NOT_HTML: 9,
        SkipReason.CLIENT_ERROR: 4,
        SkipReason.SOFT_404: 1,
        SkipReason.TRAP_PATH: 1,
    },
)


def displayed(status: CrawlStatus, width: int = 100) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(_display("balloons by shark_search", status, None))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_display_has_progress_harvest_hosts_and_skip_reasons() -> None:
    head, *facts = displayed(STATUS)
    assert head.startswith("balloons by shark_search  ━")
    # 750 pages at 5 a second take 150 s.
    assert head.endswith("250 of 1,000 pages  5.0 pages/s  2:30 left")
    assert facts == [
        "harvest   0.250, recently 0.125",
        "given up  6.2% of the best score",
        "frontier  12,345 queued, 7 in flight",
        "hosts     7 active, 30 waiting, 2 disabled",
        "skipped   18: not-html 9, client-error 4, robots 3, others 2",
    ]


def test_the_display_has_the_recall_with_its_interval_if_it_is_known() -> None:
    known = replace(STATUS, recall=0.625, recall_low=0.25, recall_high=1.0)
    assert displayed(known)[1] == "recall    about 62% (25% to 100%)"
    assert len(displayed(known)) == len(displayed(STATUS)) + 1


@pytest.mark.parametrize("width", [20, 40, 80])
def test_the_display_has_as_many_lines_on_a_narrow_terminal(width: int) -> None:
    assert len(displayed(STATUS, width)) == 6


def test_a_crawl_that_is_to_end_says_what_it_waits_for() -> None:
    assert ending_text(STATUS) == ""
    stopped = replace(STATUS, ending=EndReason.STOPPED)
    assert re.match(rf"{EndReason.STOPPED}.*\b7\b.*Ctrl-C", ending_text(stopped))
    assert displayed(stopped)[-1] == ending_text(stopped)
    assert re.match(rf"{EndReason.TIME}.*\b7\b(?!.*Ctrl-C)", ending_text(replace(STATUS, ending=EndReason.TIME)))


@pytest.mark.parametrize(
    ("changes", "time_s", "left_s"),
    [
        ({}, None, 150.0),  # the budget
        ({}, 100.0, 50.0),  # 50 of 100 seconds are gone
        ({}, 1000.0, 150.0),
        ({"seconds_left": None}, None, None),
        ({"seconds_left": None}, 60.0, 10.0),
        ({}, 40.0, 0.0),  # what is in flight may take longer
    ],
)
def test_the_time_left_is_that_until_budget_or_time_is_reached(
    changes: dict[str, Any], time_s: float | None, left_s: float | None
) -> None:
    assert seconds_left(replace(STATUS, **changes), time_s) == left_s


@pytest.mark.parametrize(("seconds", "printed"), [(0.4, "0:00"), (65, "1:05"), (3599.6, "1:00:00"), (7265, "2:01:05")])
def test_durations_are_formatted_like_a_clock(seconds: float, printed: str) -> None:
    assert clock_time(seconds) == printed


def test_without_reasons_nothing_is_named() -> None:
    assert skipped(replace(STATUS, reasons={}, n_skipped=0)) == "0"


def test_plain_lines_are_rare_but_the_end_is_reported_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 100.0
    monkeypatch.setattr(crawl_progress, "monotonic", lambda: now_s)
    with PlainLines(None) as lines:
        for moment_s in (100.5, 104.0, 105.0, 105.5):
            now_s = moment_s
            lines.watch(STATUS)
        now_s = 106.0
        lines.watch(replace(STATUS, ending=EndReason.STOPPED))
        lines.watch(replace(STATUS, ending=EndReason.STOPPED))
    first, second = capsys.readouterr().err.splitlines()
    assert first == (
        "250 of 1,000 pages, 5.0 pages/s, 2:30 left; harvest 0.250, recently 0.125; frontier 12,345; "
        "hosts 7 active, 30 waiting, 2 disabled; score given up 6.2%; "
        "skipped 18: not-html 9, client-error 4, robots 3, others 2"
    )
    assert second.startswith(EndReason.STOPPED)


def test_the_first_line_of_a_resumed_crawl_comes_after_a_second(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 100.0
    monkeypatch.setattr(crawl_progress, "monotonic", lambda: now_s)
    with PlainLines(None) as lines:
        for moment_s in (100.9, 101.0, 105.9, 106.0):
            now_s = moment_s
            lines.progress(0.5, f"at {moment_s}")
    assert [line.split()[-1] for line in capsys.readouterr().err.splitlines()] == ["101.0", "106.0"]


def test_what_a_relevance_model_learns_again_is_reported(tmp_path: Path) -> None:
    site = random_site(1)
    settings = plan(tuple(list(site.pages)[:2]), relevance="rocchio", page_budget=30)
    crawl_virtually(tmp_path / "crawl", settings, site)
    reports: list[tuple[float, str]] = []
    with closing(CrawlStore.open(tmp_path / "crawl")) as store:
        parts = CrawlParts(settings, store)
        start_or_replay(parts, settings, store, lambda *report: reports.append(report))
    replayed = [share for share, _ in reports].index(1.0)
    assert [share for share, _ in reports[replayed + 1 :]] == [0.0, pytest.approx(20 / 30)]


def test_json_lines_come_once_a_second_and_when_the_crawl_is_to_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 100.0
    monkeypatch.setattr(crawl_progress, "monotonic", lambda: now_s)
    with JsonLines(lambda status: crawl_progress.status_values(status, None)) as lines:
        for moment_s in (100.0, 100.5, 101.0):
            now_s = moment_s
            lines.watch(STATUS)
        now_s = 101.5
        lines.watch(replace(STATUS, ending=EndReason.TIME))
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["ending"] for event in events] == [None, None, "time"]
    assert events[0]["reasons"] == {"not-html": 9, "client-error": 4, "robots": 3, "soft-404": 1, "trap-path": 1}
    assert (events[0]["event"], events[0]["seconds_left"]) == ("status", 150.0)
