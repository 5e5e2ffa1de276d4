"""The driver of compiled crawls: independent crawls, minimal requests for scores, and the fallback to plain crawls."""

import gc
from random import Random

import numpy as np
import pytest

from scenthound import jit
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.kernels import BestFirstKernel
from scenthound.strategies.opic import Opic
from scenthound.strategies.rank_rules import SCORE_NAMES
from scenthound.testing import SyntheticWeb
from twin_crawls import COMPILED, MODES, SOME, RecordingScores, Refused, each, outcome, setting_of, some_webs

pytest.importorskip("compiled_code")


@pytest.fixture(scope="module")
def setting():
    """A web of 200 pages."""
    return some_webs()[3]


def test_crawls_do_not_affect_each_other(setting):
    # All crawls share one set of arrays; some end early, with many pages still queued.
    for turn in range(80):
        rng = Random(turn)
        setting.seeds = rng.sample(range(setting.web.n_pages), rng.choice([1, 5]))
        setting.assert_same(rng.choice(COMPILED), rng.choice(MODES), page_budget=rng.choice([0, 3, 40, 500]), seed=turn)


@each(SOME)
@pytest.mark.parametrize("most_requests", [0, 1, 17, 40])
def test_a_crawl_after_an_error_in_scores_is_correct(setting, strategy, most_requests):
    fresh = setting_of(setting.web, 4)
    both = (strategy, "best_first:buffer=none")
    expected = [outcome(fresh.plain(one, page_budget=60)) for one in both]
    fresh.scores.requests.clear()
    fresh.scores.most_requests = most_requests
    with pytest.raises(Refused):
        fresh.compiled(strategy, page_budget=60)
    fresh.scores.most_requests = np.inf
    assert [outcome(fresh.compiled(one, page_budget=60)) for one in both] == expected


@each(COMPILED)
def test_scores_are_requested_once_and_for_visited_pages_only(setting, strategy):
    fresh = setting_of(setting.web, 4)
    made = STRATEGIES.make(strategy) if isinstance(strategy, str) else strategy()
    crawl = fresh.compiled(strategy, MODES[2], page_budget=30)
    assert sorted(fresh.scores.requested("page")) == sorted(crawl.pages.tolist())
    for what, is_wanted in (("contexts", made.context_words is not None), ("anchors", made.needs_anchors)):
        assert sorted(fresh.scores.requested(what)) == (sorted(crawl.pages.tolist()) if is_wanted else [])
    n_requests = len(fresh.scores.requests)
    again = fresh.compiled(strategy, MODES[2], page_budget=30)
    assert outcome(again) == outcome(crawl)
    assert len(fresh.scores.requests) == n_requests


def test_scores_of_topics_are_not_confused(setting):
    for seed in range(8):
        other = RecordingScores(setting.web, seed)
        assert outcome(setting.compiled("otie", scores=other)) == outcome(setting.plain("otie", scores=other))
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
        "opic:n=5",
        "otie:n=5",
        "adaptive_n_first",
        "rank_function:n=2",
        "rank_function:buffer=9",
        "hub_otie",
        "shark_search",
        Backwards,
    ],
)
def test_strategies_without_a_kernel_run_as_plain_crawls(setting, strategy):
    assert setting.compiled(strategy, page_budget=40) is None
    crawl = setting.crawl(simulate, strategy, page_budget=40)
    assert outcome(crawl) == outcome(setting.plain(strategy, page_budget=40))
    assert not np.isnan(crawl.cpu_us).any()


class Renamed(BestFirst):
    kernel = BestFirst.kernel


def test_a_subclass_has_a_kernel_only_if_it_says_so(setting):
    assert Backwards().kernel() is None
    assert type("Evens", (Renamed,), {})().kernel() is None
    assert Renamed(buffer=7).kernel() == BestFirst(buffer=7).kernel() == BestFirstKernel(queue_size=7)
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
def test_crawls_in_simulated_time_or_without_seeds_are_plain(setting, strategy):
    assert setting.compiled(strategy, "polite:workers=3") is None
    assert setting_of(setting.web, 0).compiled(strategy) is None


@each(SOME)
def test_without_numba_crawls_are_plain(setting, strategy, monkeypatch):
    fast = setting.crawl(simulate, strategy, page_budget=40)
    monkeypatch.setattr(jit, "is_available", lambda: False)
    slow = setting.crawl(simulate, strategy, page_budget=40)
    assert outcome(fast) == outcome(slow)
    # CPU time that was not measured is NaN.
    assert np.isnan(fast.cpu_us).all()
    assert not np.isnan(slow.cpu_us).any()


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

    class Crawling:
        """Scores that crawl the same web with the same links whenever they are requested."""

        def page(self, page):
            simulate(web.recorded, Opic(), [page], scores, rng=Random(0), page_budget=9, links=links)
            return scores.page(page)

        def __getattr__(self, name):
            return getattr(scores, name)

    def crawled(used_scores, plain):
        options = {"rng": Random(2), "page_budget": 60, "links": links, "plain": plain}
        return simulate(web.recorded, BestFirst(buffer=None), [0], used_scores, **options).pages.tolist()

    assert crawled(Crawling(), False) == crawled(scores, True)
