"""Pages that enter the large unbounded frontier, or change their scores there; compiled.

Importing this file needs numba (the extra `fast`). What Python calls makes `Heaps` of its arrays itself: taking one
over from Python costs a microsecond.
"""

import numpy as np

from scenthound.compiling import compiled, compiled_part
from scenthound.frontier.compiled_heaps import N_WAITING, RULE, TAKEN, TOUCHED, fall, merge, rise
from scenthound.frontier.compiled_records import Heaps, Records
from scenthound.model import LongArray

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
