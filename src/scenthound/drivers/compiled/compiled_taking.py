"""Which page a compiled crawl gets next: the strategy's best, or the one that a wheel draws from the current list.

Importing this file needs numba (the extra `fast`).
"""

import numpy as np

from scenthound.compiling import compiled_inline, compiled_part
from scenthound.drivers.compiled.compiled_cash import take_cash
from scenthound.drivers.compiled.compiled_queue import NO_ROOM, NOTHING, room, take
from scenthound.drivers.compiled.compiled_rounds import take_in_round
from scenthound.drivers.compiled.crawl_records import (
    FIFO_END,
    FIFO_FIRST,
    IS_NEW_REFILL,
    KIND,
    LIST_SIZE,
    MOST_LINKS,
    N_CURRENT,
    N_DRAWS,
    N_TO_REFILL,
    REFILL_AT,
    Crawling,
    Given,
    Kind,
    Web,
)
from scenthound.drivers.compiled.queue_records import Queue, Records
from scenthound.frontier.compiled_heaps import tie_key

BREADTH_FIRST, OPIC, OTIE, ROUNDS = int(Kind.BREADTH_FIRST), int(Kind.OPIC), int(Kind.OTIE), int(Kind.ROUNDS)
#: Nothing keeps the crawl from going on.
GOES_ON = -1
#: Random bits of a draw from the wheel, and what makes a share of them.
_UNUSED_BITS, _SHARE = np.uint64(11), 2.0**-53


@compiled_inline
def has_room(crawl: Crawling, queue: Queue, rich: Queue) -> bool:
    """Whether all links of any page can enter the queues that the strategy has."""
    n_needed = crawl.numbers[MOST_LINKS]
    return room(queue) >= n_needed and (crawl.numbers[KIND] not in (OPIC, OTIE) or room(rich) >= n_needed)


@compiled_part
def take_next(web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records) -> int:
    """The page that the strategy asks for; `NOTHING`, or `NO_ROOM`."""
    numbers = crawl.numbers
    if numbers[KIND] == BREADTH_FIRST:
        if numbers[FIFO_FIRST] == numbers[FIFO_END]:
            return NOTHING
        numbers[FIFO_FIRST] += 1
        return crawl.fifo[numbers[FIFO_FIRST] - 1]
    if numbers[KIND] == ROUNDS:
        return take_in_round(crawl, queue)
    if numbers[KIND] in (OPIC, OTIE):
        return take_cash(web, given, crawl, queue, rich, cash)
    return take(queue)


@compiled_part
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


@compiled_inline
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
