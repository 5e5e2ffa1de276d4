"""What crawls found, each measure on an example worked out by hand."""

from math import isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter
from scenthound.metrics.base import Area, FixedFacts, GroundTruth, PoolVectors, Visited
from scenthound.metrics.classified import Classified, Harvest, OnTopic, OnTopicRecall
from scenthound.metrics.measures import (
    jaccard_curve,
    overlap,
    quality_per_cpu_second,
    search_length,
    share_of_gap_closed,
)
from scenthound.metrics.ranks import Rank
from scenthound.metrics.retrieval import NewRelevantHosts, Novelty, Precision, Recall, TargetRecall
from scenthound.model import Trace
from scenthound.text.vectors import TermRows


def ids(*pages):
    return np.array(pages, dtype=np.int32)


def trace(*pages):
    return Trace("t", "s", 0, ids(*pages), np.zeros(len(pages)))


def judged(*, relevant=(1, 2, 3, 4), targets=(3, 4), seeds=(1,), **facts):
    return GroundTruth(ids(*relevant), ids(*targets), ids(*seeds), ids(1, 3, 7, 9), FixedFacts(**facts))


CRAWL = trace(1, 9, 3, 7)


def test_target_recall_of_obscure_and_of_popular_targets():
    # In-links of targets 2, 3, 4, 7 and 9: the half with the fewest is 3, 7 and, of equals the first, 2; the fifth with
    # the most is 9. The crawl finds 9, then 3, then 7.
    truth = GroundTruth(
        ids(2, 3, 4, 7, 9), ids(2, 3, 4, 7, 9), ids(1), ids(1, 3, 7, 9), FixedFacts(), in_links=ids(5, 0, 5, 1, 8)
    )
    assert TargetRecall("few").curve(CRAWL, truth, 4).tolist() == pytest.approx([0, 0, 1 / 3, 2 / 3])
    assert TargetRecall("many").curve(CRAWL, truth, 4).tolist() == [0, 1, 1, 1]
    assert TargetRecall().curve(CRAWL, truth, 4).tolist() == pytest.approx([0, 1 / 5, 2 / 5, 3 / 5])
    assert str(TargetRecall("few")) == "target_recall:linked_by=few"


def test_target_recall_needs_targets():
    truth = GroundTruth(ids(2), ids(), ids(1), ids(1, 3, 7, 9), FixedFacts())
    assert all(map(isnan, TargetRecall("many").curve(CRAWL, truth, 4)))


def test_recall_is_of_relevant_pages_that_are_no_seeds():
    # To be found are 2, 3 and 4; the crawl finds 3.
    assert Recall().curve(CRAWL, judged(), 6) == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3, 1 / 3])
    assert np.isnan(Recall().curve(CRAWL, judged(relevant=(1,)), 4)).all()


def test_classified_is_the_share_of_pages_that_a_classifier_accepts():
    # It accepts pages 1 and 7 of the pool 1, 3, 7, 9; pages that were not visited are not accepted.
    ground_truth = judged(accepted={"rocchio": np.array([True, False, True, False])})
    assert Classified().curve(CRAWL, ground_truth, 5) == pytest.approx([1, 1 / 2, 1 / 3, 2 / 4, 2 / 5])
    assert np.isnan(Classified("widrow_hoff").curve(CRAWL, ground_truth, 4)).all()


def test_harvest_is_by_vote_unless_one_judge_is_named():
    accepted = {"vote": np.array([True, False, False, True]), "svm": np.array([False, True, False, False])}
    ground_truth = judged(accepted=accepted)
    assert Harvest().curve(CRAWL, ground_truth, 4) == pytest.approx([1, 1, 2 / 3, 2 / 4])
    assert Harvest("svm").curve(CRAWL, ground_truth, 4) == pytest.approx([0, 0, 1 / 3, 1 / 4])


def test_harvest_by_calibrated_judges():
    plain, calibrated = np.array([True, True, True, True]), np.array([True, False, False, True])
    ground_truth = judged(accepted={"vote": plain}, accepted_calibrated={"vote": calibrated})
    metric = Harvest(calibrated=True)
    assert metric.curve(CRAWL, ground_truth, 4) == pytest.approx([1, 1, 2 / 3, 2 / 4])
    assert str(metric) == "harvest:calibrated=true"
    assert metric.needs != Harvest().needs
    assert np.isnan(metric.curve(CRAWL, judged(accepted={"vote": plain}), 4)).all()


def test_on_topic_is_the_share_of_pages_that_the_relevance_model_accepts():
    ground_truth = judged(accepted={"relevance_model": np.array([True, False, True, True])}, relevant=(), targets=())
    # It accepts pages 1, 7 and 9; page 1 is a seed, so 7 and 9 are to be found.
    assert OnTopic().curve(CRAWL, ground_truth, 5) == pytest.approx([1, 1, 2 / 3, 3 / 4, 3 / 5])
    assert OnTopicRecall().curve(CRAWL, ground_truth, 5) == pytest.approx([0, 1 / 2, 1 / 2, 1, 1])
    for metric in (OnTopic(), OnTopicRecall()):
        assert np.isnan(metric.curve(CRAWL, judged(), 4)).all()
        assert Area(str(metric)).caveat == metric.caveat != ""


def test_nothing_on_topic_in_the_pool_is_a_recall_of_zero():
    ground_truth = judged(accepted={"relevance_model": np.array([True, False, False, False])})
    assert OnTopicRecall().curve(CRAWL, ground_truth, 4).tolist() == [0, 0, 0, 0]


def test_new_relevant_hosts_are_counted_once_and_not_those_of_seeds():
    # Hosts of 1, 3, 7, 9 are 5, 6, 6, 8, and a seed is on 5. All pages are relevant: 9 brings host 8, 3 host 6, 7 none.
    hosts = {"host_numbers": ids(5, 6, 6, 8), "seed_host_numbers": ids(5)}
    ground_truth = judged(relevant=(1, 3, 7, 9), **hosts)
    assert NewRelevantHosts().curve(CRAWL, ground_truth, 5).tolist() == [0, 1, 2, 2, 2]
    # Where 3 is not relevant, host 6 is found with 7.
    assert NewRelevantHosts().curve(CRAWL, judged(relevant=(1, 7), **hosts), 4).tolist() == [0, 0, 0, 1]


def vectors(*weights):
    """Pages of two words as vectors."""
    flat = np.array(weights, dtype=float).ravel()
    offset = np.arange(0, len(flat) + 1, 2, dtype=np.int64)
    rows = TermRows(offset, np.tile(ids(0, 1), len(weights)), np.ones(len(flat), np.int32))
    return PoolVectors(rows, flat, rows.document_frequency(2))


def test_novelty_is_the_difference_from_what_the_crawl_had_of_the_topic_before():
    # Seed 1 = (1, 0). Page 3 = (3, 4), of length 1 (0.6, 0.8): its cosine with (1, 0) is 0.6. Page 9 = (0, 2) against
    # (1.6, 0.8), of length sqrt(3.2): 0.8 / sqrt(3.2). Page 7 is not relevant.
    ground_truth = judged(relevant=(1, 3, 9), weighted=vectors((1, 0), (3, 4), (9, 9), (0, 2)))
    of_3, of_9 = 1 - 0.6, 1 - 0.8 / sqrt(3.2)
    expected = [0, of_3, of_3, (of_3 + of_9) / 2, (of_3 + of_9) / 2]
    assert Novelty().curve(trace(1, 3, 7, 9), ground_truth, 5) == pytest.approx(expected)
    # Without seeds nothing is known before the first page, which is wholly new.
    unseeded = judged(relevant=(3, 9), seeds=(), weighted=ground_truth.facts.vectors())
    assert Novelty().curve(trace(3, 9), unseeded, 2) == pytest.approx([1, (1 + 1 - 0.8) / 2])


def test_pages_without_weight_are_new_and_teach_nothing():
    ground_truth = judged(relevant=(1, 3, 7, 9), weighted=vectors((1, 0), (0, 0), (2, 0), (0, 1)))
    assert Novelty().curve(trace(1, 3, 7), ground_truth, 3) == pytest.approx([0, 1, (1 + 0) / 2])


def test_the_area_is_the_mean_of_a_curve_so_far():
    # Target recall is 0, 0, 1/2, 1/2.
    assert Area().curve(CRAWL, judged(), 4) == pytest.approx([0, 0, 1 / 6, 1 / 4])
    assert Area("rank").lower_is_better
    assert not Area("recall").lower_is_better
    assert np.isnan(Area("rank").curve(CRAWL, judged(), 4)).all()


def test_means_over_visited_pages_keep_their_last_value():
    # Of the pages 1, 9, 3, 7 the relevant ones are 1 and 3.
    assert Precision().curve(CRAWL, judged(), 6) == pytest.approx([1, 1 / 2, 2 / 3, 2 / 4, 2 / 5, 2 / 6])
    assert Visited().curve(CRAWL, judged(), 6) == pytest.approx([1, 1 / 2, 2 / 3, 2 / 4, 2 / 4, 2 / 4])
    assert Visited().curve(CRAWL, judged(), 3) == pytest.approx([1, 1 / 2, 2 / 3])
    # Missing pages have rank 5, after the last of the pool: 1, 3/2, 2, 10/4, 15/5.
    ranked = judged(lexical_ranks=np.array([1.0, 3.0, 4.0, 2.0]))
    assert Rank().curve(CRAWL, ranked, 5) == pytest.approx([1, 3 / 2, 2, 10 / 4, 15 / 5])
    assert Visited("rank").curve(CRAWL, ranked, 5) == pytest.approx([1, 3 / 2, 2, 10 / 4, 10 / 4])
    assert Visited("rank").lower_is_better


def test_a_crawl_without_pages_is_not_better_over_visited_pages():
    assert Visited().curve(trace(), judged(), 3).tolist() == [0, 0, 0]
    assert np.isnan(Visited().curve(CRAWL, judged(relevant=()), 5)).all()


@pytest.mark.parametrize("metric", ["recall", "target_recall", "coverage", "novelty", "area:of=precision", "visited"])
def test_only_means_over_pages_can_be_over_visited_pages(metric):
    with pytest.raises(InvalidParameter, match=r"\bclassified, harvest, mean_similarity, on_topic, precision, rank\b"):
        Visited(metric)


@pytest.mark.parametrize(("share", "length"), [(0.25, 2), (0.3, 4), (0.5, 4), (0.75, nan), (1, nan)])
def test_the_search_length_is_the_pages_until_a_share_is_found(share, length):
    # Of 1, 3, 8, 9 the crawl finds 1 at page 2 and 3 at page 4.
    assert search_length(trace(5, 1, 6, 3), ids(1, 3, 8, 9), share) == pytest.approx(length, nan_ok=True)


def test_a_share_of_a_whole_number_of_pages_is_not_rounded_up():
    # 0.07 * 100 is 7.000000000000001 in binary.
    assert search_length(trace(*range(100)), ids(*range(100)), 0.07) == 7


def test_nothing_relevant_is_never_found_and_a_share_is_a_share():
    assert isnan(search_length(trace(1), ids(), 0.5))
    with pytest.raises(InvalidParameter, match=r" 0; .* 0 .* 1\."):
        search_length(trace(1), ids(1), 0)


def test_the_overlap_of_two_crawls():
    # Pages: {1} {2}; {1 2} {2 4}; {1 2 3} {2 4 1}. Hosts of 1 and 2 are 7, of 3 and 4 are 8: {7} {7}; {7} {7 8}; both.
    both = overlap(trace(1, 2, 3), trace(2, 4, 1), ids(0, 7, 7, 8, 8), 4)
    assert both.pages == pytest.approx([0, 1 / 3, 2 / 4, 2 / 4])
    assert both.hosts == pytest.approx([1, 1 / 2, 1, 1])
    assert np.isnan(overlap(trace(), trace(), ids(), 2).pages).all()


@given(st.lists(st.integers(0, 6), max_size=8), st.lists(st.integers(0, 6), max_size=8), st.integers(1, 9))
def test_an_overlap_is_that_of_the_sets_so_far(one, other, n_steps):
    expected = [
        len(set(one[:t]) & set(other[:t])) / len(set(one[:t]) | set(other[:t])) if one[:t] or other[:t] else nan
        for t in range(1, n_steps + 1)
    ]
    assert jaccard_curve(ids(*one), ids(*other), n_steps) == pytest.approx(expected, nan_ok=True)


def test_the_share_of_the_gap_closed():
    assert share_of_gap_closed(0.4, 0.2, 0.7) == pytest.approx(0.4)
    assert share_of_gap_closed(0.1, 0.2, 0.7) == pytest.approx(-0.2)
    assert isnan(share_of_gap_closed(0.4, 0.5, 0.5))
    assert isnan(share_of_gap_closed(0.4, 0.6, 0.5))


def test_bounds_that_differ_by_rounding_leave_no_gap():
    assert isnan(share_of_gap_closed(0.4, 0.3, 0.1 + 0.2))
    assert isnan(share_of_gap_closed(-400.0, -300.0, -300.0 + 1e-7)), "relative to the bounds, of either sign"
    assert isnan(share_of_gap_closed(0.0, 0.0, 0.0))
    # Small bounds are bounds.
    assert share_of_gap_closed(1.5e-12, 1e-12, 2e-12) == pytest.approx(0.5)


def test_quality_per_cpu_second():
    # 0.3 reached with 4 pages of 50 ms each.
    assert quality_per_cpu_second(0.3, np.full(4, 50_000.0)) == pytest.approx(1.5)
    assert isnan(quality_per_cpu_second(0.3, np.array([1.0, nan])))
    assert isnan(quality_per_cpu_second(0.3, np.zeros(0)))
