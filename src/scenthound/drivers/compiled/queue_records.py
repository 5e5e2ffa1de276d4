"""What a compiled crawl's queue of waiting pages keeps in its arrays, and what holds of it between two calls.

The queue is a row of unsorted buckets and one heap. A page's bucket is read off the leading bits of its score, so that
to enter a page, or to change its score, takes a few steps however many wait. Only the best bucket is ever sorted.

Invariants
- All that wait in buckets from `ACTIVE` upwards stand in the heap, all others in the list of their bucket.
- A page that waits stands at least once where it belongs. Where it stood before, and where it stands twice, are ghosts:
  they are known by the page's record, which tells its score and its bucket now, and are passed over.
- A bucket's list is a chain of blocks of `BLOCK` slots; `tail` is the slot last filled, 0 if there is none. Block 0 is
  never used.
- When the heap has grown, its ghosts leave it; and if pages are there that are better than its bucket, all go back to
  their buckets and the best one is sorted. When the slots run out, ghosts are cleared away, and the caller brings more
  if most were no ghosts.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray, LongArray

Records = npt.NDArray[np.void]
WordArray = npt.NDArray[np.uint64]

#: Sign, exponent and six bits of the mantissa: 64 buckets from each power of 2 to the next.
BUCKET_BITS = 18
N_BUCKETS = 1 << BUCKET_BITS
BLOCK_BITS = 4
BLOCK = 1 << BLOCK_BITS
#: What clearing ghosts away may need for itself.
SPARE_BLOCKS = 2
#: The heap is small enough while it has fewer entries.
SMALL_HEAP = 1024

#: In `bucket` of a page's record: never heard of, known and not waiting yet, and not waiting any more.
UNSEEN, UNKNOWN, TAKEN = -3, -1, -2

#: By URL of the web. `bits` are those of `score`; `number` is in order of discovery, and breaks ties. The
#: wide record of a rank function begins with the same fields.
WAITING_FIELDS = {"score": ("f8", 0), "bits": ("u8", 0), "bucket": ("i4", 8), "number": ("i4", 12)}


def record_type(fields: dict[str, tuple[str, int]], n_bytes: int) -> np.dtype[np.void]:
    """A record with fields at given places, some of which may be the same."""
    formats, offsets = [kind for kind, _ in fields.values()], [place for _, place in fields.values()]
    return np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": n_bytes})


WAITING = record_type(WAITING_FIELDS, 16)
#: What the heap is made of.
ENTRY = np.dtype([("score", "f8"), ("key", "u8"), ("page", "i8")])

#: Places in `numbers`.
ACTIVE, HEAP_SIZE, HEAP_LIMIT, N_BLOCKS, FREE_BLOCK, N_FREE, BY_NUMBER = range(7)
N_NUMBERS = 7


class Queue(NamedTuple):
    """`set_words` has a bit for each bucket that is not empty, `set_groups` one for each word that is not 0."""

    pages: Records
    heap: Records
    slots: IntArray
    before: IntArray  #: the block before each in its chain, or the next free one
    tail: IntArray
    set_words: WordArray
    set_groups: WordArray
    numbers: LongArray
    salt: WordArray


def new_queue(pages: Records, n_blocks: int = 1024, *, by_number: bool = False) -> Queue:
    """An empty queue of pages with these records. Ties are broken by the salt, or by the number of the page."""
    queue = Queue(
        pages,
        np.zeros(2 * SMALL_HEAP, ENTRY),
        np.zeros(n_blocks * BLOCK, np.int32),
        np.zeros(n_blocks, np.int32),
        np.zeros(N_BUCKETS, np.int32),
        np.zeros(N_BUCKETS // 64, np.uint64),
        np.zeros(N_BUCKETS // 4096, np.uint64),
        np.zeros(N_NUMBERS, np.int64),
        np.zeros(1, np.uint64),
    )
    queue.numbers[BY_NUMBER] = by_number
    return queue
