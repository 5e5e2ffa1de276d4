"""The scores of parents, grandparents and so on in a compiled crawl; `strategies.parts.generations` says what is meant.

One number per generation is enough: where all scores are negative the lowest, else the highest (johnson2003 Eq. 11 and
12). It is kept as an integer, the *worth* of the generation, so that of two generations together it is simply the
larger: the bits of a score that is not negative, and those of the magnitude of a negative one less `ALL_NEGATIVE`.
Importing this file needs numba (the extra `fast`).
"""

from scenthound.compiling import compiled_inline, compiled_part
from scenthound.drivers.compiled.compiled_prefetch import LINE_BYTES, prefetch
from scenthound.drivers.compiled.crawl_records import (
    DEEPEST,
    GENERATION_0,
    N_GENERATIONS,
    N_VISITED,
    Crawling,
    Ranking,
    Web,
)
from scenthound.drivers.compiled.queue_records import Queue

#: The worth of a generation without members, and what is above the bits of any magnitude that a score may have.
NO_MEMBERS, ALL_NEGATIVE = -(2**63), 2**62
#: A mark is the visit, and below it a bit for each generation that the page is noted for.
_MARK_BITS = 6


@compiled_inline
def worth_of(ranking: Ranking, score: float) -> int:
    ranking.score[0] = abs(score)
    return ranking.score_bits[0] if score >= 0 else ranking.score_bits[0] - ALL_NEGATIVE


@compiled_inline
def score_of(ranking: Ranking, url: int, generation: int) -> float:
    """What a generation of a URL scores; 0 if it has no members."""
    worth = ranking.generations[url, GENERATION_0 + generation]
    if worth >= 0:
        return ranking.as_scores[url, GENERATION_0 + generation]
    if worth == NO_MEMBERS:
        return 0.0
    ranking.score_bits[0] = worth + ALL_NEGATIVE
    return -ranking.score[0]


@compiled_inline
def no_generations(ranking: Ranking, url: int) -> None:
    for generation in range(N_GENERATIONS + 1):
        ranking.generations[url, GENERATION_0 + generation] = NO_MEMBERS


@compiled_part
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


@compiled_part
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


@compiled_part
def cascade(web: Web, crawl: Crawling, queue: Queue, ranking: Ranking, url: int, generation: int) -> None:
    """Let a downloaded page tell its links of this generation of theirs."""
    page, told = queue.pages[url].page, ranking.generations[url, GENERATION_0 + generation - 1]
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        hand_on(web, crawl, queue, ranking, web.distinct_url[link], generation, told)


@compiled_inline
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
