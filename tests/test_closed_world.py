"""What pages that a recording lacks can have changed, worked out by hand."""

from itertools import combinations
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ring_web import simulated
from scenthound.experiments.closed_world import (
    MissedCounts,
    closed_world_report,
    missed_counts,
    precision_interval,
    recall_interval,
    relevant_seeds,
)
from scenthound.experiments.runs import RunFolder
from scenthound.experiments.starts import known_relevant


def counts(strategy="best", topic="sea", *, pages=10, missing=2, relevant=6, known=12, seed=0, seeds=0):
    return MissedCounts(strategy, topic, pages, missing, relevant, known, seed, seeds)


def test_a_missing_page_displaces_one_if_the_budget_is_spent():
    # Ten pages, six relevant, two more wanted: with both the budget would have been spent two pages earlier. Lost may
    # be two relevant pages for two irrelevant ones: 4 / 10. Won may be two relevant ones for two others: 8 / 10.
    interval = precision_interval(counts(), 10)
    assert (interval.measured, interval.low, interval.high) == (0.6, 0.4, 0.8)


def test_a_crawl_that_ended_early_has_room_for_some_missing_pages():
    # Budget 11: one of the two missing pages takes the free place, and only the other pushes a page out.
    # Measured 6/11, at least (6 - 1) / 11, at most (6 + 2) / 11.
    interval = precision_interval(counts(), 11)
    assert (interval.measured, interval.low, interval.high) == (6 / 11, 5 / 11, 8 / 11)
    # Budget 20: both have room, and nothing is pushed out.
    assert precision_interval(counts(), 20).low == 6 / 20


def test_recall_has_more_to_find_when_missing_pages_are_relevant():
    # 6 of 12 found. Both own missing pages relevant: (6 + 2) / (12 + 2). Own irrelevant, and pushing two out, while the
    # three that others found missing are relevant: (6 - 2) / (12 + 3).
    interval = recall_interval(counts(), 10, n_missed_by_others=3)
    assert (interval.measured, interval.low, interval.high) == (0.5, 4 / 15, 8 / 14)


def test_no_more_pages_are_found_than_the_budget_allows():
    # 9 of 10 pages are relevant, so that one missing page at most can be one more.
    crawl = counts(relevant=9, missing=30, known=20)
    assert precision_interval(crawl, 10).high == 1
    assert recall_interval(crawl, 10, 0).high == 10 / 21
    assert precision_interval(crawl, 10).low == recall_interval(crawl, 10, 0).low == 0


def test_seeds_are_never_displaced():
    # Of 6 relevant pages 4 are seeds; 9 missing pages could push all 10 out but for these. 4 / 10, and 4 / 12.
    crawl = counts(missing=9, seeds=4)
    assert precision_interval(crawl, 10).low == 4 / 10
    assert recall_interval(crawl, 10, 0).low == 4 / 12
    # 1 missing page can push out 1 of 6, and then the seeds are among the 5 that are left.
    assert precision_interval(counts(missing=1, seeds=4), 10).low == 5 / 10


def test_seeds_count_if_visited_before_all_other_pages():
    # Visited are 3, 1, 7, 2; of the seeds 1, 2 and 3 the first two came before page 7, and of those 3 is relevant.
    visited, seeds, relevant = (np.array(pages, np.int32) for pages in ([3, 1, 7, 2], [1, 2, 3], [2, 3, 7]))
    assert relevant_seeds(visited, seeds, relevant) == 1
    assert relevant_seeds(visited[:2], seeds, relevant) == 1
    assert relevant_seeds(visited[2:], seeds, relevant) == 0
    assert relevant_seeds(visited[:0], seeds, relevant) == 0


def test_without_known_relevant_pages_there_is_no_recall():
    assert isnan(recall_interval(counts(relevant=0, known=0), 10, 1).low)


def test_a_crawl_without_missing_pages_has_exact_values():
    interval = precision_interval(counts(missing=0), 10)
    assert interval.low == interval.measured == interval.high == 0.6


@given(
    st.integers(1, 12).flatmap(
        lambda budget: st.tuples(st.just(budget), st.lists(st.sampled_from("rxm"), min_size=1, max_size=budget + 4))
    ),
    st.text("rx", max_size=3),
    st.integers(0, 3),
)
def test_the_bounds_hold_for_any_missing_pages(case, seeds, n_unfound):
    """`r` and `x` are visited pages, relevant or not, `m` missing ones, in the order asked for; seeds come first."""
    budget, asked = case
    asked = [*seeds[:budget], *asked]
    while sum(kind != "m" for kind in asked) > budget:
        asked.pop()
    relevant = asked.count("r")
    crawl = counts(
        pages=relevant + asked.count("x"),
        missing=asked.count("m"),
        relevant=relevant,
        known=relevant + n_unfound,
        seeds=seeds[:budget].count("r"),
    )
    precision, recall = precision_interval(crawl, budget), recall_interval(crawl, budget, 0)
    places = [place for place, kind in enumerate(asked) if kind == "m"]
    for n_good in range(len(places) + 1):
        for good in combinations(places, n_good):
            got = asked[:budget]
            n_found = sum(kind == "r" or place in good for place, kind in enumerate(got))
            if crawl.n_known:
                assert precision.low <= n_found / budget <= precision.high
                in_budget = sum(place < budget for place in good)
                assert recall.low <= n_found / (crawl.n_known + in_budget) <= recall.high + 1e-12


def test_orders_are_safe_if_intervals_do_not_overlap():
    # A: 8 of 10 and 1 missing, 0.7 to 0.9. B: 5 of 10 and 1 missing, 0.4 to 0.6. C: 6 of 10 and 1 missing, 0.5 to 0.7.
    crawls = [counts(name, relevant=relevant, missing=1) for name, relevant in (("B", 5), ("A", 8), ("C", 6))]
    report = closed_world_report(crawls, 10)
    assert [gap.strategy for gap in report.gaps] == ["B", "A", "C"]
    orders = {(each.better, each.worse): each.is_safe for each in report.orders if each.measure == "precision"}
    # A and C meet in 0.7, so that they may be equal.
    assert orders == {("A", "B"): True, ("A", "C"): False, ("C", "B"): False}


def test_crawls_of_a_topic_are_averaged_before_topics():
    # Topic sea: precisions 0.6 and 0.2, mean 0.4; topic sky: 1.0. The mean over topics is 0.7, not that over crawls.
    crawls = [counts(relevant=6), counts(relevant=2, seed=1), counts(topic="sky", relevant=10, missing=0, pages=20)]
    (gap,) = closed_world_report(crawls, 10).gaps
    assert gap.precision.measured == pytest.approx(0.7)
    assert gap.missing_per_page == 4 / 40
    assert gap.n_crawls == 3


def test_pages_missed_by_others_from_the_same_start_may_be_relevant():
    crawls = [counts("A"), counts("B", missing=3), counts("B", missing=100, seed=1)]
    report = closed_world_report(crawls, 10)
    assert report.gaps[0].recall.low == 4 / 15


def test_the_order_on_a_topic_can_be_safe_if_that_of_the_mean_is_not():
    crawls = [counts("A", relevant=9, missing=0), counts("B", relevant=2, missing=0)]
    crawls += [counts("A", "sky", relevant=5, missing=9), counts("B", "sky", relevant=5, missing=9)]
    (order,) = (each for each in closed_world_report(crawls, 10).orders if each.measure == "precision")
    # Topic sea: 0.9 against 0.2 for certain. With sky anything from 0 to 1 is possible: 0.45 to 0.95, 0.1 to 0.6.
    assert (order.better, order.is_safe, order.n_topics_safe, order.n_topics) == ("A", False, 1, 2)


def test_topics_without_known_pages_are_not_part_of_the_bounds():
    crawls = [counts(name, topic, known=known) for name in "AB" for topic, known in (("sea", 12), ("sky", 0))]
    report = closed_world_report(crawls, 10)
    assert [order.n_topics for order in report.orders] == [1, 1]
    assert report.gaps[0].recall.measured == 0.5
    nothing = closed_world_report([counts(name, known=0) for name in "AB"], 10)
    assert isnan(nothing.gaps[0].recall.low)
    assert isnan(nothing.gaps[0].precision.high)
    assert [order.is_safe for order in nothing.orders] == [False, False]


def test_counts_are_read_from_a_run_folder(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    run = RunFolder.open(tmp_path / "run")
    told = missed_counts(run)
    assert [(each.strategy, each.topic, each.seed) for each in told] == [
        (note.strategy, note.topic, note.seed) for note in run.crawls()
    ]
    # The ring has 40 pages, every second of a topic, and no link leads out of it.
    assert {(each.n_pages, each.n_missing, each.n_known) for each in told} == {(20, 0, 20)}
    of_topic = {topic.id: set(known_relevant(run.web, topic).tolist()) for topic in run.topics()}
    for each, trace in zip(told, run.traces(), strict=True):
        assert each.n_relevant == sum(page in of_topic[trace.topic] for page in trace.pages.tolist())
    seeds = {(start.topic, start.seed): len(start.seeds) for start in run.starts()}
    # All start pages are examples, and they are visited first.
    assert [each.n_relevant_seeds for each in told] == [seeds[each.topic, each.seed] for each in told]
