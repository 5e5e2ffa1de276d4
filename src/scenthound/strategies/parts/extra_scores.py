"""What a rank function may weigh beside the study's nine scores: what links say, and how a host has done so far.

johnson2003 (section 5) wishes for scores of anchors and of hosts; what they are is our design. Each is kept up to date
by itself, and only if a rule weighs it.

- ANCHOR: the highest score that the anchor of any link to u had; CONTEXT: that of the words around it.
- HOST_SUCCESS: of the downloaded pages on u's host, the share that is in the community; 0 if none was downloaded. Seeds
  are in the community, but count once they are downloaded.
- CASH (`cash_score`): what OTIE would let u have.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scenthound.errors import BrokenContract
from scenthound.model import FloatArray, IntArray, Links, Seed
from scenthound.strategies.parts.frontier_based import best_of_repeats, seed_arrays
from scenthound.strategies.parts.per_url import grown, per_url, restored, saved, with_room

#: Over how many words around a link CONTEXT and CASH look, its anchor included (T of wang2009).
CONTEXT_WORDS = 20


@dataclass(frozen=True, slots=True)
class Download:
    """A page that was downloaded. `links` are as they stand on it; `pages` and `hosts` are those of the distinct ones,
    in the order of their first places. `n_seen` counts the URLs seen by then."""

    page: int
    relevance: float
    in_community: bool
    links: Links
    pages: IntArray
    hosts: IntArray
    n_seen: int


class ExtraScore(ABC):
    """A score of every URL that was seen."""

    #: What it holds for each URL, in arrays that may be twice as long as needed.
    bytes_per_url: ClassVar[int]

    @abstractmethod
    def begin(self, seeds: Sequence[Seed]) -> None:
        """Learn the seeds, of which none stands twice."""

    @abstractmethod
    def add(self, download: Download) -> None:
        """Learn of a page."""

    @abstractmethod
    def of(self, pages: IntArray) -> FloatArray:
        """The scores of URLs that were seen."""

    @abstractmethod
    def state(self) -> dict[str, Any]: ...

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `state` answered with; instead of `begin`."""


class _BestLink(ExtraScore):
    """The best that a link to a URL said."""

    bytes_per_url = 16

    def __init__(self) -> None:
        self._best = per_url(0, np.float64)

    def begin(self, seeds: Sequence[Seed]) -> None:
        """No link to a seed was seen yet."""

    @abstractmethod
    def _said(self, links: Links) -> FloatArray | None:
        """What is known of each link."""

    def add(self, download: Download) -> None:
        said = self._said(download.links)
        if said is None:
            raise BrokenContract("Links came without `anchors` or `predicted`; a driver gives them to who wants them.")
        _, best = best_of_repeats(download.links.pages, said)
        self._best = with_room(self._best, download.pages, 0)
        self._best[download.pages] = np.maximum(self._best[download.pages], best)

    def of(self, pages: IntArray) -> FloatArray:
        self._best = with_room(self._best, pages, 0)
        return self._best[pages]

    def state(self) -> dict[str, Any]:
        return {"best": saved(self._best, 0)}

    def restore(self, state: dict[str, Any]) -> None:
        self._best = restored(state["best"], 0, np.float64)


class AnchorScore(_BestLink):
    def _said(self, links: Links) -> FloatArray | None:
        return links.anchors


class ContextScore(_BestLink):
    def _said(self, links: Links) -> FloatArray | None:
        return links.predicted


class HostSuccess(ExtraScore):
    """HOST_SUCCESS. There are no more hosts than URLs."""

    bytes_per_url = 24

    def __init__(self) -> None:
        self._host = per_url(0, np.int32)
        # By host: pages downloaded, and those of them in the community.
        self._counts = np.zeros((0, 2), np.int32)

    def begin(self, seeds: Sequence[Seed]) -> None:
        self._learn_hosts(*seed_arrays(seeds))

    def _learn_hosts(self, pages: IntArray, hosts: IntArray) -> None:
        self._host = with_room(self._host, pages, 0)
        self._host[pages] = hosts
        self._counts = grown(self._counts, 1 + int(hosts.max(initial=0)), 0)

    def add(self, download: Download) -> None:
        self._learn_hosts(download.pages, download.hosts)
        (host,) = self._hosts(np.array([download.page], np.int32))
        self._counts[host] += np.array([1, download.in_community], np.int32)

    def _hosts(self, pages: IntArray) -> IntArray:
        self._host = with_room(self._host, pages, 0)
        return self._host[pages]

    def of(self, pages: IntArray) -> FloatArray:
        counts = self._counts[self._hosts(pages)]
        share: FloatArray = counts[:, 1] / np.maximum(counts[:, 0], 1)
        return share

    def state(self) -> dict[str, Any]:
        return {"host": saved(self._host, 0), "counts": self._counts.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        self._host = restored(state["host"], 0, np.int32)
        self._counts = np.array(state["counts"], np.int32).reshape(-1, 2)
