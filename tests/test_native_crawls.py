"""A crawl in C visits the same pages as one in Python, in the same order and at the same times, on any web."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.reasons import EndReason
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.rank_file import RankFile, rank_file_text
from scenthound.strategies.rank_function import RankByRules
from scenthound.strategies.rank_rules import RankRules
from scenthound.testing import SyntheticWeb
from slow_cases import few_of
from twin_crawls import IN_C, MODES, ROWS, SOME, each, outcome, random_setting, setting_of, some_webs

USUAL = ("roulette", "polite:workers=4,patience=0.5")


@pytest.fixture(scope="module")
def small_webs():
    return some_webs()


@pytest.fixture(scope="module")
def large_webs():
    """By whether their scores are continuous."""
    return [random_setting(3, 2000, 15, 5, continuous=continuous) for continuous in (False, True)]


@each(IN_C)
@pytest.mark.parametrize("mode", few_of(sorted(MODES, key=lambda mode: mode not in USUAL), len(USUAL)))
def test_small_webs_with_different_budgets(small_webs, strategy, mode):
    for turn, setting in enumerate(small_webs):
        for page_budget in (1, 5 + turn, 30, 1000):
            setting.assert_same(strategy, mode, page_budget=page_budget, seed=10 * page_budget + turn)


@each(IN_C)
@pytest.mark.parametrize(("continuous", "mode"), [(False, "roulette"), (True, "sequential")])
def test_webs_of_two_thousand_pages(large_webs, strategy, continuous, mode):
    crawl = large_webs[continuous].assert_same(strategy, mode, page_budget=800, seed=4)
    # All crawls without a bounded queue have seen almost all of the web by then.
    assert len(crawl.pages) == 800 or "buffer=" in strategy


@given(
    st.integers(0, 10**6), st.sampled_from(["distance", "phase"]), st.lists(st.integers(1, 9), max_size=2, unique=True)
)
def test_rank_functions_with_random_rules(seed, split_by, bounds):
    rng = Random(seed)
    weights = tuple((*(rng.choice([0, 0, 1, 5, 20]) for _ in range(12)), rng.choice([0, 1])) for _ in range(3))
    rules = [row if any(row) else ROWS[0] for row in weights][: len(bounds) + 1]
    made = RankRules(tuple(rules), split_by if bounds else "nothing", tuple(sorted(bounds)))
    setting = random_setting(seed, 60, 6, 3, continuous=seed % 2 == 1)
    setting.assert_same(lambda: RankByRules(made), rng.choice(MODES), page_budget=40, seed=seed)


def test_rank_functions_from_a_file(tmp_path, small_webs):
    rules = RankRules(ROWS[1:], "phase", (9,))
    (tmp_path / "best.toml").write_text(
        rank_file_text(RankFile(rules, relevance_model="svm", threshold=0.4, hub_over="max"))
    )
    for mode in MODES:
        small_webs[3].assert_same(f"evolved:file={tmp_path / 'best.toml'}", mode)


@pytest.mark.parametrize(
    "strategy", ["otie:a=100,reshare_every=none", "otie:a=1e300,reshare_every=2,revise_again=true"]
)
def test_cash_that_would_overflow_is_bounded(strategy):
    # Each page of the chain has 1 + a times the cash that came to it: more than 1e308 after some 150 pages at most.
    links = {f"p{i}": [f"p{i + 1}", f"q{i}", f"p{max(0, i - 7)}", f"q{max(0, i - 3)}"] for i in range(300)}
    web = SyntheticWeb(links, relevance=dict.fromkeys(links, 1.0))
    setting = setting_of(web.recorded)
    setting.seeds, setting.scores = [0], web.scores()
    for mode in MODES:
        setting.assert_same(strategy, mode)


@pytest.mark.parametrize("links", [{"a": []}, {"a": ["a"]}, {"a": ["a", "a", "b", "a"]}, {"a": ["b"], "c": []}])
@each(SOME)
def test_webs_of_one_or_two_pages(links, strategy):
    web = SyntheticWeb(links, fails=["b"])
    for mode in MODES:
        crawl = setting_of(web.recorded).assert_same(strategy, mode)
        assert crawl.ended is EndReason.FRONTIER


@each(SOME)
def test_repeated_seeds_and_seeds_that_are_not_recorded(small_webs, strategy):
    web = small_webs[3].web
    setting = setting_of(web)
    redirected, dead = (np.flatnonzero(found)[-1] for found in (web.url_page[web.n_pages :] >= 0, web.url_page < 0))
    setting.seeds = [
        3,
        3,
        8,
        int(dead),
        3,
        int(redirected) + web.n_pages,
        int(web.url_page[redirected + web.n_pages]),
        8,
    ]
    for mode in MODES:
        crawl = setting.assert_same(strategy, mode, page_budget=40)
        assert crawl.n_missing
        assert crawl.n_repeated


@each(SOME)
@pytest.mark.parametrize("page_budget", [0, 1, 10**12])
def test_a_budget_of_nothing_and_one_of_more_than_the_web_end_alike(small_webs, strategy, page_budget):
    crawl = small_webs[2].assert_same(strategy, page_budget=page_budget)
    assert crawl.ended is (EndReason.BUDGET if page_budget < 2 else EndReason.FRONTIER)


@pytest.mark.parametrize("rules", [{"closed_world": True}, {"respect_nofollow": False}, {}])
@each(SOME)
def test_both_see_the_links_that_are_shown_alike(rules, strategy):
    arrays = dict(SyntheticWeb.random(Random(6), 120, 6).recorded.arrays)
    arrays["link_nofollow"] = np.random.default_rng(6).random(len(arrays["link_url"])) < 0.4
    setting = setting_of(RecordedWeb(arrays), 3, **rules)
    crawl = setting.assert_same(strategy, MODES[2])
    assert (crawl.n_missing == 0) == ("closed_world" in rules)


@each(SOME)
def test_a_web_in_files_and_one_in_memory_are_crawled_alike(web_path, strategy):
    mapped = RecordedWeb.open(web_path)
    in_memory = RecordedWeb({name: np.array(array) for name, array in mapped.arrays.items()})
    crawls = [setting_of(web, 2).assert_same(strategy, MODES[2]) for web in (mapped, in_memory)]
    assert outcome(crawls[0]) == outcome(crawls[1])
