"""The URL table: numbers 0, 1, 2, ... for URLs in order of discovery, for tens of millions of URLs.

Stored per URL: the rest after its origin (scheme://host:port) as UTF-8 in one growing array, the end of that rest, the
number of the origin, and a slot of the index. Besides the rest these are 14 to 19 bytes in the table in C
(`native_url_table`), and 20 to 25 in the plain one here, which is used where the extension is missing. Origins are
stored once.

Rules
- URLs are compared by text, never by hash alone.
- Any string gets a number and is returned unchanged, whether or not it is a URL.
- A host is a name without user and port: http and https on all ports of one name are one host.

The table in C resolves the references of a page and finds their URLs in one call, so that most of them never become
strings. In the plain one the numbers of recent URLs are cached in two dictionaries, because most links of a page were
also on the previous page: when the recent one is full, it replaces the older one.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from scenthound import native
from scenthound.errors import PluginError
from scenthound.frontier.url_index import HALF_BITS, LOWER_HALF, NEW, FoundUrls, UrlIndex, number_of
from scenthound.model import IntArray

#: A full array grows by an eighth and a little.
GROWTH_DIVISOR = 8
MIN_ROOM = 64

Number = TypeVar("Number", bound=np.integer[Any])


class Growing(Generic[Number]):
    """An array of numbers that can be appended to while views of it exist.

    A `bytearray` or an `array` cannot grow while there are views. Here old views keep the old data."""

    def __init__(self, of: type[Number]) -> None:
        self._length = 0
        self._use(np.zeros(MIN_ROOM, of))

    def _use(self, numbers: npt.NDArray[Number]) -> None:
        self._numbers = numbers
        # A memoryview returns single numbers as Python integers, several times as fast as numpy.
        self._view = numbers.data

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, position: int) -> int:
        """The number at an index below the length."""
        number: int = self._view[position]
        return number

    def append(self, number: int) -> None:
        if self._length == len(self._view):
            self._grow(1)
        self._view[self._length] = number
        self._length += 1

    def extend(self, content: bytes) -> None:
        """Append bytes; for arrays of bytes only."""
        end = self._length + len(content)
        if end > len(self._view):
            self._grow(len(content))
        self._view[self._length : end] = content
        self._length = end

    def between(self, start: int, end: int) -> bytes:
        """The bytes of a range of numbers."""
        return bytes(self._view[start:end])

    def filled(self) -> npt.NDArray[Number]:
        """A view of all numbers so far."""
        return self._numbers[: self._length]

    def _grow(self, n_more: int) -> None:
        numbers = np.zeros(self._length + self._length // GROWTH_DIVISOR + n_more + MIN_ROOM, self._numbers.dtype)
        numbers[: self._length] = self._numbers[: self._length]
        self._use(numbers)

    @property
    def nbytes(self) -> int:
        """Including room to grow."""
        return self._numbers.nbytes


#: Ends are stored in four bytes, modulo this.
END_LIMIT = 1 << 32
#: Size of each cache: both take at most about 16 MB.
RECENT_URLS = 1 << 15
#: Origins end after this.
_SHORTEST_ORIGIN = len("https://")
_HOST = re.compile(r"[^/?#]*//(?:[^/?#]*@)?(\[[^/?#]*\]|[^:/?#]*)")


class UrlTable(Protocol):
    """Maps URLs to numbers and back, and to hosts."""

    #: Whether it can resolve references.
    can_resolve: bool

    def __len__(self) -> int: ...

    def add_all(self, urls: Sequence[str]) -> IntArray:
        """The number of each URL; new ones get the next numbers."""

    def add_found(self, found: FoundUrls) -> IntArray:
        """The number of each URL; `NEW` ones get the next numbers, unless they were added meanwhile."""

    def load(self, texts: Iterable[bytes], /) -> None:
        """Fill an empty table with URLs that are all different, given as lines of UTF-8: those of a stored table."""

    def resolve(self, base: bytes, references: bytes, ends: npt.NDArray[np.uint32]) -> FoundUrls:
        """The URL of each reference on the page at a canonical URL. The texts of the references, in UTF-8, are
        concatenated. Numbers may also be `NO_TARGET` and, for references that `web.urls` must resolve, `UNUSUAL`."""

    def find(self, url: str, /) -> int | None:
        """The number of a URL, or None if it is unknown."""

    def url(self, number: int, /) -> str: ...

    def urls(self, first: int, last: int, /) -> list[str]:
        """The URLs of the numbers from `first` to before `last`."""

    def hosts(self, numbers: IntArray) -> IntArray:
        """The number of each URL's host."""

    def host(self, host_number: int, /) -> str:
        """The name of a host; empty for strings without one."""

    def n_bytes(self) -> int:
        """Memory in bytes, including room to grow."""


def new_url_table() -> UrlTable:
    """An empty table, in C if the extension is there."""
    if native.is_available():
        from scenthound.frontier.native_url_table import NativeUrlTable

        return NativeUrlTable()
    return PlainUrlTable()


class PlainUrlTable:
    """The table in plain Python."""

    can_resolve = False

    def __init__(self) -> None:
        self._text = Growing(np.uint8)
        #: The rest of URL i starts at `_end[i]` and ends at `_end[i + 1]`, modulo END_LIMIT.
        self._end = Growing(np.uint32)
        self._end.append(0)
        #: The indices of `_end` from which on another END_LIMIT must be added.
        self._wraps: list[int] = []
        self._origin = Growing(np.int32)
        self._origins = _Names()
        self._hosts = _Names()
        self._host_of_origin = Growing(np.int32)
        self._recent: dict[str, int] = {}
        self._older: dict[str, int] = {}
        self._index = UrlIndex()

    def __len__(self) -> int:
        return len(self._origin)

    def add_all(self, urls: Sequence[str]) -> IntArray:
        recent = map(self._recent.get, urls)
        numbers = [
            self._find_or_add(url) if number is None else number for url, number in zip(urls, recent, strict=True)
        ]
        return np.fromiter(numbers, np.int32, len(numbers))

    def add_found(self, found: FoundUrls) -> IntArray:
        if len(found.new) == 0:
            return found.numbers
        numbers = found.numbers.copy()
        numbers[numbers == NEW] = [self._add(url) for url in found.new]
        return numbers

    def load(self, texts: Iterable[bytes]) -> None:
        for text in texts:
            self.add_all(text.decode("utf-8", "surrogatepass").split("\n"))

    def resolve(self, _base: bytes, _references: bytes, _ends: npt.NDArray[np.uint32]) -> FoundUrls:
        raise PluginError("This URL table cannot resolve references. Resolve them with web.urls.resolve_all.")

    def _origin_number(self, name: str) -> int:
        number = self._origins.number_of.get(name)
        return self._add_origin(name) if number is None else number

    def find(self, url: str) -> int | None:
        name, rest = _split(url)
        origin = self._origins.number_of.get(name)
        if origin is None:
            return None
        entry = self._index.slots[self._slot(_hash(url), origin, rest)]
        return number_of(entry) if entry else None

    def url(self, number: int) -> str:
        if not 0 <= number < len(self):
            raise IndexError(f"No URL {number} in a table of {len(self)}.")
        return self._origins.names[self._origin[number]] + self._rest(number).decode("utf-8", "surrogatepass")

    def urls(self, first: int, last: int) -> list[str]:
        return [self.url(number) for number in range(first, last)]

    def _rest(self, number: int) -> bytes:
        start, end = self._end[number], self._end[number + 1]
        offset = bisect_right(self._wraps, number) * END_LIMIT + start
        return self._text.between(offset, offset + (end - start) % END_LIMIT)

    def hosts(self, numbers: IntArray) -> IntArray:
        origins: IntArray = self._origin.filled().take(numbers)
        hosts: IntArray = self._host_of_origin.filled().take(origins)
        return hosts

    def host(self, host_number: int) -> str:
        return self._hosts.names[host_number]

    def n_bytes(self) -> int:
        arrays = (self._text, self._end, self._origin, self._host_of_origin)
        names = self._origins.n_bytes() + self._hosts.n_bytes()
        recalled = sum(map(_n_bytes, (self._recent, self._older)))
        return sum(one.nbytes for one in arrays) + self._index.slots.nbytes + names + recalled

    def _find_or_add(self, url: str) -> int:
        """The number of a URL that is not in the recent cache, to which it is added."""
        number = self._older.get(url)
        if number is None:
            number = self._add(url)
        if len(self._recent) >= RECENT_URLS:
            self._older, self._recent = self._recent, {}
        self._recent[url] = number
        return number

    def _add(self, url: str) -> int:
        name, rest = _split(url)
        origin = self._origin_number(name)
        url_hash = _hash(url)
        slot = self._slot(url_hash, origin, rest)
        entry = self._index.slots[slot]
        return number_of(entry) if entry else self._add_new(slot, url_hash, origin, rest)

    def _add_new(self, slot: int, url_hash: int, origin: int, rest: bytes) -> int:
        number = len(self._origin)
        self._index.put(slot, url_hash, number)
        self._text.extend(rest)
        self._end.append(len(self._text) % END_LIMIT)
        if len(self._text) >= (len(self._wraps) + 1) * END_LIMIT:
            self._wraps.append(number + 1)
        self._origin.append(origin)
        return number

    def _add_origin(self, name: str) -> int:
        host = _HOST.match(name)
        self._host_of_origin.append(self._hosts.add(host[1] if host else ""))
        return self._origins.add(name)

    def _slot(self, url_hash: int, origin: int, rest: bytes) -> int:
        """The slot of a URL, or the free slot for it."""
        slots, origins = self._index.slots, self._origin
        slot = self._index.first_slot(url_hash)
        while entry := slots[slot]:
            if entry >> HALF_BITS == url_hash:
                number = number_of(entry)
                if origins[number] == origin and self._rest(number) == rest:
                    break
            slot = slot + 1 if slot + 1 < len(slots) else 0
        return slot


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
    """The origin of a URL (all of it if there is no path) and the rest."""
    end = url.find("/", _SHORTEST_ORIGIN)
    return (url, b"") if end < 0 else (url[:end], _encoded(url[end:]))


def _encoded(url: str) -> bytes:
    """UTF-8 with lone surrogates, which strings may contain."""
    return url.encode("utf-8", "surrogatepass")


def _hash(url: str) -> int:
    """32 bits of Python's hash, which has a random key per process, so that nobody can choose colliding URLs."""
    return hash(url) & LOWER_HALF
