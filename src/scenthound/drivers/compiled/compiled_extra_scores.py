"""The scores beyond the nine of the study in a compiled crawl: anchor, context, success of the host, and OTIE's cash.

Importing this file needs numba (the extra `fast`).
"""

from scenthound.compiling import compiled_inline, compiled_part
from scenthound.drivers.compiled.compiled_cash import after_revision
from scenthound.drivers.compiled.crawl_records import (
    CIRCULATING,
    N_SEEN,
    PAGE_WEIGHT,
    WEIGHS_CASH,
    WEIGHS_HOSTS,
    WEIGHS_LINK_SCORES,
    Crawling,
    Given,
    Ranking,
    Web,
)
from scenthound.drivers.compiled.queue_records import Queue, Records
from scenthound.model import FloatArray
from scenthound.strategies.parts.rank_rules import SCORE_NAMES
from scenthound.strategies.parts.topical_cash import MOST_CASH

ANCHOR, CONTEXT = SCORE_NAMES.index("anchor"), SCORE_NAMES.index("context")
HOST_SUCCESS, CASH = SCORE_NAMES.index("host_success"), SCORE_NAMES.index("cash")


@compiled_inline
def no_extras(cash: Records, ranking: Ranking, url: int) -> None:
    ranking.hints[url].anchor = ranking.hints[url].context = 0.0
    cash[url].held, cash[url].relevance, cash[url].told = 0.0, -1.0, -1


@compiled_part
def learn_extras(
    web: Web, given: Given, crawl: Crawling, queue: Queue, cash: Records, ranking: Ranking, url: int, page: int
) -> None:
    """Learn what a downloaded page says of its links, its host, and its worth."""
    cash[url].relevance = given.relevance[page]
    if crawl.numbers[WEIGHS_LINK_SCORES]:
        learn_hints(web, given, ranking, page)
    if crawl.numbers[WEIGHS_HOSTS]:
        host = ranking.hosts[web.url_host[url]]
        host.n_downloaded += 1
        host.n_good += queue.pages[url].in_community
    if crawl.numbers[WEIGHS_CASH]:
        share_cash(web, given, crawl, cash, url, page)


@compiled_inline
def learn_hints(web: Web, given: Given, ranking: Ranking, page: int) -> None:
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        hint, place = ranking.hints[web.link_url[link]], web.link_place[link]
        if len(given.anchors):
            hint.anchor = max(hint.anchor, given.anchors[place])
        if len(given.contexts):
            hint.context = max(hint.context, given.contexts[place])


@compiled_inline
def share_cash(web: Web, given: Given, crawl: Crawling, cash: Records, url: int, page: int) -> None:
    """wang2009 Eq. 6-9, as OTIE does it, but without sharing again."""
    before = cash[url].held
    amount = after_revision(crawl, before, given.relevance[page])
    cash[url].held = 0.0
    crawl.values[CIRCULATING] += amount - before
    total, n_distinct = promised_in_all(web, given, crawl, cash, page)
    if n_distinct == 0:
        crawl.values[CIRCULATING] -= amount
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        purse = cash[web.link_url[link]]
        if purse.told == -2:
            purse.told = -1
            purse.held += amount * (purse.promised / total if total > 0 else 1 / n_distinct)


@compiled_inline
def promised_in_all(web: Web, given: Given, crawl: Crawling, cash: Records, page: int) -> tuple[float, int]:
    """The sum of what the distinct links of a page promise, and how many they are; each is marked."""
    relevance, page_weight = given.relevance[page], crawl.values[PAGE_WEIGHT]
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        purse = cash[web.link_url[link]]
        promised = page_weight * relevance + (1 - page_weight) * given.contexts[web.link_place[link]]
        if purse.relevance >= 0:
            promised = purse.relevance
        purse.promised = max(promised, purse.promised) if purse.told == 0 else promised
        purse.told = 0
    total, n_distinct = 0.0, 0
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        purse = cash[web.link_url[link]]
        if purse.told == 0:
            total += purse.promised
            n_distinct += 1
            purse.told = -2
    return total, n_distinct


@compiled_inline
def extra_scores(
    web: Web,
    crawl: Crawling,
    queue: Queue,
    cash: Records,
    ranking: Ranking,
    url: int,
    weights: FloatArray,
    rank: float,
) -> float:
    """The rank with the extra scores added to it, from the left to the right."""
    numbers = crawl.numbers
    if numbers[WEIGHS_LINK_SCORES]:
        rank += ranking.hints[url].anchor * weights[ANCHOR]
        rank += ranking.hints[url].context * weights[CONTEXT]
    if numbers[WEIGHS_HOSTS]:
        host = ranking.hosts[web.url_host[url]]
        if host.n_downloaded:
            rank += host.n_good / host.n_downloaded * weights[HOST_SUCCESS]
    if numbers[WEIGHS_CASH] and crawl.values[CIRCULATING] > 0:
        rank += min(cash[url].held * numbers[N_SEEN] / crawl.values[CIRCULATING], MOST_CASH) * weights[CASH]
    return rank
