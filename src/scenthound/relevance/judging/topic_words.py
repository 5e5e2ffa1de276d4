"""The few words that the linear judges go by, and what they weigh.

Rules
- They are the words of the highest correlation coefficient (Ng, Goh and Low 1997), the lower word number winning a tie.
  Words of the topic only: a coefficient of 0 or less chooses nothing, even if there are fewer words than wanted.
- A word weighs `f * ln(|E| / n)`, f being its count in the page and n the number of labelled pages E that have it. With
  `length=page` the page is brought to length 1 before its topic words are taken out, so a long page that mentions one
  in passing has little of it. menczer2001 is silent on weights; tf*idf with lengths of 1 is our reading.
- Words that no labelled page has weigh nothing, in the length of a page too.
"""

from typing import Literal

import numpy as np

from scenthound.model import FloatArray, IntArray
from scenthound.relevance.features import Features, Presence
from scenthound.relevance.judging.base import Labelled
from scenthound.text.vectors import TermRows

Length = Literal["page", "none"]


def correlation(with_positive: IntArray, with_negative: IntArray, n_positives: int, n_negatives: int) -> FloatArray:
    """The correlation coefficient of each word with the class: the root of chi-square, with a sign.

    With A positives and B negatives that have the word, C and D that do not, and N = A + B + C + D pages,

        C = (A D - B C) sqrt(N) / sqrt((A + C) (B + D) (A + B) (C + D))

    and 0 for a word of every page or of none.
    """
    a, b = with_positive.astype(np.float64), with_negative.astype(np.float64)
    c, d = n_positives - a, n_negatives - b
    below = np.sqrt((a + c) * (b + d) * (a + b) * (c + d))
    above = (a * d - b * c) * np.sqrt(n_positives + n_negatives)
    result: FloatArray = np.divide(above, below, out=np.zeros(len(a)), where=below > 0)
    return result


class TopicWords:
    """Words chosen from labelled pages, numbered from 0 in the order of their strength."""

    def __init__(self, labelled: Labelled, most: int, length: Length) -> None:
        presence = Presence.counted_in(labelled.rows, labelled.is_positive, labelled.n_words)
        strengths = presence.strengths(correlation)
        best = np.argsort(-strengths, kind="stable")[:most]
        best = best[strengths[best] > 0]
        self.words = presence.words[best]
        self._features = Features(self.words, presence.idf()[best], labelled.n_words, normalize=False)
        #: By word; one more, which stands for all words that came later.
        self._idf = np.zeros(labelled.n_words + 1)
        self._idf[presence.words] = presence.idf()
        self._by_page = length == "page"

    def __len__(self) -> int:
        return len(self.words)

    def vectors(self, pages: TermRows) -> tuple[TermRows, FloatArray]:
        """Pages as rows of topic words, by their numbers, and the weight of each."""
        rows, weights = self._features.row_vectors(pages)
        if self._by_page:
            # Most pages have no topic word, and theirs is the zero vector however long they are.
            n_words = np.diff(rows.offset)
            on_topic = np.flatnonzero(n_words).astype(np.int32)
            weights = weights / np.repeat(self._lengths(pages.take(on_topic)), n_words[on_topic])
        return TermRows(rows.offset, rows.term - 1, rows.count), weights

    def _lengths(self, pages: TermRows) -> FloatArray:
        """More than 0, because no topic word is on every labelled page."""
        weights = pages.count * self._idf.take(pages.term, mode="clip")
        return np.sqrt(pages.row_sums(weights * weights))
