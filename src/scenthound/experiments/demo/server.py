"""The demo web on loopback: each of its hosts at an address of its own, for a crawl that truly fetches.

Rules
- Hosts have their addresses in order of their names, so the same demo web has the same ones in every run. Where a
  system has no loopback address but the usual one, all hosts share that.
- The pages name no port. They are served on one that is free, and their links are led to it when they are served;
  `at_demo_port` does the same for the URLs of a topic.
"""

import dataclasses
import re
import socket
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from types import TracebackType

import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.model import Topic
from scenthound.web.static_server import LOOPBACK, StaticPage, StaticServer, at_port
from scenthound.web.urls import host_of

#: The hosts' addresses are 127.99.0.1 and those after it: a corner of the loopback network that others leave alone.
_FIRST_ADDRESS = (127 << 24) + (99 << 16) + 1
_LINK = re.compile(rb'(href="http://[a-z0-9_.-]+\.test)(?=[/"])')


class DemoServer:
    """Serves from `with` to its end. `hosts` has the address of every host name, for the crawler's resolver."""

    def __init__(self, pages: Path, port: int = 0) -> None:
        self._pages = _load(pages)
        names = sorted({host_of(url) for url in self._pages})
        self.hosts = dict(zip(names, _addresses(len(names)), strict=True))
        self._server = StaticServer(self._page_of, sorted(set(self.hosts.values())), port)

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def urls(self) -> list[str]:
        """The pages, as they are served."""
        return [self._server.url(url) for url in self._pages]

    @property
    def n_requests(self) -> int:
        """How many requests were made, those for robots.txt and for pages that are not there included."""
        return self._server.requests.total()

    def __enter__(self) -> "DemoServer":
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def _page_of(self, host: str, path: str) -> StaticPage | None:
        html = self._pages.get(f"http://{host}{path}")
        return None if html is None else StaticPage(_LINK.sub(rb"\1:%d" % self.port, html))


def at_demo_port(topic: Topic, port: int) -> Topic:
    """A topic of the demo web, its pages named as they are served at a port."""

    def served(urls: Iterable[str]) -> tuple[str, ...]:
        return tuple(at_port(url, port) for url in urls)

    return dataclasses.replace(
        topic,
        examples=served(topic.examples),
        seeds=served(topic.seeds),
        targets=served(topic.targets),
        description_from=served(topic.description_from),
    )


def _load(pages: Path) -> dict[str, bytes]:
    try:
        records = [orjson.loads(line) for line in pages.read_bytes().splitlines()]
        return {record["url"]: record["html"].encode() for record in records}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidInput(
            f"Cannot read the demo web from {printable(pages)} ({printable(error)}): write it there again."
        ) from None


def _addresses(n_hosts: int) -> list[str]:
    numbers = range(_FIRST_ADDRESS, _FIRST_ADDRESS + n_hosts)
    addresses = [socket.inet_ntoa(number.to_bytes(4, "big")) for number in numbers]
    return addresses if _is_own(addresses[0]) else [LOOPBACK] * n_hosts


def _is_own(address: str) -> bool:
    with closing(socket.socket()) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return False
    return True
