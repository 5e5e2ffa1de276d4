"""`scenthound crawl --refresh`: pages are checked again, changed ones are stored, and nothing is lost."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import scenthound as sh
from changing_site import ChangingSite, changing_site
from live_site import started
from scenthound.crawler import clock, recrawl
from scenthound.crawler.check_order import known_pages
from scenthound.crawler.runner import RunOptions
from scenthound.errors import InvalidParameter
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_records import CheckOutcome, CheckRecord, RefreshRecord
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import NOON_S, add_page, new_crawl, response
from timing import WAIT_S, wait_until

Call = Callable[..., tuple[int, str, str]]
UNCHANGED, CHANGED = CheckOutcome.UNCHANGED, CheckOutcome.CHANGED


def crawled(site: ChangingSite, folder: Path, scenthound: Call, *more: object) -> Path:
    code, _, err = scenthound(*site.crawl(folder, *more))
    assert code == 0, err
    site.forget()
    return folder


def refreshed(scenthound: Call, folder: Path, *more: object) -> dict[str, Any]:
    code, out, err = scenthound("crawl", "--refresh", folder, *more, "--json")
    assert code == 0, err
    values: dict[str, Any] = json.loads(out)
    return values


def counts(values: dict[str, Any]) -> tuple[int, int, int, int, int]:
    unchanged, changed, gone, failed, skipped = (values[f"n_{outcome}"] for outcome in CheckOutcome)
    return unchanged, changed, gone, failed, skipped


def exported(folder: Path, scenthound: Call) -> dict[str, str]:
    """The HTML of each exported page, by URL."""
    out = folder.parent / "exported.jsonl"
    assert scenthound("export", folder, "--to", "jsonl", "--html", "--out", out, "--force")[0] == 0
    pages = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    return {page["url"]: page["html"] for page in pages}


@pytest.mark.parametrize("validators", ["etag", "modified"])
def test_an_unchanged_site_costs_no_body_and_keeps_its_pages(validators: str, tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, validators=validators) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        before = exported(folder, scenthound)
        values = refreshed(scenthound, folder)
        assert counts(values) == (6, 0, 0, 0, 0)
        assert (values["ended"], values["n_pages"], values["body_bytes"]) == ("complete", 6, 0)
        assert site.body_bytes == 0
        assert site.pages_requested() == {site.url(page): 1 for page in range(6)}
    assert exported(folder, scenthound) == before


def test_a_server_without_validators_sends_bodies_that_are_not_stored_again(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, validators="") as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        values = refreshed(scenthound, folder)
        assert counts(values) == (6, 0, 0, 0, 0)
        assert values["body_bytes"] == site.body_bytes > 0
    with StoredCrawl.open(folder) as crawl:
        records = [crawl.archive.record(check.location) for check in crawl.checks() if check.location is not None]
    assert [(record.kind, record.status, record.body) for record in records] == [("revisit", 200, b"")] * 6


def test_a_page_that_is_compressed_in_another_way_is_unchanged(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, validators="") as site:
        site.gzip_level = 1
        folder = crawled(site, tmp_path / "out", scenthound)
        site.gzip_level = 9
        assert counts(refreshed(scenthound, folder)) == (6, 0, 0, 0, 0)
    with StoredCrawl.open(folder) as crawl:
        records = [crawl.archive.record(check.location) for check in crawl.checks() if check.location is not None]
    # Another body cannot be a revisit.
    assert {record.kind for record in records} == {"response"}


def test_a_page_that_may_not_be_indexed_any_more_has_changed(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, validators="") as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        site.more_headers = (("X-Robots-Tag", "noindex"),)
        assert counts(refreshed(scenthound, folder)) == (0, 6, 0, 0, 0)
        assert exported(folder, scenthound) == {}


def test_changed_pages_are_exported_in_their_latest_version_and_the_first_is_kept(
    tmp_path: Path, scenthound: Call
) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        first = exported(folder, scenthound)
        for version in (1, 2):
            site.versions = {2: version, 5: 1}
            values = refreshed(scenthound, folder)
            assert counts(values) == (6 - 3 + version, 3 - version, 0, 0, 0)
            latest = exported(folder, scenthound)
            assert latest == {site.url(page): site.html(page) for page in range(6)}
        assert values["refresh"] == 2
    with StoredCrawl.open(folder) as crawl:
        changes = [check for check in crawl.checks() if check.outcome is CHANGED]
        versions = [crawl.archive.record(check.location).html for check in changes if check.location is not None]
        assert len(versions) == 3
        assert "news 1" in versions[0]
        bodies = {record.html for _, record in crawl.archive.records(crawl.archive_end()) if record.kind == "response"}
        assert set(first.values()) <= bodies
        # The course of the crawl is unchanged: a page has the time of its first visit there.
        (times,) = crawl.numbers(("time_s",), crawl.n_visits())
        assert times.tolist() == sorted(times.tolist())
        assert max(row.time_s for row in crawl.visits()) > times.max()


def test_pages_that_are_gone_or_merged_are_counted_and_their_last_version_stays(
    tmp_path: Path, scenthound: Call
) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        before = exported(folder, scenthound)
        site.gone, site.moved = {3}, {4: site.url(0), 5: site.server.url("http://c1.test/new5")}
        values = refreshed(scenthound, folder)
        assert counts(values) == (3, 1, 2, 0, 0)
        assert values["reasons"] == {"already-visited": 1, "client-error": 1}
        after = exported(folder, scenthound)
        new = site.server.url("http://c1.test/new5")
        assert after.pop(new) == "moved to new5"
        assert before.pop(site.url(5))
        assert after == before
        # The page that has moved is found unchanged at its new URL, and those that came back are found.
        site.gone = set()
        assert counts(refreshed(scenthound, folder)) == (5, 0, 1, 0, 0)


def test_of_two_pages_that_have_become_one_only_one_is_kept(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        new = site.server.url("http://c0.test/new")
        site.moved = {1: new, 2: new}
        assert counts(refreshed(scenthound, folder)) == (4, 1, 1, 0, 0)
        assert site.pages_requested()[new] == 1
        assert set(exported(folder, scenthound)) - {site.url(page) for page in range(6)} == {new}
        code, out, _ = scenthound("explain", folder, new)
        assert code == 0
        assert "changed" in out


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_page_that_redirected_for_a_while_is_found_again(status: int, tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        before = exported(folder, scenthound)
        login = site.server.url("http://c0.test/new-login")
        # Two pages of one host, and one of another.
        site.moved, site.moved_status = dict.fromkeys((1, 2, 4), login), status
        assert counts(refreshed(scenthound, folder)) == (3, 1, 2, 0, 0)
        # The page to which they redirected is gone.
        site.moved = {1: site.url(9), 2: site.url(9)}
        assert counts(refreshed(scenthound, folder))[2] == 2
        site.moved = {}
        assert counts(refreshed(scenthound, folder))[2:] == (0, 0, 0)
        assert exported(folder, scenthound) == before
        site.forget()
        assert counts(refreshed(scenthound, folder)) == (6, 0, 0, 0, 0)
        assert (site.pages_requested(), site.body_bytes) == ({site.url(page): 1 for page in range(6)}, 0)


@pytest.mark.parametrize("validators", ["etag", "modified"])
def test_validators_are_those_of_the_url_that_is_requested(validators: str, tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, validators=validators) as site:
        folder = crawled(site, tmp_path / "out", scenthound, "--pages", 5)
        # Page 5 is not in the crawl, and has the validators of the page that redirects to it.
        site.moved = {4: site.url(5)}
        site.same_validators = True
        assert counts(refreshed(scenthound, folder)) == (4, 1, 0, 0, 0)
        site.forget()
        assert counts(refreshed(scenthound, folder)) == (5, 0, 0, 0, 0)
        # That page has not changed since.
        assert site.body_bytes == 0
        site.moved = {}
        assert counts(refreshed(scenthound, folder)) == (4, 1, 0, 0, 0)
        assert exported(folder, scenthound)[site.url(4)] == site.html(4)


def test_robots_txt_and_failures_are_reasons_and_change_nothing(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        before = exported(folder, scenthound)
        site.robots = "User-agent: *\nDisallow: /2\n"
        values = refreshed(scenthound, folder)
        assert counts(values) == (5, 0, 0, 0, 1)
        assert values["reasons"] == {SkipReason.ROBOTS.value: 1}
        assert site.url(2) not in site.pages_requested()
        change_settings(folder, tries=1)
    # The server has stopped.
    values = refreshed(scenthound, folder)
    assert counts(values)[:4] == (0, 0, 0, 6)
    assert exported(folder, scenthound) == before


def test_a_page_that_is_empty_for_a_while_keeps_its_last_version(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, validators="none") as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        before = exported(folder, scenthound)
        site.empty = {2}
        values = refreshed(scenthound, folder)
        assert (counts(values), values["reasons"]) == ((5, 0, 0, 1, 0), {"empty-page": 1})
        assert exported(folder, scenthound) == before
        site.empty = set()
        assert counts(refreshed(scenthound, folder)) == (6, 0, 0, 0, 0)


def test_a_crawl_does_not_visit_empty_pages(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        site.empty = {3}
        folder = crawled(site, tmp_path / "out", scenthound)
    with StoredCrawl.open(folder) as crawl:
        assert [row.url for row in crawl.visits()] == [site.url(page) for page in range(3)]
        assert crawl.reasons() == {SkipReason.EMPTY_PAGE: 1}


def test_a_page_limit_checks_the_pages_most_likely_to_have_changed(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, n_pages=8) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        # Page 5 is found changed each time, so it is expected to change again.
        for version in range(1, 4):
            site.versions = {5: version}
            refreshed(scenthound, folder)
        site.forget()
        values = refreshed(scenthound, folder, "--pages", 1)
        assert (values["ended"], values["n_pages"], values["n_checked"]) == ("complete", 1, 1)
        assert site.pages_requested() == {site.url(5): 1}


def test_a_refresh_that_was_killed_continues_and_checks_no_page_twice(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, n_pages=20) as site:
        # Two hosts with a crawl delay of half a second each.
        folder = crawled(site, tmp_path / "out", scenthound)
        change_settings(folder, delay_s=0.5)
        site.versions = dict.fromkeys(range(20), 1)
        with started("crawl", "--refresh", folder) as running:
            wait_until(lambda: n_checked(folder) >= 4, process=running)
            running.kill()
        with StoredCrawl.open(folder) as crawl:
            checked = {check.url for check in crawl.checks()}
        assert 4 <= len(checked) < 20
        change_settings(folder)
        site.forget()
        code, out, _ = scenthound("crawl", "--refresh", folder)
        assert code == 0
        assert not checked & set(site.pages_requested())
        assert exported(folder, scenthound) == {site.url(page): site.html(page) for page in range(20)}
    with StoredCrawl.open(folder) as crawl:
        assert [(each.refresh, each.is_complete) for each in crawl.refreshes()] == [(1, True)]
        assert crawl.check_counts(1)[CHANGED] == 20
    assert "20 of 20 pages" in out


def change_settings(folder: Path, *, delay_s: float = 0.0, tries: int = 3) -> None:
    """Set the crawl delay, and how often a page is requested if its host fails."""
    about = json.loads((folder / "crawl.json").read_text())
    about["settings"]["politeness"]["delay_s"] = delay_s
    about["settings"]["tries"] = tries
    (folder / "crawl.json").write_text(json.dumps(about))


def n_checked(folder: Path) -> int:
    with StoredCrawl.open(folder) as crawl:
        return sum(1 for _ in crawl.checks())


def test_a_crawl_can_be_resumed_after_a_refresh_and_refreshed_again(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, n_pages=10) as site:
        folder = crawled(site, tmp_path / "out", scenthound, "--pages", 4)
        site.versions = {0: 1, 1: 1}
        assert counts(refreshed(scenthound, folder)) == (2, 2, 0, 0, 0)
        site.forget()
        assert scenthound("crawl", "--resume", folder, "--pages", 7)[0] == 0
        assert site.pages_requested() == {site.url(page): 1 for page in range(4, 7)}
        assert counts(refreshed(scenthound, folder)) == (7, 0, 0, 0, 0)
        assert exported(folder, scenthound) == {site.url(page): site.html(page) for page in range(7)}


def test_a_time_limit_ends_a_refresh_and_the_next_one_continues(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        change_settings(folder, delay_s=0.5)
        values = refreshed(scenthound, folder, "--time", "0.1")
        assert values["ended"] == "time"
        values = refreshed(scenthound, folder)
        assert (values["ended"], values["continued"], values["refresh"], values["n_checked"]) == (
            "complete",
            True,
            1,
            6,
        )


def test_an_interrupted_refresh_is_continued_whatever_its_page_limit(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, n_pages=12) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        change_settings(folder, delay_s=0.5)
        with started("crawl", "--refresh", folder) as running:
            wait_until(lambda: n_checked(folder) >= 4, process=running)
            running.kill()
        change_settings(folder)
        n_before = n_checked(folder)
        assert 4 <= n_before < 10
        values = refreshed(scenthound, folder, "--pages", 2)
        assert (values["ended"], values["continued"], values["refresh"]) == ("budget", True, 1)
        assert (values["n_checked"], values["n_pages"]) == (n_before + 2, n_before + 2)
        values = refreshed(scenthound, folder)
        assert (values["ended"], values["refresh"], values["n_checked"]) == ("complete", 1, 12)
        assert refreshed(scenthound, folder, "--pages", 2)["refresh"] == 2
    with StoredCrawl.open(folder) as crawl:
        visits = [check.visit for check in crawl.checks() if check.refresh == 1]
    assert sorted(visits) == list(range(12))


@pytest.mark.parametrize(("pages", "n_checked"), [(None, 5), (1, 3), (3, 5), (7, 9)])
def test_a_limited_refresh_is_continued_up_to_its_limit_or_that_of_the_run(
    pages: int | None, n_checked: int, tmp_path: Path
) -> None:
    with new_crawl(tmp_path / "out") as store:
        for number in range(9):
            add_page(store, number, response(f"http://a.test/{number}"))
        for number in range(2):
            store.add(CheckRecord(visit=number, refresh=1, time_s=NOON_S, outcome=UNCHANGED, url=""))
        store.add(RefreshRecord(1, NOON_S, NOON_S, 5, 1))
        store.commit()
        with StoredCrawl.open(tmp_path / "out") as crawl:
            known = known_pages(crawl)
        record, is_continued = recrawl._begin(store, known, RunOptions(pages), NOON_S)
    assert (is_continued, record.refresh) == (True, 1)
    n_left = recrawl._n_left(record, known)
    assert 2 + (n_left if pages is None else min(n_left, pages)) == n_checked


def test_ctrl_c_ends_a_refresh_that_the_next_one_continues(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path, n_pages=20) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        change_settings(folder, delay_s=0.5)
        with started("crawl", "--refresh", folder) as running:
            wait_until(lambda: n_checked(folder) >= 2, process=running)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=WAIT_S)
        assert (running.returncode, "Traceback" in err) == (130, False)
        assert EndReason.STOPPED in out
        assert f"scenthound crawl --refresh {folder}" in out
        assert 2 <= n_checked(folder) < 20
        change_settings(folder)
        assert refreshed(scenthound, folder)["continued"]
    assert n_checked(folder) == 20


@pytest.fixture
def clock_in_1970(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def reset() -> None:
        monkeypatch.setattr(clock, "time", SimpleNamespace(time=lambda: 60.0, monotonic=time.monotonic))

    return reset


def test_times_do_not_go_back_with_the_system_clock(
    tmp_path: Path, scenthound: Call, clock_in_1970: Callable[[], None]
) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound, "--pages", 4)
        before_s = time.time()
        clock_in_1970()
        for command in (("--refresh", folder), ("--resume", folder, "--pages", 6), ("--refresh", folder)):
            code, _, err = scenthound("crawl", *command, "--json")
            assert (code, err.count("1970-01-01")) == (0, 1)
        with pytest.warns(UserWarning, match="1970"):
            sh.refresh(folder, progress=False)
    with StoredCrawl.open(folder) as crawl:
        times_s = [*(row.time_s for row in crawl.visits()), *(check.time_s for check in crawl.checks())]
        known = known_pages(crawl)
    assert before_s - 60 < min(times_s) <= max(times_s) < before_s + 20 * WAIT_S
    assert all(0 < each.history.unchanged_s < 20 * WAIT_S for each in known)


def test_a_new_crawl_says_that_the_system_clock_is_wrong(
    tmp_path: Path, scenthound: Call, clock_in_1970: Callable[[], None]
) -> None:
    with changing_site(tmp_path) as site:
        clock_in_1970()
        code, _, err = scenthound(*site.crawl(tmp_path / "out", "--json"))
    assert (code, err.count("1970-01-01")) == (0, 1)
    with StoredCrawl.open(tmp_path / "out") as crawl:
        assert min(row.time_s for row in crawl.visits()) >= clock.EARLIEST_S


def test_progress_and_summary_are_json_lines_on_request(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        code, out, err = scenthound("crawl", "--refresh", folder, "--log-json")
    events = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [event["event"] for event in events][-1] == "ended"
    assert {event["event"] for event in events[:-1]} == {"status"}
    assert events[-1]["n_checked"] == 6


def test_pages_are_checked_again_from_python(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        site.versions = {1: 1}
        crawl = sh.refresh(folder, pages=6, time="1h", progress=False)
        assert crawl.refreshed is not None
        assert (crawl.refreshed.is_complete, crawl.refreshed.status.counts.outcomes[CHANGED]) == (True, 1)
        again = sh.open_crawl(folder).refresh(progress=False)
    assert [(check.refresh, check.outcome) for check in again.checks if check.url == site.url(1)] == [
        (1, CHANGED),
        (2, UNCHANGED),
    ]
    assert [each.is_complete for each in again.refreshes] == [True, True]
    with pytest.raises(InvalidParameter):
        sh.refresh(folder, pages=0)


def test_a_crawl_without_fetched_pages_is_refused_in_one_line(tmp_path: Path, scenthound: Call) -> None:
    with changing_site(tmp_path) as site:
        folder = crawled(site, tmp_path / "out", scenthound)
        offline = (*site.crawl(tmp_path / "offline"), "--web", folder, "--offline")
        assert scenthound(*offline)[0] == 0
        site.forget()
        code, _, err = scenthound("crawl", "--refresh", tmp_path / "offline")
        assert (code, len(err.splitlines())) == (2, 1)
        assert not site.server.requests


def test_settings_cannot_be_changed_when_a_crawl_is_refreshed(tmp_path: Path, scenthound: Call) -> None:
    for more in (("--delay", 0), ("--resume", tmp_path), ("--min-harvest", 0.5)):
        code, _, err = scenthound("crawl", "--refresh", tmp_path / "out", *more)
        assert (code, len(err.splitlines())) == (2, 1)
        assert more[0] in err
        assert ("together" in err) == (more[0] == "--resume")
    code, _, err = scenthound("crawl", "--refresh", tmp_path)
    assert (code, len(err.splitlines())) == (2, 1)
