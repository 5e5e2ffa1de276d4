"""The URLs of a topical web: of pages, of aliases, and of what is linked to and not recorded.

Every host is a domain of its own. Half of the dead URLs are on the host that first named them, the others on hosts
of which nothing is recorded, a few on each.
"""

from collections.abc import Iterator

import numpy as np

from scenthound.model import IntArray, LongArray
from scenthound.store.columns import Columns
from scenthound.store.text_table import offsets_of, packed
from scenthound.testing.topical.streams import PIECE
from scenthound.web.urls import fingerprint

DEAD_PER_HOST = 8


def host_name(host: int) -> str:
    return f"site{host}.test"


def page_url(host: int, page: int) -> str:
    return f"http://site{host}.test/page{page}"


class Addresses:
    """Writes URLs into columns, number after number."""

    def __init__(self, columns: Columns, n_hosts: int) -> None:
        self._columns, self._n_hosts = columns, n_hosts
        self._lengths: list[IntArray] = []
        self._keys: list[np.ndarray[tuple[int], np.dtype[np.uint64]]] = []
        self._outside: list[str] = []

    def add_pages(self, host: IntArray) -> None:
        for first in range(0, len(host), PIECE):
            hosts = host[first : first + PIECE]
            self._add([page_url(of, first + i) for i, of in enumerate(hosts.tolist())], hosts)

    def add_aliases(self, page: LongArray, host: IntArray) -> None:
        hosts = host[page]
        self._add(
            [f"http://site{of}.test/moved{p}" for of, p in zip(hosts.tolist(), page.tolist(), strict=True)], hosts
        )

    def add_dead(self, source_host: IntArray) -> None:
        """Dead URLs, by the host of the page that first named each."""
        dead = np.arange(len(source_host), dtype=np.int32)
        hosts = np.where(dead % 2, source_host, self._n_hosts + dead // (2 * DEAD_PER_HOST)).astype(np.int32)
        self._outside = [f"outside{i}.test" for i in range(int(hosts.max(initial=-1)) + 1 - self._n_hosts)]
        names = (host_name(of) if of < self._n_hosts else f"outside{of - self._n_hosts}.test" for of in hosts.tolist())
        for first in range(0, len(dead), PIECE):
            piece = hosts[first : first + PIECE]
            self._add([f"http://{next(names)}/gone{first + i}" for i in range(len(piece))], piece)

    def finish(self) -> None:
        columns = self._columns
        columns.append("url_offset", offsets_of(np.concatenate(self._lengths)))
        key = np.concatenate(self._keys)
        order = np.argsort(key)
        columns.append("fingerprint_key", key[order])
        columns.append("fingerprint_url", order)
        text, offset = packed(self._host_names())
        columns.append("host_text", text)
        columns.append("host_offset", offset)

    def _host_names(self) -> Iterator[str]:
        yield from map(host_name, range(self._n_hosts))
        yield from self._outside

    def _add(self, urls: list[str], host: IntArray) -> None:
        self._columns.append("url_text", np.frombuffer("".join(urls).encode(), np.uint8))
        self._columns.append("url_host", host)
        self._lengths.append(np.fromiter(map(len, urls), np.int32, len(urls)))
        self._keys.append(np.fromiter(map(fingerprint, urls), np.uint64, len(urls)))
