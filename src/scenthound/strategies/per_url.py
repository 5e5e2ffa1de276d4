"""Arrays with one number for each URL of a crawl, which grow during the crawl, and link-context prediction.

URLs are numbered in order of discovery, so an array is the smallest table, and all links of a page are looked up at
once.
"""

from typing import Annotated, Any, ClassVar, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from scenthound.errors import PluginError
from scenthound.model import FloatArray, IntArray, Links
from scenthound.registry import Bounds

Number = TypeVar("Number", bound=np.generic)

#: The initial length of an array.
FIRST_ROOM = 256


class PerUrl(Generic[Number]):
    """A number for each URL of a crawl, or a row of them: `fill` for URLs that have none yet.

    The array may be twice as long as needed."""

    def __init__(self, fill: float, dtype: type[Number], *row: int) -> None:
        self._fill = fill
        self.numbers = np.full((FIRST_ROOM, *row), fill, dtype)

    __iter__: ClassVar[None] = None  # it has no end

    @overload
    def __getitem__(self, urls: int) -> Any: ...

    @overload
    def __getitem__(self, urls: IntArray) -> npt.NDArray[Number]: ...

    def __getitem__(self, urls: IntArray | int) -> Any:
        try:
            return self.numbers[urls]
        except IndexError:
            self._reach(urls)
            return self.numbers[urls]

    def __setitem__(self, urls: IntArray | int, numbers: npt.ArrayLike) -> None:
        try:
            self.numbers[urls] = numbers
        except IndexError:
            self._reach(urls)
            self.numbers[urls] = numbers

    def raise_to(self, urls: IntArray, numbers: npt.ArrayLike) -> None:
        """Raise the numbers of distinct URLs that are lower."""
        self[urls] = np.maximum(self[urls], numbers)

    def _reach(self, urls: IntArray | int) -> None:
        self.numbers = grown(self.numbers, int(np.max(urls)) + 1, self._fill)

    def state(self) -> npt.NDArray[Number]:
        """A copy, without unused elements at the end."""
        used = np.nonzero(self.numbers != self._fill)[0]
        return self.numbers[: int(used[-1]) + 1 if len(used) else 0].copy()

    def restore(self, saved: npt.ArrayLike) -> None:
        row = self.numbers.shape[1:]
        numbers = np.asarray(saved, self.numbers.dtype).reshape(-1, *row)
        self.numbers = np.full((max(FIRST_ROOM, len(numbers)), *row), self._fill, numbers.dtype)
        self.numbers[: len(numbers)] = numbers


def grown(rows: npt.NDArray[Number], n_rows: int, fill: float) -> npt.NDArray[Number]:
    """The array with at least `n_rows` rows. Its length at least doubles, so that appending takes amortised constant
    time."""
    if n_rows <= len(rows):
        return rows
    longer = np.full((max(n_rows, 2 * len(rows)), *rows.shape[1:]), fill, rows.dtype)
    longer[: len(rows)] = rows
    return longer


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
