"""URLs numbered 0, 1, 2, ... in order of discovery, for live crawls that see tens of millions of them.

What is kept of a URL: the rest after its origin (scheme://host:port) as UTF-8 in one growing run of bytes, where that
rest ends, the number of the origin, which is kept once, and a slot of the index: 20 to 25 bytes besides the rest.

Rules
- Text decides, never a hash alone: two URLs are one only if every character is the same.
- Any string gets a number and comes back as it was, be it a URL or not.
- A host is a name without user and port: http and https on all ports of one name are one host.

Most links of a page were on the page before it too. So the numbers of the URLs asked for last are kept in a dictionary,
of which there are two: when the recent one is full, it becomes the older one, and that is forgotten.

The index is a hash table with linear probing in which a larger hash wants a later slot. So entries sorted by their
hashes are in the order of their slots, and a larger table is made by one sort instead of an insertion for each.
"""

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray

#: An entry of the index has the hash in its upper half and the number plus 1 in the lower; 0 is a free slot.
HALF_BITS = 32
LOWER_HALF = (1 << HALF_BITS) - 1
FIRST_SLOTS = 1024
#: When more than so many of the slots are taken, the index grows by a half.
MAX_LOAD = 0.7
GROWTH = 1.5
#: Ends are kept in four bytes, modulo this.
END_LIMIT = 1 << 32
#: URLs that either dictionary holds: at most some 16 MB for both.
RECENT_URLS = 1 << 15
#: Entries whose new slots are worked out at a time, so that growing takes little memory beside the two tables.
CHUNK = 1 << 20

#: No origin of a page ends before this.
_SHORTEST_ORIGIN = len("https://")
_HOST = re.compile(r"[^/?#]*//(?:[^/?#]*@)?(\[[^/?#]*\]|[^:/?#]*)")


class UrlTable:
    """Add URLs and get their numbers; give a number and get its URL or its host."""

    def __init__(self) -> None:
        self._text = bytearray()
        #: Where the rest of URL i ends is at i + 1, where it begins at i; both modulo END_LIMIT.
        self._end = array("I", [0])
        #: The places in `_end` from which on the text is longer by another END_LIMIT.
        self._passed: list[int] = []
        self._origin = array("i")
        self._origins = _Names()
        self._hosts = _Names()
        self._host_of_origin = array("i")
        self._recent: dict[str, int] = {}
        self._older: dict[str, int] = {}
        self._use(np.zeros(FIRST_SLOTS, np.uint64))

    def __len__(self) -> int:
        return len(self._origin)

    def add_all(self, urls: Sequence[str]) -> IntArray:
        """The number of each URL; those never seen get the next ones."""
        recent = map(self._recent.get, urls)
        numbers = [self._recall(url) if number is None else number for url, number in zip(urls, recent, strict=True)]
        return np.fromiter(numbers, np.int32, len(numbers))

    def find(self, url: str) -> int | None:
        """The number of a URL, or None if it was never added."""
        name, rest = _split(url)
        origin = self._origins.number_of.get(name)
        if origin is None:
            return None
        entry = self._slots[self._slot(_hash(url), origin, rest)]
        return (entry & LOWER_HALF) - 1 if entry else None

    def url(self, number: int) -> str:
        if not 0 <= number < len(self):
            raise IndexError(f"No URL {number} in a table of {len(self)}.")
        return self._origins.names[self._origin[number]] + self._rest(number).decode("utf-8", "surrogatepass")

    def _rest(self, number: int) -> bytearray:
        start, end = self._end[number], self._end[number + 1]
        offset = bisect_right(self._passed, number) * END_LIMIT + start
        return self._text[offset : offset + (end - start) % END_LIMIT]

    def hosts(self, numbers: IntArray) -> IntArray:
        """The number of each URL's host."""
        origins: IntArray = np.asarray(self._origin).take(numbers)
        hosts: IntArray = np.asarray(self._host_of_origin).take(origins)
        return hosts

    def host(self, host_number: int) -> str:
        """The name of a host; empty for strings that name none."""
        return self._hosts.names[host_number]

    def n_bytes(self) -> int:
        """Memory held, room to grow included."""
        arrays = (self._text, self._end, self._origin, self._host_of_origin)
        names = self._origins.n_bytes() + self._hosts.n_bytes()
        recalled = sum(map(_n_bytes, (self._recent, self._older)))
        return sum(map(sys.getsizeof, arrays)) + self._slots.nbytes + names + recalled

    def _recall(self, url: str) -> int:
        """The number of a URL that is not among the recent ones; it is from now on."""
        number = self._older.get(url)
        if number is None:
            number = self._add(url)
        if len(self._recent) >= RECENT_URLS:
            self._older, self._recent = self._recent, {}
        self._recent[url] = number
        return number

    def _add(self, url: str) -> int:
        name, rest = _split(url)
        origin = self._origins.number_of.get(name)
        if origin is None:
            origin = self._add_origin(name)
        url_hash = _hash(url)
        slot = self._slot(url_hash, origin, rest)
        entry = self._slots[slot]
        return (entry & LOWER_HALF) - 1 if entry else self._add_new(slot, url_hash, origin, rest)

    def _add_new(self, slot: int, url_hash: int, origin: int, rest: bytes) -> int:
        number = len(self._origin)
        self._slots[slot] = url_hash << HALF_BITS | number + 1
        self._text += rest
        self._end.append(len(self._text) % END_LIMIT)
        if len(self._text) >= (len(self._passed) + 1) * END_LIMIT:
            self._passed.append(number + 1)
        self._origin.append(origin)
        if number >= self._max_entries:
            self._grow()
        return number

    def _add_origin(self, name: str) -> int:
        host = _HOST.match(name)
        self._host_of_origin.append(self._hosts.add(host[1] if host else ""))
        return self._origins.add(name)

    def _slot(self, url_hash: int, origin: int, rest: bytes) -> int:
        """The slot where a URL is, or the free one where it would be."""
        slots, n_slots, origins = self._slots, self._n_slots, self._origin
        slot = url_hash * n_slots >> HALF_BITS
        while entry := slots[slot]:
            if entry >> HALF_BITS == url_hash:
                number = (entry & LOWER_HALF) - 1
                if origins[number] == origin and self._rest(number) == rest:
                    break
            slot = slot + 1 if slot + 1 < n_slots else 0
        return slot

    def _use(self, index: npt.NDArray[np.uint64]) -> None:
        # Through a memoryview single entries come as Python integers, several times as fast as from numpy.
        self._slots = index.data
        self._n_slots = len(index)
        self._max_entries = int(MAX_LOAD * self._n_slots)

    def _grow(self) -> None:
        old = np.asarray(self._slots)
        entries = np.sort(old[old != 0])
        self._use(np.zeros(int(GROWTH * self._n_slots), np.uint64))
        next_free = 0
        for start in range(0, len(entries), CHUNK):
            next_free = self._lay(entries[start : start + CHUNK], next_free)

    def _lay(self, entries: npt.NDArray[np.uint64], next_free: int) -> int:
        """Put sorted entries into the slots they want, or the next free ones; answers the slot after the last."""
        wanted = entries >> np.uint64(HALF_BITS)
        wanted *= np.uint64(self._n_slots)
        wanted >>= np.uint64(HALF_BITS)
        slots, before = wanted.astype(np.int64), np.arange(len(entries))
        slots[0] = max(slots[0], next_free)
        # Each entry stands at least one behind the one before it: what it wants or that, whichever is later.
        slots = np.maximum.accumulate(slots - before) + before
        fits = slots < self._n_slots
        np.asarray(self._slots)[slots[fits]] = entries[fits]
        for entry in entries[~fits].tolist():
            # Behind the last slot comes the first.
            self._slots[next(slot for slot in range(self._n_slots) if not self._slots[slot])] = entry
        return int(slots[-1]) + 1


class _Names:
    """Names numbered in order of first appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.number_of: dict[str, int] = {}

    def add(self, name: str) -> int:
        number = self.number_of.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def n_bytes(self) -> int:
        return sys.getsizeof(self.names) + _n_bytes(self.number_of)


def _n_bytes(number_of: dict[str, int]) -> int:
    number_bytes = sys.getsizeof(LOWER_HALF) * len(number_of)
    return sys.getsizeof(number_of) + sum(map(sys.getsizeof, number_of)) + number_bytes


def _split(url: str) -> tuple[str, bytes]:
    """The origin of a URL, which is all of it if it has no path, and the rest.

    UTF-8 has no place for lone surrogates, but strings do, and must come back."""
    end = url.find("/", _SHORTEST_ORIGIN)
    return (url, b"") if end < 0 else (url[:end], url[end:].encode("utf-8", "surrogatepass"))


def _hash(url: str) -> int:
    """32 bits of Python's own hash, which differs from process to process: nobody can choose URLs that collide."""
    return hash(url) & LOWER_HALF
