"""Which pages of a crawl are on topic: in its status, summary, report and exports."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import scenthound as sh
from live_site import N_PAGES, LiveSite, live_site
from scenthound.errors import InvalidParameter, UsageError
from scenthound.ui.crawl_overview import CrawlOverview
from scenthound.ui.endings import OUT_OF_SCOPE, TOO_DEEP
from scenthound.ui.reports.crawl_summary import summary

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site(tmp_path: Path):
    with live_site(tmp_path) as served:
        yield served


def test_a_crawl_counts_pages_on_topic_and_says_how(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    code, out, _ = scenthound(*site.crawl("--out", tmp_path / "crawl", "--pages", 8))
    assert code == 0
    assert re.search(r"on topic\W+8 pages, 100%: rocchio\b.*\b0\.5\b", " ".join(out.split()))
    crawl = sh.open_crawl(tmp_path / "crawl")
    assert (crawl.settings.relevance, crawl.settings.on_topic_from) == ("rocchio", 0.5)
    assert len(list(crawl.on_topic)) == 8
    overview = CrawlOverview(tmp_path / "crawl")
    assert overview.n_on_topic == 8
    assert overview.state.status is not None
    assert overview.state.status.n_on_topic == 8
    assert any("100%" in text and "rocchio" in text for text in summary(overview))


def test_a_model_without_probabilities_counts_none(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    code, out, _ = scenthound(*site.crawl("--out", tmp_path / "crawl", "--pages", 5, "--relevance", "cosine"))
    assert code == 0
    assert "on topic" not in out
    assert CrawlOverview(tmp_path / "crawl").n_on_topic is None
    assert not list(sh.open_crawl(tmp_path / "crawl").on_topic)
    with pytest.raises(UsageError, match="min_relevance="):
        sh.export(tmp_path / "crawl", "jsonl", tmp_path / "pages.jsonl", on_topic=True)
    assert not (tmp_path / "pages.jsonl").exists()


def test_the_count_goes_on_when_a_crawl_is_resumed(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    scenthound(*site.crawl("--out", tmp_path / "crawl", "--pages", 4))
    code, out, _ = scenthound("crawl", "--resume", tmp_path / "crawl", "--pages", 9)
    assert code == 0
    assert re.search(r"on topic\W+9 pages", " ".join(out.split()))


def test_a_start_page_that_is_off_topic_is_named(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    command = site.crawl("--out", tmp_path / "crawl", "--pages", 3, "--keywords", "submarine")
    command[1:3] = []
    code, out, _ = scenthound(*command)
    assert code == 0
    [note] = sh.open_crawl(tmp_path / "crawl").notes
    assert site.url(0) in note
    assert note in " ".join(out.split())


def test_a_topic_can_be_what_the_start_page_is_about(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    command = site.crawl("--out", tmp_path / "crawl", "--pages", 6)
    command[1:3] = []
    code, _, _ = scenthound(*command)
    assert code == 0
    crawl = sh.open_crawl(tmp_path / "crawl")
    assert crawl.settings.topic.keywords == ()
    first, *_ = crawl.pages
    assert first.relevance >= 0.5


def test_an_empty_frontier_names_the_scope(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    for option, cause in ((("--include", site.url(0)), OUT_OF_SCOPE), (("--max-depth", 0), TOO_DEEP)):
        code, out, _ = scenthound(*site.crawl("--out", tmp_path / "crawl", "--force", *option))
        assert code == 0
        assert f"{cause.text}: 3" in " ".join(out.split())
        assert cause.advice in " ".join(out.split())


def exported(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_exports_can_be_limited_to_relevant_pages(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    crawl, file = tmp_path / "crawl", tmp_path / "pages.jsonl"
    scenthound(*site.crawl("--out", crawl, "--pages", N_PAGES // 2))
    pages = list(sh.open_crawl(crawl).pages)
    code, _, _ = scenthound("export", crawl, "--to", "jsonl", "--out", file)
    assert code == 0
    assert [page["on_topic"] for page in exported(file)] == [page.relevance >= 0.5 for page in pages]
    code, _, _ = scenthound("export", crawl, "--to", "jsonl", "--out", file, "--on-topic", "--force")
    assert code == 0
    assert [page["url"] for page in exported(file)] == [page.url for page in pages if page.relevance >= 0.5]
    least = sorted(page.relevance for page in pages)[3]
    written = sh.export(crawl, "jsonl", tmp_path / "best.jsonl", min_relevance=least)
    n_best = sum(page.relevance >= least for page in pages)
    assert (written.written, written.dropped.get("relevance", 0)) == (n_best, len(pages) - n_best)
    assert min(page["relevance"] for page in exported(tmp_path / "best.jsonl")) >= least


def test_invalid_limits_of_an_export_cost_one_line(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    crawl, file = tmp_path / "crawl", tmp_path / "file"
    scenthound(*site.crawl("--out", crawl, "--pages", 2))
    for kind, option in (("warc", "--on-topic"), ("cdxj", "--on-topic"), ("jsonl", "--min-relevance=2")):
        code, _, err = scenthound("export", crawl, "--to", kind, "--out", file, option)
        assert (code, len(err.strip().splitlines())) == (2, 1)
        assert option.partition("=")[0] in err
    with pytest.raises(InvalidParameter, match="min_relevance=2"):
        sh.export(crawl, "jsonl", file, min_relevance=2)
    assert not file.exists()
