"""The share of the request rate allowed by crawl delays that a live crawl reaches, on 1,000 hosts (2 minutes).

The crawl delay is one second; a minute is measured after a warm-up. Each host has a seed, so that the use of ready
hosts is measured, not how fast hosts are found. Pages are smaller than in `live`, and there are more of them.
"""

import itertools
import sys
import tempfile

from benchmarks import command_parser, target
from benchmarks.live_crawl import LiveCrawl
from benchmarks.live_server import server_name, serving
from benchmarks.live_site import SiteSize, write_site
from benchmarks.processes import MeasuredCrawl, Report
from scenthound.errors import Failure

N_HOSTS = 1_000
PAGES_PER_HOST = 100
DELAY_S = 1.0
#: One per host, so that connections never limit the crawl.
CONNECTIONS = 1_000
WARM_UP_S = 15.0
MEASURED_S = 60.0
MIN_SHARE = 0.9
PORT = 18_081


def main() -> int:
    parser = command_parser("live_politeness", __doc__)
    parser.add_argument("--port", type=int, default=PORT, help="port of the web server")
    parser.add_argument("--seconds", type=float, default=MEASURED_S, help="seconds to measure")
    options = parser.parse_args()
    site = write_site(SiteSize(N_HOSTS * PAGES_PER_HOST, N_HOSTS, n_links=30, n_words=300), options.port)
    print(f"  {N_HOSTS:,} hosts with {PAGES_PER_HOST} pages, crawl delay {DELAY_S:g} s; server: {server_name()}")
    with serving(site), tempfile.TemporaryDirectory(prefix="scenthound-live-") as temporary:
        crawl = LiveCrawl(
            folder=f"{temporary}/crawl",
            seeds=list(site.seeds),
            keywords=list(site.keywords),
            n_pages=N_HOSTS * PAGES_PER_HOST,
            connections=CONNECTIONS,
            delay_s=DELAY_S,
            # Pages are reported one commit after they were fetched.
            time_s=WARM_UP_S + options.seconds + 3,
        )
        return _print_share(crawl.measure(), options.seconds)


def _print_share(crawl: MeasuredCrawl, seconds: float) -> int:
    first, last = _report_at(crawl, WARM_UP_S), _report_at(crawl, WARM_UP_S + seconds)
    n_pages, measured_s = last.pages - first.pages, last.time_s - first.time_s
    share = n_pages / measured_s / (N_HOSTS / DELAY_S)
    print(f"  {n_pages:,} pages in {measured_s:.1f} s: {share:.1%} of the allowed rate; ", end="")
    print(target(f"at least {MIN_SHARE:.0%}", is_met=share >= MIN_SHARE))
    values = crawl.end.values
    cpu = f"{crawl.cpu_ms_per_page:.2f} CPU ms per page of {crawl.end.pages:,}"
    print(f"  {values['regret'] or 0:.1%} of scores given up; {cpu}")
    print(f"  ended: {values['ended']}; skipped: {values['reasons'] or 'none'}")
    return 0 if share >= MIN_SHARE else 1


def _report_at(crawl: MeasuredCrawl, time_s: float) -> Report:
    """The last report until this time with new pages: between two commits a report omits pages already fetched."""
    pairs = itertools.pairwise(crawl.reports)
    with_new_pages = [report for before, report in pairs if report.pages > before.pages and report.time_s <= time_s]
    if not with_new_pages or crawl.end.time_s < time_s:
        raise Failure(f"The crawl had no pages or had ended after {time_s:g} s; its last output is above.")
    return with_new_pages[-1]


if __name__ == "__main__":
    sys.exit(main())
