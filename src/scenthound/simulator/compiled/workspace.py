"""The arrays of compiled crawls on one web, reused from crawl to crawl and enlarged when needed.

Most have an element for every URL of the web, but the operating system allocates memory only for what is written.
"""

from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray, LongArray
from scenthound.simulator.compiled import records as places
from scenthound.simulator.compiled.records import (
    BLOCK,
    CASH,
    HEAP_SIZE,
    HINT,
    HOST,
    KNOWN,
    KNOWN_NUMBERS,
    LINE_ENTRY,
    N_GENERATIONS,
    SPARE_BLOCKS,
    UNSEEN,
    WAITING,
    Crawling,
    Queue,
    Ranking,
    Records,
    Web,
    new_queue,
)
from scenthound.simulator.modes import Mode, Roulette
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.kernels import Kernel, Loop, RankKernel
from scenthound.strategies.rank_rules import STUDY_SCORES


class Workspace:
    """The arrays of all crawls on one web with the same visible links."""

    def __init__(self, web: RecordedWeb, links: VisibleLinks) -> None:
        arrays = links.offset, links.url, links.index, *_without_repeats(web, links), web.url_page, web.url_host
        self.web = Web(*[_read_only(array) for array in arrays])
        self.lock = Lock()
        self._most_links = int(np.diff(links.offset).max(initial=0))
        self._n_hosts = web.n_hosts
        self._crawl = _crawling(web.n_urls, web.n_pages)
        self._queue = new_queue(np.zeros(0, WAITING))
        self._ranked_queue = new_queue(np.zeros(0, KNOWN))
        self.rich = new_queue(np.empty(0, WAITING), 4, by_number=True)
        self.cash: Records = np.empty(0, CASH)
        self.ranking = _ranking(0, 0, 0)

    def begin(self, kernel: Kernel, mode: Mode, page_budget: int) -> Crawling:
        """The arrays of a new crawl with their initial values."""
        n_pages = min(page_budget, len(self._crawl.visit_of))
        numbers, values = np.zeros(places.N_NUMBERS, np.int64), np.zeros(places.N_VALUES)
        numbers[places.LOOP], numbers[places.BUDGET] = kernel.loop, min(page_budget, MOST_VISITS)
        # One more than any page has: a visited page also gives to itself.
        numbers[places.MOST_LINKS], numbers[places.PENDING] = self._most_links + 1, -1
        for name, number in kernel.numbers().items():
            numbers[getattr(places, name.upper())] = number
        for name, value in kernel.values().items():
            values[getattr(places, name.upper())] = value
        size = mode.size if isinstance(mode, Roulette) else 0
        numbers[places.LIST_SIZE] = size
        numbers[places.REFILL_AT] = mode.refill_at if isinstance(mode, Roulette) else 0
        self._allocate(kernel, numbers, n_pages)
        return self._crawl._replace(
            numbers=numbers,
            values=values,
            visits=np.empty(n_pages, np.int32),
            current=np.empty(size, np.int32),
            stamps=np.empty(size, np.int64),
            wheel_salt=np.zeros(1, np.uint64),
            **self._line_of(numbers),
        )

    def _line_of(self, numbers: LongArray) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a crawl in rounds, or with a bounded frontier."""
        if numbers[places.LOOP] != Loop.ROUNDS:
            return {}
        n_urls = len(self._crawl.found)
        bound = min(int(numbers[places.QUEUE_SIZE]), n_urls)
        return {
            # With room for some to leave before those that stay are moved to the start.
            "line": np.empty(2 * bound + 1, LINE_ENTRY),
            "line_keys": np.empty(n_urls if bound else 0),
            "round": np.empty(min(int(numbers[places.ROUND_SIZE]), n_urls), np.int32),
            "mt_state": np.zeros(MT_STATE_SIZE, np.uint64),
        }

    def _allocate(self, kernel: Kernel, numbers: LongArray, n_pages: int) -> None:
        """Allocate the arrays that only some kernels need."""
        n_urls = len(self._crawl.found)
        shares_cash = kernel.loop in (Loop.OPIC, Loop.OTIE)
        if (shares_cash or numbers[places.N_WEIGHED] > len(STUDY_SCORES)) and not len(self.cash):
            self.cash = np.empty(n_urls, CASH)
        if shares_cash and not len(self.rich.pages):
            self.rich = new_queue(np.empty(n_urls, WAITING), by_number=True)
        self.by_rank = isinstance(kernel, RankKernel)
        if isinstance(kernel, RankKernel):
            self._allocate_for_ranks(kernel, n_pages)
        elif not len(self._queue.pages):
            self._queue = self._queue._replace(pages=_unseen(np.empty(n_urls, WAITING)))

    def _allocate_for_ranks(self, kernel: RankKernel, n_pages: int) -> None:
        from scenthound.simulator.compiled.compiled_queue import turn_round

        if not len(self._ranked_queue.pages):
            numbers = _aligned(len(self._crawl.found), KNOWN_NUMBERS)
            self._ranked_queue = self._ranked_queue._replace(pages=_unseen(numbers.view(KNOWN).ravel()))
            self.ranking = _ranking(len(self._crawl.found), self._n_hosts, len(self.web.distinct_url))
            self.ranking = self.ranking._replace(generations=numbers, as_scores=numbers.view(np.float64))
            turn_round(self.web, self.ranking.parent_offset, self.ranking.parent_page)
        if self.ranking.noted.shape[1] < n_pages:
            self.ranking = self.ranking._replace(noted=np.empty((N_GENERATIONS + 1, n_pages), np.int32))
        weights, bounds = np.array(kernel.rules.weights, np.float64), np.array(kernel.rules.bounds, np.int64)
        self.ranking = self.ranking._replace(weights=weights, bounds=bounds)

    @property
    def queue(self) -> Queue:
        """The queue of the running crawl."""
        return self._ranked_queue if self.by_rank else self._queue

    def make_room_for(self, n_seeds: int) -> None:
        """Make room for the seeds of a crawl."""
        if len(self.queue.before) <= n_seeds + 1 + SPARE_BLOCKS:
            self.grow_queues(n_seeds)

    def grow_queues(self, n_needed: int) -> None:
        if self.by_rank:
            self._ranked_queue = _with_room(self._ranked_queue, n_needed)
        else:
            self._queue = _with_room(self._queue, n_needed)
        self.rich = _with_room(self.rich, n_needed) if len(self.rich.pages) else self.rich


def _without_repeats(web: RecordedWeb, links: VisibleLinks) -> tuple[LongArray, IntArray]:
    from scenthound.simulator.compiled.compiled_queue import without_repeats

    offset = np.zeros(web.n_pages + 1, np.int64)
    url = np.empty(len(links.url), np.int32)
    seen_on = np.full(web.n_urls, -1, np.int32)
    n_links = without_repeats(_read_only(links.offset), _read_only(links.url), seen_on, offset, url)
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


def _crawling(n_urls: int, n_pages: int) -> Crawling:
    nothing = np.zeros(0, np.int32)
    return Crawling(
        found=np.empty(n_urls, np.int32),
        visit_of=np.full(n_pages, -1, np.int32),
        visits=nothing,
        fifo=np.empty(n_urls, np.int32),
        current=nothing,
        stamps=np.zeros(0, np.int64),
        wheel_salt=np.zeros(1, np.uint64),
        line=np.empty(0, LINE_ENTRY),
        line_keys=np.empty(0),
        round=nothing,
        mt_state=np.zeros(0, np.uint64),
        numbers=np.zeros(places.N_NUMBERS, np.int64),
        values=np.zeros(places.N_VALUES),
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
        noted=np.empty((N_GENERATIONS + 1, 0), np.int32),
        n_noted=np.zeros(N_GENERATIONS + 1, np.int64),
        told=np.zeros(N_GENERATIONS + 1, np.int64),
        score=score,
        score_bits=score.view(np.int64),
        weights=np.zeros((1, 1)),
        bounds=np.zeros(0, np.int64),
    )


def _with_room(queue: Queue, n_needed: int) -> Queue:
    """The queue with room for `n_needed` changes, and for emptying or filling its heap."""
    from scenthound.simulator.compiled.compiled_queue import clear_away

    if clear_away(queue) < 2 * n_needed + int(queue.numbers[HEAP_SIZE]):
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
