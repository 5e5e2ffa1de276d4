"""OPIC and OTIE in compiled crawls (wang2009 Eq. 6-9); `strategies.opic` and `strategies.otie` explain each step.

`max_cash` is a queue of the visited pages by the cash that they hold. Requires numba.
"""

from math import copysign, inf

from scenthound.jit import inline_jitable, jitable
from scenthound.model import IntArray
from scenthound.simulator.compiled.compiled_discovery import discover, link_score
from scenthound.simulator.compiled.compiled_queue import NO_ROOM, NOTHING, peek, pop, prefetch, put, remove
from scenthound.simulator.compiled.records import (
    COUNTED,
    HELD,
    IN_QUEUE,
    LOST,
    PROMISED,
    UNKNOWN,
    UNMARKED,
    CrawlArrays,
    Queue,
    Records,
    ScoreArrays,
    Web,
)
from scenthound.strategies.cash import MOST_CASH
from scenthound.strategies.kernels import Loop

OTIE = int(Loop.OTIE)


@inline_jitable
def discover_account(crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records, url: int) -> None:
    """Discover a URL; a new one has no cash."""
    if discover(crawl, queue, url):
        account = cash[url]
        account.held, account.relevance, account.location, account.mark = 0.0, -1.0, IN_QUEUE, UNMARKED
        max_cash.pages[url].bucket, max_cash.pages[url].number = UNKNOWN, queue.pages[url].number


@inline_jitable
def prefetch_accounts(queue: Queue, cash: Records, urls: IntArray, first: int, end: int) -> None:
    for link in range(first, end):
        prefetch(queue.pages, urls[link], 0)
        prefetch(cash, urls[link], 0)


@inline_jitable
def start_cash(crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records, url: int, share: float) -> None:
    """Queue a seed: before all others, or with its share like any other page."""
    discover_account(crawl, queue, max_cash, cash, url)
    if crawl.state[0].seeds_first:
        cash[url].held, cash[url].location = share, HELD
        put(queue, url, inf)
    else:
        put(queue, url, share)


@jitable
def pop_cash(web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records) -> int:
    """Pop the page with the most cash, which it holds from now on. In every few rounds of OTIE the visited page that
    holds the most shares again."""
    state, holder = crawl.state[0], NOTHING
    if state.loop == OTIE and state.reshare_every > 0 and (state.n_rounds + 1) % state.reshare_every == 0:
        # Before anything is changed, because more room may be needed first.
        holder = peek(max_cash)
        if holder == NO_ROOM:
            return NO_ROOM
    url = pop(queue)
    if url < 0:
        return url
    state.n_rounds += 1
    if queue.pages[url].score < inf:
        cash[url].held, cash[url].location = queue.pages[url].score, HELD
    if holder >= 0:
        share_again(web, scores, crawl, queue, max_cash, cash, holder)
    return url


@jitable
def share_again(
    web: Web, scores: ScoreArrays, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records, url: int
) -> None:
    """Algorithm 1, lines 4 and 5."""
    amount = withdraw(max_cash, cash, url)
    if crawl.state[0].revises_again:
        amount = revised(crawl, amount, cash[url].relevance)
    share_by_promise(web, scores, crawl, queue, max_cash, cash, url, amount)


@inline_jitable
def withdraw(max_cash: Queue, cash: Records, url: int) -> float:
    """Withdraw all cash that a page holds."""
    amount = cash[url].held
    cash[url].held = 0.0
    if max_cash.pages[url].bucket >= 0:
        remove(max_cash, url)
    return amount


@inline_jitable
def revised(crawl: CrawlArrays, amount: float, relevance: float) -> float:
    """wang2009 Eq. 8."""
    state, slope = crawl.state[0], 2 * relevance - 1
    signed_power = copysign(abs(slope) ** state.flatness, slope)
    return min(amount + amount * max(-1.0, state.strength * signed_power), MOST_CASH)


@jitable
def drop_cash(max_cash: Queue, cash: Records, url: int) -> None:
    """The cash of a page that cannot be fetched is lost, also what it gets later."""
    withdraw(max_cash, cash, url)
    cash[url].location = LOST


@inline_jitable
def tell_opic(web: Web, crawl: CrawlArrays, queue: Queue, max_cash: Queue, cash: Records, url: int, page: int) -> None:
    amount = withdraw(max_cash, cash, url)
    first, end = web.distinct_offset[page], web.distinct_offset[page + 1]
    prefetch_accounts(queue, cash, web.distinct_url, first, end)
    for link in range(first, end):
        other = web.distinct_url[link]
        discover_account(crawl, queue, max_cash, cash, other)
        deposit(queue, max_cash, cash, other, amount / (end - first))


@inline_jitable
def deposit(queue: Queue, max_cash: Queue, cash: Records, url: int, amount: float) -> None:
    """Give cash to a page: the score of a queued page is its cash."""
    account = cash[url]
    if account.location == IN_QUEUE:
        record = queue.pages[url]
        if record.bucket == UNKNOWN:
            put(queue, url, amount)
        elif amount != 0:
            put(queue, url, record.score + amount)
    elif account.location == HELD:
        account.held += amount
        if account.relevance >= 0:
            update_max_cash(max_cash, url, account.held)


@inline_jitable
def update_max_cash(max_cash: Queue, url: int, held: float) -> None:
    """Update the rank of a visited page; pages without cash have none."""
    record = max_cash.pages[url]
    if held <= 0:
        if record.bucket >= 0:
            remove(max_cash, url)
    elif record.bucket < 0 or record.score != held:
        put(max_cash, url, held)


@jitable
def tell_otie(
    web: Web,
    scores: ScoreArrays,
    crawl: CrawlArrays,
    queue: Queue,
    max_cash: Queue,
    cash: Records,
    url: int,
    page: int,
) -> None:
    cash[url].relevance = scores.relevance[page]
    amount = revised(crawl, withdraw(max_cash, cash, url), scores.relevance[page])
    share_by_promise(web, scores, crawl, queue, max_cash, cash, url, amount)


@jitable
def share_by_promise(
    web: Web,
    scores: ScoreArrays,
    crawl: CrawlArrays,
    queue: Queue,
    max_cash: Queue,
    cash: Records,
    url: int,
    amount: float,
) -> None:
    """Share cash among the distinct links of a visited page, in proportion to their promises (Eq. 6)."""
    page = web.url_page[url]
    prefetch_accounts(queue, cash, web.link_url, web.link_offset[page], web.link_offset[page + 1])
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        discover_account(crawl, queue, max_cash, cash, web.link_url[link])
        note_promise(web, scores, crawl, cash, page, link)
    total, n_distinct = sum_promises(web, cash, page)
    keeps = total <= 0 and crawl.state[0].keeps_when_hopeless
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        other = web.link_url[link]
        account = cash[other]
        if account.mark == COUNTED:
            account.mark = UNMARKED
            share = account.promised / total if total > 0 else (0.0 if keeps else 1 / n_distinct)
            deposit(queue, max_cash, cash, other, 0.0 if keeps else amount * share)
    if keeps and n_distinct:
        cash[url].held += amount
        update_max_cash(max_cash, url, cash[url].held)


@inline_jitable
def note_promise(web: Web, scores: ScoreArrays, crawl: CrawlArrays, cash: Records, page: int, link: int) -> None:
    """Note the promise of a link (Eq. 7 and 9); a repeated link has the best one."""
    account = cash[web.link_url[link]]
    promised = account.relevance if account.relevance >= 0 else link_score(web, scores, crawl, page, link)
    account.promised = max(promised, account.promised) if account.mark == PROMISED else promised
    account.mark = PROMISED


@inline_jitable
def sum_promises(web: Web, cash: Records, page: int) -> tuple[float, int]:
    """The sum of the noted promises of a page's distinct links, and their number; each is marked as `COUNTED`."""
    total, n_distinct = 0.0, 0
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        account = cash[web.link_url[link]]
        if account.mark == PROMISED:
            total += account.promised
            n_distinct += 1
            account.mark = COUNTED
    return total, n_distinct
