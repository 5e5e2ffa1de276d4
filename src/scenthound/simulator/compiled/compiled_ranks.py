"""The rank function in compiled crawls (johnson2003 section 2.2); `strategies.rank_scores` explains the scores.

Parents, grandparents and so on: the scores of a generation are reduced to one number, the lowest if all are negative,
else the highest (johnson2003 Eq. 11 and 12). It is stored as an integer code, so that the code of two generations
together is the larger one: the bits of a score that is not negative, and those of the magnitude of a negative one minus
`ALL_NEGATIVE`.

Requires numba.
"""

from math import inf

from scenthound.jit import inline_jitable, jitable
from scenthound.model import FloatArray
from scenthound.simulator.compiled.compiled_cash import note_promise, revised, sum_promises
from scenthound.simulator.compiled.compiled_discovery import discover, prefetch_targets
from scenthound.simulator.compiled.compiled_queue import LINE_BYTES, prefetch, put
from scenthound.simulator.compiled.records import (
    BY_DISTANCE,
    BY_PHASE,
    COUNTED,
    GENERATION_0,
    N_GENERATIONS,
    POPPED,
    UNMARKED,
    CrawlArrays,
    Queue,
    Ranking,
    Records,
    ScoreArrays,
    Web,
)
from scenthound.strategies.cash import MOST_CASH
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES

#: The number of scores of the study; the others are extra scores.
N_STUDY_SCORES = len(STUDY_SCORES)
#: Indices of weights; those of the generations are consecutive.
HUB, AUTHORITY = SCORE_NAMES.index("hub"), SCORE_NAMES.index("authority")
COMM_IN, COMM_OUT = SCORE_NAMES.index("comm_in"), SCORE_NAMES.index("comm_out")
PARENT_0 = SCORE_NAMES.index("parent_1") - 1
ANCHOR, CONTEXT = SCORE_NAMES.index("anchor"), SCORE_NAMES.index("context")
HOST_SUCCESS, CASH = SCORE_NAMES.index("host_success"), SCORE_NAMES.index("cash")
#: Farther from the seeds than any URL.
FAR = 2**30
#: The code of a generation without members, and more than the bits of any magnitude that a score may have.
NO_MEMBERS, ALL_NEGATIVE = -(2**63), 2**62
#: A mark is the number of the visit, and below it a bit for each generation for which the page is listed. Bit 0, which
#: no generation needs, is set when the rank was renewed.
_MARK_BITS = 6
_RENEWED = 1


@inline_jitable
def discover_ranked(crawl: CrawlArrays, queue: Queue, cash: Records, ranking: Ranking, url: int) -> None:
    """Discover a URL, and initialise the record of a new one."""
    if not discover(crawl, queue, url):
        return
    known = queue.pages[url]
    known.n_links, known.n_into_community, known.mark = 0, 0, -1
    known.n_parents, known.n_in_community, known.most_links = 0, 0, 0
    known.page, known.distance, known.is_seed, known.in_community = -1, FAR, 0, 0
    for generation in range(N_GENERATIONS + 1):
        ranking.generations[url, GENERATION_0 + generation] = NO_MEMBERS
    if crawl.state[0].n_weighed > N_STUDY_SCORES:
        ranking.hints[url].anchor = ranking.hints[url].context = 0.0
        cash[url].held, cash[url].relevance, cash[url].mark = 0.0, -1.0, UNMARKED


@inline_jitable
def start_rank(crawl: CrawlArrays, queue: Queue, cash: Records, ranking: Ranking, url: int, share: float) -> None:
    discover_ranked(crawl, queue, cash, ranking, url)
    known = queue.pages[url]
    known.is_seed, known.in_community, known.distance = 1, 1, 0
    if crawl.state[0].n_weighed > N_STUDY_SCORES:
        cash[url].held = share
    crawl.state[0].n_seen += 1
    put(queue, url, inf)


@inline_jitable
def tell_rank(
    web: Web,
    scores: ScoreArrays,
    crawl: CrawlArrays,
    queue: Queue,
    cash: Records,
    ranking: Ranking,
    url: int,
    page: int,
) -> None:
    """Learn from a downloaded page, and rank its links again."""
    state = crawl.state[0]
    score = classifier_score(crawl, scores.relevance[page])
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        prefetch(queue.pages, web.distinct_url[link], 0)
        prefetch(queue.pages, web.distinct_url[link], LINE_BYTES)
    ranking.n_listed[0] = 0
    if score >= 0 and not queue.pages[url].in_community:
        join_community(web, crawl, queue, ranking, url)
    count_links(web, crawl, queue, cash, ranking, url, page)
    queue.pages[url].page = page
    ranking.generations[url, GENERATION_0] = encoded(ranking, score)
    if state.deepest:
        propagate_all(web, crawl, queue, ranking, url, page)
    if state.n_weighed > N_STUDY_SCORES:
        learn_extras(web, scores, crawl, queue, cash, ranking, url, page)
    rank_links(web, crawl, queue, cash, ranking, page)
    if state.renews_siblings:
        for index in range(ranking.n_listed[0]):
            rank_links(web, crawl, queue, cash, ranking, ranking.listed[0, index])


@inline_jitable
def classifier_score(crawl: CrawlArrays, relevance: float) -> float:
    threshold = crawl.state[0].threshold
    distance = relevance - threshold
    return distance / (1 - threshold) if distance >= 0 else distance / threshold


@jitable
def join_community(web: Web, crawl: CrawlArrays, queue: Queue, ranking: Ranking, url: int) -> None:
    """Each parent of the page has one more link into the community; count it for every URL that the parent links to."""
    queue.pages[url].in_community = 1
    if not crawl.state[0].counts_community:
        return
    n_parents = list_parents(web, crawl, ranking, url)
    ranking.n_listed[0] = n_parents
    for index in range(n_parents):
        prefetch_targets(web, queue, ranking.listed[0, index])
    for index in range(n_parents):
        parent = ranking.listed[0, index]
        for link in range(web.distinct_offset[parent], web.distinct_offset[parent + 1]):
            queue.pages[web.distinct_url[link]].n_into_community += 1


@inline_jitable
def list_parents(web: Web, crawl: CrawlArrays, ranking: Ranking, url: int) -> int:
    """List the downloaded pages with a link to this one, and prefetch their links; return their number."""
    n_parents = 0
    for index in range(ranking.parent_offset[url], ranking.parent_offset[url + 1]):
        parent = ranking.parent_page[index]
        if crawl.visit_of[parent] >= 0:
            ranking.listed[0, n_parents] = parent
            n_parents += 1
            prefetch(web.distinct_offset, parent, 0)
    for index in range(n_parents):
        prefetch(web.distinct_url, web.distinct_offset[ranking.listed[0, index]], 0)
    return n_parents


@inline_jitable
def count_links(
    web: Web, crawl: CrawlArrays, queue: Queue, cash: Records, ranking: Ranking, url: int, page: int
) -> None:
    """Update the counts of the URLs that a page links to."""
    first, end = web.distinct_offset[page], web.distinct_offset[page + 1]
    n_links, n_into_community, n_new = end - first, 0, 0
    for link in range(first, end):
        discover_ranked(crawl, queue, cash, ranking, web.distinct_url[link])
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
    crawl.state[0].n_seen += n_new
    crawl.state[0].n_links += n_links


@inline_jitable
def rank_links(web: Web, crawl: CrawlArrays, queue: Queue, cash: Records, ranking: Ranking, page: int) -> None:
    """Update the ranks of the URLs that a page links to."""
    state = crawl.state[0]
    mean_out = state.n_links / (state.n_visited + 1)  # Eq. 4
    mean_in = state.n_links / state.n_seen  # Eq. 6
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        url = web.distinct_url[link]
        known = queue.pages[url]
        if known.bucket == POPPED or is_renewed(crawl, queue, url):
            continue
        rank = inf if known.is_seed else weighted_sum(web, crawl, queue, cash, ranking, url, mean_out, mean_in)
        if known.bucket < 0 or known.score != rank:
            put(queue, url, rank)


@inline_jitable
def is_renewed(crawl: CrawlArrays, queue: Queue, url: int) -> bool:
    """Whether the rank of a URL was renewed by the current visit; marks it. Only siblings are met twice."""
    state, known = crawl.state[0], queue.pages[url]
    if not state.renews_siblings:
        return False
    if known.mark >> _MARK_BITS != state.n_visited:
        known.mark = state.n_visited << _MARK_BITS
    was_renewed = bool(known.mark & _RENEWED)
    known.mark |= _RENEWED
    return was_renewed


@inline_jitable
def weighted_sum(
    web: Web,
    crawl: CrawlArrays,
    queue: Queue,
    cash: Records,
    ranking: Ranking,
    url: int,
    mean_out: float,
    mean_in: float,
) -> float:
    """Eq. 2, added from left to right as in the plain implementation."""
    state, known = crawl.state[0], queue.pages[url]
    weights = ranking.weights[rule_of(crawl, ranking, known.distance)]
    n_out = float(known.most_links) if state.hub_over_max else known.n_links / known.n_parents
    rank = n_out / mean_out * weights[HUB]  # Eq. 3
    rank += known.n_parents / mean_in * weights[AUTHORITY]  # Eq. 5
    rank += known.n_in_community / known.n_parents * weights[COMM_IN]  # Eq. 7
    rank += known.n_into_community / known.n_links * weights[COMM_OUT]  # Eq. 8
    for generation in range(1, state.deepest + 1):
        parent_score = generation_score(ranking, url, generation) * state.score_range  # Eq. 11, 12
        rank += parent_score * weights[PARENT_0 + generation]
    if state.n_weighed > N_STUDY_SCORES:
        rank = with_extras(web, crawl, cash, ranking, url, weights, rank)
    return rank


@inline_jitable
def rule_of(crawl: CrawlArrays, ranking: Ranking, distance: int) -> int:
    """The index of the rank function that applies to a URL."""
    split_by = crawl.state[0].split_by
    if split_by == BY_DISTANCE:
        for rule in range(len(ranking.bounds)):
            if distance <= ranking.bounds[rule]:
                return rule
        return len(ranking.bounds)
    if split_by == BY_PHASE:
        for rule in range(len(ranking.bounds)):
            if crawl.state[0].n_visited + 1 < ranking.bounds[rule]:
                return rule
        return len(ranking.bounds)
    return 0


# Generations


@inline_jitable
def encoded(ranking: Ranking, score: float) -> int:
    ranking.score[0] = abs(score)
    return ranking.score_bits[0] if score >= 0 else ranking.score_bits[0] - ALL_NEGATIVE


@inline_jitable
def generation_score(ranking: Ranking, url: int, generation: int) -> float:
    """The score of a generation of a URL; 0 if it has no members."""
    code = ranking.generations[url, GENERATION_0 + generation]
    if code >= 0:
        return ranking.as_scores[url, GENERATION_0 + generation]
    if code == NO_MEMBERS:
        return 0.0
    ranking.score_bits[0] = code + ALL_NEGATIVE
    return -ranking.score[0]


@jitable
def propagate_all(web: Web, crawl: CrawlArrays, queue: Queue, ranking: Ranking, url: int, page: int) -> None:
    """Pass the generations of a downloaded page to its links, and from downloaded ones on to theirs."""
    deepest = crawl.state[0].deepest
    for generation in range(1, deepest + 1):
        ranking.n_listed[generation] = 0
        ranking.passed[generation] = ranking.generations[url, GENERATION_0 + generation - 1]
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        other = web.distinct_url[link]
        if queue.pages[other].page < 0:
            for generation in range(1, deepest + 1):
                before = ranking.generations[other, GENERATION_0 + generation]
                ranking.generations[other, GENERATION_0 + generation] = max(before, ranking.passed[generation])
        else:
            for generation in range(1, deepest + 1):
                extend_generation(web, crawl, queue, ranking, other, generation, ranking.passed[generation])
    for generation in range(1, deepest):
        prefetch_listed(web, queue, ranking, generation)
        for index in range(ranking.n_listed[generation]):
            propagate(web, crawl, queue, ranking, ranking.listed[generation, index], generation + 1)


@jitable
def prefetch_listed(web: Web, queue: Queue, ranking: Ranking, generation: int) -> None:
    """Prefetch the links of listed pages and the records of their targets."""
    for index in range(ranking.n_listed[generation]):
        first = web.distinct_offset[queue.pages[ranking.listed[generation, index]].page]
        prefetch(web.distinct_url, first, 0)
        prefetch(web.distinct_url, first, LINE_BYTES)
    for index in range(ranking.n_listed[generation]):
        page = queue.pages[ranking.listed[generation, index]].page
        for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
            prefetch(ranking.generations, web.distinct_url[link], LINE_BYTES)


@jitable
def propagate(web: Web, crawl: CrawlArrays, queue: Queue, ranking: Ranking, url: int, generation: int) -> None:
    """Pass a changed generation of a downloaded page to its links, whose next generation it is."""
    page, passed = queue.pages[url].page, ranking.generations[url, GENERATION_0 + generation - 1]
    for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
        extend_generation(web, crawl, queue, ranking, web.distinct_url[link], generation, passed)


@inline_jitable
def extend_generation(
    web: Web, crawl: CrawlArrays, queue: Queue, ranking: Ranking, url: int, generation: int, passed: int
) -> None:
    """Extend a generation of a page; a downloaded page whose generation changed is listed once."""
    if passed <= ranking.generations[url, GENERATION_0 + generation]:
        return
    ranking.generations[url, GENERATION_0 + generation] = passed
    known, state = queue.pages[url], crawl.state[0]
    if known.page < 0 or generation == state.deepest:
        return
    if known.mark >> _MARK_BITS != state.n_visited:
        known.mark = state.n_visited << _MARK_BITS
    if not known.mark & (1 << generation):
        known.mark |= 1 << generation
        prefetch(web.distinct_offset, known.page, 0)
        ranking.listed[generation, ranking.n_listed[generation]] = url
        ranking.n_listed[generation] += 1


# Extra scores: anchor, context, success of the host, and OTIE's cash


@jitable
def learn_extras(
    web: Web,
    scores: ScoreArrays,
    crawl: CrawlArrays,
    queue: Queue,
    cash: Records,
    ranking: Ranking,
    url: int,
    page: int,
) -> None:
    cash[url].relevance = scores.relevance[page]
    if crawl.state[0].weighs_link_scores:
        learn_hints(web, scores, ranking, page)
    if crawl.state[0].weighs_hosts:
        host = ranking.hosts[web.url_host[url]]
        host.n_downloaded += 1
        host.n_good += queue.pages[url].in_community
    if crawl.state[0].weighs_cash:
        share_cash(web, scores, crawl, cash, url, page)


@inline_jitable
def learn_hints(web: Web, scores: ScoreArrays, ranking: Ranking, page: int) -> None:
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        hint, index = ranking.hints[web.link_url[link]], web.link_index[link]
        if len(scores.anchors):
            hint.anchor = max(hint.anchor, scores.anchors[index])
        if len(scores.contexts):
            hint.context = max(hint.context, scores.contexts[index])


@inline_jitable
def share_cash(web: Web, scores: ScoreArrays, crawl: CrawlArrays, cash: Records, url: int, page: int) -> None:
    """wang2009 Eq. 6-9 as in OTIE, but no page shares twice."""
    before, state = cash[url].held, crawl.state[0]
    amount = revised(crawl, before, scores.relevance[page])
    cash[url].held = 0.0
    state.circulating += amount - before
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        note_promise(web, scores, crawl, cash, page, link)
    total, n_distinct = sum_promises(web, cash, page)
    if n_distinct == 0:
        state.circulating -= amount
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        account = cash[web.link_url[link]]
        if account.mark == COUNTED:
            account.mark = UNMARKED
            account.held += amount * (account.promised / total if total > 0 else 1 / n_distinct)


@inline_jitable
def with_extras(
    web: Web, crawl: CrawlArrays, cash: Records, ranking: Ranking, url: int, weights: FloatArray, rank: float
) -> float:
    """The rank plus the weighted extra scores, added from left to right."""
    state = crawl.state[0]
    if state.weighs_link_scores:
        rank += ranking.hints[url].anchor * weights[ANCHOR]
        rank += ranking.hints[url].context * weights[CONTEXT]
    if state.weighs_hosts:
        host = ranking.hosts[web.url_host[url]]
        if host.n_downloaded:
            rank += host.n_good / host.n_downloaded * weights[HOST_SUCCESS]
    if state.weighs_cash and state.circulating > 0:
        rank += min(cash[url].held * state.n_seen / state.circulating, MOST_CASH) * weights[CASH]
    return rank
