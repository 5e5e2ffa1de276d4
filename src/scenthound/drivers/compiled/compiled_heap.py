"""The heap of a compiled crawl's queue: entries of the best bucket, sorted. Importing this file needs numba."""

import numpy as np

from scenthound.compiling import compiled_part
from scenthound.drivers.compiled.queue_records import BY_NUMBER, HEAP_SIZE, Queue
from scenthound.frontier.compiled_heaps import tie_key


@compiled_part
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


@compiled_part
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
