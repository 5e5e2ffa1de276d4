"""Discovery of URLs, breadth-first and best-first in compiled crawls. Requires numba."""

from scenthound.jit import inline_jitable
from scenthound.simulator.compiled.compiled_queue import LINE_BYTES, prefetch, put
from scenthound.simulator.compiled.records import (
    HIGHEST,
    LATEST,
    POPPED,
    UNKNOWN,
    UNSEEN,
    CrawlArrays,
    Queue,
    ScoreArrays,
    Web,
)


@inline_jitable
def discover(crawl: CrawlArrays, queue: Queue, url: int) -> bool:
    """Number a URL if it is new; return whether it is."""
    record, state = queue.pages[url], crawl.state[0]
    if record.bucket != UNSEEN:
        return False
    record.bucket, record.number = UNKNOWN, state.n_found
    crawl.found[state.n_found] = url
    state.n_found += 1
    return True


@inline_jitable
def prefetch_targets(web: Web, queue: Queue, page: int) -> None:
    """Prefetch the records of all URLs that a page links to."""
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        prefetch(queue.pages, web.distinct_url[link], 0)


@inline_jitable
def upcoming(crawl: CrawlArrays, queue: Queue, rank: int) -> int:
    """A URL that is likely to be requested soon, the next at rank 0; -1 if there is none."""
    state = crawl.state[0]
    if state.fifo_first + rank < state.fifo_end:
        return crawl.fifo[state.fifo_first + rank]
    return queue.heap[rank].page if rank < queue.state[0].heap_size else -1


@inline_jitable
def prefetch_upcoming(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue) -> None:
    """Prefetch what is needed for the next pages, and the links of the first of them."""
    for rank in range(1, 3):
        url = upcoming(crawl, queue, rank)
        if url >= 0:
            prefetch(web.url_page, url, 0)
        if 0 <= url < len(scores.relevance):
            prefetch(web.distinct_offset, url, 0)
    url = upcoming(crawl, queue, 0)
    page = web.url_page[url] if url >= 0 else -1
    if page >= 0:
        prefetch(scores.relevance, page, 0)
        prefetch(crawl.visit_of, page, 0)
        prefetch(web.distinct_url, web.distinct_offset[page], 0)
        prefetch(web.distinct_url, web.distinct_offset[page], LINE_BYTES)


@inline_jitable
def tell_best_first(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, page: int) -> None:
    """Push each link with the score of its page (pant2002 Fig. 1)."""
    score, rule = scores.relevance[page], crawl.state[0].rule
    prefetch_targets(web, queue, page)
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        push(crawl, queue, web.distinct_url[link], score, rule)


@inline_jitable
def tell_link_context(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, page: int) -> None:
    """Push each link with a score from its page and its context (wang2009 Eq. 9)."""
    rule = crawl.state[0].rule
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        push(crawl, queue, web.link_url[link], link_score(web, scores, crawl, page, link), rule)


@inline_jitable
def link_score(web: Web, scores: ScoreArrays, crawl: CrawlArrays, page: int, link: int) -> float:
    """wang2009 Eq. 9."""
    page_weight = crawl.state[0].page_weight
    return page_weight * scores.relevance[page] + (1 - page_weight) * scores.contexts[web.link_index[link]]


@inline_jitable
def push(crawl: CrawlArrays, queue: Queue, url: int, score: float, rule: int) -> None:
    """Queue a URL, unless it was popped; the rule decides the score of one that is queued."""
    record = queue.pages[url]
    if record.bucket == POPPED:
        return
    discover(crawl, queue, url)
    if (
        record.bucket == UNKNOWN
        or (rule == HIGHEST and score > record.score)
        or (rule == LATEST and score != record.score)
    ):
        put(queue, url, score)


@inline_jitable
def tell_breadth_first(web: Web, crawl: CrawlArrays, queue: Queue, page: int) -> None:
    prefetch_targets(web, queue, page)
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        discover(crawl, queue, web.distinct_url[link])
        push_fifo(crawl, queue, web.distinct_url[link])
    drop_oldest(crawl)


@inline_jitable
def push_fifo(crawl: CrawlArrays, queue: Queue, url: int) -> None:
    """Append a URL to the FIFO queue if it never was in it, unless a full queue drops new URLs."""
    state = crawl.state[0]
    if queue.pages[url].bucket != UNKNOWN:
        return
    if state.drops_new and state.fifo_end - state.fifo_first >= state.queue_size:
        state.n_evicted += 1
        return
    queue.pages[url].bucket = POPPED
    crawl.fifo[state.fifo_end] = url
    state.fifo_end += 1


@inline_jitable
def drop_oldest(crawl: CrawlArrays) -> None:
    """Drop the oldest URLs of a queue that is too long."""
    state = crawl.state[0]
    if not state.drops_new:
        n_too_many = max(0, state.fifo_end - state.queue_size - state.fifo_first)
        state.fifo_first += n_too_many
        state.n_evicted += n_too_many
