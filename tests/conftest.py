"""Fixtures shared by many test files: test data, a recorded web, the command line program, and a browser."""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from ring_web import record_ring, topic
from scenthound import registry
from scenthound.cli import main
from scenthound.topics.files import write_topics
from scenthound.web.browser import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from report_pages import OpenPage

SHARED = Path(__file__).resolve().parents[2] / "shared"
SCREENSHOTS = Path(__file__).resolve().parents[1] / "build" / "screenshots"

# Without this, failed asserts in support modules do not show the compared values.
pytest.register_assert_rewrite("parsed_page", "recording_input", "browsers", "dashboard_site", "report_pages")

# On busy machines examples are slow, so there is no deadline and the health check `too_slow` is off. Hanging tests are
# ended by faulthandler_timeout (pyproject.toml). In CI the examples are the same in every run. `make test-all` selects
# the profile `thorough`.
for profile, n_examples in {"quick": 30, "thorough": 200}.items():
    settings.register_profile(
        profile,
        max_examples=n_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=bool(os.environ.get("CI")),
    )
settings.load_profile("quick")


#: Variables of the program that tests need as they are.
KEPT_VARIABLES = ("SCENTHOUND_BROWSER", "SCENTHOUND_BROWSER_FOLDER")


@pytest.fixture(autouse=True, scope="session")
def no_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing that the user has configured counts in tests, nor in programs that tests and their fixtures start."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-configuration"))
        for name in set(os.environ) - set(KEPT_VARIABLES):
            if name.startswith("SCENTHOUND_"):
                monkeypatch.delenv(name)
        if find_browser() is None:
            # Otherwise crawls print a note that no page is rendered.
            monkeypatch.setenv("SCENTHOUND_CRAWL_RENDER", "never")
        yield


@pytest.fixture(autouse=True, scope="module")
def local_plugins() -> Iterator[None]:
    """Plug-ins that a file of tests passes as classes are not known to the next one."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(registry, "_LOCAL", {})
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of test data next to the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data was not found at ../shared")
    return SHARED


@pytest.fixture(scope="session")
def web_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ring of pages, recorded once. Tests must not change it."""
    return record_ring(tmp_path_factory.mktemp("ring"))


@pytest.fixture
def topics_file(tmp_path: Path) -> Path:
    """The two topics of the ring."""
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), topic("train")])
    return tmp_path / "topics.jsonl"


@pytest.fixture
def scenthound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Call the program; the result is its exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["scenthound", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        output = capsys.readouterr()
        return int(stop.value.code or 0), output.out, output.err

    return call


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are empty files, because drawing them takes seconds."""
    monkeypatch.setattr("scenthound.ui.figures.draw", lambda *_: None)
    monkeypatch.setattr("scenthound.ui.figures.image_bytes", lambda *_: b"<svg></svg>")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Handle SIGINT: background jobs of a shell ignore it, and processes that tests start would inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Chromium, for the tests of one module; see `browsers` for the reason."""
    from browsers import started_browser

    with started_browser() as browser:
        yield browser


@pytest.fixture
def watched_page(browser: "Browser") -> "Iterator[Page]":
    """A page that fails the test if an error occurs in it. For other sizes, colours or expected errors, see
    `browsers.watched`."""
    from browsers import watched

    with watched(browser) as page:
        yield page


@pytest.fixture(scope="module")
def shared_tab(browser: "Browser") -> "Iterator[Page]":
    """One page for all tests of a module, because opening a page takes time."""
    from browsers import watched

    with watched(browser) as tab:
        yield tab


@pytest.fixture
def open_page(browser: "Browser", shared_tab: "Page", tmp_path: Path) -> "OpenPage":
    """Opens pages of reports; see `report_pages.opener`."""
    from report_pages import opener

    return opener(browser, shared_tab, tmp_path)


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """The folder for screenshots, which are kept after the tests."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder in memory, if there is such a file system: crawls on a virtual clock sync often."""
    shared_memory = Path("/dev/shm")
    if not os.access(shared_memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="scenthound-test-", dir=shared_memory) as folder:
        yield Path(folder)
