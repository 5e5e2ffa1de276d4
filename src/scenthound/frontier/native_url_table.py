"""The URL table in C; `url_table` has its rules. Requires the extension (`scenthound.native`)."""

from collections.abc import Sequence
from secrets import token_bytes

import numpy as np
import numpy.typing as npt

from scenthound.frontier.url_index import FoundUrls, UrlTexts
from scenthound.model import IntArray
from scenthound.native import _native

_KEY_BYTES = 16


class NativeUrlTable(_native.UrlTable):
    """Maps URLs to numbers and back, and to hosts. Hashes have a random key, so that nobody can choose colliding
    URLs. Ends of texts are stored modulo `2 ** end_bits`."""

    can_resolve = True

    def __new__(cls, *, end_bits: int = 32) -> "NativeUrlTable":
        table: NativeUrlTable = super().__new__(cls, token_bytes(_KEY_BYTES), end_bits)
        return table

    def add_all(self, urls: Sequence[str]) -> IntArray:
        return _array(self.add_strings(list(urls)))

    def add_found(self, found: FoundUrls) -> IntArray:
        if len(found.new) == 0:
            return found.numbers
        new = UrlTexts.of(found.new)
        return _array(self.add_texts(found.numbers, new.text, new.ends))

    def resolve(self, base: bytes, references: bytes, ends: npt.NDArray[np.uint32]) -> FoundUrls:
        numbers, text, new_ends = self.resolve_texts(base, references, ends)
        return FoundUrls(_array(numbers), UrlTexts(text, np.frombuffer(new_ends, np.uint32)))

    def hosts(self, numbers: IntArray) -> IntArray:
        return _array(self.host_numbers(np.ascontiguousarray(numbers, np.int32)))


def _array(numbers: bytearray) -> IntArray:
    return np.frombuffer(numbers, np.int32)
