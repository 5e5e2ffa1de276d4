"""Shards: which hosts a shard of a crawl requests, and what shards send each other.

A crawl may be divided into shards. Each of them is an ordinary crawl with its own engine, strategy and journal, and
requests pages of its own hosts only. What it finds out about pages of other shards travels there in parcels.

Rules
- A host belongs to the shard that a hash of its registrable domain says, so the limits of hosts and domains concern one
  shard each. The number of shards never changes.
- A parcel is part of the commit with the events that caused it. It names the commit of the parcel before, so that the
  receiver notices if one is missing, and ignores those that it has.
- A redirect to a page of another shard hands the page on: its score or cash travels there. The number of redirects
  travels with it, so that endless chains of redirects end.
- A robots.txt file that redirects to a host of another shard is requested by that shard, which sends the answer back.
"""

import hashlib
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from isal import isal_zlib

from scenthound.errors import CorruptData
from scenthound.frontier.departures import Departures, joined
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.reasons import SkipReason
from scenthound.web.urls import host_of, registrable_domain

_LEVEL = 1


def shard_of(host: str, n_shards: int) -> int:
    """The shard that a host belongs to."""
    digest = hashlib.blake2b(registrable_domain(host).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % n_shards


class ShardMap:
    """The shards of the hosts of one crawl, as seen by one of its shards."""

    def __init__(self, n_shards: int, shard: int, table: UrlTable) -> None:
        self.n_shards = n_shards
        self.shard = shard
        self._table = table
        #: By the table's number of a host.
        self._shards = np.zeros(0, np.int32)

    def of_url(self, url: str) -> int:
        return shard_of(host_of(url), self.n_shards)

    def is_home_url(self, url: str) -> bool:
        return self.of_url(url) == self.shard

    def is_home_host(self, name: str) -> bool:
        return shard_of(name, self.n_shards) == self.shard

    def of_hosts(self, hosts: IntArray) -> IntArray:
        """The shards of hosts, by their numbers in the URL table."""
        if len(hosts) and (last := int(hosts.max())) >= len(self._shards):
            numbers = range(len(self._shards), last + 1)
            new = [shard_of(self._table.host(number), self.n_shards) for number in numbers]
            self._shards = np.concatenate((self._shards, np.array(new, np.int32)))
        shards: IntArray = self._shards.take(hosts)
        return shards

    def is_home(self, _pages: IntArray, hosts: IntArray) -> BoolArray:
        at_home: BoolArray = self.of_hosts(hosts) == self.shard
        return at_home


@dataclass(frozen=True, slots=True)
class RobotsRequest:
    """A robots.txt file that another shard has to request: that of `origin`, after redirects to `url`. The answer goes
    to the shard `asker`."""

    origin: str
    url: str
    n_redirects: int
    asker: int


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The response to such a request, or why there is none."""

    origin: str
    status: int = 0
    body: bytes = b""
    failure: SkipReason | None = None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What one event has for other shards. `hops` are the redirects that have led to a page so far, by page; requests
    and answers come with the shard that they are for. `starts` are start pages, for all shards: the stems of their
    words, in order."""

    links: Departures
    hops: Mapping[int, int] = field(default_factory=dict)
    requests: Sequence[tuple[int, RobotsRequest]] = ()
    answers: Sequence[tuple[int, RobotsAnswer]] = ()
    starts: Sequence[Sequence[str]] = ()

    @property
    def is_empty(self) -> bool:
        return not (len(self.links.pages) or self.requests or self.answers or self.starts)


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one commit of a shard has for another one. `previous` is the number of the last commit before with a parcel
    for the same shard; 0 if there is none. `values` has a row for each URL (`Departures`)."""

    previous: int
    urls: Sequence[str] = ()
    values: FloatArray = field(default_factory=lambda: np.zeros((0, 1)))
    hops: Mapping[str, int] = field(default_factory=dict)
    requests: Sequence[RobotsRequest] = ()
    answers: Sequence[RobotsAnswer] = ()
    starts: Sequence[Sequence[str]] = ()

    def to_bytes(self) -> bytes:
        header = {
            "previous": self.previous,
            "urls": list(self.urls),
            "columns": self.values.shape[1],
            "hops": dict(self.hops),
            "requests": [[each.origin, each.url, each.n_redirects, each.asker] for each in self.requests],
            "answers": [
                [each.origin, each.status, b64encode(each.body).decode(), each.failure and each.failure.value]
                for each in self.answers
            ],
            "starts": [list(stems) for stems in self.starts],
        }
        values = np.ascontiguousarray(self.values, "<f8").tobytes()
        return isal_zlib.compress(orjson.dumps(header) + b"\n" + values, _LEVEL)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Parcel":
        try:
            line, _, values = zlib.decompress(content).partition(b"\n")
            header: dict[str, Any] = orjson.loads(line)
            n_urls = len(header["urls"])
            matrix = np.frombuffer(values, "<f8").astype(np.float64).reshape(n_urls, header["columns"])
            return cls(
                header["previous"],
                header["urls"],
                matrix,
                header["hops"],
                [RobotsRequest(*each) for each in header["requests"]],
                [
                    RobotsAnswer(origin, status, b64decode(body), None if failure is None else SkipReason(failure))
                    for origin, status, body, failure in header["answers"]
                ],
                header["starts"],
            )
        except (ValueError, KeyError, TypeError, zlib.error) as reason:
            raise CorruptData("A parcel of another shard is damaged: restore the log from a backup.") from reason


def parcels_of(
    events: Sequence[Outgoing], shards: ShardMap, table: UrlTable, previous: Mapping[int, int]
) -> dict[int, Parcel]:
    """The parcels of a commit with these events, by the shard that they are for."""
    links = joined([event.links for event in events if len(event.links.pages)])
    hops: dict[int, int] = {}
    requests: dict[int, list[RobotsRequest]] = {}
    answers: dict[int, list[RobotsAnswer]] = {}
    for event in events:
        hops |= event.hops
        for shard, request in event.requests:
            requests.setdefault(shard, []).append(request)
        for shard, answer in event.answers:
            answers.setdefault(shard, []).append(answer)
    starts = [stems for event in events for stems in event.starts]
    others = set(range(shards.n_shards)) - {shards.shard} if starts else ()
    targets = shards.of_hosts(links.hosts)
    parcels = {}
    for shard in sorted({*targets.tolist(), *requests, *answers, *others}):
        is_meant = targets == shard
        pages = links.pages[is_meant].tolist()
        urls = [table.url(page) for page in pages]
        parcels[shard] = Parcel(
            previous.get(shard, 0),
            urls,
            links.values[is_meant],
            {url: hops[page] for url, page in zip(urls, pages, strict=True) if page in hops},
            requests.get(shard, ()),
            answers.get(shard, ()),
            starts,
        )
    return parcels
