"""`scenthound dashboard` as a program: where it listens, what it says, and that it ends."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from asked_dashboard import begin_crawl
from scenthound.ui.dashboard import server
from timing import WAIT_S

Program = Callable[..., tuple[int, str, str]]


@contextmanager
def started(
    *arguments: object, program: tuple[str, ...] = ("-m", "scenthound", "dashboard")
) -> Iterator[tuple["subprocess.Popen[str]", int, str]]:
    """The program, its port and its token."""
    command = [sys.executable, *program, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)", said)
        assert found is not None, said
        yield process, int(found[1]), found[2]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it_at_once_though_somebody_watches_and_a_change_needs_the_token(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl"), started(tmp_path) as (process, port, token):
        watching = HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        watching.request("GET", "/api/crawls/crawl/events")
        events = watching.getresponse()
        assert events.readline() == b"retry: 2000\n"
        connection = HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        for sent, status in (("wrong", 403), (token, 200)):
            headers = {"X-Scenthound-Token": sent, "Content-Type": "application/json"}
            connection.request("POST", "/api/crawls/crawl/pause", "{}", headers)
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (status, True)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT_S)
        assert (process.returncode, errors) == (0, "")
        watching.close()
        connection.close()


def test_a_connection_that_asks_nothing_is_ended_and_one_that_watches_is_not(tmp_path: Path) -> None:
    impatient = (
        "import sys; from pathlib import Path; from scenthound.ui.dashboard import server; "
        "server._ASKS_WITHIN_S = 0.5; "
        "server.serve([Path(sys.argv[1])], None, lambda said: print(said, flush=True))"
    )
    with begin_crawl(tmp_path / "crawl"), started(tmp_path, program=("-c", impatient)) as (_, port, _):
        watching = HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        watching.request("GET", "/api/crawls/crawl/events")
        events = watching.getresponse()
        for sent in (b"", b"GET / HTTP/1.1\r\nHost: a"):
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as idle:
                idle.sendall(sent)
                assert idle.recv(100) == b""
        assert events.readline() == b"retry: 2000\n"
        assert any(events.readline().startswith(b"event: live") for _ in range(9))
        watching.close()


def test_each_takes_the_next_free_port_of_this_machine_alone() -> None:
    with server.listening(None) as first, server.listening(None) as second:
        assert first.getsockname() != second.getsockname()
        assert {first.getsockname()[0], second.getsockname()[0]} == {"127.0.0.1"}


def test_a_port_that_was_asked_for_and_is_taken_is_told_in_a_line(tmp_path: Path, scenthound: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, errors = scenthound("dashboard", tmp_path, "--port", port)
    assert (code, out) == (2, "")
    assert errors == f"scenthound: Port {port} is taken by another program: choose another --port, or leave it out.\n"


@pytest.mark.parametrize("arguments", [("nowhere",), (".", "--port", "0"), (".", "--port", "70000")])
def test_wrong_use_is_told_in_a_line(scenthound: Program, arguments: tuple[str, ...]) -> None:
    code, _, errors = scenthound("dashboard", *arguments)
    assert (code, errors.count("\n")) == (2, 1)


def test_there_is_no_way_to_listen_elsewhere(scenthound: Program) -> None:
    code, _, errors = scenthound("dashboard", "--host", "0.0.0.0")
    assert (code, "--host" in errors) == (2, True)


def test_without_what_serves_it_says_how_to_get_it(scenthound: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "find_spec", lambda _name: None)
    code, _, errors = scenthound("dashboard")
    assert (code, "scenthound[dashboard]" in errors) == (2, True)
