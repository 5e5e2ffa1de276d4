"""The arrays and records of compiled crawls.

URLs have the numbers of the recorded web, so that the record of a link's target is found in one step. Ties are broken
by order of discovery, as in a plain crawl, so the record contains it. After a crawl only what it has touched is reset:
a crawl of a thousand pages costs the same on a web of millions.

The queue consists of unsorted buckets and one heap. The bucket of a page is given by the leading bits of its score, so
that adding or rescoring a page takes constant time. Only the best bucket is ever sorted.

Invariants of the queue
- All queued pages in buckets from `ACTIVE` upwards are in the heap, all others in the list of their bucket.
- A queued page is at least once where it belongs. Older and duplicate entries are stale: the record of the page has its
  current score and bucket, and stale entries are skipped.
- The list of a bucket is a chain of blocks of `BLOCK` slots; `tail` is the last slot in use, 0 if there is none. Block
  0 is never used.
  - When the heap has grown, stale entries are removed; if it contains pages above its bucket, all pages return to their
    buckets and the best bucket is sorted. When slots run out, stale entries are removed, and the caller provides more
    slots if that does not help.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import FloatArray, IntArray, LongArray

Records = npt.NDArray[np.void]
WordArray = npt.NDArray[np.uint64]

#: Sign, exponent and six bits of the mantissa: 64 buckets from each power of 2 to the next.
BUCKET_BITS = 18
N_BUCKETS = 1 << BUCKET_BITS
BLOCK_BITS = 4
BLOCK = 1 << BLOCK_BITS
#: Blocks that removing stale entries may need.
SPARE_BLOCKS = 2
#: The heap is small enough while it has fewer entries.
SMALL_HEAP = 1024

#: Values of `bucket`: not seen, seen but not queued, and no longer queued.
UNSEEN, UNKNOWN, TAKEN = -3, -1, -2

#: By URL of the web. `bits` are those of `score`; `number` is in order of discovery, and breaks ties. The
#: wide record of a rank function begins with the same fields.
WAITING_FIELDS = {"score": ("f8", 0), "bits": ("u8", 0), "bucket": ("i4", 8), "number": ("i4", 12)}


def record_type(fields: dict[str, tuple[str, int]], n_bytes: int) -> np.dtype[np.void]:
    """A record type with fields at given offsets, which may overlap."""
    formats, offsets = [kind for kind, _ in fields.values()], [offset for _, offset in fields.values()]
    return np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": n_bytes})


WAITING = record_type(WAITING_FIELDS, 16)
#: The entries of the heap.
ENTRY = np.dtype([("score", "f8"), ("key", "u8"), ("page", "i8")])

#: Indices into `Queue.numbers`.
ACTIVE, HEAP_SIZE, HEAP_LIMIT, N_BLOCKS, FREE_BLOCK, N_FREE, BY_NUMBER = range(7)
N_QUEUE_NUMBERS = 7


class Queue(NamedTuple):
    """`set_words` has a bit for each bucket that is not empty, `set_groups` one for each word that is not 0."""

    pages: Records
    heap: Records
    slots: IntArray
    before: IntArray  #: the previous block of each block in its chain, or the next free one
    tail: IntArray
    set_words: WordArray
    set_groups: WordArray
    numbers: LongArray
    salt: WordArray


def new_queue(pages: Records, n_blocks: int = 1024, *, by_number: bool = False) -> Queue:
    """An empty queue. Ties are broken by salted keys, or by the number of the page."""
    queue = Queue(
        pages,
        np.zeros(2 * SMALL_HEAP, ENTRY),
        np.zeros(n_blocks * BLOCK, np.int32),
        np.zeros(n_blocks, np.int32),
        np.zeros(N_BUCKETS, np.int32),
        np.zeros(N_BUCKETS // 64, np.uint64),
        np.zeros(N_BUCKETS // 4096, np.uint64),
        np.zeros(N_QUEUE_NUMBERS, np.int64),
        np.zeros(1, np.uint64),
    )
    queue.numbers[BY_NUMBER] = by_number
    return queue


class Stop(IntEnum):
    """Why the compiled loop returned: the crawl has ended, or something is needed."""

    BUDGET = 0
    EMPTY = 1
    WANTS_RELEVANCE = 2
    WANTS_LINK_SCORES = 3
    WANTS_ROOM = 4


#: Indices into `Crawling.numbers`; settings have the names that `strategies.kernels` gives them. PENDING is the page
#: that was fetched but not yet passed to the strategy, -1 if there is none.
(
    LOOP,
    BUDGET,
    MOST_LINKS,
    N_FOUND,
    N_VISITED,
    N_MISSING,
    N_REPEATED,
    PENDING,
    RULE,
    QUEUE_SIZE,
    DROPS_NEW,
    FIFO_FIRST,
    FIFO_END,
    LIST_SIZE,
    REFILL_AT,
    N_CURRENT,
    N_TO_REFILL,
    IS_NEW_REFILL,
    N_DRAWS,
    RESHARE_EVERY,
    REVISES_AGAIN,
    KEEPS_WHEN_HOPELESS,
    N_ROUNDS,
    SEEDS_FIRST,
    N_LINKS,
    N_SEEN,
    HUB_OVER_MAX,
    SPLIT_BY,
    N_WEIGHED,
    DEEPEST,
    WEIGHS_COMMUNITY,
    WEIGHS_LINK_SCORES,
    WEIGHS_HOSTS,
    WEIGHS_CASH,
    BY_CONTEXT,
    ROUND_SIZE,
    N_IN_ROUND,
    N_TO_FILL,
    LINE_FIRST,
    LINE_END,
) = range(40)
N_NUMBERS = 40

#: `RULE`: which score a page keeps that is found again.
HIGHEST, LATEST, FIRST = range(3)
#: `SPLIT_BY`: which of several rank functions a URL is ranked by.
BY_NOTHING, BY_DISTANCE, BY_PHASE = range(3)

#: Indices into `Crawling.values`, named likewise.
PAGE_WEIGHT, STRENGTH, FLATNESS, THRESHOLD, CIRCULATING = range(5)
N_VALUES = 5


class Web(NamedTuple):
    """The visible links, with and without repetitions, and their targets; read-only."""

    link_offset: LongArray
    link_url: IntArray
    link_index: LongArray  #: the index among all links of the web
    distinct_offset: LongArray
    distinct_url: IntArray
    url_page: IntArray
    url_host: IntArray


class Given(NamedTuple):
    """Scores of recorded pages and of all their links; NaN, or 0 in `has_links`, if they are not known yet."""

    relevance: FloatArray
    contexts: FloatArray
    anchors: FloatArray
    has_links: npt.NDArray[np.uint8]


class Crawling(NamedTuple):
    """The arrays of every crawl."""

    found: IntArray  #: URLs in order of discovery
    visit_of: IntArray  #: by recorded page, -1 if not visited
    visits: IntArray  #: recorded pages in order
    fifo: IntArray
    current: IntArray
    stamps: LongArray
    wheel_salt: npt.NDArray[np.uint64]
    line: Records  #: a bounded frontier, the best first
    line_keys: FloatArray  #: by URL
    round: IntArray
    mt_state: npt.NDArray[np.uint64]  #: the state of the Mersenne Twister
    numbers: LongArray
    values: FloatArray


#: The entries of a bounded frontier.
LINE_ENTRY = np.dtype([("score", "f8"), ("key", "f8"), ("page", "i8")])

#: Where a page's cash is: `strategies.parts.cash`.
WAITS, HELD, GONE = range(3)
#: By URL. `relevance` is -1 before the visit.
CASH = np.dtype([("held", "f8"), ("relevance", "f8"), ("promised", "f8"), ("place", "i4"), ("told", "i4")])

#: By URL: what a rank function knows of it, in two lines of a cache. `page` is the recorded page, -1 before the visit;
#: `mark` tells for which generation the URL was noted. The second line is seen as numbers, too: its generations.
KNOWN = record_type(
    {
        **WAITING_FIELDS,
        "n_parents": ("i4", 16),
        "n_in_community": ("i4", 20),
        "most_links": ("i4", 24),
        "n_links": ("i8", 32),
        "n_into_community": ("i8", 40),
        "page": ("i4", 48),
        "distance": ("i4", 52),
        "is_seed": ("i1", 56),
        "in_community": ("i1", 57),
        "mark": ("i8", 64),
    },
    128,
)
#: Numbers in a record, and the place of generation 0, the page itself, among them.
KNOWN_NUMBERS, GENERATION_0 = 16, 9
N_GENERATIONS = 5
#: By URL: the best anchor and context that led to it.
HINT = np.dtype([("anchor", "f8"), ("context", "f8")])
#: By host of the web.
HOST = np.dtype([("n_downloaded", "i4"), ("n_good", "i4")])


class Ranking(NamedTuple):
    """The arrays of the rank function besides its queue."""

    generations: LongArray  #: the records as numbers
    as_scores: FloatArray  #: the same, as the scores whose bits they are
    hints: Records
    hosts: Records
    parent_offset: LongArray  #: by URL of the web: where its parents start, downloaded or not
    parent_page: IntArray
    noted: IntArray  #: for each generation a list of URLs; in the first row one of pages
    n_noted: LongArray
    told: LongArray  #: for each generation
    score: FloatArray  #: one number, seen as such and as its bits
    score_bits: LongArray
    weights: FloatArray  #: one row for each rule
    bounds: LongArray
