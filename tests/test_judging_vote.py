"""The three judges of wang2009, worked out by hand and held against scikit-learn."""

from math import exp, log, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KernelDensity
from sklearn.svm import LinearSVC

from labelled_pages import BALLOONS, N_WORDS, TOY, TRAINS, labelled, rows
from scenthound.relevance.classifiers import trained_judge
from scenthound.relevance.classifiers.naive_bayes import Kernels
from scenthound.relevance.classifiers.neural_net import NetJudge, NeuralNet
from scenthound.relevance.features import Features
from scenthound.text.vectors import TermRows

ONE = np.zeros(1, np.int64)


def kernels(positives, negatives, width):
    """Of one word, from its values on the pages of either class."""
    values = np.array([*positives, *negatives], dtype=float)
    offset = np.concatenate(([0], np.cumsum(values > 0)))
    term = np.ones(offset[-1], np.int32)
    is_positive = np.arange(len(values)) < len(positives)
    return Kernels.at(TermRows(offset, term, term), values[values > 0], is_positive, 1, width)


def between(low, high, at, width):
    kernel = NormalDist(at, width)
    return kernel.cdf(high) - kernel.cdf(low)


def test_kernels_as_wide_as_the_range_allows_by_hand():
    # Values 0, 1, 2: the mean gap is 1, so x = 1 stands for 0.5 to 1.5.
    # Positives 0 and 2: range 2, width 2 / sqrt(2). Negatives 0, 0, 0 and 1: range 1, width 1 / sqrt(4).
    found = kernels([0, 2], [0, 0, 0, 1], "range")
    positive = (between(0.5, 1.5, 0, sqrt(2)) + between(0.5, 1.5, 2, sqrt(2))) / 2
    negative = (3 * between(0.5, 1.5, 0, 0.5) + between(0.5, 1.5, 1, 0.5)) / 4
    assert found.evidence(ONE, np.array([1.0])) == pytest.approx([log(positive) - log(negative)])


def test_a_class_that_never_has_the_word_has_kernels_of_a_sixth_of_a_gap():
    # Values 0 and 3: the gap is 3, so negatives, all 0, have a width of 1/2; x = 0 stands for -1.5 to 1.5.
    found = kernels([0, 3], [0, 0], "range")
    positive = (between(-1.5, 1.5, 0, 3 / sqrt(2)) + between(-1.5, 1.5, 3, 3 / sqrt(2))) / 2
    assert found.evidence(ONE, np.zeros(1)) == pytest.approx([log(positive) - log(between(-1.5, 1.5, 0, 0.5))])


def test_no_word_alone_decides_without_bound():
    # 100 is out of reach of both classes: neither is more likely. At 3 only positives are at home.
    found = kernels([0, 3], [0, 0, 0], "range")
    assert found.evidence(ONE, np.array([100.0])) == pytest.approx([0])
    far = kernels([0, 30], [0, 1], "range").evidence(ONE, np.array([300.0]))
    assert -175 < far[0] < 175


@pytest.mark.parametrize("value", [0.0, 0.4, 3.0, 40.0])
def test_densities_of_john_and_langley_agree_with_scikit_learn(value):
    positives, negatives = [0.0, 0.5, 2.0], [0.0, 0.0, 0.0, 0.0, 0.3]
    own, others = (
        KernelDensity(bandwidth=1 / sqrt(len(at))).fit(np.array(at)[:, None]).score_samples([[value]])[0]
        for at in (positives, negatives)
    )
    found = kernels(positives, negatives, "john_langley").evidence(ONE, np.array([value]))
    assert found == pytest.approx([own - others])


pages_drawn = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=8), min_size=1, max_size=5)


@given(pages_drawn, st.sampled_from(["range", "john_langley"]))
def test_naive_bayes_adds_up_the_evidence_of_every_word_there_or_not(pages, width):
    judge = trained_judge(f"naive_bayes:width={width}", TOY)
    features = judge.features
    found = judge.scores(rows(*pages))
    for page, odds in zip(pages, found, strict=True):
        weights = features.vector(np.array(page, dtype=np.int32))[1:]
        every = judge.kernels.evidence(np.arange(len(weights)), weights)
        assert odds == pytest.approx(log(5 / 10) + every.sum())
    assert judge.accepts(rows(*pages)).tolist() == (found > 0).tolist()


def test_naive_bayes_goes_by_the_shares_of_the_classes_where_words_say_nothing():
    few, many = [[1, 2]] * 2, [[1, 2]] * 3
    assert trained_judge("naive_bayes", labelled(few, many)).scores(rows([1, 2])) == pytest.approx([log(2 / 3)])
    assert trained_judge("naive_bayes", labelled(many, few)).scores(rows([1, 2])) == pytest.approx([log(3 / 2)])


@pytest.mark.parametrize("normalize", [False, True])
def test_the_support_vector_machine_is_that_of_scikit_learn(normalize):
    judge = trained_judge(f"svm:normalize={str(normalize).lower()},words=9", TOY)
    features = judge.features
    assert len(features.words) == 9
    dense = np.array([features.vector(np.array(page, dtype=np.int32)) for page in (*BALLOONS, *TRAINS)])
    assert (np.linalg.norm(dense, axis=1) == pytest.approx(1)) == normalize
    machine = LinearSVC(loss="hinge", random_state=0, max_iter=20_000).fit(dense, TOY.is_positive)
    assert judge.scores(TOY.rows) == pytest.approx(machine.decision_function(dense), abs=1e-3)
    assert judge.accepts(TOY.rows).tolist() == TOY.is_positive.tolist()


def test_a_net_by_hand():
    # Word 1 weighs 1 and word 2 weighs 2; two hidden units, one that sees word 1 and one that sees word 2.
    features = Features(np.array([1, 2], dtype=np.int32), np.array([1.0, 2.0]), 4, normalize=False)
    into = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, -1.0]])

    def judge(bias_out):
        return NetJudge(features, into, np.array([-1.0, 0.5]), np.array([4.0, 2.0]), bias_out)

    # Page [1, 2, 2]: the units get 3 - 1 = 2 and -4 + 0.5 = -3.5, and the sum is 4 s(2) + 2 s(-3.5).
    page, sum_of_both = rows([1, 2, 2, 3]), 4 / (1 + exp(-2)) + 2 / (1 + exp(3.5))
    assert judge(-sum_of_both + 1e-9).accepts(page).tolist() == [True]
    assert judge(-sum_of_both - 1e-9).accepts(page).tolist() == [False]


def test_a_net_says_what_the_trained_one_of_scikit_learn_says():
    kind = NeuralNet(words=9)
    judge = kind.trained(TOY)
    net = kind._learnt(judge.features, TOY)
    pages = [[a, b, 9] for a in range(1, 9) for b in range(a, 11)]
    dense = np.array([judge.features.vector(np.array(page, dtype=np.int32)) for page in pages])
    assert judge.accepts(rows(*pages)).tolist() == net.predict(dense).tolist()
    assert net.n_layers_ == 3
    assert judge.into.shape == (10, 4)


def test_pages_are_set_aside_for_validation_only_where_both_kinds_have_enough():
    for n_positives, validates in ((3, False), (4, True)):
        training = labelled(BALLOONS[:n_positives], TRAINS)
        net = NeuralNet()._learnt(NeuralNet().trained(training).features, training)
        assert (net.validation_scores_ is not None) == validates
        assert net.n_iter_ <= 500


def test_training_that_is_cut_short_raises_no_warning():
    assert len(trained_judge("neural_net:epochs=1", TOY).accepts(TOY.rows)) == 15
