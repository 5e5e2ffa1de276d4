"""What is new in a crawl that is watched: the whole of it first, and then what was committed since.

Rules
- One reader has one connection. Any thread may call, one at a time.
- The time of a new point goes on from the last one, as `lab/overview/curves` counts it: rests between runs left out.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.dashboard.answers import Crawl, Curves, Live
from scenthound.dashboard.crawl_answers import crawl_answer, curves_answer, labels_of
from scenthound.dashboard.folders import FoundFolder
from scenthound.dashboard.page_answers import taken_pages
from scenthound.errors import BadInput, printable
from scenthound.lab.crawl_state import crawl_state
from scenthound.lab.overview.curves import crawl_curves
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.crawl_rows import MomentRow
from scenthound.store.page_lists import PageLists

#: The latest pages that are sent along.
N_LATEST = 20
#: The whole curve is read anew if the crawl commits meanwhile, so often at most.
_TRIES = 5


@dataclass(frozen=True, slots=True)
class LiveRead:
    """For those who watch already, and for those who come; None if there is nothing for them."""

    news: Live | None
    whole: Live | None


@dataclass(frozen=True, slots=True)
class _Point:
    """The last point of the curve that was read."""

    number: int
    run: int
    time_s: float
    seconds: float
    pages: int


class LiveReader:
    """Reads one crawl for all who watch it."""

    def __init__(self, found: FoundFolder) -> None:
        self._found = found
        self._crawl: PageLists | None = None
        self._made: object = None
        self._counter = -1
        self._state = ""
        self._last: _Point | None = None
        self._lock = threading.Lock()

    def read(self, *, whole: bool, look: bool) -> LiveRead:
        """What is new since the last call; with `whole` all there is, too. `look`: whether the crawl is still there and
        at work, though it committed nothing. BadInput if it cannot be read, or is another one by now."""
        with self._lock:
            crawl = self._opened(look or whole)
            counter = crawl.change_counter()
            is_new = counter != self._counter
            if look and not is_new:
                is_new = crawl_state(crawl).state != self._state
            if not is_new and not whole:
                return LiveRead(None, None)
            news = self._live(crawl, self._new_points(crawl)) if self._counter >= 0 and is_new else None
            self._counter = counter
            return LiveRead(news, self._whole(crawl) if whole else None)

    def close(self) -> None:
        with self._lock:
            if self._crawl is not None:
                self._crawl.close()
                self._crawl = None

    def _opened(self, look: bool) -> PageLists:
        made = _made(self._found.path) if look or self._crawl is None else self._made
        if self._crawl is not None and made != self._made:
            raise BadInput(f"{printable(self._found.path)} has been replaced by another crawl.")
        if self._crawl is None:
            self._crawl = PageLists.open(self._found.path)
            self._made = made
        return self._crawl

    def _whole(self, crawl: PageLists) -> Live:
        for _ in range(_TRIES):
            before = crawl.change_counter()
            curves = curves_answer(crawl_curves(crawl))
            moments = crawl.moments(-1 if self._last is None else self._last.number - 1)
            if crawl.change_counter() == before:
                break
        if moments and curves.seconds:
            number, moment = moments[-1]
            self._last = _Point(number, moment.run, moment.time_s, curves.seconds[-1], moment.pages)
        self._counter = before
        return self._live(crawl, curves)

    def _new_points(self, crawl: PageLists) -> Curves:
        began_s = {run.run: run.began_s for run in crawl.runs()}
        points: list[tuple[MomentRow, float, float | None]] = []
        last = self._last
        for number, moment in crawl.moments(-1 if last is None else last.number):
            since_s = last.time_s if last is not None and last.run == moment.run else began_s.get(moment.run)
            elapsed_s = max(0.0, moment.time_s - (moment.time_s if since_s is None else since_s))
            seconds = elapsed_s + (0.0 if last is None else last.seconds)
            n_pages = moment.pages - (0 if last is None else last.pages)
            points.append((moment, seconds, n_pages / elapsed_s if elapsed_s and last is not None else None))
            last = _Point(number, moment.run, moment.time_s, seconds, moment.pages)
        self._last = last
        return _curves(points)

    def _live(self, crawl: PageLists, new: Curves) -> Live:
        told: Crawl = crawl_answer(self._found, crawl)
        self._state = told.state
        latest = crawl.listed("latest", N_LATEST)
        return Live(told, new, taken_pages(latest, crawl, labels_of(crawl)))


def joined(first: Curves, second: Curves) -> Curves:
    """One after the other."""
    return Curves(**{name: getattr(first, name) + getattr(second, name) for name in Curves.__slots__})


def _curves(points: list[tuple[MomentRow, float, float | None]]) -> Curves:
    columns: dict[str, Any] = {
        name: tuple(getattr(moment, name) for moment, _, _ in points)
        for name in Curves.__slots__
        if name not in ("seconds", "pages_per_s")
    }
    seconds = tuple(seconds for _, seconds, _ in points)
    return Curves(seconds=seconds, pages_per_s=tuple(speed for _, _, speed in points), **columns)


def _made(folder: Path) -> tuple[int, int]:
    """Another one after the folder was replaced."""
    try:
        found = (folder / ABOUT_FILE).stat()
    except OSError:
        raise BadInput(f"There is no crawl at {printable(folder)} any more.") from None
    return found.st_ino, found.st_mtime_ns
