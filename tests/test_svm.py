"""The relevance model svm: what it learns, and that windows are scored like pages."""

import sys
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidTopic, MissingExtra
from scenthound.model import Topic
from scenthound.relevance.base import RELEVANCE, RelevanceModel, Training, trains
from scenthound.relevance.cosine import Cosine
from scenthound.relevance.svm import MARGIN_RANGE, LinearSvm

TOPIC = Topic("flight", ("balloon",))
#: Words 1 to 4 are about balloons, 5 to 8 about trains, 9 is on every page, 10 on pages of both kinds.
N_WORDS = 12


class Words:
    n_words = N_WORDS

    def find_words(self, stems):
        return words()


def words(*ids):
    return np.array(ids, dtype=np.int32)


POSITIVES = (words(1, 2, 9, 10), words(2, 3, 9), words(1, 3, 9, 0, 3), words(4, 1, 9), words(4, 2, 2, 9, 10))
NEGATIVES = (
    *(words(5, 6, 9), words(6, 7, 9, 10), words(5, 7, 9), words(8, 5, 9), words(8, 6, 9)),
    *(words(7, 8, 9, 10), words(5, 9), words(6, 9), words(7, 9, 10), words(8, 9)),
)
TOY = Training(POSITIVES, NEGATIVES)


def learnt(training=TOY, **parameters):
    return LinearSvm(**parameters).for_topic(TOPIC, Words(), training)


def test_a_topic_is_learnt_and_found_again_in_pages_never_seen():
    relevance_model = learnt()
    about_balloons, about_trains = relevance_model.page(words(3, 4, 9), 0.0), relevance_model.page(words(5, 8, 9), 0.0)
    assert about_balloons > 0.7
    assert about_trains < 0.3
    # A mixture lies between, and words of every page say nothing.
    assert about_trains < relevance_model.page(words(3, 8), 0.0) < about_balloons
    assert relevance_model.page(words(9, 9), 0.0) == relevance_model.page(words(), 0.0)


def test_words_that_came_after_the_training_change_no_score():
    class AllWords(Words):
        n_words = 5 * N_WORDS

    early, late = learnt(), LinearSvm().for_topic(TOPIC, AllWords(), TOY)
    # Word 11 is the last of the first vocabulary; it and all later ones were in no training page.
    page, first, last = words(1, 40, 5, 12, 11, 2, 59), words(0, 1, 3), words(7, 4, 5)
    assert early.page(page, 0.0) == late.page(page, 0.0) == early.page(words(1, 5, 2), 0.0)
    assert early.contexts(page, first, last).tolist() == late.contexts(page, first, last).tolist()
    assert early.contexts(page, first, last)[2] == early.page(words(), 0.0)


def test_a_machine_of_one_word_by_hand():
    # Word 1 has chi-square 15 and is the only feature; normalized, a page with it is (1) and one without is (0).
    # Of w and b the machine minimises (w^2 + b^2) / 2 plus the sum of max(0, 1 - y (w x + b)). With 5 positives at
    # w + b and 10 negatives at b, w = 2 and b = -1 leave no page within the margin. A smaller w saves 2 for each unit
    # and costs 5, a larger b saves 1 and costs 10, both together save 3 and cost 10: so that is the optimum.
    training = Training((words(1),) * 5, (words(2),) * 10)
    relevance_model = learnt(training, features=1)
    # With a fifth of the pages held out it is the same, so the margins are 1 and -1; the sigmoid takes the classes as
    # 6/7 and 1/12 sure.
    assert relevance_model.page(words(1), 0.0) == pytest.approx(6 / 7, abs=1e-3)
    assert relevance_model.page(words(2), 0.0) == pytest.approx(1 / 12, abs=1e-3)


def test_a_small_cost_leaves_every_page_within_the_margin():
    # Then w = C (5 pages at 1) and b = C (5 - 10): every page pays, so every page pulls with its full cost.
    relevance_model = learnt(Training((words(1),) * 5, (words(2),) * 10), features=1, cost=0.01)
    assert (relevance_model.plane[1], relevance_model.bias) == pytest.approx((0.05, -0.05), abs=1e-4)


def test_probabilities_are_fitted_to_pages_held_out():
    # Each positive has a word of its own, so held out it is known by the bias alone. For n positives at w + b = 1 and
    # negatives at v + b = -1 the optimum has b = n w + v, so (n + 2) b = n - 1: b = 1/2 with one of five held out and
    # 4/7 with all. Held-out margins are 1/2 and -1, taken as 6/7 and 1/12 sure: the log-odds of the former are ln 6 and
    # grow by ln 66 in 3/2. An empty page is at 4/7, which is 1/14 more than 1/2.
    relevance_model = learnt(Training(tuple(words(i) for i in (1, 2, 3, 4, 5)), (words(6),) * 10))
    log_odds = log(6) + log(66) / 1.5 / 14
    assert relevance_model.page(words(), 0.0) == pytest.approx(1 / (1 + exp(-log_odds)), abs=1e-3)


def test_the_same_training_gives_the_same_scores():
    tried = [words(1), words(5), words(10), words(2, 6, 6)]
    first, second = learnt(), learnt()
    assert [first.page(page, 0.0) for page in tried] == [second.page(page, 0.0) for page in tried]


def test_without_normalization_more_of_a_word_is_more_of_a_promise():
    once, often = words(1), words(*[1] * 50)
    assert learnt().page(once, 0.0) == pytest.approx(learnt().page(often, 0.0))
    raw = learnt(normalize=False)
    assert raw.page(often, 0.0) > raw.page(once, 0.0)


@pytest.mark.parametrize("n_positives", [1, 2, 3])
def test_a_few_positives_are_enough_to_learn_from(n_positives):
    relevance_model = learnt(Training(POSITIVES[:n_positives], NEGATIVES[: 2 * n_positives]))
    assert relevance_model.page(POSITIVES[0], 0.0) > relevance_model.page(NEGATIVES[0], 0.0)


def test_held_out_pages_that_mislead_do_not_turn_the_probabilities_round():
    # Each positive has words of its own and each negative too, but word 10 is on one of both: whoever holds out the
    # positive with 10 takes it for a negative. Training pages themselves are distinguished.
    training = Training((words(1, 10), words(2, 11)), (words(5, 10, 2), words(6, 11, 1)))
    relevance_model = learnt(training)
    assert all(
        relevance_model.page(p, 0.0) > relevance_model.page(n, 0.0)
        for p in training.positives
        for n in training.negatives
    )


def test_pages_without_a_word_are_still_something_to_learn_from():
    relevance_model = learnt(Training((words(0), words()), (words(0),)))
    assert 0 <= relevance_model.page(words(1), 0.0) <= 1


WINDOWS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8)


@given(st.lists(st.integers(0, N_WORDS - 1), max_size=40), WINDOWS, st.sampled_from([True, False, "johnson2003"]))
def test_a_window_is_scored_as_a_page_of_its_words(ids, edges, kind):
    page, relevance_model = words(*ids), MODELS[kind]
    bounds = [sorted((min(a, len(page)), min(b, len(page)))) for a, b in edges]
    first, last = words(*(a for a, _ in bounds)), words(*(b for _, b in bounds))
    alone = [relevance_model.page(page[a:b], 0.0) for a, b in bounds]
    assert relevance_model.contexts(page, first, last) == pytest.approx(np.array(alone))
    assert all(0 <= score <= 1 for score in alone)


MODELS = {
    **{normalize: learnt(normalize=normalize) for normalize in (True, False)},
    "johnson2003": learnt(bigrams=True, scores="margin"),
}


def test_margins_are_scores_around_a_half():
    # The machine of `test_a_machine_of_one_word_by_hand`: the margins are 1 and -1, without any probability.
    training = Training((words(1),) * 5, (words(2),) * 10)
    relevance_model = learnt(training, features=1, scores="margin")
    distance = 1 / (2 * MARGIN_RANGE)
    assert relevance_model.page(words(1), 0.0) == pytest.approx(0.5 + distance, abs=1e-3)
    assert relevance_model.page(words(2), 0.0) == pytest.approx(0.5 - distance, abs=1e-3)
    assert relevance_model.contexts(words(1, 2), words(0, 1), words(1, 2)) == pytest.approx(
        [0.5 + distance, 0.5 - distance], abs=1e-3
    )


def test_a_relevance_by_margins_is_a_margin_in_units_of_its_range():
    model = LinearSvm(scores="margin")
    assert (model.score_range, LinearSvm().score_range) == (MARGIN_RANGE, 1.0)
    relevance_model = learnt(scores="margin")
    for ids in ([1, 2, 9], [5, 6], [3, 8], []):
        margin = (2 * relevance_model.page(words(*ids), 0.0) - 1) * model.score_range
        assert margin == pytest.approx(plain_margin(relevance_model, ids))


def test_margins_beyond_the_range_are_cut():
    # Without normalization 1,000 occurrences are far from the plane.
    relevance_model = learnt(scores="margin", normalize=False)
    assert relevance_model.page(words(*[1] * 1000), 0.0) == 1.0
    assert relevance_model.page(words(*[5] * 1000), 0.0) == 0.0


def test_bigrams_distinguish_pages_of_the_same_words():
    training = Training((words(1, 2), words(0, 1, 2)) * 3, (words(2, 1), words(2, 0, 1)) * 3)
    by_words, by_bigrams = learnt(training), learnt(training, bigrams=True)
    one, other = words(1, 2), words(2, 1)
    assert by_words.page(one, 0.0) == by_words.page(other, 0.0)
    assert by_bigrams.page(one, 0.0) > 0.5 > by_bigrams.page(other, 0.0)


@given(st.lists(st.integers(1, N_WORDS - 1), max_size=20), st.lists(st.integers(1, N_WORDS - 1), max_size=20))
def test_a_larger_margin_is_never_a_smaller_probability(one, other):
    relevance_model = MODELS[True]
    margins = [plain_margin(relevance_model, ids) for ids in (one, other)]
    scores = [relevance_model.page(words(*ids), 0.0) for ids in (one, other)]
    if margins[0] > margins[1] + 1e-12:
        assert scores[0] >= scores[1]


def plain_margin(relevance_model, ids):
    """`w x + b` word by word, x of length 1 with Eq. 4 weights: |E| = 15 training pages."""
    frequency = {w: sum(w in page for page in (*POSITIVES, *NEGATIVES)) for w in range(1, N_WORDS)}
    weights = {w: ids.count(w) * log(15 / frequency[w]) for w in set(ids) if frequency[w]}
    length = sqrt(sum(weight**2 for weight in weights.values())) or 1.0
    index = {int(word): number for number, word in enumerate(relevance_model.features.words, 1)}
    return (
        sum(weight / length * relevance_model.plane[index[w]] for w, weight in weights.items()) + relevance_model.bias
    )


@pytest.mark.parametrize("training", [None, Training((), NEGATIVES), Training(POSITIVES, ())])
def test_a_classifier_without_pages_of_both_kinds_is_refused(training):
    with pytest.raises(InvalidTopic, match="'flight': "):
        learnt(training)


@pytest.mark.parametrize("missing", ["sklearn", "scipy"])
def test_without_the_library_there_is_a_word_on_how_to_get_it(missing, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=r"svm .*scenthound\[learn\]"):
        learnt()


def test_models_say_whether_they_train():
    class OfAnotherPackage:
        def for_topic(self, topic, index):
            return Cosine().for_topic(topic, index)

    assert trains(LinearSvm())
    assert not trains(Cosine())
    assert isinstance(OfAnotherPackage(), RelevanceModel)
    assert not trains(OfAnotherPackage())


def test_the_classifier_is_found_by_name():
    assert trains(RELEVANCE.make("svm:features=100,cost=0.5,normalize=false"))
