"""The cost of resuming a live crawl: CPU seconds, and seconds until the first request (1 minute).

A crawl is stopped at a quarter of its pages and near the end of the site, and resumed. The cost of starting a new crawl
is printed first and subtracted, which leaves the cost that grows with the number of pages. Some pages of the site are
left, so that the resumed crawl has a page to request.
"""

import tempfile

from benchmarks import command_parser, target
from benchmarks.live import CONNECTIONS
from benchmarks.live_crawl import LiveCrawl
from benchmarks.live_server import serving
from benchmarks.live_site import PORT, STANDARD, Site, write_site
from benchmarks.processes import Report

#: Pages to crawl after resuming.
MORE_PAGES = 100
MAX_PAGES = STANDARD.n_pages - 2 * MORE_PAGES
#: How late the first request may be noticed.
WATCH_S = 0.01
MAX_CPU_S_PER_1000 = 0.2


def main() -> None:
    parser = command_parser("live_resume", __doc__)
    parser.add_argument("--pages", type=int, default=MAX_PAGES, help=f"pages to crawl, at most {MAX_PAGES:,}")
    parser.add_argument("--port", type=int, default=PORT, help="port of the web server")
    options = parser.parse_args()
    site = write_site(STANDARD, options.port)
    with serving(site), tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        new = _first_request(site, folder, options.pages // 4)
        print(f"  new crawl            {new.values['cpu_s']:6.2f} CPU s  {new.time_s:6.2f} s until the first request")
        _print_resumed(new, _first_request(site, folder, options.pages // 4 + MORE_PAGES))
        _first_request(site, folder, options.pages)
        _print_resumed(new, _first_request(site, folder, options.pages + MORE_PAGES))


def _first_request(site: Site, folder: str, n_pages: int) -> Report:
    """Start or resume the crawl until it has this many pages; the first report with a request in flight."""
    crawl = LiveCrawl(
        f"{folder}/crawl", [site.seeds[0]], list(site.keywords), n_pages, CONNECTIONS, watch_s=WATCH_S
    ).measure()
    return next(report for report in crawl.reports if report.values["in_flight"])


def _print_resumed(new: Report, resumed: Report) -> None:
    cpu_s = resumed.values["cpu_s"] - new.values["cpu_s"]
    per_1000 = cpu_s / (resumed.pages / 1e3)
    print(f"  with {resumed.pages:6,} pages    {resumed.values['cpu_s']:6.2f} CPU s  {resumed.time_s:6.2f} s; ", end="")
    print(f"{cpu_s:.2f} CPU s more than a new crawl, {per_1000:.3f} per 1,000 pages; ", end="")
    print(target(f"at most {MAX_CPU_S_PER_1000}", is_met=per_1000 <= MAX_CPU_S_PER_1000), flush=True)


if __name__ == "__main__":
    main()
