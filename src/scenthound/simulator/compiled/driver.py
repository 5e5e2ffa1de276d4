"""Runs a simulated crawl as compiled code, if its strategy has a kernel.

The compiled loop returns when it needs something from Python: the score of a page, or larger arrays. The driver
provides it and resumes the loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from weakref import WeakKeyDictionary

import numpy as np

from scenthound import jit
from scenthound.frontier.base import KEY_BITS
from scenthound.model import FloatArray, IntArray
from scenthound.reasons import EndReason
from scenthound.simulator.compiled import records as places
from scenthound.simulator.compiled.records import Crawling, Given, Stop
from scenthound.simulator.compiled.workspace import Workspace, workspace_of
from scenthound.simulator.modes import Mode, Roulette, Sequential
from scenthound.simulator.scores import Scores
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy
from scenthound.strategies.kernels import Kernel


class KnownScores:
    """The scores of one topic by one model in arrays for compiled code, filled on demand."""

    def __init__(self, web: RecordedWeb) -> None:
        self._link_offset = web.link_offset
        self.relevance: FloatArray = np.full(web.n_pages, np.nan)
        self._link_scores: dict[tuple[int | None, bool], Given] = {}

    def given(self, kernel: Kernel) -> Given:
        """The arrays that a kernel reads."""
        key = kernel.context_words, kernel.needs_anchors
        if key not in self._link_scores:
            n_links = int(self._link_offset[-1])
            self._link_scores[key] = Given(
                self.relevance,
                np.empty(n_links if kernel.context_words is not None else 0),
                np.empty(n_links if kernel.needs_anchors else 0),
                np.zeros(len(self.relevance), np.uint8),
            )
        return self._link_scores[key]

    def learn_page(self, scores: Scores, page: int) -> None:
        self.relevance[page] = scores.page(page)

    def learn_pages(self, scores: Scores, pages: IntArray) -> FloatArray:
        """The relevance of these pages."""
        for page in pages[np.isnan(self.relevance[pages])].tolist():
            self.learn_page(scores, page)
        return self.relevance[pages]

    def learn_links(self, scores: Scores, kernel: Kernel, page: int) -> None:
        given = self.given(kernel)
        links = slice(int(self._link_offset[page]), int(self._link_offset[page + 1]))
        if kernel.context_words is not None:
            given.contexts[links] = scores.contexts(page, kernel.context_words)
        if kernel.needs_anchors:
            given.anchors[links] = scores.anchors(page)
        given.has_links[page] = 1


_KNOWN: "WeakKeyDictionary[Scores, KnownScores]" = WeakKeyDictionary()


def known_scores(scores: Scores, web: RecordedWeb) -> KnownScores:
    """The arrays of these scores, kept as long as the `Scores` exist; new ones if they cannot be weakly referenced."""
    try:
        if scores not in _KNOWN:
            _KNOWN[scores] = KnownScores(web)
        return _KNOWN[scores]
    except TypeError:
        return KnownScores(web)


def compiled_crawl(
    web: RecordedWeb,
    strategy: Strategy,
    seeds: Sequence[int],
    scores: Scores,
    *,
    rng: Random,
    page_budget: int,
    links: VisibleLinks,
    mode: Mode,
) -> Crawl | None:
    """The crawl, as from `simulator.simulate`; None if it must run as plain Python."""
    kernel = strategy.kernel() if _can_start(web, seeds, page_budget, mode) else None
    if kernel is None or not jit.is_available():
        return None
    space = workspace_of(web, links)
    # One crawl at a time: one in another thread, or started by a score, runs as plain Python.
    if not space.lock.acquire(blocking=False):
        return None
    try:
        crawl = space.begin(kernel, mode, page_budget)
        return _crawled(_Running(space, kernel, crawl, known_scores(scores, web), scores), seeds, rng)
    finally:
        space.lock.release()


def _can_start(web: RecordedWeb, seeds: Sequence[int], page_budget: int, mode: Mode) -> bool:
    """Whether mode and seeds are valid for a compiled crawl; plain Python reports what is invalid."""
    starts = len(seeds) > 0 and page_budget >= 0 and all(0 <= seed < web.n_urls for seed in seeds)
    return starts and type(mode) in (Sequential, Roulette)


def _crawled(running: "_Running", seeds: Sequence[int], rng: Random) -> Crawl:
    try:
        running.start(np.array(list(dict.fromkeys(seeds)), np.int32), rng)
        return running.result(running.end())
    finally:
        running.wipe()


@dataclass(frozen=True, slots=True)
class _Running:
    """A running crawl."""

    space: Workspace
    kernel: Kernel
    crawl: Crawling
    known: KnownScores
    scores: Scores

    def start(self, seeds: IntArray, rng: Random) -> None:
        from scenthound.simulator.compiled.compiled_crawl import start, start_by_rank

        space = self.space
        space.make_room_for(len(seeds))
        # Random numbers are drawn in the order of the plain crawl: first for the frontier, then for the wheel.
        salt = np.array([0 if len(self.crawl.line_keys) else rng.getrandbits(KEY_BITS)], np.uint64)
        self._load_generator(rng)
        if space.by_rank:
            start_by_rank(self.crawl, space.queue, space.cash, space.ranking, seeds, salt)
        else:
            start(self.crawl, space.queue, space.rich, space.cash, seeds, salt)
        self._store_generator(rng)
        if self.crawl.numbers[places.LIST_SIZE]:
            self.crawl.wheel_salt[0] = rng.getrandbits(KEY_BITS)
        self._load_generator(rng)

    def _load_generator(self, rng: Random) -> None:
        """Pass the state of the generator to compiled code."""
        if len(self.crawl.mt_state):
            self.crawl.mt_state[:] = rng.getstate()[1]

    def _store_generator(self, rng: Random) -> None:
        if len(self.crawl.mt_state):
            version, _, gauss = rng.getstate()
            rng.setstate((version, tuple(self.crawl.mt_state.tolist()), gauss))

    def end(self) -> Stop:
        """Run to the end; returns its reason."""
        from scenthound.simulator.compiled.compiled_crawl import crawl_on, crawl_on_by_rank

        space, given = self.space, self.known.given(self.kernel)
        go_on = crawl_on_by_rank if space.by_rank else crawl_on
        while True:
            stop = Stop(go_on(space.web, given, self.crawl, space.queue, space.rich, space.cash, space.ranking))
            if stop is Stop.WANTS_ROOM:
                space.grow_queues(int(self.crawl.numbers[places.MOST_LINKS]))
            elif stop is Stop.WANTS_RELEVANCE:
                self.known.learn_page(self.scores, self._pending_page())
            elif stop is Stop.WANTS_LINK_SCORES:
                self.known.learn_links(self.scores, self.kernel, self._pending_page())
            else:
                return stop

    def _pending_page(self) -> int:
        return int(self.space.web.url_page[self.crawl.numbers[places.PENDING]])

    def result(self, stop: Stop) -> Crawl:
        numbers = self.crawl.numbers
        pages = self.crawl.visits[: numbers[places.N_VISITED]].copy()
        return Crawl(
            pages=pages,
            relevance=self.known.learn_pages(self.scores, pages),
            cpu_us=np.full(len(pages), np.nan),
            ended=EndReason.BUDGET if stop is Stop.BUDGET else EndReason.FRONTIER,
            n_missing=int(numbers[places.N_MISSING]),
            n_repeated=int(numbers[places.N_REPEATED]),
            is_compiled=True,
        )

    def wipe(self) -> None:
        """Reset the arrays, also after an error."""
        from scenthound.simulator.compiled.compiled_queue import wipe

        wipe(self.space.web, self.crawl, self.space.queue, self.space.ranking.hosts)
