"""Pages that leave the large unbounded frontier, and hosts that are passed over meanwhile; compiled.

Importing this file needs numba (the extra `fast`). What Python calls makes `Heaps` of its arrays itself: taking one
over from Python costs a microsecond.
"""

from scenthound.compiling import compiled, compiled_part
from scenthound.frontier.compiled_heaps import (
    N_LOOKED_ASIDE,
    N_RANKED,
    N_TAKEN,
    N_WAITING,
    TAKEN,
    comes_first,
    crown,
    linked_children,
    rank_host,
    unrank_host,
)
from scenthound.frontier.compiled_records import Arrays, Heaps, Records
from scenthound.model import IntArray, LongArray


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
