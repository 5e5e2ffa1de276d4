"""Best-N-First in a compiled crawl, where the frontier is bounded or several pages leave it together.

`frontier.bounded` tells how a bounded frontier works, `strategies.parts.frontier_based` what a round is. Here the pages
that wait stand in an array, the best first; those that leave move its start, and the worst is dropped at its end.
Importing this file needs numba (the extra `fast`).
"""

from math import inf

from scenthound.compiling import compiled_inline, compiled_part
from scenthound.drivers.compiled.compiled_discovery import find, find_better
from scenthound.drivers.compiled.compiled_queue import NO_ROOM, NOTHING, put, take
from scenthound.drivers.compiled.compiled_twister import draw_below, draw_share
from scenthound.drivers.compiled.crawl_records import (
    BY_CONTEXT,
    HIGHEST,
    LATEST,
    LINE_END,
    LINE_FIRST,
    N_IN_ROUND,
    N_TO_FILL,
    PAGE_WEIGHT,
    QUEUE_SIZE,
    ROUND_SIZE,
    RULE,
    Crawling,
    Given,
    Web,
)
from scenthound.drivers.compiled.queue_records import TAKEN, UNKNOWN, Queue, Records

#: In `bucket` of a page that waits in line.
IN_LINE = 0


@compiled_inline
def tell_rounds(web: Web, given: Given, crawl: Crawling, queue: Queue, page: int) -> None:
    """Repeats count: a page that the same page's links have driven out may enter again."""
    relevance, page_weight, rule = given.relevance[page], crawl.values[PAGE_WEIGHT], crawl.numbers[RULE]
    score = relevance
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        find(crawl, queue, web.link_url[link])
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        if crawl.numbers[BY_CONTEXT]:
            score = page_weight * relevance + (1 - page_weight) * given.contexts[web.link_place[link]]
        if crawl.numbers[QUEUE_SIZE]:
            line_up(crawl, queue, web.link_url[link], score, rule)
        else:
            find_better(crawl, queue, web.link_url[link], score, rule)


@compiled_part
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
        crawl.line_keys[url] = draw_share(crawl.twister)
        record.score, record.bucket = score, IN_LINE
        insert(crawl, score, crawl.line_keys[url], url)


@compiled_inline
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


@compiled_inline
def copy_entry(line: Records, here: int, there: int) -> None:
    line[there].score, line[there].key, line[there].page = line[here].score, line[here].key, line[here].page


@compiled_inline
def insert(crawl: Crawling, score: float, key: float, url: int) -> None:
    numbers, line = crawl.numbers, crawl.line
    if numbers[LINE_END] == len(line):
        move_to_start(crawl)
    place = place_of(crawl, score, key)
    for other in range(numbers[LINE_END], place, -1):
        copy_entry(line, other - 1, other)
    line[place].score, line[place].key, line[place].page = score, key, url
    numbers[LINE_END] += 1


@compiled_inline
def remove(crawl: Crawling, score: float, key: float) -> None:
    numbers, line = crawl.numbers, crawl.line
    for other in range(place_of(crawl, score, key), numbers[LINE_END] - 1):
        copy_entry(line, other + 1, other)
    numbers[LINE_END] -= 1


@compiled_inline
def move_to_start(crawl: Crawling) -> None:
    numbers, line = crawl.numbers, crawl.line
    first, n_waiting = numbers[LINE_FIRST], numbers[LINE_END] - numbers[LINE_FIRST]
    for place in range(n_waiting):
        copy_entry(line, first + place, place)
    numbers[LINE_FIRST], numbers[LINE_END] = 0, n_waiting


@compiled_inline
def start_round(crawl: Crawling, queue: Queue, url: int) -> None:
    find(crawl, queue, url)
    if crawl.numbers[QUEUE_SIZE]:
        line_up(crawl, queue, url, inf, HIGHEST)
    else:
        put(queue, url, inf)


@compiled_part
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


@compiled_inline
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


@compiled_inline
def shuffle(crawl: Crawling) -> None:
    """What `Random.shuffle` does."""
    for place in range(crawl.numbers[N_IN_ROUND] - 1, 0, -1):
        other = draw_below(crawl.twister, place + 1)
        crawl.round[place], crawl.round[other] = crawl.round[other], crawl.round[place]
