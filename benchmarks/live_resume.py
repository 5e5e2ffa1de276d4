"""What it takes to take a crawl up: CPU seconds, and seconds until the first page is asked for.

Run with `python -m benchmarks.live_resume`. A crawl of the live benchmark's site is stopped at a quarter of its pages
and when it has all of them, and taken up there. What a crawl with nothing behind it needs to start is told first, and
taken off: the rest grows with the pages. A few pages of the site are left, so that there is one to ask for.
"""

import argparse
import tempfile

from benchmarks.live import CONNECTIONS, N_HOSTS, N_PAGES, PORT
from benchmarks.live_crawl import Work, crawl_measured
from benchmarks.live_process import Line
from benchmarks.live_server import serving
from benchmarks.live_site import Measures, Site, site

#: Crawled when the crawl was taken up.
FURTHER_PAGES = 100
MOST_PAGES = N_PAGES - 2 * FURTHER_PAGES
#: The first request is seen so much late at most.
WATCH_S = 0.01
MOST_CPU_S_PER_1000 = 0.2


def main() -> None:
    options = _options()
    made_up = site(Measures(N_PAGES, N_HOSTS), options.port)
    with serving(made_up), tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        anew = _first_request(made_up, folder, options.pages // 4)
        print(f"  to start anew        {anew.said['cpu_s']:6.2f} CPU s  {anew.at_s:6.2f} s until a page is asked for")
        _print_taken_up(anew, _first_request(made_up, folder, options.pages // 4 + FURTHER_PAGES))
        _first_request(made_up, folder, options.pages)
        _print_taken_up(anew, _first_request(made_up, folder, options.pages + FURTHER_PAGES))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Stop a crawl and measure what taking it up costs.")
    parser.add_argument("--pages", type=int, default=MOST_PAGES, help=f"pages to crawl, at most {MOST_PAGES:,}")
    parser.add_argument("--port", type=int, default=PORT, help="port of the made-up site")
    return parser.parse_args()


def _first_request(made_up: Site, folder: str, n_pages: int) -> Line:
    """Crawl until there are so many pages, from what is there; what was said when the first request was under way."""
    work = Work(f"{folder}/crawl", [made_up.seeds[0]], list(made_up.keywords), n_pages, CONNECTIONS, watch_s=WATCH_S)
    return next(line for line in crawl_measured(work).lines if line.said["in_flight"])


def _print_taken_up(anew: Line, taken_up: Line) -> None:
    cpu_s, thousands = taken_up.said["cpu_s"] - anew.said["cpu_s"], taken_up.pages / 1e3
    is_met = "met" if cpu_s <= MOST_CPU_S_PER_1000 * thousands else "MISSED"
    print(
        f"  with {taken_up.pages:6,} pages    {taken_up.said['cpu_s']:6.2f} CPU s  {taken_up.at_s:6.2f} s;  beyond the"
        f" start {cpu_s:.2f} CPU s, {cpu_s / thousands:.3f} per 1,000 pages; {MOST_CPU_S_PER_1000} asked for: {is_met}",
        flush=True,
    )


if __name__ == "__main__":
    main()
