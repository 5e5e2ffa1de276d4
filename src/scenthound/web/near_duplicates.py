"""Pages that say nearly the same as a page had before: 64-bit fingerprints whose distance tells how alike pages are.

Rules
- A fingerprint is a simhash (Charikar 2002; Manku, Jain and Das Sarma, WWW 2007) over the different triples of
  neighbouring words of a page, stop words left out: bit i is set if more than half of their hashes have bit i set.
- Different ones: a triple counts once, however often it occurs. If each occurrence counted, a phrase that pages repeat
  would outvote all that they say: of the demo's 588 pages, their words numbered in ten ways, six pairs were taken for
  near-duplicates that share less than 0.6 of their triples (down to 0.05, `http.client` and `_sqlite3`). Counted once,
  none is, in eleven ways, that shares less than 0.70; of 5,234 articles of an encyclopedia for schools 13 are (0.73 and
  more), of 11,635 pages of MDN 16 (0.79 and more).
- Triples and not words, so that the order of words tells pages apart that are made of the same ones.
- With three words of a date changed, 7 of 8 pages of 300 words and more are still found.
- Pages of less than `LEAST_WORDS` words are not judged: they consist of what all pages of a site have in common, and
  the few words that differ are what they are about. Of a very long page the first `MOST_WORDS` words are judged.
- Two pages are near-duplicates if their fingerprints differ in at most three bits. Cut into four blocks of 16 bits,
  they then have a block in common (Manku et al., section 3), and are looked for among the pages that share one.
- Of the pages that share a block only the last `LOOKED_AT` are looked at, so that no site can make look-ups slow. In
  a million pages that have nothing in common, 15 share a block on average.
- Add only pages that are no near-duplicates themselves: of a thousand copies one is kept.
- A fingerprint depends on the numbers of the words, so it means something only beside others of the same vocabulary.
- A page takes 28 bytes, and up to an eighth more that arrays hold ready; all together start with a megabyte.
"""

from array import array

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidParameter
from scenthound.jit import is_loaded
from scenthound.model import IntArray

#: Without stop words.
LEAST_WORDS = 50
MOST_WORDS = 20_000
LOOKED_AT = 128

_Hashes = npt.NDArray[np.uint64]

_BLOCKS = 4
_BLOCK_BITS = 16
_BLOCK_MASK = (1 << _BLOCK_BITS) - 1
_HALF_MASK = (1 << 2 * _BLOCK_BITS) - 1
_NOBODY = -1

#: Of the first, the second and the third word of a triple; the last one mixes.
_FACTORS: _Hashes = np.array(
    [0x9E3779B97F4A7C15, 0x94D049BB133111EB, 0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9], np.uint64
)
_HALF = np.uint64(32)
_MOST_IN_A_BYTE = 255


def fingerprint_of(words: IntArray, least_words: int = LEAST_WORDS) -> int | None:
    """The fingerprint of a page, from the numbers of its words in order, 0 for stop words; None if it has too few."""
    if is_loaded():
        from scenthound.text.compiled import simhash

        fingerprint, n_words = simhash(words, MOST_WORDS, _FACTORS)
        return fingerprint if n_words >= least_words else None
    return plain_fingerprint_of(words, least_words)


def plain_fingerprint_of(words: IntArray, least_words: int = LEAST_WORDS) -> int | None:
    """What `fingerprint_of` says, without numba."""
    kept = words[words != 0][:MOST_WORDS]
    if len(kept) < least_words:
        return None
    # One that is 0 has no bit to count: the compiled twin takes it for none.
    hashes = np.unique(_triple_hashes(kept.astype(np.uint64)))
    is_set = 2 * _bit_counts(hashes) > np.count_nonzero(hashes)
    return int.from_bytes(np.packbits(is_set, bitorder="little").tobytes(), "little")


class NearDuplicates:
    """The fingerprints of all pages taken, found again by any near one.

    Pages that share a block form a chain: `_newest[block]` starts it, `_older[place]` goes on.
    """

    def __init__(self, max_distance: int = 3) -> None:
        if not 0 <= max_distance < _BLOCKS:
            raise InvalidParameter(
                f"Near-duplicates differ in 0 to {_BLOCKS - 1} bits, not {max_distance}: choose one."
            )
        self._max_distance = max_distance
        self._fingerprints = array("Q")
        self._pages = array("i")
        self._newest = [array("i", [_NOBODY]) * (1 << _BLOCK_BITS) for _ in range(_BLOCKS)]
        self._older = [array("i") for _ in range(_BLOCKS)]

    def __len__(self) -> int:
        return len(self._pages)

    def find(self, fingerprint: int) -> int | None:
        """The number of a page that was added with a fingerprint near to this one, or None."""
        fingerprints, max_distance = self._fingerprints, self._max_distance
        for block, key in enumerate(_keys(fingerprint)):
            older = self._older[block]
            place = self._newest[block][key]
            looks_left = LOOKED_AT
            while place != _NOBODY and looks_left:
                if (fingerprints[place] ^ fingerprint).bit_count() <= max_distance:
                    return self._pages[place]
                place = older[place]
                looks_left -= 1
        return None

    def add(self, fingerprint: int, page: int) -> None:
        """Keep a page's fingerprint, to be found from now on."""
        place = len(self._pages)
        self._fingerprints.append(fingerprint)
        self._pages.append(page)
        for block, key in enumerate(_keys(fingerprint)):
            self._older[block].append(self._newest[block][key])
            self._newest[block][key] = place


def _keys(fingerprint: int) -> tuple[int, int, int, int]:
    """The blocks of a fingerprint, the lowest bits first."""
    lower, upper = fingerprint & _HALF_MASK, fingerprint >> 2 * _BLOCK_BITS
    return lower & _BLOCK_MASK, lower >> _BLOCK_BITS, upper & _BLOCK_MASK, upper >> _BLOCK_BITS


def _triple_hashes(words: _Hashes) -> _Hashes:
    hashes: _Hashes = words[:-2] * _FACTORS[0]
    hashes += words[1:-1] * _FACTORS[1]
    hashes += words[2:] * _FACTORS[2]
    hashes ^= hashes >> _HALF
    hashes *= _FACTORS[3]
    hashes ^= hashes >> _HALF
    return hashes


def _bit_counts(hashes: _Hashes) -> IntArray:
    """How many of the hashes have each bit set, counted in bytes that are added eight at a time."""
    n_columns = -(-len(hashes) // _MOST_IN_A_BYTE)
    padded = np.zeros(_MOST_IN_A_BYTE * n_columns, np.uint64)
    padded[: len(hashes)] = hashes
    # A byte for each bit, eight of them added as one number: no byte of a sum runs over into the next.
    spread = np.unpackbits(padded.view(np.uint8), bitorder="little").view(np.uint64)
    sums = np.add.reduce(spread.reshape(_MOST_IN_A_BYTE, -1), axis=0).view(np.uint8)
    counts: IntArray = np.add.reduce(sums.reshape(n_columns, -1), axis=0, dtype=np.int32)
    return counts
