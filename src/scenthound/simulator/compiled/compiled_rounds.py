"""Best-N-First with a bounded frontier or rounds of several pages in compiled crawls, and the choice of the next page.

`frontier.priority` specifies the bounded frontier, `strategies.frontier_strategy` rounds. Here the frontier is an
array, the best page first: popped pages move its start, and the worst is dropped at its end.

Random numbers are those of Python: the Mersenne Twister (Matsumoto and Nishimura 1998) on the state of
`Random.getstate`, 624 words and the index of the next.

Requires numba.
"""

from math import inf

import numpy as np

from scenthound.jit import inline_jitable, jitable
from scenthound.simulator.compiled.compiled_cash import pop_cash
from scenthound.simulator.compiled.compiled_discovery import discover, link_score, push
from scenthound.simulator.compiled.compiled_queue import NO_ROOM, NOTHING, pop, put, room, tie_key
from scenthound.simulator.compiled.records import (
    HIGHEST,
    LATEST,
    POPPED,
    UNKNOWN,
    CrawlArrays,
    Queue,
    Records,
    ScoreArrays,
    Web,
    WordArray,
)
from scenthound.strategies.kernels import Loop

BREADTH_FIRST, OPIC, OTIE, ROUNDS = int(Loop.BREADTH_FIRST), int(Loop.OPIC), int(Loop.OTIE), int(Loop.ROUNDS)
#: Returned if the crawl can continue.
CONTINUE = -1
#: `bucket` of a page in the bounded frontier.
IN_FRONTIER = 0

N_WORDS, _MIDDLE = 624, 397
_UPPER, _LOWER = np.uint64(0x80000000), np.uint64(0x7FFFFFFF)
_TWIST, _ONE, _MASK = np.uint64(0x9908B0DF), np.uint64(1), np.uint64(0xFFFFFFFF)
_TEMPER_B, _TEMPER_C = np.uint64(0x9D2C5680), np.uint64(0xEFC60000)
#: The bits of a key that are not used for a draw from the wheel, and the factor that maps the others to [0, 1).
_UNUSED_BITS, _TWO_TO_MINUS_53 = np.uint64(11), 2.0**-53


# The Mersenne Twister


@jitable
def _renew(state: WordArray) -> None:
    for index in range(N_WORDS):
        mixed = (state[index] & _UPPER) | (state[(index + 1) % N_WORDS] & _LOWER)
        twisted = _TWIST if mixed & _ONE else np.uint64(0)
        state[index] = state[(index + _MIDDLE) % N_WORDS] ^ (mixed >> _ONE) ^ twisted
    state[N_WORDS] = 0


@inline_jitable
def next_word(state: WordArray) -> np.uint64:
    """32 random bits."""
    if state[N_WORDS] >= N_WORDS:
        _renew(state)
    word = state[np.int64(state[N_WORDS])]
    state[N_WORDS] += _ONE
    word ^= word >> np.uint64(11)
    word ^= (word << np.uint64(7)) & _TEMPER_B
    word ^= (word << np.uint64(15)) & _TEMPER_C
    return (word ^ (word >> np.uint64(18))) & _MASK


@inline_jitable
def random(state: WordArray) -> float:
    """`Random.random()`."""
    upper, lower = next_word(state) >> np.uint64(5), next_word(state) >> np.uint64(6)
    return (float(upper) * 67108864.0 + float(lower)) * (1.0 / 9007199254740992.0)


@inline_jitable
def randrange(state: WordArray, n: int) -> int:
    """`Random.randrange(n)`; n is at least 1."""
    n_bits = 0
    while n >> n_bits:
        n_bits += 1
    drawn = n
    while drawn >= n:
        drawn = int(np.int64(next_word(state) >> np.uint64(32 - n_bits)))
    return drawn


@inline_jitable
def shuffle(crawl: CrawlArrays) -> None:
    """`Random.shuffle` of the round."""
    for index in range(crawl.state[0].n_in_round - 1, 0, -1):
        other = randrange(crawl.mt_state, index + 1)
        crawl.round[index], crawl.round[other] = crawl.round[other], crawl.round[index]


# The bounded frontier


@inline_jitable
def tell_rounds(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, page: int) -> None:
    """Repeated links count: a page that links of the same page have evicted may enter again."""
    state, score = crawl.state[0], scores.relevance[page]
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        discover(crawl, queue, web.link_url[link])
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        if state.by_context:
            score = link_score(web, scores, crawl, page, link)
        if state.queue_size:
            push_bounded(crawl, queue, web.link_url[link], score, state.rule)
        else:
            push(crawl, queue, web.link_url[link], score, state.rule)


@jitable
def push_bounded(crawl: CrawlArrays, queue: Queue, url: int, score: float, rule: int) -> None:
    """Queue a page or change its score; a full frontier evicts its last page first."""
    state, record = crawl.state[0], queue.pages[url]
    if record.bucket == IN_FRONTIER:
        if (rule == HIGHEST and score > record.score) or (rule == LATEST and score != record.score):
            remove_entry(crawl, record.score, crawl.frontier_keys[url])
            insert_entry(crawl, score, crawl.frontier_keys[url], url)
            record.score = score
    elif record.bucket == UNKNOWN:
        if state.frontier_end - state.frontier_first == state.queue_size:
            state.frontier_end -= 1
            state.n_evicted += 1
            queue.pages[crawl.frontier[state.frontier_end].page].bucket = UNKNOWN
        crawl.frontier_keys[url] = random(crawl.mt_state)
        record.score, record.bucket = score, IN_FRONTIER
        insert_entry(crawl, score, crawl.frontier_keys[url], url)


@inline_jitable
def index_of(crawl: CrawlArrays, score: float, key: float) -> int:
    """The index of an entry, or where to insert it: before the first that is not better."""
    low, high = crawl.state[0].frontier_first, crawl.state[0].frontier_end
    while low < high:
        middle = (low + high) >> 1
        other = crawl.frontier[middle]
        if other.score > score or (other.score == score and other.key > key):
            low = middle + 1
        else:
            high = middle
    return low


@inline_jitable
def copy_entry(entries: Records, source: int, target: int) -> None:
    read, written = entries[source], entries[target]
    written.score, written.key, written.page = read.score, read.key, read.page


@inline_jitable
def insert_entry(crawl: CrawlArrays, score: float, key: float, url: int) -> None:
    state, entries = crawl.state[0], crawl.frontier
    if state.frontier_end == len(entries):
        move_to_start(crawl)
    index = index_of(crawl, score, key)
    for other in range(state.frontier_end, index, -1):
        copy_entry(entries, other - 1, other)
    entries[index].score, entries[index].key, entries[index].page = score, key, url
    state.frontier_end += 1


@inline_jitable
def remove_entry(crawl: CrawlArrays, score: float, key: float) -> None:
    state = crawl.state[0]
    for other in range(index_of(crawl, score, key), state.frontier_end - 1):
        copy_entry(crawl.frontier, other + 1, other)
    state.frontier_end -= 1


@inline_jitable
def move_to_start(crawl: CrawlArrays) -> None:
    state = crawl.state[0]
    first, n_queued = state.frontier_first, state.frontier_end - state.frontier_first
    for index in range(n_queued):
        copy_entry(crawl.frontier, first + index, index)
    state.frontier_first, state.frontier_end = 0, n_queued


@inline_jitable
def start_round(crawl: CrawlArrays, queue: Queue, url: int) -> None:
    discover(crawl, queue, url)
    if crawl.state[0].queue_size:
        push_bounded(crawl, queue, url, inf, HIGHEST)
    else:
        put(queue, url, inf)


@jitable
def pop_of_round(crawl: CrawlArrays, queue: Queue) -> int:
    """The next page of the round; if there is none, the best queued pages are the next round, in random order."""
    state = crawl.state[0]
    if state.n_in_round == 0 and state.n_to_fill == 0:
        state.n_to_fill = state.round_size
    while state.n_to_fill:
        url = pop_best(crawl, queue)
        if url == NO_ROOM:
            return NO_ROOM
        state.n_to_fill -= 1
        if url >= 0:
            crawl.round[state.n_in_round] = url
            state.n_in_round += 1
        if url == NOTHING or state.n_to_fill == 0:
            state.n_to_fill = 0
            shuffle(crawl)
    if state.n_in_round == 0:
        return NOTHING
    state.n_in_round -= 1
    return crawl.round[state.n_in_round]


@inline_jitable
def pop_best(crawl: CrawlArrays, queue: Queue) -> int:
    state = crawl.state[0]
    if not state.queue_size:
        return pop(queue)
    if state.frontier_first == state.frontier_end:
        return NOTHING
    url = crawl.frontier[state.frontier_first].page
    state.frontier_first += 1
    queue.pages[url].bucket = POPPED
    return url


# The next page: the best one of the strategy, or one that the roulette wheel draws from the current list


@inline_jitable
def has_room(crawl: CrawlArrays, queue: Queue, max_cash: Queue) -> bool:
    """Whether all links of any page fit the queues of the strategy."""
    n_needed, loop = crawl.state[0].most_links, crawl.state[0].loop
    return room(queue) >= n_needed and (loop not in (OPIC, OTIE) or room(max_cash) >= n_needed)


@jitable
def pop_next(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records) -> int:
    """The page that the strategy requests; `NOTHING`, or `NO_ROOM`."""
    state = crawl.state[0]
    if state.loop == BREADTH_FIRST:
        if state.fifo_first == state.fifo_end:
            return NOTHING
        state.fifo_first += 1
        return crawl.fifo[state.fifo_first - 1]
    if state.loop == ROUNDS:
        return pop_of_round(crawl, queue)
    if state.loop in (OPIC, OTIE):
        return pop_cash(web, scores, crawl, queue, max_cash, cash)
    return pop(queue)


@jitable
def spin(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records) -> int:
    """The page of the current list that returns next (johnson2003 section 2.1); `NOTHING`, or `NO_ROOM`."""
    state, stamps = crawl.state[0], crawl.stamps
    if refill(web, scores, crawl, queue, max_cash, cash) == NO_ROOM:
        return NO_ROOM
    n_current = state.n_current
    if n_current == 0:
        return NOTHING
    total = 0
    for index in range(n_current):
        total += stamps[index]
    key = tie_key(state.n_draws, crawl.wheel_salt[0])
    state.n_draws += 1
    target = float(key >> _UNUSED_BITS) * _TWO_TO_MINUS_53 * total
    index, running = 0, stamps[0]
    while target >= running and index < n_current - 1:
        index += 1
        running += stamps[index]
    url = crawl.current[index]
    crawl.current[index], stamps[index] = crawl.current[n_current - 1], stamps[n_current - 1]
    state.n_current -= 1
    return url


@inline_jitable
def refill(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records) -> int:
    """When few pages are left in the current list, add the best queued ones, and increment the stamps of the others."""
    state = crawl.state[0]
    if state.n_to_refill == 0 and state.n_current <= state.refill_at:
        state.n_to_refill, state.is_new_refill = state.list_size - state.n_current, 1
    while state.n_to_refill:
        if not has_room(crawl, queue, max_cash):
            return NO_ROOM
        url = pop_next(web, scores, crawl, queue, max_cash, cash)
        if url == NO_ROOM:
            return NO_ROOM
        if url == NOTHING:
            state.n_to_refill = 0
            break
        if state.is_new_refill:
            for index in range(state.n_current):
                crawl.stamps[index] += 1
            state.is_new_refill = 0
        crawl.current[state.n_current], crawl.stamps[state.n_current] = url, 1
        state.n_current += 1
        state.n_to_refill -= 1
    return CONTINUE
