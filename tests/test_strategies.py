"""Every strategy against its contract, and traces that a person can verify on paper."""

from random import Random

import pytest

from scenthound.simulator.scores import Observation
from scenthound.simulator.web import SimulatedWeb
from scenthound.store.checkpoints import copied
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.best_n_first import BestFirst, BestNFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.testing import SyntheticWeb, check_strategy, visited

CHOICES = [
    *(name for name in STRATEGIES.names() if name != "infospiders"),
    # With cheap steps agents hunt the last pages of a tiny web for long.
    "infospiders:max_pages=5,seen_cost=1",
]
VARIANTS = [
    "breadth_first:buffer=1",
    "breadth_first:buffer=none",
    "best_first:buffer=none",
    "best_first:buffer=1",
    "best_n_first:n=16,buffer=16",
    "best_n_first:n=256",
    "best_n_first:n=5,buffer=none",
    "best_n_first:n=50,buffer=8",
]


@pytest.mark.parametrize("choice", [*CHOICES, *(pytest.param(choice, marks=pytest.mark.slow) for choice in VARIANTS)])
def test_a_strategy_keeps_its_contract(choice):
    check_strategy(lambda: STRATEGIES.make(choice))


@pytest.mark.parametrize("choice", [*CHOICES, *VARIANTS])
def test_a_state_survives_json(choice):
    web = SyntheticWeb.random(Random(3))
    strategy = STRATEGIES.make(choice)
    window = SimulatedWeb(web.recorded, Observation.to(strategy, web.scores(), web.topic))
    strategy.start(window.seeds([0]), Random(0), window.seen)
    (page,) = strategy.ask(1)
    window.get(page)
    strategy.tell(window.visit(page))
    heir = STRATEGIES.make(choice)
    heir.restore(copied(strategy.state()), window.seen)
    assert heir.ask(100) == strategy.ask(100)


#   a -> b c d      b -> e f      c -> g      e -> h
TREE = SyntheticWeb({"a": ["b", "c", "d"], "b": ["e", "f"], "c": ["g"], "e": ["h"]})


def test_breadth_first_goes_level_by_level():
    assert visited(BreadthFirst(), TREE) == ["a", "b", "c", "d", "e", "f", "g", "h"]


def test_breadth_first_drops_new_links_at_a_full_queue():
    # Queue of 2. a: b, c enter, d is dropped.  b: e enters beside c, f is dropped.  c: g enters beside e.  e: h enters.
    assert visited(BreadthFirst(buffer=2), TREE) == ["a", "b", "c", "e", "g", "h"]


def test_breadth_first_can_find_a_dropped_link_again():
    # a: b enters, c is dropped.  b links to c again, and now there is room.
    web = SyntheticWeb({"a": ["b", "c"], "b": ["c"]})
    assert visited(BreadthFirst(buffer=1), web) == ["a", "b", "c"]


def test_a_dead_link_does_not_stop_the_crawl():
    web = SyntheticWeb({"a": ["b", "c"]}, fails={"b"})
    assert visited(BreadthFirst(), web) == ["a", "c"]
    assert visited(BestFirst(), web) == ["a", "c"]


def test_best_first_follows_the_links_of_the_best_page_it_knows():
    # a (0.5): b, c wait at 0.5 and tie; both are visited before anything worse.
    # b (0.9): d waits at 0.9.  c (0.1): e waits at 0.1.  d (0.2): f waits at 0.2.
    # From a: b and c in either order. Once b is known, d (0.9) is first; then c if it still waits (0.5).
    # If b goes first: a b d c, then f (0.2) before e (0.1).
    # If c goes first: a c b d, then f (0.2) before e (0.1).
    web = SyntheticWeb(
        {"a": ["b", "c"], "b": ["d"], "c": ["e"], "d": ["f"]}, relevance={"a": 0.5, "b": 0.9, "c": 0.1, "d": 0.2}
    )
    seen = {tuple(visited(BestFirst(), web, seed=seed)) for seed in range(20)}
    assert seen == {("a", "b", "d", "c", "f", "e"), ("a", "c", "b", "d", "f", "e")}


def test_best_first_raises_a_link_found_again_on_a_better_page():
    # a (0.3): b, c, d at 0.3.  b (0.8): d rises to 0.8.  c (0.0).
    # Whenever b comes before d, d is next.
    web = SyntheticWeb({"a": ["b", "c", "d"], "b": ["d"]}, relevance={"a": 0.3, "b": 0.8})
    for seed in range(20):
        trace = visited(BestFirst(), web, seed=seed)
        if trace.index("b") < trace.index("d"):
            assert trace[trace.index("b") + 1] == "d"


def test_best_first_with_a_small_frontier_forgets_the_worst_link_for_each_that_enters():
    # Frontier of 2, seeds a (0.9) and s (0.1) in either order.
    # a first: b (0.9) waits beside s; s is taken. Then x enters (b, x: full), y sends x away, z sends y away: b, z.
    # s first: x enters beside a, y sends x away, z sends y away; a is taken, b enters beside z: b, z.
    web = SyntheticWeb({"a": ["b"], "s": ["x", "y", "z"]}, relevance={"a": 0.9, "s": 0.1})
    traces = {tuple(visited(BestFirst(buffer=2), web, ["a", "s"], seed=seed)) for seed in range(20)}
    assert traces == {("a", "s", "b", "z"), ("s", "a", "b", "z")}


def test_best_n_first_finishes_its_round_before_it_looks_at_better_links():
    # N = 2. Round 1: a alone. Round 2: two of b, c, d (all 0.5). Whichever two, their links wait for round 3.
    web = SyntheticWeb({"a": ["b", "c", "d"], "b": ["e"], "c": ["f"], "d": ["g"]}, relevance=dict.fromkeys("abcd", 0.5))
    web_rich = SyntheticWeb(
        {"a": ["b", "c", "d"], "b": ["e"], "c": ["f"], "d": ["g"]}, relevance={"a": 0.5, "b": 1, "c": 1, "d": 1}
    )
    for each in (web, web_rich):
        for seed in range(20):
            trace = visited(BestNFirst(n=2), each, seed=seed)
            assert trace[0] == "a"
            assert set(trace[1:3]) < {"b", "c", "d"}
    # In the rich web the links of round 2 (score 1) come before the last of b, c, d (0.5).
    for seed in range(20):
        trace = visited(BestNFirst(n=2), web_rich, seed=seed)
        assert set(trace[3:5]) < {"e", "f", "g"}
        assert trace[5] in {"b", "c", "d"}


def test_best_n_first_visits_a_round_in_random_order_whatever_the_scores():
    # Round 1 is a and b; round 2 is x (0.9) and y (0.5), in either order.
    web = SyntheticWeb({"a": ["x"], "b": ["y"]}, relevance={"a": 0.9, "b": 0.5})
    orders = {tuple(visited(BestNFirst(n=2), web, ["a", "b"], seed=seed)[2:]) for seed in range(30)}
    assert orders == {("x", "y"), ("y", "x")}


def test_best_n_first_visits_a_round_in_random_order():
    web = SyntheticWeb({"a": ["b", "c", "d", "e"], "z": []}, relevance={"a": 0.5})
    orders = {tuple(visited(BestNFirst(n=4), web, seed=seed)[1:]) for seed in range(50)}
    assert len(orders) > 10


def test_with_n_as_large_as_the_frontier_eviction_is_all_the_guidance():
    # Frontier and N of 2; seeds g (0.9) and h (0.1) are round 1, in random order.
    # g first: g1, g2 enter; h1 evicts the worse key of g1, g2 (0.9 both), then h2 evicts h1. One g and h2 are left.
    # h first: h1, h2 enter; g1 evicts one h, g2 evicts the other. g1 and g2 are left.
    web = SyntheticWeb({"g": ["g1", "g2"], "h": ["h1", "h2"]}, relevance={"g": 0.9, "h": 0.1})
    for seed in range(30):
        trace = visited(BestNFirst(n=2, buffer=2), web, ["g", "h"], seed=seed)
        rest = set(trace[2:])
        if trace[0] == "g":
            assert rest in ({"g1", "h2"}, {"g2", "h2"})
        else:
            assert rest == {"g1", "g2"}


def test_best_first_is_best_n_first_with_n_of_one():
    for web_seed in range(10):
        web = SyntheticWeb.random(Random(web_seed))
        assert visited(BestFirst(), web, seed=web_seed) == visited(BestNFirst(n=1), web, seed=web_seed)


def test_a_redirect_to_a_page_already_had_costs_no_page():
    web = SyntheticWeb({"a": ["alias", "b"], "b": ["c"]}, redirects={"alias": "b"})
    assert visited(BreadthFirst(), web) == ["a", "b", "c"]
