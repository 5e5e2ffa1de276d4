"""Compiled crawls one after the other: each is as if it were the first, asks for no more than it may, or is plain."""

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
from twin_crawls import FOLLOWED, MODES, SOME, Refused, ToldScores, each, ground_of, some_webs, told

pytest.importorskip("compiled_code")


@pytest.fixture(scope="module")
def ground():
    """A web of 200 pages."""
    return some_webs()[3]


def test_nothing_of_one_crawl_shows_in_the_next(ground):
    # One set of arrays for all of them; some end early, so that many pages still wait.
    for turn in range(80):
        rng = Random(turn)
        ground.seeds = rng.sample(range(ground.web.n_pages), rng.choice([1, 5]))
        ground.assert_same(rng.choice(FOLLOWED), rng.choice(MODES), page_budget=rng.choice([0, 3, 40, 500]), seed=turn)


@each(SOME)
@pytest.mark.parametrize("most_answers", [0, 1, 17, 40])
def test_after_scores_that_fail_in_mid_crawl_the_next_crawl_is_right(ground, strategy, most_answers):
    fresh = ground_of(ground.web, 4)
    both = (strategy, "best_first:buffer=none")
    expected = [told(fresh.plain(one, page_budget=60)) for one in both]
    fresh.scores.asked.clear()
    fresh.scores.most_answers = most_answers
    with pytest.raises(Refused):
        fresh.compiled(strategy, page_budget=60)
    fresh.scores.most_answers = np.inf
    assert [told(fresh.compiled(one, page_budget=60)) for one in both] == expected


@each(FOLLOWED)
def test_scores_are_asked_for_visited_pages_only_and_once(ground, strategy):
    fresh = ground_of(ground.web, 4)
    made = STRATEGIES.make(strategy) if isinstance(strategy, str) else strategy()
    crawl = fresh.compiled(strategy, MODES[2], page_budget=30)
    assert sorted(fresh.scores.asked_of("page")) == sorted(crawl.pages.tolist())
    for what, is_wanted in (("contexts", made.context_words is not None), ("anchors", made.needs_anchors)):
        assert sorted(fresh.scores.asked_of(what)) == (sorted(crawl.pages.tolist()) if is_wanted else [])
    n_asked = len(fresh.scores.asked)
    again = fresh.compiled(strategy, MODES[2], page_budget=30)
    assert told(again) == told(crawl)
    assert len(fresh.scores.asked) == n_asked


def test_scores_of_one_topic_are_not_taken_for_those_of_another(ground):
    for seed in range(8):
        other = ToldScores(ground.web, seed)
        assert told(ground.compiled("otie", scores=other)) == told(ground.plain("otie", scores=other))
        # The next scores may come to stand where these stood.
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
def test_what_compiled_code_cannot_follow_goes_the_plain_way(ground, strategy):
    assert ground.compiled(strategy, page_budget=40) is None
    crawl = ground.crawl(simulate, strategy, page_budget=40)
    assert told(crawl) == told(ground.plain(strategy, page_budget=40))
    assert not np.isnan(crawl.cpu_us).any()


class Renamed(BestFirst):
    kernel = BestFirst.kernel


def test_a_subclass_has_a_kernel_only_if_it_says_so(ground):
    assert Backwards().kernel() is None
    assert type("Evens", (Renamed,), {})().kernel() is None
    assert Renamed(buffer=7).kernel() == BestFirst(buffer=7).kernel() == BestFirstKernel(queue_size=7)
    ground.assert_same(Renamed)


@pytest.mark.parametrize(
    ("names", "known"),
    [
        ("breadth_first", "buffer when_full"),
        ("best_first", "buffer found_again description"),
        ("best_n_first", "n buffer found_again description"),
        ("link_context", "b window n buffer found_again"),
        ("opic", "n seeds_first"),
        ("otie", "a d b window reshare_every revise_again when_hopeless n seeds_first"),
        ("rank_function", f"n buffer {' '.join(SCORE_NAMES)} hub_over threshold"),
        ("evolved", "file n buffer"),
    ],
)
def test_every_parameter_of_a_strategy_that_is_followed_is_known(names, known):
    # A new parameter that plans do not read would be followed as if it had its default.
    assert list(STRATEGIES.make(names).parameters) == known.split()


@each(SOME)
def test_crawls_in_simulated_time_and_crawls_from_nowhere_go_the_plain_way(ground, strategy):
    assert ground.compiled(strategy, "polite:workers=3") is None
    assert ground_of(ground.web, 0).compiled(strategy) is None


@each(SOME)
def test_without_numba_the_simulator_goes_the_plain_way(ground, strategy, monkeypatch):
    fast = ground.crawl(simulate, strategy, page_budget=40)
    monkeypatch.setattr(jit, "is_available", lambda: False)
    slow = ground.crawl(simulate, strategy, page_budget=40)
    assert told(fast) == told(slow)
    # What was not measured is not told.
    assert np.isnan(fast.cpu_us).all()
    assert not np.isnan(slow.cpu_us).any()


@pytest.mark.parametrize("seed", [10**7, -(10**7)])
@pytest.mark.parametrize("plain", [True, False])
def test_a_seed_outside_of_the_web_is_an_error_either_way(seed, plain):
    web = SyntheticWeb.random(Random(1), 20, 3)
    with pytest.raises(IndexError):
        simulate(web.recorded, Opic(), [seed], web.scores(), rng=Random(0), page_budget=5, plain=plain)


@pytest.mark.parametrize("plain", [True, False])
def test_without_a_budget_nothing_is_visited_either_way(plain):
    web = SyntheticWeb.random(Random(1), 20, 3)
    crawl = simulate(web.recorded, Opic(), [0], web.scores(), rng=Random(0), page_budget=-1, plain=plain)
    assert len(crawl.pages) == 0


def test_a_crawl_that_a_score_starts_does_not_disturb_the_one_that_asked():
    web = SyntheticWeb.random(Random(5), 80, 5)
    shown, given = VisibleLinks(web.recorded), web.scores()

    class Crawling:
        """Scores that crawl the same web, by the same links, whenever they are asked."""

        def page(self, page):
            simulate(web.recorded, Opic(), [page], given, rng=Random(0), page_budget=9, links=shown)
            return given.page(page)

        def __getattr__(self, name):
            return getattr(given, name)

    def crawled(scores, plain):
        options = {"rng": Random(2), "page_budget": 60, "links": shown, "plain": plain}
        return simulate(web.recorded, BestFirst(buffer=None), [0], scores, **options).pages.tolist()

    assert crawled(Crawling(), False) == crawled(given, True)
