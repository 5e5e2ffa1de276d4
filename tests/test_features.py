"""The words that a classifier goes by: chi-square and weights worked out by hand."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.relevance.base import Training
from scenthound.relevance.features import Features, bigrams_of, chi_square


def words(*ids):
    return np.array(ids, dtype=np.int32)


#: Two positives and four negatives over the words 1 to 5; 0 is a stop word.
TRAINING = Training(
    (words(1, 1, 3, 0), words(1, 2, 3)), (words(2, 3), words(3, 4, 4), words(3, 0, 0), words(2, 5, 3, 3))
)


def features(most=10, normalize=False, training=TRAINING, bigrams=False):
    return Features.chosen_from(training, 6, most, normalize=normalize, bigrams=bigrams)


def test_chi_square_of_the_two_by_two_table():
    # N (AD - BC)^2 / ((A+B)(C+D)(A+C)(B+D)) with A, B pages that have the word and C, D that do not; N = 6.
    # Word 1: A 2, B 0, C 0, D 4: 6 * 64 / (2 * 4 * 2 * 4) = 6. Word 2: A 1, B 2, C 1, D 2: AD = BC, so 0.
    # Word 4: A 0, B 1, C 2, D 3: 6 * (0 - 2)^2 / (1 * 5 * 2 * 4) = 0.6. Word 3 is in all six pages: 0.
    table = chi_square(words(2, 1, 0, 2, 0), words(0, 2, 1, 4, 0), 2, 4)
    assert table == pytest.approx([6.0, 0.0, 0.6, 0.0, 0.0])


def test_the_features_are_the_words_of_the_highest_chi_square():
    assert features(most=1).words.tolist() == [1]
    # Words 4 and 5 have 0.6 each: the lower number wins.
    assert features(most=2).words.tolist() == [1, 4]
    # The others have 0; words of no training page are no features at all.
    assert features().words.tolist() == [1, 4, 5, 2, 3]


def test_a_feature_weighs_its_count_times_the_log_of_its_rarity():
    # wang2009 Eq. 4, |E| = 6: word 1 is in 2 pages, 4 and 5 in 1, 2 in 3, 3 in all.
    assert features().idf[1:] == pytest.approx([log(3), log(6), log(6), log(2), 0.0])
    assert features().vector(words(1, 0, 1, 2, 3))[1:] == pytest.approx([2 * log(3), 0, 0, log(2), 0])


def test_a_word_of_every_training_page_weighs_nothing():
    assert features().vector(words(3, 3, 3)).tolist() == [0.0] * 6


def test_words_that_are_no_features_leave_no_trace():
    assert features(most=2).vector(words(2, 3, 5, 1)).tolist() == features(most=2).vector(words(1)).tolist()


def test_normalized_vectors_have_length_1_and_the_empty_one_stays_empty():
    x, y = 2 * log(3), log(2)
    vector = features(normalize=True).vector(words(1, 1, 2))
    assert vector[1:] == pytest.approx([x / sqrt(x * x + y * y), 0, 0, y / sqrt(x * x + y * y), 0])
    assert features(normalize=True).vector(words()).tolist() == [0.0] * 6


def test_words_that_came_after_the_training_are_no_features():
    chosen = features(normalize=True)
    # The vocabulary had the words 0 to 5, of which 5 is the last.
    page, known = words(6, 1, 700, 2, 5, 6), words(0, 1, 0, 2, 5, 0)
    assert chosen.vector(page).tolist() == chosen.vector(known).tolist()
    first, last = words(0, 3), words(3, 6)
    (rows, weights), (known_rows, known_weights) = (
        chosen.window_vectors(page, first, last),
        chosen.window_vectors(known, first, last),
    )
    assert rows.offset.tolist() == known_rows.offset.tolist() == [0, 1, 3]
    assert rows.term.tolist() == known_rows.term.tolist()
    assert weights.tolist() == known_weights.tolist()


@given(
    st.lists(st.integers(0, 5), max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_windows_and_pages_are_weighed_alike(ids, edges, normalize, bigrams):
    page, chosen = words(*ids), features(normalize=normalize, bigrams=bigrams)
    bounds = [sorted((min(a, len(page)), min(b, len(page)))) for a, b in edges]
    first, last = words(*(a for a, _ in bounds)), words(*(b for _, b in bounds))
    windows = [page[a:b] for a, b in bounds]
    for rows, weights in (chosen.window_vectors(page, first, last), chosen.page_vectors(windows)) if windows else ():
        for row, window in enumerate(windows):
            place = slice(*rows.offset[row : row + 2])
            dense = np.zeros(len(chosen.idf))
            dense[rows.term[place]] = weights[place]
            assert dense == pytest.approx(chosen.vector(window))


def pair(first, second):
    (number,) = bigrams_of(words(first, second))
    return number


def test_bigrams_are_adjacent_words_that_are_no_stop_words():
    assert bigrams_of(words(1, 2, 0, 3, 4)).tolist() == [pair(1, 2), 0, 0, pair(3, 4)]
    assert pair(1, 2) != pair(2, 1)
    assert [len(bigrams_of(words(*range(n)))) for n in (0, 1, 2)] == [0, 0, 1]


#: Both words are on all pages, but only positives have them in this order.
IN_ORDER = Training((words(1, 2), words(1, 2, 0)), (words(2, 1), words(1, 0, 2), words(2, 0, 1)))


def test_bigrams_compete_with_words_by_chi_square():
    # (1, 2) is on both positives and on no negative: 5 (2 * 3)^2 / (2 * 3 * 2 * 3) = 5. (2, 1) is on one negative:
    # 5 (0 - 2)^2 / (1 * 4 * 2 * 3) = 5/6. The words are on every page: 0.
    best = features(1, training=IN_ORDER, bigrams=True)
    assert (best.words.tolist(), best.bigrams.tolist()) == ([], [pair(1, 2)])
    chosen = features(training=IN_ORDER, bigrams=True)
    assert (chosen.words.tolist(), chosen.bigrams.tolist()) == ([1, 2], [pair(1, 2), pair(2, 1)])
    # On 2 of 5 pages and on 1 of 5; words first.
    assert chosen.idf[1:] == pytest.approx([0, 0, log(5 / 2), log(5)])


def test_a_page_has_the_weights_of_its_bigrams():
    chosen = features(training=IN_ORDER, bigrams=True)
    assert chosen.vector(words(1, 2, 1, 2, 0, 1))[1:] == pytest.approx([0, 0, 2 * log(5 / 2), log(5)])
    # Words that came after the training are part of no bigram.
    assert chosen.vector(words(1, 700, 2)).tolist() == [0.0] * 5


def test_without_bigrams_the_order_of_words_does_not_matter():
    chosen = features(training=IN_ORDER)
    assert chosen.bigrams is None
    assert chosen.vector(words(1, 2)).tolist() == chosen.vector(words(2, 1)).tolist()


def test_training_pages_may_have_no_bigram_at_all():
    chosen = features(training=Training((words(1),), (words(2), words())), bigrams=True)
    assert len(chosen.bigrams) == 0
    assert (
        chosen.vector(words(1, 2)).tolist()
        == features(training=Training((words(1),), (words(2), words()))).vector(words(1, 2)).tolist()
    )
