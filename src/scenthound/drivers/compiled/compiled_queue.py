"""The queue of pages that wait in a compiled crawl: the best first, ties by key. `queue_records` tells how it works.

Importing this file needs numba (the extra `fast`).
"""

import numpy as np

from scenthound.compiling import compiled_inline, compiled_part
from scenthound.drivers.compiled.compiled_buckets import IN_BLOCK, append, chain_length, forget, free_block, highest_set
from scenthound.drivers.compiled.compiled_heap import pop, push
from scenthound.drivers.compiled.compiled_prefetch import prefetch
from scenthound.drivers.compiled.queue_records import (
    ACTIVE,
    BLOCK_BITS,
    BUCKET_BITS,
    FREE_BLOCK,
    HEAP_LIMIT,
    HEAP_SIZE,
    N_BLOCKS,
    N_BUCKETS,
    N_FREE,
    SMALL_HEAP,
    SPARE_BLOCKS,
    TAKEN,
    Queue,
)

#: What `take` answers with instead of a page.
NOTHING, NO_ROOM = -1, -2

_SIGN = np.uint64(1 << 63)
_BUCKET_SHIFT = np.uint64(64 - BUCKET_BITS)


@compiled_part
def clear(queue: Queue, salt: np.uint64) -> None:
    """Make the queue empty for a new crawl."""
    queue.tail[:] = 0
    queue.set_words[:] = 0
    queue.set_groups[:] = 0
    queue.salt[0] = salt
    numbers = queue.numbers
    numbers[ACTIVE], numbers[HEAP_SIZE], numbers[HEAP_LIMIT] = N_BUCKETS, 0, SMALL_HEAP
    numbers[N_BLOCKS], numbers[FREE_BLOCK], numbers[N_FREE] = 1, 0, 0


@compiled_inline
def room(queue: Queue) -> int:
    """How many pages can certainly enter, or change, before the slots or the heap run out."""
    n_blocks = len(queue.before) - queue.numbers[N_BLOCKS] + queue.numbers[N_FREE] - SPARE_BLOCKS
    return min(n_blocks, len(queue.heap) - queue.numbers[HEAP_SIZE])


@compiled_inline
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


@compiled_inline
def withdraw(queue: Queue, page: int) -> None:
    """Let a page that waits not wait any more."""
    queue.pages[page].bucket = TAKEN


@compiled_part
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


@compiled_part
def take(queue: Queue) -> int:
    """The best page that waits, which leaves; or what `best` answers with instead."""
    page = best(queue)
    if page >= 0:
        withdraw(queue, page)
        pop(queue)
    return page


@compiled_part
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


@compiled_part
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


@compiled_part
def clear_ghosts(queue: Queue) -> None:
    """Bring the lists of all buckets to those that truly wait in them."""
    for bucket in range(N_BUCKETS):
        if queue.tail[bucket]:
            tidy(queue, bucket)


@compiled_part
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
