"""A dashboard in a separate process, and a page of the system's Chromium without a window."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from benchmarks.processes import ProcessStat
from scenthound.errors import Failure

if TYPE_CHECKING:
    from playwright.sync_api import Page

START_TIMEOUT_S = 60.0
BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ADDRESS = re.compile(rb"(http://127\.0\.0\.1:\d+)/\?token=(\S+)")


@dataclass(frozen=True, slots=True)
class RunningDashboard:
    """`address` has no trailing slash; `started_s` is the start of the process on the monotonic clock."""

    address: str
    token: str
    process: int
    started_s: float

    def page(self, path: str) -> str:
        """The URL of a page, with the token."""
        return f"{self.address}{path}?token={self.token}"

    def get(self, path: str) -> bytes:
        request = Request(f"{self.address}{path}", headers={"Authorization": f"Bearer {self.token}"})
        with urlopen(request, timeout=START_TIMEOUT_S) as response:
            body: bytes = response.read()
        return body

    def crawl_id(self, folder: Path) -> str | None:
        """The URL-quoted id of the crawl in a folder; None if the dashboard has not found it yet."""
        folders: list[dict[str, Any]] = json.loads(self.get("/api/folders"))["folders"]
        found = [each["id"] for each in folders if Path(each["path"]).resolve() == folder.resolve()]
        return quote(found[0], safe="") if found else None

    def cpu_s(self) -> float:
        """CPU seconds of the dashboard so far."""
        return ProcessStat.read(self.process).cpu_s


@contextmanager
def running_dashboard(folder: Path) -> Iterator[RunningDashboard]:
    """Run a dashboard of a folder until the end of the block. Raises Failure if it does not start."""
    command = [sys.executable, "-m", "scenthound", "dashboard", str(folder)]
    started_s = time.monotonic()
    # Wide enough that a long address is not wrapped.
    environment = {**os.environ, "COLUMNS": "1000"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment)
    try:
        yield RunningDashboard(*_address_and_token(process), process.pid, started_s)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=10)
        process.kill()
        process.communicate()


def _address_and_token(process: "subprocess.Popen[bytes]") -> tuple[str, str]:
    assert process.stdout is not None
    for line in process.stdout:
        if found := _ADDRESS.search(line):
            return found[1].decode(), found[2].decode()
    raise Failure("The dashboard did not start; its output is above.")


def browser_path() -> str | None:
    """The path of Chromium; None if it or Playwright is not installed."""
    if find_spec("playwright") is None:
        return None
    named = os.environ.get("SCENTHOUND_BROWSER")
    return next(filter(None, map(shutil.which, [named] if named else BROWSER_NAMES)), None)


@contextmanager
def browser_page(path: str) -> "Iterator[Page]":
    """An empty page, to be used by the calling thread only."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=False)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(1e3 * START_TIMEOUT_S)
        yield page
        browser.close()
