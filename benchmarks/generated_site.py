"""A web server that makes up its pages as they are requested, for crawls of a million pages.

Rules
- Page n is the same in every run; nothing is stored. It has a few paragraphs of ordinary words, links to pages 3n + 1,
  3n + 2 and 3n + 3, so that all pages can be reached from page 0, and links to other pages at random.
- Loopback addresses only, one per host. Page n is on host n modulo the number of hosts.
- `python -m benchmarks.generated_site PORT PAGES HOSTS` serves until its standard input is closed.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socket import create_connection
from threading import Thread

from scenthound.errors import Failure

PORT = 18_090
N_LINKS = 20
N_PARAGRAPHS = 12
_PARAGRAPHS = 4_096
_WORDS_PER_PARAGRAPH = 40
_VOCABULARY = 20_000
_START_TIMEOUT_S = 20.0
_MULTIPLIER = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_ROBOTS = b"User-agent: *\nDisallow: /private/\n"


@dataclass(frozen=True, slots=True)
class GeneratedSite:
    """How many pages there are on how many hosts."""

    n_pages: int
    n_hosts: int
    port: int = PORT

    @property
    def hosts(self) -> list[str]:
        return [f"127.1.{host // 250}.{1 + host % 250}" for host in range(self.n_hosts)]

    def url(self, page: int) -> str:
        host = page % self.n_hosts
        return f"http://127.1.{host // 250}.{1 + host % 250}:{self.port}/pages/page-{page}.html"


def _mixed(number: int) -> int:
    """A number that looks random (SplitMix64)."""
    number = number * _MULTIPLIER & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31


def _words(seed: int) -> str:
    return " ".join(f"word{_mixed(seed * 1000 + i) % _VOCABULARY}" for i in range(_WORDS_PER_PARAGRAPH))


class _Pages:
    def __init__(self, site: GeneratedSite) -> None:
        self._site = site
        self._paragraphs = [f"<p>{_words(number)}" for number in range(_PARAGRAPHS)]

    def response(self, target: bytes) -> bytes:
        if target == b"/robots.txt":
            return _response(b"200 OK", b"text/plain", _ROBOTS)
        if not target.startswith(b"/pages/page-"):
            return _response(b"404 Not Found", b"text/plain", b"")
        number = int(target[len("/pages/page-") : -len(".html")])
        return _response(b"200 OK", b"text/html; charset=utf-8", self._html(number).encode())

    def _html(self, page: int) -> str:
        n_pages, url = self._site.n_pages, self._site.url
        linked = [child for child in (3 * page + 1, 3 * page + 2, 3 * page + 3) if child < n_pages]
        linked += [_mixed(page * N_LINKS + i) % n_pages for i in range(N_LINKS - len(linked))]
        links = "".join(f'<li><a href="{url(other)}">page {other}</a>' for other in linked)
        chosen = [self._paragraphs[_mixed(page * 64 + i) % _PARAGRAPHS] for i in range(N_PARAGRAPHS)]
        head = f"<!DOCTYPE html><html><head><title>Page {page}</title></head><body><h1>Page {page}</h1>"
        return f"{head}{''.join(chosen)}<ul>{links}</ul></body></html>"


def _response(status: bytes, kind: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (status, kind, len(body), body)


class _Connection(asyncio.Protocol):
    def __init__(self, pages: _Pages) -> None:
        self._pages = pages
        self._waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._waiting = (self._waiting + data).split(b"\r\n\r\n")
        for request in requests:
            self._transport.write(self._pages.response(request.split(b" ", 2)[1]))


@contextmanager
def serving(site: GeneratedSite) -> Iterator[None]:
    """Serve the site in a process of its own until the end of the block."""
    command = [sys.executable, "-m", "benchmarks.generated_site", str(site.port), str(site.n_pages), str(site.n_hosts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            _wait_for(site, process)
            yield
        finally:
            process.communicate()


def _wait_for(site: GeneratedSite, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + _START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline_s:
        try:
            create_connection((site.hosts[-1], site.port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise Failure(f"The web server did not start on port {site.port}. Choose another port with --port.")


async def _serve(site: GeneratedSite) -> None:
    loop, pages = asyncio.get_running_loop(), _Pages(site)
    server = await loop.create_server(lambda: _Connection(pages), site.hosts, site.port)
    Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(server.close)), daemon=True).start()
    await server.wait_closed()


def main() -> None:
    port, n_pages, n_hosts = map(int, sys.argv[1:])
    asyncio.run(_serve(GeneratedSite(n_pages, n_hosts, port)))


if __name__ == "__main__":
    main()
