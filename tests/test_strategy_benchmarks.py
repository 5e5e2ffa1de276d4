"""The benchmarks that compare all strategies: their measures, conditions and labels."""

from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from scenthound.model import Topic
from scenthound.testing import topical_web

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def default_strategy(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return import_module("benchmarks.default_strategy")


@pytest.fixture
def sites(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return import_module("benchmarks.documentation_sites")


def test_the_recall_of_a_crawl_that_ended_early_stays_as_it_was(default_strategy):
    curve = default_strategy.recall_curve(np.array([False, True, True]), n_targets=4, n_pages=5)
    assert curve.tolist() == [0, 0.25, 0.5, 0.5, 0.5]


def test_equal_results_share_the_mean_of_their_ranks(default_strategy):
    assert default_strategy.ranks(np.array([0.2, 0.5, 0.2, 0.1])).tolist() == [2.5, 1, 2.5, 4]


def test_three_topics_have_each_condition_once_and_webs_of_many_hosts_also_politely(
    default_strategy, monkeypatch, tmp_path
):
    web = tmp_path / "web"
    topical_web(web, pages=600, topics=4, pages_per_host=30, dead_links=0.55)
    monkeypatch.setattr(default_strategy, "STRATEGY_NAMES", ("breadth_first", "infospiders"))
    judged = default_strategy.JudgedWeb(default_strategy.DEAD_LINKS, web, web / "topics.jsonl", None)
    cases = list(judged.cases(n_topics=3, n_pages=30))
    times = Counter((case.condition.n_starts, case.condition.given, case.condition.mode) for case in cases)
    assert len(times) == 18
    assert set(times.values()) == {1}
    results = np.array([case.results for case in cases])
    assert results.shape == (18, 2, 3)
    assert (results[..., :2] >= 0).all()
    assert (results[..., 1] > 0).any()
    assert (results[..., 0] <= results[..., 1]).all()


def test_debdocs_does_not_count_and_other_webs_count_the_same(default_strategy):
    def case(web, mean):
        condition = default_strategy.Condition(1, "both", default_strategy.SEQUENTIAL)
        return default_strategy.Case(web, condition, np.array([[mean, 0, 0]]))

    cases = [case("nlab", 0.1), case("mdn", 0.4), case("mdn", 0.6), case("debdocs", 1)]
    assert default_strategy._mean_over_webs(cases)[0, 0] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("html", "is_on_topic"),
    [
        ("<p>A race\ncondition, two Race Conditions and a mutex</p>", True),
        ("<p>mutex mutex</p><nav>mutex</nav><div role=navigation>mutex</div><a href=x>mutex</a>", False),
        ("<p>mutex mutex <b>mutex</b></p>", True),
        ("<p>mutexing mutexing mutexing</p>", False),
    ],
)
def test_a_page_is_on_topic_if_its_main_text_has_the_keywords_three_times(sites, html, is_on_topic):
    assert sites.is_on_topic(html, Topic("threads", ("mutex", "race condition"))) is is_on_topic


def test_links_between_the_served_sites_are_followed(sites):
    first, second = "docs.python.org/3/index.html", "www.sqlite.org/lang.html"
    pages = {first: f"<a href='https://{second}'>threads</a>", second: "<p>thread thread thread</p>"}
    topic = Topic("threads", ("thread",), seeds=first)
    with sites.Sites(pages) as served:
        row = served.crawl(topic, "breadth_first", 5, {second})
    assert row.n_on_topic == 1


def test_benchmarks_of_absent_collections_are_skipped(default_strategy, sites, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(default_strategy, "COLLECTIONS", tmp_path)
    monkeypatch.setattr(import_module("benchmarks.data"), "COLLECTIONS", tmp_path)
    assert default_strategy.main([]) == 0
    assert sites.main([]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["skipped:", "skipped:"]
