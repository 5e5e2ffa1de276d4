"""OPIC and OTIE in a compiled crawl (wang2009 Eq. 6-9); `strategies.opic` and `otie` tell what is meant by each step.

Importing this file needs numba (the extra `fast`).
"""

from math import copysign, inf

from scenthound.jit import inline_jitable, jitable
from scenthound.simulator.compiled.compiled_discovery import find
from scenthound.simulator.compiled.compiled_queue import NO_ROOM, NOTHING, best, put, take, withdraw
from scenthound.simulator.compiled.records import (
    FLATNESS,
    GONE,
    HELD,
    KEEPS_WHEN_HOPELESS,
    LOOP,
    N_ROUNDS,
    PAGE_WEIGHT,
    RESHARE_EVERY,
    REVISES_AGAIN,
    SEEDS_FIRST,
    STRENGTH,
    UNKNOWN,
    WAITS,
    Crawling,
    Given,
    Queue,
    Records,
    Web,
)
from scenthound.strategies.cash import MOST_CASH
from scenthound.strategies.kernels import Loop

OTIE = int(Loop.OTIE)


@inline_jitable
def find_account(crawl: Crawling, queue: Queue, rich: Queue, cash: Records, url: int) -> None:
    """Come to know a URL, with an empty purse if it is new."""
    if find(crawl, queue, url):
        cash[url].held, cash[url].relevance, cash[url].place, cash[url].told = 0.0, -1.0, WAITS, -1
        rich.pages[url].bucket, rich.pages[url].number = UNKNOWN, queue.pages[url].number


@inline_jitable
def start_cash(crawl: Crawling, queue: Queue, rich: Queue, cash: Records, url: int, share: float) -> None:
    """A seed waits: before all others, or with its share like any other page."""
    find_account(crawl, queue, rich, cash, url)
    if crawl.numbers[SEEDS_FIRST]:
        cash[url].held, cash[url].place = share, HELD
        put(queue, url, inf)
    else:
        put(queue, url, share)


@jitable
def take_cash(web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records) -> int:
    """The page with the most cash, which it holds from now on; OTIE's richest visited page may share again then."""
    numbers, richest = crawl.numbers, NOTHING
    if numbers[LOOP] == OTIE and numbers[RESHARE_EVERY] > 0 and (numbers[N_ROUNDS] + 1) % numbers[RESHARE_EVERY] == 0:
        # Asked for before anything is changed: it may turn out that there must be more room first.
        richest = best(rich)
        if richest == NO_ROOM:
            return NO_ROOM
    url = take(queue)
    if url < 0:
        return url
    numbers[N_ROUNDS] += 1
    if queue.pages[url].score < inf:
        cash[url].held, cash[url].place = queue.pages[url].score, HELD
    if richest >= 0:
        share_again(web, given, crawl, queue, rich, cash, richest)
    return url


@jitable
def share_again(web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records, url: int) -> None:
    """Algorithm 1, lines 4 and 5."""
    amount = emptied(rich, cash, url)
    if crawl.numbers[REVISES_AGAIN]:
        amount = after_revision(crawl, amount, cash[url].relevance)
    share_by_promise(web, given, crawl, queue, rich, cash, url, amount)


@inline_jitable
def emptied(rich: Queue, cash: Records, url: int) -> float:
    amount = cash[url].held
    cash[url].held = 0.0
    if rich.pages[url].bucket >= 0:
        withdraw(rich, url)
    return amount


@inline_jitable
def after_revision(crawl: Crawling, amount: float, relevance: float) -> float:
    slope = 2 * relevance - 1
    odd_power = copysign(abs(slope) ** crawl.values[FLATNESS], slope)
    change = amount * max(-1.0, crawl.values[STRENGTH] * odd_power)  # wang2009 Eq. 8
    return min(amount + change, MOST_CASH)


@jitable
def drop_cash(rich: Queue, cash: Records, url: int) -> None:
    """What a page that cannot be had holds, and gets, is lost."""
    emptied(rich, cash, url)
    cash[url].place = GONE


@inline_jitable
def tell_opic(web: Web, crawl: Crawling, queue: Queue, rich: Queue, cash: Records, url: int, page: int) -> None:
    amount = emptied(rich, cash, url)
    first, end = web.distinct_offset[page], web.distinct_offset[page + 1]
    for link in range(first, end):
        other = web.distinct_url[link]
        find_account(crawl, queue, rich, cash, other)
        give(queue, rich, cash, other, amount / (end - first))


@inline_jitable
def give(queue: Queue, rich: Queue, cash: Records, url: int, amount: float) -> None:
    """Those that wait, or were not seen yet, have it as their score."""
    account = cash[url]
    if account.place == WAITS:
        record = queue.pages[url]
        if record.bucket == UNKNOWN:
            put(queue, url, amount)
        elif amount != 0:
            put(queue, url, record.score + amount)
    elif account.place == HELD:
        account.held += amount
        if account.relevance >= 0:
            settle(rich, url, account.held)


@inline_jitable
def settle(rich: Queue, url: int, held: float) -> None:
    """Bring a visited page to its place among the rich; the poor have none."""
    record = rich.pages[url]
    if held <= 0:
        if record.bucket >= 0:
            withdraw(rich, url)
    elif record.bucket < 0 or record.score != held:
        put(rich, url, held)


@jitable
def tell_otie(
    web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records, url: int, page: int
) -> None:
    cash[url].relevance = given.relevance[page]
    amount = after_revision(crawl, emptied(rich, cash, url), given.relevance[page])
    share_by_promise(web, given, crawl, queue, rich, cash, url, amount)


@jitable
def share_by_promise(
    web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records, url: int, amount: float
) -> None:
    """Hand cash on to the distinct links of a visited page, by what they promise (Eq. 6)."""
    page = web.url_page[url]
    first, end = web.link_offset[page], web.link_offset[page + 1]
    n_distinct = note_promises(web, given, crawl, queue, rich, cash, url, page)
    total = 0.0
    for link in range(first, end):
        account = cash[web.link_url[link]]
        if account.told >= 0:
            total += account.promised
            account.told = -2
    keeps = total <= 0 and crawl.numbers[KEEPS_WHEN_HOPELESS]
    for link in range(first, end):
        other = web.link_url[link]
        account = cash[other]
        if account.told == -2:
            account.told = -1
            share = account.promised / total if total > 0 else (0.0 if keeps else 1 / n_distinct)
            give(queue, rich, cash, other, 0.0 if keeps else amount * share)
    if keeps and n_distinct:
        cash[url].held += amount
        settle(rich, url, cash[url].held)


@inline_jitable
def note_promises(
    web: Web, given: Given, crawl: Crawling, queue: Queue, rich: Queue, cash: Records, url: int, page: int
) -> int:
    """What each distinct link of a page promises (Eq. 7 and 9): the best of its repeats. How many they are."""
    relevance, page_weight = cash[url].relevance, crawl.values[PAGE_WEIGHT]
    n_distinct = 0
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        account = cash[web.link_url[link]]
        find_account(crawl, queue, rich, cash, web.link_url[link])
        if account.relevance >= 0:
            promised = account.relevance
        else:
            promised = page_weight * relevance + (1 - page_weight) * given.contexts[web.link_index[link]]
        if account.told < 0:
            account.told, account.promised = 0, promised
            n_distinct += 1
        elif promised > account.promised:
            account.promised = promised
    return n_distinct
