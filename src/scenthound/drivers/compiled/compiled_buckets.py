"""The buckets of a compiled crawl's queue: lists of blocks, and bits for those that are not empty. Needs numba."""

import numpy as np

from scenthound.compiling import compiled_inline, compiled_part
from scenthound.drivers.compiled.queue_records import BLOCK, BLOCK_BITS, FREE_BLOCK, N_BLOCKS, N_FREE, Queue

IN_BLOCK = BLOCK - 1

_ONE = np.uint64(1)
_HALVES = np.array([32, 16, 8, 4, 2, 1], np.uint64)


@compiled_inline
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


@compiled_inline
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


@compiled_inline
def free_block(queue: Queue, block: int) -> int:
    """Give a block back; the one before it in its chain."""
    before = queue.before[block]
    queue.before[block] = queue.numbers[FREE_BLOCK]
    queue.numbers[FREE_BLOCK] = block
    queue.numbers[N_FREE] += 1
    return before


@compiled_inline
def forget(queue: Queue, bucket: int) -> None:
    """A bucket is empty now."""
    queue.tail[bucket] = 0
    word = bucket >> 6
    queue.set_words[word] &= ~(_ONE << np.uint64(bucket & 63))
    if queue.set_words[word] == 0:
        queue.set_groups[word >> 6] &= ~(_ONE << np.uint64(word & 63))


@compiled_part
def chain_length(queue: Queue, bucket: int) -> int:
    """How many slots a bucket's list may have filled."""
    n_slots = (queue.tail[bucket] & IN_BLOCK) + 1
    block = queue.before[queue.tail[bucket] >> BLOCK_BITS]
    while block:
        n_slots += IN_BLOCK + 1
        block = queue.before[block]
    return n_slots


@compiled_part
def highest_set(queue: Queue) -> int:
    """The best bucket that is not empty; -1 if all are."""
    for group in range(len(queue.set_groups) - 1, -1, -1):
        if queue.set_groups[group]:
            word = (group << 6) + highest_bit(queue.set_groups[group])
            return (word << 6) + highest_bit(queue.set_words[word])
    return -1


@compiled_inline
def highest_bit(word: np.uint64) -> int:
    place = np.uint64(0)
    for half in _HALVES:
        if word >> half:
            word >>= half
            place += half
    return int(np.int64(place))
