"""One number for each URL of a crawl, in an array that grows as the crawl finds more.

URLs are numbered in order of discovery, so that an array is the smallest table there is, and a page's links are looked
up all at once.
"""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray

Number = TypeVar("Number", bound=np.generic)

#: What an array has room for at first.
FIRST_ROOM = 256


def per_url(fill: float, dtype: type[Number]) -> npt.NDArray[Number]:
    """An array for the first URLs of a crawl."""
    return np.full(FIRST_ROOM, fill, dtype)


def with_room(numbers: npt.NDArray[Number], pages: IntArray, fill: float) -> npt.NDArray[Number]:
    """The array itself if it has a place for each of the pages, else a copy of at least twice the length."""
    return grown(numbers, int(pages.max()) + 1 if len(pages) else 0, fill)


def grown(rows: npt.NDArray[Number], n_rows: int, fill: float) -> npt.NDArray[Number]:
    """The array with at least so many rows, new ones filled. Its length at least doubles, so that rows which come one
    at a time are moved about twice each."""
    if n_rows <= len(rows):
        return rows
    longer = np.full((max(n_rows, 2 * len(rows)), *rows.shape[1:]), fill, rows.dtype)
    longer[: len(rows)] = rows
    return longer


def saved(numbers: npt.NDArray[Number], fill: float) -> list[Any]:
    """The array as a list for a checkpoint, without the places at its end that were never used."""
    used = np.flatnonzero(numbers != fill)
    kept: list[Any] = numbers[: int(used[-1]) + 1 if len(used) else 0].tolist()
    return kept


def restored(kept: list[Any], fill: float, dtype: type[Number]) -> npt.NDArray[Number]:
    """The array that was `saved`."""
    numbers = np.full(max(FIRST_ROOM, len(kept)), fill, dtype)
    numbers[: len(kept)] = kept
    return numbers
