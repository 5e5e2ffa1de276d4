"""How long a crawl of a million pages takes to open: from the start of `scenthound dashboard` to all that its first
page asks for, and in a browser to the curve drawn.

Cold means that the crawl's files were forgotten by the system's cache before. Programs stay in it, as they do on a
machine where somebody crawls.
"""

import os
import tempfile
import time
from pathlib import Path

from benchmarks.dashboard_process import RunningDashboard, browser_page, browser_path, running_dashboard
from benchmarks.large_crawl import write_large_crawl

MOST_S = 2.0
#: What the page of a crawl asks for when it is opened; the crawl's id stands for the braces.
ASKED = ("/crawls/{}", "/api/crawls/{}", "/api/crawls/{}/curves", "/api/crawls/{}/pages?order=latest&limit=50")
#: Looks through much of the crawl, and is asked for beside or later.
ASKED_LATER = ("/api/crawls/{}/pages/500000", "/api/crawls/{}/hosts", "/api/crawls/{}/pages?order=best", "/metrics")
#: A curve that is drawn has a line of many points.
DRAWN = "() => [...document.querySelectorAll('svg path')].some((path) => (path.getAttribute('d') ?? '').length > 200)"


def measure_opening(n_pages: int) -> None:
    with tempfile.TemporaryDirectory(prefix="scenthound-dashboard-") as place:
        folder = Path(place) / "crawl"
        began_s = time.monotonic()
        write_large_crawl(folder, n_pages)
        size_mb = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
        print(f"  a crawl of {n_pages:,} pages, {size_mb:,.0f} MB, written in {time.monotonic() - began_s:.0f} s")
        for how in ("cold", "warm", "cold", "warm"):
            _measure_start(folder, how)
        _measure_browser(folder)


def _measure_start(folder: Path, how: str) -> None:
    if how == "cold":
        _forget(folder)
    with running_dashboard(folder) as dashboard:
        listening_s = time.monotonic() - dashboard.started_s
        asked = _asked(dashboard, folder)
        total_s = time.monotonic() - dashboard.started_s
        later = _asked(dashboard, folder, ASKED_LATER)
    met = "met" if total_s < MOST_S else "MISSED"
    print(f"  {how}: listening after {listening_s:.2f} s, opened after {total_s:.2f} s; {MOST_S:g} asked for: {met}")
    print(f"    {_told(asked)}")
    print(f"    further: {_told(later)}", flush=True)


def _asked(dashboard: RunningDashboard, folder: Path, paths: tuple[str, ...] = ASKED) -> dict[str, float]:
    """How many seconds each answer took."""
    name = dashboard.crawl_id(folder)
    took_s = {}
    for path in paths:
        began_s = time.monotonic()
        dashboard.get(path.format(name))
        took_s[path.replace("/{}", "")] = time.monotonic() - began_s
    return took_s


def _told(took_s: dict[str, float]) -> str:
    return "  ".join(f"{path} {1e3 * seconds:.0f} ms" for path, seconds in took_s.items())


def _measure_browser(folder: Path) -> None:
    path = browser_path()
    if path is None:
        print("  no Chromium, or no Playwright: how long a browser takes is not measured")
        return
    with browser_page(path) as page:
        for how in ("cold", "warm"):
            if how == "cold":
                _forget(folder)
            with running_dashboard(folder) as dashboard:
                name = dashboard.crawl_id(folder)
                ready_s = time.monotonic()
                page.goto(f"{dashboard.address}/crawls/{name}")
                page.wait_for_function(DRAWN)
                drawn_s = time.monotonic()
                page.goto("about:blank")
            print(
                f"  {how}, in Chromium: the curve is drawn {drawn_s - ready_s:.2f} s after its address was entered, "
                f"{drawn_s - dashboard.started_s:.2f} s after the dashboard was started",
                flush=True,
            )


def _forget(folder: Path) -> None:
    """Let the system's cache forget the files of the crawl."""
    for file in filter(Path.is_file, folder.rglob("*")):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
