"""Kill -9 at forty random times of a live crawl: nothing may be lost or fetched twice (3 minutes).

The exit code is 1 if a check fails. The checks do not rely on the crawler: this process reads the crawl folder right
before and right after each kill, and the server logs all requests. Checked in each round:
- pages and robots.txt files acknowledged before the kill are stored after it, and until the end;
- what is stored after the kill is never requested again.
Checked at the end: the crawl delay was kept across kills, no page was visited twice, and the archive passes `warcio
check` and `fastwarc check` and has each visited page once.
"""

import itertools
import math
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks import command_parser
from benchmarks.live_crawl import LiveCrawl
from benchmarks.live_server import LoggedRequest, folder_pages, read_request_log
from benchmarks.live_site import PORT, STANDARD, Site, write_site
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.folder import is_kind
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.static_server import StaticServer
from scenthound.web.urls import host_of

ROUNDS = 40
#: The crawl delay of this many kills. More of them have a longer one, so that the crawl does not end before the last.
DELAY_S, ROUNDS_WITH_DELAY = 1.0, 10
CONNECTIONS = 128
#: Maximum time of a kill after the first report of the crawl.
MAX_ROUND_S = 2.5
#: Every fourth kill comes earlier, while the crawl is being resumed: at most this long after its process was started.
EARLY_EVERY = 4
MAX_EARLY_S = 1.0
#: The last run is stopped with SIGINT.
LAST_RUN_S = 4.0
STOP_TIMEOUT_S = 30.0
#: On a busy machine requests reach the server late.
TOLERANCE_S = 0.05
#: Kills between two lines of progress.
PROGRESS_EVERY = 100
_SEED = 40


@dataclass(frozen=True, slots=True)
class Round:
    """One kill, with the URLs stored right before it (`acknowledged`) and right after it."""

    alive_s: float
    is_early: bool
    exit_code: int
    killed_at_s: float
    acknowledged: frozenset[str]
    stored: frozenset[str]


def main() -> int:
    parser = command_parser("live_kills", __doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="number of kills")
    parser.add_argument("--port", type=int, default=PORT, help="port of the web server")
    options = parser.parse_args()
    site = write_site(STANDARD, options.port)
    with tempfile.TemporaryDirectory(prefix="scenthound-live-") as temporary:
        log = Path(temporary) / "requests.log"
        crawl = _crawl(site, Path(temporary) / "crawl", max(DELAY_S, DELAY_S * options.rounds / ROUNDS_WITH_DELAY))
        rng = random.Random(_SEED)
        with StaticServer(folder_pages(site.folder), site.hosts, options.port, log):
            rounds: list[Round] = []
            known: dict[str, str] = {}
            for number in range(1, options.rounds + 1):
                rounds.append(_run_and_kill(crawl, rng, number % EARLY_EVERY == 0, known))
                if number % PROGRESS_EVERY == 0:
                    print(f"  {number:,} kills, {len(rounds[-1].stored):,} pages and robots.txt files", flush=True)
            code = _run_and_stop(crawl)
        requests = read_request_log(log)
        failures = [f"the last run ended with exit code {code}"] if code != 0 else []
        failures += _print_rounds(rounds, requests)
        failures += _failures_at_the_end(crawl, rounds, requests)
    for failure in failures:
        print(f"  FAILED: {failure}")
    print(f"  {options.rounds} kills: {'checks failed' if failures else 'nothing lost, nothing fetched twice'}")
    return 1 if failures else 0


def _crawl(site: Site, folder: Path, delay_s: float) -> LiveCrawl:
    return LiveCrawl(
        folder=str(folder),
        seeds=list(site.seeds[:100]),
        keywords=list(site.keywords),
        n_pages=STANDARD.n_pages,
        connections=CONNECTIONS,
        delay_s=delay_s,
        # Frequent commits, so that kills interrupt some of them.
        commit_s=0.1,
    )


def _run_and_kill(crawl: LiveCrawl, rng: random.Random, is_early: bool, known: dict[str, str]) -> Round:
    """`known` has each URL once, so that rounds share its text."""
    folder, alive_s = Path(crawl.folder), rng.uniform(0, MAX_EARLY_S if is_early else MAX_ROUND_S)
    with subprocess.Popen(crawl.command(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if not is_early:
            process.stdout.readline()
        time.sleep(alive_s)
        acknowledged = stored_urls(folder)
        process.kill()
        code = process.wait()
    acknowledged, stored = (
        frozenset(known.setdefault(url, url) for url in urls) for urls in (acknowledged, stored_urls(folder))
    )
    return Round(alive_s, is_early, code, time.time(), acknowledged, stored)


def _run_and_stop(crawl: LiveCrawl) -> int:
    process = subprocess.Popen(crawl.command(), stdout=subprocess.DEVNULL)
    time.sleep(LAST_RUN_S)
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def stored_urls(folder: Path) -> frozenset[str]:
    """The URLs of all stored pages and robots.txt files."""
    if not is_kind(folder, "crawl"):
        return frozenset()
    with StoredCrawl.open(folder) as stored:
        robots = (row.origin.removesuffix("/robots.txt") + "/robots.txt" for row in stored.robots())
        return frozenset((*robots, *visited_urls(stored)))


def visited_urls(stored: StoredCrawl) -> list[str]:
    return [visit.url for visit in stored.visits()]


def _print_rounds(rounds: list[Round], requests: list[LoggedRequest]) -> list[str]:
    print("  round  alive s   stored    new  requested, not stored  acknowledged and lost  stored and fetched again")
    failures = []
    stored_before: frozenset[str] = frozenset()
    for number, entry in enumerate(rounds, 1):
        lost = (entry.acknowledged | stored_before) - entry.stored
        again = requested_urls(requests, entry.killed_at_s, math.inf) & entry.stored
        not_stored = requested_urls(requests, 0, entry.killed_at_s) - entry.stored
        n_new = len(entry.stored) - len(stored_before)
        alive = f"{entry.alive_s:.2f}{'*' if entry.is_early else ' '}"
        print(
            f"  {number:5} {alive:>8} {len(entry.stored):8,}  {n_new:5,}  {len(not_stored):21}"
            f"  {len(lost):21}  {len(again):24}"
        )
        if entry.exit_code != -signal.SIGKILL:
            failures.append(f"round {number}: the crawl ended before the kill, with exit code {entry.exit_code}")
        if lost or again:
            failures.append(
                f"round {number}: {len(lost)} lost, {len(again)} fetched again, such as {min(lost | again)}"
            )
        stored_before = entry.stored
    print("  * since the start of the process; others since the first report of the crawl")
    return failures


def requested_urls(requests: list[LoggedRequest], from_s: float, to_s: float) -> set[str]:
    return {request.url for request in requests if from_s <= request.time_s < to_s}


def _failures_at_the_end(crawl: LiveCrawl, rounds: list[Round], requests: list[LoggedRequest]) -> list[str]:
    folder = Path(crawl.folder)
    with StoredCrawl.open(folder) as stored:
        visits = Counter(visited_urls(stored))
    failures = [f"{url} was visited {count} times" for url, count in visits.items() if count > 1]
    failures += [f"{url} was lost" for url in rounds[-1].stored - stored_urls(folder)]
    failures += _impolite(rounds, requests, crawl.delay_s)
    archived = archived_urls(folder)
    failures += [f"{url} is {archived[url]} times in the archive" for url in visits if archived[url] != 1]
    files = sorted(str(file) for file in (folder / ARCHIVE_FOLDER).glob("*.warc.gz"))
    failures += [problem for tool in ("warcio", "fastwarc") for problem in check_archive(tool, files)]
    print(f"  at the end {len(visits):,} pages visited, {archived.total():,} responses archived in {len(files)} files")
    return failures


def _impolite(rounds: list[Round], requests: list[LoggedRequest], delay_s: float) -> list[str]:
    """Requests to a host before its crawl delay was over."""
    by_host = sorted(requests, key=lambda request: (host_of(request.url), request.time_s))
    pairs = [
        (before, after)
        for before, after in itertools.pairwise(by_host)
        if host_of(before.url) == host_of(after.url) and after.time_s - before.time_s < delay_s - TOLERANCE_S
    ]
    if not pairs:
        return []
    before, after = min(pairs, key=lambda pair: pair[1].time_s - pair[0].time_s)
    kills = [entry.killed_at_s for entry in rounds]
    n_across = sum(any(before.time_s <= kill_s <= after.time_s for kill_s in kills) for before, after in pairs)
    return [
        f"{len(pairs)} requests were too early, {n_across} of them after a kill; the shortest delay was "
        f"{after.time_s - before.time_s:.3f} s: {after.url}"
    ]


def archived_urls(folder: Path) -> Counter[str]:
    """How often each URL has a response in the archive, read by warcio."""
    from warcio.archiveiterator import ArchiveIterator

    found: Counter[str] = Counter()
    for file in sorted((folder / ARCHIVE_FOLDER).glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return found


def check_archive(tool: str, files: list[str]) -> list[str]:
    """The files that the tool reports as invalid."""
    program = str(Path(sys.executable).with_name(tool))
    failures = []
    for file in files:
        checked = subprocess.run([program, "check", file], capture_output=True, text=True, check=False)
        if checked.returncode != 0:
            output = (checked.stdout + checked.stderr).strip().splitlines()
            failures.append(f"{tool} check of {Path(file).name}: {output[-1] if output else 'no output'}")
    print(f"  {tool} check: {len(files) - len(failures)} of {len(files)} files passed")
    return failures


if __name__ == "__main__":
    sys.exit(main())
