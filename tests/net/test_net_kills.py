"""Crawls that are killed again and again, by kill -9 while they request a page, and resumed each time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import scenthound as sh
from net_site import Server, Site, served, small_site

N_PAGES = 90
#: Two crawls in strict order, whose order is known, and two with several connections.
CRAWLS = {
    "strict": ("--strict-order", "--strategy", "link_context"),
    "random": ("--strict-order", "--strategy", "infospiders"),
    "default": ("--connections", "4"),
    "otie": ("--connections", "8", "--strategy", "otie"),
}
#: At which page of each run a crawl is killed; twenty kills. The crawls do not end before.
KILLS = ((19, 3, 17, 1, 23), (2, 21, 14, 18, 6), (16, 24, 5, 15, 20), (22, 4, 18, 13, 16))
#: Commits take place once a second. At this distance of answers some kills come before the first commit, some after.
ANSWER_S = 0.08


class PacedServer:
    """Answers slowly, and kills the process of a run while its n-th page is requested."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._kill_at = self._n = self._process = 0
        self._lock = Lock()
        server.before = self._before

    def _before(self, url: str) -> None:
        if url.endswith("/robots.txt"):
            return
        with self._lock:
            time.sleep(ANSWER_S)
            self._n += 1
            if self._n == self._kill_at:
                os.kill(self._process, signal.SIGKILL)

    def run(self, runner: "subprocess.Popen[str]", arguments: tuple[str, ...], kill_at: int) -> int:
        """Run the program, kill it, and return its exit code."""
        assert runner.stdin is not None
        assert runner.stdout is not None
        with self._lock:
            runner.stdin.write(json.dumps(["crawl", *arguments, "--json"]) + "\n")
            runner.stdin.flush()
            self._process = int(runner.stdout.readline())
            self._kill_at, self._n = kill_at, 0
        return int(runner.stdout.readline())


@contextmanager
def runner() -> Iterator["subprocess.Popen[str]"]:
    """A process that runs the program in children."""
    command = [sys.executable, str(Path(__file__).with_name("forked_runs.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def killed_again_and_again(site: Site, folder: Path, options: tuple[str, ...], kills: tuple[int, ...]) -> list[str]:
    """The pages of a crawl in their order."""
    crawl, seeds = folder / "crawl", [*site.pages][:2]
    folder.mkdir()
    with served(site, folder) as server, runner() as running:
        paced = PacedServer(server)
        where = ("--hosts", str(server.hosts_file), "--allow-private", "--delay", "0", "--out", str(crawl))
        what = ("--keywords", "balloon", "--seed", seeds[0], "--seed", seeds[1], "--pages", str(N_PAGES))
        start, resume = (*what, *where, *options), ("--resume", str(crawl))
        stored: list[str] = []
        n_requests = 0
        for number, kill_at in enumerate((*kills, 0)):
            code = paced.run(running, resume if number else start, kill_at)
            assert code == (-signal.SIGKILL if kill_at else 0)
            again = {*stored} & {*server.requests[n_requests:]}
            assert not again, f"stored before kill {number}, and requested after it"
            before, stored = stored, [page.url for page in sh.open_crawl(crawl).pages]
            assert stored[: len(before)] == before, f"lost by kill {number}"
            n_requests = len(server.requests)
    assert len({*stored}) == len(stored) == N_PAGES
    return stored


def test_nothing_stored_is_lost_or_requested_again(tmp_path: Path) -> None:
    site = small_site(140)
    jobs = [(site, tmp_path / name, CRAWLS[name], kills) for name, kills in zip(CRAWLS, KILLS, strict=True)]
    with ThreadPoolExecutor(len(jobs)) as pool:
        traces = [*pool.map(lambda job: killed_again_and_again(*job), jobs)]
    # In strict order a crawl that was killed is the one that was not.
    with served(site, tmp_path) as server:
        how = {"hosts": server.hosts_file, "allow_private": True, "delay": 0, "render": "never", "progress": False}
        topic, seeds = sh.Topic("balloon", keywords=("balloon",)), [*site.pages][:2]
        for trace, strategy in zip(traces, ("link_context", "infospiders"), strict=False):
            out = tmp_path / f"complete-{strategy}"
            crawl = sh.crawl(topic, seeds, out=out, strategy=strategy, strict_order=True, pages=N_PAGES, **how)
            assert trace == [page.url for page in crawl.pages]
