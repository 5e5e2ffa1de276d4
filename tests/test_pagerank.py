"""PageRank: Eq. 2 over what the crawl holds, and the crawler of Fig. 3 around it."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter
from scenthound.store.checkpoints import copied
from scenthound.strategies.pagerank import LinkGraph, LocalPageRank, PageRankFirst, PageRankFormula
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint

PARAMETERS = [
    {},
    {"pages": 3, "buffer": 5, "every": 1},
    {"pages": None, "buffer": None, "every": 3, "other_domains": False, "norm": "sum"},
    {"pages": 1, "buffer": 1, "every": 2, "gamma": 0.0},
]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", PARAMETERS[1:])  # the defaults: test_strategies.py
def test_pagerank_keeps_the_contract(parameters):
    check_strategy(lambda: PageRankFirst(**parameters))


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(parameters, n_steps):
    web = SyntheticWeb.random(Random(3))
    trace = visited(PageRankFirst(**parameters), web)
    assert trace_with_checkpoint(lambda: PageRankFirst(**parameters), web, n_steps) == trace


EXACT_HALF = PageRankFormula(gamma=0.5, tolerance=1e-12, norm="max")


def local_pagerank(links_of, capacity=None, formula=EXACT_HALF):
    local = LocalPageRank(formula, capacity, Random(0))
    for page, links in links_of.items():
        local.keep(page, 0.0, numbers(links))
    return local


def numbers(pages):
    return np.array(sorted(pages), np.int32)


# Gamma 1/2, computed after every second page, each page on a domain of its own. Seeds a and b, in either order.
#   a -> c d      b -> d e f
# Computed over a, b (buffered) and c, d, e, f (waiting). S is what waits in sum; it flows to a and b, half each.
#   a = b = 1/2 + S/4     c = 1/2 + a/4     d = 1/2 + a/4 + b/6     e = f = 1/2 + b/6
#   S = 2 + a, so a = 1 + a/4 = 4/3:     c = 5/6 = 0.833     d = 19/18 = 1.056     e = f = 13/18 = 0.722
# d is next and shows g, which waits at 1/2.  c (0.833) is next, and links to e and g.
# Computed over a, b, c, d (buffered) and e, f, g (waiting); S flows to four pages. Let y = 1/2 + S/8.
#   a = b = y     c = y + a/4 = 5/4 y     d = y + a/4 + b/6 = 17/12 y
#   e = 1/2 + b/6 + c/4 = 1/2 + 23/48 y     f = 1/2 + y/6     g = 1/2 + c/4 + d/2 = 1/2 + 49/48 y
#   S = 3/2 + 5/3 y, so y = 11/16 + 5/24 y = 33/38:     e = 0.916     f = 0.645     g = 1.387
# g is next and shows h, which waits at 1/2.  e is next and has no links.
# Computed again: h gains half of g, f a sixth of b; g has all that b has and more, so h is before f.
WORKED = {"a": ["c", "d"], "b": ["d", "e", "f"], "d": ["g"], "c": ["e", "g"], "g": ["h"]}
OWN_HOSTS = {name: name for name in "abcdefgh"}


@pytest.mark.parametrize("seed", range(4))
def test_the_trace_worked_out_by_hand(seed):
    web = SyntheticWeb(WORKED, host_of=OWN_HOSTS)
    trace = visited(PageRankFirst(gamma=0.5, every=2, tolerance=1e-9), web, ["a", "b"], seed=seed)
    assert set(trace[:2]) == {"a", "b"}
    assert trace[2:] == ["d", "c", "g", "e", "h", "f"]


def test_the_pageranks_worked_out_by_hand():
    a, b, c, d, e, f, g = range(7)
    local = local_pagerank({a: [c, d], b: [d, e, f]})
    assert local.recompute(numbers([c, d, e, f])) == pytest.approx([5 / 6, 19 / 18, 13 / 18, 13 / 18])
    local.keep(d, 0.0, numbers([g]))
    local.keep(c, 0.0, numbers([e, g]))
    y = 33 / 38
    waiting = [1 / 2 + 23 / 48 * y, 1 / 2 + y / 6, 1 / 2 + 49 / 48 * y]
    assert local.recompute(numbers([e, f, g])) == pytest.approx(waiting)
    assert local.last(numbers([a, c, d, g])) == pytest.approx([y, 5 / 4 * y, 17 / 12 * y, waiting[2]])


def test_links_that_lead_out_of_the_graph_take_their_share_along():
    # a -> b, and to an evicted link 9. b waits and flows back to a: a = 1/2 + b/2, b = 1/2 + a/4, so b = 5/7.
    # Were 9 not counted, b would be 1/2 + a/2 = 1.
    assert local_pagerank({0: [1, 9]}).recompute(numbers([1])) == pytest.approx([5 / 7])


def test_a_buffered_page_without_recorded_links_counts_as_linked_to_every_buffered_page():
    # a -> c; b has no links. b and c flow to a and b, half each: a = b = 1/2 + b/4 + c/4, c = 1/2 + a/2.
    # 3/4 a = 1/2 + 1/8 + a/8, so a = 1 = b = c.
    local = local_pagerank({0: [2], 1: []})
    assert local.recompute(numbers([2])) == pytest.approx([1])
    assert local.last(numbers([0, 1])) == pytest.approx([1, 1])


def test_a_link_to_itself_counts_as_any_other():
    # a -> a b. b flows to a: a = 1/2 + a/4 + b/2, b = 1/2 + a/4, so 5/8 a = 3/4: a = 6/5, b = 4/5.
    local = local_pagerank({0: [0, 1]})
    assert local.recompute(numbers([1])) == pytest.approx([4 / 5])
    assert local.last(numbers([0])) == pytest.approx([6 / 5])


def test_without_a_buffered_page_nothing_flows():
    assert local_pagerank({}).recompute(numbers([3, 4])) == pytest.approx([1 / 2, 1 / 2])
    assert len(local_pagerank({}).recompute(numbers([]))) == 0


def test_a_full_buffer_drops_the_page_of_least_worth_before_the_new_one_enters():
    # Room for two: 0 (0.9) and 1 (0.1). 2 has no relevance, yet 1 leaves. Then 2 leaves for 3.
    local = LocalPageRank(EXACT_HALF, 2, Random(0))
    for page, relevance in enumerate([0.9, 0.1, 0.0, 0.5]):
        local.keep(page, relevance, numbers([10 + page]))
        ranks = local.recompute(numbers([10, 11, 12, 13]))
        assert set(np.flatnonzero(ranks > 0.5).tolist()) == [{0}, {0, 1}, {0, 2}, {0, 3}][page]


def test_pages_of_the_same_worth_leave_in_random_order():
    first_to_leave = set()
    for seed in range(20):
        local = LocalPageRank(EXACT_HALF, 2, Random(seed))
        for page in range(3):
            local.keep(page, 0.5, numbers([10 + page]))
        first_to_leave.add(int(np.argmin(local.recompute(numbers([10, 11, 12])))))
    assert first_to_leave == {0, 1}


def test_a_page_in_no_computation_yet_has_the_pagerank_of_one_without_inlinks():
    local = local_pagerank({0: [1]}, formula=PageRankFormula(0.8, 1e-12, "max"))
    assert local.last(numbers([1, 5])) == pytest.approx([0.2, 0.2])
    (rank,) = local.recompute(numbers([1]))
    assert rank > 0.2
    assert local.last(numbers([0, 1, 5]))[1:] == pytest.approx([rank, 0.2])


links_of_pages = st.dictionaries(st.integers(0, 11), st.sets(st.integers(0, 11)), max_size=6)
gammas = st.sampled_from([0.0, 0.3, 0.8, 0.95])


@given(links_of_pages, st.sets(st.integers(0, 11)), gammas, st.sampled_from(["max", "sum"]))
def test_pageranks_solve_equation_2(links_of, others, gamma, norm):
    # The same as a system of linear equations: (1 - gamma) = PR - gamma * M PR, with M from the definitions.
    waiting = sorted(others - set(links_of))
    nodes = [*links_of, *waiting]
    flow = np.zeros((len(nodes), len(nodes)))
    for column, node in enumerate(nodes):
        out = links_of.get(node) or set(links_of)
        for row, target in enumerate(nodes):
            flow[row, column] = (target in out) / max(len(out), 1)
    solved = np.linalg.solve(np.eye(len(nodes)) - gamma * flow, np.full(len(nodes), 1 - gamma))
    local = local_pagerank(links_of, formula=PageRankFormula(gamma, 1e-10, norm))
    assert local.recompute(numbers(waiting)) == pytest.approx(solved[len(links_of) :], abs=1e-8)
    assert local.last(np.array(nodes, np.int32)) == pytest.approx(solved, abs=1e-8)


def test_a_computation_ends_when_a_round_changes_no_value_by_the_tolerance():
    # a -> b c, which flow to a: a = 1/2 + (b + c)/2, b = c = 1/2 + a/4. Rounds from 1, 1, 1:
    # a 1.5, b 0.75 | a 1.25, b 0.875 | a 1.375, b 0.8125 | ... towards 4/3 and 5/6.
    # Changes of a: 0.5, 0.25, 0.125; in sum with b and c: 1, 0.5, 0.25.
    def rank_of_b(tolerance, norm):
        return local_pagerank({0: [1, 2]}, formula=PageRankFormula(0.5, tolerance, norm)).recompute(numbers([1, 2]))[0]

    assert rank_of_b(0.3, "max") == 0.875
    assert rank_of_b(0.25, "max") == 0.8125
    assert rank_of_b(0.3, "sum") == 0.8125


def test_a_tolerance_below_that_of_floats_comes_to_an_end():
    graph = LinkGraph(2, np.array([0, 1, 1]), np.array([1, 0, 2]), np.array([1, 2, 0]))
    close, exact = (PageRankFormula(0.99, tolerance, "sum").solve(graph) for tolerance in (1e-9, 1e-300))
    assert close == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("gamma", [1.0, -0.1])
def test_a_gamma_at_which_nothing_converges_is_refused(gamma):
    with pytest.raises(InvalidParameter, match=rf"gamma={gamma} .* 0 .* 1\."):
        PageRankFirst(gamma=gamma)


# On a's own domain lie b and c. a -> b c x y, b -> y. Seeds a and b, each computed after two pages.
# Recorded of a: x y, of b: y. So y gains from both and is first, then x, at last c, to which no recorded link leads.
# All links recorded: c, x and y gain a quarter of a's, y also all of b's, so y is first and c and x tie.
DOMAINS = SyntheticWeb(
    {"a": ["b", "c", "x", "y"], "b": ["y"], "x": [], "y": []}, host_of={"a": "own", "b": "own", "c": "own"}
)


def test_only_links_to_other_domains_are_recorded():
    for seed in range(6):
        assert visited(PageRankFirst(every=2), DOMAINS, ["a", "b"], seed=seed)[2:] == ["y", "x", "c"]


def test_all_links_are_recorded_if_so_wished():
    strategies = [PageRankFirst(every=2, other_domains=False) for _ in range(12)]
    traces = {tuple(visited(each, DOMAINS, ["a", "b"], seed=seed)[2:]) for seed, each in enumerate(strategies)}
    assert traces == {("y", "x", "c"), ("y", "c", "x")}


def test_on_a_web_of_one_domain_links_cannot_be_told_apart():
    # b is linked from both, c and d from one page each; with nothing recorded any of them may come first.
    web = SyntheticWeb({"a": ["b", "c"], "s": ["b", "d"]})
    firsts = {visited(PageRankFirst(every=1), web, ["a", "s"], seed=seed)[2] for seed in range(20)}
    assert firsts == {"b", "c", "d"}
    firsts = {visited(PageRankFirst(every=1, other_domains=False), web, ["a", "s"], seed=seed)[2] for seed in range(20)}
    assert firsts == {"b"}


def test_seeds_come_first_however_often_pageranks_are_computed():
    seeds = ["a", "b", "c", "d"]
    web = SyntheticWeb({name: ["x", "a", "d"] for name in seeds}, host_of=OWN_HOSTS)
    for seed in range(6):
        assert visited(PageRankFirst(every=1), web, seeds, seed=seed)[4:] == ["x"]


def test_a_full_frontier_drops_the_link_of_the_lowest_pagerank():
    # Room for two links, computed after every page. Seeds a -> x, b -> x y: x gains from both, y from b alone.
    # x is taken; its links p and q find y waiting. p enters beside y, at 1 - gamma; q drops p, which is lower than y.
    web = SyntheticWeb({"a": ["x"], "b": ["x", "y"], "x": ["p", "q"]}, host_of={"b": "b", "a": "a", "x": "x"})
    for seed in range(6):
        trace = visited(PageRankFirst(buffer=2, every=1), web, ["a", "b"], seed=seed)
        assert trace[2] == "x"
        assert set(trace[3:]) == {"y", "q"}


def test_the_page_that_leaves_a_full_buffer_is_the_least_relevant():
    # Room for two pages, three seeds with a link each. The worse of the first two leaves before the third enters, and
    # its link is left with nothing that leads to it.
    link_of, relevance = {"a": "x", "b": "y", "c": "z"}, {"a": 0.9, "b": 0.1, "c": 0.5}
    web = SyntheticWeb({page: [link] for page, link in link_of.items()}, relevance=relevance, host_of=OWN_HOSTS)
    for seed in range(12):
        trace = visited(PageRankFirst(pages=2, every=3), web, ["a", "b", "c"], seed=seed)
        assert trace[-1] == link_of[min(trace[:2], key=relevance.get)]


def test_pages_asked_for_together_are_told_of_one_after_the_other():
    # Both seeds are in flight; each is recorded with the domain it lies on.
    crawl = SteppedCrawl(PageRankFirst(every=2), DOMAINS, ["a", "b"])
    crawl.step(2)
    assert crawl.finish()[2:] == ["y", "x", "c"]


def test_a_state_saved_with_pages_in_flight_knows_where_they_lie():
    crawl = SteppedCrawl(PageRankFirst(every=2), DOMAINS, ["a", "b"])
    asked = crawl.strategy.ask(2)
    kept = copied(crawl.strategy.state())
    crawl.strategy = PageRankFirst(every=2)
    crawl.strategy.restore(kept, crawl.window.seen)
    for page in asked:
        crawl.visit(page)
    assert crawl.finish()[2:] == ["y", "x", "c"]


def test_nothing_is_kept_of_a_page_that_cannot_be_had():
    crawl = SteppedCrawl(PageRankFirst(), SyntheticWeb({"a": ["b", "c"]}, fails={"b"}))
    assert crawl.finish() == ["a", "c"]
    assert [page for page, _ in crawl.strategy.state()["local"]["pages"]] == [0, 2]


def test_a_redirected_page_lies_on_the_domain_it_was_asked_for_at():
    # moved, on domain one, leads to b on domain two. Asked for there, b is a page of one: its link to c, on two, is
    # recorded, and the one to d, on one, is not. So c is before d, to which no recorded link leads.
    web = SyntheticWeb(
        {"a": ["moved"], "b": ["c", "d"]},
        redirects={"moved": "b"},
        host_of={"a": "zero", "moved": "one", "d": "one", "b": "two", "c": "two"},
    )
    for seed in range(6):
        assert visited(PageRankFirst(every=1), web, seed=seed) == ["a", "b", "c", "d"]
