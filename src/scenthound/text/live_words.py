"""The vocabulary of a crawl that runs: it grows with every page, and every word that is asked for has a number."""

from scenthound.model import IntArray
from scenthound.text.words import WordScanner


class LiveWords:
    """The words of a scanner as an index. Words of topics and of training pages are taken into the vocabulary before
    any page was read, so that pages which have them later can be told by them."""

    def __init__(self, scanner: WordScanner) -> None:
        self._scanner = scanner

    def find_words(self, stems: list[str]) -> IntArray:
        """The number of each stem; a new one is numbered."""
        return self._scanner.add_stems(stems)

    @property
    def n_words(self) -> int:
        return len(self._scanner.stems)
