"""The relevance models of an experiment: which of them scores for which strategy, and the scores of the start at hand.

Rules: strategies with the same guide share its scores. What a model makes of a topic, and of pages that are given for
all starts, is kept while the topic stays; what it learns from a start's training pages is made anew for each start.
"""

from collections.abc import Mapping

from scenthound.drivers.scores import PageScores, scores_for
from scenthound.errors import BrokenContract
from scenthound.lab.starts import Start
from scenthound.lab.training import training_of
from scenthound.model import Topic
from scenthound.relevance.base import RELEVANCE, Training, trains
from scenthound.store.recorded_web import RecordedWeb


class Guides:
    """`guide_of` names the model of each strategy; `given` is what all of them learn from instead of their starts."""

    def __init__(self, web: RecordedWeb, guide_of: Mapping[str, str], given: Training | None = None) -> None:
        self._web = web
        self.guide_of = guide_of
        self._given = given
        self._models = {name: RELEVANCE.make(name) for name in dict.fromkeys(guide_of.values())}
        self._trained = [name for name, model in self._models.items() if trains(model)]
        self._topic: Topic | None = None
        self._start: Start | None = None
        self._scores: dict[str, PageScores] = {}

    def learn_from_starts(self) -> bool:
        """Whether starts need training pages."""
        return bool(self._trained) and self._given is None

    def check(self, topic: Topic) -> None:
        """Refuse a topic that a model that does not train cannot score for."""
        for name in self._models:
            if name not in self._trained:
                self._made(name, topic, None)

    def check_learning(self, topic: Topic, start: Start) -> None:
        """Let every model that trains do so once, so that one that cannot learn at all is refused."""
        for name in self._trained:
            self._made(name, topic, start)

    def scores(self, strategy: str, topic: Topic, start: Start) -> PageScores:
        self._turn_to(topic, start)
        name = self.guide_of[strategy]
        if name not in self._scores:
            self._scores[name] = self._made(name, topic, start)
        return self._scores[name]

    def _turn_to(self, topic: Topic, start: Start) -> None:
        if topic != self._topic:
            self._scores.clear()
        elif start != self._start and self._given is None:
            for name in self._trained:
                self._scores.pop(name, None)
        self._topic, self._start = topic, start

    def _made(self, name: str, topic: Topic, start: Start | None) -> PageScores:
        with BrokenContract.told_as(f"Relevance model {name} failed on topic {topic.id!r}"):
            return scores_for(topic, self._models[name], self._web, self._training(name, start))

    def _training(self, name: str, start: Start | None) -> Training | None:
        if start is None or name not in self._trained:
            return None
        return self._given or training_of(self._web, start.training, start.negatives)
