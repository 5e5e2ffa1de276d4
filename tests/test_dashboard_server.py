"""`scenthound dashboard` as a program: ports, output and shutdown."""

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

from dashboard_client import begin_crawl
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
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)", line)
        assert found is not None, line
        yield process, int(found[1]), found[2]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it_during_live_updates_and_changes_need_the_token(tmp_path: Path) -> None:
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


def test_idle_connections_are_closed_but_not_event_streams(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from scenthound.ui.dashboard import server; "
        "server._IDLE_S = 0.5; "
        "server.serve([Path(sys.argv[1])], None, lambda url: print(url, flush=True))"
    )
    with begin_crawl(tmp_path / "crawl"), started(tmp_path, program=("-c", program)) as (_, port, _):
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


def test_the_next_free_port_on_loopback_is_used() -> None:
    with server.listening(None) as first, server.listening(None) as second:
        assert first.getsockname() != second.getsockname()
        assert {first.getsockname()[0], second.getsockname()[0]} == {"127.0.0.1"}


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path, scenthound: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, out, errors = scenthound("dashboard", tmp_path, "--port", port)
    assert (code, out) == (2, "")
    assert errors.count("\n") == 1
    assert re.search(rf"\b{port}: .*--port\b", errors)


@pytest.mark.parametrize("arguments", [("nowhere",), (".", "--port", "0"), (".", "--port", "70000")])
def test_wrong_use_is_reported_in_one_line(scenthound: Program, arguments: tuple[str, ...]) -> None:
    code, _, errors = scenthound("dashboard", *arguments)
    assert (code, errors.count("\n")) == (2, 1)


def test_there_is_no_option_to_listen_elsewhere(scenthound: Program) -> None:
    code, _, errors = scenthound("dashboard", "--host", "0.0.0.0")
    assert (code, "--host" in errors) == (2, True)


def test_without_the_web_server_the_extra_is_named(scenthound: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "find_spec", lambda _name: None)
    code, _, errors = scenthound("dashboard")
    assert (code, "scenthound[dashboard]" in errors) == (2, True)


def test_the_help_names_folders_and_port(scenthound: Program) -> None:
    code, out, _ = scenthound("dashboard", "--help")
    text = " ".join(out.replace("│", " ").split())
    assert (code, "scenthound dashboard [OPTIONS] [DIR]..." in text) == (0, True)
    assert "[default: (.)]" in text
    assert "[default: (8787" in text
