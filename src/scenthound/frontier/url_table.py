"""The URL table: numbers 0, 1, 2, ... for URLs in order of discovery, for tens of millions of URLs.

Stored per URL: the rest after its origin (scheme://host:port) as UTF-8 in one growing array, the end of that rest and
the number of the origin in eight bytes, and a slot of the index. Besides the rest these are 14 to 19 bytes.
Origins are stored once.

Rules
- URLs are compared by text, never by hash alone. Hashes have a random key, so that nobody can choose colliding URLs.
- Any string gets a number and is returned unchanged, whether or not it is a URL.
- A host is a name without user and port: http and https on all ports of one name are one host.

The references of a page are resolved and their URLs found in one call, so that most of them never become strings.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from secrets import randbits
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, IntArray
from scenthound.native import _native

_SALT_BITS = 64

#: The number of a URL that is not in the table; of a reference without a crawlable URL; of one that the table cannot
#: resolve.
NEW, NO_TARGET, UNUSUAL = -1, -2, -3


class UrlTexts(Sequence[str]):
    """URLs in one text of UTF-8, with the end of each. Strings are made only when somebody looks."""

    __slots__ = "ends", "text"

    def __init__(self, text: bytes, ends: npt.NDArray[np.uint32]) -> None:
        self.text = text
        self.ends = ends

    @classmethod
    def of(cls, urls: Sequence[str]) -> "UrlTexts":
        if isinstance(urls, cls):
            return urls
        texts = [url.encode("utf-8", "surrogatepass") for url in urls]
        return cls(b"".join(texts), np.fromiter(accumulate(map(len, texts)), np.uint32, len(texts)))

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self.ends.tolist():
            yield self.text[start:end].decode("utf-8", "surrogatepass")
            start = end

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]

    def kept(self, is_kept: BoolArray) -> "UrlTexts":
        return UrlTexts.of([url for url, kept in zip(self, is_kept.tolist(), strict=True) if kept])


@dataclass(frozen=True, slots=True)
class FoundUrls:
    """URLs in order, known ones as numbers: where a number is `NEW`, the URL is the next one of `new`."""

    numbers: IntArray
    new: Sequence[str]

    def __len__(self) -> int:
        return len(self.numbers)

    def kept(self, is_kept: BoolArray) -> "FoundUrls":
        new_kept = is_kept[self.numbers == NEW]
        if isinstance(self.new, UrlTexts):
            return FoundUrls(self.numbers[is_kept], self.new.kept(new_kept))
        new = [url for url, kept in zip(self.new, new_kept.tolist(), strict=True) if kept]
        return FoundUrls(self.numbers[is_kept], new)

    def followed_by(self, urls: list[str]) -> "FoundUrls":
        return FoundUrls(np.append(self.numbers, np.full(len(urls), NEW, np.int32)), [*self.new, *urls])


class UrlTable(_native.UrlTable):
    """Maps URLs to numbers and back, and to hosts."""

    def __new__(cls) -> "UrlTable":
        table: UrlTable = super().__new__(cls, randbits(_SALT_BITS))
        return table

    def add_all(self, urls: Sequence[str]) -> IntArray:
        """The number of each URL; new ones get the next numbers."""
        return _array(self.add_strings(list(urls)))

    def add_found(self, found: FoundUrls) -> IntArray:
        """The number of each URL; `NEW` ones get the next numbers, unless they were added meanwhile."""
        if len(found.new) == 0:
            return found.numbers
        new = UrlTexts.of(found.new)
        return _array(self.add_texts(found.numbers, new.text, new.ends))

    def resolve(self, base: bytes, references: bytes, ends: npt.NDArray[np.uint32]) -> FoundUrls:
        """The URL of each reference on the page at a canonical URL. The texts of the references, in UTF-8, are
        concatenated. Numbers may also be `NO_TARGET` and, for references that `web.urls` must resolve, `UNUSUAL`."""
        numbers, text, new_ends = self.resolve_texts(base, references, ends)
        return FoundUrls(_array(numbers), UrlTexts(text, np.frombuffer(new_ends, np.uint32)))

    def hosts(self, numbers: IntArray) -> IntArray:
        """The number of each URL's host."""
        return _array(self.host_numbers(np.ascontiguousarray(numbers, np.int32)))


def _array(numbers: bytearray) -> IntArray:
    return np.frombuffer(numbers, np.int32)
