import tracemalloc
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidTopic
from scenthound.model import Topic
from scenthound.relevance.base import MAX_WINDOW_WORDS, bounded_ends
from scenthound.relevance.cosine import Cosine


class Words:
    """A vocabulary for tests: the stems of "hot air balloon race" are 1, 2, 3, 4."""

    ids = {"hot": 1, "air": 2, "balloon": 3, "race": 4}  # noqa: RUF012
    n_words = 5

    def find_words(self, stems):
        return np.array([self.ids[stem] for stem in stems if stem in self.ids], dtype=np.int32)


class LargeVocabulary(Words):
    n_words = 10**12


def test_the_size_of_the_vocabulary_costs_nothing():
    model = Cosine().for_topic(Topic("t", ("hot", "balloon")), LargeVocabulary())
    assert model.page(np.array([3, 4, 900_000], dtype=np.int32), sqrt(3)) == pytest.approx(1 / sqrt(6))


def relevance(*keywords, description="", by_description=False):
    return Cosine(description=by_description).for_topic(Topic("t", keywords, description=description), Words())


def words(*ids):
    return np.array(ids, dtype=np.int32)


def test_the_cosine_of_menczer2001_equation_1():
    # Topic (hot 1, air 1, balloon 1); page: balloon twice, race once, a stop word: 2 / (sqrt 3 * sqrt 5).
    page = words(3, 0, 3, 4)
    assert relevance("hot air", "balloons").page(page, sqrt(5)) == pytest.approx(2 / sqrt(15))


def test_a_repeated_keyword_weighs_more():
    # Topic (balloon 2, race 1): page balloon: 2 / sqrt 5; page race: 1 / sqrt 5.
    topic = relevance("balloon race", "balloon")
    assert topic.page(words(3), 1.0) == pytest.approx(2 / sqrt(5))
    assert topic.page(words(4), 1.0) == pytest.approx(1 / sqrt(5))


def test_keywords_that_no_page_has_stay_in_the_length_of_the_topic():
    assert relevance("balloon zeppelin").page(words(3), 1.0) == pytest.approx(1 / sqrt(2))


def test_the_description_stands_in_for_the_keywords_only_when_asked_for():
    assert relevance("balloon", description="a race").page(words(4), 1.0) == 0
    by_description = relevance("balloon", description="a hot race", by_description=True)
    assert by_description.page(words(4), 1.0) == pytest.approx(1 / sqrt(2))
    assert by_description.page(words(3), 1.0) == 0


def test_a_page_without_words_is_not_relevant():
    assert relevance("balloon").page(words(0, 0), 0.0) == 0
    assert relevance("balloon").page(words(), 0.0) == 0


def test_contexts_are_scored_like_pages():
    # Windows of the page "hot balloon . balloon race": [hot balloon], [balloon . balloon], [race], [] and [.].
    page = words(1, 3, 0, 3, 4)
    first, last = words(0, 1, 4, 2, 2), words(2, 4, 5, 2, 3)
    scores = relevance("hot balloon").contexts(page, first, last)
    assert scores == pytest.approx([1.0, 2 / (sqrt(2) * 2), 0.0, 0.0, 0.0])


def test_a_page_without_links_has_no_contexts():
    assert len(relevance("balloon").contexts(words(1, 2), words(), words())) == 0


def test_a_topic_of_stop_words_is_refused():
    with pytest.raises(InvalidTopic, match=r"'t': .*keywords"):
        relevance("the", "of")
    with pytest.raises(InvalidTopic, match=r"'t': .*description"):
        relevance("balloon", by_description=True)


class AllWords(Words):
    """The same vocabulary, known in full: 5 to 9 are the words that come later."""

    n_words = 10


def test_words_that_came_later_weigh_nothing_but_lengthen_windows():
    # Topic (hot 1, balloon 1). The window "hot 7 7" has length sqrt(1 + 4); 7 came after the model was made.
    page = words(1, 7, 7)
    later = relevance("hot balloon")
    assert later.page(page, sqrt(5)) == pytest.approx(1 / (sqrt(2) * sqrt(5)))
    assert later.contexts(page, words(0, 1), words(3, 3)) == pytest.approx([1 / (sqrt(2) * sqrt(5)), 0.0])


@given(
    st.lists(st.integers(0, 9), max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6),
)
def test_scores_are_those_of_a_vocabulary_known_in_full(ids, edges):
    page = words(*ids)
    bounds = [sorted((min(a, len(page)), min(b, len(page)))) for a, b in edges]
    first, last = words(*(a for a, _ in bounds)), words(*(b for _, b in bounds))
    topic = Topic("t", ("hot air balloon", "balloon race"))
    early, late = (Cosine().for_topic(topic, index) for index in (Words(), AllWords()))
    norm = sqrt(sum(ids.count(word) ** 2 for word in set(ids) - {0}))
    assert early.page(page, norm) == late.page(page, norm)
    assert early.contexts(page, first, last).tolist() == late.contexts(page, first, last).tolist()


def test_links_within_links_around_a_long_page_cost_bounded_memory():
    # 250 anchors, each of all 300,000 words: 75 million words in windows, of which a million are counted.
    page = np.full(300_000, 3, dtype=np.int32)
    first, last = np.arange(250, dtype=np.int32), np.full(250, len(page), dtype=np.int32)
    tracemalloc.start()
    scores = relevance("balloon").contexts(page, first, last)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert scores == pytest.approx(np.ones(250))
    assert peak_bytes < 100_000_000


def test_windows_of_ordinary_pages_are_left_whole_however_long_the_page():
    page = words(*range(1, 10)).repeat(40_000)
    first = np.arange(0, 300_000, 100, dtype=np.int32)
    last = first + 20
    # The anchor of the first link is the page itself, and still there are fewer words than the bound.
    last[0] = len(page)
    assert bounded_ends(page, first, last) is last
    last[1:] += 1000
    assert bounded_ends(page, first, last).tolist() == (first + MAX_WINDOW_WORDS // 3000).tolist()
