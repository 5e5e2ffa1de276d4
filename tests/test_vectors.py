"""Hand-computed weights and cosines."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.text.vectors import (
    TermRows,
    atc_weights,
    cosines,
    count_windows,
    count_words,
    tf_idf_weights,
    total_weight,
    word_norm,
)


def tf_weights(rows):
    return rows.count.astype(np.float64)


def rows_of(*documents):
    counted = [count_words(np.array(document, dtype=np.int32)) for document in documents]
    lengths = [len(one.term) for one in counted]
    return TermRows(
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.concatenate([one.term for one in counted]),
        np.concatenate([one.count for one in counted]),
    )


#: Three documents over the words 1, 2, 3; 0 is a stop word. Document frequencies: 1 in two, 2 in three, 3 in one.
POOL = rows_of([1, 1, 2, 0], [1, 2, 2], [2, 3])


def test_stop_words_are_not_counted():
    counted = count_words(np.array([5, 0, 3, 5, 0, 5], dtype=np.int32))
    assert counted.term.tolist() == [3, 5]
    assert counted.count.tolist() == [1, 3]


def test_windows_of_a_page_are_counted_like_documents():
    # Windows [5 . 3], [], [.] and the complete page 5 . 3 5.
    page = np.array([5, 0, 3, 5], dtype=np.int32)
    rows = count_windows(page, np.array([0, 2, 1, 0]), np.array([3, 2, 2, 4]), 6)
    assert rows.offset.tolist() == [0, 2, 2, 2, 4]
    assert rows.term.tolist() == [3, 5, 3, 5]
    assert rows.count.tolist() == [1, 1, 1, 2]


@given(
    st.lists(st.integers(0, 5), max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)
)
def test_each_window_is_counted_as_if_it_were_a_page(words, edges):
    page = np.array(words, dtype=np.int32)
    bounds = np.array([sorted((min(a, len(page)), min(b, len(page)))) for a, b in edges], np.int32).reshape(-1, 2)
    rows = count_windows(page, bounds[:, 0], bounds[:, 1], 6)
    assert len(rows) == len(edges)
    for row, (first, last) in enumerate(bounds):
        alone, row_slice = count_words(page[first:last]), slice(*rows.offset[row : row + 2])
        assert rows.term[row_slice].tolist() == alone.term.tolist()
        assert rows.count[row_slice].tolist() == alone.count.tolist()


def test_document_frequency_counts_documents_not_occurrences():
    assert POOL.document_frequency(5).tolist() == [0, 2, 3, 1, 0]


def test_tf_idf_is_f_times_one_plus_log():
    # menczer2001 section 4.3: w = f (1 + ln(|S| / n)); |S| = 3.
    frequency = POOL.document_frequency(4)
    expected = [2 * (1 + log(3 / 2)), 1 * (1 + log(1)), 1 + log(3 / 2), 2.0, 1.0, 1 + log(3)]
    assert tf_idf_weights(POOL, frequency, 3) == pytest.approx(expected)


def test_atc_is_augmented_frequency_times_log():
    # w = 1/2 (1 + f / max f) ln(|S| / n); the largest counts are 2, 2 and 1.
    frequency = POOL.document_frequency(4)
    expected = [1.0 * log(3 / 2), 0.0, 0.75 * log(3 / 2), 0.0, 0.0, 1.0 * log(3)]
    assert atc_weights(POOL, frequency, 3) == pytest.approx(expected)


def test_a_word_in_no_document_has_weight_zero():
    query = count_words(np.array([4, 1], dtype=np.int32))
    frequency = POOL.document_frequency(5)
    assert tf_idf_weights(query, frequency, 3).tolist() == [1 + log(3 / 2), 0.0]
    assert atc_weights(query, frequency, 3).tolist() == [log(3 / 2), 0.0]


def test_the_cosine_of_raw_frequencies():
    # Query (1: 1, 2: 1). Document 0 is (1: 2, 2: 1): 3 / (sqrt 2 sqrt 5). Document 2 is (2: 1, 3: 1): 1 / 2.
    query = count_words(np.array([1, 2], dtype=np.int32))
    similarities = cosines(POOL, POOL.count.astype(float), query, query.count.astype(float), 4)
    assert similarities == pytest.approx([3 / sqrt(10), 3 / sqrt(10), 0.5])


def test_empty_documents_and_queries_have_cosine_zero():
    rows = rows_of([0, 0], [1], [0])
    query = count_words(np.array([1], dtype=np.int32))
    nothing = count_words(np.array([0], dtype=np.int32))
    assert cosines(rows, tf_weights(rows), query, tf_weights(query), 2).tolist() == [0, 1, 0]
    assert cosines(rows, tf_weights(rows), nothing, tf_weights(nothing), 2).tolist() == [0, 0, 0]
    assert rows.row_maxima().tolist() == [0, 1, 0]


def test_rows_can_be_selected_in_any_order():
    rows = POOL.take(np.array([2, 0], dtype=np.int32))
    assert rows.offset.tolist() == [0, 2, 4]
    assert rows.term.tolist() == [2, 3, 1, 2]
    assert rows.count.tolist() == [1, 1, 2, 1]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=20))
def test_one_more_topic_word_never_lowers_the_cosine_to_a_single_word_topic(document):
    topic = count_words(np.array([1], dtype=np.int32))
    before, after = rows_of(document), rows_of([*document, 1])
    score = [cosines(rows, tf_weights(rows), topic, tf_weights(topic), 7)[0] for rows in (before, after)]
    assert score[1] >= score[0]
    assert 0 <= score[0] <= 1 + 1e-12


def test_the_norm_of_a_page_ignores_stop_words():
    # Twice 1, once 2, three times 7: the root of 4 + 1 + 9.
    assert word_norm(np.array([7, 0, 1, 7, 2, 0, 1, 7], dtype=np.int32)) == sqrt(14)
    assert word_norm(np.array([0, 0], dtype=np.int32)) == word_norm(np.zeros(0, dtype=np.int32)) == 0.0


@given(
    st.lists(st.sampled_from([0, 1, 2, 65, 2**16, 2**17, 2**27 - 1]) | st.integers(0, 9) | st.integers(0, 2**27 - 1))
)
def test_the_norm_of_a_page_is_the_length_of_its_counts(words):
    counts = count_words(np.array(words, dtype=np.int32)).count
    expected = float(np.sqrt(np.square(counts, dtype=np.float64).sum()))
    assert word_norm(np.array(words, dtype=np.int32)) == expected


def test_the_norm_of_a_long_page_of_few_words_is_exact():
    # 100,000 stop words and as many of another word: squares exceed 32 bits.
    assert word_norm(np.repeat(np.array([0, 3], dtype=np.int32), 100_000)) == 100_000


def test_the_weight_of_a_page_counts_occurrences():
    # Twice word 1 (weight 2), once word 2 (weight 1), and 3, 4 and 9, with the last weight: 7 each.
    words, weights = np.array([1, 0, 2, 1, 3, 9, 4], dtype=np.int32), np.array([0.0, 2.0, 1.0, 7.0])
    assert total_weight(words, weights) == 26.0
    assert total_weight(words[:0], weights) == 0.0


@given(st.lists(st.integers(0, 12)), st.lists(st.integers(0, 5), min_size=1, max_size=10))
def test_words_beyond_the_weights_have_the_last_one(words, weights):
    expected = sum(weights[min(word, len(weights) - 1)] for word in words)
    assert total_weight(np.array(words, np.int32), np.array(weights, np.float64)) == expected
