"""The browser of the tests: finding Chromium or installing it, and pages of it that notice what went wrong in them.

Rules
- The system's Chromium is used, the one on the path or the one that $SCENTHOUND_BROWSER names; nothing is downloaded by
  Playwright.
- Outside CI a missing browser skips the tests and says how to get it. In CI (`CI` is set) it is installed from the
  system's packages, and if that cannot be done, the tests fail.
- A page reaches loopback, files and data only: Chromium itself resolves no other name and no other address.
- Playwright's event loop counts as running between its calls. So it lives for one module of tests, in which nothing
  else may use asyncio in the same thread.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from timing import WAIT_S

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_INSTALL = "install Chromium (apt-get install chromium), or name a browser in SCENTHOUND_BROWSER"
_INSTALLING = (("apt-get", "update"), ("apt-get", "install", "-y", "--no-install-recommends", "chromium"))
_INSTALL_TIMEOUT_S = 240
#: A test that waits longer than this for a page waits for something that does not come.
TIMEOUT_MS = 1_000 * WAIT_S
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ONLY_LOOPBACK = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in _LOOPBACK)])


def browser_path() -> str:
    """Where Chromium is. Skips the test outside CI if there is none, fails it in CI if none can be installed."""
    in_ci = bool(os.environ.get("CI"))
    found = _found() or (_installed() if in_ci else None)
    if found is not None:
        return found
    if in_ci:
        pytest.fail(f"No browser, and it could not be installed here: {HOW_TO_INSTALL}.", pytrace=False)
    pytest.skip(f"no browser found: {HOW_TO_INSTALL}")


def _found() -> str | None:
    named = os.environ.get("SCENTHOUND_BROWSER")
    return next(filter(None, map(shutil.which, [named] if named else NAMES)), None)


def _installed() -> str | None:
    """Chromium, installed now if root asks and the system has apt."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in _INSTALLING:
        # Two test processes may install at the same moment: the second waits for the first.
        waiting = [*command, "-o", f"DPkg::Lock::Timeout={_INSTALL_TIMEOUT_S}"]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(waiting, env=environment, check=False, timeout=_INSTALL_TIMEOUT_S, stdout=subprocess.DEVNULL)
    return _found()


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Chromium without a window. It has no sandbox either: root and containers cannot have one, and pages are ours."""
    path = browser_path()
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        only_loopback = [f"--host-resolver-rules={_ONLY_LOOPBACK}", "--no-proxy-server"]
        with playwright.chromium.launch(
            executable_path=path, chromium_sandbox=False, args=only_loopback, timeout=TIMEOUT_MS
        ) as browser:
            yield browser


@dataclass
class Watch:
    """What went wrong in a page: errors of scripts, errors on the console (breaches of the Content-Security-Policy are
    told there), and requests to anywhere but here. `expected` are parts of messages that a test provokes."""

    expected: list[str] = field(default_factory=list)
    _noticed: list[str] = field(default_factory=list)

    def over(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._noticed.append(f"script error: {error}"))
        page.on("request", self._request)

    @property
    def complaints(self) -> list[str]:
        return [message for message in self._noticed if not any(part in message for part in self.expected)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._noticed.append(f"console {message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in {"http", "https", "ws", "wss"} and not _is_loopback(address.netloc):
            self._noticed.append(f"request to elsewhere: {request.url}")


def _is_loopback(place: str) -> bool:
    name, colon, port = place.rpartition(":")
    return (name if colon and port.isdigit() else place) in _LOOPBACK


@contextmanager
def watched(browser: Browser, *expected: str, **options: Any) -> Iterator[Page]:
    """A page in a context of its own, with Playwright's `options` of contexts. The block fails if the page complained
    of anything but what was expected."""
    watch = Watch(list(expected))
    with browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}) as context:
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        watch.over(page)
        try:
            yield page
        except BaseException as error:
            # Why a test failed often stands on the console.
            error.add_note(f"The page complained: {watch.complaints or 'of nothing'}.")
            raise
    assert not watch.complaints, watch.complaints
