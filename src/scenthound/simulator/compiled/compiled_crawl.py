"""The loop of a compiled crawl: what `drivers/simulate` does page by page, in one call until something is wanting.

Importing this file needs numba (the extra `fast`).
"""

from collections.abc import Callable
from math import inf, isnan

import numpy as np

from scenthound.borrowed_arrays import borrowed
from scenthound.jit import cached_njit, inline_jitable
from scenthound.model import IntArray
from scenthound.simulator.compiled.compiled_cash import drop_cash, start_cash, tell_opic, tell_otie
from scenthound.simulator.compiled.compiled_discovery import (
    ask_ahead,
    drop_oldest,
    enter_fifo,
    find,
    tell_best_first,
    tell_breadth_first,
    tell_link_context,
)
from scenthound.simulator.compiled.compiled_queue import NOTHING, clear, put
from scenthound.simulator.compiled.compiled_ranks import start_rank, tell_rank
from scenthound.simulator.compiled.compiled_rounds import GOES_ON, has_room, spin, start_round, take_next, tell_rounds
from scenthound.simulator.compiled.records import (
    BUDGET,
    BY_CONTEXT,
    LIST_SIZE,
    LOOP,
    N_MISSING,
    N_REPEATED,
    N_VISITED,
    PENDING,
    WEIGHS_LINK_SCORES,
    Crawling,
    Given,
    Queue,
    Ranking,
    Records,
    Stop,
    Web,
    WordArray,
)
from scenthound.strategies.kernels import Loop

BREADTH_FIRST, BEST_FIRST, LINK_CONTEXT = int(Loop.BREADTH_FIRST), int(Loop.BEST_FIRST), int(Loop.LINK_CONTEXT)
OPIC, OTIE, ROUNDS = int(Loop.OPIC), int(Loop.OTIE), int(Loop.ROUNDS)
BUDGET_SPENT, EMPTY = int(Stop.BUDGET), int(Stop.EMPTY)
WANTS_RELEVANCE, WANTS_LINK_SCORES = int(Stop.WANTS_RELEVANCE), int(Stop.WANTS_LINK_SCORES)
WANTS_ROOM = int(Stop.WANTS_ROOM)


@cached_njit
def start(crawl: Crawling, queue: Queue, rich: Queue, cash: Records, seeds: IntArray, salt: WordArray) -> None:
    """Begin a crawl from seed URLs, each of which stands there once."""
    crawl, queue, rich, cash = borrowed((crawl, queue, rich, cash))
    clear(queue, salt[0])
    clear(rich, np.uint64(0))
    for url in seeds:
        if crawl.numbers[LOOP] in (OPIC, OTIE):
            start_cash(crawl, queue, rich, cash, url, 1.0 / len(seeds))
            continue
        if crawl.numbers[LOOP] == ROUNDS:
            start_round(crawl, queue, url)
            continue
        find(crawl, queue, url)
        if crawl.numbers[LOOP] == BREADTH_FIRST:
            enter_fifo(crawl, queue, url)
        else:
            put(queue, url, inf)
    drop_oldest(crawl)


@cached_njit
def start_by_rank(
    crawl: Crawling, queue: Queue, cash: Records, ranking: Ranking, seeds: IntArray, salt: WordArray
) -> None:
    """Begin a crawl by a rank function."""
    crawl, queue, cash, ranking = borrowed((crawl, queue, cash, ranking))
    clear(queue, salt[0])
    for url in seeds:
        start_rank(crawl, queue, cash, ranking, url, 1.0 / len(seeds))


@cached_njit
def crawl_on(
    web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records, ranking: Ranking
) -> int:
    """Crawl until the end, or until something is wanting. What is pending then is taken up again."""
    web, given, crawl, queue = borrowed((web, given, crawl, queue))
    rich, cash, ranking = borrowed((rich, cash, ranking))
    return loop(tell, web, given, crawl, queue, rich, cash, ranking)


@cached_njit
def crawl_on_by_rank(
    web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records, ranking: Ranking
) -> int:
    """Like `crawl_on`, for a queue with the records of a rank function."""
    web, given, crawl, queue = borrowed((web, given, crawl, queue))
    rich, cash, ranking = borrowed((rich, cash, ranking))
    return loop(tell_by_rank, web, given, crawl, queue, rich, cash, ranking)


@inline_jitable
def loop(
    told: Callable[..., None],
    web: Web,
    given: Given,
    crawl: Crawling,
    queue: Queue,
    rich: Queue,
    cash: Records,
    ranking: Ranking,
) -> int:
    numbers = crawl.numbers
    while numbers[N_VISITED] < numbers[BUDGET]:
        if not has_room(crawl, queue, rich):
            return WANTS_ROOM
        if numbers[PENDING] < 0:
            stop = get_next(web, given, crawl, queue, rich, cash)
            if stop != GOES_ON:
                return stop
            if numbers[PENDING] < 0:
                continue
        url = numbers[PENDING]
        page = web.url_page[url]
        stop = what_is_wanting(given, crawl, page)
        if stop != GOES_ON:
            return stop
        ask_ahead(web, given, crawl, queue)
        told(web, given, crawl, queue, rich, cash, ranking, url, page)
        crawl.visit_of[page] = numbers[N_VISITED]
        crawl.visits[numbers[N_VISITED]] = page
        numbers[N_VISITED] += 1
        numbers[PENDING] = -1
    return BUDGET_SPENT


@inline_jitable
def get_next(web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records) -> int:
    """Get a page: it is pending then, unless it cannot be had."""
    numbers = crawl.numbers
    if numbers[LIST_SIZE]:
        url = spin(web, given, crawl, queue, rich, cash)
    else:
        url = take_next(web, given, crawl, queue, rich, cash)
    if url < 0:
        return EMPTY if url == NOTHING else WANTS_ROOM
    page = web.url_page[url]
    if page >= 0 and crawl.visit_of[page] < 0:
        numbers[PENDING] = url
        return GOES_ON
    numbers[N_MISSING if page < 0 else N_REPEATED] += 1
    if numbers[LOOP] in (OPIC, OTIE):
        drop_cash(rich, cash, url)
    return GOES_ON


@inline_jitable
def what_is_wanting(given: Given, crawl: Crawling, page: int) -> int:
    """What must be brought before the page can be told."""
    kind = crawl.numbers[LOOP]
    if kind in (BREADTH_FIRST, OPIC):
        return GOES_ON
    if isnan(given.relevance[page]):
        return WANTS_RELEVANCE
    by_links = kind in (LINK_CONTEXT, OTIE) or crawl.numbers[BY_CONTEXT] or crawl.numbers[WEIGHS_LINK_SCORES]
    if by_links and not given.has_links[page]:
        return WANTS_LINK_SCORES
    return GOES_ON


@inline_jitable
def tell(
    web: Web,
    given: Given,
    crawl: Crawling,
    queue: Queue,
    rich: Queue,
    cash: Records,
    _ranking: Ranking,
    url: int,
    page: int,
) -> None:
    kind = crawl.numbers[LOOP]
    if kind == BEST_FIRST:
        tell_best_first(web, given, crawl, queue, page)
    elif kind == BREADTH_FIRST:
        tell_breadth_first(web, crawl, queue, page)
    elif kind == OPIC:
        tell_opic(web, crawl, queue, rich, cash, url, page)
    elif kind == OTIE:
        tell_otie(web, given, crawl, queue, rich, cash, url, page)
    elif kind == ROUNDS:
        tell_rounds(web, given, crawl, queue, page)
    else:
        tell_link_context(web, given, crawl, queue, page)


@inline_jitable
def tell_by_rank(
    web: Web,
    given: Given,
    crawl: Crawling,
    queue: Queue,
    _rich: Queue,
    cash: Records,
    ranking: Ranking,
    url: int,
    page: int,
) -> None:
    tell_rank(web, given, crawl, queue, cash, ranking, url, page)
