"""What being watched costs a live crawl: CPU time per page, beside a crawl like it that nobody watches.

Rules
- Two crawls of `live` run at the same time, from the same server, and differ in one thing: a dashboard and a browser
  show one of them, the first and the second in turn. So whatever else the machine does, dashboard and browser included,
  slows both, and their ratio tells what being watched cost.
- Hosts rest after each request, as politeness has it, so that the machine is not busy.
- CPU time is that of a crawl's own process, from its first pages on. What a crawl notes for those who watch, whether
  anybody does or not, is counted by itself, in the thread that notes it.
- Of the ratios the median counts, and its interval by order: a moment's trouble spoils one pair, and no more than that.
"""

import json
import math
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.dashboard_process import RunningDashboard, browser_page, browser_path, running_dashboard
from benchmarks.live import CONNECTIONS, N_HOSTS, N_PAGES, PORT
from benchmarks.live_crawl import Work
from benchmarks.live_process import Measured, measured
from benchmarks.live_server import serving
from benchmarks.live_site import Measures, Site, site
from scenthound.errors import Failure

DELAY_S = 1.0
EARLY_PAGES = 500
MOST_SHARE = 0.02
LOOK_S = 0.2


def measure_watching(n_pairs: int, n_pages: int) -> None:
    path = browser_path()
    if path is None:
        print("  no Chromium, or no Playwright: what watching costs is not measured")
        return
    made_up = site(Measures(N_PAGES, N_HOSTS), PORT)
    ratios: list[float] = []
    notes: list[float] = []
    dashboard_ms: list[float] = []
    with serving(made_up):
        for pair in range(n_pairs):
            watched, beside = _pair(made_up, n_pages, path, pair % 2, dashboard_ms)
            ratios.append(_cpu_s_per_page(watched) / _cpu_s_per_page(beside))
            notes += [float(crawl.end.said["notes_cpu_s"]) / crawl.cpu_s for crawl in (watched, beside)]
            print(f"  pair {pair + 1} of {n_pairs}: {ratios[-1] - 1:+.1%}", flush=True)
    print(f"  what a crawl notes for those who watch: {np.mean(notes):.2%} of its CPU time")
    _print_ratio(ratios)
    print(f"  the dashboard itself takes {np.mean(dashboard_ms):.0f} CPU ms for each second that it watches")


def _pair(made_up: Site, n_pages: int, path: str, watched: int, dashboard_ms: list[float]) -> tuple[Measured, Measured]:
    """Two crawls at once: the one that is watched, and the other."""
    with tempfile.TemporaryDirectory(prefix="scenthound-watching-") as place, ThreadPoolExecutor(2) as both:
        folders = [Path(place) / name / "crawl" for name in ("first", "second")]
        for folder in folders:
            folder.parent.mkdir()
        with _watching(folders[watched], path, dashboard_ms):
            commands = [_command(made_up, folder, n_pages) for folder in folders]
            crawls = [both.submit(measured, command, "A crawl") for command in commands]
            ended = [crawl.result() for crawl in crawls]
    return ended[watched], ended[1 - watched]


def _command(made_up: Site, folder: Path, n_pages: int) -> list[str]:
    work = Work(str(folder), list(made_up.seeds), list(made_up.keywords), n_pages, CONNECTIONS, DELAY_S)
    return [sys.executable, "-m", "benchmarks.noting_crawl", json.dumps(asdict(work))]


@contextmanager
def _watching(folder: Path, path: str, dashboard_ms: list[float]) -> Iterator[None]:
    """A dashboard, and a browser on the page of the crawl that comes to be in a folder."""
    over, ready = threading.Event(), threading.Event()
    with running_dashboard(folder.parent) as dashboard, ThreadPoolExecutor(1) as beside:
        # In a thread, because Playwright belongs to the thread that started it.
        shown = beside.submit(_watch, dashboard, folder, path, ready, over)
        ready.wait(timeout=30)
        began_s, cpu_s = time.monotonic(), dashboard.cpu_s()
        try:
            yield
        finally:
            over.set()
        if not shown.result():
            raise Failure("The browser did not show the crawl, so nothing was measured.")
        dashboard_ms.append(1e3 * (dashboard.cpu_s() - cpu_s) / (time.monotonic() - began_s))


def _watch(dashboard: RunningDashboard, folder: Path, path: str, ready: threading.Event, over: threading.Event) -> bool:
    """Whether the browser showed the crawl with its pages."""
    with browser_page(path) as page:
        page.goto(dashboard.address)
        ready.set()
        while (name := dashboard.crawl_id(folder)) is None and not over.is_set():
            time.sleep(LOOK_S)
        page.goto(f"{dashboard.address}/crawls/{name}")
        # Playwright hears of the page only while it is asked.
        while not over.is_set():
            page.wait_for_timeout(1e3 * LOOK_S)
        return any(sign.isdigit() and sign != "0" for sign in page.inner_text("#number-pages"))


def _cpu_s_per_page(crawl: Measured) -> float:
    early = crawl.first_with(EARLY_PAGES) or crawl.lines[0]
    cpu_s = float(crawl.end.said["cpu_s"]) - float(early.said["cpu_s"])
    return cpu_s / max(1, crawl.end.pages - early.pages)


def _print_ratio(ratios: list[float]) -> None:
    shares = np.sort(np.array(ratios)) - 1
    place, middle = _place_of_bound(len(shares)), float(np.median(shares))
    most = float(shares[-1 - place])
    met = "met" if most < MOST_SHARE else "not decided" if middle < MOST_SHARE else "MISSED"
    print(
        f"  watched by a dashboard and a browser: {middle:+.1%} CPU time per page, median of {len(shares)} pairs (95 % "
        f"interval {shares[place]:+.1%} to {most:+.1%}); less than {MOST_SHARE:.0%} asked for: {met}",
        flush=True,
    )


def _place_of_bound(n: int) -> int:
    """The place, from either end of n values in order, between which the median is with 95 % confidence; the ends if
    there are too few."""
    beyond = 0.0
    for place in range(n):
        beyond += 2 * math.comb(n, place) / 2**n
        if beyond > 0.05:
            return max(0, place - 1)
    return 0
