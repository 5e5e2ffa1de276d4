"""Before the first crawl: every start is drawn, and whatever is wrong with a topic is said."""

from dataclasses import replace
from random import Random

from scenthound.drivers.telling import TopicWords
from scenthound.errors import BadTopic
from scenthound.lab.experiment import Experiment, guides_for
from scenthound.lab.starts import Start, Starts
from scenthound.lab.training import NegativePool, check_training
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES


def plan(experiment: Experiment, web: RecordedWeb) -> list[tuple[Topic, Start]]:
    """The start of every topic and seed. Every topic is checked: it can be started for, scored and learnt, and has the
    words that strategies go by."""
    guides = guides_for(experiment, web)
    starts = Starts(
        web,
        experiment.task,
        experiment.n_start,
        n_train=experiment.n_train,
        n_judge=experiment.n_judge,
        as_published=experiment.as_published,
        # Examples are set aside for whoever compares, but what nothing learns from is not told as learnt.
        trains=experiment.train_from is None and (guides.learn_from_starts() or not experiment.as_published),
    )
    for topic in experiment.topics:
        _check_start(starts, topic)
        guides.check(topic)
        _check_words(experiment, topic, web)
    planned = [(topic, starts.draw(topic, seed)) for topic in experiment.topics for seed in range(experiment.n_seeds)]
    if guides.learn_from_starts() or experiment.n_judge:
        pool = NegativePool(page for topic in experiment.all_topics() for page in starts.example_pages(topic))
        negatives = _Negatives(pool, starts, web, guides_learn=guides.learn_from_starts())
        planned = [(topic, negatives.added_to(start, topic)) for topic, start in planned]
    guides.check_learning(*planned[0])
    return planned


class _Negatives:
    """Pages of other topics for guides and judges to learn from. Judges have others than the guide, unless they learn
    what it learns."""

    def __init__(self, pool: NegativePool, starts: Starts, web: RecordedWeb, *, guides_learn: bool) -> None:
        self._pool = pool
        self._starts = starts
        self._web = web
        self._guides_learn = guides_learn

    def added_to(self, start: Start, topic: Topic) -> Start:
        barred = self._starts.own_pages(topic).union(start.seeds, start.targets, start.training, start.judging)
        guiding: tuple[int, ...] = ()
        if self._guides_learn:
            guiding = self._drawn("training", start, len(start.training), barred)
            check_training(self._web, start.topic, start.training, guiding)
        judging = guiding
        if start.judging != start.training or not self._guides_learn:
            judging = self._drawn("judging", start, len(start.judging), barred.union(guiding))
        return replace(start, negatives=guiding, judging_negatives=judging if start.judging else ())

    def _drawn(self, what_for: str, start: Start, n_positives: int, barred: set[int]) -> tuple[int, ...]:
        return self._pool.draw(n_positives, barred, Random(f"{what_for}/{start.seed}/{start.topic}"))


def _check_start(starts: Starts, topic: Topic) -> None:
    try:
        starts.draw(topic, 0)
    except BadTopic as reason:
        raise BadTopic(f"{reason} Or leave out the topics that no crawl can start for, with --skip-missing.") from None


def _check_words(experiment: Experiment, topic: Topic, web: RecordedWeb) -> None:
    words = TopicWords.of(topic, web)
    for strategy in experiment.strategies:
        goes_by = STRATEGIES.make(strategy).goes_by
        if goes_by is not None and not len(getattr(words, goes_by)):
            raise BadTopic(
                f"Topic {topic.id!r}: {strategy} goes by the words of its {goes_by}, and none of them is in the web; "
                "say there what the topic is about, or choose another strategy."
            )
