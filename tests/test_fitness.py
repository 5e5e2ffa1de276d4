"""Measures of crawls, worked out by hand, and sums of them that print as they parse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter, UnknownName
from scenthound.experiments.evolve.settings import MEASURES, Aim, Fitness, parse_fitness
from scenthound.reasons import EndReason
from scenthound.simulator.web import Crawl

#: Ten pages on five hosts, two pages each; page 9 cannot be reached from the seeds 0 and 1.
AIM = Aim(
    page_budget=8,
    threshold=0.5,
    host=np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4], np.int32),
    seeds=(0, 1),
    targets=(3, 5, 7, 8),
    distance=np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, -1], np.int32),
)


def crawl(pages: list[int], relevance: list[float]) -> Crawl:
    return Crawl(np.array(pages, np.int32), np.array(relevance), np.zeros(len(pages)), EndReason.FRONTIER, 0, 0)


#: Good are the pages 0, 2, 3, 4 and 6; the crawl got six of its eight pages.
CRAWL = crawl([0, 2, 3, 4, 6, 5], [1.0, 0.5, 0.9, 0.7, 0.6, 0.4])


def value(text: str, done: Crawl = CRAWL) -> float:
    return parse_fitness(text)(done, AIM)


def test_harvest_counts_the_pages_that_were_not_got():
    assert value("harvest") == 5 / 8


def test_new_hosts_leaves_out_those_of_the_seeds_and_counts_each_once():
    # Good pages are on the hosts 0 (of the seeds), 1 (twice), 2 and 3.
    assert value("new_hosts") == 3 / 8


def test_distance_is_the_mean_over_good_pages_brought_below_one():
    # 0 + 1 + 1 + 2 + 3 = 7 over 5 pages: d = 7/5, and d / (d + 1) = 7/12.
    assert value("distance") == pytest.approx(7 / 12)


def test_target_recall_counts_targets_whatever_their_relevance():
    # Of 3, 5, 7 and 8 the crawl got 3 and 5; the guide thinks little of 5.
    assert value("target_recall") == 2 / 4


def test_a_sum_weighs_its_measures():
    assert value("0.7*harvest + 0.3*target_recall") == pytest.approx(0.7 * 5 / 8 + 0.3 * 0.5)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_crawl_that_got_nothing_is_worth_nothing(measure):
    assert value(measure, crawl([], [])) == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_a_crawl_of_bad_pages_has_no_harvest_and_explored_nothing(measure):
    assert value(measure, crawl([0, 2, 4], [0.1, 0.2, 0.4])) == 0


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("harvest", "harvest"),
        (" 1*harvest ", "harvest"),
        ("0.7*harvest+0.3*target_recall", "0.7*harvest + 0.3*target_recall"),
        ("1e-3 * new_hosts", "0.001*new_hosts"),
        ("1e+2*distance + harvest", "100.0*distance + harvest"),
        ("Harvest", "harvest"),
    ],
)
def test_a_fitness_prints_as_it_parses(text, printed):
    assert str(parse_fitness(text)) == printed
    assert parse_fitness(printed) == parse_fitness(text)


@given(st.dictionaries(st.sampled_from(list(MEASURES)), st.floats(1e-9, 1e6), min_size=1))
def test_what_is_printed_is_read_back(weights):
    fitness = Fitness(tuple((weight, measure) for measure, weight in weights.items()))
    assert parse_fitness(str(fitness)) == fitness


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("harvist", UnknownName, "Did you mean 'harvest'"),
        ("", InvalidParameter, "'' is no term of a fitness; write weight*measure, as in 0.7*harvest"),
        ("harvest +", InvalidParameter, "'' is no term of a fitness"),
        ("harvest - distance", InvalidParameter, "'harvest - distance' is no term of a fitness"),
        ("0*harvest", InvalidParameter, "the weight 0 of harvest must be more than 0"),
        ("-1*harvest", InvalidParameter, "the weight -1 of harvest must be more than 0"),
        ("nan*harvest", InvalidParameter, "'nan*harvest' is no term of a fitness"),
        ("much*harvest", InvalidParameter, "'much*harvest' is no term of a fitness"),
        ("1e7*harvest", InvalidParameter, "at most 1,000,000"),
        (
            "0.5*harvest + 0.5*harvest",
            InvalidParameter,
            "The measure harvest stands twice in a fitness; add up its weights",
        ),
    ],
)
def test_what_is_no_fitness_is_refused_in_one_line(text, kind, said):
    with pytest.raises(kind) as refused:
        parse_fitness(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
