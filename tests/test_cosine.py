from math import sqrt

import numpy as np
import pytest

from scenthound.errors import BadTopic
from scenthound.model import Topic
from scenthound.relevance.cosine import Cosine


class Words:
    """A vocabulary for tests: the stems of "hot air balloon race" are 1, 2, 3, 4."""

    ids = {"hot": 1, "air": 2, "balloon": 3, "race": 4}  # noqa: RUF012
    n_words = 5

    def find_words(self, stems):
        return np.array([self.ids[stem] for stem in stems if stem in self.ids], dtype=np.int32)


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
    with pytest.raises(BadTopic, match=r"'t': its keywords have no word but stop words and single letters"):
        relevance("the", "of")
    with pytest.raises(BadTopic, match=r"'t': its description has no word but stop words"):
        relevance("balloon", by_description=True)
