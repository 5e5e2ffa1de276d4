"""The topics of a topical web as a topic file has them: ids, keywords, descriptions, examples."""

import numpy as np

from scenthound.model import LongArray, Topic
from scenthound.testing.topical.addresses import page_url
from scenthound.testing.topical.pages import Pages
from scenthound.testing.topical.settings import TopicalWeb
from scenthound.testing.topical.streams import Part, generator
from scenthound.testing.topical.vocabulary import Vocabulary

N_KEYWORDS = 5
N_DESCRIBING = 30
#: Enough for the large seed set of johnson2003, and for targets beside it.
MOST_EXAMPLES = 500


def topic_id(topic: int) -> str:
    """What the pages of a topic are labelled with."""
    return f"topic{topic}"


def topics_of(web: TopicalWeb, pages: Pages, vocabulary: Vocabulary) -> list[Topic]:
    """The topics that are the first of some page, by number. Examples are drawn from these pages."""
    rng = generator(web.seed, Part.EXAMPLES)
    order = np.argsort(pages.topic, kind="stable")
    own = np.split(order, np.searchsorted(pages.topic[order], np.arange(1, web.topics + 1)))
    return [_topic(topic, own[topic], pages, vocabulary, rng) for topic in range(web.topics) if len(own[topic])]


def _topic(topic: int, own: LongArray, pages: Pages, vocabulary: Vocabulary, rng: np.random.Generator) -> Topic:
    examples = np.sort(rng.choice(own, min(MOST_EXAMPLES, len(own)), replace=False)).tolist()
    return Topic(
        id=topic_id(topic),
        keywords=tuple(vocabulary.frequent(topic, N_KEYWORDS)),
        path=f"Top/{vocabulary.frequent(topic, 1)[0]}",
        description=" ".join(vocabulary.frequent(topic, N_DESCRIBING)),
        examples=tuple(page_url(int(pages.host[page]), page) for page in examples),
    )
