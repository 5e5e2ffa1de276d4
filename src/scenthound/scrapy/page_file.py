"""Links and words of visited pages in a file, for strategies that look back at pages that are no longer in memory."""

import pickle
from array import array
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from scenthound.crawler.live_web import StoredLinks
from scenthound.crawler.tasks import PageText
from scenthound.model import LongArray


class PageFile:
    """One record per visit, in the order of visits. Without a path the file is temporary."""

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            self._file = TemporaryFile(prefix="scenthound-pages-")  # noqa: SIM115 - open as long as the crawl
        else:
            path.touch()
            self._file = path.open("r+b")
        self._ends = array("q", [0])

    def append(self, links: StoredLinks, text: PageText) -> None:
        arrays = (*links, text.words, text.link_start, text.link_end)
        self._file.seek(self._ends[-1])
        self._file.write(pickle.dumps(arrays, pickle.HIGHEST_PROTOCOL))
        self._ends.append(self._file.tell())

    def links(self, visit: int) -> StoredLinks:
        numbers, predicted, anchors, _, _, _ = self._record(visit)
        return numbers, predicted, anchors

    def text(self, visit: int) -> PageText:
        _, _, _, words, start, end = self._record(visit)
        return PageText(words, start, end)

    def _record(self, visit: int) -> tuple[np.ndarray, ...]:
        start, end = self._ends[visit], self._ends[visit + 1]
        self._file.seek(start)
        record: tuple[np.ndarray, ...] = pickle.loads(self._file.read(end - start))
        return record

    def ends(self) -> LongArray:
        """The ends of all records, for `restore`; what was written before is in the file then."""
        self._file.flush()
        return np.array(self._ends, np.int64)

    def restore(self, ends: LongArray) -> None:
        """Continue a file with these records."""
        self._ends = array("q", ends.tolist())
        if self._file.seek(0, 2) < self._ends[-1]:
            raise ValueError("the file of visited pages is truncated")

    def close(self) -> None:
        self._file.close()
