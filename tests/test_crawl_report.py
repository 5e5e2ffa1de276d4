"""The report of a crawl in any state."""

import re
from pathlib import Path

import numpy as np
import pytest

from overview_crawls import SEEDS, a_moment, a_run, add_visits, blocks_of, chart, planned_crawl, table
from scenthound.crawler.options import DEFAULT_STRATEGY
from scenthound.model import Topic
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_records import SkippedRecord
from scenthound.ui.document import CodeBlock, Document, LinkGraph
from scenthound.ui.html import document_html
from scenthound.ui.reports.crawl import crawl_report, histogram, time_unit
from scenthound.ui.reports.crawl_summary import duration
from stored_crawls import NOON_S, visit


def commands(page: Document) -> list[str]:
    return [block.text for block in blocks_of(page) if isinstance(block, CodeBlock)]


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """100 pages in 50 s; the first ten have a relevance of 0.8, the last of 0.2, those between of 0.5."""
    folder = tmp_path / "crawl"
    with planned_crawl(folder, page_budget=100) as store:
        add_visits(store, [0.8] * 10 + [0.5] * 80 + [0.2] * 10, {0: [2, 4], 1: [3]}, score=0.375, regret=0.125)
        for page, reason in ((100, SkipReason.ROBOTS), (101, SkipReason.NOT_HTML), (102, SkipReason.ROBOTS)):
            store.add(SkippedRecord(page, f"http://a.test/{page}", reason, "", NOON_S))
        store.add(a_run(1, 0.0, ended_s=50.0, ended="page budget reached"))
        for second in range(51):
            store.add(a_moment(second, 2 * second, regret=0.125))
        store.commit()
    return folder


def test_the_summary_has_purpose_yield_and_end_of_the_crawl(ended: Path) -> None:
    page = crawl_report(ended)
    purpose, found, politeness, skipped, ending = page.summary
    assert page.title == "Crawl for ballooning"
    assert re.search(rf"ballooning \(hot air balloon\).*\b2\b.*\b{DEFAULT_STRATEGY}\b", purpose)
    assert re.search(r"\b100 pages\b.*\b2 hosts\b.*\b50 s\b.*\b2\.0 pages/s", purpose)
    assert re.search(r"\b0\.500\b.*\b0\.800\b.*\b0\.200\b.*\b75%", found)
    assert re.search(r"\b100 pages\b.*\b25\.0%", politeness)
    assert re.search(rf"\b3\b.*\b2\b.*{SkipReason.ROBOTS.text}", skipped)
    assert EndReason.BUDGET in ending
    assert "2026-01-31 12:01:39 UTC" in ending
    assert ending.endswith(f"scenthound crawl --resume {ended} --pages 200")
    assert dict(page.key_facts)["harvest"] == "0.500"


@pytest.mark.parametrize(
    ("last", "words"),
    [(0.82, "steady"), (1.0, "rising"), (0.6, "falling")],
)
def test_the_last_tenth_is_compared_with_the_first(last: float, words: str, tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.8] * 10 + [0.0] * 80 + [last] * 10)
    assert words in " ".join(crawl_report(tmp_path / "crawl").summary)


def test_charts_and_tables_have_the_numbers_of_the_crawl(ended: Path) -> None:
    page = crawl_report(ended)
    (so_far,) = chart(page, "harvest").series
    assert (so_far.y[9], so_far.y[-1]) == (pytest.approx(0.8), pytest.approx(0.5))
    relevance = chart(page, "relevance")
    counts = dict(zip(relevance.categories, relevance.series[0].y.tolist(), strict=True))
    assert {label: count for label, count in counts.items() if count} == {
        "0.2 to 0.25": 10,
        "0.5 to 0.55": 80,
        "0.8 to 0.85": 10,
    }
    assert chart(page, "speed").series[0].y[1:] == pytest.approx(2.0)
    assert [cell.text for cell in table(page, "hosts").rows[0]] == ["a.test", "50", "50.0%", "0.500"]
    assert [row[0].text for row in table(page, "skipped").rows] == [
        "disallowed by robots.txt (robots)",
        "not HTML (not-html)",
    ]
    assert table(page, "skipped").rows[0][1].link == "http://a.test/100"
    assert len(table(page, "best-pages").rows) == 20
    graph = next(block for block in blocks_of(page) if isinstance(block, LinkGraph))
    assert [node.parent for node in graph.nodes][:5] == [None, None, 0, 1, 0]


def test_the_most_relevant_pages_are_first_and_ties_are_by_visit(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.2, 0.9, 0.5, 0.9])
    rows = table(crawl_report(tmp_path / "crawl"), "best-pages").rows
    assert [(row[2].text, row[1].text) for row in rows] == [
        ("1", "0.900"),
        ("3", "0.900"),
        ("2", "0.500"),
        ("0", "0.200"),
    ]


def test_the_report_of_a_running_crawl_has_no_resume_command(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.5] * 3)
        store.add(a_run())
        store.commit()
        page = crawl_report(tmp_path / "crawl")
    assert ("state", "running") in page.key_facts
    assert "--resume" not in " ".join(page.summary)
    assert not any("--resume" in command for command in commands(page))


def test_the_report_of_a_dead_crawl_has_a_resume_command(tmp_path: Path) -> None:
    folder = tmp_path / "my crawl"
    with planned_crawl(folder) as store:
        add_visits(store, [0.5] * 3)
        store.add(a_run())
        store.commit()
    page = crawl_report(folder)
    assert page.summary[-1].endswith(f"scenthound crawl --resume '{folder}'")
    assert ("state", "died") in page.key_facts


def test_a_report_has_absolute_paths(ended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ended.parent)
    html = document_html(crawl_report(Path(ended.name)))
    assert html == document_html(crawl_report(ended))
    assert f"--out {ended}-again" in html
    assert f"--web {ended} --offline" in html


def test_the_curves_of_a_short_crawl_come_from_its_visits(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        store.add(a_run())
        add_visits(store, [0.5] * 30)
    page = crawl_report(tmp_path / "crawl")
    assert re.search(r"\b30 of 1,000 pages\b.*\b2 hosts\b.*\b29 s\b", page.summary[0])
    assert chart(page, "frontier").series[0].y[-1] == 290
    assert [series.name for series in chart(page, "frontier").series] == ["in the frontier"]


def test_a_crawl_without_pages_has_a_report_that_says_so(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        store.add(SkippedRecord(0, SEEDS[0], SkipReason.DNS_NOT_FOUND, "", NOON_S))
        store.commit()
    page = crawl_report(tmp_path / "crawl")
    assert ("pages", "0") in page.key_facts
    assert not re.search(r"pages/s|\b0 hosts", page.summary[0])
    assert SkipReason.DNS_NOT_FOUND.text in page.summary[1]
    assert "<h1>Crawl for ballooning</h1>" in document_html(page)


def test_texts_of_pages_and_topics_cannot_become_markup(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    topic = Topic(hostile, (hostile,), description=hostile)
    with planned_crawl(tmp_path / "crawl", topic=topic) as store:
        add_visits(store, [0.5])
        store.add(visit(1, title=hostile, url="http://b.test/1?<script>", relevance=0.9))
        store.commit()
    html = document_html(crawl_report(tmp_path / "crawl"))
    assert "<script>alert" not in html
    assert "?<script>" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_the_same_crawl_makes_the_same_report(ended: Path) -> None:
    assert document_html(crawl_report(ended)) == document_html(crawl_report(ended))


def test_a_strategy_that_is_not_installed_does_not_stop_the_report(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl", strategy="of_somebody_else") as store:
        add_visits(store, [0.5])
    purpose = crawl_report(tmp_path / "crawl").summary[0]
    assert "of_somebody_else" in purpose
    assert "cosine" not in purpose


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.66, "0.7 s"), (59.6, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (90_061, "1 day 1 h"), (172_900, "2 days")],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_histogram_bars_fit_the_range_of_relevance() -> None:
    assert histogram(np.array([0.0, 0.049]), "").categories[-1] == "0.045 to 0.05"
    assert len(histogram(np.array([0.0, 1.0]), "").categories) == 20
    assert histogram(np.array([1.0]), "").series[0].y[-1] == 1


def test_time_axes_have_a_suitable_unit() -> None:
    assert [time_unit(seconds)[0] for seconds in (90, 600, 90_000, 400_000)] == ["seconds", "minutes", "hours", "days"]
