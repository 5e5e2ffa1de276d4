"""Who takes part in a comparison, how the ranking comes about, what the best is worth, and how it is started live."""

import re
import shlex
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ring_web import topic
from scenthound.cli.app import load
from scenthound.errors import InvalidParameter, UnknownName
from scenthound.experiments.compare.live_command import live_command, training_note, word_of
from scenthound.experiments.compare.measures import MeanCurves, Measurements
from scenthound.experiments.compare.ranking import (
    Mark,
    TopicsWon,
    describe_scope,
    observations_needed,
    ranking_order,
    ranking_rows,
    topics_won,
)
from scenthound.experiments.compare.settings import (
    Crawler,
    crawlers_of,
    deciding_point,
    parse_sweeps,
    repeats_for,
)
from scenthound.experiments.setup import Experiment, ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.text.tokenizer import stems_of


def specs(strategies, *sweeps, pages=50):
    return [each.spec for each in crawlers_of(strategies, parse_sweeps(sweeps), pages)]


def test_two_sweeps_make_every_combination_of_every_strategy():
    assert specs(["best_n_first", "breadth_first"], "buffer=8,16") == [
        "best_n_first:buffer=8",
        "best_n_first:buffer=16",
        "breadth_first:buffer=8",
        "breadth_first:buffer=16",
    ]
    grid = crawlers_of(["best_n_first:description=true"], parse_sweeps(["n=1,4", "buffer=none, 16"]), 50)
    assert [tuple(each.swept.values()) for each in grid] == [(1, None), (1, 16), (4, None), (4, 16)]
    assert grid[0] == Crawler(
        "best_n_first:n=1,buffer=none,description=true", "best_n_first:description=true", {"n": 1, "buffer": None}
    )


def test_equal_strategies_take_part_once():
    assert specs(["best_first", "best_first:buffer=none", "best_first"]) == ["best_first"]
    assert specs(["best_first"], "buffer=8,8,8") == ["best_first:buffer=8"]


def test_max_pages_is_the_page_budget_unless_it_is_set():
    assert specs(["infospiders"], pages=70) == ["infospiders:max_pages=70"]
    assert specs(["infospiders:max_pages=5"], pages=70) == ["infospiders:max_pages=5"]
    assert specs(["infospiders"], "max_pages=5,70", pages=9) == ["infospiders:max_pages=5", "infospiders:max_pages=70"]


def test_invalid_sweeps_raise():
    with pytest.raises(UnknownName, match=r"opic.*'buffer'.*\bn, seeds_first\b"):
        specs(["best_first", "opic"], "buffer=8")
    with pytest.raises(InvalidParameter, match=r"best_first:buffer=8.*--sweep"):
        specs(["best_first:buffer=8"], "buffer=16")
    with pytest.raises(InvalidParameter, match="--sweep buffer"):
        specs(["best_first"], "buffer=16", "buffer=8")
    with pytest.raises(InvalidParameter, match="buffer=0"):
        specs(["best_first"], "buffer=0,8")
    with pytest.raises(InvalidParameter, match=r"--strategy.*\bhub\b.*\bhub_over\b.*\brank_function\b"):
        specs([], "hub=1,2", "hub_over=mean")
    with pytest.raises(InvalidParameter, match=r"\b210\b.*\b200\b"):
        specs(["best_n_first"], f"n={','.join(map(str, range(1, 15)))}", f"buffer={','.join(map(str, range(15)))}")
    for text in ("buffer", "=3", "buffer=", "buffer=,"):
        with pytest.raises(InvalidParameter, match=f"--sweep '{text}'"):
            parse_sweeps([text])


def test_starts_are_ten_until_topics_are_the_observations():
    setup = ExperimentSetup(web=Path("web"), topics=TopicChoice(Path("topics.jsonl")))
    assert [repeats_for(setup, n) for n in (1, 4, 5, 6, 100)] == [10, 10, 2, 1, 1]
    assert repeats_for(replace(setup, repeats=3), 100) == 3


def test_the_metric_decides_at_the_end_or_after_the_pages_named():
    assert str(deciding_point("target_recall", 60)) == "target_recall@60"
    assert str(deciding_point("precision@50", 60)) == "precision@50"
    with pytest.raises(InvalidParameter, match=r"precision@61.*\b60\b"):
        deciding_point("precision@61", 60)


def measured(values, random=0.1, oracle=0.9) -> Measurements:
    """Of these values by crawler, topic and seed."""
    values = np.asarray(values, np.float64)
    of_starts = np.ones(values.shape[1:])
    return Measurements(
        topics=tuple(f"topic{index}" for index in range(values.shape[1])),
        lacking=(),
        values=values,
        precision=values / 2,
        recall=values / 4,
        n_pages=np.full(values.shape, 20.0),
        n_missing=np.full(values.shape, 5.0),
        random=random * of_starts,
        oracle=oracle * of_starts,
        curves=MeanCurves.of(
            np.array([1], np.int32), values[..., None], np.array([random * of_starts, oracle * of_starts])[..., None]
        ),
        twin_of=tuple(range(len(values))),
    )


def ranked(measured: Measurements, *, lower_is_better=False, crawlers=None):
    crawlers = crawlers or [Crawler(name, name) for name in "abcdefgh"[: len(measured.values)]]
    order = ranking_order(measured, lower_is_better=lower_is_better)
    return ranking_rows(measured, order, crawlers, lower_is_better=lower_is_better)


#: One topic, ten starts; the mean is 0.5.
STARTS = 0.5 + np.array([-4.5, -3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5]) / 100
SIGNS = np.array([1, -1] * 5)


def test_each_strategy_is_tested_against_the_best_from_the_same_starts():
    # b has always 0.2 less, so of 1,024 ways to flip signs 2 are as extreme; it is tested beside c, so p is doubled.
    # c differs by 0.001 to either side: its mean is that of the best, and it is surely within 5 % of 0.5.
    best, alike, worse = ranked(
        measured([STARTS[None], STARTS[None] - 0.2 - 0.001 * SIGNS, STARTS[None] - 0.0001 + 0.001 * SIGNS])
    )
    assert [each.strategy for each in (best, alike, worse)] == ["a", "c", "b"]
    assert [each.rank for each in (best, alike, worse)] == [1, 2, 3]
    assert [each.mark for each in (best, alike, worse)] == [Mark.BEST, Mark.ALIKE, Mark.WORSE]
    assert worse.p == 2 / 1024
    assert worse.p_corrected == 4 / 1024
    assert alike.p_equivalence_corrected < 0.001
    assert best.difference is None
    assert isnan(best.p_corrected)
    assert worse.difference.mean == pytest.approx(-0.2)
    assert -0.2015 < worse.difference.low < worse.difference.high < -0.1985
    # The standard deviation of STARTS is 0.0302765, over the square root of 10.
    assert best.standard_error == pytest.approx(0.0302765 / 10**0.5, rel=1e-5)


def test_a_difference_that_may_be_chance_is_marked_unclear():
    # The differences are -0.2 and +0.1 in turn: a mean of -0.05, and neither a clear loss nor surely within 0.025.
    _, other = ranked(measured([STARTS[None], STARTS[None] - 0.05 + 0.15 * SIGNS]))
    assert other.mark is Mark.UNCLEAR
    assert other.p_corrected > 0.05


def test_if_lower_is_better_the_lowest_is_first_and_the_gap_is_reversed():
    first, second = ranked(measured([[[30.0] * 6], [[20.0] * 6]], random=50.0, oracle=10.0), lower_is_better=True)
    assert first.strategy == "b"
    assert second.difference.mean == 10
    # From 50 down to 10 there are 40; 20 has come 30 of them.
    assert first.gap_closed == 0.75
    assert second.gap_closed == 0.5


def test_other_measurements_are_means_over_the_same_crawls():
    (only,) = ranked(measured([[[0.2, 0.4], [0.6, 0.8]]]))
    assert (only.mean, only.precision, only.recall) == (0.5, 0.25, 0.125)
    # Half of the way from 0.1 to 0.9; and 5 pages missing for 20 got.
    assert only.gap_closed == pytest.approx(0.5)
    assert only.missing_per_page == 0.25


def test_observations_are_starts_until_there_are_five_topics():
    few = measured([[[0.1, 0.3], [0.5, 0.7]]])
    assert few.observations.tolist() == [pytest.approx([0.3, 0.5])]
    assert not few.over_topics
    assert re.findall(r"\d+", describe_scope(few))[:2] == ["2", "2"]
    many = measured([[[topic / 10, topic / 5] for topic in range(5)]])
    assert many.observations.tolist() == [pytest.approx([0, 0.15, 0.3, 0.45, 0.6])]
    assert many.over_topics
    assert re.findall(r"\d+", describe_scope(many)) == ["5", "2"]
    assert "'topic0'" in describe_scope(measured([[[0.1, 0.2]]]))
    # From given seeds there are no random starts.
    assert re.findall(r"\d+", describe_scope(few, given_starts=True)) == ["2"]
    assert re.findall(r"\d+", describe_scope(many, given_starts=True)) == ["5"]


def test_one_start_has_no_spread_and_no_test():
    first, second = ranked(measured([[[0.5]], [[0.4]]]))
    assert isnan(first.standard_error)
    assert isnan(second.p_corrected)
    assert isnan(second.difference.low)
    assert second.mark is Mark.UNCLEAR


@given(st.integers(2, 200))
def test_one_observation_fewer_than_needed_cannot_be_significant(n_crawlers):
    needed, n_tests = observations_needed(n_crawlers), n_crawlers - 1
    assert n_tests * 2 / 2**needed < 0.05
    assert n_tests * 2 / 2 ** (needed - 1) >= 0.05


def an_experiment(**settings) -> Experiment:
    return Experiment(**{"web": Path("web"), "topics": (topic(),), "strategies": ("best_first", "otie")} | settings)


def test_the_live_command_is_quoted_and_has_options_that_crawl_knows():
    experiment = an_experiment(
        strategies=("best_first:buffer=8",),
        page_budget=70,
        relevance="svm",
        respect_nofollow=False,
        train_from=Path("my pages"),
    )
    words = shlex.split(
        live_command(TopicChoice(Path("my topics.toml")), "hot air; balloons", "best_first:buffer=8", experiment)
    )
    assert words[:6] == ["scenthound", "crawl", "--topics", "my topics.toml", "--topic", "hot air; balloons"]
    options = dict(zip(words[6::2], words[7::2], strict=False))
    assert options["--strategy"] == "best_first:buffer=8"
    assert options["--train-from"] == "my pages"
    assert words[-2:] == ["--pages", "70"]
    known = {name for option in load("crawl").params for name in option.opts}
    assert {word for word in words if word.startswith("--")} <= known
    assert {"--relevance", "--follow-nofollow"} <= set(words)


def test_the_live_command_trains_a_model_that_was_trained_on_the_web():
    plain = an_experiment(relevance="svm")
    command = live_command(TopicChoice(Path("t")), "a", "otie", plain, Path("out/training"))
    assert "--strategy otie --relevance svm --train-from out/training --pages" in command
    assert "out/training" in training_note("otie", plain, Path("out/training"))
    # Without a folder a person has to put pages somewhere.
    assert "--relevance svm --train-from DIR --pages" in live_command(TopicChoice(Path("t")), "a", "otie", plain)
    assert "DIR/positive" in training_note("otie", plain)


def test_a_model_that_was_not_trained_on_the_web_needs_no_note():
    for strategy, experiment in (
        ("best_first", an_experiment()),
        ("otie", an_experiment(relevance="cosine")),
        ("otie", an_experiment(train_from=Path("pages"))),
        ("otie", an_experiment()),
    ):
        assert training_note(strategy, experiment, Path("out")) == ""
        assert "out" not in shlex.split(live_command(TopicChoice(Path("t")), "a", strategy, experiment, Path("out")))
    for relevance in (None, "svm"):
        trained = an_experiment(train_from=Path("pages"), relevance=relevance)
        assert "--train-from pages" in live_command(TopicChoice(Path("t")), "a", "otie", trained, Path("out"))


@pytest.mark.parametrize("stem", ["balloon", "agre", "t", "put", "see", "áedán", "1984"])
def test_the_word_for_a_stem_has_that_stem(stem):
    assert stems_of(word_of(stem)) == [stem]


def test_strategies_with_equal_crawls_are_tested_once():
    # a and b are one, and so are c and e; of ten starts all signs alike come up in 2 of 1,024 ways, and there are two
    # tests, not four: c with e, and d.
    values = [STARTS[None], STARTS[None], STARTS[None] - 0.1, STARTS[None] - 0.2, STARTS[None] - 0.1]
    ranking = ranked(replace(measured(values), twin_of=(0, 0, 2, 3, 2)))
    assert [each.strategy for each in ranking] == ["a", "c", "d"]
    assert [each.also for each in ranking] == [("b",), ("e",), ()]
    assert [each.p_corrected for each in ranking[1:]] == [4 / 1024, 4 / 1024]


def test_a_topic_is_won_if_all_others_are_worse():
    # Against the better of b and c, a has 3 - 2, 3 - 4, 3 - 3, 9 - 1 and 0 - 1.
    values = np.array([[3, 3, 3, 9, 0], [2, 1, 3, 1, 1], [1, 4, 2, 0, 0]], float)[:, :, None]
    assert topics_won(measured(values), [0, 1, 2], lower_is_better=False) == TopicsWon(2, 1, 2)
    # Where less is better, a has less than the lesser of b and c on the last topic only, where c has as little.
    assert topics_won(measured(values), [0, 1, 2], lower_is_better=True) == TopicsWon(0, 1, 4)
    assert topics_won(measured(values[:, :4]), [0, 1, 2], lower_is_better=False) is None
    assert topics_won(measured(values), [0], lower_is_better=False) is None
