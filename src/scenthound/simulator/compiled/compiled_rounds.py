"""Best-N-First in a compiled crawl, where the frontier is bounded or several pages leave it together.

`frontier.bounded` tells how a bounded frontier works, `strategies.parts.frontier_based` what a round is. Here the pages
that wait stand in an array, the best first; those that leave move its start, and the worst is dropped at its end.
Importing this file needs numba (the extra `fast`).
"""

from math import inf

import numpy as np

from scenthound.frontier.compiled_heaps import tie_key
from scenthound.jit import inline_jitable, jitable
from scenthound.simulator.compiled.compiled_cash import take_cash
from scenthound.simulator.compiled.compiled_discovery import find, find_better
from scenthound.simulator.compiled.compiled_queue import NO_ROOM, NOTHING, put, room, take
from scenthound.simulator.compiled.records import (
    BY_CONTEXT,
    FIFO_END,
    FIFO_FIRST,
    HIGHEST,
    IS_NEW_REFILL,
    LATEST,
    LINE_END,
    LINE_FIRST,
    LIST_SIZE,
    LOOP,
    MOST_LINKS,
    N_CURRENT,
    N_DRAWS,
    N_IN_ROUND,
    N_TO_FILL,
    N_TO_REFILL,
    PAGE_WEIGHT,
    QUEUE_SIZE,
    REFILL_AT,
    ROUND_SIZE,
    RULE,
    TAKEN,
    UNKNOWN,
    Crawling,
    Given,
    Queue,
    Records,
    Web,
    WordArray,
)
from scenthound.strategies.kernels import Loop

# Python's random numbers in compiled code: the Mersenne Twister (Matsumoto and Nishimura 1998), as Python reads it.
#
# A crawl that draws as it goes must draw what its plain twin draws. The state is that of `Random.getstate`: 624 words
# and the place of the next. Importing this file needs numba (the extra `fast`).

N_WORDS, _MIDDLE = 624, 397
_UPPER, _LOWER = np.uint64(0x80000000), np.uint64(0x7FFFFFFF)
_TWIST, _ONE, _MASK = np.uint64(0x9908B0DF), np.uint64(1), np.uint64(0xFFFFFFFF)
_TEMPER_B, _TEMPER_C = np.uint64(0x9D2C5680), np.uint64(0xEFC60000)


@jitable
def _renew(state: WordArray) -> None:
    for place in range(N_WORDS):
        mixed = (state[place] & _UPPER) | (state[(place + 1) % N_WORDS] & _LOWER)
        twisted = _TWIST if mixed & _ONE else np.uint64(0)
        state[place] = state[(place + _MIDDLE) % N_WORDS] ^ (mixed >> _ONE) ^ twisted
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
def draw_share(state: WordArray) -> float:
    """What `Random.random` answers with."""
    upper, lower = next_word(state) >> np.uint64(5), next_word(state) >> np.uint64(6)
    return (float(upper) * 67108864.0 + float(lower)) * (1.0 / 9007199254740992.0)


@inline_jitable
def draw_below(state: WordArray, n: int) -> int:
    """What `Random.randrange(n)` answers with; n is at least 1."""
    n_bits = 0
    while n >> n_bits:
        n_bits += 1
    drawn = n
    while drawn >= n:
        drawn = int(np.int64(next_word(state) >> np.uint64(32 - n_bits)))
    return drawn


#: In `bucket` of a page that waits in line.
IN_LINE = 0


@inline_jitable
def tell_rounds(web: Web, given: Given, crawl: Crawling, queue: Queue, page: int) -> None:
    """Repeats count: a page that the same page's links have driven out may enter again."""
    relevance, page_weight, rule = given.relevance[page], crawl.values[PAGE_WEIGHT], crawl.numbers[RULE]
    score = relevance
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        find(crawl, queue, web.link_url[link])
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        if crawl.numbers[BY_CONTEXT]:
            score = page_weight * relevance + (1 - page_weight) * given.contexts[web.link_index[link]]
        if crawl.numbers[QUEUE_SIZE]:
            line_up(crawl, queue, web.link_url[link], score, rule)
        else:
            find_better(crawl, queue, web.link_url[link], score, rule)


@jitable
def line_up(crawl: Crawling, queue: Queue, url: int, score: float, rule: int) -> None:
    """Let a page wait, or change its score; before one enters a full line, the last one leaves it."""
    numbers, record = crawl.numbers, queue.pages[url]
    if record.bucket == IN_LINE:
        if (rule == HIGHEST and score > record.score) or (rule == LATEST and score != record.score):
            remove(crawl, record.score, crawl.line_keys[url])
            insert(crawl, score, crawl.line_keys[url], url)
            record.score = score
    elif record.bucket == UNKNOWN:
        if numbers[LINE_END] - numbers[LINE_FIRST] == numbers[QUEUE_SIZE]:
            numbers[LINE_END] -= 1
            queue.pages[crawl.line[numbers[LINE_END]].page].bucket = UNKNOWN
        crawl.line_keys[url] = draw_share(crawl.mt_state)
        record.score, record.bucket = score, IN_LINE
        insert(crawl, score, crawl.line_keys[url], url)


@inline_jitable
def place_of(crawl: Crawling, score: float, key: float) -> int:
    """Where an entry stands in line, or is to stand: before the first that it is not worse than."""
    low, high = crawl.numbers[LINE_FIRST], crawl.numbers[LINE_END]
    while low < high:
        middle = (low + high) >> 1
        other = crawl.line[middle]
        if other.score > score or (other.score == score and other.key > key):
            low = middle + 1
        else:
            high = middle
    return low


@inline_jitable
def copy_entry(line: Records, here: int, there: int) -> None:
    line[there].score, line[there].key, line[there].page = line[here].score, line[here].key, line[here].page


@inline_jitable
def insert(crawl: Crawling, score: float, key: float, url: int) -> None:
    numbers, line = crawl.numbers, crawl.line
    if numbers[LINE_END] == len(line):
        move_to_start(crawl)
    place = place_of(crawl, score, key)
    for other in range(numbers[LINE_END], place, -1):
        copy_entry(line, other - 1, other)
    line[place].score, line[place].key, line[place].page = score, key, url
    numbers[LINE_END] += 1


@inline_jitable
def remove(crawl: Crawling, score: float, key: float) -> None:
    numbers, line = crawl.numbers, crawl.line
    for other in range(place_of(crawl, score, key), numbers[LINE_END] - 1):
        copy_entry(line, other + 1, other)
    numbers[LINE_END] -= 1


@inline_jitable
def move_to_start(crawl: Crawling) -> None:
    numbers, line = crawl.numbers, crawl.line
    first, n_waiting = numbers[LINE_FIRST], numbers[LINE_END] - numbers[LINE_FIRST]
    for place in range(n_waiting):
        copy_entry(line, first + place, place)
    numbers[LINE_FIRST], numbers[LINE_END] = 0, n_waiting


@inline_jitable
def start_round(crawl: Crawling, queue: Queue, url: int) -> None:
    find(crawl, queue, url)
    if crawl.numbers[QUEUE_SIZE]:
        line_up(crawl, queue, url, inf, HIGHEST)
    else:
        put(queue, url, inf)


@jitable
def take_in_round(crawl: Crawling, queue: Queue) -> int:
    """The next page of the round; where there is none, the best that wait are the next round, in random order."""
    numbers = crawl.numbers
    if numbers[N_IN_ROUND] == 0 and numbers[N_TO_FILL] == 0:
        numbers[N_TO_FILL] = numbers[ROUND_SIZE]
    while numbers[N_TO_FILL]:
        url = take_best(crawl, queue)
        if url == NO_ROOM:
            return NO_ROOM
        numbers[N_TO_FILL] -= 1
        if url >= 0:
            crawl.round[numbers[N_IN_ROUND]] = url
            numbers[N_IN_ROUND] += 1
        if url == NOTHING or numbers[N_TO_FILL] == 0:
            numbers[N_TO_FILL] = 0
            shuffle(crawl)
    if numbers[N_IN_ROUND] == 0:
        return NOTHING
    numbers[N_IN_ROUND] -= 1
    return crawl.round[numbers[N_IN_ROUND]]


@inline_jitable
def take_best(crawl: Crawling, queue: Queue) -> int:
    numbers = crawl.numbers
    if not numbers[QUEUE_SIZE]:
        return take(queue)
    if numbers[LINE_FIRST] == numbers[LINE_END]:
        return NOTHING
    url = crawl.line[numbers[LINE_FIRST]].page
    numbers[LINE_FIRST] += 1
    queue.pages[url].bucket = TAKEN
    return url


@inline_jitable
def shuffle(crawl: Crawling) -> None:
    """What `Random.shuffle` does."""
    for place in range(crawl.numbers[N_IN_ROUND] - 1, 0, -1):
        other = draw_below(crawl.mt_state, place + 1)
        crawl.round[place], crawl.round[other] = crawl.round[other], crawl.round[place]


# Which page a compiled crawl gets next: the strategy's best, or the one that a wheel draws from the current list.
#
# Importing this file needs numba (the extra `fast`).

BREADTH_FIRST, OPIC, OTIE, ROUNDS = int(Loop.BREADTH_FIRST), int(Loop.OPIC), int(Loop.OTIE), int(Loop.ROUNDS)
#: Nothing keeps the crawl from going on.
GOES_ON = -1
#: Random bits of a draw from the wheel, and what makes a share of them.
_UNUSED_BITS, _SHARE = np.uint64(11), 2.0**-53


@inline_jitable
def has_room(crawl: Crawling, queue: Queue, rich: Queue) -> bool:
    """Whether all links of any page can enter the queues that the strategy has."""
    n_needed = crawl.numbers[MOST_LINKS]
    return room(queue) >= n_needed and (crawl.numbers[LOOP] not in (OPIC, OTIE) or room(rich) >= n_needed)


@jitable
def take_next(web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records) -> int:
    """The page that the strategy asks for; `NOTHING`, or `NO_ROOM`."""
    numbers = crawl.numbers
    if numbers[LOOP] == BREADTH_FIRST:
        if numbers[FIFO_FIRST] == numbers[FIFO_END]:
            return NOTHING
        numbers[FIFO_FIRST] += 1
        return crawl.fifo[numbers[FIFO_FIRST] - 1]
    if numbers[LOOP] == ROUNDS:
        return take_in_round(crawl, queue)
    if numbers[LOOP] in (OPIC, OTIE):
        return take_cash(web, given, crawl, queue, rich, cash)
    return take(queue)


@jitable
def spin(web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records) -> int:
    """The page of the current list that comes back next (johnson2003 section 2.1); `NOTHING`, or `NO_ROOM`."""
    numbers, stamps = crawl.numbers, crawl.stamps
    if refill(web, given, crawl, queue, rich, cash) == NO_ROOM:
        return NO_ROOM
    n_current = numbers[N_CURRENT]
    if n_current == 0:
        return NOTHING
    total = 0
    for place in range(n_current):
        total += stamps[place]
    key = tie_key(numbers[N_DRAWS], crawl.wheel_salt[0])
    numbers[N_DRAWS] += 1
    target = float(key >> _UNUSED_BITS) * _SHARE * total
    place, running = 0, stamps[0]
    while target >= running and place < n_current - 1:
        place += 1
        running += stamps[place]
    url = crawl.current[place]
    crawl.current[place], stamps[place] = crawl.current[n_current - 1], stamps[n_current - 1]
    numbers[N_CURRENT] -= 1
    return url


@inline_jitable
def refill(web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records) -> int:
    """When few are left in the current list, the best that wait join it, and those left grow older."""
    numbers = crawl.numbers
    if numbers[N_TO_REFILL] == 0 and numbers[N_CURRENT] <= numbers[REFILL_AT]:
        numbers[N_TO_REFILL], numbers[IS_NEW_REFILL] = numbers[LIST_SIZE] - numbers[N_CURRENT], 1
    while numbers[N_TO_REFILL]:
        if not has_room(crawl, queue, rich):
            return NO_ROOM
        url = take_next(web, given, crawl, queue, rich, cash)
        if url == NO_ROOM:
            return NO_ROOM
        if url == NOTHING:
            numbers[N_TO_REFILL] = 0
            break
        if numbers[IS_NEW_REFILL]:
            for place in range(numbers[N_CURRENT]):
                crawl.stamps[place] += 1
            numbers[IS_NEW_REFILL] = 0
        crawl.current[numbers[N_CURRENT]], crawl.stamps[numbers[N_CURRENT]] = url, 1
        numbers[N_CURRENT] += 1
        numbers[N_TO_REFILL] -= 1
    return GOES_ON
