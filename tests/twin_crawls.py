"""Shared by the tests of crawls in C: strategies, crawls in C and in Python, and scores that record requests."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest

from scenthound.simulator.modes import parse_mode
from scenthound.simulator.native_crawl import native_crawl
from scenthound.simulator.scores import Scores
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.rank_function import RankByRules
from scenthound.strategies.rank_rules import RankRules
from scenthound.testing import SyntheticWeb

#: Few scores make many ties; they include the threshold of the rank function and both ends.
FEW = (0.0, 0.25, 0.5, 0.75, 1.0)
#: In the order of `SCORE_NAMES`; one row for each rule.
ROWS = (
    (10, 10, 76, 121, 97, 36, 31, 2, 4, 0, 0, 0, 0),
    (0, 3, 0, 1, 0, 7, 0, 0, 2, 5, 3, 2, 9),
    (1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 6),
)


def ranked(n_rows, split_by="nothing", bounds=(), **options):
    return lambda: RankByRules(RankRules(ROWS[:n_rows], split_by, bounds), **options)


BY_DISTANCE = ranked(3, "distance", (1, 3))
BY_PHASE = ranked(2, "phase", (6,), hub_over="max", threshold=0.25)
IN_C = [
    "breadth_first",
    "breadth_first:buffer=5",
    "breadth_first:buffer=5,when_full=drop_oldest",
    "breadth_first:buffer=256",
    "best_first",
    "best_first:found_again=latest",
    "best_first:found_again=first",
    "best_n_first",
    "best_n_first:n=7",
    "best_first:buffer=256",
    "best_first:buffer=1",
    "best_first:buffer=4,found_again=latest",
    "best_first:buffer=5,found_again=first",
    "best_n_first:n=5,buffer=9",
    "best_n_first:n=9,buffer=4",
    "best_n_first:n=256",
    "best_n_first:n=256,buffer=256",
    f"best_n_first:n={10**30},buffer={10**30}",
    f"breadth_first:buffer={10**30}",
    "link_context:buffer=7",
    "link_context:n=3,buffer=2,found_again=latest",
    "link_context:n=50",
    "link_context",
    "link_context:b=0.8,found_again=latest",
    "opic",
    "opic:seeds_first=false",
    "opic:n=5",
    "otie",
    "otie:when_hopeless=keep,revise_again=true,reshare_every=2",
    "otie:when_hopeless=keep,revise_again=true,reshare_every=1,seeds_first=false",
    "otie:a=3,d=1,b=0.3,reshare_every=3",
    "otie:reshare_every=none,seeds_first=false",
    "otie:n=4,reshare_every=3",
    "rank_function",
    "rank_function:preset=best_first",
    "rank_function:n=3",
    "rank_function:hub_over=max,anchor=50,threshold=0.3",
    "rank_function:host_success=30,cash=40,context=20",
    "rank_function:cash=100",
    "rank_function:renew=siblings,score_range=4",
    "rank_function:renew=siblings,comm_out=0,hub=90,cash=30",
    "rank_function:parent_2=0,parent_4=0,parent_5=0,comm_out=0",
    "rank_function:parent_1=0,parent_2=0,parent_3=0,parent_4=0,parent_5=900",
    BY_DISTANCE,
    BY_PHASE,
]
#: One of each kind.
SOME = [
    "breadth_first",
    "best_first",
    "best_n_first:n=5,buffer=9",
    "link_context",
    "opic",
    "otie:when_hopeless=keep,revise_again=true,reshare_every=2",
    "rank_function",
    BY_DISTANCE,
]
MODES = [
    "sequential",
    "roulette",
    "roulette:size=7,refill_at=3",
    "polite",
    "polite:workers=4,patience=0.5",
    "polite:workers=3,patience=1,delay_s=0.2",
    "polite:delay_s=0,patience=0.9",
    "polite:workers=5,fetch_list=12",
]


def name_of(strategy):
    return strategy if isinstance(strategy, str) else str(strategy().rules.split_by)


def each(strategies):
    """A test for each of these strategies."""
    return pytest.mark.parametrize("strategy", strategies, ids=name_of)


class Refused(Exception):
    """Raised by scores after `most_requests`."""


class RecordingScores(Scores):
    """Random scores of a web's pages and links, which record requests and may refuse them."""

    def __init__(self, web: RecordedWeb, seed: int = 0, *, continuous: bool = False) -> None:
        super().__init__(web)
        rng = np.random.default_rng(seed)
        self._page, self._context, self._anchor = (
            rng.random(n) if continuous else rng.choice(FEW, n) for n in (web.n_pages, web.n_links, web.n_links)
        )
        self._offset = web.link_offset
        self.requests: list[tuple[str, int]] = []
        self.most_requests = np.inf

    def score_page(self, recorded_page):
        self._note("page", recorded_page)
        return float(self._page[recorded_page]), 0

    def score_links(self, recorded_page, window):
        what, scores = ("anchors", self._anchor) if window is None else ("contexts", self._context)
        self._note(what, recorded_page)
        return scores[self._offset[recorded_page] : self._offset[recorded_page + 1]], 0

    def requested(self, what):
        return [page for kind, page in self.requests if kind == what]

    def _note(self, what, page):
        if len(self.requests) >= self.most_requests:
            raise Refused
        self.requests.append((what, page))


@dataclass
class Setting:
    """A web to crawl, its visible links and its scores. Crawls of the same setting use the same arrays."""

    web: RecordedWeb
    links: VisibleLinks
    scores: RecordingScores
    seeds: list[int] = field(default_factory=lambda: [0])

    def crawl(self, run: Callable, strategy, mode="sequential", *, page_budget=1000, seed=0, scores=None, **options):
        made = STRATEGIES.make(strategy) if isinstance(strategy, str) else strategy()
        return run(
            *(self.web, made, self.seeds, scores or self.scores),
            rng=Random(seed),
            page_budget=page_budget,
            links=self.links,
            mode=parse_mode(mode),
            **options,
        )

    def plain(self, *choice, **options):
        """In Python, with scores of its own: what a crawl in C has written to its arrays plays no part."""
        scores = copy(self.scores)
        Scores.__init__(scores, self.web)
        return self.crawl(simulate, *choice, plain=True, **{"scores": scores} | options)

    def in_c(self, *choice, **options):
        return self.crawl(native_crawl, *choice, **options)

    def assert_same(self, *choice, **options):
        crawl = self.in_c(*choice, **options)
        assert crawl is not None, "the strategy has no crawl in C"
        assert outcome(crawl) == outcome(self.plain(*choice, **options))
        return crawl


def setting_of(web, n_seeds=1, seed=0, *, continuous=False, **links):
    """Crawls of a web from random seeds."""
    scores = RecordingScores(web, seed, continuous=continuous)
    return Setting(web, VisibleLinks(web, **links), scores, Random(seed).sample(range(web.n_pages), n_seeds))


def random_setting(seed, n_pages, n_links, n_seeds, **options):
    """A web of random links with dead links, redirects, repeated links and self-links."""
    web = SyntheticWeb.random(Random(seed), n_pages, n_links)
    return setting_of(web.recorded, n_seeds, seed, **options)


def outcome(crawl):
    """The result of a crawl without its CPU time."""
    counts = crawl.n_missing, crawl.n_repeated, crawl.n_evicted
    times = [] if crawl.time_s is None else crawl.time_s.tolist()
    return crawl.pages.tolist(), crawl.relevance.tolist(), crawl.ended, counts, times


def some_webs():
    """Small webs of several sizes, which cover most branches of a crawl."""
    sizes = [(20, 3, 1), (60, 3, 4), (60, 8, 9), (200, 8, 2)]
    return [random_setting(seed, *size, continuous=seed == 2) for seed, size in enumerate(sizes)]
