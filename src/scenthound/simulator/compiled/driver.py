"""Runs a simulated crawl as compiled code, if its strategy has a kernel.

The compiled loop returns when it needs something from Python: the score of a page, or larger arrays. The driver
provides it and resumes the loop.

The arrays of crawls on one web are reused from crawl to crawl and enlarged when needed. Most have an element for every
URL of the web, but the operating system allocates memory only for what is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from scenthound import jit
from scenthound.frontier.base import KEY_BITS
from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.reasons import EndReason
from scenthound.simulator.compiled.records import (
    BLOCK,
    CASH,
    CRAWL_STATE,
    FRONTIER_ENTRY,
    HINT,
    HOST,
    KNOWN,
    KNOWN_NUMBERS,
    N_GENERATIONS,
    QUEUED,
    SPARE_BLOCKS,
    UNSEEN,
    CrawlArrays,
    Queue,
    Ranking,
    Records,
    ScoreArrays,
    Stop,
    Web,
    new_queue,
)
from scenthound.simulator.modes import Mode, Roulette, Sequential
from scenthound.simulator.scores import Scores
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy
from scenthound.strategies.kernels import Kernel, Loop, RankKernel
from scenthound.strategies.rank_rules import STUDY_SCORES


class Workspace:
    """The arrays of all crawls on one web with the same visible links."""

    def __init__(self, web: RecordedWeb, links: VisibleLinks) -> None:
        arrays = links.offset, links.url, links.index, *_distinct_links(web, links), web.url_page, web.url_host
        self.web = Web(*[_read_only(array) for array in arrays])
        self.lock = Lock()
        self._most_links = int(np.diff(links.offset).max(initial=0))
        self._n_hosts = web.n_hosts
        self._crawl = _crawl_arrays(web.n_urls, web.n_pages)
        self._queue = new_queue(np.zeros(0, QUEUED))
        self._ranked_queue = new_queue(np.zeros(0, KNOWN))
        self.max_cash = new_queue(np.empty(0, QUEUED), 4, by_number=True)
        self.cash: Records = np.empty(0, CASH)
        self.ranking = _ranking(0, 0, 0)

    def begin(self, kernel: Kernel, mode: Mode, page_budget: int) -> CrawlArrays:
        """The arrays of a new crawl with their initial values."""
        n_pages = min(page_budget, len(self._crawl.visit_of))
        size, refill_at = (mode.size, mode.refill_at) if isinstance(mode, Roulette) else (0, 0)
        settings = {
            "loop": kernel.loop,
            "budget": min(page_budget, MOST_VISITS),
            # One more than any page has, because a visited page may also give cash to itself.
            "most_links": self._most_links + 1,
            "pending": -1,
            "list_size": size,
            "refill_at": refill_at,
            **kernel.settings(),
        }
        state = np.zeros(1, CRAWL_STATE)
        for name, value in settings.items():
            state[name] = value
        self._allocate(kernel, state[0], n_pages)
        return self._crawl._replace(
            state=state,
            visits=np.empty(n_pages, np.int32),
            current=np.empty(size, np.int32),
            stamps=np.empty(size, np.int64),
            wheel_salt=np.zeros(1, np.uint64),
            **self._arrays_for_rounds(state[0]),
        )

    def _arrays_for_rounds(self, state: np.void) -> dict[str, npt.NDArray[Any]]:
        if state["loop"] != Loop.ROUNDS:
            return {}
        n_urls = len(self._crawl.found)
        bound = min(int(state["queue_size"]), n_urls)
        return {
            # With room for some pops before the others are moved to the start.
            "frontier": np.empty(2 * bound + 1, FRONTIER_ENTRY),
            "frontier_keys": np.empty(n_urls if bound else 0),
            "round": np.empty(min(int(state["round_size"]), n_urls), np.int32),
            "mt_state": np.zeros(MT_STATE_SIZE, np.uint64),
        }

    def _allocate(self, kernel: Kernel, state: np.void, n_pages: int) -> None:
        """Allocate the arrays that only some kernels need."""
        n_urls = len(self._crawl.found)
        shares_cash = kernel.loop in (Loop.OPIC, Loop.OTIE)
        if (shares_cash or state["n_weighed"] > len(STUDY_SCORES)) and not len(self.cash):
            self.cash = np.empty(n_urls, CASH)
        if shares_cash and not len(self.max_cash.pages):
            self.max_cash = new_queue(np.empty(n_urls, QUEUED), by_number=True)
        self.by_rank = isinstance(kernel, RankKernel)
        if isinstance(kernel, RankKernel):
            self._allocate_for_ranks(kernel, n_pages)
        elif not len(self._queue.pages):
            self._queue = self._queue._replace(pages=_unseen(np.empty(n_urls, QUEUED)))

    def _allocate_for_ranks(self, kernel: RankKernel, n_pages: int) -> None:
        from scenthound.simulator.compiled.compiled_queue import invert_links

        if not len(self._ranked_queue.pages):
            numbers = _aligned(len(self._crawl.found), KNOWN_NUMBERS)
            self._ranked_queue = self._ranked_queue._replace(pages=_unseen(numbers.view(KNOWN).ravel()))
            self.ranking = _ranking(len(self._crawl.found), self._n_hosts, len(self.web.distinct_url))
            self.ranking = self.ranking._replace(generations=numbers, as_scores=numbers.view(np.float64))
            invert_links(self.web, self.ranking.parent_offset, self.ranking.parent_page)
        if self.ranking.listed.shape[1] < n_pages:
            self.ranking = self.ranking._replace(listed=np.empty((N_GENERATIONS + 1, n_pages), np.int32))
        weights, bounds = np.array(kernel.rules.weights, np.float64), np.array(kernel.rules.bounds, np.int64)
        self.ranking = self.ranking._replace(weights=weights, bounds=bounds)

    @property
    def queue(self) -> Queue:
        """The queue of the running crawl."""
        return self._ranked_queue if self.by_rank else self._queue

    def make_room_for(self, n_seeds: int) -> None:
        if len(self.queue.before) <= n_seeds + 1 + SPARE_BLOCKS:
            self.grow_queues(n_seeds)

    def grow_queues(self, n_needed: int) -> None:
        if self.by_rank:
            self._ranked_queue = _with_room(self._ranked_queue, n_needed)
        else:
            self._queue = _with_room(self._queue, n_needed)
        self.max_cash = _with_room(self.max_cash, n_needed) if len(self.max_cash.pages) else self.max_cash


def _distinct_links(web: RecordedWeb, links: VisibleLinks) -> tuple[LongArray, IntArray]:
    from scenthound.simulator.compiled.compiled_queue import distinct_links

    offset = np.zeros(web.n_pages + 1, np.int64)
    url = np.empty(len(links.url), np.int32)
    seen_on = np.full(web.n_urls, -1, np.int32)
    n_links = distinct_links(_read_only(links.offset), _read_only(links.url), seen_on, offset, url)
    return offset, url[:n_links]


def _unseen(records: Records) -> Records:
    records["bucket"] = UNSEEN
    return records


def _aligned(n_rows: int, n_columns: int) -> LongArray:
    """Rows that are aligned to cache lines if their length is a multiple of one."""
    row_bytes = 8 * n_columns
    room = np.empty((n_rows + 1) * n_columns, np.int64)
    skipped = -room.ctypes.data % row_bytes // 8
    return room[skipped : skipped + n_rows * n_columns].reshape(n_rows, n_columns)


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view: numba compiles different code for read-only and writable arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def _crawl_arrays(n_urls: int, n_pages: int) -> CrawlArrays:
    nothing, no_words = np.zeros(0, np.int32), np.zeros(0, np.uint64)
    return CrawlArrays(
        found=np.empty(n_urls, np.int32),
        visit_of=np.full(n_pages, -1, np.int32),
        visits=nothing,
        fifo=np.empty(n_urls, np.int32),
        current=nothing,
        stamps=np.zeros(0, np.int64),
        wheel_salt=no_words,
        frontier=np.empty(0, FRONTIER_ENTRY),
        frontier_keys=np.empty(0),
        round=nothing,
        mt_state=no_words,
        state=np.zeros(1, CRAWL_STATE),
    )


def _ranking(n_urls: int, n_hosts: int, n_links: int) -> Ranking:
    score = np.zeros(1)
    return Ranking(
        generations=np.empty((0, KNOWN_NUMBERS), np.int64),
        as_scores=np.empty((0, KNOWN_NUMBERS)),
        hints=np.empty(n_urls, HINT),
        hosts=np.zeros(n_hosts, HOST),
        parent_offset=np.zeros(n_urls + 1, np.int64),
        parent_page=np.empty(n_links, np.int32),
        listed=np.empty((N_GENERATIONS + 1, 0), np.int32),
        n_listed=np.zeros(N_GENERATIONS + 1, np.int64),
        passed=np.zeros(N_GENERATIONS + 1, np.int64),
        score=score,
        score_bits=score.view(np.int64),
        weights=np.zeros((1, 1)),
        bounds=np.zeros(0, np.int64),
    )


def _with_room(queue: Queue, n_needed: int) -> Queue:
    """The queue with room for `n_needed` changes, and for emptying or filling its heap."""
    from scenthound.simulator.compiled.compiled_queue import make_room

    if make_room(queue) < 2 * n_needed + int(queue.state["heap_size"][0]):
        n_blocks = len(queue.before)
        queue = queue._replace(slots=_longer(queue.slots, n_blocks * BLOCK), before=_longer(queue.before, n_blocks))
    n_more = max(0, len(queue.slots) + n_needed - len(queue.heap))
    return queue._replace(heap=_longer(queue.heap, n_more)) if n_more else queue


def _longer(array: npt.NDArray[Any], n_more: int) -> npt.NDArray[Any]:
    return np.concatenate((array, np.zeros(n_more, array.dtype)))


#: More visits than any crawl has.
MOST_VISITS = 2**60
#: The state of the Mersenne Twister and the index of the next number.
MT_STATE_SIZE = 625

_WORKSPACES: "WeakKeyDictionary[VisibleLinks, Workspace]" = WeakKeyDictionary()


def workspace_of(web: RecordedWeb, links: VisibleLinks) -> Workspace:
    """The arrays for crawls with these visible links."""
    if links not in _WORKSPACES:
        _WORKSPACES[links] = Workspace(web, links)
    return _WORKSPACES[links]


class KnownScores:
    """The scores of one topic by one model in arrays for compiled code, filled on demand."""

    def __init__(self, web: RecordedWeb) -> None:
        self._link_offset = web.link_offset
        self.relevance: FloatArray = np.full(web.n_pages, np.nan)
        self._link_scores: dict[tuple[int | None, bool], ScoreArrays] = {}

    def arrays(self, kernel: Kernel) -> ScoreArrays:
        """The arrays that a kernel reads."""
        key = kernel.context_words, kernel.needs_anchors
        if key not in self._link_scores:
            n_links = int(self._link_offset[-1])
            self._link_scores[key] = ScoreArrays(
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
        arrays = self.arrays(kernel)
        links = slice(int(self._link_offset[page]), int(self._link_offset[page + 1]))
        if kernel.context_words is not None:
            arrays.contexts[links] = scores.contexts(page, kernel.context_words)
        if kernel.needs_anchors:
            arrays.anchors[links] = scores.anchors(page)
        arrays.has_links[page] = 1


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
    jit.mark_used()
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
        running.reset()


@dataclass(frozen=True, slots=True)
class _Running:
    """A running crawl."""

    space: Workspace
    kernel: Kernel
    crawl: CrawlArrays
    known: KnownScores
    scores: Scores

    def start(self, seeds: IntArray, rng: Random) -> None:
        from scenthound.simulator.compiled.compiled_crawl import start, start_by_rank

        space = self.space
        space.make_room_for(len(seeds))
        # Random numbers are drawn in the order of the plain crawl: first for the frontier, then for the wheel.
        salt = np.array([0 if len(self.crawl.frontier_keys) else rng.getrandbits(KEY_BITS)], np.uint64)
        self._load_generator(rng)
        if space.by_rank:
            start_by_rank(self.crawl, space.queue, space.cash, space.ranking, seeds, salt)
        else:
            start(self.crawl, space.queue, space.max_cash, space.cash, seeds, salt)
        self._store_generator(rng)
        if self.crawl.state["list_size"][0]:
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
        from scenthound.simulator.compiled.compiled_crawl import resume, resume_by_rank

        space, arrays = self.space, self.known.arrays(self.kernel)
        go_on = resume_by_rank if space.by_rank else resume
        while True:
            stop = Stop(go_on(space.web, arrays, self.crawl, space.queue, space.max_cash, space.cash, space.ranking))
            if stop is Stop.NEEDS_ROOM:
                space.grow_queues(int(self.crawl.state["most_links"][0]))
            elif stop is Stop.NEEDS_RELEVANCE:
                self.known.learn_page(self.scores, self._pending_page())
            elif stop is Stop.NEEDS_LINK_SCORES:
                self.known.learn_links(self.scores, self.kernel, self._pending_page())
            else:
                return stop

    def _pending_page(self) -> int:
        return int(self.space.web.url_page[self.crawl.state["pending"][0]])

    def result(self, stop: Stop) -> Crawl:
        state = self.crawl.state[0]
        pages = self.crawl.visits[: state["n_visited"]].copy()
        return Crawl(
            pages=pages,
            relevance=self.known.learn_pages(self.scores, pages),
            cpu_us=np.full(len(pages), np.nan),
            ended=EndReason.BUDGET if stop is Stop.BUDGET else EndReason.FRONTIER,
            n_missing=int(state["n_missing"]),
            n_repeated=int(state["n_repeated"]),
            n_evicted=int(state["n_evicted"]),
            is_compiled=True,
        )

    def reset(self) -> None:
        """Reset the arrays, also after an error."""
        from scenthound.simulator.compiled.compiled_queue import reset

        reset(self.space.web, self.crawl, self.space.queue, self.space.ranking.hosts)
