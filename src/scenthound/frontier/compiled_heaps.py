"""The heaps of the large unbounded frontier, compiled: a pairing heap of pages per host, a binary heap of hosts.

Importing this file needs numba (the extra `fast`). `compiled_records` tells what is in the arrays; pages change in
`compiled_changes` and leave in `compiled_takes`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.compiling import compiled, compiled_part
from scenthound.frontier import base as keys
from scenthound.model import IntArray, LongArray

# What the large unbounded frontier keeps in its arrays, and what holds of it whenever no compiled code is at work.
#
# Places: the record of page p is `pages[p + 1]`, so that 0 can mean "none"; the record of host h is `hosts[h]`.
#
# Invariants
# - The pages that wait on a host form one pairing heap (Fredman, Sedgewick, Sleator, Tarjan: The pairing heap, 1986)
#   with its root at `best` of the host. `child` is a page's first child, `next` and `previous` are its siblings, `up`
#   is its parent. A page whose score rises stays where it is until it passes its parent, so most changes touch two
#   records.
# - The host of a page that waits is found from the page itself, whatever the caller says. It stands where a root has
#   no parent and a first child no sibling before it, as -1 - host; so that each page has it at most two records away.
# - The first `N_RANKED` entries of `ranking` are a binary heap of hosts with waiting pages, each with its best page;
#   `rank` of a host is its place there plus 1.
# - Hosts that were looked at and passed over are out of it with `rank` 0: they stand, best first, in `aside`, which
#   is kept from one take to the next. A host whose best page changes takes a rank again; its entry aside is a ghost
#   then, and is cleared away before the next look.

Records = npt.NDArray[np.void]
#: Of pages, hosts and ranking, and `numbers`.
Arrays = tuple[Records, Records, Records, LongArray]

#: 24 bytes per page. `up` is 0 if the page is unknown, TAKEN if it was taken.
PAGE = np.dtype([("score", "f8"), ("up", "i4"), ("child", "i4"), ("next", "i4"), ("previous", "i4")])
HOST = np.dtype([("best", "i4"), ("rank", "i4")])
#: A page and its host by number: what a batch, the ranking, and the answer of a take are made of.
ENTRY = np.dtype([("score", "f8"), ("page", "i4"), ("host", "i4")])
#: An entry whose fields nobody wants to know.
BYTES = np.dtype((np.void, ENTRY.itemsize))


class Heaps(NamedTuple):
    """All that the compiled functions share."""

    pages: Records
    hosts: Records
    ranking: Records
    numbers: LongArray


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


# Pages that enter the large unbounded frontier, or change their scores there; compiled.
#
# Importing this file needs numba (the extra `fast`). What Python calls makes `Heaps` of its arrays itself: taking one
# over from Python costs a microsecond.

#: What becomes of the score of a page that waits: `rules.Rule`, in numbers.
RAISE, ADD, SET, ENTER = range(4)
#: Changes whose records are fetched together; they fit the nearest cache.
WINDOW = 64


@compiled_part
def combined(rule: int, old: float, given: float) -> float:
    """The new score of a page that waits; NaN, which compares with nothing, is handed on."""
    if rule == ADD:
        return old + given
    return old if rule == ENTER or (rule == RAISE and given <= old) else given


@compiled_part
def fetch(heaps: Heaps, batch: Records, rule: int) -> float:
    """Touch the records that a batch of changes will touch, and answer with something made of them all.

    Each change follows links from record to record, and in a large frontier every step waits for the memory. Here the
    steps of all changes are made side by side, so that the processor waits for many at once.
    The host given is taken for the page's own: if it is not, time is lost and nothing else.
    """
    pages, hosts, touched = heaps.pages, heaps.hosts, 0.0
    for entry in batch:
        # A record may lie across two cache lines, so its first field is touched and its last.
        touched += pages[entry.page + 1].score + pages[entry.page + 1].previous
    for entry in batch:
        parent, best = pages[max(0, pages[entry.page + 1].up)], pages[hosts[entry.host].best]
        touched += parent.score + parent.child + best.score + best.child
    for entry in batch:
        page = pages[entry.page + 1]
        if page.up <= 0 or combined(rule, page.score, entry.score) > pages[page.up].score:
            best, sibling = pages[hosts[entry.host].best], pages[pages[max(0, page.up)].child]
            touched += pages[page.next].previous + pages[max(0, page.previous)].next
            touched += sibling.previous + pages[best.child].previous
    return touched


@compiled_part
def change(heaps: Heaps, place: int, host: int, given: float, rule: int) -> bool:
    """Let a page enter or change its score; false, and nothing done, if that would not be a number."""
    page = heaps.pages[place]
    if page.up == TAKEN:
        return True
    score = combined(rule, page.score, given) if page.up else given
    if np.isnan(score):
        return False
    if page.up == 0:
        page.score = score
        heaps.numbers[N_WAITING] += 1
        merge(heaps, host, place)
    elif score != page.score:
        is_higher = score > page.score
        page.score = score
        if is_higher:
            rise(heaps, place)
        else:
            fall(heaps, place)
    return True


@compiled_part
def n_with_records(heaps: Heaps, batch: Records) -> int:
    """How many elements in a row have numbers that the arrays reach to."""
    for i in range(len(batch)):
        page, host = batch[i].page, batch[i].host
        if not (0 <= page < len(heaps.pages) - 1 and 0 <= host < len(heaps.hosts)):
            return i
    return len(batch)


@compiled
def change_all(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, batch: Records) -> int:
    """Take up a batch by the rule in `numbers`, to its end, or to an element without a record or with NaN. How far."""
    heaps, rule, done = Heaps(pages, hosts, ranking, numbers), numbers[RULE], 0
    while done < len(batch):
        end = done + n_with_records(heaps, batch[done : done + WINDOW])
        if end == done:
            break
        # Kept, or else the compiler would see that nobody wants it, and leave it out.
        numbers[TOUCHED] = fetch(heaps, batch[done:end], rule) > 0
        for i in range(done, end):
            if not change(heaps, batch[i].page + 1, batch[i].host, batch[i].score, rule):
                return i
        done = end
    return done


# Pages that leave the large unbounded frontier, and hosts that are passed over meanwhile; compiled.
#
# Importing this file needs numba (the extra `fast`). What Python calls makes `Heaps` of its arrays itself: taking one
# over from Python costs a microsecond.


@compiled_part
def leave(heaps: Heaps, page: int, host: int) -> None:
    """Take the best page of a host, which gets the rank of its next best."""
    heaps.pages[page + 1].up = TAKEN
    heaps.numbers[N_WAITING] -= 1
    heaps.numbers[N_TAKEN] += 1
    root = linked_children(heaps, host, page + 1)
    if root:
        crown(heaps, host, root)
        return
    heaps.hosts[host].best = 0
    if heaps.hosts[host].rank:
        unrank_host(heaps, host)


@compiled
def take_best(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, taken: Records) -> int:
    """Fill `taken` with the best pages of the hosts that are ranked. How many."""
    for i in range(len(taken)):
        if numbers[N_RANKED] == 0:
            return i
        taken[i] = ranking[0]
        leave(Heaps(pages, hosts, ranking, numbers), taken[i].page, taken[i].host)
    return len(taken)


@compiled
def take_each(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, bests: Records) -> int:
    """Take these pages, each the best of another host. How many."""
    for entry in bests:
        leave(Heaps(pages, hosts, ranking, numbers), entry.page, entry.host)
    return len(bests)


@compiled
def clear_ghosts(hosts: Records, aside: Records) -> int:
    """Move the hosts that are without a rank to the front of `aside`, in their order. How many."""
    n = 0
    for entry in aside:
        if hosts[entry.host].rank == 0:
            aside[n] = entry
            n += 1
    return n


@compiled
def look(arrays: Arrays, aside: Records, looked_at: Records) -> None:
    """Fill `looked_at` with the best hosts, best first, from the ranking, which they leave, and from `aside`, whose
    first `N_LOOKED_ASIDE` were looked at before. There must be as many."""
    pages, hosts, ranking, numbers = arrays
    heaps = Heaps(pages, hosts, ranking, numbers)
    for i in range(len(looked_at)):
        n = numbers[N_LOOKED_ASIDE]
        if n < len(aside) and (
            numbers[N_RANKED] == 0
            or comes_first(heaps, aside[n].score, aside[n].page, ranking[0].score, ranking[0].page)
        ):
            looked_at[i] = aside[n]
            numbers[N_LOOKED_ASIDE] += 1
        else:
            looked_at[i] = ranking[0]
            unrank_host(heaps, ranking[0].host)


@compiled
def set_aside(looked_at: Records, chosen: LongArray, aside: Records) -> None:
    """Fill the beginning of `aside` with the hosts that were looked at and are not chosen by their places, which
    ascend; those that are go to the beginning of `looked_at`."""
    n_chosen = 0
    for place in range(len(looked_at)):
        if n_chosen < len(chosen) and chosen[n_chosen] == place:
            looked_at[n_chosen] = looked_at[place]
            n_chosen += 1
        else:
            aside[place - n_chosen] = looked_at[place]


@compiled
def put_back(pages: Records, hosts: Records, ranking: Records, numbers: LongArray, bests: Records) -> int:
    """Let hosts that were looked at take their ranks again. How many."""
    for entry in bests:
        rank_host(Heaps(pages, hosts, ranking, numbers), entry.host)
    return len(bests)


@compiled
def list_waiting(pages: Records, hosts: Records, page_numbers: IntArray, host_numbers: IntArray) -> None:
    """Fill two arrays, as long as there are waiting pages, with the pages and their hosts: every heap is walked."""
    n = 0
    for host in range(len(hosts)):
        root = place = hosts[host].best
        while place:
            page_numbers[n], host_numbers[n] = place - 1, host
            n += 1
            if pages[place].child:
                place = pages[place].child
                continue
            while place != root and pages[place].next == 0:
                place = pages[place].up
            place = pages[place].next
