"""The cost of a commit log, and what it withstands (5 minutes; 1 with `--pages 2000 --rounds 1 --commits 1000`).

The generated site (`live_site`) is crawled with and without a log in alternating rounds; the median of the rounds
counts. CPU time is that of all processes of a crawl. Then a crawl folder is rebuilt from its log and compared with the
original: all rows of the database, and all bytes of the archive.

The exit code is 1 if a check fails. Two processes race for the same commits, and each number must have one owner. A
crawl crashes at every call that writes, and two successors take over: nothing acknowledged may be lost, and nothing
applied twice (`commit_log_faults`).
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks import command_parser, port, positive, target
from benchmarks.commit_log_faults import content_of, crash_at_every_write, race
from benchmarks.live import CONNECTIONS
from benchmarks.live_crawl import LiveCrawl
from benchmarks.live_server import serving
from benchmarks.live_site import PORT, STANDARD, Site, write_site
from benchmarks.processes import MeasuredCrawl
from scenthound.errors import Failure
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_store import CrawlStore

MAX_MS_PER_PAGE = 0.1


def main() -> int:
    parser = command_parser("commit_log", __doc__)
    parser.add_argument("--pages", type=positive, default=STANDARD.n_pages, help="pages of each crawl")
    parser.add_argument("--rounds", type=positive, default=3, help="crawls with and without a log")
    parser.add_argument("--commits", type=positive, default=10_000, help="commits to race for")
    parser.add_argument("--port", type=port, default=PORT, help="port of the web server")
    options = parser.parse_args()
    site = write_site(STANDARD, options.port)
    with tempfile.TemporaryDirectory(prefix="scenthound-log-") as folder:
        with serving(site):
            _print_costs(site, Path(folder), options.pages, options.rounds)
        try:
            _print_rebuilding(Path(folder))
            _print_faults(Path(folder), options.commits)
        except Failure as failure:
            print(f"  {failure}", file=sys.stderr)
            return 1
    return 0


def _print_costs(site: Site, folder: Path, n_pages: int, rounds: int) -> None:
    measured: dict[bool, list[MeasuredCrawl]] = {False: [], True: []}
    for number in range(rounds):
        for has_log, crawls in measured.items():
            place = folder / f"{'with' if has_log else 'without'}-{number}"
            crawl = LiveCrawl(f"{place}/crawl", [site.seeds[0]], list(site.keywords), n_pages, CONNECTIONS)
            crawls.append(replace(crawl, commit_log=f"{place}/log" if has_log else None).measure())
    without, with_log = (median(each.cpu_ms_per_page for each in measured[has_log]) for has_log in (False, True))
    shown = {name: ", ".join(f"{each.cpu_ms_per_page:.3f}" for each in crawls) for name, crawls in measured.items()}
    print(f"  crawl of {n_pages:,} pages, CPU ms per page: {without:.3f} without a log ({shown[False]}), ", end="")
    print(f"{with_log:.3f} with one ({shown[True]}); {with_log - without:+.3f}; ", end="")
    print(target(f"at most {MAX_MS_PER_PAGE}", is_met=with_log - without <= MAX_MS_PER_PAGE), flush=True)


def _print_rebuilding(folder: Path) -> None:
    original, log = folder / "with-0" / "crawl", folder / "with-0" / "log"
    rebuilt = folder / "rebuilt"
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    with CrawlStore.open(rebuilt, commit_log=log) as store:
        seconds, cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
        n_pages, n_commits = store.n_visits(), store.change_counter()
    with CrawlStore.open(original):
        if content_of(original) != content_of(rebuilt):
            raise Failure("The rebuilt folder differs from the original.")
    n_bytes = sum(file.stat().st_size for file in log.iterdir())
    archive_bytes = sum(file.stat().st_size for file in (rebuilt / ARCHIVE_FOLDER).iterdir())
    print(f"  rebuilding {n_pages:,} pages of {n_commits:,} commits: {1e6 * cpu_s / n_pages:.0f} µs CPU and ", end="")
    print(f"{1e6 * seconds / n_pages:.0f} µs in all for a page; rows and archive are identical; the log has ", end="")
    print(f"{n_bytes / 1e6:.1f} MB, the archive {archive_bytes / 1e6:.1f} MB", flush=True)


def _print_faults(folder: Path, n_commits: int) -> None:
    (folder / "race").mkdir()
    raced = race(folder / "race", n_commits)
    print(f"  race for {n_commits:,} commits: won {raced.won[0]:,} and {raced.won[1]:,}, too late ", end="")
    print(f"{raced.fenced[0]:,} and {raced.fenced[1]:,} times; one owner each; {raced.seconds:.1f} s", flush=True)
    crashed = crash_at_every_write(folder / "crashes")
    print(f"  {crashed.n_crashes:,} crashes, at every call that writes: nothing lost, nothing applied twice; ", end="")
    print(f"{crashed.n_before_log:,} before there was a log, {crashed.n_unreturned:,} with a commit in the log only")


if __name__ == "__main__":
    sys.exit(main())
