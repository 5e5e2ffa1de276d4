"""Forty rounds of kill -9 at random moments of a crawl, and the proof that nothing was lost and nothing fetched twice.

Run with `python -m benchmarks.live_kills`; the exit code is 1 if anything failed. The crawler is not asked for its
word: what is on the disk is read by this process right before and right after each kill, and the server logs all
requests. The proof, round by round:
- what was acknowledged before the kill is there after it, and stays to the end;
- what was there after the kill, pages and robots.txt files, is never requested again;
- the crawl keeps its manners across kills: no host is asked again before its rest is over.
And in the end: no page was visited twice, and the archive passes `warcio check` and `fastwarc check`, with each visited
page in it once.
"""

import argparse
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

from benchmarks.live import N_HOSTS, N_PAGES, PORT
from benchmarks.live_crawl import Work, command
from benchmarks.live_site import Measures, Site, site
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, is_crawl
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.static_server import LoggedRequest, StaticServer, folder_pages, read_request_log
from scenthound.web.urls import host_of

ROUNDS = 40
DELAY_S = 1.0
CONNECTIONS = 128
#: A kill comes so long at most after the crawl has begun to fetch; every fourth one so long at most after its process
#: was started, while the crawl is being taken up.
LONGEST_ROUND_S = 2.5
KILLED_EARLY = 4
LONGEST_EARLY_S = 1.0
#: The last run, which is stopped in good order.
LAST_RUN_S = 4.0
STOP_TIMEOUT_S = 30.0
#: Requests leave at their time, but reach the server when the machine comes to it.
TOLERANCE_S = 0.05
_SEED = 40


@dataclass(frozen=True, slots=True)
class Round:
    """What was seen of one kill: the URLs of what was on the disk right before it and right after it."""

    alive_s: float
    is_early: bool
    exit_code: int
    killed_at_s: float
    acknowledged: frozenset[str]
    stored: frozenset[str]


def main() -> int:
    options = _options()
    made_up = site(Measures(N_PAGES, N_HOSTS), options.port)
    with tempfile.TemporaryDirectory(prefix="scenthound-live-") as folder:
        log = Path(folder) / "requests.log"
        work = _work(made_up, Path(folder) / "crawl")
        with StaticServer(folder_pages(made_up.folder), made_up.hosts, options.port, log):
            rounds = _kill_again_and_again(work, options.rounds, random.Random(_SEED))
            code = _run_and_stop(work)
        requests = read_request_log(log)
        failures = [f"the last run ended with exit code {code}"] if code != 0 else []
        failures += _print_rounds(rounds, requests)
        failures += _failures_at_the_end(Path(work.folder), rounds, requests)
    for failure in failures:
        print(f"  FAILED: {failure}")
    print(f"  {options.rounds} kills: {'nothing lost, nothing fetched twice' if not failures else 'not proven'}")
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kill a crawl at random moments and take it up again.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how many kills")
    parser.add_argument("--port", type=int, default=PORT, help="port of the made-up site")
    return parser.parse_args()


def _work(made_up: Site, folder: Path) -> Work:
    return Work(
        folder=str(folder),
        seeds=list(made_up.seeds[:100]),
        keywords=list(made_up.keywords),
        n_pages=N_PAGES,
        connections=CONNECTIONS,
        delay_s=DELAY_S,
        # Commits come often, so that kills meet them.
        commit_s=0.1,
    )


# The crawl, killed


def _kill_again_and_again(work: Work, n_rounds: int, rng: random.Random) -> list[Round]:
    rounds = []
    for number in range(1, n_rounds + 1):
        is_early = number % KILLED_EARLY == 0
        rounds.append(
            _killed(work, rng.uniform(0, LONGEST_EARLY_S if is_early else LONGEST_ROUND_S), is_early=is_early)
        )
    return rounds


def _killed(work: Work, alive_s: float, *, is_early: bool) -> Round:
    folder = Path(work.folder)
    with subprocess.Popen(command(work), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if not is_early:
            # The first word of a crawl that runs.
            process.stdout.readline()
        time.sleep(alive_s)
        acknowledged = _stored(folder)
        process.kill()
        code = process.wait()
    return Round(alive_s, is_early, code, time.time(), acknowledged, _stored(folder))


def _run_and_stop(work: Work) -> int:
    process = subprocess.Popen(command(work), stdout=subprocess.DEVNULL)
    time.sleep(LAST_RUN_S)
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _stored(folder: Path) -> frozenset[str]:
    """What was had and is on the disk: pages and robots.txt files."""
    if not is_crawl(folder):
        return frozenset()
    with StoredCrawl.open(folder) as stored:
        robots = (row.origin.removesuffix("/robots.txt") + "/robots.txt" for row in stored.robots())
        return frozenset((*robots, *_visits(stored)))


def _visits(stored: StoredCrawl) -> list[str]:
    return [visit.url for visit in stored.visits()]


# The proof


def _print_rounds(rounds: list[Round], requests: list[LoggedRequest]) -> list[str]:
    print("  round  alive s   stored    new  asked for in vain  acknowledged and lost  stored and fetched again")
    failures = []
    stored_before: frozenset[str] = frozenset()
    for number, entry in enumerate(rounds, 1):
        lost = (entry.acknowledged | stored_before) - entry.stored
        again = _asked(requests, entry.killed_at_s, math.inf) & entry.stored
        in_vain = _asked(requests, 0, entry.killed_at_s) - entry.stored
        n_new = len(entry.stored) - len(stored_before)
        alive = f"{entry.alive_s:.2f}{'*' if entry.is_early else ' '}"
        print(
            f"  {number:5} {alive:>8} {len(entry.stored):8,}  {n_new:5,}  {len(in_vain):17}"
            f"  {len(lost):21}  {len(again):24}"
        )
        if entry.exit_code != -signal.SIGKILL:
            failures.append(f"round {number}: the crawl ended by itself, with exit code {entry.exit_code}")
        if lost or again:
            failures.append(f"round {number}: {len(lost)} lost, {len(again)} fetched again, as {min(lost | again)}")
        stored_before = entry.stored
    print("  * since its start; the others since it began to fetch")
    return failures


def _asked(requests: list[LoggedRequest], from_s: float, to_s: float) -> set[str]:
    return {request.url for request in requests if from_s <= request.time_s < to_s}


def _failures_at_the_end(folder: Path, rounds: list[Round], requests: list[LoggedRequest]) -> list[str]:
    with StoredCrawl.open(folder) as stored:
        visits = Counter(_visits(stored))
    failures = [f"{url} was visited {count} times" for url, count in visits.items() if count > 1]
    failures += [f"{url} was lost" for url in rounds[-1].stored - _stored(folder)]
    failures += _impolite(rounds, requests)
    archived = _archived(folder)
    failures += [f"{url} is {archived[url]} times in the archive" for url in visits if archived[url] != 1]
    files = sorted(str(file) for file in (folder / ARCHIVE_FOLDER).glob("*.warc.gz"))
    failures += [problem for tool in ("warcio", "fastwarc") for problem in _check(tool, files)]
    print(
        f"  in the end {len(visits):,} pages visited, {sum(archived.values()):,} answers archived in {len(files)} files"
    )
    return failures


def _impolite(rounds: list[Round], requests: list[LoggedRequest]) -> list[str]:
    """Requests that came to a host before its rest was over."""
    by_host = sorted(requests, key=lambda request: (host_of(request.url), request.time_s))
    pairs = [
        (before, after)
        for before, after in itertools.pairwise(by_host)
        if host_of(before.url) == host_of(after.url) and after.time_s - before.time_s < DELAY_S - TOLERANCE_S
    ]
    if not pairs:
        return []
    before, after = min(pairs, key=lambda pair: pair[1].time_s - pair[0].time_s)
    kills = [entry.killed_at_s for entry in rounds]
    n_across = sum(any(before.time_s <= kill_s <= after.time_s for kill_s in kills) for before, after in pairs)
    return [
        f"{len(pairs)} requests came too early, {n_across} of them after a kill; the earliest after a rest of "
        f"{after.time_s - before.time_s:.3f} s: {after.url}"
    ]


def _archived(folder: Path) -> Counter[str]:
    """The URLs of the answers in the archive, as warcio reads it."""
    from warcio.archiveiterator import ArchiveIterator

    found: Counter[str] = Counter()
    for file in sorted((folder / ARCHIVE_FOLDER).glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return found


def _check(tool: str, files: list[str]) -> list[str]:
    """What the tool has to say against any of the files."""
    program = str(Path(sys.executable).with_name(tool))
    failures = []
    for file in files:
        checked = subprocess.run([program, "check", file], capture_output=True, text=True, check=False)
        if checked.returncode != 0:
            said = (checked.stdout + checked.stderr).strip().splitlines()
            failures.append(f"{tool} check of {Path(file).name}: {said[-1] if said else 'no word'}")
    print(f"  {tool} check: {len(files) - len(failures)} of {len(files)} files passed")
    return failures


if __name__ == "__main__":
    sys.exit(main())
