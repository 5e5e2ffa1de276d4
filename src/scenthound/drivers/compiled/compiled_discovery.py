"""How a compiled crawl comes to know URLs, best-first and breadth-first; importing this file needs numba."""

from scenthound.compiling import compiled_inline
from scenthound.drivers.compiled.compiled_prefetch import LINE_BYTES, prefetch
from scenthound.drivers.compiled.compiled_queue import put
from scenthound.drivers.compiled.crawl_records import (
    DROPS_NEW,
    FIFO_END,
    FIFO_FIRST,
    HIGHEST,
    LATEST,
    N_FOUND,
    PAGE_WEIGHT,
    QUEUE_SIZE,
    RULE,
    Crawling,
    Given,
    Web,
)
from scenthound.drivers.compiled.queue_records import HEAP_SIZE, TAKEN, UNKNOWN, UNSEEN, Queue


@compiled_inline
def find(crawl: Crawling, queue: Queue, url: int) -> bool:
    """Come to know a URL; whether it is new."""
    record = queue.pages[url]
    if record.bucket != UNSEEN:
        return False
    number = crawl.numbers[N_FOUND]
    record.bucket, record.number = UNKNOWN, number
    crawl.found[number] = url
    crawl.numbers[N_FOUND] = number + 1
    return True


@compiled_inline
def ask_for_records(web: Web, queue: Queue, page: int) -> None:
    """The records of all that a page links to will be looked at."""
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        prefetch(queue.pages, web.distinct_url[link], 0)


@compiled_inline
def upcoming(crawl: Crawling, queue: Queue, place: int) -> int:
    """A page that is likely to be taken soon, the next at place 0; -1 if there is none."""
    numbers = crawl.numbers
    if numbers[FIFO_FIRST] + place < numbers[FIFO_END]:
        return crawl.fifo[numbers[FIFO_FIRST] + place]
    return queue.heap[place].page if place < queue.numbers[HEAP_SIZE] else -1


@compiled_inline
def ask_ahead(web: Web, given: Given, crawl: Crawling, queue: Queue) -> None:
    """The pages that are likely to be next will be looked at, and the links of the first of them."""
    for place in range(1, 3):
        url = upcoming(crawl, queue, place)
        if url >= 0:
            prefetch(web.url_page, url, 0)
        if 0 <= url < len(given.relevance):
            prefetch(web.distinct_offset, url, 0)
    url = upcoming(crawl, queue, 0)
    page = web.url_page[url] if url >= 0 else -1
    if page >= 0:
        prefetch(given.relevance, page, 0)
        prefetch(crawl.visit_of, page, 0)
        prefetch(web.distinct_url, web.distinct_offset[page], 0)
        prefetch(web.distinct_url, web.distinct_offset[page], LINE_BYTES)


@compiled_inline
def tell_best_first(web: Web, given: Given, crawl: Crawling, queue: Queue, page: int) -> None:
    """Each link waits with the score of its page (pant2002 Fig. 1)."""
    score, rule = given.relevance[page], crawl.numbers[RULE]
    ask_for_records(web, queue, page)
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        find_better(crawl, queue, web.distinct_url[link], score, rule)


@compiled_inline
def tell_link_context(web: Web, given: Given, crawl: Crawling, queue: Queue, page: int) -> None:
    """Each link waits with what its page and its context promise (wang2009 Eq. 9)."""
    relevance, page_weight, rule = given.relevance[page], crawl.values[PAGE_WEIGHT], crawl.numbers[RULE]
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        score = page_weight * relevance + (1 - page_weight) * given.contexts[web.link_place[link]]
        find_better(crawl, queue, web.link_url[link], score, rule)


@compiled_inline
def find_better(crawl: Crawling, queue: Queue, url: int, score: float, rule: int) -> None:
    """Let a URL wait with a score, unless it was taken, or the rule prefers the score that it has."""
    record = queue.pages[url]
    if record.bucket == TAKEN:
        return
    find(crawl, queue, url)
    if (
        record.bucket == UNKNOWN
        or (rule == HIGHEST and score > record.score)
        or (rule == LATEST and score != record.score)
    ):
        put(queue, url, score)


@compiled_inline
def tell_breadth_first(web: Web, crawl: Crawling, queue: Queue, page: int) -> None:
    ask_for_records(web, queue, page)
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        find(crawl, queue, web.distinct_url[link])
        enter_fifo(crawl, queue, web.distinct_url[link])
    drop_oldest(crawl)


@compiled_inline
def enter_fifo(crawl: Crawling, queue: Queue, url: int) -> None:
    """Let a page wait at the end, if it does not yet and there is room, or room is to be made."""
    numbers = crawl.numbers
    if queue.pages[url].bucket != UNKNOWN:
        return
    if numbers[DROPS_NEW] and numbers[FIFO_END] - numbers[FIFO_FIRST] >= numbers[QUEUE_SIZE]:
        return
    queue.pages[url].bucket = TAKEN
    crawl.fifo[numbers[FIFO_END]] = url
    numbers[FIFO_END] += 1


@compiled_inline
def drop_oldest(crawl: Crawling) -> None:
    """What a full queue has no room for counts as dealt with."""
    numbers = crawl.numbers
    if not numbers[DROPS_NEW]:
        numbers[FIFO_FIRST] = max(numbers[FIFO_FIRST], numbers[FIFO_END] - numbers[QUEUE_SIZE])
