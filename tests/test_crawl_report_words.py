"""What the report of a crawl does not claim: whose scores a figure is of, which pages a mean is of, and which time."""

import math
from pathlib import Path
from typing import Any

import orjson
import pytest

from asked_dashboard import status_values
from overview_crawls import a_moment, a_run, add_visits, blocks_of, chart, planned_crawl, table
from scenthound.crawler.plan import StopConditions
from scenthound.store.crawl_rows import RelevanceRecord
from scenthound.ui.document import LinkGraph, Page
from scenthound.ui.reports.crawl import crawl_page
from scenthound.ui.reports.crawls import crawls_page
from stored_crawls import NOON_S, visit


def said(page: Page) -> str:
    return " ".join(page.summary)


def with_regrets(folder: Path, *regrets: float | None, **changes: Any) -> Page:
    with planned_crawl(folder, **changes) as store:
        for number, regret in enumerate(regrets):
            store.add_visit(visit(number, regret=regret))
        store.commit()
    return crawl_page(folder)


def test_the_time_between_runs_of_a_short_crawl_is_left_out(tmp_path: Path) -> None:
    """Half an hour between runs is shorter than a host may rest, so visits alone do not tell it."""
    with planned_crawl(tmp_path / "crawl") as store:
        for number, seconds in enumerate((1, 4, 1801, 1804)):
            store.add_visit(visit(number, time_s=NOON_S + seconds))
        store.note_run(a_run(1, 0.0, ended_s=5.0, ended="stopped"))
        store.note_run(a_run(2, 1800.0, n_pages_before=2, ended_s=1806.0, ended="stopped"))
        for sample in (a_moment(0, 0), a_moment(5, 2), a_moment(1800, 2, run=2), a_moment(1806, 4, run=2)):
            store.add_sample(sample)
        store.commit()
    page = crawl_page(tmp_path / "crawl")
    assert chart(page, "pages").series[0].x.tolist() == [1, 4, 6, 9]
    assert chart(page, "pages").note == "Time between runs is left out."
    assert "in 11 s, " in said(page)


def test_pauses_are_left_out_and_marked(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.5] * 60)
        store.note_run(a_run(1, 0.0, ended_s=90.0, ended="stopped"))
        for second in range(91):
            is_paused = 30 <= second <= 60
            store.add_sample(a_moment(second, min(second, max(30, second - 30)), paused=is_paused))
        store.commit()
    page = crawl_page(tmp_path / "crawl")
    assert "in 1 min (30 s of pauses left out), 1.0 pages a second." in said(page)
    assert [(mark.x, mark.says) for mark in chart(page, "speed").marks] == [(30, "paused for 30 s")]
    assert chart(page, "speed").note == "Pauses are left out."
    assert chart(page, "speed").series[0].y.tolist() == pytest.approx([1.0] * 60)


def test_what_an_older_version_crawled_comes_before_the_runs_and_their_pauses(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        for number, seconds in enumerate((0, 7, 101, 122)):
            store.add_visit(visit(number, time_s=NOON_S + seconds))
        store.note_run(a_run(1, 100.0, n_pages_before=2, ended_s=125.0, ended="stopped"))
        for second, is_paused in ((102, True), (120, True), (121, False), (125, False)):
            store.add_sample(a_moment(second, 3, paused=is_paused))
        store.commit()
    pages = chart(crawl_page(tmp_path / "crawl"), "pages")
    # 7 s by the older version; then 2 s until the pause, and 5 s after it.
    assert pages.series[0].x.tolist() == [0, 7, 8, 11]
    assert [(mark.x, mark.says) for mark in pages.marks] == [(9, "paused for 18 s")]


def test_what_still_waits_is_what_the_crawl_said_last(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.5] * 3)
        store.note_run(a_run(1, 0.0, ended_s=5.0, ended="stopped"))
        store.set_status(orjson.dumps(status_values(3, frontier=1_234)))
        store.commit()
    assert ("still waiting", "1,234") in crawl_page(tmp_path / "crawl").key_facts


def test_a_crawl_in_strict_order_paid_with_time(tmp_path: Path) -> None:
    told = said(with_regrets(tmp_path / "crawl", *[0.0] * 20, strict_order=True))
    assert "politeness cost it time and no score" in told
    assert "Politeness cost no score" not in told


def test_of_a_few_pages_it_is_not_said_that_politeness_cost_nothing(tmp_path: Path) -> None:
    assert "oliteness" not in said(with_regrets(tmp_path / "one", 0.0))
    assert "oliteness" not in said(with_regrets(tmp_path / "strict", 0.0, strict_order=True))
    assert "no score: each of 20 pages was the best that waited" in said(with_regrets(tmp_path / "many", *[0.0] * 20))


def test_a_mean_regret_says_of_how_many_pages_it_is_and_how_many_passed_a_seed(tmp_path: Path) -> None:
    page = with_regrets(tmp_path / "crawl", math.inf, math.inf, None, 0.5, 0.25)
    assert "in the mean of 2 pages, the page taken scored 0.375 less" in said(page)
    passed = "2 pages were taken while a start page waited for its host"
    assert passed in said(page)
    assert f"The mean is of 2 pages. {passed}" in chart(page, "regret").note


def test_pages_that_all_passed_a_seed_have_no_mean(tmp_path: Path) -> None:
    page = with_regrets(tmp_path / "crawl", math.inf)
    assert "1 page was taken while a start page waited" in said(page)
    assert "regret" not in dict(page.key_facts)


def test_a_budget_below_the_pages_taken_is_no_whole_that_they_are_of(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl", page_budget=100) as store:
        add_visits(store, [0.5] * 7)
    StopConditions(page_budget=5).write(tmp_path / "crawl")
    assert "It took 7 pages (its page budget is 5 by now) from 2 hosts" in said(crawl_page(tmp_path / "crawl"))


@pytest.fixture
def retrained(tmp_path: Path) -> Path:
    """Sixty pages of 0.25 by the cosine, then forty of 0.75 by a guide that was trained anew."""
    with planned_crawl(tmp_path / "retrained") as store:
        add_visits(store, [0.25] * 60 + [0.75] * 40)
        store.add_relevance_model(RelevanceRecord(60, NOON_S, "svm", "relevance_models/1", 5, 7))
        store.commit()
    return tmp_path / "retrained"


def test_a_crawl_whose_guide_was_trained_anew_says_who_scored_what(retrained: Path) -> None:
    page = crawl_page(retrained)
    assert "cosine scored how relevant a page is, from visit 60 on svm trained anew." in said(page)
    assert "before and after that cannot be compared: 60 pages have a mean relevance of 0.250 by cosine;" in said(page)
    assert "; 40 pages have a mean relevance of 0.750 by svm trained anew." in said(page)
    assert "0.450" not in said(page)
    assert dict(page.key_facts)["harvest of its last guide"] == "0.750"
    (mark,) = chart(page, "harvest").marks
    assert (mark.x, mark.says) == (60, "guide trained anew, from 5 relevant and 7 other pages")


def test_wherever_relevances_of_two_guides_stand_together_it_is_said(retrained: Path) -> None:
    page = crawl_page(retrained)
    graph = next(block for block in blocks_of(page) if isinstance(block, LinkGraph))
    tables = [table(page, name) for name in ("best-pages", "latest-pages", "hosts")]
    for block in (chart(page, "harvest"), chart(page, "relevance"), graph, *tables):
        assert "by cosine, then svm trained anew: before and after visit 60 it cannot be compared." in block.note


def test_a_guide_that_has_scored_nothing_yet_changes_no_figure(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.25] * 10)
        store.add_relevance_model(RelevanceRecord(10, NOON_S, "svm", "relevance_models/1", 5, 7))
        store.commit()
    page = crawl_page(tmp_path / "crawl")
    assert "cosine scores how relevant a page is." in said(page)
    assert dict(page.key_facts)["harvest"] == "0.250"
    assert "cannot be compared" not in chart(page, "harvest").note


def side_by_side(place: Path, first: dict[str, Any], second: dict[str, Any]) -> str:
    for name, changes in (("first", first), ("second", second)):
        with planned_crawl(place / name, **changes) as store:
            add_visits(store, [0.5] * 3)
    return said(crawls_page([place / "first", place / "second"]))


def test_guides_of_one_name_that_learnt_from_other_pages_are_not_ranked(tmp_path: Path) -> None:
    learnt = {"relevance": "svm", "train_from": "pages"}
    one, other = ({**learnt, "train_digest": digest} for digest in ("one", "other"))
    (tmp_path / "same").mkdir()
    assert "their harvests cannot be compared" in side_by_side(tmp_path, one, other)
    # What they learnt from is the same, wherever it is.
    assert "the order is" in side_by_side(tmp_path / "same", one, {**one, "train_from": "elsewhere"})


def test_crawls_with_other_guides_on_the_way_are_not_ranked_and_the_table_says_why(retrained: Path) -> None:
    with planned_crawl(retrained.parent / "plain") as store:
        add_visits(store, [0.5] * 100)
    page = crawls_page([retrained, retrained.parent / "plain"])
    assert "their harvests cannot be compared" in said(page)
    facts = table(page, "facts")
    assert [row[2].text for row in facts.rows] == ["cosine, then svm trained anew", "cosine"]
    assert "The guide of retrained was trained anew on the way" in facts.note
