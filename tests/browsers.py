"""The browser of the tests: finds or installs Chromium, and opens pages that fail the test on errors.

Rules
- The system's Chromium is used: the one on the path, or $SCENTHOUND_BROWSER. Playwright downloads nothing.
- If there is no browser, tests are skipped with instructions to install it. In CI (`CI` is set) it is installed from
  the system's packages, and the tests fail if that is not possible.
- A page can load from loopback, files and data URLs only: Chromium does not resolve other hosts.
- Playwright's event loop counts as running between its calls. It is therefore limited to one test module, in which
  nothing else may use asyncio in the same thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from environments import system_program
from scenthound.web.browser import HOW_TO_INSTALL, find_browser
from timing import WAIT_S

#: Timeout of all waits for a page.
TIMEOUT_MS = 1_000 * WAIT_S
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ONLY_LOOPBACK = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in _LOOPBACK)])


def browser_path() -> str:
    """The path of Chromium. If there is none, skips the test; in CI, fails it if Chromium cannot be installed."""
    # Older releases have no headless shell.
    return system_program(find_browser, "chromium-headless-shell", "chromium", how_to_install=HOW_TO_INSTALL)


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Chromium without a window, and without a sandbox, which does not work for root and in containers."""
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
    """Errors of a page: exceptions of scripts, errors on the console (which include violations of the
    Content-Security-Policy), and requests to other hosts. `expected` are parts of messages that a test provokes."""

    expected: list[str] = field(default_factory=list)
    _messages: list[str] = field(default_factory=list)

    def attach(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._messages.append(f"script error: {error}"))
        page.on("request", self._request)

    @property
    def errors(self) -> list[str]:
        return [message for message in self._messages if not any(part in message for part in self.expected)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._messages.append(f"console {message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in {"http", "https", "ws", "wss"} and not _is_loopback(address.netloc):
            self._messages.append(f"request to another host: {request.url}")


def _is_loopback(netloc: str) -> bool:
    name, colon, port = netloc.rpartition(":")
    return (name if colon and port.isdigit() else netloc) in _LOOPBACK


@contextmanager
def watched(browser: Browser, *expected: str, **options: Any) -> Iterator[Page]:
    """A page in a new context with Playwright's context `options`. The block fails on unexpected errors of the page."""
    watch = Watch(list(expected))
    with browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}) as context:
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        watch.attach(page)
        try:
            yield page
        except BaseException as error:
            # The console often has the reason of a failure.
            error.add_note(f"Errors of the page: {watch.errors or 'none'}.")
            raise
    assert not watch.errors, watch.errors
