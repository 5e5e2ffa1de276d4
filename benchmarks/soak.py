"""A crawl under faults for a long time: nothing may be lost, fetched twice or requested too early (10 minutes).

The crawl has 200 hosts on 40 loopback addresses, some of which ask for a crawl delay of 8 seconds. Again and again it
is killed, stopped, suspended for up to a minute, left without disk space or name servers for a while, resumed with a
clock that is a day off, and watched by dashboards that come and go. The faults are drawn at random.

The checks do not rely on the crawler: this process reads the crawl folder before and after each fault, and the server
logs all requests. The exit code is 1 if one fails. For a full disk, the crawl folder is in a file system of its own,
which takes root's permissions; without them that fault is left out.
"""

import itertools
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import command_parser
from benchmarks.live_kills import archived_urls, check_archive, requested_urls, stored_urls, visited_urls
from benchmarks.live_server import LoggedRequest, read_request_log
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.static_server import StaticPage, StaticServer
from scenthound.web.urls import host_of

N_HOSTS, N_ADDRESSES = 200, 40
N_PAGES = 200_000
PORT = 18_095
DELAY_S, LONG_DELAY_S = 1.0, 8.0
#: One in this many hosts asks for the long delay.
LONG_DELAY_EVERY = 5
ADDRESS_DELAY_S = 0.25
CONNECTIONS = 64
MAX_ALIVE_S = 15.0
MAX_SUSPENDED_S = 60.0
MAX_OUTAGE_S = 12.0
STOP_TIMEOUT_S = 60.0
DISK_BYTES = 400_000_000
#: On a busy machine requests reach the server late.
TOLERANCE_S = 0.1
_SEED = 7


def host_name(number: int) -> str:
    return f"h{number}.soak.test"


def address_of(host: str) -> str:
    return f"127.2.0.{1 + int(host[1:].partition('.')[0]) % N_ADDRESSES}"


def delay_of(host: str) -> float:
    return LONG_DELAY_S if int(host[1:].partition(".")[0]) % LONG_DELAY_EVERY == 0 else DELAY_S


def page_of(host: str, path: str) -> StaticPage | None:
    """Page n has links to pages 3n + 1 to 3n + 3 and to pages at random."""
    if path == "/robots.txt":
        return StaticPage(f"User-agent: *\nCrawl-delay: {delay_of(host):g}\n".encode(), content_type="text/plain")
    number = int(path.removeprefix("/page/")) if path.startswith("/page/") else N_PAGES
    if number >= N_PAGES:
        return None
    rng = random.Random(number)
    linked = [3 * number + 1, 3 * number + 2, 3 * number + 3, *(rng.randrange(N_PAGES) for _ in range(5))]
    links = "".join(f"<li><a href='{url_of(other)}'>page {other}</a>" for other in linked if other < N_PAGES)
    words = " ".join(f"word{rng.randrange(5000)}" for _ in range(120))
    return StaticPage(f"<title>Page {number}</title><p>{words}<ul>{links}</ul>".encode())


def url_of(page: int) -> str:
    return f"http://{host_name(page % N_HOSTS)}:{PORT}/page/{page}"


@dataclass(slots=True)
class Soak:
    """The crawl and what is known of it."""

    folder: Path
    faults: Path
    rng: random.Random
    acknowledged: frozenset[str] = frozenset()
    #: When processes ended, and what was stored then.
    ends: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def set_faults(self, *, dns_is_down: bool = False, clock_offset_s: float = 0.0) -> None:
        self.faults.write_text(json.dumps({"dns_is_down": dns_is_down, "clock_offset_s": clock_offset_s}))

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "benchmarks.soak", "--crawl", str(self.folder), str(self.faults)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def note_end(self) -> None:
        """A process has ended: what was acknowledged must be stored."""
        stored = stored_urls(self.folder)
        lost = self.acknowledged - stored
        if lost:
            self.failures.append(f"{len(lost)} acknowledged pages were lost, such as {min(lost)}")
        self.acknowledged = stored
        self.ends.append((time.time(), stored))

    def look(self) -> None:
        self.acknowledged |= stored_urls(self.folder)


Fault = Callable[[Soak, "subprocess.Popen[bytes]"], None]


def kill(soak: Soak, process: "subprocess.Popen[bytes]") -> None:
    soak.look()
    process.kill()


def stop(soak: Soak, process: "subprocess.Popen[bytes]") -> None:
    time.sleep(3.0)  # so that it handles signals
    soak.look()
    process.send_signal(signal.SIGINT)


def suspend(soak: Soak, process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGSTOP)
    # Long suspensions are rare.
    time.sleep(min(MAX_SUSPENDED_S, 1.0 + soak.rng.expovariate(1 / 5)))
    process.send_signal(signal.SIGCONT)
    time.sleep(3.0)
    kill(soak, process)


def no_names(soak: Soak, process: "subprocess.Popen[bytes]") -> None:
    soak.set_faults(dns_is_down=True)
    time.sleep(soak.rng.uniform(1.0, MAX_OUTAGE_S))
    soak.set_faults()
    time.sleep(2.0)
    kill(soak, process)


def wrong_clock(soak: Soak, process: "subprocess.Popen[bytes]") -> None:
    """The next process has a clock that is off."""
    kill(soak, process)
    soak.set_faults(clock_offset_s=soak.rng.choice([-86_400.0, 86_400.0, -1e9]))


def dashboard(soak: Soak, process: "subprocess.Popen[bytes]") -> None:
    program = str(Path(sys.executable).with_name("scenthound"))
    command = [program, "dashboard", str(soak.folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as watching:
        time.sleep(soak.rng.uniform(1.0, 4.0))
        watching.kill()
    kill(soak, process)


def full_disk(soak: Soak, process: "subprocess.Popen[bytes]") -> None:
    """Fill the file system until the crawl ends by itself, then free the space."""
    filler = soak.folder.parent / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_TIMEOUT_S)
    filler.unlink()
    if process.poll() != 1:
        soak.failures.append(f"on a full disk the crawl ended with exit code {process.poll()}")
        process.kill()


FAULTS: dict[str, Fault] = {
    "kill": kill,
    "stop": stop,
    "suspension": suspend,
    "name server outage": no_names,
    "clock jump": wrong_clock,
    "dashboard": dashboard,
    "full disk": full_disk,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("soak", __doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, at most 60")
    parser.add_argument(
        "--crawl", nargs=2, type=Path, metavar=("FOLDER", "FAULTS"), help="used by the benchmark itself"
    )
    options = parser.parse_args(arguments)
    if options.crawl:
        return crawl_with_faults(*options.crawl)
    with tempfile.TemporaryDirectory(prefix="scenthound-soak-") as temporary, _own_disk(Path(temporary)) as disk:
        log, faults = Path(temporary) / "requests.log", Path(temporary) / "faults.json"
        soak = Soak((disk or Path(temporary)) / "crawl", faults, random.Random(_SEED))
        soak.set_faults()
        addresses = sorted({address_of(host_name(number)) for number in range(N_HOSTS)})
        usable = [name for name in FAULTS if disk is not None or name != "full disk"]
        with StaticServer(page_of, addresses, PORT, log):
            _run(soak, usable, time.monotonic() + 60 * min(options.minutes, 60.0))
        failures = soak.failures + _failures_at_the_end(soak, read_request_log(log))
    for failure in failures:
        print(f"  FAILED: {failure}")
    print(f"  {'checks failed' if failures else 'nothing lost, nothing fetched twice, no request too early'}")
    return 1 if failures else 0


def _run(soak: Soak, usable: list[str], end_s: float) -> None:
    while time.monotonic() < end_s:
        name = soak.rng.choice(usable)
        process = soak.start()
        time.sleep(soak.rng.uniform(0.0, MAX_ALIVE_S))
        if process.poll() is None:
            FAULTS[name](soak, process)
            soak.counts[name] += 1
        _, errors = process.communicate()
        soak.note_end()
        if process.returncode not in (0, 1, -signal.SIGKILL) or b"Traceback" in errors:
            soak.failures.append(f"{name}: exit code {process.returncode}, {errors.decode()[-500:]}")
        print(f"  {name:20} exit code {process.returncode:3}, {len(soak.acknowledged):7,} stored", flush=True)


def _failures_at_the_end(soak: Soak, requests: list[LoggedRequest]) -> list[str]:
    failures = []
    for ended_s, stored in soak.ends:
        again = requested_urls(requests, ended_s, float("inf")) & stored
        # A robots.txt file is requested again after a day, also by a wrong clock.
        again = {url for url in again if not url.endswith("/robots.txt")}
        if again:
            failures.append(f"{len(again)} stored pages were fetched again, such as {min(again)}")
    failures += _too_early("host", requests, host_of, delay_of)
    failures += _too_early("address", requests, lambda url: address_of(host_of(url)), lambda _: ADDRESS_DELAY_S)
    with StoredCrawl.open(soak.folder) as stored_crawl:
        visits = Counter(visited_urls(stored_crawl))
    failures += [f"{url} was visited {count} times" for url, count in visits.items() if count > 1]
    archived = archived_urls(soak.folder)
    failures += [f"{url} is {archived[url]} times in the archive" for url in visits if archived[url] != 1]
    files = sorted(str(file) for file in (soak.folder / ARCHIVE_FOLDER).glob("*.warc.gz"))
    failures += check_archive("warcio", files)
    faults = ", ".join(f"{count} x {name}" for name, count in soak.counts.most_common())
    print(f"  {faults}; {len(requests):,} requests, {len(visits):,} pages")
    return failures


def _too_early(
    what: str, requests: list[LoggedRequest], group_of: Callable[[str], str], delay: Callable[[str], float]
) -> list[str]:
    """Requests of a group before the delay was over. The first request is for robots.txt, which names the delay."""
    ordered = sorted(requests, key=lambda request: (group_of(request.url), request.time_s))
    early = [
        (after.time_s - before.time_s, after.url)
        for before, after in itertools.pairwise(ordered)
        if group_of(before.url) == group_of(after.url)
        and after.time_s - before.time_s < delay(group_of(after.url)) - TOLERANCE_S
    ]
    return [f"{len(early)} requests were too early for their {what}, such as {min(early)}"] if early else []


@contextmanager
def _own_disk(parent: Path) -> Iterator[Path | None]:
    """A small file system in memory; None if it cannot be made."""
    folder, mount = parent / "disk", shutil.which("mount")
    folder.mkdir()
    command = [mount or "mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        print("  without full disks: a file system cannot be mounted here")
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], capture_output=True, check=False)


def crawl_with_faults(folder: Path, faults: Path) -> int:
    """The crawler's process: name lookups and clock obey the file of faults."""
    try:
        return _crawl(folder, faults)
    except KeyboardInterrupt:  # before the crawl handles signals
        return 0


def _crawl(folder: Path, faults: Path) -> int:
    from scenthound.crawler import clock, network
    from scenthound.crawler.runner import RunOptions
    from scenthound.crawler.settings import CrawlSettings
    from scenthound.crawler.start import crawl, resume
    from scenthound.errors import ScenthoundError
    from scenthound.frontier.politeness import PolitenessSettings
    from scenthound.model import Topic
    from scenthound.store.folder import is_kind

    def look_up(host: str) -> list[str]:
        if json.loads(faults.read_text())["dns_is_down"]:
            raise OSError("no name server")
        return [address_of(host)]

    offset_s = json.loads(faults.read_text())["clock_offset_s"]
    real_time = time.time
    clock.time.time = lambda: real_time() + offset_s  # type: ignore[attr-defined]
    network.system_lookup = look_up  # type: ignore[attr-defined]
    settings = CrawlSettings(
        topic=Topic("soak", ("word1", "word2")),
        seeds=tuple(url_of(page) for page in range(N_HOSTS)),
        page_budget=N_PAGES,
        politeness=PolitenessSettings(delay_s=DELAY_S, delay_factor=0.0, address_delay_s=ADDRESS_DELAY_S),
        patience=0.0,
        connections=CONNECTIONS,
        allow_private=True,
    )
    options = RunOptions(handle_signals=True)
    try:
        if is_kind(folder, "crawl"):
            resume(folder, options)
        else:
            crawl(settings, folder, options)
    except ScenthoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
