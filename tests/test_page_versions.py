"""Versions of pages in a crawl folder: what each reader sees of a crawl that was refreshed."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from overview_crawls import blocks_of
from scenthound.corpus.export import export
from scenthound.crawler.explain import explain
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.state import State, crawl_state
from scenthound.model import Topic
from scenthound.reasons import EndReason
from scenthound.store.crawl_records import CheckOutcome, CheckRecord, RefreshRecord, RunRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.record import web_of_crawl
from scenthound.store.search_index import PageSearch
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.document import Table
from scenthound.ui.reports.crawl import crawl_report
from stored_crawls import NOON_S, add_page, new_crawl, response

LATER_S = NOON_S + 86_400.0
SETTINGS = CrawlSettings(Topic("dogs", ("dogs",)), ("http://a.test/0",)).as_settings()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three pages: the first was not modified and then sent again, the second is about cats now, under another URL, the
    third is gone."""
    path = tmp_path / "crawl"
    with new_crawl(path, **SETTINGS) as store:
        store.add_urls([f"http://a.test/{number}" for number in range(3)])
        for number in range(3):
            page = response(f"http://a.test/{number}", f"<title>Page {number}</title>dogs number {number}".encode())
            add_page(store, number, page, relevance=0.9 - number / 10)
        store.add(RunRecord(1, NOON_S, 0, 1, "0.8.0", NOON_S + 3, EndReason.BUDGET.value))
        store.commit()
    with closing(CrawlStore.open(path)) as store:
        check(store, 0, CheckOutcome.UNCHANGED, response("http://a.test/0", b"", status=304))
        cats = response("http://a.test/cats", b"<title>Cats</title>all about cats")
        check(store, 1, CheckOutcome.CHANGED, cats, title="Cats", relevance=0.1, content_bytes=33)
        check(store, 0, CheckOutcome.UNCHANGED, response("http://a.test/0", b"<title>Page 0</title>dogs number 0"))
        check(store, 2, CheckOutcome.GONE, response("http://a.test/2", b"no", status=404))
        store.add(RefreshRecord(1, LATER_S, LATER_S, None, 1, LATER_S + 3, EndReason.FRONTIER.value, is_complete=True))
        store.commit()
    return path


def check(store: CrawlStore, visit: int, outcome: CheckOutcome, found: Any, **more: Any) -> None:
    original = next(store.visits(visit)).location
    assert original is not None
    revisit_of = store.archive.record(original) if outcome is CheckOutcome.UNCHANGED else None
    location = store.archive_response(found, LATER_S + visit, revisit_of)
    values = {"refresh": 1, "time_s": LATER_S + visit, "url": found.url, "status": found.status, "location": location}
    store.add(CheckRecord(visit=visit, outcome=outcome, **values, **more))


def test_readers_see_the_latest_version_of_a_page(folder: Path) -> None:
    with StoredCrawl.open(folder) as crawl:
        pages = list(crawl.visits())
        assert [(row.url, row.title, row.relevance) for row in pages] == [
            ("http://a.test/0", "Page 0", 0.9),
            ("http://a.test/cats", "Cats", 0.1),
            ("http://a.test/2", "Page 2", 0.7),
        ]
        assert [row.time_s for row in pages] == [NOON_S, LATER_S + 1, NOON_S + 2]
        assert [crawl.text_of(row) for row in pages][1] == "Cats\nall about cats"
        assert [row.visit for row in crawl.listed("best", 3)] == [0, 2, 1]
        assert [row.url for row in crawl.listed("latest", 3)] == [row.url for row in reversed(pages)]
        assert [row.title for row in crawl.visits_numbered([1, 0])] == ["Cats", "Page 0"]
        found = crawl.visit_of_url("http://a.test/cats")
        assert found is not None
        assert (found.visit, found.page) == (1, 1)
        assert crawl.visit_of_url("http://a.test/1") is None


def test_the_course_of_the_crawl_is_that_of_the_first_versions(folder: Path) -> None:
    with StoredCrawl.open(folder) as crawl:
        relevance, times = crawl.numbers(("relevance", "time_s"), 3)
    assert relevance.tolist() == pytest.approx([0.9, 0.8, 0.7])
    assert times.tolist() == [NOON_S, NOON_S + 1, NOON_S + 2]
    # A crawl is resumed from its first versions, too.
    with closing(CrawlStore.open(folder)) as store:
        assert [row.title for row in store.visits()] == ["Page 0", "Page 1", "Page 2"]


def test_checks_and_refreshes_are_read_as_they_were_written(folder: Path) -> None:
    with StoredCrawl.open(folder) as crawl:
        checks, counts = list(crawl.checks()), crawl.check_counts(1)
        assert [each.visit for each in checks] == [0, 1, 0, 2]
        assert [counts[outcome] for outcome in CheckOutcome] == [2, 1, 1, 0, 0]
        assert crawl.n_versions() == 1
        (refresh,) = crawl.refreshes()
        assert (refresh.ended, refresh.is_complete, refresh.page_limit) == (EndReason.FRONTIER.value, True, None)


def test_a_crawl_that_was_never_refreshed_has_no_checks(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        add_page(store, 0, response())
        store.commit()
    with StoredCrawl.open(tmp_path / "crawl") as crawl:
        assert (list(crawl.checks()), crawl.refreshes(), crawl.n_versions()) == ([], [], 0)
        assert sum(crawl.check_counts(1).values()) == 0
        assert [row.url for row in crawl.visits()] == ["http://a.test/"]


def test_a_reader_that_was_opened_before_sees_the_new_versions(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    with new_crawl(path) as store:
        add_page(store, 0, response(body=b"dogs"))
        store.commit()
        with StoredCrawl.open(path) as crawl:
            assert [row.title for row in crawl.visits()] == ["Page 0"]
            check(store, 0, CheckOutcome.CHANGED, response(body=b"cats"), title="Cats", relevance=0.5)
            store.commit()
            assert [row.title for row in crawl.visits()] == ["Cats"]


def test_the_recorded_web_of_a_crawl_has_the_latest_versions(folder: Path) -> None:
    web = web_of_crawl(folder)
    assert [web.url(page) for page in range(web.n_pages)] == [
        "http://a.test/0",
        "http://a.test/2",
        "http://a.test/cats",
    ]
    assert web.page_of("http://a.test/1") == 2


def test_a_search_finds_the_words_of_the_latest_versions(folder: Path) -> None:
    with StoredCrawl.open(folder) as crawl:
        search = PageSearch.open(crawl)
        while search.index_on(crawl):
            continue
        assert [hit.visit for hit in search.search("cats")] == [1]
        assert {hit.visit for hit in search.search("dogs")} == {0, 2}
    with closing(CrawlStore.open(folder)) as store:
        birds = response("http://a.test/0", b"all about birds")
        check(store, 0, CheckOutcome.CHANGED, birds, title="Birds", relevance=0.5)
        store.commit()
    with StoredCrawl.open(folder) as crawl:
        search.index_on(crawl)
        assert [hit.visit for hit in search.search("birds")] == [0]
        assert {hit.visit for hit in search.search("dogs")} == {2}
        search.close()


def test_an_exported_archive_has_all_versions_and_revisits_and_its_index_those_to_replay(
    folder: Path, tmp_path: Path
) -> None:
    assert export(folder, "warc", tmp_path / "all.warc").written == 7
    export(folder, "cdxj", tmp_path / "all.cdxj")
    lines = [json.loads(line.split(" ", 2)[2]) for line in (tmp_path / "all.cdxj").read_text().splitlines()]
    of_first = [line for line in lines if line["url"] == "http://a.test/0"]
    assert [(line["mime"], line["status"]) for line in of_first] == [("text/html", "200"), ("warc/revisit", "200")]
    assert of_first[0]["digest"] == of_first[1]["digest"]
    assert len(lines) == 6


def test_revisits_of_pages_that_may_not_be_indexed_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    with new_crawl(path) as store:
        store.add_urls(["http://a.test/0"])
        add_page(store, 0, response("http://a.test/0", b"hush"), noindex=True)
        store.commit()
        check(store, 0, CheckOutcome.UNCHANGED, response("http://a.test/0", b"", status=304))
        store.commit()
        open_now = response("http://a.test/0", b"all may read this")
        check(store, 0, CheckOutcome.CHANGED, open_now, title="Open", relevance=0.5)
        check(store, 0, CheckOutcome.UNCHANGED, response("http://a.test/0", b"", status=304))
        store.commit()
    # The first version would be parsed, because it is not the latest: it does not say noindex itself.
    done = export(path, "warc", tmp_path / "all.warc")
    assert (done.written, done.dropped.get("noindex", 0)) == (3, 1)
    assert export(path, "jsonl", tmp_path / "pages.jsonl").written == 1


@pytest.mark.parametrize(("started_s", "state"), [(NOON_S + 60, State.REFRESHING), (NOON_S - 60, State.RUNNING)])
def test_a_crawl_whose_pages_are_being_checked_is_refreshing(started_s: float, state: State, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    with new_crawl(path, **SETTINGS) as store:
        add_page(store, 0, response())
        store.add(RunRecord(1, NOON_S, 0, 1, "0.8.0", NOON_S + 3, EndReason.BUDGET.value))
        refresh = RefreshRecord(1, NOON_S - 90, started_s, None, 1)
        store.add(refresh)
        store.commit()
        with StoredCrawl.open(path) as crawl:
            assert crawl_state(crawl).state is state
            assert not crawl_state(crawl).can_resume
        store.add(replace(refresh, ended_s=NOON_S + 90, ended=EndReason.STOPPED.value))
        store.commit()
    with StoredCrawl.open(path) as crawl:
        assert (crawl_state(crawl).state, crawl_state(crawl).ended) == (State.ENDED, EndReason.BUDGET)


def test_explain_says_what_the_checks_of_a_page_found(folder: Path) -> None:
    assert [each.outcome for each in explain(folder, "http://a.test/2").checks] == [CheckOutcome.GONE]
    found = explain(folder, "http://a.test/1")
    assert found.visit is not None
    assert (found.visit.url, [each.outcome for each in found.checks]) == ("http://a.test/cats", [CheckOutcome.CHANGED])


def test_the_report_counts_what_refreshes_found(folder: Path) -> None:
    (table,) = (
        block for block in blocks_of(crawl_report(folder)) if isinstance(block, Table) and block.name == "refreshes"
    )
    assert table.columns[2:] == tuple(outcome.value for outcome in CheckOutcome)
    assert [cell.text for cell in table.rows[0][2:]] == ["2", "1", "1", "0", "0"]
