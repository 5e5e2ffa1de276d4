"""Tests of the `crawl` command: a small site on loopback, and the program in a separate process."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scenthound.web.static_server import StaticPage, StaticServer

N_PAGES = 40
N_HOSTS = 4
ADDRESSES = [f"127.61.0.{host + 1}" for host in range(N_HOSTS)]
#: Accepts connections and never sends anything.
SILENT_ADDRESS = "127.61.1.1"


@dataclass
class LiveSite:
    """A ring of pages on a few hosts: each links to the next three; `more` is additional HTML."""

    server: StaticServer
    hosts: Path
    silent: socket.socket

    def url(self, page: int | str) -> str:
        host = page % N_HOSTS if isinstance(page, int) else 0
        return self.server.url(f"http://h{host}.test/{page}")

    def hang_up(self) -> None:
        """Close the connection of the silent host, which accepts no others."""
        with self.silent.accept()[0]:
            self.silent.close()

    def crawl(self, *more: object) -> list[object]:
        """The arguments of the command that crawls the site."""
        where = ("--seed", self.url(0), "--hosts", self.hosts, "--allow-private", "--delay", 0)
        return ["crawl", "--keywords", "balloon", *where, *more]

    def pages_requested(self) -> dict[str, int]:
        """The number of requests for each page, without robots.txt."""
        return {url: count for url, count in self.server.requests.items() if not url.endswith("/robots.txt")}


@contextmanager
def live_site(folder: Path, more: str = "") -> Iterator[LiveSite]:
    def page_of(_host: str, path: str) -> StaticPage | None:
        name = path[1:]
        if name == "robots.txt":
            return StaticPage(b"User-agent: *\nDisallow: /private\n", content_type="text/plain")
        if name == "old":
            return StaticPage(b"", 301, headers=(("Location", "/4"),))
        if not name.isdigit() or int(name) >= N_PAGES:
            return None
        return StaticPage(_html(int(name), server.port, more).encode())

    server = StaticServer(page_of, ADDRESSES)
    hosts = folder / "hosts"
    names = [f"{address} h{host}.test\n" for host, address in enumerate(ADDRESSES)]
    hosts.write_text("".join([*names, f"{SILENT_ADDRESS} silent.test\n"]))
    with server, socket.create_server((SILENT_ADDRESS, server.port)) as silent:
        yield LiveSite(server, hosts, silent)


def _html(number: int, port: int, more: str) -> str:
    follow = [(number + step) % N_PAGES for step in (1, 2, 3)]
    links = "".join(
        f"<p>balloon <a href='http://h{n % N_HOSTS}.test:{port}/{n}'>balloon number {n}</a>" for n in follow
    )
    # Unique words, so that no page is a near-duplicate.
    words = " ".join(f"word{number}x{i}" for i in range(30))
    return f"<title>Page {number}</title>{links}{more.replace('PORT', str(port))}<p>{words}"


def started(*arguments: object) -> "subprocess.Popen[str]":
    """Start the program in a separate process."""
    command = [sys.executable, "-m", "scenthound", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
