"""The pages that a guide classifier learns a topic from (wang2009, "Techniques for content analysis").

Rules
- Positives are the crawl's seeds, as far as they are examples of the topic: every crawler is given those, so that all
  know the same. More examples can be set aside; they are then neither seeds nor targets. Half of the targets stay.
- As published, positives are drawn from all pages of the topic, targets included. The default (SPEC section 3, R) is
  that targets never train: a crawl should not find what its guide has learnt by heart.
- At most 75 positives and, for each, two negatives, which are the study's numbers. Negatives are examples of other
  topics that are no page of this one; fewer, if there are fewer. Labels are for judges and are not looked at.
- Judges that train learn from pages set aside for them alone, so that no guide is judged by what it was taught. What
  can be spared is shared out so that guide, which has the seeds too, and judges learn from equally many.
- Pages come in page order, so that training does not depend on the order in which they were drawn or named.
"""

from collections.abc import Collection, Iterable
from random import Random

import numpy as np

from scenthound.errors import BadTopic
from scenthound.relevance.base import Training
from scenthound.store.recorded_web import RecordedWeb

WANG2009_POSITIVES = 75
WANG2009_NEGATIVES_PER_POSITIVE = 2


def seed_positives(examples: Collection[int], seeds: Collection[int], rng: Random) -> tuple[int, ...]:
    """The seeds that are examples, or as many of them as the study trains on."""
    known = sorted(set(examples) & set(seeds))
    return tuple(sorted(rng.sample(known, min(WANG2009_POSITIVES, len(known)))))


def set_aside(candidates: Collection[int], targets: Collection[int], n_pages: int, rng: Random) -> tuple[int, ...]:
    """So many of the candidates, or as many as can be spared: half of the targets, drawn by lot, stay."""
    kept = rng.sample(sorted(targets), (len(targets) + 1) // 2)
    spare = sorted(set(candidates).difference(kept))
    return tuple(sorted(rng.sample(spare, min(n_pages, len(spare)))))


def shared_out(
    spare: Collection[int], n_guide: int, n_judge: int, n_seeds: int, rng: Random
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The pages set aside for the guide, which has some seeds already, and those for the judges."""
    n_even = (len(spare) + n_seeds + 1) // 2
    least = len(spare) - n_guide
    n_judging = min(n_judge, len(spare), max(n_even, least))
    judging = set(rng.sample(sorted(spare), n_judging)) if n_judging else set()
    return tuple(sorted(set(spare) - judging)), tuple(sorted(judging))


def published_positives(pages: Collection[int], rng: Random) -> tuple[int, ...]:
    """Any pages of the topic, also those that crawls should find."""
    return tuple(sorted(rng.sample(sorted(set(pages)), min(WANG2009_POSITIVES, len(set(pages))))))


class NegativePool:
    """The example pages of all topics, to draw one topic's negatives from."""

    def __init__(self, example_pages: Iterable[int]) -> None:
        self._pages = sorted(set(example_pages))

    def draw(self, n_positives: int, barred: Collection[int], rng: Random) -> tuple[int, ...]:
        """Two for each positive, none of them barred."""
        wanted = WANG2009_NEGATIVES_PER_POSITIVE * n_positives
        # So many that enough are left when all that are barred turn out to be among them.
        drawn = rng.sample(self._pages, min(wanted + len(barred), len(self._pages)))
        return tuple(sorted([page for page in drawn if page not in barred][:wanted]))


def check_training(web: RecordedWeb, topic_id: str, positives: Collection[int], negatives: Collection[int]) -> None:
    """Refuse what no classifier can learn from."""
    if not _have_words(web, positives):
        raise BadTopic(
            f"Topic {topic_id!r} gives a classifier nothing to learn from: none of its start pages is an example with "
            "words, and no such example was set aside; set some aside with --train, or name pages with --train-from."
        )
    if not _have_words(web, negatives):
        raise BadTopic(
            f"Topic {topic_id!r} gives a classifier no page of other topics to learn from; add topics with other "
            "examples to its file, or name pages with --train-from."
        )


def _have_words(web: RecordedWeb, pages: Collection[int]) -> bool:
    return bool(np.any(web.page_norm[list(pages)] > 0))


def training_of(web: RecordedWeb, positives: Iterable[int], negatives: Iterable[int]) -> Training:
    """The words of recorded pages."""
    return Training(tuple(map(web.words_alone, positives)), tuple(map(web.words_alone, negatives)))
