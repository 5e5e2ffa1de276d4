"""Links into the community, on webs small enough to count them, and against sets of Python."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.experiments.bounds import page_graph
from scenthound.metrics.measures import fitness
from scenthound.metrics.page_graph import PageGraph, cohesiveness_of
from scenthound.simulator.web import VisibleLinks
from scenthound.testing import SyntheticWeb


def ints(*numbers):
    return np.array(numbers, np.int32)


def graph_of(*links):
    """A graph from what each page links to, in page order; -1 leads out."""
    offset = np.concatenate(([0], np.cumsum([len(each) for each in links]))).astype(np.int64)
    return PageGraph.of(offset, ints(*(target for each in links for target in each)))


def links_of(graph):
    return [graph.target[first:last].tolist() for first, last in zip(graph.offset, graph.offset[1:], strict=False)]


def test_a_link_counts_once_and_leads_to_a_recorded_page():
    assert links_of(graph_of([2, 1, 2, -1], [], [2, 0])) == [[1, 2], [], [0, 2]]


def test_links_of_several_pages_come_page_after_page():
    graph = graph_of([1, 2], [], [0])
    assert graph.targets_of(ints(2, 1, 0, 2)).tolist() == [0, 1, 2, 0]
    assert graph.targets_of(ints(1)).tolist() == graph.targets_of(ints()).tolist() == []


def test_a_web_of_no_pages_has_no_links():
    assert graph_of().n_pages == 0


def test_the_graph_has_the_links_that_crawls_are_shown_with_redirects_followed():
    # a links to b twice, once by its old address; the dead page leads nowhere.
    web = SyntheticWeb({"a": ["b", "old", "dead"], "b": ["a"]}, fails=["dead"], redirects={"old": "b"})
    assert links_of(page_graph(web.recorded, VisibleLinks(web.recorded))) == [[1], [0]]


#: 0 -> 1, 2, 3;  1 -> 0, 2;  2 -> 3;  3 -> 0, 3;  4 -> 0, 1, 2, 3
FIVE = graph_of([1, 2, 3], [0, 2], [3], [0, 3], [0, 1, 2, 3])


def test_cohesiveness_worked_out_by_hand():
    # Seed 0; pages 0, 1, 2, 3 were downloaded, of which 1 and 3 are good: C = {0, 1, 3}.
    # |L & C|: page 0 has 1 and 3, so 2; page 1 has 0, so 1; page 2 has 3, so 1; page 3 has 0 and itself, so 2.
    found = cohesiveness_of(FIVE, ints(0), ints(0, 1, 2, 3), np.array([False, True, False, True]))
    assert found.community == (2 + 1 + 2) / 3
    assert found.overall == (2 + 1 + 1 + 2) / 4


def test_a_seed_is_in_the_community_even_if_it_was_not_downloaded_and_is_no_good():
    # C = {0, 4}: page 4 links to 0, page 0 to neither. All downloaded: 4 alone.
    found = cohesiveness_of(FIVE, ints(0, 4), ints(4), np.array([False]))
    assert (found.community, found.overall) == (1 / 2, 1 / 1)


def test_a_crawl_of_nothing_has_no_cohesiveness():
    found = cohesiveness_of(FIVE, ints(), ints(), np.zeros(0, np.bool_))
    assert math.isnan(found.community)
    assert math.isnan(found.overall)


@given(st.integers(0, 2**32))
def test_cohesiveness_is_that_of_plain_sets(seed):
    rng = Random(seed)
    n = rng.randint(1, 12)
    links = [rng.choices(range(-1, n), k=rng.randint(0, 8)) for _ in range(n)]
    pages, seeds = rng.sample(range(n), rng.randint(1, n)), rng.sample(range(n), 1)
    good = [rng.random() < 0.5 for _ in pages]
    community = {*seeds, *(page for page, is_good in zip(pages, good, strict=True) if is_good)}
    expected = [sum(len(set(links[page]) & community) for page in group) / len(group) for group in (community, pages)]
    found = cohesiveness_of(graph_of(*links), ints(*seeds), ints(*pages), np.array(good))
    assert [found.community, found.overall] == expected


def test_fitness_is_good_pages_by_budget_and_pages_not_got_are_not_good():
    relevance = np.array([0.9, 0.5, 0.49, 0.8])
    assert fitness(relevance, 0.5, page_budget=2) == 1
    assert fitness(relevance, 0.5, page_budget=4) == pytest.approx(3 / 4)
    assert fitness(relevance, 0.5, page_budget=10) == pytest.approx(3 / 10)
