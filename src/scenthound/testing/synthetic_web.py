"""Small synthetic webs with named pages.

>>> web = SyntheticWeb({"a": ["b", "c"], "b": [], "c": []}, relevance={"a": 1.0})
>>> visited(BreadthFirst(), web)
['a', 'b', 'c']
"""

import re
from collections.abc import Collection, Mapping, Sequence
from random import Random
from urllib.parse import quote

import numpy as np

from scenthound.model import FloatArray
from scenthound.simulator.scores import Scores, TopicWords
from scenthound.simulator.simulator import simulate
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy
from scenthound.text.tokenizer import stems_of

MARKED_LINK = re.compile(r"\[(\w+)\]")
#: The words of random webs.
WORDS = ("sea", "wave", "harbour", "ship", "anchor", "sail", "wind", "storm", "island", "coast", "tide", "reef")


class SyntheticWeb:
    """Pages by name with their links, in order. A page that occurs only as a target is recorded without links.

    `fails` are names of pages that cannot be fetched, `redirects` maps names to their targets, `relevance` is the
    relevance of pages (default 0), `texts` are the words of pages, and `host_of` maps pages to hosts (`<host>.test`, so
    that each host is a domain). `predicted` and `anchors` are the relevance of the words around a link and of its
    anchor, by (page, linked page), default 0. `keywords` are those of the topic.

    Links follow the words of a page, unless its text has marks: in "storm at sea [b] calm" the link to b, with an empty
    anchor, is between sea and calm. A page whose text has marks has only these links.
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
        predicted: Mapping[tuple[str, str], float] | None = None,
        anchors: Mapping[tuple[str, str], float] | None = None,
        keywords: str = "",
    ) -> None:
        self._host_of = dict(host_of or {})
        redirects, texts = redirects or {}, texts or {}
        links = {**links, **{name: MARKED_LINK.findall(text) for name, text in texts.items() if "[" in text}}
        names = dict.fromkeys([*links, *(name for targets in links.values() for name in targets), *redirects.values()])
        self.names = [name for name in names if name not in fails and name not in redirects]
        self.recorded = web_of(
            self._page(
                name,
                texts.get(name, ""),
                links.get(name, ()),
                [alias for alias, page in redirects.items() if page == name],
            )
            for name in self.names
        )
        self.relevance = [(relevance or {}).get(name, 0.0) for name in self.names]
        self._predicted = _per_link(self.names, links, predicted or {})
        self._anchors = _per_link(self.names, links, anchors or {})
        self.topic = TopicWords(self.recorded.find_words(stems_of(keywords)))

    @classmethod
    def random(cls, rng: Random, n_pages: int = 60, n_links: int = 6, n_hosts: int = 5) -> "SyntheticWeb":
        """A web of random links and relevances, with some dead links, redirects, repeated links and self-links."""
        names = [f"p{i}" for i in range(n_pages)]
        links = {name: rng.choices(names, k=rng.randint(0, 2 * n_links)) for name in names}
        links["p0"] = rng.sample(names[1:], k=min(n_links, n_pages - 1))
        absent = rng.sample(names[1:], k=n_pages // 5)
        dead, moved = absent[::2], absent[1::2]
        recorded = [name for name in names if name not in absent]
        pairs = [(name, target) for name in names for target in links[name]]
        return cls(
            links,
            fails=dead,
            redirects={name: rng.choice(recorded) for name in moved},
            # Few distinct values, so that ties are common.
            relevance={name: rng.randint(0, 4) / 4 for name in recorded},
            host_of={name: f"h{rng.randrange(n_hosts)}" for name in names},
            predicted={pair: rng.randint(0, 4) / 4 for pair in pairs},
            anchors={pair: rng.choice([0.0, 0.0, 0.5, 1.0]) for pair in pairs},
            texts={name: " ".join(rng.choices(WORDS, k=30)) for name in recorded},
            keywords=" ".join(WORDS[:3]),
        )

    def _page(self, name: str, text: str, links: Sequence[str], aliases: Sequence[str]) -> RawPage:
        url, alias_urls = self.url(name), tuple(map(self.url, aliases))
        if "[" in text:
            html = MARKED_LINK.sub(lambda marked: f'<a href="{self.url(marked[1])}"></a>', text)
            return RawPage(url, html=html, aliases=alias_urls)
        return RawPage(url, text=text, aliases=alias_urls, links=tuple(map(self.url, links)))

    def url(self, name: str) -> str:
        return f"http://{self._host_of.get(name, 'web')}.test/{quote(name, safe='')}"

    def scores(self) -> Scores:
        return _FixedScores(self.recorded, self.relevance, self._predicted, self._anchors)


def _per_link(
    names: Sequence[str], links: Mapping[str, Sequence[str]], scores: Mapping[tuple[str, str], float]
) -> list[FloatArray]:
    return [np.array([scores.get((name, target), 0.0) for target in links.get(name, ())]) for name in names]


class _FixedScores(Scores):
    """The scores of a synthetic web."""

    def __init__(
        self,
        web: RecordedWeb,
        relevance: Sequence[float],
        predicted: Sequence[FloatArray],
        anchors: Sequence[FloatArray],
    ) -> None:
        super().__init__(web)
        self._fixed, self._predicted, self._anchors = relevance, predicted, anchors

    def score_page(self, recorded_page: int) -> tuple[float, int]:
        return self._fixed[recorded_page], 0

    def score_links(self, recorded_page: int, window: int | None) -> tuple[FloatArray, int]:
        return (self._anchors if window is None else self._predicted)[recorded_page], 0


def visited(
    strategy: Strategy, web: SyntheticWeb, seeds: Sequence[str] | None = None, *, pages: int = 1000, seed: int = 0
) -> list[str]:
    """The names of the pages that a crawl visits, in order; by default it starts from the first page."""
    starts = [web.names.index(name) for name in (seeds or web.names[:1])]
    # The strategy itself, not its kernel in C.
    crawl = simulate(
        web.recorded, strategy, starts, web.scores(), rng=Random(seed), page_budget=pages, topic=web.topic, plain=True
    )
    return [web.names[page] for page in crawl.pages]
