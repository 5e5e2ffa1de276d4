"""The queue of a compiled crawl: the best page first, ties by key; `records` describes it. Requires numba."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from scenthound.borrowed_arrays import borrowed
from scenthound.frontier.base import FACTORS, GOLDEN_GAMMA, SHIFTS
from scenthound.jit import cached_njit, inline_jitable, jitable
from scenthound.model import IntArray, LongArray
from scenthound.simulator.compiled.records import (
    BLOCK,
    BLOCK_BITS,
    BUCKET_BITS,
    N_BUCKETS,
    POPPED,
    SMALL_HEAP,
    SPARE_BLOCKS,
    UNSEEN,
    CrawlArrays,
    Queue,
    Records,
    Web,
)

#: Returned by `pop` instead of a page.
NOTHING, NO_ROOM = -1, -2

_LAST_IN_BLOCK = BLOCK - 1
_ONE = np.uint64(1)
_HALVES = np.array([32, 16, 8, 4, 2, 1], np.uint64)
_SIGN = np.uint64(1 << 63)
_BUCKET_SHIFT = np.uint64(64 - BUCKET_BITS)

#: The size of a cache line.
LINE_BYTES = 64
#: Arguments of LLVM's `prefetch`: for reading, to be kept in all caches, data rather than instructions.
_READ, _KEEP, _DATA = 0, 3, 1


@cached_njit
def tie_key(page: int, salt: int) -> np.uint64:
    """`frontier.base.tie_keys` for one page."""
    mixed = np.uint64(page) * GOLDEN_GAMMA + np.uint64(salt)
    mixed = (mixed ^ (mixed >> SHIFTS[0])) * FACTORS[0]
    mixed = (mixed ^ (mixed >> SHIFTS[1])) * FACTORS[1]
    return mixed ^ (mixed >> SHIFTS[2])


@intrinsic
def _prefetch(_typing: Any, array: Any, _index: Any, _n_bytes: Any) -> tuple[Any, Callable[..., Any]]:
    """Prefetch the cache line so many bytes after the start of an element of an array, or of a row of one.

    Crawls of large webs access memory at random; a prefetch overlaps the wait with other work."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        indices = [arguments[1]] + [context.get_constant(types.intp, 0)] * (signature.args[0].ndim - 1)
        element = cgutils.get_item_pointer(context, builder, signature.args[0], made, indices, wraparound=False)
        address = builder.gep(builder.bitcast(element, cgutils.voidptr_t), [arguments[2]])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        builder.call(hint, [address, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


#: `prefetch(array, index, n_bytes)` for type checkers.
prefetch = cast(Callable[[Any, int, int], None], _prefetch)


# Buckets


@inline_jitable
def append(queue: Queue, bucket: int, page: int) -> None:
    slot = queue.tail[bucket]
    if slot == 0:
        word = bucket >> 6
        queue.set_words[word] |= _ONE << np.uint64(bucket & 63)
        queue.set_groups[word >> 6] |= _ONE << np.uint64(word & 63)
    if slot == 0 or slot & _LAST_IN_BLOCK == _LAST_IN_BLOCK:
        block = new_block(queue)
        queue.before[block] = slot >> BLOCK_BITS
        slot = block << BLOCK_BITS
    else:
        slot += 1
    queue.slots[slot] = page
    queue.tail[bucket] = slot


@inline_jitable
def new_block(queue: Queue) -> int:
    state = queue.state[0]
    block = state.free_block
    if block:
        state.free_block = queue.before[block]
        state.n_free -= 1
        return block
    block = state.n_blocks
    state.n_blocks += 1
    return block


@inline_jitable
def free_block(queue: Queue, block: int) -> int:
    """Free a block; return the previous one of its chain."""
    before, state = queue.before[block], queue.state[0]
    queue.before[block] = state.free_block
    state.free_block = block
    state.n_free += 1
    return before


@inline_jitable
def mark_empty(queue: Queue, bucket: int) -> None:
    queue.tail[bucket] = 0
    word = bucket >> 6
    queue.set_words[word] &= ~(_ONE << np.uint64(bucket & 63))
    if queue.set_words[word] == 0:
        queue.set_groups[word >> 6] &= ~(_ONE << np.uint64(word & 63))


@jitable
def chain_length(queue: Queue, bucket: int) -> int:
    """The number of slots in a bucket's list."""
    n_slots = (queue.tail[bucket] & _LAST_IN_BLOCK) + 1
    block = queue.before[queue.tail[bucket] >> BLOCK_BITS]
    while block:
        n_slots += BLOCK
        block = queue.before[block]
    return n_slots


@jitable
def best_bucket(queue: Queue) -> int:
    """The best bucket that is not empty; -1 if all are."""
    for group in range(len(queue.set_groups) - 1, -1, -1):
        if queue.set_groups[group]:
            word = (group << 6) + highest_bit(queue.set_groups[group])
            return (word << 6) + highest_bit(queue.set_words[word])
    return -1


@inline_jitable
def highest_bit(word: np.uint64) -> int:
    position = np.uint64(0)
    for half in _HALVES:
        if word >> half:
            word >>= half
            position += half
    return int(np.int64(position))


# The heap


@jitable
def push_entry(queue: Queue, score: float, page: int) -> None:
    heap, state = queue.heap, queue.state[0]
    number = queue.pages[page].number
    key = np.uint64(number) if state.by_number else tie_key(number, state.salt)
    index = state.heap_size
    state.heap_size += 1
    while index:
        parent = (index - 1) >> 1
        other = heap[parent]
        if other.score > score or (other.score == score and other.key <= key):
            break
        entry = heap[index]
        entry.score, entry.key, entry.page = other.score, other.key, other.page
        index = parent
    entry = heap[index]
    entry.score, entry.key, entry.page = score, key, page


@jitable
def pop_entry(queue: Queue) -> None:
    """Remove the best entry."""
    heap, state = queue.heap, queue.state[0]
    state.heap_size -= 1
    size = state.heap_size
    score, key, page = heap[size].score, heap[size].key, heap[size].page
    index, child = 0, 1
    while child < size:
        if child + 1 < size:
            left, right = heap[child], heap[child + 1]
            child += right.score > left.score or (right.score == left.score and right.key < left.key)
        other = heap[child]
        if score > other.score or (score == other.score and key < other.key):
            break
        entry = heap[index]
        entry.score, entry.key, entry.page = other.score, other.key, other.page
        index, child = child, 2 * child + 1
    entry = heap[index]
    entry.score, entry.key, entry.page = score, key, page


# The queue


@jitable
def clear(queue: Queue, salt: np.uint64) -> None:
    """Empty the queue for a new crawl."""
    queue.tail[:] = 0
    queue.set_words[:] = 0
    queue.set_groups[:] = 0
    state = queue.state[0]
    state.salt, state.active, state.heap_size, state.heap_limit = salt, N_BUCKETS, 0, SMALL_HEAP
    state.n_blocks, state.free_block, state.n_free = 1, 0, 0


@inline_jitable
def room(queue: Queue) -> int:
    """How many pages can certainly be put before the slots or the heap are full."""
    state = queue.state[0]
    n_blocks = len(queue.before) - state.n_blocks + state.n_free - SPARE_BLOCKS
    return min(n_blocks, len(queue.heap) - state.heap_size)


@inline_jitable
def put(queue: Queue, page: int, score: float) -> None:
    """Add a page, or change its score."""
    record = queue.pages[page]
    # Adding 0 turns -0 into 0: they are equal but differ in their bits.
    record.score = score + 0.0
    bits = record.bits
    bucket = int(np.int64((~bits if bits & _SIGN else bits | _SIGN) >> _BUCKET_SHIFT))
    if bucket >= queue.state[0].active:
        push_entry(queue, record.score, page)
    elif record.bucket != bucket:
        append(queue, bucket, page)
    record.bucket = bucket


@inline_jitable
def remove(queue: Queue, page: int) -> None:
    """Remove a queued page."""
    queue.pages[page].bucket = POPPED


@jitable
def peek(queue: Queue) -> int:
    """The best page, which stays queued; `NOTHING` if there is none, `NO_ROOM` if more room is needed first."""
    state, heap, pages = queue.state[0], queue.heap, queue.pages
    while True:
        if state.heap_size > state.heap_limit:
            if room(queue) < state.heap_size:
                return NO_ROOM
            shrink_heap(queue)
        while state.heap_size:
            page = heap[0].page
            if pages[page].bucket >= 0 and pages[page].score == heap[0].score:
                return page
            pop_entry(queue)
        bucket = best_bucket(queue)
        if bucket < 0:
            return NOTHING
        if chain_length(queue, bucket) > len(heap):
            return NO_ROOM
        sort_bucket(queue, bucket)


@jitable
def pop(queue: Queue) -> int:
    """Remove the best page and return it; or what `peek` returns instead."""
    page = peek(queue)
    if page >= 0:
        remove(queue, page)
        pop_entry(queue)
    return page


@jitable
def sort_bucket(queue: Queue, bucket: int) -> None:
    """Move the pages of a bucket to the empty heap, without stale entries."""
    slot = queue.tail[bucket]
    queue.state[0].active = bucket
    mark_empty(queue, bucket)
    while slot:
        for index in range(slot & ~_LAST_IN_BLOCK, slot + 1):
            prefetch(queue.pages, queue.slots[index], 0)
        for index in range(slot & ~_LAST_IN_BLOCK, slot + 1):
            page = queue.slots[index]
            if queue.pages[page].bucket == bucket:
                push_entry(queue, queue.pages[page].score, page)
        block = free_block(queue, slot >> BLOCK_BITS)
        slot = (block << BLOCK_BITS) + _LAST_IN_BLOCK if block else 0
    queue.state[0].heap_limit = max(SMALL_HEAP, 4 * queue.state[0].heap_size)


@jitable
def shrink_heap(queue: Queue) -> None:
    """Remove stale entries from a large heap; if it has pages better than its bucket, move all to their buckets."""
    state, heap, pages = queue.state[0], queue.heap, queue.pages
    active, n_entries, is_mixed = state.active, state.heap_size, False
    for index in range(n_entries):
        is_mixed |= pages[heap[index].page].bucket > active
    state.heap_size = 0
    if is_mixed:
        state.active = N_BUCKETS
    for index in range(n_entries):
        page, score = heap[index].page, heap[index].score
        if pages[page].bucket < active or pages[page].score != score:
            continue
        if is_mixed:
            append(queue, pages[page].bucket, page)
        else:
            # Never writes beyond what was read.
            push_entry(queue, score, page)
    state.heap_limit = max(SMALL_HEAP, 2 * state.heap_size)


@jitable
def remove_stale(queue: Queue, bucket: int) -> None:
    """Fill a list again from its own slots: writing never overtakes reading."""
    slot = queue.tail[bucket]
    mark_empty(queue, bucket)
    while slot:
        first = slot & ~_LAST_IN_BLOCK
        n_kept = np.int64(0)
        for index in range(first, slot + 1):
            page = queue.slots[index]
            if queue.pages[page].bucket == bucket:
                queue.slots[first + n_kept] = page
                n_kept += 1
        # Appended to other blocks one by one; then this block is free.
        for index in range(first, first + n_kept):
            append(queue, bucket, queue.slots[index])
        before = free_block(queue, first >> BLOCK_BITS)
        slot = (before << BLOCK_BITS) + _LAST_IN_BLOCK if before else 0


# Functions that Python calls, before a crawl, between two calls of its loop, and after it


@cached_njit
def make_room(queue: Queue) -> int:
    """Remove stale entries from all buckets; return the room there is then."""
    queue = borrowed(queue)
    for bucket in range(N_BUCKETS):
        if queue.tail[bucket]:
            remove_stale(queue, bucket)
    return room(queue)


@cached_njit
def reset(web: Web, crawl: CrawlArrays, queue: Queue, hosts: Records) -> None:
    """Reset what a crawl has touched."""
    web, crawl, queue, hosts = borrowed((web, crawl, queue, hosts))
    for number in range(crawl.state[0].n_found):
        url = crawl.found[number]
        queue.pages[url].bucket = UNSEEN
        if len(hosts):
            hosts[web.url_host[url]].n_downloaded = hosts[web.url_host[url]].n_good = 0
    for visit in range(crawl.state[0].n_visited):
        crawl.visit_of[crawl.visits[visit]] = -1


@cached_njit
def distinct_links(
    link_offset: LongArray, link_url: IntArray, seen_on: IntArray, offset: LongArray, url: IntArray
) -> int:
    """Write the distinct links of each page in page order; return their number. `seen_on` is by URL, -1 at first."""
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
def invert_links(web: Web, parent_offset: LongArray, parent_page: IntArray) -> None:
    """Write the pages with a link to each URL, ascending. The offsets, one more than there are URLs, are 0 at first."""
    for url in web.distinct_url:
        parent_offset[url + 1] += 1
    for url in range(len(parent_offset) - 1):
        parent_offset[url + 1] += parent_offset[url]
    for page in range(len(web.distinct_offset) - 2, -1, -1):
        for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
            url = web.distinct_url[link]
            # Filled from the end, so that in the end each offset is a start.
            parent_offset[url + 1] -= 1
            parent_page[parent_offset[url + 1]] = page
    for url in range(len(parent_offset) - 1):
        parent_offset[url] = parent_offset[url + 1]
    parent_offset[len(parent_offset) - 1] = len(parent_page)
