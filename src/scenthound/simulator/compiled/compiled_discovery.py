"""How a compiled crawl comes to know URLs, best-first and breadth-first; importing this file needs numba."""

from scenthound.jit import inline_jitable, jitable
from scenthound.simulator.compiled.compiled_queue import LINE_BYTES, prefetch, put
from scenthound.simulator.compiled.records import (
    DEEPEST,
    DROPS_NEW,
    FIFO_END,
    FIFO_FIRST,
    GENERATION_0,
    HEAP_SIZE,
    HIGHEST,
    LATEST,
    N_FOUND,
    N_GENERATIONS,
    N_VISITED,
    PAGE_WEIGHT,
    QUEUE_SIZE,
    RULE,
    TAKEN,
    UNKNOWN,
    UNSEEN,
    Crawling,
    Given,
    Queue,
    Ranking,
    Web,
)


@inline_jitable
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


@inline_jitable
def ask_for_records(web: Web, queue: Queue, page: int) -> None:
    """The records of all that a page links to will be looked at."""
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        prefetch(queue.pages, web.distinct_url[link], 0)


@inline_jitable
def upcoming(crawl: Crawling, queue: Queue, place: int) -> int:
    """A page that is likely to be taken soon, the next at place 0; -1 if there is none."""
    numbers = crawl.numbers
    if numbers[FIFO_FIRST] + place < numbers[FIFO_END]:
        return crawl.fifo[numbers[FIFO_FIRST] + place]
    return queue.heap[place].page if place < queue.numbers[HEAP_SIZE] else -1


@inline_jitable
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


@inline_jitable
def tell_best_first(web: Web, given: Given, crawl: Crawling, queue: Queue, page: int) -> None:
    """Each link waits with the score of its page (pant2002 Fig. 1)."""
    score, rule = given.relevance[page], crawl.numbers[RULE]
    ask_for_records(web, queue, page)
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        find_better(crawl, queue, web.distinct_url[link], score, rule)


@inline_jitable
def tell_link_context(web: Web, given: Given, crawl: Crawling, queue: Queue, page: int) -> None:
    """Each link waits with what its page and its context promise (wang2009 Eq. 9)."""
    relevance, page_weight, rule = given.relevance[page], crawl.values[PAGE_WEIGHT], crawl.numbers[RULE]
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        score = page_weight * relevance + (1 - page_weight) * given.contexts[web.link_index[link]]
        find_better(crawl, queue, web.link_url[link], score, rule)


@inline_jitable
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


@inline_jitable
def tell_breadth_first(web: Web, crawl: Crawling, queue: Queue, page: int) -> None:
    ask_for_records(web, queue, page)
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        find(crawl, queue, web.distinct_url[link])
        enter_fifo(crawl, queue, web.distinct_url[link])
    drop_oldest(crawl)


@inline_jitable
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


@inline_jitable
def drop_oldest(crawl: Crawling) -> None:
    """What a full queue has no room for counts as dealt with."""
    numbers = crawl.numbers
    if not numbers[DROPS_NEW]:
        numbers[FIFO_FIRST] = max(numbers[FIFO_FIRST], numbers[FIFO_END] - numbers[QUEUE_SIZE])


# The scores of parents, grandparents and so on in a compiled crawl; `strategies.parts.generations` says what is
# meant.
#
# One number per generation is enough: where all scores are negative the lowest, else the highest (johnson2003 Eq. 11
# and 12). It is kept as an integer, the *worth* of the generation, so that of two generations together it is simply
# the larger: the bits of a score that is not negative, and those of the magnitude of a negative one less
# `ALL_NEGATIVE`. Importing this file needs numba (the extra `fast`).

#: The worth of a generation without members, and what is above the bits of any magnitude that a score may have.
NO_MEMBERS, ALL_NEGATIVE = -(2**63), 2**62
#: A mark is the visit, and below it a bit for each generation that the page is noted for.
_MARK_BITS = 6


@inline_jitable
def worth_of(ranking: Ranking, score: float) -> int:
    ranking.score[0] = abs(score)
    return ranking.score_bits[0] if score >= 0 else ranking.score_bits[0] - ALL_NEGATIVE


@inline_jitable
def score_of(ranking: Ranking, url: int, generation: int) -> float:
    """What a generation of a URL scores; 0 if it has no members."""
    worth = ranking.generations[url, GENERATION_0 + generation]
    if worth >= 0:
        return ranking.as_scores[url, GENERATION_0 + generation]
    if worth == NO_MEMBERS:
        return 0.0
    ranking.score_bits[0] = worth + ALL_NEGATIVE
    return -ranking.score[0]


@inline_jitable
def no_generations(ranking: Ranking, url: int) -> None:
    for generation in range(N_GENERATIONS + 1):
        ranking.generations[url, GENERATION_0 + generation] = NO_MEMBERS


@jitable
def hand_on_all(web: Web, crawl: Crawling, queue: Queue, ranking: Ranking, url: int, page: int) -> None:
    """Tell the links of a downloaded page of its generations, and let downloaded ones hand on what is new to them."""
    deepest = crawl.numbers[DEEPEST]
    for generation in range(1, deepest + 1):
        ranking.n_noted[generation] = 0
        ranking.told[generation] = ranking.generations[url, GENERATION_0 + generation - 1]
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        other = web.distinct_url[link]
        if queue.pages[other].page < 0:
            for generation in range(1, deepest + 1):
                before = ranking.generations[other, GENERATION_0 + generation]
                ranking.generations[other, GENERATION_0 + generation] = max(before, ranking.told[generation])
        else:
            for generation in range(1, deepest + 1):
                hand_on(web, crawl, queue, ranking, other, generation, ranking.told[generation])
    for generation in range(1, deepest):
        ask_for_links_of_noted(web, queue, ranking, generation)
        for place in range(ranking.n_noted[generation]):
            cascade(web, crawl, queue, ranking, ranking.noted[generation, place], generation + 1)


@jitable
def ask_for_links_of_noted(web: Web, queue: Queue, ranking: Ranking, generation: int) -> None:
    """The links of these pages will be looked at, and what they lead to."""
    for place in range(ranking.n_noted[generation]):
        first = web.distinct_offset[queue.pages[ranking.noted[generation, place]].page]
        prefetch(web.distinct_url, first, 0)
        prefetch(web.distinct_url, first, LINE_BYTES)
    for place in range(ranking.n_noted[generation]):
        page = queue.pages[ranking.noted[generation, place]].page
        for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
            prefetch(ranking.generations, web.distinct_url[link], LINE_BYTES)


@jitable
def cascade(web: Web, crawl: Crawling, queue: Queue, ranking: Ranking, url: int, generation: int) -> None:
    """Let a downloaded page tell its links of this generation of theirs."""
    page, told = queue.pages[url].page, ranking.generations[url, GENERATION_0 + generation - 1]
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        hand_on(web, crawl, queue, ranking, web.distinct_url[link], generation, told)


@inline_jitable
def hand_on(web: Web, crawl: Crawling, queue: Queue, ranking: Ranking, url: int, generation: int, told: int) -> None:
    """Widen a generation of a page; one that was downloaded and has changed is noted once."""
    if told <= ranking.generations[url, GENERATION_0 + generation]:
        return
    ranking.generations[url, GENERATION_0 + generation] = told
    known = queue.pages[url]
    if known.page < 0 or generation == crawl.numbers[DEEPEST]:
        return
    if known.mark >> _MARK_BITS != crawl.numbers[N_VISITED]:
        known.mark = crawl.numbers[N_VISITED] << _MARK_BITS
    if not known.mark & (1 << generation):
        known.mark |= 1 << generation
        prefetch(web.distinct_offset, known.page, 0)
        ranking.noted[generation, ranking.n_noted[generation]] = url
        ranking.n_noted[generation] += 1
