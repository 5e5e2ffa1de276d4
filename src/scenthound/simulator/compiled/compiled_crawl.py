"""The loop of a compiled crawl: `simulator.simulate` in one call, until something is needed. Requires numba."""

from collections.abc import Callable
from math import inf, isnan

import numpy as np

from scenthound.borrowed_arrays import borrowed
from scenthound.jit import cached_njit, inline_jitable
from scenthound.model import IntArray
from scenthound.simulator.compiled.compiled_cash import drop_cash, start_cash, tell_opic, tell_otie
from scenthound.simulator.compiled.compiled_discovery import (
    discover,
    drop_oldest,
    prefetch_upcoming,
    push_fifo,
    tell_best_first,
    tell_breadth_first,
    tell_link_context,
)
from scenthound.simulator.compiled.compiled_queue import NOTHING, clear, put
from scenthound.simulator.compiled.compiled_ranks import start_rank, tell_rank
from scenthound.simulator.compiled.compiled_rounds import CONTINUE, has_room, pop_next, spin, start_round, tell_rounds
from scenthound.simulator.compiled.records import (
    CrawlArrays,
    Queue,
    Ranking,
    Records,
    ScoreArrays,
    Stop,
    Web,
    WordArray,
)
from scenthound.strategies.kernels import Loop

BREADTH_FIRST, BEST_FIRST, LINK_CONTEXT = int(Loop.BREADTH_FIRST), int(Loop.BEST_FIRST), int(Loop.LINK_CONTEXT)
OPIC, OTIE, ROUNDS = int(Loop.OPIC), int(Loop.OTIE), int(Loop.ROUNDS)
BUDGET_SPENT, EMPTY, NEEDS_ROOM = int(Stop.BUDGET), int(Stop.EMPTY), int(Stop.NEEDS_ROOM)
NEEDS_RELEVANCE, NEEDS_LINK_SCORES = int(Stop.NEEDS_RELEVANCE), int(Stop.NEEDS_LINK_SCORES)


@cached_njit
def start(crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records, seeds: IntArray, salt: WordArray) -> None:
    """Start a crawl from distinct seed URLs."""
    crawl, queue, max_cash, cash = borrowed((crawl, queue, max_cash, cash))
    loop = crawl.state[0].loop
    clear(queue, salt[0])
    clear(max_cash, np.uint64(0))
    for url in seeds:
        if loop in (OPIC, OTIE):
            start_cash(crawl, queue, max_cash, cash, url, 1.0 / len(seeds))
            continue
        if loop == ROUNDS:
            start_round(crawl, queue, url)
            continue
        discover(crawl, queue, url)
        if loop == BREADTH_FIRST:
            push_fifo(crawl, queue, url)
        else:
            put(queue, url, inf)
    drop_oldest(crawl)


@cached_njit
def start_by_rank(
    crawl: CrawlArrays, queue: Queue, cash: Records, ranking: Ranking, seeds: IntArray, salt: WordArray
) -> None:
    """Start a crawl by a rank function."""
    crawl, queue, cash, ranking = borrowed((crawl, queue, cash, ranking))
    clear(queue, salt[0])
    for url in seeds:
        start_rank(crawl, queue, cash, ranking, url, 1.0 / len(seeds))


@cached_njit
def resume(
    web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records, ranking: Ranking
) -> int:
    """Crawl to the end, or until something is needed; a pending page is processed first."""
    web, scores, crawl, queue = borrowed((web, scores, crawl, queue))
    max_cash, cash, ranking = borrowed((max_cash, cash, ranking))
    return loop_with(tell, web, scores, crawl, queue, max_cash, cash, ranking)


@cached_njit
def resume_by_rank(
    web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records, ranking: Ranking
) -> int:
    """Like `resume`, for a queue with the records of a rank function."""
    web, scores, crawl, queue = borrowed((web, scores, crawl, queue))
    max_cash, cash, ranking = borrowed((max_cash, cash, ranking))
    return loop_with(tell_by_rank, web, scores, crawl, queue, max_cash, cash, ranking)


@inline_jitable
def loop_with(
    tell_strategy: Callable[..., None],
    web: Web,
    scores: ScoreArrays,
    crawl: CrawlArrays,
    queue: Queue,
    max_cash: Queue,
    cash: Records,
    ranking: Ranking,
) -> int:
    state = crawl.state[0]
    while state.n_visited < state.budget:
        if not has_room(crawl, queue, max_cash):
            return NEEDS_ROOM
        if state.pending < 0:
            stop = fetch_next(web, scores, crawl, queue, max_cash, cash)
            if stop != CONTINUE:
                return stop
            if state.pending < 0:
                continue
        url = state.pending
        page = web.url_page[url]
        stop = needed_scores(scores, crawl, page)
        if stop != CONTINUE:
            return stop
        prefetch_upcoming(web, scores, crawl, queue)
        tell_strategy(web, scores, crawl, queue, max_cash, cash, ranking, url, page)
        crawl.visit_of[page] = state.n_visited
        crawl.visits[state.n_visited] = page
        state.n_visited += 1
        state.pending = -1
    return BUDGET_SPENT


@inline_jitable
def fetch_next(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records) -> int:
    """Fetch a page: then it is pending, unless it is missing or was visited."""
    state = crawl.state[0]
    if state.list_size:
        url = spin(web, scores, crawl, queue, max_cash, cash)
    else:
        url = pop_next(web, scores, crawl, queue, max_cash, cash)
    if url < 0:
        return EMPTY if url == NOTHING else NEEDS_ROOM
    page = web.url_page[url]
    if page >= 0 and crawl.visit_of[page] < 0:
        state.pending = url
        return CONTINUE
    if page < 0:
        state.n_missing += 1
    else:
        state.n_repeated += 1
    if state.loop in (OPIC, OTIE):
        drop_cash(max_cash, cash, url)
    return CONTINUE


@inline_jitable
def needed_scores(scores: ScoreArrays, crawl: CrawlArrays, page: int) -> int:
    """The scores that must be provided before the page can be passed to the strategy."""
    state = crawl.state[0]
    if state.loop in (BREADTH_FIRST, OPIC):
        return CONTINUE
    if isnan(scores.relevance[page]):
        return NEEDS_RELEVANCE
    reads_links = state.loop in (LINK_CONTEXT, OTIE) or state.by_context or state.weighs_link_scores
    if reads_links and not scores.has_links[page]:
        return NEEDS_LINK_SCORES
    return CONTINUE


@inline_jitable
def tell(
    web: Web,
    scores: ScoreArrays,
    crawl: CrawlArrays,
    queue: Queue,
    max_cash: Queue,
    cash: Records,
    _ranking: Ranking,
    url: int,
    page: int,
) -> None:
    loop = crawl.state[0].loop
    if loop == BEST_FIRST:
        tell_best_first(web, scores, crawl, queue, page)
    elif loop == BREADTH_FIRST:
        tell_breadth_first(web, crawl, queue, page)
    elif loop == OPIC:
        tell_opic(web, crawl, queue, max_cash, cash, url, page)
    elif loop == OTIE:
        tell_otie(web, scores, crawl, queue, max_cash, cash, url, page)
    elif loop == ROUNDS:
        tell_rounds(web, scores, crawl, queue, page)
    else:
        tell_link_context(web, scores, crawl, queue, page)


@inline_jitable
def tell_by_rank(
    web: Web,
    scores: ScoreArrays,
    crawl: CrawlArrays,
    queue: Queue,
    _max_cash: Queue,
    cash: Records,
    ranking: Ranking,
    url: int,
    page: int,
) -> None:
    tell_rank(web, scores, crawl, queue, cash, ranking, url, page)
