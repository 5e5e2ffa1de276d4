"""What the browser tests of the dashboard share: a site whose titles are hostile, crawls of it, and a dashboard.

Crawls and dashboard are processes of their own, as people start them; what they say is kept in files, so that a pipe
that nobody reads stops none of them.
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
#: With the delay of `Site.crawl` about thirty pages a second: to be watched for a minute and more.
DELAY_S = 0.4
#: Sets `hacked` in the page that runs it.
HOSTILE_TITLES = (
    "<script>window.hacked = 'script'</script>",
    "<img src=x onerror=\"window.hacked = 'image'\">",
    '"><svg onload="window.hacked = \'svg\'">',
    "{{constructor.constructor('window.hacked = 1')()}} ${hacked = 1} '; hacked = 1; '",
    "\u202egnp.nuf\u202c turned around \u2066\u2067",
    "longest" * 300,
)
#: A folder may be called so, and a dashboard shows its name.
HOSTILE_NAME = "<img src=x onerror=hacked=1>"
_ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)\S*#token=([\w.~-]+)")


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
    """The first pages that links lead to have the hostile titles, and every fifth page has one of them."""
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
    # Words of its own, so that no page is nearly another.
    words = " ".join(f"word{page}x{place}" for place in range(30))
    return f"<!doctype html><title>{html.escape(title_of(page))}</title>{links}<p>{subject} {words}"


@contextmanager
def running(said: Path, *arguments: object) -> "Iterator[subprocess.Popen[bytes]]":
    """The program in a process of its own until the end of the block; what it says is in the file."""
    command = [sys.executable, "-m", "scenthound", *map(str, arguments)]
    with said.open("wb") as file:
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
    """A dashboard that runs. `address` has no slash at its end."""

    address: str
    token: str
    said: Path

    def page(self, path: str) -> str:
        """The address of a page for somebody who may change things."""
        return f"{self.address}{path}#token={self.token}"

    def get(self, path: str) -> Any:
        """What the API answers, asked without a browser."""
        with urlopen(Request(f"{self.address}{path}"), timeout=WAIT_S) as answer:
            return json.load(answer)

    def id_of(self, name: str) -> str:
        found: list[str] = [folder["id"] for folder in self.get("/api/folders")["folders"] if folder["name"] == name]
        return found[0]

    def path_of(self, name: str, *further: str) -> str:
        """The path of a crawl's page, or of one below it."""
        return "/".join(["/crawls", quote(self.id_of(name), safe=""), *further])

    def crawl(self, name: str, *further: str) -> Any:
        """What the API says of a crawl."""
        return self.get(f"/api{self.path_of(name, *further)}")


@contextmanager
def dashboard(said: Path, *folders: Path) -> Iterator[Dashboard]:
    """A dashboard over folders, as it is started on the command line."""
    with running(said, "dashboard", *folders, "--no-open") as process:

        def printed() -> re.Match[str] | None:
            assert process.poll() is None, said.read_text()
            return _ADDRESS.search(said.read_text())

        found = wait_until(printed, "the dashboard's address")
        yield Dashboard(found[1], found[2], said)
