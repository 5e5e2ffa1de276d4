"""The arrays of visits that follow each other, joined into one row of the database, and cut apart again.

`lengths` has three numbers a visit: of its links, predictions and anchors; -1 stands for an array that is not there.
"""

from collections.abc import Iterable

import numpy as np

from scenthound.model import FloatArray, IntArray
from scenthound.store.crawl_rows import VisitRow

_NO_ARRAY = -1
_LINKS, _PREDICTED, _ANCHORS = 0, 1, 2


def joined_arrays(rows: list[VisitRow]) -> tuple[int, bytes, bytes, bytes, bytes]:
    """The first visit, then lengths, links, predictions and anchors of all."""
    lengths = [(len(row.links), _length(row.predicted), _length(row.anchors)) for row in rows]
    return (
        rows[0].visit,
        np.array(lengths, np.int32).tobytes(),
        b"".join(row.links.astype(np.int32, copy=False).tobytes() for row in rows),
        _joined(row.predicted for row in rows),
        _joined(row.anchors for row in rows),
    )


class JoinedArrays:
    """What `joined_arrays` made: the arrays of the visits `first` to `end`."""

    def __init__(self, first: int, lengths: bytes, links: bytes, predicted: bytes, anchors: bytes) -> None:
        self.first = first
        self._lengths = np.frombuffer(lengths, np.int32).reshape(-1, 3)
        self._ends = np.maximum(self._lengths, 0).cumsum(axis=0)
        self._links = np.frombuffer(links, np.int32)
        self._predicted, self._anchors = np.frombuffer(predicted), np.frombuffer(anchors)

    @property
    def end(self) -> int:
        return self.first + len(self._lengths)

    def links(self, visit: int) -> IntArray:
        start, end, _ = self._span(visit, _LINKS)
        return self._links[start:end]

    def predicted(self, visit: int) -> FloatArray | None:
        start, end, is_there = self._span(visit, _PREDICTED)
        return self._predicted[start:end] if is_there else None

    def anchors(self, visit: int) -> FloatArray | None:
        start, end, is_there = self._span(visit, _ANCHORS)
        return self._anchors[start:end] if is_there else None

    def visits_with(self, page: int) -> IntArray:
        """The visits whose links hold the page."""
        places = np.flatnonzero(self._links == page)
        found = np.unique(np.searchsorted(self._ends[:, _LINKS], places, "right"))
        return (found + self.first).astype(np.int32)

    def _span(self, visit: int, kind: int) -> tuple[int, int, bool]:
        number = visit - self.first
        end, length = int(self._ends[number, kind]), int(self._lengths[number, kind])
        return end - max(0, length), end, length != _NO_ARRAY


def _length(array: FloatArray | None) -> int:
    return _NO_ARRAY if array is None else len(array)


def _joined(arrays: Iterable[FloatArray | None]) -> bytes:
    return b"".join(array.astype(np.float64, copy=False).tobytes() for array in arrays if array is not None)
