"""Whatever ends `scenthound crawl` (Ctrl-C once or twice, a kill, a full disk), its folder can be resumed."""

import errno
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from live_site import N_PAGES, LiveSite, live_site, started
from scenthound.errors import InvalidInput
from scenthound.reasons import EndReason
from scenthound.store.stored_crawl import StoredCrawl
from timing import WAIT_S, wait_until

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    """The page that never comes is on every page."""
    with live_site(tmp_path, "<a href='http://silent.test:PORT/'>balloon</a>") as running:
        yield running


def n_stored(folder: Path) -> int:
    try:
        with StoredCrawl.open(folder) as crawl:
            return crawl.n_visits()
    except InvalidInput:
        return 0


def wait_for(running: "subprocess.Popen[str]", is_so: Callable[[], bool]) -> None:
    wait_until(is_so, process=running)


def said_after_ctrl_c(running: "subprocess.Popen[str]") -> str:
    """Progress lines may come first."""
    running.send_signal(signal.SIGINT)
    assert running.stderr is not None
    return next(line for line in running.stderr if EndReason.STOPPED in line)


def test_ctrl_c_finishes_what_is_in_flight_and_says_how_to_go_on(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    folder = tmp_path / "out"
    with started(*site.crawl("--out", folder, "--timeout", 3600)) as running:
        wait_for(running, lambda: n_stored(folder) == N_PAGES)
        message = said_after_ctrl_c(running)
        assert running.poll() is None
        site.hang_up()
        out, err = running.communicate(timeout=WAIT_S)
    assert running.returncode == 130
    assert re.search(r"\b1\b.*Ctrl-C", message)
    assert "Traceback" not in err
    assert EndReason.STOPPED in out
    assert re.search(rf"scenthound crawl --resume {re.escape(str(folder))} ", out)
    code, out, _ = scenthound("crawl", "--resume", folder, "--time", "0.1")
    assert code == 0
    assert set(site.pages_requested().values()) == {1}


def test_ctrl_c_twice_stops_now(site: LiveSite, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    # What is in flight would have an hour to come.
    with started(*site.crawl("--out", folder, "--timeout", 3600)) as running:
        wait_for(running, lambda: n_stored(folder) == N_PAGES)
        assert "Ctrl-C" in said_after_ctrl_c(running)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=WAIT_S)
    assert running.returncode == 130
    assert n_stored(folder) == N_PAGES


def test_a_killed_crawl_continues_and_fetches_no_stored_page_again(tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    with live_site(tmp_path) as site:
        # Four hosts with a crawl delay of a second each: the forty pages take at least nine.
        with started(*site.crawl("--out", folder, "--delay", 1)) as running:
            wait_for(running, lambda: n_stored(folder) >= 4)
            running.kill()
        with StoredCrawl.open(folder) as crawl:
            stored = {visit.url for visit in crawl.visits()}
        assert 4 <= len(stored) < N_PAGES
        site.server.requests.clear()
        assert scenthound("crawl", "--resume", folder, "--pages", len(stored) + 4)[0] == 0
        assert not stored & set(site.pages_requested())
    assert n_stored(folder) == len(stored) + 4


#: The program, where no file may grow beyond a size.
FULL_DISK = """
import resource
from scenthound.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes}, resource.RLIM_INFINITY))
main()
"""


def test_a_full_disk_ends_the_crawl_with_one_line_and_it_can_be_resumed(tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    # Forty pages with 4,000 bytes that do not compress in half of their letters: the archive needs 160 KB.
    with live_site(tmp_path, f"<p>{Random(1).randbytes(4000).hex()}") as site:
        command = [sys.executable, "-c", FULL_DISK.format(most_bytes=70_000)]
        arguments = map(str, site.crawl("--out", folder, "--keep-duplicates"))
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=WAIT_S)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert str(folder) in line
        # The archive or the database, whichever is full first.
        assert os.strerror(errno.EFBIG) in line or "disk I/O error" in line
        code, out, _ = scenthound("crawl", "--resume", folder)
    assert code == 0
    assert f"{N_PAGES} of 1,000" in out


def test_a_folder_that_is_being_written_to_is_left_alone(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    with started(*site.crawl("--out", folder, "--timeout", 3600)) as running:
        wait_for(running, lambda: n_stored(folder) > 0)
        code, _, err = scenthound("crawl", "--resume", folder)
        running.kill()
    assert code == 2
    assert len(err.splitlines()) == 1
    assert str(folder) in err
