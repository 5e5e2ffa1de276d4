"""Reads the updates of a crawl: its state, new points of its curves, and the latest pages.

The time of a new point continues from the last one as in `WorkingTime`: without pauses and the time between runs.
"""

import threading
from dataclasses import dataclass, fields

import numpy as np

from scenthound.crawler.state import crawl_state
from scenthound.errors import InvalidInput, printable
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.crawl_records import Sample
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import SPEED_WINDOW_S, CrawlCurves, display_curves, recent_speed
from scenthound.ui.dashboard.crawl_views import crawl_response, curves_response, labels_of, visited_pages
from scenthound.ui.dashboard.folders import FoundFolder, file_signature
from scenthound.ui.dashboard.responses import Curves, Live

N_LATEST_PAGES = 20
#: The complete curves are read again if the crawl commits meanwhile, up to this many times.
_MAX_READS = 5


@dataclass(frozen=True, slots=True)
class Updates:
    """`new` is for present subscribers, `complete` for those who have just connected; None if there is nothing."""

    new: Live | None
    complete: Live | None


@dataclass(frozen=True, slots=True)
class _Point:
    """The last point of the curves that was read."""

    number: int
    run: int
    time_s: float
    seconds: float
    paused: bool


class LiveReader:
    """Reads the updates of one crawl over one connection. Thread-safe."""

    def __init__(self, found: FoundFolder) -> None:
        self._found = found
        self._crawl: StoredCrawl | None = None
        self._signature: object = None
        self._counter = -1
        self._state = ""
        self._last: _Point | None = None
        #: Seconds and pages of the last points, from which the speed of the next ones is computed.
        self._recent: list[tuple[float, float]] = []
        self._lock = threading.Lock()

    def read(self, *, complete: bool, check: bool) -> Updates:
        """The updates since the last call; with `complete` also all points. With `check`, a crawl that committed
        nothing is checked too. InvalidInput if it cannot be read, or was replaced."""
        with self._lock:
            crawl = self._opened(check or complete)
            counter, state, last, recent = self._counter, self._state, self._last, self._recent
            # The crawl may commit at any time. Therefore all points come first, and new ones end with the last of them.
            everything = self._complete(crawl) if complete else None
            if not complete:
                self._counter = crawl.change_counter()
            is_new = self._counter != counter
            if check and not is_new:
                is_new = crawl_state(crawl).state != state
            if counter < 0 or not is_new:
                return Updates(None, everything)
            points, latest, known = _new_points(crawl, last, recent, self._last_number if complete else None)
            if not complete:
                self._last, self._recent = latest, known
            return Updates(self._live(crawl, points), everything)

    @property
    def _last_number(self) -> int:
        return -1 if self._last is None else self._last.number

    def close(self) -> None:
        with self._lock:
            if self._crawl is not None:
                self._crawl.close()
                self._crawl = None

    def _opened(self, check: bool) -> StoredCrawl:
        path = self._found.path
        signature = file_signature(path / ABOUT_FILE) if check or self._crawl is None else self._signature
        if signature is None:
            raise InvalidInput(f"There is no longer a crawl at {printable(path)}.")
        if self._crawl is None:
            self._crawl, self._signature = StoredCrawl.open(path), signature
        elif signature != self._signature:
            raise InvalidInput(f"{printable(path)} was replaced by another crawl.")
        return self._crawl

    def _complete(self, crawl: StoredCrawl) -> Live:
        for _ in range(_MAX_READS):
            before = crawl.change_counter()
            curves = curves_response(display_curves(crawl, is_alive=crawl_state(crawl).is_alive))
            samples = crawl.samples(self._last_number - 1)
            if crawl.change_counter() == before:
                break
        seconds, pages = (np.nan_to_num(np.array(curves[name], np.float64)).tolist() for name in ("seconds", "pages"))
        if samples and seconds:
            number, sample = samples[-1]
            self._last = _Point(number, sample.run, sample.time_s, seconds[-1], sample.paused)
        self._counter = before
        self._recent = _recent(list(zip(seconds, pages, strict=True)))
        return self._live(crawl, curves)

    def _live(self, crawl: StoredCrawl, new: Curves) -> Live:
        response = crawl_response(self._found, crawl)
        self._state = response.state
        return Live(response, new, visited_pages(crawl.listed("latest", N_LATEST_PAGES), crawl, labels_of(crawl)))


def _new_points(
    crawl: StoredCrawl, last: _Point | None, recent: list[tuple[float, float]], until: int | None
) -> tuple[Curves, _Point | None, list[tuple[float, float]]]:
    """The points after `last`, up to number `until` if it is given; the last of them, and the recent ones."""
    began_s = {run.run: run.began_s for run in crawl.runs()}
    points: list[tuple[Sample, float]] = []
    for number, sample in crawl.samples(-1 if last is None else last.number):
        if until is not None and number > until:
            break
        seconds = _worked_s(last, sample, began_s) + (0.0 if last is None else last.seconds)
        points.append((sample, seconds))
        last = _Point(number, sample.run, sample.time_s, seconds, sample.paused)
    known = [*recent, *((seconds, sample.n_pages) for sample, seconds in points)]
    return _curves(points, known), last, _recent(known)


def _worked_s(last: _Point | None, sample: Sample, began_s: dict[int, float]) -> float:
    """The active seconds since the last point."""
    if last is None or last.run != sample.run:
        return max(0.0, sample.time_s - began_s.get(sample.run, sample.time_s))
    return 0.0 if last.paused and sample.paused else max(0.0, sample.time_s - last.time_s)


def _recent(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The last points, from the latest one that is at least `SPEED_WINDOW_S` before the end."""
    early = [index for index, (seconds, _) in enumerate(points) if seconds <= points[-1][0] - SPEED_WINDOW_S]
    return points[early[-1] :] if early else points


def _curves(points: list[tuple[Sample, float]], known: list[tuple[float, float]]) -> Curves:
    """The new points; `known` are seconds and pages of earlier points and of these."""
    seconds, pages = (np.array(column, np.float64) for column in (zip(*known, strict=True) if known else ((), ())))
    speed = recent_speed(seconds, pages)[len(known) - len(points) :].tolist()
    computed: Curves = {
        "seconds": tuple(each for _, each in points),
        "pages": tuple(sample.n_pages for sample, _ in points),
        "pages_per_s": tuple(speed),
    }
    names = [each.name for each in fields(CrawlCurves)]
    return {
        name: computed[name] if name in computed else tuple(getattr(sample, name) for sample, _ in points)
        for name in names
    }
