"""The heaps of the large unbounded frontier, compiled: a pairing heap of pages per host, a binary heap of hosts.

Importing this file needs numba (the extra `fast`). `compiled_records` tells what is in the arrays; pages change in
`compiled_changes` and leave in `compiled_takes`.
"""

import numpy as np

from scenthound.compiling import compiled, compiled_part
from scenthound.frontier import keys
from scenthound.frontier.compiled_records import Heaps, Records

#: In `up` of a page that was taken.
TAKEN = np.iinfo(np.int32).min
#: Places in `numbers`.
N_WAITING, N_TAKEN, N_RANKED, SALT, TOUCHED, N_LOOKED_ASIDE, RULE = range(7)

GOLDEN_GAMMA, FACTORS, SHIFTS = keys.GOLDEN_GAMMA, keys.FACTORS, keys.SHIFTS


@compiled
def tie_key(page: int, salt: int) -> np.uint64:
    """`keys.tie_keys` for one page."""
    mixed = np.uint64(page) * GOLDEN_GAMMA + np.uint64(salt)
    mixed = (mixed ^ (mixed >> SHIFTS[0])) * FACTORS[0]
    mixed = (mixed ^ (mixed >> SHIFTS[1])) * FACTORS[1]
    return mixed ^ (mixed >> SHIFTS[2])


@compiled_part
def comes_first(heaps: Heaps, score: float, page: int, other_score: float, other_page: int) -> bool:
    if score != other_score:
        return score > other_score
    salt = heaps.numbers[SALT]
    return bool(tie_key(page, salt) < tie_key(other_page, salt))


@compiled_part
def host_of(pages: Records, place: int) -> int:
    """The host that a page waits on."""
    marked: int = pages[place].up
    if marked > 0:
        marked = pages[pages[marked].child].previous
    return -1 - marked


@compiled_part
def link(heaps: Heaps, host: int, one: int, other: int) -> int:
    """Make the worse of two roots of one host the first child of the better, which is the answer."""
    pages = heaps.pages
    if comes_first(heaps, pages[other].score, other - 1, pages[one].score, one - 1):
        one, other = other, one
    second = pages[one].child
    pages[one].child = other
    pages[other].up = one
    pages[other].next = second
    pages[other].previous = -1 - host
    if second:
        pages[second].previous = other
    return one


@compiled_part
def cut(pages: Records, place: int) -> None:
    """Take a page that is no root, with all below it, out of its heap."""
    before, after = pages[place].previous, pages[place].next
    if before > 0:
        pages[before].next = after
    else:
        pages[pages[place].up].child = after
    if after:
        pages[after].previous = before


@compiled_part
def linked_children(heaps: Heaps, host: int, parent: int) -> int:
    """Make one heap of a page's children: linked in pairs, then the pairs from the last to the first. Its root or 0."""
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


@compiled_part
def set_rank(heaps: Heaps, rank: int, score: float, page: int, host: int) -> None:
    entry = heaps.ranking[rank - 1]
    entry.score, entry.page, entry.host = score, page, host
    heaps.hosts[host].rank = rank


@compiled_part
def settle(heaps: Heaps, rank: int, score: float, page: int, host: int) -> None:
    """Fill the gap at `rank` with a host, moved up or down to where it belongs."""
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


@compiled_part
def rank_host(heaps: Heaps, host: int) -> None:
    """Bring a host to its rank after its best page, or that page's score, has changed."""
    rank, best = heaps.hosts[host].rank, heaps.hosts[host].best
    if rank == 0:
        heaps.numbers[N_RANKED] += 1
        rank = heaps.numbers[N_RANKED]
    settle(heaps, rank, heaps.pages[best].score, best - 1, host)


@compiled_part
def unrank_host(heaps: Heaps, host: int) -> None:
    heaps.numbers[N_RANKED] -= 1
    n_ranked, rank = heaps.numbers[N_RANKED], heaps.hosts[host].rank
    heaps.hosts[host].rank = 0
    if rank <= n_ranked:
        last = heaps.ranking[n_ranked]
        settle(heaps, rank, last.score, last.page, last.host)


@compiled_part
def crown(heaps: Heaps, host: int, root: int) -> None:
    """Make a page the best of its host."""
    page = heaps.pages[root]
    page.up, page.next, page.previous = -1 - host, 0, 0
    heaps.hosts[host].best = root
    rank_host(heaps, host)


@compiled_part
def merge(heaps: Heaps, host: int, root: int) -> None:
    """Add a heap, be it of one page, to that of its host."""
    best = heaps.hosts[host].best
    winner = link(heaps, host, best, root) if best else root
    if winner != best:
        crown(heaps, host, winner)


@compiled_part
def rise(heaps: Heaps, place: int) -> None:
    """Bring a page whose score has risen to where it belongs; those below it stay there."""
    pages, up = heaps.pages, heaps.pages[place].up
    if up < 0:
        rank_host(heaps, -1 - up)
    elif comes_first(heaps, pages[place].score, place - 1, pages[up].score, up - 1):
        host = host_of(pages, place)
        cut(pages, place)
        merge(heaps, host, place)


@compiled_part
def fall(heaps: Heaps, place: int) -> None:
    """Part a page whose score has fallen from those below it, which it may have passed."""
    host = host_of(heaps.pages, place)
    children = linked_children(heaps, host, place)
    if heaps.pages[place].up < 0:
        crown(heaps, host, link(heaps, host, place, children) if children else place)
    elif children:
        merge(heaps, host, children)
