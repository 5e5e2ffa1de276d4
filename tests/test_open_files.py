"""Too many open files: a crawl that needs more than allowed does not start, and no host is blamed for a shortage."""

import errno
import math
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import scenthound as sh
from scenthound.crawler import runner
from scenthound.crawler.state import State, crawl_state
from scenthound.errors import UsageError
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_records import HostState
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.testing import topical_web
from scenthound.web import curl_handle, dns, open_files
from scenthound.web.dns import _look_up
from scenthound.web.open_files import (
    FILES_PER_CONNECTION,
    MAX_IDLE_CONNECTIONS,
    can_open_files,
    max_idle_connections,
    n_open_files,
    raise_file_limit,
    reserve_connections,
)
from scenthound.web.static_server import StaticPage, StaticServer
from stored_crawls import add_page, new_crawl, response
from timing import WAIT_S

Call = Callable[..., tuple[int, str, str]]
N_HOSTS = 70
LIMIT = 64


@dataclass(frozen=True)
class ManyHosts:
    """A page on each of many hosts, which keep connections open. Each links to all others."""

    server: StaticServer
    hosts: Path

    def crawl(self, *more: object) -> list[str]:
        seed = self.server.url("http://h0.test/")
        where = ("--seed", seed, "--hosts", self.hosts, "--allow-private", "--delay", 0, "--pages", N_HOSTS)
        return ["crawl", "--keywords", "balloon", *map(str, (*where, *more))]


@contextmanager
def many_hosts(folder: Path) -> Iterator[ManyHosts]:
    def page_of(host: str, path: str) -> StaticPage | None:
        if path != "/":
            return None
        number = int(host[1:].partition(".")[0])
        links = [f"http://h{each}.test:{server.port}/" for each in range(N_HOSTS) if each != number]
        words = " ".join(f"word{number}x{position}" for position in range(30))
        anchors = "".join(f"<p><a href='{link}'>balloon</a>" for link in links)
        return StaticPage(f"<title>Page {number}</title>{anchors}<p>{words}".encode())

    addresses = [f"127.64.0.{number + 1}" for number in range(N_HOSTS)]
    server = StaticServer(page_of, addresses)
    hosts = folder / "hosts"
    hosts.write_text("".join(f"{address} h{number}.test\n" for number, address in enumerate(addresses)))
    with server:
        yield ManyHosts(server, hosts)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ManyHosts]:
    with many_hosts(tmp_path) as running:
        yield running


def run_limited(script: str, *arguments: str, limit: int = LIMIT) -> "subprocess.CompletedProcess[str]":
    """Run Python code in a process that may open this many files, without warnings and coverage of this one."""
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))\n{script}"
    return subprocess.run(
        [sys.executable, "-c", limited, *arguments], capture_output=True, text=True, check=False, timeout=4 * WAIT_S
    )


COMMAND = "from scenthound.cli import main; main()\n"


def assert_complete(folder: Path) -> None:
    """All pages were visited, none was skipped, and no host failed."""
    with StoredCrawl.open(folder) as crawl:
        assert (crawl.n_visits(), crawl.n_skipped()) == (N_HOSTS, 0)
        status = crawl.status()
    assert status is not None
    assert status.hosts[HostState.DISABLED] == 0


def fitting(limit: int) -> int:
    """How many connections the error of a crawl with too many of them names."""
    done = run_limited(
        COMMAND, "crawl", "--keywords", "balloon", "--seed", "a.test", "--connections", "500", limit=limit
    )
    assert (done.returncode, done.stdout) == (2, "")
    line = done.stderr.splitlines()[-1]
    assert "ulimit -n" in line
    return int(line.partition("use --connections ")[2].partition(" ")[0])


def test_a_crawl_with_more_connections_than_files_does_not_start(tmp_path: Path) -> None:
    arguments = ["--keywords", "balloon", "--seed", "a.test", "--contact", "a@b.test", "--out", str(tmp_path / "out")]
    done = run_limited(COMMAND, "crawl", *arguments, "--connections", "100")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "--connections" in done.stderr
    assert "ulimit -n" in done.stderr
    assert not (tmp_path / "out").exists()


#: Opens a folder for each number of files from 0 on that can be opened, and prints the errors.
OPENING = """
import os, sys
from pathlib import Path
from scenthound.errors import ScenthoundError
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl

opened = (RecordedWeb if sys.argv[1] == "web" else StoredCrawl).open
opened(sys.argv[2])  # loads all modules
taken = []
try:
    while True:
        taken.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
while taken:
    try:
        opened(sys.argv[2])
        break
    except ScenthoundError as error:
        print(type(error).__name__, error)
    os.close(taken.pop())
"""


@pytest.mark.parametrize("kind", ["web", "crawl"])
def test_a_folder_is_not_called_damaged_because_too_many_files_are_open(kind: str, tmp_path: Path) -> None:
    if kind == "web":
        topical_web(tmp_path / "folder", pages=30, topics=2)
    else:
        with new_crawl(tmp_path / "folder") as store:
            add_page(store, 0, response())
            store.commit()
    done = run_limited(OPENING, kind, str(tmp_path / "folder"))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines
    assert [line for line in lines if not line.startswith("InvalidInput") or "ulimit -n" not in line] == []


def test_a_crawl_with_as_many_connections_as_fit_visits_all_pages(site: ManyHosts, tmp_path: Path) -> None:
    n_connections = fitting(LIMIT)
    assert n_connections > 4
    folder = tmp_path / "out"
    done = run_limited(COMMAND, *site.crawl("--connections", n_connections, "--out", folder, "--patience", 0))
    assert done.returncode == 0, done.stderr
    assert_complete(folder)


def test_the_default_number_of_connections_fits_or_is_an_error_of_one_line(site: ManyHosts, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = run_limited(COMMAND, *site.crawl("--contact", "a@b.test", "--out", folder))
    if done.returncode == 0:
        assert_complete(folder)
    else:
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


#: When the crawl has visited some pages, a thread opens all files that the process may have, but for the last eight.
TAKE_FILES = """
import os, resource, threading, time
from scenthound.crawler.live_crawl import LiveCrawl

def take_files():
    visited.wait()
    taken = []
    last = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 9
    until_s = time.monotonic() + 2
    while time.monotonic() < until_s:
        try:
            taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            time.sleep(0.001)
            continue
        if taken[-1] >= last:
            os.close(taken.pop())
            time.sleep(0.001)
    for each in taken:
        os.close(each)

def complete(self, *arguments, before=LiveCrawl.complete):
    before(self, *arguments)
    if self.engine.n_visits >= 5:
        visited.set()

LiveCrawl.complete = complete
visited = threading.Event()
threading.Thread(target=take_files, daemon=True).start()
"""


def test_a_crawl_whose_files_are_taken_visits_all_pages(site: ManyHosts, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = run_limited(TAKE_FILES + COMMAND, *site.crawl("--out", folder, "--patience", 0), limit=200)
    assert done.returncode == 0, done.stderr
    assert_complete(folder)


class Sockets:
    """Opens sockets, but for a range of them: there are no files left."""

    def __init__(self, short_from: float, short_until: float) -> None:
        self.short_from, self.short_until = short_from, short_until
        self.n_opened = 0

    def socket(self, *kind: int) -> socket.socket:
        self.n_opened += 1
        if self.short_from < self.n_opened <= self.short_until:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return socket.socket(*kind)


def test_requests_that_find_no_files_are_repeated(
    site: ManyHosts, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "FILES_RETRY_S", 0.05)
    sockets = Sockets(10, 60)
    monkeypatch.setattr(curl_handle, "socket", sockets)
    code, _, err = scenthound(*site.crawl("--out", tmp_path / "out"))
    assert code == 0, err
    assert sockets.n_opened >= N_HOSTS + 50
    assert_complete(tmp_path / "out")


def test_a_lasting_shortage_ends_a_crawl_that_can_be_resumed(
    site: ManyHosts, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "FILES_RETRY_S", 0.05)
    monkeypatch.setattr(runner, "FILES_PATIENCE_S", 0.5)
    folder = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(curl_handle, "socket", Sockets(10, math.inf))
        code, _, err = scenthound(*site.crawl("--contact", "a@b.test", "--out", folder))
    assert code == 1
    assert len(err.splitlines()) == 1
    assert "ulimit -n" in err
    with StoredCrawl.open(folder) as crawl:
        state = crawl_state(crawl)
        assert crawl.n_skipped() == 0
        assert crawl.n_visits() >= 1
    assert (state.state, state.ended, state.can_resume) == (State.FAILED, EndReason.FILES, True)
    assert sh.open_crawl(folder).failure in err
    code, _, err = scenthound("crawl", "--resume", folder)
    assert code == 0, err
    assert_complete(folder)


def test_a_resumed_crawl_whose_connections_do_not_fit_says_how_to_raise_the_limit(
    site: ManyHosts, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    done = run_limited(COMMAND, *site.crawl("--out", folder, "--connections", 50, "--pages", 3), limit=400)
    assert done.returncode == 0, done.stderr
    done = run_limited(COMMAND, "crawl", "--resume", str(folder))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "ulimit -n" in done.stderr
    assert "use --connections" not in done.stderr


WRITE_WITHOUT_FILES = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from scenthound.errors import Failure
from stored_crawls import add_page, new_crawl, response

with new_crawl(Path(sys.argv[1])) as store:
    store.commit()
    add_page(store, 0, response())
    taken = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    try:
        store.commit()
    except Failure as failure:
        print(failure)
    for each in taken:
        os.close(each)
"""


def test_a_commit_that_cannot_open_its_files_says_what_to_do(tmp_path: Path) -> None:
    done = run_limited(WRITE_WITHOUT_FILES.format(tests=str(Path(__file__).parent)), str(tmp_path / "crawl"), limit=100)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
    assert "ulimit -n" in done.stdout


# The limit


@contextmanager
def limits(soft: int, hard: int) -> Iterator[list[tuple[int, int]]]:
    """A process with these limits, which notes what is set."""
    current = [(soft, hard)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(open_files.resource, "getrlimit", lambda _: current[-1])
        patched.setattr(open_files.resource, "setrlimit", lambda _, both: current.append(both))
        yield current


def test_the_limit_is_raised_only_if_needed_and_not_beyond_the_hard_one() -> None:
    with limits(1_024, 4_096) as set_limits:
        assert raise_file_limit(500) == 1_024
        assert set_limits == [(1_024, 4_096)]
        assert raise_file_limit(2_000) == 2_000
        assert raise_file_limit(10_000) == 4_096
    with limits(resource.RLIM_INFINITY, resource.RLIM_INFINITY) as set_limits:
        assert raise_file_limit(10_000) == math.inf
        assert len(set_limits) == 1
        assert max_idle_connections(16) == MAX_IDLE_CONNECTIONS
    with limits(256, resource.RLIM_INFINITY):
        assert raise_file_limit(1_000) == 1_000


def test_a_limit_that_the_system_does_not_raise_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_kind: int, _limits: tuple[int, int]) -> None:
        raise ValueError

    with limits(256, resource.RLIM_INFINITY):
        monkeypatch.setattr(open_files.resource, "setrlimit", refuse)
        with pytest.raises(UsageError):
            reserve_connections(1_000)
        reserve_connections(16)


@pytest.mark.parametrize("limit", [64, 100, 256, 1_024, 20_000])
def test_connections_and_idle_ones_leave_files_to_others(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "n_open_files", lambda: 6)
    with limits(limit, limit):
        n_fitting = max(n for n in range(1, limit) if _fits(n))
        assert not _fits(n_fitting + 1)
        monkeypatch.setattr(open_files, "n_open_files", lambda: 6 + open_files.OWN_FILES)
        idle = max_idle_connections(n_fitting)
        used = 6 + open_files.OWN_FILES + FILES_PER_CONNECTION * n_fitting
        # At least one connection may be idle, which takes the place of one in use.
        assert used + max(0, idle - 1) + open_files.RESERVED_FILES <= limit


def _fits(connections: int) -> bool:
    try:
        reserve_connections(connections)
    except UsageError:
        return False
    return True


def test_open_files_are_counted() -> None:
    before = n_open_files()
    with socket.socket(), socket.socket():
        assert n_open_files() == before + 2
    assert can_open_files()


# Parts that open files


FETCH_WITHOUT_FILES = """
import asyncio, os, sys
sys.path.insert(0, {tests!r})
from fetching import PATIENT, fetched
from page_server import ADDRESS, page_server
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.dns import _look_up, system_lookup
from scenthound.web.fetch import NotFetched, Request

def take(n_left):
    taken = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        for _ in range(n_left):
            os.close(taken.pop())
    return taken

async def run():
    async with page_server() as server:
        for n_left in (0, 1, 2, 15, 20):
            fetcher = CurlFetcher(PATIENT, user_agent="test", allow_private=True)
            taken = take(n_left)
            result = await fetched(fetcher, Request(server.url("/", f"h{{n_left}}.test"), (ADDRESS,)))
            print(result.reason.value if isinstance(result, NotFetched) else result.status)
            if n_left == 0:
                print(_look_up(system_lookup, "no-such-host.invalid").value)
            for each in taken:
                os.close(each)
            fetcher.close()

asyncio.run(run())
"""


def test_a_fetch_and_a_lookup_without_files_say_so() -> None:
    done = run_limited(FETCH_WITHOUT_FILES.format(tests=str(Path(__file__).parent)), limit=100)
    assert done.stderr == ""
    short = SkipReason.TOO_MANY_FILES.value
    assert done.stdout.split() == [*[short] * 5, "200"]


IDLE_CONNECTIONS = """
import asyncio, os, sys
sys.path.insert(0, {tests!r})
from fetching import PATIENT, fetched
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.fetch import NotFetched, Request

async def run():
    fetcher = CurlFetcher(PATIENT, user_agent="test", allow_private=True)

    async def fetch(number):
        url = f"http://h{{number}}.test:{{sys.argv[1]}}/"
        result = await fetched(fetcher, Request(url, (f"127.64.0.{{number + 1}}",)))
        return result.reason.value if isinstance(result, NotFetched) else result.status

    print(*[await fetch(number) for number in range(20)])
    taken = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    # Idle connections have all that is left.
    print(*[await fetch(number) for number in range(20, 24)])
    fetcher.close()

asyncio.run(run())
"""


def test_idle_connections_are_closed_in_a_shortage(site: ManyHosts) -> None:
    script = IDLE_CONNECTIONS.format(tests=str(Path(__file__).parent))
    done = run_limited(script, str(site.server.port), limit=100)
    assert done.stderr == ""
    first, second = (line.split() for line in done.stdout.splitlines())
    assert first == ["200"] * 20
    assert second == [SkipReason.TOO_MANY_FILES.value, "200", "200", "200"]


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_NONAME, "x"), OSError(errno.EBUSY, "x")])
def test_any_failed_lookup_without_files_is_a_shortage(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    def lookup(_host: str) -> list[str]:
        raise error

    assert _look_up(lookup, "a.test") in (SkipReason.DNS_NOT_FOUND, SkipReason.DNS_FAILED)
    monkeypatch.setattr(dns, "can_open_files", lambda: False)
    assert _look_up(lookup, "a.test") is SkipReason.TOO_MANY_FILES
