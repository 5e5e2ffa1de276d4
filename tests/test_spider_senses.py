"""What an InfoSpiders agent senses of a page."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.spider_net import Senses, similarity, squared_length
from spider_session import ints


def test_an_input_is_the_sum_of_inverse_distances_in_words():
    # Positions:     0     1    2      3     4     5     6   (words 7 and 8 are the keywords, 1 any other)
    words = ints(7, 1, 8, 7, 1, 7, 1)
    # Link 0 is words 2..3: 8 and 7 of the anchor at 1 each; 7 before it at 2 - 0 = 2; 7 behind it at 5 - 4 + 1 = 2.
    # Link 1 stands before word 6 with an anchor of no words: 7 at 6 - 5 = 1, 6 - 3 = 3 and 6 - 0 = 6; 8 at 6 - 2 = 4.
    found = Senses("words", 20, 5).inputs(words, ints(7, 8), ints(2, 6), ints(4, 6))
    assert found.tolist() == [pytest.approx([1 + 1 / 2 + 1 / 2, 1]), pytest.approx([1 + 1 / 3 + 1 / 6, 1 / 4])]


def test_keywords_beyond_the_window_are_not_sensed():
    # The link stands between words 3 and 4. Window 2: words 2 and 3, and words 4 and 5.
    words = ints(7, 7, 7, 7, 7, 7, 7)
    assert Senses("words", 2, 5).inputs(words, ints(7), ints(4), ints(4)).tolist() == [[2 * (1 + 1 / 2)]]


def test_an_input_by_links_counts_the_links_in_between():
    # 7 [A] 1 [B] 7 [C] with anchors of no words: the first 7 has no link between itself and A, one to B, two to C;
    # the second 7 has none to B and to C, and one to A.
    words, positions = ints(7, 1, 7), ints(1, 2, 3)
    found = Senses("links", 20, 5).inputs(words, ints(7), positions, positions)
    assert found.tolist() == [[1 + 1 / 2], [1 / 2 + 1], [pytest.approx(1 / 3 + 1)]]
    only_next = Senses("links", 20, 0).inputs(words, ints(7), positions, positions)
    assert only_next.tolist() == [[1], [1], [1]]


def test_a_page_without_words_or_an_agent_without_keywords_senses_nothing():
    for distance in ("words", "links"):
        senses = Senses(distance, 20, 5)
        assert senses.inputs(ints(), ints(7), ints(0, 0), ints(0, 0)).tolist() == [[0], [0]]
        assert senses.inputs(ints(7), ints(), ints(0), ints(1)).shape == (1, 0)
        assert senses.inputs(ints(7), ints(7), ints(), ints()).shape == (0, 1)


def plain_distance(distance, position, link, start, end):
    """The distance of the word at a position from a link, by definition; None if it is not sensed."""
    if start[link] <= position < end[link]:
        return 1
    before = position < start[link]
    if distance == "words":
        dist = start[link] - position if before else position - end[link] + 1
        return dist if dist <= 6 else None
    edges = start if before else end
    this = (edges[link], link)
    others = [(edge, other) for other, edge in enumerate(edges) if other != link]
    between = [
        edge
        for edge in others
        if (position < edge[0] and edge < this if before else this < edge and edge[0] <= position)
    ]
    return len(between) + 1 if len(between) <= 2 else None


@st.composite
def pages(draw):
    """Words 1 to 6 and links, of which some stand within others."""
    words = draw(st.lists(st.integers(0, 6), max_size=40))
    edge = st.integers(0, len(words))
    links = draw(st.lists(st.tuples(edge, edge).map(sorted), max_size=12))
    return words, [link[0] for link in links], [link[1] for link in links]


@given(pages(), st.sets(st.integers(1, 6)), st.sampled_from(["words", "links"]))
def test_inputs_equal_those_of_a_plain_double_loop(page, keywords, distance):
    words, start, end = page
    keywords = sorted(keywords)
    expected = np.zeros((len(start), len(keywords)))
    for link in range(len(start)):
        for position, word in enumerate(words):
            dist = plain_distance(distance, position, link, start, end)
            if word in keywords and dist is not None:
                expected[link, keywords.index(word)] += 1 / dist
    found = Senses(distance, 6, 2).inputs(ints(*words), ints(*keywords), ints(*start), ints(*end))
    np.testing.assert_allclose(found, expected)


def cosine(words, keywords):
    return similarity(words, squared_length(words), keywords)


def test_similarity_is_the_cosine_of_term_frequencies():
    # Page: 7 three times, 8 once, 9 once, stop words. Keywords 7 and 9: (3 + 1) / (sqrt(9 + 1 + 1) * sqrt(2)).
    assert cosine(ints(7, 0, 7, 8, 0, 7, 9), ints(7, 9)) == pytest.approx(4 / (sqrt(11) * sqrt(2)))


def test_similarity_is_one_for_the_keywords_themselves_and_nothing_where_there_are_no_words():
    assert cosine(ints(3, 0, 5), ints(3, 5)) == pytest.approx(1)
    assert cosine(ints(0, 0), ints(3)) == 0
    assert cosine(ints(3), ints()) == 0
    # A word can be more frequent than the square root of what an int32 holds.
    assert cosine(np.full(100_000, 3, np.int32), ints(3)) == pytest.approx(1)
