"""Reads the updates of a crawl: its state, new points of its curves, and the latest pages.

Curves are computed from all samples again, which takes some milliseconds, but only if there is a new one.
"""

import numpy as np

from scenthound.crawler.state import crawl_state
from scenthound.errors import InvalidInput, printable
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import CURVES, display_curves
from scenthound.ui.dashboard.crawl_views import crawl_response, curves_response, labels_of, visited_pages
from scenthound.ui.dashboard.folders import FoundFolder, file_signature
from scenthound.ui.dashboard.responses import Curves, Live

N_LATEST_PAGES = 20


class LiveReader:
    """Reads the updates of one crawl over one connection, one at a time."""

    def __init__(self, found: FoundFolder) -> None:
        self.found = found
        self._signature = file_signature(found.path / ABOUT_FILE)
        self._crawl = StoredCrawl.open(found.path)
        #: The number of commits, and the state.
        self._seen: tuple[int, str] | None = None
        #: The number of the last sample that was read, and the active seconds and pages at the last point.
        self._sample = -1
        self._last = -1.0, -1
        self.close = self._crawl.close

    def read(self) -> Live | None:
        """The complete curves first, then what is new since the last call; None if that is nothing. InvalidInput if the
        crawl cannot be read, or was replaced."""
        crawl, path = self._crawl, self.found.path
        signature = file_signature(path / ABOUT_FILE)
        if signature is None:
            raise InvalidInput(f"There is no longer a crawl at {printable(path)}.")
        if signature != self._signature:
            raise InvalidInput(f"{printable(path)} was replaced by another crawl.")
        counter = crawl.change_counter()
        if (counter, crawl_state(crawl).state) == self._seen:
            return None
        response = crawl_response(self.found, crawl)
        self._seen = counter, response.state
        latest = visited_pages(crawl.listed("latest", N_LATEST_PAGES), crawl, labels_of(crawl))
        return Live(response, self._new_points(crawl), latest)

    def _new_points(self, crawl: StoredCrawl) -> Curves:
        samples = crawl.samples(self._sample)
        if not samples and self._sample >= 0:
            return curves_response(np.recarray(0, CURVES))
        self._sample = samples[-1][0] if samples else -1
        curves = display_curves(crawl)
        is_new = (curves.seconds > self._last[0]) | (curves.pages > self._last[1])
        if is_new.any():
            self._last = float(curves.seconds[-1]), int(curves.pages[-1])
        first = len(curves) - int(is_new.sum())
        return curves_response(curves[first:].view(np.recarray))
