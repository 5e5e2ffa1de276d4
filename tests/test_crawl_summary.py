"""What the report of a crawl must not claim: scores on different scales, means over some pages, excluded time."""

import math
from pathlib import Path
from typing import Any

import orjson
import pytest

from dashboard_client import status_values
from overview_crawls import a_moment, a_run, add_visits, blocks_of, chart, planned_crawl, table
from scenthound.crawler.settings import StopConditions
from scenthound.store.crawl_records import RelevanceRecord
from scenthound.ui.document import Document, LinkGraph
from scenthound.ui.reports.crawl import crawl_report
from scenthound.ui.reports.crawls import crawls_report
from stored_crawls import NOON_S, visit


def text_of(page: Document) -> str:
    return " ".join(page.summary)


def with_regrets(folder: Path, *regrets: float | None, **changes: Any) -> Document:
    with planned_crawl(folder, **changes) as store:
        for number, regret in enumerate(regrets):
            store.add(visit(number, regret=regret))
        store.commit()
    return crawl_report(folder)


def test_the_time_between_runs_of_a_short_crawl_is_left_out(tmp_path: Path) -> None:
    """Half an hour between runs is shorter than the longest crawl delay, so visits alone do not show it."""
    with planned_crawl(tmp_path / "crawl") as store:
        for number, seconds in enumerate((1, 4, 1801, 1804)):
            store.add(visit(number, time_s=NOON_S + seconds))
        store.add(a_run(1, 0.0, ended_s=5.0, ended="stopped"))
        store.add(a_run(2, 1800.0, n_pages_before=2, ended_s=1806.0, ended="stopped"))
        for sample in (a_moment(0, 0), a_moment(5, 2), a_moment(1800, 2, run=2), a_moment(1806, 4, run=2)):
            store.add(sample)
        store.commit()
    page = crawl_report(tmp_path / "crawl")
    assert chart(page, "pages").series[0].x.tolist() == [1, 4, 6, 9]
    assert chart(page, "pages").note == "Without time between runs."
    assert "in 11 s, " in text_of(page)


def test_pauses_are_left_out_and_marked(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.5] * 60)
        store.add(a_run(1, 0.0, ended_s=90.0, ended="stopped"))
        for second in range(91):
            is_paused = 30 <= second <= 60
            store.add(a_moment(second, min(second, max(30, second - 30)), paused=is_paused))
        store.commit()
    page = crawl_report(tmp_path / "crawl")
    assert "in 1 min (without 30 s of pauses), 1.0 pages/s." in text_of(page)
    assert [(mark.x, mark.label) for mark in chart(page, "speed").markers] == [(30, "paused for 30 s")]
    assert chart(page, "speed").note == "Without pauses."
    assert chart(page, "speed").series[0].y.tolist() == pytest.approx([1.0] * 60)


def test_visits_of_an_older_version_precede_runs_and_pauses(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        for number, seconds in enumerate((0, 7, 101, 122)):
            store.add(visit(number, time_s=NOON_S + seconds))
        store.add(a_run(1, 100.0, n_pages_before=2, ended_s=125.0, ended="stopped"))
        for second, is_paused in ((102, True), (120, True), (121, False), (125, False)):
            store.add(a_moment(second, 3, paused=is_paused))
        store.commit()
    pages = chart(crawl_report(tmp_path / "crawl"), "pages")
    # 7 s by the older version; then 2 s until the pause, and 5 s after it.
    assert pages.series[0].x.tolist() == [0, 7, 8, 11]
    assert [(mark.x, mark.label) for mark in pages.markers] == [(9, "paused for 18 s")]


def test_the_queue_size_is_that_of_the_last_status(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.5] * 3)
        store.add(a_run(1, 0.0, ended_s=5.0, ended="stopped"))
        store.set_status(orjson.dumps(status_values(3, frontier=1_234)))
        store.commit()
    assert ("in the frontier", "1,234") in crawl_report(tmp_path / "crawl").key_facts


def test_strict_order_costs_time_but_no_score(tmp_path: Path) -> None:
    text = text_of(with_regrets(tmp_path / "crawl", *[0.0] * 20, strict_order=True))
    assert "politeness cost time but no score" in text
    assert "Politeness cost no score" not in text


def test_a_few_pages_are_no_proof_that_politeness_cost_nothing(tmp_path: Path) -> None:
    assert "oliteness" not in text_of(with_regrets(tmp_path / "one", 0.0))
    assert "oliteness" not in text_of(with_regrets(tmp_path / "strict", 0.0, strict_order=True))
    assert "no score: each of 20 pages was the best in the frontier" in text_of(
        with_regrets(tmp_path / "many", *[0.0] * 20)
    )


def test_a_mean_regret_states_its_number_of_pages_and_those_left_out(tmp_path: Path) -> None:
    page = with_regrets(tmp_path / "crawl", math.inf, math.inf, None, 0.5, 0.25)
    assert "averaged over 2 pages, the requested page scored 0.375 less" in text_of(page)
    passed = "2 pages were requested while a start page waited for its host"
    assert passed in text_of(page)
    assert f"The mean is over 2 pages. {passed}" in chart(page, "regret").note


def test_infinite_regrets_have_no_mean(tmp_path: Path) -> None:
    page = with_regrets(tmp_path / "crawl", math.inf)
    assert "1 page was requested while a start page waited" in text_of(page)
    assert "regret" not in dict(page.key_facts)


def test_a_budget_below_the_visited_pages_is_stated(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl", page_budget=100) as store:
        add_visits(store, [0.5] * 7)
    StopConditions(page_budget=5).write(tmp_path / "crawl")
    assert "It visited 7 pages (its page budget is now 5) on 2 hosts" in text_of(crawl_report(tmp_path / "crawl"))


@pytest.fixture
def retrained(tmp_path: Path) -> Path:
    """Sixty pages of 0.25 by the cosine, then forty of 0.75 by a retrained model."""
    with planned_crawl(tmp_path / "retrained") as store:
        add_visits(store, [0.25] * 60 + [0.75] * 40)
        store.add(RelevanceRecord(60, NOON_S, "svm", "relevance_models/1", 5, 7))
        store.commit()
    return tmp_path / "retrained"


def test_after_retraining_the_report_names_the_models_and_their_visits(retrained: Path) -> None:
    page = crawl_report(retrained)
    assert "relevance is scored by cosine, from visit 60 on by svm (retrained)." in text_of(page)
    assert "not comparable: 60 pages have a mean relevance of 0.250 by cosine;" in text_of(page)
    assert "; 40 pages have a mean relevance of 0.750 by svm (retrained)." in text_of(page)
    assert "0.450" not in text_of(page)
    assert dict(page.key_facts)["harvest, latest model"] == "0.750"
    (mark,) = chart(page, "harvest").markers
    assert (mark.x, mark.label) == (60, "model retrained on 5 relevant and 7 other pages")


def test_scores_of_two_models_are_never_shown_together_without_a_note(retrained: Path) -> None:
    page = crawl_report(retrained)
    graph = next(block for block in blocks_of(page) if isinstance(block, LinkGraph))
    tables = [table(page, name) for name in ("best-pages", "latest-pages", "hosts")]
    for block in (chart(page, "harvest"), chart(page, "relevance"), graph, *tables):
        assert "by cosine, then svm (retrained); scores before and after visit 60 are not comparable." in block.note


def test_a_retrained_model_without_scores_changes_nothing(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.25] * 10)
        store.add(RelevanceRecord(10, NOON_S, "svm", "relevance_models/1", 5, 7))
        store.commit()
    page = crawl_report(tmp_path / "crawl")
    assert "relevance is scored by cosine." in text_of(page)
    assert dict(page.key_facts)["harvest"] == "0.250"
    assert "not comparable" not in chart(page, "harvest").note


def side_by_side(folder: Path, first: dict[str, Any], second: dict[str, Any]) -> str:
    for name, changes in (("first", first), ("second", second)):
        with planned_crawl(folder / name, **changes) as store:
            add_visits(store, [0.5] * 3)
    return text_of(crawls_report([folder / "first", folder / "second"]))


def test_crawls_with_differently_trained_models_are_not_ranked(tmp_path: Path) -> None:
    learnt = {"relevance": "svm", "train_from": "pages"}
    one, other = ({**learnt, "train_digest": digest} for digest in ("one", "other"))
    (tmp_path / "same").mkdir()
    assert "harvests are not comparable" in side_by_side(tmp_path, one, other)
    # What they learnt from is the same, wherever it is.
    assert "the order is" in side_by_side(tmp_path / "same", one, {**one, "train_from": "elsewhere"})


def test_crawls_with_retrained_models_are_not_ranked(retrained: Path) -> None:
    with planned_crawl(retrained.parent / "plain") as store:
        add_visits(store, [0.5] * 100)
    page = crawls_report([retrained, retrained.parent / "plain"])
    assert "harvests are not comparable" in text_of(page)
    facts = table(page, "facts")
    assert [row[2].text for row in facts.rows] == ["cosine, then svm (retrained)", "cosine"]
    assert "The relevance model of retrained was retrained" in facts.note
