"""One number for each URL of a crawl, in an array that grows as the crawl finds more.

URLs are numbered in order of discovery, so that an array is the smallest table there is, and a page's links are looked
up all at once.
"""

from typing import Annotated, Any, TypeVar

import numpy as np
import numpy.typing as npt

from scenthound.errors import PluginError
from scenthound.model import FloatArray, IntArray, Links
from scenthound.registry import Bounds

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


# The relevance that a link promises (wang2009 Eq. 9): link-context prediction goes by it, and so does OTIE.
#
# `score = b * page + (1 - b) * context`: the relevance of the whole page that the link is on, and that of the words
# around the link, its anchor included. The study has b = 0.25 and a window of 20 words.

#: The weight of the whole page in the promise of its links (beta of wang2009 Eq. 9).
PageWeight = Annotated[float, Bounds(0, 1)]
#: How many words around a link are its context, its anchor included (T of wang2009).
Window = Annotated[int, Bounds(1, 10_000)]


def promised_relevance(page_relevance: float, links: Links, page_weight: float) -> FloatArray:
    """What each link of a page promises."""
    if links.predicted is None:
        raise PluginError("Links came without `predicted`; a driver gives it to strategies that set context_words.")
    promised: FloatArray = page_weight * page_relevance + (1 - page_weight) * links.predicted  # wang2009 Eq. 9
    return promised
