"""What relevance models learn from: seeds, examples set aside, other pages; no targets, except as published."""

from random import Random

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ring_web import N, experiment, runs, topic, url
from scenthound.errors import InvalidTopic, UnknownName
from scenthound.experiments.pipeline import plan
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import (
    TRAINING_PAGES,
    NegativePool,
    Start,
    Starts,
    Task,
    TrainingPages,
    draw_positives,
)
from scenthound.store.recorded_web import RecordedWeb


@pytest.fixture(scope="module")
def web(web_path):
    return RecordedWeb.open(web_path)


def test_without_pages_set_aside_training_does_not_change_starts(web):
    start = Starts(web).draw(topic(), 3)
    assert start.seeds == (0, 4, 12, 16, 18, 20, 22, 28, 32, 34)
    assert start.targets == (2, 6, 8, 10, 14, 24, 26, 30, 36, 38)
    around = topic(examples=(url(20), url(22), url(5)), description_from=(url(22),))
    start = Starts(web, Task.NEIGHBOURS, 4).draw(around, 1)
    assert (start.seeds, start.targets, start.training) == ((2, 3, 8, 13), (20, 5), ())


def test_seeds_that_are_examples_train(web):
    start = Starts(web).draw(topic(), 3)
    assert start.training == start.seeds
    hubs = topic(seeds=(url(1), url(4)), examples=(url(4), url(6)))
    assert Starts(web).draw(hubs, 0).training == (4,)


def test_examples_set_aside_train_beside_the_seeds_and_are_no_targets(web):
    plain, start = Starts(web).draw(topic(), 3), Starts(web, n_train=4).draw(topic(), 3)
    assert start.seeds == plain.seeds
    aside = set(start.training) - set(start.seeds)
    assert len(aside) == 4
    assert set(start.targets) == set(plain.targets) - aside
    assert start != Starts(web, n_train=4).draw(topic(), 4)


def test_half_of_the_targets_always_stay(web):
    # 20 examples: 10 are seeds, 10 targets, of which 5 stay.
    for seed in range(5):
        start = Starts(web, n_train=1000).draw(topic(), seed)
        assert len(start.targets) == 5
        assert len(start.training) == 15


def test_without_training_no_page_is_set_aside(web):
    start = Starts(web, n_train=1000, trains=False).draw(topic(), 0)
    assert (len(start.targets), start.training) == (10, ())


def test_pages_of_the_description_may_be_training_pages(web):
    described = topic(examples=tuple(map(url, (0, 2, 4, 6))), seeds=(url(0),), description_from=(url(2),))
    assert any(2 in Starts(web, n_train=1).draw(described, seed).training for seed in range(20))


def test_targets_of_the_topic_are_not_training_pages(web):
    named = topic(seeds=(url(0),), targets=(url(2), url(4)), examples=tuple(map(url, (0, 2, 4, 6, 8))))
    start = Starts(web, n_train=10).draw(named, 0)
    assert (start.targets, start.training) == ((2, 4), (0, 6, 8))


def test_around_the_examples_only_pages_set_aside_train(web):
    start = Starts(web, Task.NEIGHBOURS, n_train=5).draw(topic(), 0)
    assert len(start.training) == 5
    assert len(start.targets) == 15
    assert not set(start.training) & {*start.seeds, *start.targets}


@given(
    st.sets(st.integers(0, N - 1), min_size=2),
    st.sets(st.integers(0, N - 1)),
    st.sets(st.integers(0, N - 1)),
    st.sampled_from(Task),
    st.integers(1, 12),
    st.integers(0, 30),
    st.integers(0, 3),
)
def test_no_target_ever_trains_and_no_negative_is_a_page_of_the_topic(
    web, examples, others, described, task, n_start, n_train, seed
):
    mine = topic("mine", examples=tuple(map(url, sorted(examples))), description_from=tuple(map(url, described)))
    theirs = topic("theirs", examples=tuple(map(url, sorted(others))))
    starts = Starts(web, task, n_start, n_train=n_train)
    try:
        start = starts.draw(mine, seed)
    except InvalidTopic:
        # Examples may have no neighbours but each other.
        reject()
    assert not set(start.training) & set(start.targets)
    assert set(start.training) <= examples
    assert start.seeds == Starts(web, task, n_start).draw(mine, seed).seeds
    pool = NegativePool((*starts.example_pages(mine), *starts.example_pages(theirs)))
    barred = starts.own_pages(mine).union(start.seeds, start.targets)
    negatives = pool.draw(len(start.training), barred, Random(seed))
    assert not set(negatives) & (examples | described | set(start.seeds) | set(start.targets))
    assert set(negatives) <= others
    # Two for each positive, or all there are.
    assert len(negatives) == min(2 * len(start.training), len(others - barred))


def test_as_published_any_page_of_the_topic_trains_and_the_start_is_the_same(web):
    start = Starts(web, as_published=True).draw(topic(), 3)
    assert start.training == tuple(range(0, N, 2))
    assert (start.seeds, start.targets) == (Starts(web).draw(topic(), 3).seeds, Starts(web).draw(topic(), 3).targets)
    named = topic(seeds=(url(0),), examples=(url(0),), targets=(url(2),))
    assert Starts(web, as_published=True).draw(named, 0).training == (0, 2)


def test_no_more_pages_train_than_in_the_study(web, monkeypatch):
    monkeypatch.setitem(TRAINING_PAGES, "wang2009", TrainingPages(positives=6, negatives=12))
    assert len(Starts(web, as_published=True).draw(topic(), 0).training) == 6
    assert len(Starts(web).draw(topic(), 0).training) == 6
    start = Starts(web, n_start=4, n_train=9).draw(topic(), 0)
    # Four seeds and two more; examples that nobody learns from stay targets.
    assert (len(start.training), len(start.targets)) == (6, 14)


def test_the_training_pages_of_johnson2003_are_139_and_700_or_fewer_in_proportion():
    of_the_study = TRAINING_PAGES["johnson2003"]
    pages = range(5000)
    assert len(draw_positives(pages, Random(0), of_the_study)) == 139
    pool = NegativePool(pages, of_the_study)
    assert len(pool.draw(139, (), Random(0))) == 700
    # 20 * 700 / 139 = 100.7.
    assert len(pool.draw(20, (), Random(0))) == 101
    assert len(draw_positives(pages, Random(0))) == 75


def test_negatives_of_johnson2003_are_any_pages_that_the_topic_does_not_name(web):
    settings = Experiment(
        web=web.path, topics=(topic(),), strategies=("otie",), relevance="svm", training_pages="johnson2003", n_start=3
    )
    ((mine, start),) = plan(settings, web)
    named = Starts(web).own_pages(mine)
    # The topic names every second page and is the only one: there are no examples of other topics. 3 * 700 / 139 = 15.
    assert len(start.training) == 3
    assert len(start.negatives) == min(15, N - len(named))
    assert not named.intersection(start.negatives)
    assert plan(settings, web) == [(mine, start)]


def test_an_unknown_study_has_no_training_pages(web):
    with pytest.raises(UnknownName, match=r"'wang2090'.*\bwang2009\b"):
        Experiment(web=web.path, topics=(topic(),), strategies=("otie",), training_pages="wang2090")


def planned(web_path, **settings):
    settings = experiment(web_path, **{"relevance": "svm", "topics": (topic("balloon"), topic("train"))} | settings)
    return [start for _, start in plan(settings, RecordedWeb.open(web_path))]


def test_negatives_come_from_the_other_topics_and_are_twice_the_positives(web_path):
    for start in planned(web_path, repeats=3, n_start=4):
        own = 0 if start.topic == "balloon" else 1
        assert len(start.training) == 4
        assert len(start.negatives) == 8
        assert all(page % 2 == own for page in start.training)
        assert all(page % 2 != own for page in start.negatives)


def test_negatives_depend_on_the_seed(web_path):
    one, two, *_ = planned(web_path, repeats=2, n_start=4)
    assert one.negatives != two.negatives
    assert planned(web_path, repeats=2, n_start=4)[0] == one


def test_topics_that_are_not_crawled_for_give_negatives_too(web_path):
    (start,) = planned(web_path, topics=(topic("balloon"),), other_topics=(topic("train"),))
    assert all(page % 2 == 1 for page in start.negatives)


def test_negatives_are_drawn_only_if_a_model_is_trained(web_path):
    assert planned(web_path, relevance="cosine")[0].negatives == ()
    assert planned(web_path, relevance=None)[0].negatives == ()


def test_a_single_topic_cannot_be_learned(web_path):
    with pytest.raises(InvalidTopic, match=r"'balloon' .*\bnegative .*--train-from\b"):
        planned(web_path, topics=(topic("balloon"),))


def test_start_pages_that_are_no_examples_are_not_training_pages(web_path):
    with pytest.raises(InvalidTopic, match=r"'balloon' .*--train, .*--train-from\b"):
        planned(web_path, task=Task.NEIGHBOURS)
    assert all(len(start.training) == 3 for start in planned(web_path, task=Task.NEIGHBOURS, n_train=3))


def test_a_trained_model_scores_the_crawl(web_path):
    settings = experiment(
        web_path, topics=(topic("balloon"),), other_topics=(topic("train"),), relevance="svm", repeats=2
    )
    for each in runs(settings, web_path):
        even = each.crawl.pages % 2 == 0
        assert each.crawl.relevance[even].min() > each.crawl.relevance[~even].max()
    assert isinstance(each.start, Start)
