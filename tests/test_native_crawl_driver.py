"""Crawls in C: independent of each other, with minimal requests for scores, or in Python; invalid arrays."""

import gc
from random import Random

import numpy as np
import pytest

from scenthound.native import _native
from scenthound.simulator.scores import Scores
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.opic import Opic
from scenthound.strategies.rank_rules import SCORE_NAMES
from scenthound.testing import SyntheticWeb
from twin_crawls import IN_C, MODES, SOME, RecordingScores, Refused, each, outcome, setting_of, some_webs


@pytest.fixture(scope="module")
def setting():
    """A web of 200 pages."""
    return some_webs()[3]


def test_crawls_do_not_affect_each_other(setting):
    # All crawls share one set of arrays; some end early, with many pages still queued.
    for turn in range(80):
        rng = Random(turn)
        setting.seeds = rng.sample(range(setting.web.n_pages), rng.choice([1, 5]))
        setting.assert_same(rng.choice(IN_C), rng.choice(MODES), page_budget=rng.choice([0, 3, 40, 500]), seed=turn)


@each(SOME)
@pytest.mark.parametrize("most_requests", [0, 1, 17, 40])
def test_a_crawl_after_an_error_in_scores_is_correct(setting, strategy, most_requests):
    fresh = setting_of(setting.web, 4)
    both = (strategy, "best_first:buffer=none")
    expected = [outcome(fresh.plain(one, page_budget=60)) for one in both]
    fresh.scores.requests.clear()
    fresh.scores.most_requests = most_requests
    with pytest.raises(Refused):
        fresh.in_c(strategy, page_budget=60)
    fresh.scores.most_requests = np.inf
    assert [outcome(fresh.in_c(one, page_budget=60)) for one in both] == expected


@each(IN_C)
def test_scores_are_requested_once_and_for_visited_pages_only(setting, strategy):
    fresh = setting_of(setting.web, 4)
    made = STRATEGIES.make(strategy) if isinstance(strategy, str) else strategy()
    crawl = fresh.in_c(strategy, MODES[2], page_budget=30)
    assert sorted(fresh.scores.requested("page")) == sorted(crawl.pages.tolist())
    for what, is_wanted in (("contexts", made.context_words is not None), ("anchors", made.needs_anchors)):
        assert sorted(fresh.scores.requested(what)) == (sorted(crawl.pages.tolist()) if is_wanted else [])
    n_requests = len(fresh.scores.requests)
    again = fresh.in_c(strategy, MODES[2], page_budget=30)
    assert outcome(again) == outcome(crawl)
    assert len(fresh.scores.requests) == n_requests


def test_scores_of_topics_are_not_confused(setting):
    for seed in range(3):
        other = RecordingScores(setting.web, seed)
        assert outcome(setting.in_c("otie", scores=other)) == outcome(setting.plain("otie", scores=other))
        # The next scores may have the same address in memory.
        del other
        gc.collect()


class Backwards(BreadthFirst):
    """A subclass does not inherit the kernel."""

    def ask(self, n, ready=None):
        return super().ask(n, ready)[::-1]


@pytest.mark.parametrize(
    "strategy",
    [
        "adaptive_n_first",
        "rank_function:buffer=9",
        "hub_otie",
        "shark_search",
        Backwards,
    ],
)
def test_strategies_without_a_kernel_run_in_python(setting, strategy):
    assert setting.in_c(strategy, page_budget=40) is None
    crawl = setting.crawl(simulate, strategy, page_budget=40)
    assert outcome(crawl) == outcome(setting.plain(strategy, page_budget=40))
    assert not np.isnan(crawl.cpu_us).any()


class Renamed(BestFirst):
    kernel = BestFirst.kernel


def test_a_subclass_has_a_kernel_only_if_it_says_so(setting):
    assert Backwards().kernel() is None
    assert type("Evens", (Renamed,), {})().kernel() is None
    assert Renamed(buffer=7).kernel() == BestFirst(buffer=7).kernel()
    setting.assert_same(Renamed)


@pytest.mark.parametrize(
    ("names", "known"),
    [
        ("breadth_first", "buffer when_full"),
        ("best_first", "buffer found_again description"),
        ("best_n_first", "n buffer found_again description"),
        ("link_context", "b window n buffer found_again"),
        ("opic", "n seeds_first"),
        ("otie", "a d b window reshare_every revise_again when_hopeless n seeds_first"),
        ("rank_function", f"n buffer {' '.join(SCORE_NAMES)} hub_over threshold score_range renew"),
        ("evolved", "file n buffer"),
    ],
)
def test_all_parameters_of_strategies_with_kernels_are_known(names, known):
    # A parameter that kernels ignored would be treated as if it had its default.
    assert list(STRATEGIES.make(names).parameters) == known.split()


@each(SOME)
def test_a_crawl_without_seeds_runs_in_python(setting, strategy):
    assert setting_of(setting.web, 0).in_c(strategy) is None


@pytest.mark.parametrize("scores_cost_ns", [0, 10**9])
def test_pages_are_charged_the_time_of_their_scores_also_of_known_ones(setting, scores_cost_ns, monkeypatch):
    fresh = setting_of(setting.web, 4)

    def cost_ns(_page, *, page, window, anchors):
        return scores_cost_ns * (page + (window is not None) + anchors)

    monkeypatch.setattr(fresh.scores, "cost_ns", cost_ns)
    for strategy, n_scores in (("breadth_first", 0), ("best_first", 1), ("link_context", 2), ("link_context", 2)):
        in_c, in_python = (
            run(strategy, page_budget=30).cpu_us - scores_cost_ns * n_scores / 1000 for run in (fresh.in_c, fresh.plain)
        )
        assert (in_c > 0).all()
        assert (in_python > 0).all()
        assert max(in_c.max(), in_python.max()) < 10**6


@pytest.mark.parametrize("strategy", ["link_context", "link_context:buffer=3"])
def test_scores_that_are_no_numbers_end_the_crawl(setting, strategy):
    fresh = setting_of(setting.web, 4)
    fresh.scores._context[:] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fresh.in_c(strategy)
    fresh.scores._context[:] = 0.5
    other = setting_of(setting.web, 4)
    assert outcome(other.in_c(strategy)) == outcome(other.plain(strategy))


def web_arrays(**changed):
    """Two pages that link to each other, and their URLs."""
    arrays = {
        "link_offset": np.array([0, 1, 2]),
        "link_url": np.array([1, 0], np.int32),
        "link_index": np.array([0, 1]),
        "url_page": np.array([0, 1, -1], np.int32),
        "url_host": np.zeros(3, np.int32),
        "n_hosts": 1,
        "n_all_links": 2,
    }
    return (arrays | changed).values()


@pytest.mark.parametrize(
    "changed",
    [
        {"link_offset": np.array([0, 3, 2])},
        {"link_offset": np.array([-1, 1, 2])},
        {"link_offset": np.array([0, 1, 1])},
        {"link_offset": np.zeros(0, np.int64)},
        {"link_offset": np.array([0, 1, 2], np.int32)},
        {"link_url": np.array([1, 3], np.int32)},
        {"link_url": np.array([1, -1], np.int32)},
        {"link_index": np.array([0, 2])},
        {"link_index": np.array([0])},
        {"url_page": np.array([0, 2, -1], np.int32)},
        {"url_page": np.array([0, 1, -2], np.int32)},
        {"url_host": np.array([0, 0, 1], np.int32)},
        {"url_host": np.zeros(2, np.int32)},
        {"n_hosts": 0},
        {"n_all_links": 1},
    ],
)
def test_arrays_of_no_web_are_refused(changed):
    _native.CrawledWeb(*web_arrays())
    with pytest.raises(ValueError, match=r"arrays are not those|not an array"):
        _native.CrawledWeb(*web_arrays(**changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": {"loop": 9}},
        {"settings": {"loop": -1}},
        {"settings": {"loop": 1, "speed": 3}},
        {"settings": {"loop": 1, "round_size": 0}},
        {"settings": {"loop": 1, "list_size": 3, "workers": 2}},
        {"settings": {"loop": 4, "deepest": 6}},
        {"settings": {"loop": 4}, "weights": np.ones(12)},
        {"settings": {"loop": 4}, "weights": np.ones(26)},
        {"settings": {"loop": 1, "has_extras": 1}},
        {"settings": {"loop": 3}, "contexts": np.zeros(0)},
        {"contexts": np.zeros(1)},
        {"anchors": np.zeros(3)},
        {"seeds": np.array([3], np.int32)},
        {"seeds": np.array([-1], np.int32)},
        {"relevance": np.zeros(1)},
        {"relevance": np.zeros(2, np.float32)},
        {"has_links": np.zeros(1, np.uint8)},
    ],
)
def test_a_crawl_whose_arrays_do_not_fit_is_refused(changed):
    arguments = {
        "settings": {"loop": 1},
        "seeds": np.zeros(1, np.int32),
        "relevance": np.ones(2),
        "contexts": np.ones(2),
        "anchors": np.ones(2),
        "has_links": np.ones(2, np.uint8),
        "weights": np.ones(13),
        "bounds": np.zeros(0, np.int64),
        "learn_page": float,
        "learn_links": float,
        "rng": Random(0),
    }
    web = _native.CrawledWeb(*web_arrays())
    arguments["settings"] = {"budget": 9, **arguments["settings"]}
    visits, *_ = web.crawl(*arguments.values())
    assert np.frombuffer(visits, np.int32).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"do not fit|no such crawl|not an array|negative"):
        web.crawl(*(arguments | changed).values())


@pytest.mark.parametrize("seed", [10**7, -(10**7)])
@pytest.mark.parametrize("plain", [True, False])
def test_a_seed_outside_the_web_is_an_error(seed, plain):
    web = SyntheticWeb.random(Random(1), 20, 3)
    with pytest.raises(IndexError):
        simulate(web.recorded, Opic(), [seed], web.scores(), rng=Random(0), page_budget=5, plain=plain)


@pytest.mark.parametrize("plain", [True, False])
def test_a_negative_budget_visits_nothing(plain):
    web = SyntheticWeb.random(Random(1), 20, 3)
    crawl = simulate(web.recorded, Opic(), [0], web.scores(), rng=Random(0), page_budget=-1, plain=plain)
    assert len(crawl.pages) == 0


def test_a_crawl_started_by_a_score_does_not_disturb_the_running_one():
    web = SyntheticWeb.random(Random(5), 80, 5)
    links, scores = VisibleLinks(web.recorded), web.scores()

    class Crawling(Scores):
        """Scores that crawl the same web with the same links whenever they are requested."""

        def score_page(self, page):
            simulate(web.recorded, Opic(), [page], scores, rng=Random(0), page_budget=9, links=links)
            return scores.page(page), 0

        def score_links(self, page, window):
            return scores.score_links(page, window)

    def crawled(used_scores, plain):
        options = {"rng": Random(2), "page_budget": 60, "links": links, "plain": plain}
        return simulate(web.recorded, BestFirst(buffer=None), [0], used_scores, **options).pages.tolist()

    assert crawled(Crawling(web.recorded), False) == crawled(scores, True)
