"""One vocabulary out of several: each maker of batches numbers words on its own, the web has one numbering for all.

A maker sends each stem once, with the first batch made after it met the word; later batches name the word by the
maker's number alone. So batches of one maker must come in the order they were made. Words get their number in the
web when a page that holds them is added, in order of appearance, whoever parsed the page.
"""

import numpy as np

from scenthound.model import IntArray
from scenthound.store.numbers import Numbers

_NOT_MET = -1


class MergedVocabulary:
    def __init__(self) -> None:
        self._numbers = Numbers([""])
        self._makers: dict[str, _MakerWords] = {}

    def numbers(self, maker: str, new_stems: list[str], words: IntArray) -> IntArray:
        """The numbers in the web of words that a maker named by its own numbers."""
        known = self._makers.setdefault(maker, _MakerWords())
        known.learn(new_stems)
        numbers = known.number[words]
        unmet = np.flatnonzero(numbers == _NOT_MET)
        if len(unmet):
            numbers[unmet] = self._numbers.of([known.unmet_stems.pop(word) for word in words[unmet].tolist()])
            known.number[words[unmet]] = numbers[unmet]
        return numbers

    def stems(self) -> list[str]:
        return list(self._numbers)


class _MakerWords:
    """What is known of one maker's words: the number in the web, or the stem of those that stand on no page yet."""

    def __init__(self) -> None:
        self.number: IntArray = np.zeros(1, np.int32)
        self.unmet_stems: dict[int, str] = {}
        self._n_words = 1

    def learn(self, stems: list[str]) -> None:
        first, self._n_words = self._n_words, self._n_words + len(stems)
        self.unmet_stems.update(enumerate(stems, first))
        if self._n_words > len(self.number):
            # Room for twice as many, so that a growing vocabulary is not copied with every batch.
            room = np.full(2 * self._n_words - len(self.number), _NOT_MET, np.int32)
            self.number = np.concatenate([self.number, room])
