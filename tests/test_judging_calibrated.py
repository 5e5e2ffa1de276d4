"""Judges whose acceptance rate is calibrated: thresholds by hand, and how many pages they accept."""

from statistics import NormalDist

import numpy as np
import pytest

from labelled_pages import BALLOONS, TOY, TOY_OFTEN, TRAINS, labelled, rows
from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.relevance.classifiers import (
    JUDGES,
    VOTING_JUDGES,
    Labelled,
    calibrated_judge,
    trained_judge,
    vote,
)
from scenthound.relevance.classifiers.calibration import calibrated_threshold, held_out_scores


def drawn(mean_positive: float, mean_negative: float, n: int = 40):
    """Scores of standard deviation 1 around both means, and which are positive."""
    spread = np.array([NormalDist().inv_cdf((k + 0.5) / n) for k in range(n)])
    spread /= np.sqrt(np.mean(spread**2) * n / (n - 1))
    return np.concatenate((mean_positive + spread, mean_negative + spread)), np.arange(2 * n) < n


def test_half_relevant_pages_are_half_of_the_accepted_ones_midway_between_the_means():
    # By symmetry as many positives are below the middle as negatives above it.
    assert calibrated_threshold(*drawn(3, -1), 0.5) == pytest.approx(1)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
def test_the_expected_share_of_accepted_pages_is_the_share_of_relevant_ones(share):
    scores, is_positive = drawn(2, 0)
    threshold = calibrated_threshold(scores, is_positive, share)
    # The deviation within classes: 40 + 40 scores with two means estimated.
    squares = np.sum((scores[is_positive] - 2) ** 2) + np.sum(scores[~is_positive] ** 2)
    deviation = float(np.sqrt(squares / 78))
    above = [1 - NormalDist(mean, deviation).cdf(threshold) for mean in (2, 0)]
    assert share * above[0] + (1 - share) * above[1] == pytest.approx(share)


def test_the_fewer_pages_are_relevant_the_higher_is_the_threshold():
    thresholds = [calibrated_threshold(*drawn(2, 0), share) for share in (0.4, 0.1, 0.02, 0.004)]
    assert thresholds == sorted(thresholds)
    assert len(set(thresholds)) == 4


def test_scores_without_a_spread():
    is_positive = np.array([True, True, False, False])
    assert calibrated_threshold(np.array([2.0, 2.0, 1.0, 1.0]), is_positive, 0.1) == 1.5
    assert calibrated_threshold(np.ones(4), is_positive, 0.1) == np.inf


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_an_impossible_share_raises(share):
    with pytest.raises(InvalidParameter, match=str(share)):
        calibrated_threshold(*drawn(1, 0), share)


def test_a_class_of_one_page_cannot_be_held_out():
    with pytest.raises(InvalidTopic, match="at least 2"):
        calibrated_judge("svm", labelled(BALLOONS[:1], TRAINS), 0.1)


def test_no_page_is_scored_by_a_judge_that_learned_it(monkeypatch):
    kind = JUDGES.make("svm")
    learned: list[set[tuple[int, ...]]] = []

    def words(page_rows):
        return [tuple(page_rows.term[a:b]) for a, b in zip(page_rows.offset, page_rows.offset[1:], strict=False)]

    class Recalling:
        def __init__(self, training: Labelled) -> None:
            self.known = set(words(training.rows))
            learned.append(self.known)
            assert 0 < training.is_positive.sum() < len(training.is_positive)

        def scores(self, pages):
            return np.array([float(page in self.known) for page in words(pages)])

    monkeypatch.setattr(type(kind), "trained", lambda _self, training: Recalling(training))
    distinct = labelled([[1, 9], [2, 9], [3, 9]], [[5, 9], [6, 9], [7, 9], [8, 9]])
    assert held_out_scores(kind, distinct).tolist() == [0.0] * 7
    # Three positives, so three folds.
    assert len(learned) == 3


@pytest.mark.parametrize("name", VOTING_JUDGES)
def test_the_order_of_pages_is_that_of_the_judge_and_fewer_are_accepted(name):
    pages = rows(*([a, b, 9] for a in range(1, 9) for b in range(a, 11)))
    plain, calibrated = trained_judge(name, TOY_OFTEN), calibrated_judge(name, TOY_OFTEN, 0.001)
    assert calibrated.scores(pages).tolist() == plain.scores(pages).tolist()
    few, many = calibrated.accepts(pages), plain.accepts(pages)
    assert few.tolist() == (plain.scores(pages) > calibrated.threshold).tolist()
    assert few.sum() < many.sum()


def test_pages_that_are_judged_do_not_change_the_threshold():
    judge = calibrated_judge("naive_bayes", TOY, 0.05)
    one, other = judge.accepts(rows([1, 2, 9])), judge.accepts(rows([1, 2, 9], [5, 6, 9], [1, 1, 1, 3]))
    assert one[0] == other[0]


def test_a_noisy_topic_is_accepted_about_as_often_as_it_occurs():
    rng = np.random.default_rng(0)

    def pages(topic: int, n: int):
        """Twenty words each: some of the topic, the others common; a page of one topic has a little of the other."""
        own, other = (list(range(1, 21)), list(range(21, 41)))[:: 1 if topic == 0 else -1]
        sizes = rng.integers(4, 9, n), rng.integers(0, 5, n)
        return [
            [*rng.choice(own, a), *rng.choice(other, b), *rng.integers(41, 100, 20 - a - b)]
            for a, b in zip(*sizes, strict=True)
        ]

    training = labelled(pages(0, 60), pages(1, 120), 100)
    share, n_pages = 0.03, 4000
    n_relevant = round(share * n_pages)
    judged = rows(*pages(0, n_relevant), *pages(1, n_pages - n_relevant))
    plain = vote([trained_judge(name, training).accepts(judged) for name in VOTING_JUDGES])
    calibrated = vote([calibrated_judge(name, training, share).accepts(judged) for name in VOTING_JUDGES])
    assert plain.mean() > 1.4 * share
    assert share / 1.5 < calibrated.mean() < share * 1.5
