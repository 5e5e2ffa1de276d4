"""The scores of recorded pages and links: what is cut, kept, charged and refused."""

import numpy as np
import pytest

from scenthound.errors import PluginError
from scenthound.model import Topic
from scenthound.relevance.base import Training
from scenthound.relevance.cosine import Cosine
from scenthound.simulator.scores import PageScores, scores_for
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of

TOPIC = Topic("t", ("balloon",))


def recorded(**pages):
    return web_of(RawPage(f"http://w.test/{name}", html=html) for name, html in pages.items())


WEB = recorded(
    empty="<p>balloon",
    # Words: balloon . race race race train, the links being "race" (2:3) and "race train" (4:6).
    links="<p>balloon the <a href=a rel=nofollow>race</a> race <a href=b>race train</a>",
)


class Counted:
    """A model that scores by length and keeps what it was handed."""

    def __init__(self):
        self.requests = []

    def for_topic(self, topic, index):
        return self

    def page(self, words, norm):
        self.requests.append(("page", words))
        return len(words) / 10

    def contexts(self, words, first, last):
        self.requests.append((first.tolist(), last.tolist()))
        # No array is a view of more than itself, such as the recorded web.
        arrays = (words, first, last)
        assert all(array.base is None or memoryview(array.base).nbytes == array.nbytes for array in arrays)
        return (last - first) / 10


def test_contexts_are_cut_to_the_window_and_anchors_are_the_words_of_the_link():
    model = Counted()
    scores = scores_for(TOPIC, model, WEB)
    # Four words around 2:3: two before, one after; around 4:6: one before, and one after that the page has not.
    assert scores.contexts(1, 4).tolist() == [0.4, 0.3]
    assert scores.anchors(1).tolist() == [0.1, 0.2]
    assert scores.contexts(1, 20).tolist() == [0.6, 0.6]
    assert model.requests == [([0, 3], [4, 6]), ([2, 4], [3, 6]), ([0, 0], [6, 6])]


def test_a_page_without_links_has_no_link_scores():
    scores = scores_for(TOPIC, Counted(), WEB)
    assert len(scores.contexts(0, 20)) == len(scores.anchors(0)) == 0


def test_contexts_of_the_cosine_are_those_of_the_window_alone():
    scores = PageScores(WEB, Cosine().for_topic(TOPIC, WEB))
    # Window "balloon . race race": 1 / sqrt(1 + 4). The anchors have no balloon.
    assert scores.contexts(1, 4) == pytest.approx([1 / 5**0.5, 0.0])
    assert scores.anchors(1).tolist() == [0.0, 0.0]


def test_scores_are_computed_once_and_charged_every_time(monkeypatch):
    # The first is that of the start.
    clock = iter([0, 0, 7, 100, 150, 1000, 1300])
    monkeypatch.setattr("scenthound.simulator.scores.perf_counter_ns", lambda: next(clock))
    scores = scores_for(TOPIC, Counted(), WEB)
    for _ in range(2):
        assert (scores.page(1), scores.contexts(1, 20).tolist(), scores.anchors(1).tolist()) == (
            0.6,
            [0.6, 0.6],
            [0.1, 0.2],
        )
        assert scores.cost_ns(1, page=True, window=None, anchors=False) == 7
        assert scores.cost_ns(1, page=False, window=20, anchors=False) == 50
        assert scores.cost_ns(1, page=True, window=20, anchors=True) == 357


def test_a_crawl_cannot_change_the_scores_of_others():
    scores = scores_for(TOPIC, Counted(), WEB)
    for kept in (scores.contexts(1, 20), scores.anchors(1)):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 1.0


@pytest.mark.parametrize("score", [np.nan, 1.5, -0.1])
def test_a_link_score_beyond_its_range_is_refused(score):
    class Wild(Counted):
        def contexts(self, words, first, last):
            return np.array([0.5, score])

    for ask in (lambda scores: scores.contexts(1, 20), lambda scores: scores.anchors(1)):
        with pytest.raises(PluginError, match=rf" {score}; .*\b0 and 1\b"):
            ask(scores_for(TOPIC, Wild(), WEB))


def test_a_model_that_gives_too_few_scores_is_refused():
    class Short(Counted):
        def contexts(self, words, first, last):
            return np.zeros(1)

    with pytest.raises(PluginError, match=r"\(1,\) .*\b2 links\b"):
        scores_for(TOPIC, Short(), WEB).contexts(1, 20)


def test_training_is_handed_on_and_only_where_it_is_given():
    class Learns(Counted):
        def for_topic(self, topic, index, *training):
            self.training = training
            return self

    model, training = Learns(), Training((), ())
    scores_for(TOPIC, model, WEB)
    assert model.training == ()
    scores_for(TOPIC, model, WEB, training)
    assert model.training == (training,)
