"""Counts of the distinct words of pages, by the extension."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.native import _native

WORDS = st.integers(-1, 300) | st.integers(0, 2**31 - 1)


@given(st.lists(st.lists(WORDS, max_size=60), max_size=5))
def test_counts_are_those_of_numpy(pages: list[list[int]]) -> None:
    words = np.array([word for page in pages for word in page], np.int32)
    lengths = np.array(list(map(len, pages)), np.int32)
    expected = [np.unique(np.array([word for word in page if word > 0]), return_counts=True) for page in pages]
    terms, counts, n_terms = (np.frombuffer(found, np.int32).tolist() for found in _native.count_terms(words, lengths))
    assert n_terms == [len(distinct) for distinct, _ in expected]
    assert terms == [word for distinct, _ in expected for word in distinct.tolist()]
    assert counts == [count for _, of_page in expected for count in of_page.tolist()]


@pytest.mark.parametrize("lengths", [[2], [4], [4, -1], [-1, 4], [2**31 - 1]])
def test_lengths_must_be_those_of_the_words(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match="lengths"):
        _native.count_terms(np.ones(3, np.int32), np.array(lengths, np.int32))


def test_arrays_must_have_numbers_of_four_bytes() -> None:
    with pytest.raises(ValueError, match="4 bytes"):
        _native.count_terms(np.ones(2), np.array([2], np.int32))
