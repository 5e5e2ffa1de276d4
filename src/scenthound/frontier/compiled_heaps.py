"""The compiled heaps of the unbounded frontier: a pairing heap of pages per host, a binary heap of hosts.

Requires numba (the extra `fast`). The record of page p is `pages[p + 1]`, so that index 0 means "none"; the record of
host h is `hosts[h]`. In this module an `index` is an index into `pages`.

Invariants, whenever no compiled function is running
- The queued pages of a host form one pairing heap (Fredman, Sedgewick, Sleator, Tarjan: The pairing heap, 1986) with
  its root at the host's `best`. `child` is a page's first child, `next` and `previous` are its siblings, `parent` its
  parent. A page whose score rises stays in its position until it passes its parent, so most changes touch two records.
- A queued page's host is found from its record, whatever the caller says. It is stored as -1 - host where a root has no
  parent and a first child no previous sibling, so it is at most two records away.
- The first `N_RANKED` entries of `ranking` are a binary heap of hosts with queued pages, each with its best page; a
  host's `rank` is its index there plus 1.
- Hosts that were scanned and passed over are not in the ranking and have `rank` 0. They are, best first, in the array
  `passed_over`, which is kept from one pop to the next. A host whose best page changes is ranked again; its entry in
  `passed_over` is stale then and dropped before the next scan.

Functions called from Python build `Heaps` from the arrays, because unpacking a tuple from Python costs a microsecond.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.borrowed_arrays import borrowed
from scenthound.frontier import base
from scenthound.jit import cached_njit, jitable
from scenthound.model import IntArray, LongArray

Records = npt.NDArray[np.void]
#: pages, hosts, ranking, numbers
Arrays = tuple[Records, Records, Records, LongArray]

#: 24 bytes per page. `parent` is 0 for an unknown page and POPPED for a popped one.
PAGE = np.dtype([("score", "f8"), ("parent", "i4"), ("child", "i4"), ("next", "i4"), ("previous", "i4")])
HOST = np.dtype([("best", "i4"), ("rank", "i4")])
#: The element of a batch, of the ranking and of the popped pages.
ENTRY = np.dtype([("score", "f8"), ("page", "i4"), ("host", "i4")])
#: An entry as plain bytes.
BYTES = np.dtype((np.void, ENTRY.itemsize))


class Heaps(NamedTuple):
    """The arrays of a frontier."""

    pages: Records
    hosts: Records
    ranking: Records
    numbers: LongArray


#: `parent` of a popped page.
POPPED = np.iinfo(np.int32).min
#: Indices of `numbers`.
N_QUEUED, N_POPPED, N_RANKED, SALT, TOUCHED, N_RESCANNED, RULE = range(7)
#: `UpdateRule` as numbers.
MAX, SUM, LATEST, FIRST = range(4)
#: Pushes whose records are prefetched together; they fit the L1 cache.
WINDOW = 64

GOLDEN_GAMMA, FACTORS, SHIFTS = base.GOLDEN_GAMMA, base.FACTORS, base.SHIFTS


@cached_njit
def tie_key(page: int, salt: int) -> np.uint64:
    """`base.tie_keys` for one page."""
    mixed = np.uint64(page) * GOLDEN_GAMMA + np.uint64(salt)
    mixed = (mixed ^ (mixed >> SHIFTS[0])) * FACTORS[0]
    mixed = (mixed ^ (mixed >> SHIFTS[1])) * FACTORS[1]
    return mixed ^ (mixed >> SHIFTS[2])


@jitable
def comes_first(heaps: Heaps, score: float, page: int, other_score: float, other_page: int) -> bool:
    if score != other_score:
        return score > other_score
    salt = heaps.numbers[SALT]
    return bool(tie_key(page, salt) < tie_key(other_page, salt))


@jitable
def host_of(pages: Records, index: int) -> int:
    """The host of a queued page."""
    host_mark: int = pages[index].parent
    if host_mark > 0:
        host_mark = pages[pages[host_mark].child].previous
    return -1 - host_mark


@jitable
def link(heaps: Heaps, host: int, one: int, other: int) -> int:
    """Make the worse of two roots of one host the first child of the better, and return the better."""
    pages = heaps.pages
    if comes_first(heaps, pages[other].score, other - 1, pages[one].score, one - 1):
        one, other = other, one
    second = pages[one].child
    pages[one].child = other
    pages[other].parent = one
    pages[other].next = second
    pages[other].previous = -1 - host
    if second:
        pages[second].previous = other
    return one


@jitable
def cut(pages: Records, index: int) -> None:
    """Remove a page that is not a root, with its subtree, from its heap."""
    before, after = pages[index].previous, pages[index].next
    if before > 0:
        pages[before].next = after
    else:
        pages[pages[index].parent].child = after
    if after:
        pages[after].previous = before


@jitable
def linked_children(heaps: Heaps, host: int, parent: int) -> int:
    """Link a page's children into one heap, in pairs and then from the last pair to the first; its root, or 0."""
    pages = heaps.pages
    one, pairs = pages[parent].child, 0
    pages[parent].child = 0
    while one:
        other = pages[one].next
        following = pages[other].next if other else 0
        pair = link(heaps, host, one, other) if other else one
        pages[pair].next = pairs
        one, pairs = following, pair
    root, pairs = pairs, pages[pairs].next
    while pairs:
        following = pages[pairs].next
        root = link(heaps, host, root, pairs)
        pairs = following
    return root


@jitable
def set_rank(heaps: Heaps, rank: int, score: float, page: int, host: int) -> None:
    entry = heaps.ranking[rank - 1]
    entry.score, entry.page, entry.host = score, page, host
    heaps.hosts[host].rank = rank


@jitable
def sift(heaps: Heaps, rank: int, score: float, page: int, host: int) -> None:
    """Insert a host at the free `rank`, sifted up or down."""
    ranking, n_ranked = heaps.ranking, heaps.numbers[N_RANKED]
    while rank > 1:
        above = ranking[rank // 2 - 1]
        if not comes_first(heaps, score, page, above.score, above.page):
            break
        set_rank(heaps, rank, above.score, above.page, above.host)
        rank //= 2
    while 2 * rank <= n_ranked:
        below = 2 * rank
        if below < n_ranked:
            left, right = ranking[below - 1], ranking[below]
            below += comes_first(heaps, right.score, right.page, left.score, left.page)
        lower = ranking[below - 1]
        if not comes_first(heaps, lower.score, lower.page, score, page):
            break
        set_rank(heaps, rank, lower.score, lower.page, lower.host)
        rank = below
    set_rank(heaps, rank, score, page, host)


@jitable
def rank_host(heaps: Heaps, host: int) -> None:
    """Update the rank of a host after its best page, or that page's score, has changed."""
    rank, best = heaps.hosts[host].rank, heaps.hosts[host].best
    if rank == 0:
        heaps.numbers[N_RANKED] += 1
        rank = heaps.numbers[N_RANKED]
    sift(heaps, rank, heaps.pages[best].score, best - 1, host)


@jitable
def unrank_host(heaps: Heaps, host: int) -> None:
    heaps.numbers[N_RANKED] -= 1
    n_ranked, rank = heaps.numbers[N_RANKED], heaps.hosts[host].rank
    heaps.hosts[host].rank = 0
    if rank <= n_ranked:
        last = heaps.ranking[n_ranked]
        sift(heaps, rank, last.score, last.page, last.host)


@jitable
def set_best(heaps: Heaps, host: int, root: int) -> None:
    """Make a page the best of its host."""
    page = heaps.pages[root]
    page.parent, page.next, page.previous = -1 - host, 0, 0
    heaps.hosts[host].best = root
    rank_host(heaps, host)


@jitable
def merge(heaps: Heaps, host: int, root: int) -> None:
    """Merge a heap, possibly of one page, into that of its host."""
    best = heaps.hosts[host].best
    winner = link(heaps, host, best, root) if best else root
    if winner != best:
        set_best(heaps, host, winner)


@jitable
def rise(heaps: Heaps, index: int) -> None:
    """Move a page, with its subtree, up after its score has risen."""
    pages, parent = heaps.pages, heaps.pages[index].parent
    if parent < 0:
        rank_host(heaps, -1 - parent)
    elif comes_first(heaps, pages[index].score, index - 1, pages[parent].score, parent - 1):
        host = host_of(pages, index)
        cut(pages, index)
        merge(heaps, host, index)


@jitable
def fall(heaps: Heaps, index: int) -> None:
    """Separate a page from its children after its score has fallen, because they may be better now."""
    host = host_of(heaps.pages, index)
    children = linked_children(heaps, host, index)
    if heaps.pages[index].parent < 0:
        set_best(heaps, host, link(heaps, host, index, children) if children else index)
    elif children:
        merge(heaps, host, children)


@jitable
def combined(rule: int, old: float, pushed: float) -> float:
    """The new score of a queued page; NaN is passed on."""
    if rule == SUM:
        return old + pushed
    return old if rule == FIRST or (rule == MAX and pushed <= old) else pushed


@jitable
def prefetch(heaps: Heaps, batch: Records, rule: int) -> float:
    """Read the records that a batch will change, and return a value that depends on all of them.

    Each push follows links from record to record, and in a large frontier every step waits for memory. Here the steps
    of all pushes run side by side, so that the processor waits for many at once. If a page is queued on another host
    than the one in the batch, only time is lost.
    """
    pages, hosts, touched = heaps.pages, heaps.hosts, 0.0
    for entry in batch:
        # A record may span two cache lines, so its first and last fields are read.
        touched += pages[entry.page + 1].score + pages[entry.page + 1].previous
    for entry in batch:
        parent, best = pages[max(0, pages[entry.page + 1].parent)], pages[hosts[entry.host].best]
        touched += parent.score + parent.child + best.score + best.child
    for entry in batch:
        page = pages[entry.page + 1]
        if page.parent <= 0 or combined(rule, page.score, entry.score) > pages[page.parent].score:
            best, sibling = pages[hosts[entry.host].best], pages[pages[max(0, page.parent)].child]
            touched += pages[page.next].previous + pages[max(0, page.previous)].next
            touched += sibling.previous + pages[best.child].previous
    return touched


@jitable
def push(heaps: Heaps, index: int, host: int, pushed: float, rule: int) -> bool:
    """Push a page; false, with nothing changed, if its score would be NaN."""
    page = heaps.pages[index]
    if page.parent == POPPED:
        return True
    score = combined(rule, page.score, pushed) if page.parent else pushed
    if np.isnan(score):
        return False
    if page.parent == 0:
        page.score = score
        heaps.numbers[N_QUEUED] += 1
        merge(heaps, host, index)
    elif score != page.score:
        is_higher = score > page.score
        page.score = score
        if is_higher:
            rise(heaps, index)
        else:
            fall(heaps, index)
    return True


@jitable
def n_within(heaps: Heaps, batch: Records) -> int:
    """The number of leading elements whose page and host are within the arrays."""
    for i in range(len(batch)):
        page, host = batch[i].page, batch[i].host
        if not (0 <= page < len(heaps.pages) - 1 and 0 <= host < len(heaps.hosts)):
            return i
    return len(batch)


@cached_njit
def push_batch(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, batch: Records) -> int:
    """Push a batch by the rule in `numbers`, up to an element without a record or with NaN; return their number."""
    heaps, batch = borrowed((Heaps(pages, hosts, ranking, numbers), batch))
    rule, done = numbers[RULE], 0
    while done < len(batch):
        end = done + n_within(heaps, batch[done : done + WINDOW])
        if end == done:
            break
        # Stored, or the compiler would remove the call.
        numbers[TOUCHED] = prefetch(heaps, batch[done:end], rule) > 0
        for i in range(done, end):
            if not push(heaps, batch[i].page + 1, batch[i].host, batch[i].score, rule):
                return i
        done = end
    return done


@jitable
def pop_page(heaps: Heaps, page: int, host: int) -> None:
    """Pop the best page of a host and rank the host by its next best."""
    heaps.pages[page + 1].parent = POPPED
    heaps.numbers[N_QUEUED] -= 1
    heaps.numbers[N_POPPED] += 1
    root = linked_children(heaps, host, page + 1)
    if root:
        set_best(heaps, host, root)
        return
    heaps.hosts[host].best = 0
    if heaps.hosts[host].rank:
        unrank_host(heaps, host)


@cached_njit
def pop_best(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, popped: Records) -> int:
    """Fill `popped` with the best pages of the ranked hosts; return their number."""
    heaps = borrowed(Heaps(pages, hosts, ranking, numbers))
    for i in range(len(popped)):
        if numbers[N_RANKED] == 0:
            return i
        popped[i] = ranking[0]
        pop_page(heaps, popped[i].page, popped[i].host)
    return len(popped)


@cached_njit
def pop_each(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, bests: Records) -> int:
    """Pop these pages, each the best of another host; return their number."""
    heaps = borrowed(Heaps(pages, hosts, ranking, numbers))
    for entry in bests:
        pop_page(heaps, entry.page, entry.host)
    return len(bests)


@cached_njit
def drop_stale(hosts: Records, passed_over: Records) -> int:
    """Move the hosts without a rank to the front of `passed_over`, in their order; return their number."""
    n = 0
    for entry in passed_over:
        if hosts[entry.host].rank == 0:
            passed_over[n] = entry
            n += 1
    return n


@cached_njit
def scan(arrays: Arrays, passed_over: Records, scanned: Records) -> None:
    """Fill `scanned` with the best hosts, best first, from the ranking, which they leave, and from `passed_over`, of
    which the first `N_RESCANNED` were scanned before. There must be enough hosts."""
    pages, hosts, ranking, numbers = arrays
    heaps = borrowed(Heaps(pages, hosts, ranking, numbers))
    for i in range(len(scanned)):
        n = numbers[N_RESCANNED]
        if n < len(passed_over) and (
            numbers[N_RANKED] == 0
            or comes_first(heaps, passed_over[n].score, passed_over[n].page, ranking[0].score, ranking[0].page)
        ):
            scanned[i] = passed_over[n]
            numbers[N_RESCANNED] += 1
        else:
            scanned[i] = ranking[0]
            unrank_host(heaps, ranking[0].host)


@cached_njit
def split_scanned(scanned: Records, usable: LongArray, passed_over: Records) -> None:
    """Move the scanned hosts at the ascending positions `usable` to the front of `scanned`, and copy the others to the
    front of `passed_over`."""
    n_usable = 0
    for position in range(len(scanned)):
        if n_usable < len(usable) and usable[n_usable] == position:
            scanned[n_usable] = scanned[position]
            n_usable += 1
        else:
            passed_over[position - n_usable] = scanned[position]


@cached_njit
def put_back(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, bests: Records) -> int:
    """Rank scanned hosts again; return their number."""
    heaps = borrowed(Heaps(pages, hosts, ranking, numbers))
    for entry in bests:
        rank_host(heaps, entry.host)
    return len(bests)


@cached_njit
def list_queued(pages: Records, hosts: Records, page_numbers: IntArray, host_numbers: IntArray) -> None:
    """Fill two arrays of the length of the queue with the pages and their hosts, by walking every heap."""
    n = 0
    for host in range(len(hosts)):
        root = index = hosts[host].best
        while index:
            page_numbers[n], host_numbers[n] = index - 1, host
            n += 1
            if pages[index].child:
                index = pages[index].child
                continue
            while index != root and pages[index].next == 0:
                index = pages[index].parent
            index = pages[index].next
