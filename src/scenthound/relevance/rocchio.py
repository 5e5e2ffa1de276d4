"""The default relevance model: it learns a topic from keywords, a description and a few start pages.

It is Rocchio's method (Rocchio, "Relevance feedback in information retrieval", 1971) with four additions: document
frequencies that ship with the package, negatives that the crawl meets on its way, keywords of several words that count
as phrases, and probabilities.

- A word of a page has the weight `log(1 + tf) * sqrt(idf)`; pages are vectors of length 1. `idf` comes from the
  document frequencies of the package (`document_frequencies`), or from the crawl's own pages if most of their words are
  unknown there, as in other languages. Keywords count as rare there, because most pages of a focused crawl have them.
- The topic is `0.5 unit(P - 0.7 N) + K`. P is the mean of the start pages, N the mean of other pages of the crawl, each
  weighted by the probability that it is off topic, and K are the keywords and the description.
- A keyword of several words is a phrase: it counts where all its words are within `PHRASE_WORDS` of each other. Its
  single words count half. In scripts without spaces these are bigrams, so that a keyword counts where it is written.
- The score of a page is its cosine to the topic, in standard deviations above the mean of the off-topic pages.
  A logistic function makes it a probability: pages of 0.5 and more count as on topic. Mean and deviation come from the
  crawl, within limits: most of its pages may be on topic.

The model learns from each start page before it is scored, and from the other pages of the crawl after 10, 20, 40, ...
640 of them, in other languages after 5, too. Whoever replays the pages of a crawl in order gets the same scores.

With `semantic`, words that are similar in meaning to the topic (`static_vectors`) count too, in link contexts, and on
pages if there is no start page to learn from.

The constants were chosen on the collection wpschools (the weight of start pages also on the web of `scenthound demo`,
those of similar words also on mdn); `benchmarks.relevance` measures them on others.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from scenthound.model import FloatArray, IntArray, Topic
from scenthound.relevance.base import Training, WordIndex, no_words
from scenthound.relevance.document_frequencies import CrawlWeights, RankedWeights, WordWeights
from scenthound.relevance.static_vectors import WordSimilarity
from scenthound.relevance.word_vectors import (
    NO_PHRASES,
    FoundPhrases,
    JoinedVectors,
    PageVector,
    Phrase,
    vector_length,
    vector_product,
    window_cosines,
)
from scenthound.saved_state import State, restore_attributes, saved_attributes
from scenthound.text.scripts import is_unspaced
from scenthound.text.tokenizer import stems_of

#: The weight of the single words of a phrase, and that of the phrase relative to theirs together.
PART_WEIGHT = 0.5
PHRASE_WEIGHT = 0.69
#: How much a bigram of unspaced letters counts in the weight of a phrase: each letter is in two of them.
BIGRAM_SHARE = 0.5
#: The weight of the start pages, if that of keywords and description is 1.
START_WEIGHT = 0.5
#: How much of the mean of the crawl's other pages is subtracted from that of the start pages.
NEGATIVE_WEIGHT = 0.7
#: The pages of a crawl after which the model is fitted again; later pages change nothing.
FIRST_FIT = 10
#: In other languages, words are weighted for the first time after this many: until then, all words count the same.
FIRST_WEIGHTING = 5
#: If fewer of the words on the first pages are known to the package, they are in another language.
MIN_SHARE_KNOWN = 0.5
MAX_LEARNED_PAGES = 640
#: Mean and standard deviation of the scores of off-topic pages before the crawl has met any, without and with start
#: pages, and how many pages this assumption counts for.
ASSUMED_SCORES = (0.01, 0.02), (0.03, 0.03)
ASSUMED_PAGES = 30.0
MAX_MEASURED_PAGES = 100
#: The quantile of the scores of a crawl's pages that is taken as the mean of off-topic pages, the number of their
#: standard deviations between it and the median, and the least share of the assumed standard deviation: on a web where
#: off-topic pages have nothing in common with the topic, a single word must not make a page relevant.
LOW_QUANTILE = 0.15
LOW_DEVIATIONS = 1.5
MIN_SHARE_OF_DEVIATION = 0.5
#: Pages that are at least this similar to the topic are on topic, whatever the other pages of the crawl are like: if
#: most of them are on topic, the low quantile is not that of off-topic pages. The more text describes a topic, the more
#: similar are all pages: keywords only; with a description or start pages, or a description alone; start pages alone or
#: with a description. And the factor for several start pages.
SIMILAR_ENOUGH = (0.06, 0.12, 0.19)
SEVERAL_STARTS = 1.2
#: The largest mean of off-topic pages, as a share of that.
MAX_SHARE_OF_MEAN = 0.4
#: Pages of at least this probability count as on topic.
ON_TOPIC = 0.5
#: A page with a score of this many standard deviations is on topic with probability 0.5; the width of the transition.
ON_TOPIC_DEVIATIONS = 4.0
TRANSITION = 0.8
#: Scores are clipped to this many standard deviations.
MAX_DEVIATIONS = 20.0
#: The score of a link context that predicts a page on topic with probability 0.5; the width of the transition.
ON_TOPIC_CONTEXT = 0.17
CONTEXT_TRANSITION = 0.05
#: The weight of words of similar meaning in link contexts, relative to the query, and on pages; the mean of off-topic
#: pages, which is subtracted.
SEMANTIC_WEIGHT = 0.5
SEMANTIC_PAGE_WEIGHT = 0.05
SEMANTIC_MEAN = 0.1
#: Words of start pages with at least this share of the largest weight in the query are compared with others.
TELLING = 0.1


class Rocchio:
    """`background` is a file of document frequencies to use instead of the one that ships with the package. `semantic`
    also counts words of similar meaning, in link contexts, and on pages if there is no start page to learn from."""

    summary = "probability by similarity to keywords, description and start pages"
    accepts_training = True
    on_topic_from = ON_TOPIC

    def __init__(self, background: str | None = None, semantic: bool = False) -> None:
        self.background = background
        self.semantic = semantic

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "RocchioRelevance":
        stems = [stems_of(keyword) for keyword in topic.keywords]
        description = stems_of(topic.description)
        if not description and not any(stems) and (topic.keywords or topic.description):
            what = " and ".join(name for name in ("keywords", "description") if getattr(topic, name))
            raise no_words(topic, what, ", or start from pages about it without keywords")
        weights = WordWeights(index, self.background)
        similarity = WordSimilarity(index) if self.semantic else None
        relevance = RocchioRelevance(TopicWords.of(stems, description, index, weights), weights, similarity)
        for page in training.positives if training else ():
            relevance.learn(page, is_start=True)
        for page in training.negatives if training else ():
            relevance.learn(page, is_start=False)
        return relevance


@dataclass(frozen=True, slots=True)
class TopicWords:
    """Keywords and description: a vector of length 1 over words and phrases. `rest` are the squares of what is not in
    `words`: phrases, and words that are on no page of a recorded web, which have a number in a live crawl."""

    words: IntArray
    values: FloatArray
    stems: Mapping[str, float]  #: the same for all words, also those that are on no page
    keywords: IntArray  #: those of the words that are keywords or parts of them
    telling: IntArray  #: of each keyword the rarest word; without keywords, all words
    phrases: tuple[Phrase, ...]
    rest: tuple[float, ...]
    has_keywords: bool
    has_description: bool

    @classmethod
    def of(
        cls, keywords: Sequence[Sequence[str]], description: Sequence[str], index: WordIndex, weights: WordWeights
    ) -> Self:
        value: dict[str, float] = {}
        phrases: dict[tuple[str, ...], float] = {}
        telling: list[str] = []
        for keyword in keywords:
            distinct = tuple(dict.fromkeys(keyword))
            root_idf = [weights.root_idf_of(stem) for stem in distinct]
            telling += [stem for stem, weight in zip(distinct, root_idf, strict=True) if weight == max(root_idf)]
            part = 1.0 if len(distinct) == 1 else PART_WEIGHT
            for stem, weight in zip(distinct, root_idf, strict=True):
                value[stem] = max(value.get(stem, 0.0), part * weight)
            if len(distinct) > 1:
                phrases[distinct] = PHRASE_WEIGHT * math.fsum(
                    weight * weight * (BIGRAM_SHARE if is_unspaced(stem) else 1.0)
                    for stem, weight in zip(distinct, root_idf, strict=True)
                )
        keyword_stems = list(value)
        described = {stem: math.log1p(n) * weights.root_idf_of(stem) for stem, n in Counter(description).items()}
        # Keywords and description count the same.
        scale = (_length((*value.values(), *phrases.values())) or 1.0) / (_length(described.values()) or 1.0)
        for stem, weight in described.items():
            value[stem] = value.get(stem, 0.0) + scale * weight
        norm = _length((*value.values(), *phrases.values())) or 1.0
        known = {stem: int(ids[0]) for stem in value if len(ids := index.find_words([stem]))}
        found = [each for each in phrases if all(stem in known for stem in each)]
        return cls(
            np.array(list(known.values()), np.int32),
            np.array([value[stem] / norm for stem in known]),
            {stem: weight / norm for stem, weight in value.items()},
            np.array([known[stem] for stem in keyword_stems if stem in known], np.int32),
            np.array([known[stem] for stem in (telling or value) if stem in known], np.int32),
            tuple(Phrase(np.array([known[stem] for stem in each], np.int32), phrases[each] / norm) for each in found),
            tuple((weight / norm) * (weight / norm) for stem, weight in (value | phrases).items() if stem not in known),
            bool(keyword_stems),
            bool(described),
        )

    def similar_enough(self, n_starts: int) -> float:
        """The similarity from which on pages are on topic, whatever other pages are like."""
        n_texts = self.has_description + bool(n_starts) + (n_starts > 0 and not self.has_keywords)
        return SIMILAR_ENOUGH[min(n_texts, 2)] * (SEVERAL_STARTS if n_starts > 1 else 1.0)


def _length(values: Iterable[float]) -> float:
    return math.sqrt(math.fsum(value * value for value in values))


class RocchioRelevance:
    """The topic as learned so far. `for_crawl` gives each crawl its own."""

    max_learned_pages = MAX_LEARNED_PAGES
    uses_norm = False
    _SAVED = "_phrases", "_off_topic", "_query", "_query_norm", "_mean", "_deviation"

    def __init__(self, topic: TopicWords, weights: WordWeights, similarity: WordSimilarity | None = None) -> None:
        self._topic = topic
        self._known_weights = weights
        self._word_similarity = similarity
        self._weights: RankedWeights = weights
        self._starts: list[PageVector] = []
        self._others: list[PageVector] = []
        #: The others, as many as there were at each fit, and how many of their words are unknown to the package.
        self._joined: list[JoinedVectors] = []
        self._n_unknown = 0
        self._phrases: list[float] = []  #: of each of the others, the weights of its phrases
        self._off_topic: list[float] = []  #: the probability that each of the others is off topic
        self._last_found: tuple[IntArray, FoundPhrases] | None = None
        #: Until the next fit: a page is scored first, and learned then.
        self._last_score: tuple[IntArray, float] | None = None
        #: The query that the similarity of words was computed for.
        self._turned_to: FloatArray | None = None
        self._fit()

    def for_crawl(self) -> "RocchioRelevance":
        """The same model, to learn from the pages of one crawl."""
        made = RocchioRelevance.__new__(RocchioRelevance)
        made.__dict__.update(self.__dict__)
        made._starts, made._others = [*self._starts], [*self._others]
        made._phrases, made._off_topic, made._joined = [*self._phrases], [*self._off_topic], [*self._joined]
        made._word_similarity = self._word_similarity and self._word_similarity.copy()
        made._turned_to = made._last_score = None
        return made

    def state(self) -> State:
        """What was learned, for `restore`."""
        return {
            **saved_attributes(self, self._SAVED),
            "starts": _saved_vectors(self._starts),
            "others": _saved_vectors(self._others),
            "crawl_weights": self._weights.state() if isinstance(self._weights, CrawlWeights) else None,
        }

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        restore_attributes(self, self._SAVED, state)
        if state["crawl_weights"] is not None:
            self._weights = CrawlWeights(state["crawl_weights"])
        self._joined, self._n_unknown = [], 0
        self._starts = _restored_vectors(state["starts"], self._weights)
        self._others = _restored_vectors(state["others"], self._weights)

    def read(self, words: IntArray) -> None:
        """Weigh the words of a page."""
        self._vector(words)

    def learn(self, words: IntArray, *, is_start: bool) -> None:
        """Learn from a page of the crawl. A start page counts as one if it has the rarest word of a keyword."""
        topic = self._topic
        is_described = topic.has_keywords or topic.has_description
        if is_start and (not is_described or np.isin(words, topic.telling).any()):
            self._starts.append(self._vector(words))
            self._fit()
        elif len(self._others) < MAX_LEARNED_PAGES:
            probability = self.page(words, 0.0)
            self._others.append(self._vector(words))
            self._phrases.append(self._found_phrases(words).page_weight)
            self._off_topic.append(1.0 - probability)
            n_fits, remainder = divmod(len(self._others), FIRST_FIT)
            is_first, is_doubled = len(self._others) == FIRST_WEIGHTING, not remainder and n_fits.bit_count() == 1
            if (is_first or is_doubled) and (self._weigh_words() or not is_first):
                self._fit()

    def page(self, words: IntArray, norm: float) -> float:
        if self._last_score is not None and self._last_score[0] is words:
            return self._last_score[1]
        phrases = self._found_phrases(words).page_weight
        score = self._probability(self._similarity(self._vector(words), phrases))
        self._last_score = words, score
        return score

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        phrases = self._found_phrases(words)
        similarity = window_cosines(words, self._weights, (self._query, self._query_norm), phrases, (first, last))
        if self._is_semantic:
            query = self._similarity_of_words(), 1.0
            similarity = similarity + SEMANTIC_WEIGHT * window_cosines(
                words, self._weights, query, NO_PHRASES, (first, last)
            )
        return 1.0 / (1.0 + np.exp((ON_TOPIC_CONTEXT - similarity) / CONTEXT_TRANSITION))

    def _vector(self, words: IntArray) -> PageVector:
        return self._weights.cached(words, PageVector.of)

    def _found_phrases(self, words: IntArray) -> FoundPhrases:
        """Those of the last page are kept: its links are scored next."""
        if self._last_found is None or self._last_found[0] is not words:
            self._last_found = words, FoundPhrases.on(words, self._topic.phrases)
        return self._last_found[1]

    def _similarity(self, page: PageVector, phrases: float) -> float:
        """The cosine of page and topic; `phrases` is the weight of its phrases."""
        product = vector_product(page, self._query)
        similarity = (product + phrases / page.norm) / self._query_norm
        if self._is_semantic and not self._starts:
            similarity += SEMANTIC_PAGE_WEIGHT * (vector_product(page, self._similarity_of_words()) - SEMANTIC_MEAN)
        return similarity

    @property
    def _is_semantic(self) -> bool:
        """In other languages, words are not compared by meaning."""
        return self._word_similarity is not None and self._weights is self._known_weights

    def _similarity_of_words(self) -> FloatArray:
        """How similar in meaning each word is to the words that have the largest weights in the query."""
        assert self._word_similarity is not None
        if self._turned_to is not self._query:
            topic = self._topic
            learned = self._query.copy()
            learned[topic.words] -= topic.values
            # A keyword that is on no page has no number in a recorded web, so its weight is looked up by stem.
            highest = max(float(self._query.max(initial=0.0)), max(topic.stems.values(), default=0.0))
            telling = np.flatnonzero((self._query >= TELLING * highest) & (learned != 0))
            self._word_similarity.turn_to(topic.stems, telling.astype(np.int32), learned[telling])
            self._turned_to = self._query
        return self._word_similarity.of_all_words()

    def _probability(self, similarity: float) -> float:
        deviations = min((similarity - self._mean) / self._deviation, MAX_DEVIATIONS)
        return 1.0 / (1.0 + math.exp((ON_TOPIC_DEVIATIONS - deviations) / TRANSITION))

    def _weigh_words(self) -> bool:
        """Use the frequencies of the crawl's own pages, and return True, if most of their words are unknown to the
        package."""
        self._join_others()
        starts = np.concatenate([np.zeros(0, np.int32), *(page.words for page in self._starts)])
        n_words = len(starts) + sum(len(each.words) for each in self._joined)
        n_unknown = self._known_weights.n_unknown(starts) + self._n_unknown
        if not n_words or 1.0 - n_unknown / n_words >= MIN_SHARE_KNOWN:
            return False
        pages = [page.words for page in (*self._starts, *self._others)]
        self._weights = CrawlWeights.counted(pages, self._known_weights.n_words, rare=self._topic.keywords)
        self._starts = [page.reweighted(self._weights) for page in self._starts]
        self._others = [page.reweighted(self._weights) for page in self._others]
        self._joined, self._n_unknown = [], 0
        return True

    def _join_others(self) -> None:
        """Join those that were learned since the last fit."""
        n_joined = sum(len(each.ends) for each in self._joined)
        if n_joined < len(self._others):
            self._joined.append(JoinedVectors.of(self._others[n_joined:]))
            self._n_unknown += self._known_weights.n_unknown(self._joined[-1].words)

    def _fit(self) -> None:
        query = np.zeros(self._known_weights.n_words + 1)  # with a last element for words that are found later
        self._join_others()
        if self._starts:
            for start in self._starts:
                query[start.words] += start.values / len(self._starts)
            weight = NEGATIVE_WEIGHT / (sum(self._off_topic) + FIRST_FIT)
            factors = weight * np.array(self._off_topic, np.float64)
            for joined in self._joined:
                joined.subtract_from(query, factors[: len(joined.ends)])
                factors = factors[len(joined.ends) :]
            query *= START_WEIGHT / vector_length(query)
        query[self._topic.words] += self._topic.values
        self._query = query
        self._query_norm = vector_length(query, np.array(self._topic.rest, np.float64))
        self._measure_off_topic_pages()
        self._last_score = None

    def _measure_off_topic_pages(self) -> None:
        """Mean and standard deviation of the similarities of off-topic pages. Pages of a focused crawl are more similar
        to the topic than other pages, so both come from the lower half of them."""
        mean, deviation = ASSUMED_SCORES[bool(self._starts)]
        least = MIN_SHARE_OF_DEVIATION * deviation
        n_pages = min(len(self._others), MAX_MEASURED_PAGES)
        similar = self._similarities_of_others() if n_pages >= FIRST_FIT else np.zeros(0)
        if len(similar):
            low, middle = np.quantile(similar, LOW_QUANTILE), np.median(similar)
            mean += (low - mean) * n_pages / (n_pages + ASSUMED_PAGES)
            deviation += ((middle - low) / LOW_DEVIATIONS - deviation) * n_pages / (n_pages + ASSUMED_PAGES)
        self._mean, self._deviation = float(mean), max(float(deviation), least)
        enough = self._topic.similar_enough(len(self._starts))
        # With frequencies of the crawl itself, similarities have another scale.
        is_known_scale = self._weights is self._known_weights
        if is_known_scale and self._mean + ON_TOPIC_DEVIATIONS * self._deviation > enough:
            self._mean = min(self._mean, MAX_SHARE_OF_MEAN * enough)
            self._deviation = (enough - self._mean) / ON_TOPIC_DEVIATIONS
        if len(similar):
            self._off_topic = [1.0 - self._probability(each) for each in similar.tolist()]

    def _similarities_of_others(self) -> FloatArray:
        norms = np.array([page.norm for page in self._others])
        similar: FloatArray = (self._products(self._query) + np.array(self._phrases) / norms) / self._query_norm
        if self._is_semantic and not self._starts:
            similar += SEMANTIC_PAGE_WEIGHT * (self._products(self._similarity_of_words()) - SEMANTIC_MEAN)
        return similar

    def _products(self, query: FloatArray) -> FloatArray:
        """The product of each of the others and a query."""
        return np.concatenate([each.products(query) for each in self._joined])


def _saved_vectors(pages: Sequence[PageVector]) -> State:
    """The words of all pages, their log counts, and the number of words of each."""
    return {
        "words": np.concatenate([np.zeros(0, np.int32), *(page.words for page in pages)]),
        "log_counts": np.concatenate([np.zeros(0), *(page.log_counts for page in pages)]),
        "lengths": [len(page.words) for page in pages],
    }


def _restored_vectors(state: State, weights: RankedWeights) -> list[PageVector]:
    ends = np.cumsum(np.array(state["lengths"], np.int64))[:-1]
    parts = (np.split(state["words"], ends), np.split(state["log_counts"], ends)) if state["lengths"] else ((), ())
    return [PageVector.weighted(words, counts, weights) for words, counts in zip(*parts, strict=True)]
