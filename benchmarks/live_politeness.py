"""How much of what politeness allows is crawled: 1,000 hosts, a second of rest for each, a minute after warming up.

Run with `python -m benchmarks.live_politeness`. Each host has a page among the seeds: what is measured is how well
hosts are used that are ready, not how fast they are found. Pages are smaller than in `live`, and more of them.
"""

import argparse
import itertools
import sys
import tempfile

from benchmarks.live_crawl import Work, crawl_measured
from benchmarks.live_process import Line, Measured
from benchmarks.live_server import server_name, serving
from benchmarks.live_site import Measures, site
from scenthound.errors import Failure

N_HOSTS = 1_000
PAGES_A_HOST = 100
DELAY_S = 1.0
#: Every host may be asked about once a second: as many connections as hosts never hold a crawl up.
CONNECTIONS = 1_000
WARM_UP_S = 15.0
MEASURED_S = 60.0
LEAST_SHARE = 0.9
PORT = 18_081


def main() -> int:
    parser = argparse.ArgumentParser(description="Crawl 1,000 hosts politely.")
    parser.add_argument("--port", type=int, default=PORT, help="port of the made-up site")
    parser.add_argument("--seconds", type=float, default=MEASURED_S, help="how long to measure")
    options = parser.parse_args()
    made_up = site(Measures(N_HOSTS * PAGES_A_HOST, N_HOSTS, n_links=30, n_words=300), options.port)
    print(
        f"  {N_HOSTS:,} hosts, {DELAY_S:g} s of rest, {PAGES_A_HOST} pages each, served by {server_name()}", flush=True
    )
    with serving(made_up), tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        work = Work(
            folder=f"{folder}/crawl",
            seeds=list(made_up.seeds),
            keywords=list(made_up.keywords),
            n_pages=N_HOSTS * PAGES_A_HOST,
            connections=CONNECTIONS,
            delay_s=DELAY_S,
            # Pages are told a commit after they are taken.
            time_s=WARM_UP_S + options.seconds + 3,
        )
        return _print_share(crawl_measured(work), options.seconds)


def _print_share(crawl: Measured, seconds: float) -> int:
    first, last = _line_at(crawl, WARM_UP_S), _line_at(crawl, WARM_UP_S + seconds)
    n_pages, took_s = last.pages - first.pages, last.at_s - first.at_s
    share = n_pages / took_s / (N_HOSTS / DELAY_S)
    met = "met" if share >= LEAST_SHARE else "MISSED"
    print(f"  {n_pages:,} pages in {took_s:.1f} s: {share:.1%} of what politeness allows")
    print(f"  at least {LEAST_SHARE:.0%} asked for: {met}")
    said = crawl.end.said
    print(f"  mean regret {said['regret']:.3f}; {crawl.cpu_ms_per_page:.2f} CPU ms per page of {crawl.end.pages:,}")
    print(f"  ended: {said['ended']}; not taken: {said['reasons'] or 'none'}")
    return 0 if share >= LEAST_SHARE else 1


def _line_at(crawl: Measured, at_s: float) -> Line:
    """The last line before this moment that told of new pages: they are told when they are committed, so that a line
    between two commits says less than was done."""
    pairs = itertools.pairwise(crawl.lines)
    told = [line for before, line in pairs if line.pages > before.pages and line.at_s <= at_s]
    if not told or crawl.end.at_s < at_s:
        raise Failure(f"The crawl had no pages or was over after {at_s:g} s; what it printed last is above.")
    return told[-1]


if __name__ == "__main__":
    sys.exit(main())
