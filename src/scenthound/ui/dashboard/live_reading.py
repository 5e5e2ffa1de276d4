"""What is new in a crawl that is watched: the whole of it first, and then what was committed since.

Rules
- One reader has one connection. Any thread may call, one at a time.
- The time of a new point goes on from the last one, as `lab/overview/working_time` counts it: the time between runs and
  pauses are left out.
"""

import threading
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from scenthound.crawler.state import crawl_state
from scenthound.errors import InvalidInput, printable
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.crawl_records import Sample
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import SPEED_WINDOW_S, CrawlCurves, display_curves, recent_speed
from scenthound.ui.dashboard.crawl_views import crawl_answer, curves_answer, finite, labels_of, taken_pages
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.responses import Crawl, Curves, Live

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
    paused: bool


class LiveReader:
    """Reads one crawl for all who watch it."""

    def __init__(self, found: FoundFolder) -> None:
        self._found = found
        self._crawl: StoredCrawl | None = None
        self._made: object = None
        self._counter = -1
        self._state = ""
        self._last: _Point | None = None
        #: Seconds and pages of the last points, which the speed of the next ones is told by.
        self._late: list[tuple[float, float]] = []
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

    def _opened(self, look: bool) -> StoredCrawl:
        made = _made(self._found.path) if look or self._crawl is None else self._made
        if self._crawl is not None and made != self._made:
            raise InvalidInput(f"{printable(self._found.path)} has been replaced by another crawl.")
        if self._crawl is None:
            self._crawl = StoredCrawl.open(self._found.path)
            self._made = made
        return self._crawl

    def _whole(self, crawl: StoredCrawl) -> Live:
        for _ in range(_TRIES):
            before = crawl.change_counter()
            curves = curves_answer(display_curves(crawl, is_alive=crawl_state(crawl).is_alive))
            samples = crawl.samples(-1 if self._last is None else self._last.number - 1)
            if crawl.change_counter() == before:
                break
        seconds, pages = (np.nan_to_num(np.array(curves[name], np.float64)).tolist() for name in ("seconds", "pages"))
        if samples and seconds:
            number, sample = samples[-1]
            self._last = _Point(number, sample.run, sample.time_s, seconds[-1], sample.paused)
        self._counter = before
        self._late = _late(list(zip(seconds, pages, strict=True)))
        return self._live(crawl, curves)

    def _new_points(self, crawl: StoredCrawl) -> Curves:
        began_s = {run.run: run.began_s for run in crawl.runs()}
        points: list[tuple[Sample, float]] = []
        last = self._last
        for number, sample in crawl.samples(-1 if last is None else last.number):
            elapsed_s = _worked_s(last, sample, began_s)
            seconds = elapsed_s + (0.0 if last is None else last.seconds)
            points.append((sample, seconds))
            last = _Point(number, sample.run, sample.time_s, seconds, sample.paused)
        self._last = last
        known = [*self._late, *((seconds, sample.n_pages) for sample, seconds in points)]
        self._late = _late(known)
        return _curves(points, known)

    def _live(self, crawl: StoredCrawl, new: Curves) -> Live:
        told: Crawl = crawl_answer(self._found, crawl)
        self._state = told.state
        latest = crawl.listed("latest", N_LATEST)
        return Live(told, new, taken_pages(latest, crawl, labels_of(crawl)))


def _worked_s(last: _Point | None, sample: Sample, began_s: dict[int, float]) -> float:
    """The seconds of work since the last point."""
    if last is None or last.run != sample.run:
        return max(0.0, sample.time_s - began_s.get(sample.run, sample.time_s))
    return 0.0 if last.paused and sample.paused else max(0.0, sample.time_s - last.time_s)


def joined(first: Curves, second: Curves) -> Curves:
    """One after the other."""
    return {name: first[name] + second[name] for name in first}


def _late(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The last points, from the one that the speed at the next point can be told by."""
    kept = [place for place, (seconds, _) in enumerate(points) if seconds <= points[-1][0] - SPEED_WINDOW_S]
    return points[kept[-1] :] if kept else points


def _curves(points: list[tuple[Sample, float]], known: list[tuple[float, float]]) -> Curves:
    """The new points; `known` are their seconds and pages behind those of points before."""
    seconds, pages = (np.array(column, np.float64) for column in (zip(*known, strict=True) if known else ((), ())))
    speed = recent_speed(seconds, pages)[len(known) - len(points) :].tolist()
    return {
        "seconds": tuple(each for _, each in points),
        "pages": tuple(sample.n_pages for sample, _ in points),
        "pages_per_s": tuple(map(finite, speed)),
        **{
            each.name: tuple(getattr(sample, each.name) for sample, _ in points)
            for each in fields(CrawlCurves)
            if each.name not in ("seconds", "pages", "pages_per_s")
        },
    }


def _made(folder: Path) -> tuple[int, int]:
    """Another one after the folder was replaced."""
    try:
        found = (folder / ABOUT_FILE).stat()
    except OSError:
        raise InvalidInput(f"There is no crawl at {printable(folder)} any more.") from None
    return found.st_ino, found.st_mtime_ns
