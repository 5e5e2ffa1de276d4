"""Small made-up webs whose every page a person can name.

>>> web = SyntheticWeb({"a": ["b", "c"], "b": [], "c": []}, relevance={"a": 1.0})
>>> visited(BreadthFirst(), web)
['a', 'b', 'c']
"""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from urllib.parse import quote

import numpy as np

from scenthound.drivers.scores import Scores
from scenthound.drivers.simulate import simulate
from scenthound.model import FloatArray, IntArray
from scenthound.store.builder import web_of
from scenthound.store.raw_page import RawPage
from scenthound.strategies.base import Strategy


class SyntheticWeb:
    """Pages by name with their links, in order. A page that is only linked to is recorded without links.

    `fails` are names that answer with an error, `redirects` maps a name to the page it leads to, `relevance` is what a
    crawl is told of a page (0 unless said), `texts` are the words of pages, and `host_of` puts pages on hosts.
    """

    def __init__(
        self,
        links: Mapping[str, Sequence[str]],
        *,
        fails: Collection[str] = (),
        redirects: Mapping[str, str] | None = None,
        relevance: Mapping[str, float] | None = None,
        texts: Mapping[str, str] | None = None,
        host_of: Mapping[str, str] | None = None,
    ) -> None:
        self._host_of = dict(host_of or {})
        redirects = redirects or {}
        names = dict.fromkeys([*links, *(name for targets in links.values() for name in targets), *redirects.values()])
        self.names = [name for name in names if name not in fails and name not in redirects]
        self.recorded = web_of(
            RawPage(
                url=self.url(name),
                text=(texts or {}).get(name, ""),
                aliases=tuple(self.url(alias) for alias, page in redirects.items() if page == name),
                links=tuple(self.url(target) for target in links.get(name, ())),
            )
            for name in self.names
        )
        given = relevance or {}
        self.relevance = [given.get(name, 0.0) for name in self.names]

    @classmethod
    def random(cls, rng: Random, n_pages: int = 60, n_links: int = 6, n_hosts: int = 5) -> "SyntheticWeb":
        """A web of random links and relevances with some dead links, redirects, repeats and links to oneself."""
        names = [f"p{i}" for i in range(n_pages)]
        links = {name: rng.choices(names, k=rng.randint(0, 2 * n_links)) for name in names}
        links["p0"] = rng.sample(names[1:], k=min(n_links, n_pages - 1))
        odd = rng.sample(names[1:], k=n_pages // 5)
        dead, moved = odd[::2], odd[1::2]
        sound = [name for name in names if name not in odd]
        return cls(
            links,
            fails=dead,
            redirects={name: rng.choice(sound) for name in moved},
            # Few distinct values, so that ties are common.
            relevance={name: rng.randint(0, 4) / 4 for name in sound},
            host_of={name: f"h{rng.randrange(n_hosts)}" for name in names},
        )

    def url(self, name: str) -> str:
        return f"http://{self._host_of.get(name, 'web')}.test/{quote(name, safe='')}"

    def scores(self) -> Scores:
        return _GivenScores(self.relevance)


class _GivenScores:
    """The relevances that a synthetic web was given; its links promise nothing."""

    def __init__(self, relevance: Sequence[float]) -> None:
        self._relevance = relevance

    def page(self, recorded_page: int) -> float:
        return self._relevance[recorded_page]

    def cost_ns(self, recorded_page: int) -> int:
        return 0

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        return np.zeros(len(first))


def visited(
    strategy: Strategy, web: SyntheticWeb, seeds: Sequence[str] | None = None, *, pages: int = 1000, seed: int = 0
) -> list[str]:
    """The names of the pages that a crawl gets, in order; it starts from the first page unless told otherwise."""
    starts = [web.names.index(name) for name in (seeds or web.names[:1])]
    crawl = simulate(web.recorded, strategy, starts, web.scores(), rng=Random(seed), page_budget=pages)
    return [web.names[page] for page in crawl.pages]
