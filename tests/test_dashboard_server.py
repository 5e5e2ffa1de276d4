"""`scenthound dashboard` as a program: ports, output and shutdown."""

import re
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import scenthound as sh
from dashboard_client import begin_crawl
from dashboard_program import started
from scenthound.ui.dashboard import server
from scenthound.ui.dashboard.security import Token
from timing import WAIT_S

Program = Callable[..., tuple[int, str, str]]
EVENTS = "/api/crawls/crawl/events"


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it_during_live_updates_and_changes_need_the_token(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl"), started(tmp_path) as running, running.get(EVENTS) as events:
        assert events.readline() == b"retry: 2000\n"
        connection = running.connection()
        for sent, status in (("wrong", 401), (running.token, 200)):
            headers = {"X-Scenthound-Token": sent, "Content-Type": "application/json"}
            connection.request("POST", "/api/crawls/crawl/pause", "{}", headers)
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (status, True)
        running.process.send_signal(signal.SIGINT)
        _, errors = running.process.communicate(timeout=WAIT_S)
        assert (running.process.returncode, errors) == (0, "")
        connection.close()


@pytest.mark.parametrize("option", [(), ("--open",)])
def test_reading_needs_the_token_unless_it_is_open(tmp_path: Path, option: tuple[str, ...]) -> None:
    with begin_crawl(tmp_path / "crawl"), started(tmp_path, *option) as running:
        for path in ("/", "/api/folders", "/metrics"):
            assert running.status(path) == 200
            assert running.status(path, has_token=False) == (200 if option else 401)
        connection = running.connection()
        connection.request("POST", "/api/crawls/crawl/pause", "{}", {"Content-Type": "application/json"})
        assert connection.getresponse().status == 401
        connection.close()
        running.process.terminate()
        output, errors = running.process.communicate(timeout=WAIT_S)
        assert running.token not in output + errors


def test_the_token_can_be_kept_in_a_file(tmp_path: Path, scenthound: Program) -> None:
    file = tmp_path / "token"
    with started(tmp_path, "--token-file", file) as first, started(tmp_path, "--token-file", file) as second:
        assert (first.token, second.token) == (file.read_text().strip(),) * 2
        assert second.status() == 200
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for mode, content in ((0o644, first.token), (0o600, "short"), (0o600, "with spaces " * 3), (0o600, "é" * 20)):
        file.write_text(content)
        file.chmod(mode)
        code, out, errors = scenthound("dashboard", tmp_path, "--token-file", file)
        assert (code, out, errors.count("\n"), str(file) in errors, content in errors) == (2, "", 1, True, False)
    for path in (tmp_path, tmp_path / "nowhere" / "token"):
        code, _, errors = scenthound("dashboard", tmp_path, "--token-file", path)
        assert (code, errors.count("\n"), str(path) in errors) == (2, 1, True)


def test_the_browser_gets_a_url_that_works_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urls: list[str] = []
    accepted: list[bool] = []

    class Dashboard:
        def __init__(self, *_: object, token: Token, **settings: object) -> None:
            self.token = token

    def run(dashboard: Dashboard, _listener: object) -> None:
        printed, opened = (url.partition("/?token=")[2] for url in urls)
        accepted.extend(map(dashboard.token.accept, (opened, opened, printed, printed)))

    monkeypatch.setattr(server.webbrowser, "open", urls.append)
    monkeypatch.setattr("scenthound.ui.dashboard.app.Dashboard", Dashboard)
    monkeypatch.setattr(server, "_run", run)
    sh.dashboard(tmp_path, open_browser=True, on_start=urls.append)
    assert accepted == [True, False, True, True]


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
