"""The tokenizer: splits text into words, marks stop words, stems the others (Porter) and numbers them.

- A word is a maximal run of Unicode letters and digits in the lower-cased text; in scripts whose words spaces do not
  tell apart (`scripts`), a bigram of letters. Where such letters and others meet, a word ends.
- Stop words, and words of more than `MAX_WORD_CHARACTERS`, stay in the stream as `STOP`, so that positions are kept.
- Stems are numbered from 1 in order of first appearance.

`WordScanner.scan` processes whole pages and `plain_words` single words, with the same result.
"""

import functools
import itertools
import re
import secrets
import string
from collections.abc import Iterator, Sequence

import numpy as np
import Stemmer

from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.text.scripts import UNSPACED_CLASS, is_unspaced
from scenthound.text.word_lookup import Bytes, FoundWords, LookupTables, WordLookup
from scenthound.text.word_table import MAX_WORD_CHARACTERS

# English stop words, by grammatical class. They are compared after lower-casing and before stemming, and split like
# other words at every character that is no letter or digit, so that "don't" is "don" and "t".

_ARTICLES_AND_DETERMINERS = """
a an the this that these those each every either neither some any no none all both half such another other others
same own many much more most few fewer several enough less least lot lots various certain
"""

_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones who whom whose which what whoever whomever
whichever whatever somebody someone something anybody anyone anything nobody nothing everybody everyone everything
"""

_PREPOSITIONS = """
about above across after against along alongside amid among amongst around as at before behind below beneath beside
besides between beyond by despite down during except for from in inside into like near of off on onto out
outside over past per since than through throughout till to toward towards under underneath unlike until
unto up upon via versus vs with within without
"""

_CONJUNCTIONS = """
and or nor but yet so if unless although though because while whilst whereas whether once
"""

_AUXILIARIES = """
am is are was were be been being have has had having do does did doing done can could may might must shall should
will would ought need cannot let lets
"""

_COMMON_VERBS = """
get gets getting got gotten go goes going gone went come comes coming came make makes making made take takes taking
took taken put puts say says saying said see sees seen seem seems seemed seeming become becomes became becoming keep
keeps kept give gives given gave use used uses using
"""

_ADVERBS_OF_PLACE_AND_TIME = """
here there where when why how now then ever never always often sometimes usually already still again soon later
today hence thereby therein thereof thereafter whereby wherein
wherever whenever somewhere anywhere nowhere everywhere elsewhere ago afterwards beforehand meanwhile
"""

_ADVERBS_OF_DEGREE_AND_LINKING = """
not too very quite rather almost nearly just only even also else indeed perhaps maybe however therefore thus
otherwise moreover furthermore nevertheless nonetheless instead anyway somehow somewhat really actually simply well
away back together apart further
"""

_NUMERALS_AND_ORDER = """
two three four five six seven eight nine ten first second third last next former latter
"""

_SMALL_TALK_AND_ABBREVIATIONS = """
yes ok eg ie etc et al viz cf
"""

# Parts of "isn't", "we'll", "they've".
_PIECES_OF_CONTRACTIONS = """
ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn ll re ve
"""

STOP_WORDS = frozenset(
    " ".join(
        (
            _ARTICLES_AND_DETERMINERS,
            _PRONOUNS,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _AUXILIARIES,
            _COMMON_VERBS,
            _ADVERBS_OF_PLACE_AND_TIME,
            _ADVERBS_OF_DEGREE_AND_LINKING,
            _NUMERALS_AND_ORDER,
            _SMALL_TALK_AND_ABBREVIATIONS,
            _PIECES_OF_CONTRACTIONS,
            # A single letter is an initial, a list mark or the end of a contraction.
            " ".join(string.ascii_lowercase),
        )
    ).split()
)


STOP = 0
#: Of the rules by which texts are split into words.
VERSION = 2

_WORD = re.compile(r"[^\W_]+")
#: Bigrams overlap, so they are found by looking ahead; a letter alone has neither a neighbour before nor after it.
_WORD_OR_BIGRAM = re.compile(
    rf"(?=([{UNSPACED_CLASS}]{{2}}))[{UNSPACED_CLASS}]|(?<![{UNSPACED_CLASS}])[{UNSPACED_CLASS}]|[^\W_{UNSPACED_CLASS}]+"
)
_SEPARATOR = re.compile(rf"[\W_](?<![{UNSPACED_CLASS}])")
#: Longer texts are scanned in pieces of about this many characters, whose arrays fit the cache.
_PIECE_CHARACTERS = 1 << 16
_SALT_BITS = 63
#: The two characters whose lower case depends on others, or is more than one character.
_CAPITAL_SIGMA, _CAPITAL_DOTTED_I = "\u03a3", "\u0130"
_NO_CUTS: LongArray = np.zeros(0, np.int64)


def plain_words(text: str) -> list[str]:
    """The stem of every word in order, "" for stop words."""
    stem = _stemmer().stemWord
    return [
        "" if word in STOP_WORDS or len(word) > MAX_WORD_CHARACTERS else stem(word) for word in _split(text.lower())
    ]


def _split(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text)
    return [match[1] or match[0] for match in _WORD_OR_BIGRAM.finditer(text)]


def stems_of(text: str) -> list[str]:
    """The stems of a text in order, without stop words, and without single letters of scripts without spaces: within
    text these are parts of bigrams, so that as keywords they would hardly ever be found."""
    return [stem for stem in plain_words(text) if stem and not (len(stem) == 1 and is_unspaced(stem))]


class WordScanner:
    """Converts texts to arrays of stem numbers with a growing vocabulary.

    `stems[number]` is the stem; `stems[STOP]` is "". The salt of the hashes is random by default.
    """

    def __init__(self, salt: int | None = None) -> None:
        self.stems: list[str] = [""]
        self._number_of_stem: dict[str, int] = {"": STOP}
        self._stem = _stemmer().stemWord
        #: Whether each stem, up to the last call of `count_unspaced`, is of unspaced letters, and whether any is.
        self._is_unspaced: BoolArray = np.zeros(0, np.bool_)
        self._has_unspaced = False
        self._lookup = WordLookup(secrets.randbits(_SALT_BITS) if salt is None else salt, STOP)

    @property
    def n_words(self) -> int:
        return len(self.stems)

    def find_words(self, stems: Sequence[str]) -> IntArray:
        """The number of each stem; new ones get the next numbers.

        So a saved vocabulary is restored exactly, and words of topics and training pages are recognised in later pages.
        """
        return np.fromiter(map(self._number_of, stems), np.int32, len(stems))

    def stems_from(self, first: int) -> list[str]:
        """The stems numbered `first` and above."""
        return self.stems[first:]

    def count_unspaced(self, words: IntArray) -> int:
        """How many of the words are bigrams, or single letters, of scripts without spaces."""
        if len(self._is_unspaced) < len(self.stems):
            more = np.fromiter(map(is_unspaced, self.stems_from(len(self._is_unspaced))), np.bool_)
            self._is_unspaced = np.concatenate((self._is_unspaced, more))
            self._has_unspaced |= bool(more.any())
        return int(np.count_nonzero(self._is_unspaced.take(words))) if self._has_unspaced else 0

    def scan(self, text: str) -> IntArray:
        """The number of every word in order."""
        return self.scan_cut(text, _NO_CUTS)[0]

    def scan_cut(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        """The number of every word in order, and the number of words before each cut.

        Cuts are ascending positions, 0 to the length of the text, that separate words."""
        if _CAPITAL_SIGMA in text or _CAPITAL_DOTTED_I in text:
            text, cuts = _lower(text, cuts)
        if len(text) <= _PIECE_CHARACTERS:
            return self._scan_piece(text, cuts)
        return self._scan_pieces(text, cuts)

    def use_compiled(self) -> None:
        """Use compiled code from the start, if numba is installed."""
        self._lookup.use_compiled()

    @property
    def is_compiled(self) -> bool:
        """Whether it uses compiled code, so that compiled code may also find words for it."""
        return self._lookup.is_compiled

    def lookup_tables(self) -> LookupTables:
        """The tables for compiled lookups; valid until words are added."""
        return self._lookup.lookup_tables()

    def number_words(self, text: Bytes, found: FoundWords) -> IntArray:
        """The numbers of words found by compiled code in a text in UTF-8, after adding the unknown ones."""
        if found.n_unknown:
            encoded = text.tobytes()
            self._learn(found, [encoded[start:end].decode() for start, end in found.unknown_spans()])
        return found.numbers

    def _scan_pieces(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        numbers: list[IntArray] = []
        positions: list[IntArray] = []
        words_before = 0
        for start, end in _pieces(text):
            # The last piece includes the cuts at its end.
            first, last = np.searchsorted(cuts, (start, end if end < len(text) else end + 1))
            numbers_here, places_here = self._scan_piece(text[start:end], cuts[first:last] - start)
            numbers.append(numbers_here)
            positions.append(places_here + np.int32(words_before))
            words_before += len(numbers_here)
        return np.concatenate(numbers), np.concatenate(positions)

    def _scan_piece(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        found, positions = self._lookup.find(text, cuts)
        if found.n_unknown:
            self._learn(found, [text[start:end] for start, end in found.unknown_spans()])
        return found.numbers, positions

    def _learn(self, found: FoundWords, words: list[str]) -> None:
        """Number the unknown words and add them to the lookup."""
        unknown = found.unknown()
        hashes = found.hashes[unknown].tolist()
        number_of: dict[int, int] = {}
        for word_hash, word in zip(hashes, words, strict=True):
            if word_hash not in number_of:
                number_of[word_hash] = self._number(word.lower())
        self._lookup.add(number_of)
        found.numbers[unknown] = [number_of[word_hash] for word_hash in hashes]

    def _number(self, word: str) -> int:
        if word in STOP_WORDS:
            return STOP
        return self._number_of(self._stem(word))

    def _number_of(self, stem: str) -> int:
        number = self._number_of_stem.setdefault(stem, len(self.stems))
        if number == len(self.stems):
            self.stems.append(stem)
        return number


@functools.cache
def _stemmer() -> Stemmer.Stemmer:
    # Without its cache: the scanner stems a word once, and the cache costs more than stemming.
    return Stemmer.Stemmer("porter", 0)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Starts and ends of pieces, split after separators, so that no word is split."""
    start = 0
    while len(text) - start > _PIECE_CHARACTERS:
        separator = _SEPARATOR.search(text, start + _PIECE_CHARACTERS)
        end = separator.end() if separator else len(text)
        yield start, end
        start = end
    yield start, len(text)


def _lower(text: str, cuts: LongArray) -> tuple[str, LongArray]:
    """The text in lower case, which may be longer, and the cuts in it. The parts between cuts are lowered
    separately."""
    bounds = [0, *cuts.tolist(), len(text)]
    parts = [text[start:end].lower() for start, end in itertools.pairwise(bounds)]
    return "".join(parts), np.cumsum([len(part) for part in parts[:-1]], dtype=np.int64)
