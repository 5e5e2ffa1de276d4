"""References of a page (href values) to their targets.

A URL table resolves them in bulk from their bytes, and finds the URLs that it knows. What is unusual there, for example
international host names, is resolved by `urls`, one by one. Without a table all are resolved to texts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from scenthound.frontier.url_table import NEW, NO_TARGET, UNUSUAL, FoundUrls, UrlTable
from scenthound.model import BoolArray
from scenthound.web.urls import resolve, resolve_all


@dataclass(frozen=True, slots=True)
class References:
    """The texts of references in UTF-8, concatenated, and the end of each."""

    text: bytes
    ends: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, references: Iterable[bytes]) -> "References":
        texts = list(references)
        return cls(b"".join(texts), np.fromiter(accumulate(map(len, texts)), np.uint32, len(texts)))

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, index: int) -> str:
        text = self.text[0 if index == 0 else self.ends[index - 1] : self.ends[index]]
        try:
            return text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return text.decode("utf-8", "replace")


def resolve_links(
    base_url: str, references: References, table: UrlTable | None
) -> tuple[list[str] | FoundUrls, BoolArray | None]:
    """The targets of the references of a page, and which references have one; None if all have. With a table targets
    are numbers, as far as it knows them; the base URL must be canonical then."""
    if table is None:
        resolved = resolve_all(base_url, list(references))
        urls = [url for url in resolved if url is not None]
        has_all = len(urls) == len(resolved)
        return urls, None if has_all else np.array([url is not None for url in resolved], np.bool_)
    found = table.resolve(base_url.encode(), references.text, references.ends)
    if (found.numbers >= NEW).all():
        return found, None
    if (found.numbers == UNUSUAL).any():
        found = _with_unusual(base_url, references, table, found)
    has_target = found.numbers != NO_TARGET
    return FoundUrls(found.numbers[has_target], found.new), has_target


def _with_unusual(base_url: str, references: References, table: UrlTable, found: FoundUrls) -> FoundUrls:
    numbers, others, new = found.numbers.copy(), iter(found.new), []
    for position in np.flatnonzero((numbers == NEW) | (numbers == UNUSUAL)).tolist():
        if numbers[position] == NEW:
            new.append(next(others))
            continue
        url = resolve(base_url, references[position])
        number = NO_TARGET if url is None else table.find(url)
        numbers[position] = NEW if number is None else number
        if url is not None and number is None:
            new.append(url)
    return FoundUrls(numbers, new)
