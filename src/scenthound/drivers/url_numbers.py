"""Numbers given out in order of discovery, so that a number tells nothing about the page behind it."""

import numpy as np

from scenthound.errors import Peeked
from scenthound.model import IntArray
from scenthound.store.recorded_web import RecordedWeb


class Numbering:
    """Gives numbers 0, 1, 2, ... to ids in the order in which they first come up."""

    def __init__(self, n_ids: int) -> None:
        self._number_of = np.full(n_ids, -1, dtype=np.int32)
        self._id_of: list[int] = []

    def __len__(self) -> int:
        return len(self._id_of)

    def numbers(self, ids: IntArray) -> IntArray:
        numbers = self._number_of[ids]
        unknown = ids[numbers < 0]
        if len(unknown):
            new = list(dict.fromkeys(unknown.tolist()))
            self._number_of[new] = np.arange(len(self._id_of), len(self._id_of) + len(new), dtype=np.int32)
            self._id_of += new
            numbers = self._number_of[ids]
        return numbers

    def id_of(self, number: int) -> int:
        return self._id_of[number]

    def ids_from(self, first_number: int) -> list[int]:
        return self._id_of[first_number:]


class UrlNumbers:
    """The numbers that a crawl's URLs and their hosts have got so far."""

    def __init__(self, web: RecordedWeb) -> None:
        self._url_host = web.url_host
        self._urls = Numbering(web.n_urls)
        self._hosts = Numbering(web.n_hosts)
        self._host_of_number = np.zeros(web.n_urls, dtype=np.int32)

    def numbers(self, url_ids: IntArray) -> IntArray:
        n_before = len(self._urls)
        numbers = self._urls.numbers(url_ids)
        n_now = len(self._urls)
        if n_now > n_before:
            new = np.array(self._urls.ids_from(n_before))
            self._host_of_number[n_before:n_now] = self._hosts.numbers(self._url_host[new])
        return numbers

    def hosts(self, numbers: IntArray) -> IntArray:
        return self._host_of_number[numbers]

    def id_of(self, number: int) -> int:
        """The URL behind a number that was given out."""
        if not 0 <= number < len(self._urls):
            raise Peeked(f"Page {number} is unknown: no visited page links to it and it is no seed.")
        return self._urls.id_of(number)

    def host_id(self, host: int) -> int:
        if not 0 <= host < len(self._hosts):
            raise Peeked(f"Host {host} is unknown: no visited page links to it.")
        return self._hosts.id_of(host)
