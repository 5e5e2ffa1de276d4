"""Link distances from the seeds, by hand and against a plain search; and the histograms made of them."""

import math
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.metrics.page_graph import UNREACHED, DistanceHistogram, distances_from
from test_cohesiveness import graph_of, ints


def test_the_shortest_way_from_any_seed_counts():
    # 0 -> 1 -> 2 -> 3, and 4 -> 3; nothing leads to 5.
    graph = graph_of([1], [2], [3], [], [3], [0])
    assert distances_from(graph, ints(0)).tolist() == [0, 1, 2, 3, UNREACHED, UNREACHED]
    assert distances_from(graph, ints(0, 4)).tolist() == [0, 1, 2, 1, 0, UNREACHED]


def test_a_circle_is_left_and_a_seed_named_twice_is_one():
    assert distances_from(graph_of([1, 0], [2], [0]), ints(0, 0)).tolist() == [0, 1, 2]


def test_without_a_seed_no_page_is_reached():
    assert distances_from(graph_of([1], [0]), ints()).tolist() == [UNREACHED, UNREACHED]


def plain_distances(links, seeds):
    """One page after the other, each queued when it is first seen."""
    distance = dict.fromkeys(seeds, 0)
    queue = list(distance)
    for page in queue:
        for target in links[page]:
            if target >= 0 and target not in distance:
                distance[target] = distance[page] + 1
                queue.append(target)
    return [distance.get(page, UNREACHED) for page in range(len(links))]


@given(st.integers(0, 2**32))
def test_distances_are_those_of_a_plain_search(seed):
    rng = Random(seed)
    n = rng.randint(1, 15)
    links = [rng.choices(range(-1, n), k=rng.randint(0, 3)) for _ in range(n)]
    seeds = rng.sample(range(n), rng.randint(1, min(3, n)))
    assert distances_from(graph_of(*links), ints(*seeds)).tolist() == plain_distances(links, seeds)


def test_a_histogram_tells_how_many_pages_lie_how_far():
    found = DistanceHistogram.of(ints(0, 0, 3, 1, UNREACHED))
    assert found.counts == (2, 1, 0, 1)
    assert (found.mean, found.maximum) == ((0 + 0 + 3 + 1) / 4, 3)


def test_a_histogram_of_nothing_has_neither_mean_nor_maximum():
    nothing = DistanceHistogram.of(np.zeros(0, np.int32))
    assert nothing.counts == ()
    assert math.isnan(nothing.mean)
    assert math.isnan(nothing.maximum)
