"""Where the tests find what is not in the repository, and what tests of many files share: a web, and the program."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from ring_web import record_ring, topic
from scenthound.cli import main
from scenthound.topics.files import write_topics

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from shown_pages import OpenPage

SHARED = Path(__file__).resolve().parents[2] / "shared"
SCREENSHOTS = Path(__file__).resolve().parents[1] / "build" / "screenshots"

# Asserts of modules that are no test modules tell what they compared only when asked for before the import.
pytest.register_assert_rewrite("parsed_page", "recorded_pages", "browsers", "dashboard_site", "shown_pages")

# Machines are busy at times, so no example has a deadline, and none is generated too slowly; in CI the examples are the
# same every time.
settings.register_profile(
    "scenthound",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("scenthound")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of test data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data is not beside the checkout (../shared)")
    return SHARED


@pytest.fixture(scope="session")
def web_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ring of pages, recorded once: no test writes into it."""
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
    """Call the program: answers with exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["scenthound", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return int(stop.value.code or 0), said.out, said.err

    return call


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A shell lets what it runs in the background ignore SIGINT, which whatever the tests start would inherit."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Chromium, for the tests of one module: `browsers` says why."""
    from browsers import started_browser

    with started_browser() as browser:
        yield browser


@pytest.fixture
def watched_page(browser: "Browser") -> "Iterator[Page]":
    """A page that fails the test if anything goes wrong in it. For other sizes, colours or errors that are meant to be
    there, see `browsers.watched`."""
    from browsers import watched

    with watched(browser) as page:
        yield page


@pytest.fixture(scope="module")
def shared_tab(browser: "Browser") -> "Iterator[Page]":
    """One for all tests of a module that want nothing special: it takes time to open another."""
    from browsers import watched

    with watched(browser) as tab:
        yield tab


@pytest.fixture
def open_page(browser: "Browser", shared_tab: "Page", tmp_path: Path) -> "OpenPage":
    """Opens pages of reports: `shown_pages` says how."""
    from shown_pages import opener

    return opener(browser, shared_tab, tmp_path)


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where tests put pictures of pages, a name for each; they are kept when the tests have ended."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
