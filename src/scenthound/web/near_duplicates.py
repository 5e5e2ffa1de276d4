"""Near-duplicate detection with 64-bit simhash fingerprints (Charikar 2002; Manku, Jain, Das Sarma, WWW 2007).

Fingerprints
- Features are the distinct triples of neighbouring words without stop words: bit i of the fingerprint is set if more
  than half of their hashes have bit i set. Triples, so that pages with the same words in another order differ.
- Distinct: if each occurrence counted, a repeated phrase would outvote everything else. Among the demo's 588 pages, in
  ten numberings of the words, six pairs with less than 0.6 of their triples in common (down to 0.05) were found then.
  With distinct triples no pair below 0.70 is found in eleven numberings; among 5,234 articles of an encyclopedia for
  schools 13 pairs are found (0.73 and more), among 11,635 pages of MDN 16 (0.79 and more).
- With three words of a date changed, 7 of 8 pages of 300 words or more are still found.
- Pages of less than `MIN_WORDS` words have no fingerprint: they consist of the boilerplate of their site, and the few
  words that differ are the content. Only the first `MAX_WORDS` words of a page count. Two bigrams of a script without
  spaces count as one word here, so that such a page has a fingerprint if it has 100 of them.
- Fingerprints depend on the numbers of words, so they are comparable only within one vocabulary.

Lookup
- Two pages are near-duplicates if their fingerprints differ in at most three bits. Then they have at least one of four
  blocks of 16 bits in common (Manku et al., section 3), and are found among the pages that share a block.
- Only the last `MAX_CANDIDATES` pages that share a block are compared, so that no site can make lookups slow. Among a
  million unrelated pages, 15 share a block on average.
- Only pages that are not near-duplicates themselves should be added, so that one of a thousand copies is stored.
- A page takes 28 bytes, and up to an eighth more for growth; an empty index takes a megabyte.
"""

from array import array

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidParameter
from scenthound.model import IntArray
from scenthound.native import _native
from scenthound.saved_state import State

#: Without stop words.
MIN_WORDS = 50
MAX_WORDS = 20_000
MAX_CANDIDATES = 128

_Hashes = npt.NDArray[np.uint64]

_BLOCKS = 4
_BLOCK_BITS = 16
_BLOCK_MASK = (1 << _BLOCK_BITS) - 1
_HALF_MASK = (1 << 2 * _BLOCK_BITS) - 1
_NONE = -1

#: For the first, second and third word of a triple, and for mixing.
_FACTORS: _Hashes = np.array(
    [0x9E3779B97F4A7C15, 0x94D049BB133111EB, 0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9], np.uint64
)


def fingerprint_of(words: IntArray, min_words: int = MIN_WORDS, n_unspaced: int = 0) -> int | None:
    """The fingerprint of a page from the numbers of its words, 0 for stop words; None if there are too few.
    `n_unspaced` of the words are bigrams of a script without spaces."""
    min_words += min(n_unspaced // 2, min_words)
    fingerprint, n_words = _native.simhash(np.ascontiguousarray(words, np.int32), MAX_WORDS, _FACTORS)
    return fingerprint if n_words >= min_words else None


class NearDuplicates:
    """An index of fingerprints.

    Pages that share a block form a chain: `_newest[block]` is its head, `_older[index]` its next element.
    """

    def __init__(self, max_distance: int = 3) -> None:
        if not 0 <= max_distance < _BLOCKS:
            raise InvalidParameter(
                f"The maximum distance of near-duplicates must be 0 to {_BLOCKS - 1} bits, not {max_distance}."
            )
        self._max_distance = max_distance
        self._fingerprints = array("Q")
        self._pages = array("i")
        self._newest = [array("i", [_NONE]) * (1 << _BLOCK_BITS) for _ in range(_BLOCKS)]
        self._older = [array("i") for _ in range(_BLOCKS)]

    def __len__(self) -> int:
        return len(self._pages)

    def state(self) -> State:
        """A checkpoint for `restore`."""
        return {
            "fingerprints": np.array(self._fingerprints, np.uint64),
            "pages": np.array(self._pages, np.int32),
            "newest": [np.array(heads, np.int32) for heads in self._newest],
            "older": [np.array(links, np.int32) for links in self._older],
        }

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        self._fingerprints = array("Q", state["fingerprints"].tobytes())
        self._pages = array("i", state["pages"].tobytes())
        self._newest = [array("i", heads.tobytes()) for heads in state["newest"]]
        self._older = [array("i", links.tobytes()) for links in state["older"]]

    def find(self, fingerprint: int) -> int | None:
        """The page with a fingerprint near this one, or None."""
        fingerprints, max_distance = self._fingerprints, self._max_distance
        for block, key in enumerate(_keys(fingerprint)):
            older = self._older[block]
            index = self._newest[block][key]
            n_left = MAX_CANDIDATES
            while index != _NONE and n_left:
                if (fingerprints[index] ^ fingerprint).bit_count() <= max_distance:
                    return self._pages[index]
                index = older[index]
                n_left -= 1
        return None

    def add(self, fingerprint: int, page: int) -> None:
        """Add a page."""
        index = len(self._pages)
        self._fingerprints.append(fingerprint)
        self._pages.append(page)
        for block, key in enumerate(_keys(fingerprint)):
            self._older[block].append(self._newest[block][key])
            self._newest[block][key] = index


def _keys(fingerprint: int) -> tuple[int, int, int, int]:
    """The blocks of a fingerprint, the lowest bits first."""
    lower, upper = fingerprint & _HALF_MASK, fingerprint >> 2 * _BLOCK_BITS
    return lower & _BLOCK_MASK, lower >> _BLOCK_BITS, upper & _BLOCK_MASK, upper >> _BLOCK_BITS
