"""A site with hostile titles, crawls of it and a dashboard, for browser tests.

Crawls and dashboard run as processes; their output goes to files, because a full pipe would block them.
"""

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from scenthound.web.static_server import StaticPage, StaticServer
from timing import WAIT_S, wait_until

N_PAGES = 5_000
N_HOSTS = 12
ADDRESSES = [f"127.62.0.{host + 1}" for host in range(N_HOSTS)]
#: `Site.crawl` visits about thirty pages per second, so a crawl lasts longer than a minute.
DELAY_S = 0.4
#: They set `hacked` in a page that runs them.
HOSTILE_TITLES = (
    "<script>window.hacked = 'script'</script>",
    "<img src=x onerror=\"window.hacked = 'image'\">",
    '"><svg onload="window.hacked = \'svg\'">',
    "{{constructor.constructor('window.hacked = 1')()}} ${hacked = 1} '; hacked = 1; '",
    "\u202egnp.nuf\u202c turned around \u2066\u2067",
    "longest" * 300,
)
#: The name of a folder.
HOSTILE_NAME = "<img src=x onerror=hacked=1>"
_ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/\?token=([\w.~-]+)")


@dataclass(frozen=True, slots=True)
class Site:
    """Pages in a tree, each on the next host: two of three are about balloons, the others about trains."""

    server: StaticServer
    hosts: Path

    def url(self, page: int) -> str:
        return self.server.url(f"http://h{page % N_HOSTS}.test/{page}")

    def crawl(self, folder: Path, *more: object) -> list[object]:
        """The command that crawls it slowly."""
        where = ("--seed", self.url(0), "--hosts", self.hosts, "--allow-private", "--delay", DELAY_S)
        return ["crawl", "--keywords", "balloon", "--keywords", "flight", *where, "--out", folder, *more]


@contextmanager
def hostile_site(folder: Path) -> Iterator[Site]:
    def page_of(_host: str, path: str) -> StaticPage | None:
        name = path[1:]
        if name.isdigit() and int(name) < N_PAGES:
            return StaticPage(_html(int(name), server.port).encode())
        return None

    server = StaticServer(page_of, ADDRESSES)
    hosts = folder / "hosts"
    hosts.write_text("".join(f"{address} h{host}.test\n" for host, address in enumerate(ADDRESSES)))
    with server:
        yield Site(server, hosts)


def title_of(page: int) -> str:
    """The first linked pages, and every fifth page, have a hostile title."""
    if 1 <= page <= len(HOSTILE_TITLES):
        return HOSTILE_TITLES[page - 1]
    return HOSTILE_TITLES[page // 5 % len(HOSTILE_TITLES)] if page and page % 5 == 0 else f"Page {page}"


def is_about_balloons(page: int) -> bool:
    return page % 3 != 0


def _html(page: int, port: int) -> str:
    subject = "balloon flight basket burner" if is_about_balloons(page) else "train rail engine station"
    linked = [2 * page + 1, 2 * page + 2, page + 7, N_PAGES + page]
    links = "".join(
        f"<p>{subject} <a href='http://h{other % N_HOSTS}.test:{port}/{other}'>{html.escape(title_of(other))}</a>"
        for other in linked
    )
    # Unique words, so that no page is a near-duplicate.
    words = " ".join(f"word{page}x{number}" for number in range(30))
    return f"<!doctype html><title>{html.escape(title_of(page))}</title>{links}<p>{subject} {words}"


@contextmanager
def running(output: Path, *arguments: object) -> "Iterator[subprocess.Popen[bytes]]":
    """Run the program until the end of the block, with its output in a file."""
    command = [sys.executable, "-m", "scenthound", *map(str, arguments)]
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A running dashboard. `address` has no slash at its end."""

    address: str
    token: str
    output: Path

    def page(self, path: str, fragment: str = "") -> str:
        """The URL of a page, with the token."""
        separator = "&" if "?" in path else "?"
        return f"{self.address}{path}{separator}token={self.token}{fragment}"

    def get(self, path: str) -> Any:
        """The response of the API."""
        request = Request(f"{self.address}{path}", headers={"Authorization": f"Bearer {self.token}"})
        with urlopen(request, timeout=WAIT_S) as response:
            return json.load(response)

    def id_of(self, name: str) -> str:
        found: list[str] = [folder["id"] for folder in self.get("/api/folders")["folders"] if folder["name"] == name]
        return found[0]

    def path_of(self, name: str, *further: str) -> str:
        """The path of a crawl's page."""
        return "/".join(["/crawls", quote(self.id_of(name), safe=""), *further])

    def crawl(self, name: str, *further: str) -> Any:
        """The response of the API for a crawl."""
        return self.get(f"/api{self.path_of(name, *further)}")


@contextmanager
def dashboard(output: Path, *arguments: object) -> Iterator[Dashboard]:
    """A dashboard started from the command line."""
    with running(output, "dashboard", *arguments) as process:

        def printed() -> re.Match[str] | None:
            assert process.poll() is None, output.read_text()
            return _ADDRESS.search(output.read_text())

        found = wait_until(printed, "the dashboard's address")
        yield Dashboard(found[1], found[2], output)
