"""The queue of pages that wait in a compiled crawl: the best first, ties by key. `queue_records` tells how it works.

Importing this file needs numba (the extra `fast`).
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from scenthound.borrowed_arrays import borrowed
from scenthound.frontier.compiled_heaps import tie_key
from scenthound.jit import cached_njit, inline_jitable, jitable
from scenthound.model import IntArray, LongArray
from scenthound.simulator.compiled.records import (
    ACTIVE,
    BLOCK,
    BLOCK_BITS,
    BUCKET_BITS,
    BY_NUMBER,
    FREE_BLOCK,
    HEAP_LIMIT,
    HEAP_SIZE,
    N_BLOCKS,
    N_BUCKETS,
    N_FOUND,
    N_FREE,
    N_VISITED,
    SMALL_HEAP,
    SPARE_BLOCKS,
    TAKEN,
    UNSEEN,
    Crawling,
    Queue,
    Records,
    Web,
)

# The buckets of a compiled crawl's queue: lists of blocks, and bits for those that are not empty. Needs numba.

IN_BLOCK = BLOCK - 1

_ONE = np.uint64(1)
_HALVES = np.array([32, 16, 8, 4, 2, 1], np.uint64)


@inline_jitable
def append(queue: Queue, bucket: int, page: int) -> None:
    slot = queue.tail[bucket]
    if slot == 0:
        word = bucket >> 6
        queue.set_words[word] |= _ONE << np.uint64(bucket & 63)
        queue.set_groups[word >> 6] |= _ONE << np.uint64(word & 63)
    if slot == 0 or slot & IN_BLOCK == IN_BLOCK:
        block = new_block(queue)
        queue.before[block] = slot >> BLOCK_BITS
        slot = block << BLOCK_BITS
    else:
        slot += 1
    queue.slots[slot] = page
    queue.tail[bucket] = slot


@inline_jitable
def new_block(queue: Queue) -> int:
    numbers = queue.numbers
    block = numbers[FREE_BLOCK]
    if block:
        numbers[FREE_BLOCK] = queue.before[block]
        numbers[N_FREE] -= 1
        return block
    block = numbers[N_BLOCKS]
    numbers[N_BLOCKS] += 1
    return block


@inline_jitable
def free_block(queue: Queue, block: int) -> int:
    """Give a block back; the one before it in its chain."""
    before = queue.before[block]
    queue.before[block] = queue.numbers[FREE_BLOCK]
    queue.numbers[FREE_BLOCK] = block
    queue.numbers[N_FREE] += 1
    return before


@inline_jitable
def forget(queue: Queue, bucket: int) -> None:
    """A bucket is empty now."""
    queue.tail[bucket] = 0
    word = bucket >> 6
    queue.set_words[word] &= ~(_ONE << np.uint64(bucket & 63))
    if queue.set_words[word] == 0:
        queue.set_groups[word >> 6] &= ~(_ONE << np.uint64(word & 63))


@jitable
def chain_length(queue: Queue, bucket: int) -> int:
    """How many slots a bucket's list may have filled."""
    n_slots = (queue.tail[bucket] & IN_BLOCK) + 1
    block = queue.before[queue.tail[bucket] >> BLOCK_BITS]
    while block:
        n_slots += IN_BLOCK + 1
        block = queue.before[block]
    return n_slots


@jitable
def highest_set(queue: Queue) -> int:
    """The best bucket that is not empty; -1 if all are."""
    for group in range(len(queue.set_groups) - 1, -1, -1):
        if queue.set_groups[group]:
            word = (group << 6) + highest_bit(queue.set_groups[group])
            return (word << 6) + highest_bit(queue.set_words[word])
    return -1


@inline_jitable
def highest_bit(word: np.uint64) -> int:
    place = np.uint64(0)
    for half in _HALVES:
        if word >> half:
            word >>= half
            place += half
    return int(np.int64(place))


# The heap of a compiled crawl's queue: entries of the best bucket, sorted. Importing this file needs numba.


@jitable
def push(queue: Queue, score: float, page: int) -> None:
    """Add an entry to the heap."""
    heap = queue.heap
    number = queue.pages[page].number
    key = np.uint64(number) if queue.numbers[BY_NUMBER] else tie_key(number, queue.salt[0])
    place = queue.numbers[HEAP_SIZE]
    queue.numbers[HEAP_SIZE] += 1
    while place:
        above = (place - 1) >> 1
        other = heap[above]
        if other.score > score or (other.score == score and other.key <= key):
            break
        entry = heap[place]
        entry.score, entry.key, entry.page = other.score, other.key, other.page
        place = above
    entry = heap[place]
    entry.score, entry.key, entry.page = score, key, page


@jitable
def pop(queue: Queue) -> None:
    """Remove the best entry of the heap."""
    heap = queue.heap
    size = queue.numbers[HEAP_SIZE] - 1
    queue.numbers[HEAP_SIZE] = size
    score, key, page = heap[size].score, heap[size].key, heap[size].page
    place, below = 0, 1
    while below < size:
        if below + 1 < size:
            left, right = heap[below], heap[below + 1]
            below += right.score > left.score or (right.score == left.score and right.key < left.key)
        other = heap[below]
        if score > other.score or (score == other.score and key < other.key):
            break
        entry = heap[place]
        entry.score, entry.key, entry.page = other.score, other.key, other.page
        place, below = below, 2 * below + 1
    entry = heap[place]
    entry.score, entry.key, entry.page = score, key, page


# A hint to the processor: this element of an array will be looked at soon.
#
# A crawl of a large web goes from place to place in arrays that no cache holds, and waits for the memory at every
# step. What is asked for beforehand comes while something else is done. Importing this file needs numba (the extra
# `fast`).

#: Of the line of a cache.
LINE_BYTES = 64
#: Arguments of LLVM's `prefetch`: to be read, to be kept in all caches, data rather than instructions.
_READ, _KEEP, _DATA = 0, 3, 1


@intrinsic
def _prefetch(_typing: Any, array: Any, _index: Any, _n_bytes: Any) -> tuple[Any, Callable[..., Any]]:
    """Ask for what stands so many bytes behind the start of an element of an array, or of a row of one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        places = [arguments[1]] + [context.get_constant(types.intp, 0)] * (signature.args[0].ndim - 1)
        element = cgutils.get_item_pointer(context, builder, signature.args[0], made, places, wraparound=False)
        address = builder.gep(builder.bitcast(element, cgutils.voidptr_t), [arguments[2]])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        builder.call(hint, [address, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


#: `prefetch(array, index, n_bytes)`, for those who check types.
prefetch = cast(Callable[[Any, int, int], None], _prefetch)


#: What `take` answers with instead of a page.
NOTHING, NO_ROOM = -1, -2

_SIGN = np.uint64(1 << 63)
_BUCKET_SHIFT = np.uint64(64 - BUCKET_BITS)


@jitable
def clear(queue: Queue, salt: np.uint64) -> None:
    """Make the queue empty for a new crawl."""
    queue.tail[:] = 0
    queue.set_words[:] = 0
    queue.set_groups[:] = 0
    queue.salt[0] = salt
    numbers = queue.numbers
    numbers[ACTIVE], numbers[HEAP_SIZE], numbers[HEAP_LIMIT] = N_BUCKETS, 0, SMALL_HEAP
    numbers[N_BLOCKS], numbers[FREE_BLOCK], numbers[N_FREE] = 1, 0, 0


@inline_jitable
def room(queue: Queue) -> int:
    """How many pages can certainly enter, or change, before the slots or the heap run out."""
    n_blocks = len(queue.before) - queue.numbers[N_BLOCKS] + queue.numbers[N_FREE] - SPARE_BLOCKS
    return min(n_blocks, len(queue.heap) - queue.numbers[HEAP_SIZE])


@inline_jitable
def put(queue: Queue, page: int, score: float) -> None:
    """Let a page wait with a score, be it there already or not."""
    record = queue.pages[page]
    # Adding 0 makes one zero of both, which are equal and differ in their bits.
    record.score = score + 0.0
    bits = record.bits
    bucket = int(np.int64((~bits if bits & _SIGN else bits | _SIGN) >> _BUCKET_SHIFT))
    if bucket >= queue.numbers[ACTIVE]:
        push(queue, record.score, page)
    elif record.bucket != bucket:
        append(queue, bucket, page)
    record.bucket = bucket


@inline_jitable
def withdraw(queue: Queue, page: int) -> None:
    """Let a page that waits not wait any more."""
    queue.pages[page].bucket = TAKEN


@jitable
def best(queue: Queue) -> int:
    """The best page that waits, which stays; `NOTHING` if none does, `NO_ROOM` if there must be more room first."""
    numbers, heap, pages = queue.numbers, queue.heap, queue.pages
    while True:
        if numbers[HEAP_SIZE] > numbers[HEAP_LIMIT]:
            if room(queue) < numbers[HEAP_SIZE]:
                return NO_ROOM
            relieve(queue)
        while numbers[HEAP_SIZE]:
            page = heap[0].page
            if pages[page].bucket >= 0 and pages[page].score == heap[0].score:
                return page
            pop(queue)
        bucket = highest_set(queue)
        if bucket < 0:
            return NOTHING
        if chain_length(queue, bucket) > len(heap):
            return NO_ROOM
        gather(queue, bucket)


@jitable
def take(queue: Queue) -> int:
    """The best page that waits, which leaves; or what `best` answers with instead."""
    page = best(queue)
    if page >= 0:
        withdraw(queue, page)
        pop(queue)
    return page


@jitable
def gather(queue: Queue, bucket: int) -> None:
    """Sort a bucket: all that truly wait in it go to the heap, which is empty."""
    slot = queue.tail[bucket]
    queue.numbers[ACTIVE] = bucket
    forget(queue, bucket)
    while slot:
        for place in range(slot & ~IN_BLOCK, slot + 1):
            prefetch(queue.pages, queue.slots[place], 0)
        for place in range(slot & ~IN_BLOCK, slot + 1):
            page = queue.slots[place]
            if queue.pages[page].bucket == bucket:
                push(queue, queue.pages[page].score, page)
        block = free_block(queue, slot >> BLOCK_BITS)
        slot = (block << BLOCK_BITS) + IN_BLOCK if block else 0
    queue.numbers[HEAP_LIMIT] = max(SMALL_HEAP, 4 * queue.numbers[HEAP_SIZE])


@jitable
def relieve(queue: Queue) -> None:
    """The heap is large: ghosts leave it and, if pages better than its bucket are there, all go to their buckets."""
    numbers, heap, pages = queue.numbers, queue.heap, queue.pages
    active, n_entries, is_mixed = numbers[ACTIVE], numbers[HEAP_SIZE], False
    for place in range(n_entries):
        is_mixed |= pages[heap[place].page].bucket > active
    numbers[HEAP_SIZE] = 0
    if is_mixed:
        numbers[ACTIVE] = N_BUCKETS
    for place in range(n_entries):
        page, score = heap[place].page, heap[place].score
        if pages[page].bucket < active or pages[page].score != score:
            continue
        if is_mixed:
            append(queue, pages[page].bucket, page)
        else:
            # Writes no further than it has read.
            push(queue, score, page)
    numbers[HEAP_LIMIT] = max(SMALL_HEAP, 2 * numbers[HEAP_SIZE])


@jitable
def clear_ghosts(queue: Queue) -> None:
    """Bring the lists of all buckets to those that truly wait in them."""
    for bucket in range(N_BUCKETS):
        if queue.tail[bucket]:
            tidy(queue, bucket)


@jitable
def tidy(queue: Queue, bucket: int) -> None:
    """Fill a list anew from its own slots: what is written never passes what is read."""
    slot = queue.tail[bucket]
    forget(queue, bucket)
    while slot:
        first = slot & ~IN_BLOCK
        kept = np.int64(0)
        for place in range(first, slot + 1):
            page = queue.slots[place]
            if queue.pages[page].bucket == bucket:
                queue.slots[first + kept] = page
                kept += 1
        block = first >> BLOCK_BITS
        # Handed on one by one to other blocks; this one is free then.
        for place in range(first, first + kept):
            append(queue, bucket, queue.slots[place])
        before = free_block(queue, block)
        slot = (before << BLOCK_BITS) + IN_BLOCK if before else 0


# What compiled crawls need before they start, between two calls of their loop, and when they are over.
#
# Importing this file needs numba (the extra `fast`).


@cached_njit
def wipe(web: Web, crawl: Crawling, queue: Queue, hosts: Records) -> None:
    """Forget a crawl, at the cost of what it touched."""
    web, crawl, queue, hosts = borrowed((web, crawl, queue, hosts))
    for place in range(crawl.numbers[N_FOUND]):
        url = crawl.found[place]
        queue.pages[url].bucket = UNSEEN
        if len(hosts):
            hosts[web.url_host[url]].n_downloaded = hosts[web.url_host[url]].n_good = 0
    for turn in range(crawl.numbers[N_VISITED]):
        crawl.visit_of[crawl.visits[turn]] = -1


@cached_njit
def clear_away(queue: Queue) -> int:
    """Clear ghosts away; how much room there is then."""
    queue = borrowed(queue)
    clear_ghosts(queue)
    return room(queue)


@cached_njit
def without_repeats(
    link_offset: LongArray, link_url: IntArray, seen_on: IntArray, offset: LongArray, url: IntArray
) -> int:
    """The distinct links of each page, where they stand first. How many; `seen_on` has a place for each URL."""
    end = 0
    for page in range(len(link_offset) - 1):
        for link in range(link_offset[page], link_offset[page + 1]):
            if seen_on[link_url[link]] != page:
                seen_on[link_url[link]] = page
                url[end] = link_url[link]
                end += 1
        offset[page + 1] = end
    return end


@cached_njit
def turn_round(web: Web, parent_offset: LongArray, parent_page: IntArray) -> None:
    """The pages with a link to each URL, ascending. The offsets, one more than there are URLs, are 0 at first."""
    for url in web.distinct_url:
        parent_offset[url + 1] += 1
    for url in range(len(parent_offset) - 1):
        parent_offset[url + 1] += parent_offset[url]
    for page in range(len(web.distinct_offset) - 2, -1, -1):
        for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
            url = web.distinct_url[link]
            # Filled from the end, so that the end of one is the start of the next when all is done.
            parent_offset[url + 1] -= 1
            parent_page[parent_offset[url + 1]] = page
    for url in range(len(parent_offset) - 1):
        parent_offset[url] = parent_offset[url + 1]
    parent_offset[len(parent_offset) - 1] = len(parent_page)
