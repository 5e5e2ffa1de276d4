"""What the report of a crawl must not claim: scores on different scales, means over some pages, excluded time."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from dashboard_client import plan, status_values
from overview_crawls import a_moment, a_run, add_visits, blocks_of, chart, planned_crawl, table
from scenthound.cli.crawl_results import print_summary
from scenthound.crawler.settings import StopConditions
from scenthound.crawler.start import CrawlSummary, _could_wait, _n_on_topic_lost
from scenthound.crawler.state import Ending
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.reasons import EndReason
from scenthound.records import from_json
from scenthound.store.crawl_records import CrawlStatus, HostState, RelevanceRecord, on_topic_pages_lost
from scenthound.ui.document import Document, LinkGraph
from scenthound.ui.reports.crawl import crawl_report
from scenthound.ui.reports.crawls import crawls_report
from stored_crawls import NOON_S, visit


def text_of(page: Document) -> str:
    return " ".join(page.summary)


def politeness_of(page: Document) -> tuple[str, ...]:
    """The paragraph about politeness, if there is one, of a crawl that skipped no page."""
    return page.summary[2:-1]


def with_regrets(folder: Path, *regrets: float | None, **changes: Any) -> Document:
    with planned_crawl(folder, **changes) as store:
        for number, regret in enumerate(regrets):
            store.add(visit(number, score=0.5, regret=regret))
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
    assert chart(page, "pages").note
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
    assert re.search(r"\b1 min \(.*\b30 s\b.*\), 1\.0 pages/s", text_of(page))
    assert [(mark.x, mark.label) for mark in chart(page, "speed").markers] == [(30, "paused for 30 s")]
    assert chart(page, "speed").note
    assert np.nanmin(chart(page, "speed").series[0].y) == np.nanmax(chart(page, "speed").series[0].y) == 1


def test_the_queue_size_is_that_of_the_last_status(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.5] * 3)
        store.add(a_run(1, 0.0, ended_s=5.0, ended="stopped"))
        store.set_status(orjson.dumps(status_values(3, frontier=1_234)))
        store.commit()
    assert ("in the frontier", "1,234") in crawl_report(tmp_path / "crawl").key_facts


def test_strict_order_costs_time_but_no_score(tmp_path: Path) -> None:
    (cost,) = politeness_of(with_regrets(tmp_path / "strict", *[0.0] * 20, strict_order=True))
    assert (cost,) != politeness_of(with_regrets(tmp_path / "free", *[0.0] * 20))
    # Regrets in strict order are always 0: their number says nothing.
    assert not re.search(r"\d", cost)


def test_a_few_pages_are_no_proof_that_politeness_cost_nothing(tmp_path: Path) -> None:
    assert not politeness_of(with_regrets(tmp_path / "one", 0.0))
    assert not politeness_of(with_regrets(tmp_path / "strict", 0.0, strict_order=True))
    (cost,) = politeness_of(with_regrets(tmp_path / "many", *[0.0] * 20))
    assert re.search(r"\b20 pages\b", cost)


def test_a_mean_regret_states_its_number_of_pages_and_those_left_out(tmp_path: Path) -> None:
    page = with_regrets(tmp_path / "crawl", *[math.inf] * 3, None, 0.5, 0.25)
    (cost,) = politeness_of(page)
    # 0.5 of 1 and 0.25 of 0.75.
    assert re.search(r"\b2 pages\b.*\b41\.7%.*\b3 pages\b", cost)
    assert re.search(r"\b2 pages\b.*\b3 pages\b", chart(page, "regret").note)


def test_infinite_regrets_have_no_mean(tmp_path: Path) -> None:
    page = with_regrets(tmp_path / "crawl", math.inf)
    (note,) = politeness_of(page)
    assert re.search(r"\b1 page\b", note)
    assert "score given up" not in dict(page.key_facts)


def test_the_relevance_of_pages_out_of_order_is_compared_with_that_of_the_others(tmp_path: Path) -> None:
    (cost,) = politeness_of(with_regrets(tmp_path / "crawl", *[0.0] * 10, *[0.5] * 12, math.inf))
    assert re.search(r"\b12 pages\b.*\b0\.\d{3}\b.*\b0\.\d{3}\b.*\b1 page\b", cost)


@pytest.mark.parametrize(
    ("relevance_of_others", "regret_of_others", "n_lost"),
    [(0.1, 0.5, 8), (0.9, 0.5, 0), (0.1, 0.0, None), (0.1, math.inf, None)],
)
def test_pages_on_topic_that_politeness_cost_are_estimated(
    relevance_of_others: float, regret_of_others: float, n_lost: int | None
) -> None:
    # Twelve pages out of order; of the twelve others, eight are on topic.
    relevance = np.array([0.9] * 8 + [0.1] * 4 + [relevance_of_others] * 12)
    assert on_topic_pages_lost(relevance, np.array([0.0] * 12 + [regret_of_others] * 12), 0.5) == n_lost


def printed_by(capsys: pytest.CaptureFixture[str], regret: float, **changes: Any) -> str:
    """What `crawl` prints at the end of a crawl."""
    status = from_json(CrawlStatus, {**status_values(5), "regret": regret}, "")
    ending = Ending(EndReason.BUDGET, 5, 5, "otie", {}, 0, 1, {})
    print_summary(CrawlSummary(Path("crawl"), EndReason.BUDGET, status, 5, {}, ending, **changes))
    return " ".join(capsys.readouterr().out.split())


def test_the_cost_of_politeness_is_printed_where_there_can_be_any(capsys: pytest.CaptureFixture[str]) -> None:
    assert "given up 0.0%" in printed_by(capsys, 0.0)
    assert "given up" not in printed_by(capsys, 0.0, could_wait=False)
    assert "lost" not in printed_by(capsys, 0.25)
    assert re.search(r"given up 25\.0%.* lost about 8 pages on topic", printed_by(capsys, 0.25, n_on_topic_lost=8))


@pytest.mark.parametrize(
    ("changes", "regret", "n_hosts", "could_wait"),
    [
        ({}, 0.0, 2, True),
        ({}, 0.0, 1, False),
        ({"offline": True, "web": "web"}, 0.0, 2, False),
        ({"strict_order": True}, 0.0, 2, False),
        ({"politeness": PolitenessSettings(delay_s=0)}, 0.0, 2, False),
        # A host may have to wait for its own response, or ask for a delay.
        ({"politeness": PolitenessSettings(delay_s=0)}, 0.1, 2, True),
    ],
)
def test_nothing_can_wait_with_one_host_or_without_delays(
    changes: dict[str, Any], regret: float, n_hosts: int, could_wait: bool
) -> None:
    values = status_values(5) | {f"hosts_{state}": 0 for state in HostState} | {"hosts_ready": n_hosts}
    status = from_json(CrawlStatus, {**values, "regret": regret}, "")
    assert _could_wait(plan(**changes), status) == could_wait


def test_the_summary_of_a_crawl_has_the_estimate_of_its_report(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl", on_topic_from=0.5) as store:
        for number in range(24):
            relevance = 0.9 if number < 8 else 0.1
            store.add(visit(number, relevance=relevance, score=0.5, regret=0.0 if number < 12 else 0.5))
        store.commit()
        assert _n_on_topic_lost(plan(on_topic_from=0.5), store) == 8
        assert _n_on_topic_lost(plan(on_topic_from=None), store) is None
        store.add(RelevanceRecord(9, NOON_S, "svm", "relevance_models/1", 2, 2))
        store.commit()
        assert _n_on_topic_lost(plan(on_topic_from=0.5), store) is None


def test_a_budget_below_the_visited_pages_is_stated(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl", page_budget=100) as store:
        add_visits(store, [0.5] * 7)
    StopConditions(page_budget=5).write(tmp_path / "crawl")
    purpose = crawl_report(tmp_path / "crawl").summary[0]
    assert re.search(r"\b7 pages \(.*\b5\).*\b2 hosts\b", purpose)


@pytest.fixture
def retrained(tmp_path: Path) -> Path:
    """Sixty pages of 0.25 by rocchio, then forty of 0.75 by a retrained model."""
    with planned_crawl(tmp_path / "labelled") as store:
        add_visits(store, [0.25] * 60 + [0.75] * 40)
        store.add(RelevanceRecord(60, NOON_S, "svm", "relevance_models/1", 5, 7))
        store.commit()
    return tmp_path / "labelled"


def test_after_retraining_the_report_names_the_models_and_their_visits(retrained: Path) -> None:
    page = crawl_report(retrained)
    purpose, found, *_ = page.summary
    assert re.search(r"\brocchio\b.*\b60\b.*\bsvm\b", purpose)
    assert re.search(r"\b60 pages\b.*\b0\.250\b.*\brocchio;.*\b40 pages\b.*\b0\.750\b.*\bsvm\b", found)
    assert "0.450" not in text_of(page)
    assert dict(page.key_facts)["harvest, latest model"] == "0.750"
    (mark,) = chart(page, "harvest").markers
    assert mark.x == 60
    assert re.search(r"\b5\b.*\b7\b", mark.label)


def test_scores_of_two_models_are_never_shown_together_without_a_note(retrained: Path) -> None:
    page = crawl_report(retrained)
    graph = next(block for block in blocks_of(page) if isinstance(block, LinkGraph))
    tables = [table(page, name) for name in ("best-pages", "hosts")]
    for block in (chart(page, "harvest"), chart(page, "relevance"), graph, *tables):
        assert re.search(r"\brocchio\b.*\bsvm\b.*\b60\b", block.note)


def test_a_retrained_model_without_scores_changes_nothing(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.25] * 10)
        store.add(RelevanceRecord(10, NOON_S, "svm", "relevance_models/1", 5, 7))
        store.commit()
    page = crawl_report(tmp_path / "crawl")
    assert "rocchio" in page.summary[0]
    assert "svm" not in text_of(page)
    assert dict(page.key_facts)["harvest"] == "0.250"
    assert "svm" not in chart(page, "harvest").note


def side_by_side(folder: Path, first: dict[str, Any], second: dict[str, Any]) -> str:
    for name, changes in (("first", first), ("second", second)):
        with planned_crawl(folder / name, **changes) as store:
            add_visits(store, [0.5] * 3)
    return text_of(crawls_report([folder / "first", folder / "second"]))


def test_crawls_with_differently_trained_models_are_not_ranked(tmp_path: Path) -> None:
    learnt = {"relevance": "svm", "train_from": "pages"}
    one, other = ({**learnt, "train_digest": digest} for digest in ("one", "other"))
    (tmp_path / "same").mkdir()
    assert "(0.500)" not in side_by_side(tmp_path, one, other)
    # What they learnt from is the same, wherever it is.
    ranked = side_by_side(tmp_path / "same", one, {**one, "train_from": "elsewhere"})
    assert "first (0.500), second (0.500)" in ranked


def test_crawls_with_retrained_models_are_not_ranked(retrained: Path) -> None:
    with planned_crawl(retrained.parent / "plain") as store:
        add_visits(store, [0.5] * 100)
    page = crawls_report([retrained, retrained.parent / "plain"])
    assert not re.search(r"\d", page.summary[0])
    facts = table(page, "facts")
    assert [row[2].text for row in facts.rows] == ["rocchio, then svm (retrained)", "rocchio"]
    assert "labelled" in facts.note
    assert "plain" not in facts.note
