"""Arrays with one number for each URL of a crawl, which grow during the crawl, and link-context prediction.

URLs are numbered in order of discovery, so an array is the smallest table, and all links of a page are looked up at
once.
"""

from typing import Annotated, Any, TypeVar

import numpy as np
import numpy.typing as npt

from scenthound.errors import PluginError
from scenthound.model import FloatArray, IntArray, Links
from scenthound.registry import Bounds

Number = TypeVar("Number", bound=np.generic)

#: The initial length of an array.
FIRST_ROOM = 256


def per_url(fill: float, dtype: type[Number]) -> npt.NDArray[Number]:
    """An array for the first URLs of a crawl."""
    return np.full(FIRST_ROOM, fill, dtype)


def with_room(numbers: npt.NDArray[Number], pages: IntArray, fill: float) -> npt.NDArray[Number]:
    """The array itself if it is long enough for all pages, else a copy of at least twice the length."""
    return grown(numbers, int(pages.max()) + 1 if len(pages) else 0, fill)


def grown(rows: npt.NDArray[Number], n_rows: int, fill: float) -> npt.NDArray[Number]:
    """The array with at least `n_rows` rows. Its length at least doubles, so that appending takes amortised constant
    time."""
    if n_rows <= len(rows):
        return rows
    longer = np.full((max(n_rows, 2 * len(rows)), *rows.shape[1:]), fill, rows.dtype)
    longer[: len(rows)] = rows
    return longer


def saved(numbers: npt.NDArray[Number], fill: float) -> npt.NDArray[Number]:
    """A copy for a checkpoint, without unused elements at the end."""
    used = np.flatnonzero(numbers != fill)
    return numbers[: int(used[-1]) + 1 if len(used) else 0].copy()


def restored(kept: npt.NDArray[Number] | list[Any], fill: float, dtype: type[Number]) -> npt.NDArray[Number]:
    """The array that was `saved`."""
    numbers = np.full(max(FIRST_ROOM, len(kept)), fill, dtype)
    numbers[: len(kept)] = kept
    return numbers


#: The weight of the page in the predicted relevance of its links (beta of wang2009 Eq. 9).
PageWeight = Annotated[float, Bounds(0, 1)]
#: The number of words around a link, its anchor included, that are its context (T of wang2009).
Window = Annotated[int, Bounds(1, 10_000)]


def predicted_relevance(page_relevance: float, links: Links, page_weight: float) -> FloatArray:
    """The predicted relevance of each link: that of its page and of the words around it (wang2009 Eq. 9)."""
    expected: FloatArray = page_weight * page_relevance + (1 - page_weight) * context_scores(links)  # wang2009 Eq. 9
    return expected


def context_scores(links: Links) -> FloatArray:
    """The relevance of the words around each link."""
    if links.predicted is None:
        raise PluginError("`Links.predicted` is missing: drivers provide it to strategies that set `context_words`.")
    return links.predicted


def anchor_scores(links: Links) -> FloatArray:
    """The relevance of the anchor of each link."""
    if links.anchors is None:
        raise PluginError("`Links.anchors` is missing: drivers provide it to strategies that set `needs_anchors`.")
    return links.anchors
