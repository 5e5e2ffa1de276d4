"""Crawls on a cluster of local nodes, in which something fails: what is kept, what is lost, and how long it takes.

    python -m benchmarks.cluster_faults            all faults
    python -m benchmarks.cluster_faults --fault shard-killed --pages 600

A web of several hosts is served on loopback addresses, and each request is logged. `scenthound crawl --cluster` crawls
it in shards on two nodes, and the fault is caused after a third of the pages. Then the logs of the shards, the folder
and the requests are checked. The strategy is OPIC, whose cash must be 1 in the end.
"""

import argparse
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import groupby, pairwise
from math import fsum
from pathlib import Path
from random import Random
from typing import Any

from scenthound.cluster.security import descendants
from scenthound.crawler.replay import started
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import shard_of
from scenthound.shards.logs import logs_of
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.static_server import StaticPage, StaticServer
from scenthound.web.urls import host_of

N_SHARDS = 4
N_HOSTS = 24
#: Hosts that share an address with another one.
N_SHARING = 8
DELAY_S = 0.1
#: How much earlier than allowed the server may see a request to an address, because the one before was delayed on its
#: way; this many requests in a row are compared.
TOLERANCE_S = 0.02
N_IN_A_ROW = 8
#: After this share of the pages something fails.
FAULT_AT = 0.3
#: A crawl that takes longer has gone wrong.
MAX_S = 300.0
#: Longer than the lease of a shard.
PAUSE_S = 16.0


class LoopbackWeb:
    """Pages of random words on many hosts; each page links to the next one and to some others."""

    def __init__(self, n_pages: int, folder: Path, seed: int = 1) -> None:
        rng = Random(seed)
        self.n_pages = n_pages
        self.addresses = {
            f"h{host}.test": f"127.63.{int(host < N_SHARING)}.{self._number(host)}" for host in range(N_HOSTS)
        }
        self._links = [[(page + 1) % n_pages, *(rng.randrange(n_pages) for _ in range(6))] for page in range(n_pages)]
        self.log = folder / "requests"
        self.server = StaticServer(self._page, sorted(set(self.addresses.values())), log=self.log)
        self.hosts_file = folder / "hosts"
        self.hosts_file.write_text("".join(f"{address} {host}\n" for host, address in self.addresses.items()))

    @staticmethod
    def _number(host: int) -> int:
        return host // 2 + 1 if host < N_SHARING else host

    def url(self, page: int) -> str:
        return f"http://h{page % N_HOSTS}.test:{self.server.port}/{page}"

    def _page(self, _host: str, path: str) -> StaticPage | None:
        name = path[1:]
        if not name.isdecimal() or int(name) >= self.n_pages:
            return None
        page = int(name)
        words = " ".join(f"w{page}x{i}" for i in range(40))
        links = "".join(f"<p>ship <a href='{self.url(link)}'>sea {link}</a>" for link in self._links[page])
        return StaticPage(f"<title>{page}</title><p>{words}{links}".encode())

    def n_requested(self) -> int:
        return sum(1 for url in self.server.requests if not url.endswith("robots.txt"))

    def requests(self) -> list[tuple[float, str]]:
        lines = (line.split(" ", 1) for line in self.log.read_text().splitlines())
        return [(float(time_s), url) for time_s, url in lines]


class Nodes:
    """A cluster of a head node without processors and two others, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.token = secrets.token_hex(32)
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self.token,
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        self.folders = [folder / f"disk{number}" for number in range(2)]
        for disk in self.folders:
            disk.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.ray_nodes", str(folder), *map(str, self.folders)],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                ready = json.loads(line)
                break
        else:
            raise SystemExit("The nodes of the cluster could not be started.")
        self.address: str = ready["address"]
        self.raylets: list[int] = ready["raylets"]

    def workers(self, node: int) -> list[int]:
        """The processes of shards on a node."""
        return [pid for pid in descendants(self.raylets[node]) if "ray::Bootstrap" in _title(pid)]

    def processes(self, node: int) -> list[int]:
        return [self.raylets[node], *descendants(self.raylets[node])]

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _title(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@dataclass
class FaultyCrawl:
    """A running crawl, and what can be done to it."""

    nodes: Nodes
    web: LoopbackWeb
    out: Path
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self, *arguments: object) -> None:
        with (self.out.parent / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scenthound", "crawl", "--cluster", self.nodes.address, *map(str, arguments)],
                env=self.nodes.environment,
                stdout=output,
                stderr=output,
            )

    def wait_for_pages(self, n_pages: int) -> None:
        until_s = time.monotonic() + MAX_S
        while self.web.n_requested() < n_pages:
            if self.process.poll() is not None or time.monotonic() > until_s:
                raise SystemExit(f"The crawl ended early: {(self.out.parent / 'output').read_text()[-2000:]}")
            time.sleep(0.05)

    def a_shard(self) -> int:
        return next(pid for node in range(2) for pid in self.nodes.workers(node))


def nothing(_crawl: FaultyCrawl) -> None:
    """No fault."""


def kill_shard(crawl: FaultyCrawl) -> None:
    """kill -9 of the process of a shard."""
    os.kill(crawl.a_shard(), signal.SIGKILL)


def kill_node(crawl: FaultyCrawl) -> None:
    """kill -9 of all processes of a node, whose disk is then erased."""
    _signal(crawl.nodes.processes(1), signal.SIGKILL)
    shutil.rmtree(crawl.nodes.folders[1], ignore_errors=True)


def pause_shard(crawl: FaultyCrawl) -> None:
    """A shard is stopped, replaced, and continued."""
    shard = crawl.a_shard()
    os.kill(shard, signal.SIGSTOP)
    time.sleep(PAUSE_S)
    _signal([shard], signal.SIGCONT)


def pause_node(crawl: FaultyCrawl) -> None:
    """All processes of a node are stopped, and continued after their leases have ended."""
    pids = crawl.nodes.processes(1)
    _signal(pids, signal.SIGSTOP)
    time.sleep(PAUSE_S)
    _signal(pids, signal.SIGCONT)


def kill_supervisor(crawl: FaultyCrawl) -> None:
    """kill -9 of the program that the user started, and --resume."""
    crawl.process.kill()
    crawl.process.wait()
    crawl.start("--resume", crawl.out)


FAULTS: dict[str, Callable[[FaultyCrawl], None]] = {
    "none": nothing,
    "shard-killed": kill_shard,
    "node-killed": kill_node,
    "shard-paused": pause_shard,
    "node-paused": pause_node,
    "supervisor-killed": kill_supervisor,
}


@dataclass(frozen=True)
class FaultResult:
    """What was found after a crawl with a fault. All counts of violations should be 0, and the cash 1."""

    fault: str
    n_pages: int
    n_visited: int  #: distinct pages in the folder
    n_visited_twice: int
    n_acknowledged_lost: int  #: commits that were in the logs when the fault came
    n_fetched_again: int  #: pages that were fetched, but not acknowledged
    cash: float
    n_nonlinear: int  #: commits of a writer after those of its successor
    n_foreign: int  #: pages that were visited by another shard than that of their host
    n_hosts_too_fast: int
    n_addresses_too_fast: int
    n_writers: int  #: processes that have written to logs
    seconds: float
    recovery_s: float  #: the longest time without a request after the fault

    @property
    def is_correct(self) -> bool:
        violations = (
            self.n_visited_twice,
            self.n_acknowledged_lost,
            self.n_nonlinear,
            self.n_foreign,
            self.n_hosts_too_fast,
            self.n_addresses_too_fast,
        )
        return not any(violations) and self.n_visited == self.n_pages and abs(self.cash - 1) < 1e-9


@contextmanager
def _temporary() -> Iterator[Path]:
    # Paths of Ray's sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="sh-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_fault(name: str, n_pages: int) -> FaultResult:
    with _temporary() as folder:
        nodes = Nodes(folder)
        try:
            return _run(name, n_pages, folder, nodes)
        finally:
            nodes.end()


def _run(name: str, n_pages: int, folder: Path, nodes: Nodes) -> FaultResult:
    web = LoopbackWeb(n_pages, folder)
    with web.server:
        crawl = FaultyCrawl(nodes, web, folder / "crawl")
        began_s = time.time()
        crawl.start(
            *("--keywords", "sea", "--seed", web.url(0), "--seed", web.url(1), "--hosts", web.hosts_file),
            *(
                "--allow-private",
                "--delay",
                DELAY_S,
                "--strategy",
                "opic",
                "--shards",
                N_SHARDS,
                "--pages",
                10 * n_pages,
            ),
            *("--patience", 0, "--no-throttle", "--keep-duplicates", "--keep-soft-404s", "--no-traps", "--no-sitemaps"),
            *("--out", crawl.out),
        )
        crawl.wait_for_pages(int(FAULT_AT * n_pages))
        before = _commits(crawl.out)
        fault_s = time.time()
        FAULTS[name](crawl)
        if crawl.process.wait(MAX_S) != 0:
            raise SystemExit(f"{name}: the crawl failed: {(folder / 'output').read_text()[-2000:]}")
        return _checked(name, crawl, before, began_s=began_s, fault_s=fault_s)


def _commits(out: Path) -> dict[tuple[int, int], bytes]:
    """The writers of all commits, by shard and number."""
    found = {}
    for shard, log in enumerate(logs_of(str(out / "log"), N_SHARDS)):
        number = 1
        while (header := log.header(number)) is not None:
            found[shard, number] = header.writer
            number += 1
    return found


def _checked(name: str, crawl: FaultyCrawl, before: dict[Any, bytes], *, began_s: float, fault_s: float) -> FaultResult:
    after = _commits(crawl.out)
    requests = crawl.web.requests()
    page_requests = Counter(url for _, url in requests if not url.endswith("robots.txt"))
    with StoredCrawl.open(crawl.out) as stored:
        visits = Counter(row.url for row in stored.visits())
    times = [time_s for time_s, _ in requests if time_s >= fault_s]
    cash, n_foreign = _state_of_shards(crawl)
    return FaultResult(
        fault=name,
        n_pages=crawl.web.n_pages,
        n_visited=len(visits),
        n_visited_twice=sum(count > 1 for count in visits.values()),
        n_acknowledged_lost=sum(after.get(commit) != writer for commit, writer in before.items()),
        n_fetched_again=sum(count - 1 for count in page_requests.values()),
        cash=cash,
        n_nonlinear=_n_nonlinear(after),
        n_foreign=n_foreign,
        n_hosts_too_fast=_n_too_fast(requests, host_of, DELAY_S, 1),
        n_addresses_too_fast=_n_too_fast(
            requests, lambda url: crawl.web.addresses[host_of(url)], N_IN_A_ROW * DELAY_S / 4 - TOLERANCE_S, N_IN_A_ROW
        ),
        n_writers=len(set(after.values())),
        seconds=time.time() - began_s,
        recovery_s=max((b - a for a, b in pairwise([fault_s, *times])), default=0.0),
    )


def _n_nonlinear(commits: dict[tuple[int, int], bytes]) -> int:
    """Writers of a log that wrote again after another one."""
    writers = [(shard, writer) for (shard, _), writer in sorted(commits.items())]
    turns = Counter(key for key, _ in groupby(writers))
    return sum(count - 1 for count in turns.values())


def _n_too_fast(requests: list[tuple[float, str]], key: Callable[[str], str], min_s: float, n_steps: int) -> int:
    """Requests that came earlier than allowed after the request this many steps before it."""
    times = defaultdict(list)
    for time_s, url in requests:
        times[key(url)].append(time_s)
    return sum(b - a < min_s for each in times.values() for a, b in zip(each, each[n_steps:], strict=False))


def _state_of_shards(crawl: FaultyCrawl) -> tuple[float, int]:
    """The cash of all shards, and pages that another shard should have visited. Each shard is rebuilt from its log."""
    cash, n_foreign = [], 0
    for shard, log in enumerate(logs_of(str(crawl.out / "log"), N_SHARDS)):
        folder = crawl.out.parent / f"rebuilt{shard}"
        with closing(CrawlStore.open(folder, commit_log=log.location)) as store:
            parts, _ = started(CrawlSettings.from_settings(store.about.settings), store, is_dry=True)
            strategy: Any = parts.crawl.engine.strategy
            cash += [strategy.circulating(), strategy.lost]
            n_foreign += sum(shard_of(host_of(row.url), N_SHARDS) != shard for row in store.visits())
    return fsum(cash), n_foreign


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", choices=[*FAULTS], action="append")
    parser.add_argument("--pages", type=int, default=1_200)
    options = parser.parse_args()
    results = []
    for name in options.fault or FAULTS:
        result = run_fault(name, options.pages)
        results.append(result)
        print(json.dumps({**asdict(result), "is_correct": result.is_correct}), flush=True)
    if not all(result.is_correct for result in results):
        raise SystemExit("Something was lost or impolite.")


if __name__ == "__main__":
    main()
