"""The rank function in a compiled crawl (johnson2003 section 2.2); `strategies.parts.rank_scores` tells what is meant.

Importing this file needs numba (the extra `fast`).
"""

from math import inf

from scenthound.jit import inline_jitable, jitable
from scenthound.model import FloatArray
from scenthound.simulator.compiled.compiled_cash import after_revision
from scenthound.simulator.compiled.compiled_discovery import find, hand_on_all, no_generations, score_of, worth_of
from scenthound.simulator.compiled.compiled_queue import LINE_BYTES, prefetch, put
from scenthound.simulator.compiled.records import (
    BY_DISTANCE,
    BY_PHASE,
    CIRCULATING,
    DEEPEST,
    GENERATION_0,
    HUB_OVER_MAX,
    N_LINKS,
    N_SEEN,
    N_VISITED,
    N_WEIGHED,
    PAGE_WEIGHT,
    SPLIT_BY,
    TAKEN,
    THRESHOLD,
    WEIGHS_CASH,
    WEIGHS_COMMUNITY,
    WEIGHS_HOSTS,
    WEIGHS_LINK_SCORES,
    Crawling,
    Given,
    Queue,
    Ranking,
    Records,
    Web,
)
from scenthound.strategies.cash import MOST_CASH
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES

# The scores beyond the nine of the study in a compiled crawl: anchor, context, success of the host, and OTIE's cash.
#
# Importing this file needs numba (the extra `fast`).

ANCHOR, CONTEXT = SCORE_NAMES.index("anchor"), SCORE_NAMES.index("context")
HOST_SUCCESS, CASH = SCORE_NAMES.index("host_success"), SCORE_NAMES.index("cash")


@inline_jitable
def no_extras(cash: Records, ranking: Ranking, url: int) -> None:
    ranking.hints[url].anchor = ranking.hints[url].context = 0.0
    cash[url].held, cash[url].relevance, cash[url].told = 0.0, -1.0, -1


@jitable
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


@inline_jitable
def learn_hints(web: Web, given: Given, ranking: Ranking, page: int) -> None:
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        hint, place = ranking.hints[web.link_url[link]], web.link_index[link]
        if len(given.anchors):
            hint.anchor = max(hint.anchor, given.anchors[place])
        if len(given.contexts):
            hint.context = max(hint.context, given.contexts[place])


@inline_jitable
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
        account = cash[web.link_url[link]]
        if account.told == -2:
            account.told = -1
            account.held += amount * (account.promised / total if total > 0 else 1 / n_distinct)


@inline_jitable
def promised_in_all(web: Web, given: Given, crawl: Crawling, cash: Records, page: int) -> tuple[float, int]:
    """The sum of what the distinct links of a page promise, and how many they are; each is marked."""
    relevance, page_weight = given.relevance[page], crawl.values[PAGE_WEIGHT]
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        account = cash[web.link_url[link]]
        promised = page_weight * relevance + (1 - page_weight) * given.contexts[web.link_index[link]]
        if account.relevance >= 0:
            promised = account.relevance
        account.promised = max(promised, account.promised) if account.told == 0 else promised
        account.told = 0
    total, n_distinct = 0.0, 0
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        account = cash[web.link_url[link]]
        if account.told == 0:
            total += account.promised
            n_distinct += 1
            account.told = -2
    return total, n_distinct


@inline_jitable
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


#: Further from the seeds than any URL.
FAR = 2**30
N_NINE = len(STUDY_SCORES)
#: Places of weights; those of the generations follow one another.
HUB, AUTHORITY = SCORE_NAMES.index("hub"), SCORE_NAMES.index("authority")
COMM_IN, COMM_OUT = SCORE_NAMES.index("comm_in"), SCORE_NAMES.index("comm_out")
PARENT_0 = SCORE_NAMES.index("parent_1") - 1


@inline_jitable
def find_url(crawl: Crawling, queue: Queue, cash: Records, ranking: Ranking, url: int) -> None:
    """Come to know a URL, of which nothing else is known if it is new."""
    if not find(crawl, queue, url):
        return
    known = queue.pages[url]
    known.n_links, known.n_into_community, known.mark = 0, 0, -1
    known.n_parents, known.n_in_community, known.most_links = 0, 0, 0
    known.page, known.distance, known.is_seed, known.in_community = -1, FAR, 0, 0
    no_generations(ranking, url)
    if crawl.numbers[N_WEIGHED] > N_NINE:
        no_extras(cash, ranking, url)


@inline_jitable
def start_rank(crawl: Crawling, queue: Queue, cash: Records, ranking: Ranking, url: int, share: float) -> None:
    find_url(crawl, queue, cash, ranking, url)
    known = queue.pages[url]
    known.is_seed, known.in_community, known.distance = 1, 1, 0
    if crawl.numbers[N_WEIGHED] > N_NINE:
        cash[url].held = share
    crawl.numbers[N_SEEN] += 1
    put(queue, url, inf)


@inline_jitable
def classifier_score(crawl: Crawling, relevance: float) -> float:
    threshold = crawl.values[THRESHOLD]
    distance = relevance - threshold
    return distance / (1 - threshold) if distance >= 0 else distance / threshold


@inline_jitable
def tell_rank(
    web: Web, given: Given, crawl: Crawling, queue: Queue, cash: Records, ranking: Ranking, url: int, page: int
) -> None:
    """Learn of a page that was downloaded, and rank its links anew."""
    score = classifier_score(crawl, given.relevance[page])
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        prefetch(queue.pages, web.distinct_url[link], 0)
        prefetch(queue.pages, web.distinct_url[link], LINE_BYTES)
    if score >= 0 and not queue.pages[url].in_community:
        join_community(web, crawl, queue, ranking, url)
    count_links(web, crawl, queue, cash, ranking, url, page)
    queue.pages[url].page = page
    ranking.generations[url, GENERATION_0] = worth_of(ranking, score)
    if crawl.numbers[DEEPEST]:
        hand_on_all(web, crawl, queue, ranking, url, page)
    if crawl.numbers[N_WEIGHED] > N_NINE:
        learn_extras(web, given, crawl, queue, cash, ranking, url, page)
    rank_links(web, crawl, queue, cash, ranking, page)


@jitable
def join_community(web: Web, crawl: Crawling, queue: Queue, ranking: Ranking, url: int) -> None:
    """One more link into the community on each of the page's parents, and so for every URL that these link to."""
    queue.pages[url].in_community = 1
    if not crawl.numbers[WEIGHS_COMMUNITY]:
        return
    n_parents = note_parents(web, crawl, ranking, url)
    for place in range(n_parents):
        parent = ranking.noted[0, place]
        for link in range(web.distinct_offset[parent], web.distinct_offset[parent + 1]):
            prefetch(queue.pages, web.distinct_url[link], 0)
    for place in range(n_parents):
        parent = ranking.noted[0, place]
        for link in range(web.distinct_offset[parent], web.distinct_offset[parent + 1]):
            queue.pages[web.distinct_url[link]].n_into_community += 1


@inline_jitable
def note_parents(web: Web, crawl: Crawling, ranking: Ranking, url: int) -> int:
    """Note the downloaded pages with a link to this one, and ask for their links. How many they are."""
    n_parents = 0
    for place in range(ranking.parent_offset[url], ranking.parent_offset[url + 1]):
        parent = ranking.parent_page[place]
        if crawl.visit_of[parent] >= 0:
            ranking.noted[0, n_parents] = parent
            n_parents += 1
            prefetch(web.distinct_offset, parent, 0)
    for place in range(n_parents):
        prefetch(web.distinct_url, web.distinct_offset[ranking.noted[0, place]], 0)
    return n_parents


@inline_jitable
def count_links(web: Web, crawl: Crawling, queue: Queue, cash: Records, ranking: Ranking, url: int, page: int) -> None:
    """Count what the distinct links of a page mean for those they lead to."""
    first, end = web.distinct_offset[page], web.distinct_offset[page + 1]
    n_links, n_into_community, n_new = end - first, 0, 0
    for link in range(first, end):
        find_url(crawl, queue, cash, ranking, web.distinct_url[link])
        n_into_community += queue.pages[web.distinct_url[link]].in_community
    in_community, distance = queue.pages[url].in_community, queue.pages[url].distance + 1
    for link in range(first, end):
        known = queue.pages[web.distinct_url[link]]
        n_new += known.n_parents == 0 and not known.is_seed
        known.n_parents += 1
        known.n_links += n_links
        known.n_in_community += in_community
        known.n_into_community += n_into_community
        known.most_links = max(known.most_links, n_links)
        known.distance = min(known.distance, distance)
    crawl.numbers[N_SEEN] += n_new
    crawl.numbers[N_LINKS] += n_links


@inline_jitable
def rank_links(web: Web, crawl: Crawling, queue: Queue, cash: Records, ranking: Ranking, page: int) -> None:
    """Renew the ranks of URLs that a page links to."""
    numbers = crawl.numbers
    mean_out = numbers[N_LINKS] / (numbers[N_VISITED] + 1)  # Eq. 4
    mean_in = numbers[N_LINKS] / numbers[N_SEEN]  # Eq. 6
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        url = web.distinct_url[link]
        known = queue.pages[url]
        if known.bucket == TAKEN:
            continue
        rank = inf if known.is_seed else weighted_sum(web, crawl, queue, cash, ranking, url, mean_out, mean_in)
        if known.bucket < 0 or known.score != rank:
            put(queue, url, rank)


@inline_jitable
def weighted_sum(
    web: Web,
    crawl: Crawling,
    queue: Queue,
    cash: Records,
    ranking: Ranking,
    url: int,
    mean_out: float,
    mean_in: float,
) -> float:
    """Eq. 2, from the left to the right as the plain one adds it up."""
    numbers, known = crawl.numbers, queue.pages[url]
    weights = ranking.weights[rule_of(crawl, ranking, known.distance)]
    n_out = float(known.most_links) if numbers[HUB_OVER_MAX] else known.n_links / known.n_parents
    rank = n_out / mean_out * weights[HUB]  # Eq. 3
    rank += known.n_parents / mean_in * weights[AUTHORITY]  # Eq. 5
    rank += known.n_in_community / known.n_parents * weights[COMM_IN]  # Eq. 7
    rank += known.n_into_community / known.n_links * weights[COMM_OUT]  # Eq. 8
    for generation in range(1, numbers[DEEPEST] + 1):
        rank += score_of(ranking, url, generation) * weights[PARENT_0 + generation]  # Eq. 11, 12
    if numbers[N_WEIGHED] > N_NINE:
        rank = extra_scores(web, crawl, queue, cash, ranking, url, weights, rank)
    return rank


@inline_jitable
def rule_of(crawl: Crawling, ranking: Ranking, distance: int) -> int:
    """Which of the rank functions a URL is ranked by."""
    split_by = crawl.numbers[SPLIT_BY]
    if split_by == BY_DISTANCE:
        for rule in range(len(ranking.bounds)):
            if distance <= ranking.bounds[rule]:
                return rule
        return len(ranking.bounds)
    if split_by == BY_PHASE:
        for rule in range(len(ranking.bounds)):
            if crawl.numbers[N_VISITED] + 1 < ranking.bounds[rule]:
                return rule
        return len(ranking.bounds)
    return 0
