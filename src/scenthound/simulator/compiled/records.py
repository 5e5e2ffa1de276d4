"""The arrays and records of compiled crawls.

URLs have the numbers of the recorded web, so that the record of a link's target is found in one step. Ties are broken
by order of discovery, as in a plain crawl, so the record contains it. After a crawl only what it has touched is reset:
a crawl of a thousand pages costs the same on a web of millions.

The queue consists of unsorted buckets and one heap. The leading bits of a page's score are its bucket, so that adding
or rescoring a page takes constant time. Only the best bucket is ever sorted.

Invariants of the queue
- All queued pages in buckets from `active` upwards are in the heap, all others in the list of their bucket.
- A queued page has at least one entry where it belongs. Older and duplicate entries are stale: the record of the page
  has its current score and bucket, and stale entries are skipped.
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
UNSEEN, UNKNOWN, POPPED = -3, -1, -2

#: By URL of the web. `bits` are those of `score`; `number` is in order of discovery, and breaks ties. The
#: wide record of a rank function begins with the same fields.
QUEUED_FIELDS = {"score": ("f8", 0), "bits": ("u8", 0), "bucket": ("i4", 8), "number": ("i4", 12)}


def record_type(fields: dict[str, tuple[str, int]], n_bytes: int) -> np.dtype[np.void]:
    """A record type from formats and offsets; fields may overlap."""
    formats, offsets = [kind for kind, _ in fields.values()], [offset for _, offset in fields.values()]
    return np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": n_bytes})


def state_type(integers: str, floats: str = "", *others: tuple[str, str]) -> np.dtype[np.void]:
    """A record type with fields of these names."""
    return np.dtype([(name, "i8") for name in integers.split()] + [(name, "f8") for name in floats.split()] + [*others])


QUEUED = record_type(QUEUED_FIELDS, 16)
#: The entries of the heap.
ENTRY = np.dtype([("score", "f8"), ("key", "u8"), ("page", "i8")])

QUEUE_STATE = state_type("active heap_size heap_limit n_blocks free_block n_free by_number", "", ("salt", "u8"))


class Queue(NamedTuple):
    """`set_words` has a bit for each bucket that is not empty, `set_groups` one for each word that is not 0."""

    pages: Records
    heap: Records
    slots: IntArray
    before: IntArray  #: the previous block of each block in its chain, or the next free one
    tail: IntArray
    set_words: WordArray
    set_groups: WordArray
    state: Records  #: one `QUEUE_STATE`


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
        np.zeros(1, QUEUE_STATE),
    )
    queue.state["by_number"] = by_number
    return queue


class Stop(IntEnum):
    """Why the compiled loop returned: the crawl has ended, or something is needed."""

    BUDGET = 0
    EMPTY = 1
    NEEDS_RELEVANCE = 2
    NEEDS_LINK_SCORES = 3
    NEEDS_ROOM = 4


#: The state of a crawl, and its settings under the names that `strategies.kernels` has for them. `pending` is the URL
#: that was fetched but not yet passed to the strategy, -1 if there is none.
CRAWL_STATE = state_type(
    """
    loop budget most_links n_found n_visited n_missing n_repeated n_evicted pending
    rule by_context queue_size drops_new fifo_first fifo_end frontier_first frontier_end
    round_size n_in_round n_to_fill
    list_size refill_at n_current n_to_refill is_new_refill n_draws
    seeds_first reshare_every revises_again keeps_when_hopeless n_rounds
    n_links n_seen hub_over_max split_by n_weighed deepest
    counts_community renews_siblings weighs_link_scores weighs_hosts weighs_cash
    """,
    "page_weight strength flatness threshold score_range circulating",
)

#: `rule`: the score of a page that is found again.
HIGHEST, LATEST, FIRST = range(3)
#: `split_by`: what selects one of several rank functions for a URL.
BY_NOTHING, BY_DISTANCE, BY_PHASE = range(3)


class Web(NamedTuple):
    """The visible links, with and without repetitions, and their targets; read-only."""

    link_offset: LongArray
    link_url: IntArray
    link_index: LongArray  #: the index among all links of the web
    distinct_offset: LongArray
    distinct_url: IntArray
    url_page: IntArray
    url_host: IntArray


class ScoreArrays(NamedTuple):
    """Scores of recorded pages and of all their links; NaN, or 0 in `has_links`, if they are not known yet."""

    relevance: FloatArray
    contexts: FloatArray
    anchors: FloatArray
    has_links: npt.NDArray[np.uint8]


class CrawlArrays(NamedTuple):
    """The arrays of every crawl."""

    found: IntArray  #: URLs in order of discovery
    visit_of: IntArray  #: by recorded page, -1 if not visited
    visits: IntArray  #: recorded pages in order
    fifo: IntArray
    current: IntArray
    stamps: LongArray
    wheel_salt: WordArray
    frontier: Records  #: a bounded frontier, the best first
    frontier_keys: FloatArray  #: by URL
    round: IntArray
    mt_state: WordArray  #: the state of the Mersenne Twister
    state: Records  #: one `CRAWL_STATE`


#: The entries of a bounded frontier.
FRONTIER_ENTRY = np.dtype([("score", "f8"), ("key", "f8"), ("page", "i8")])

#: `location` of a page's cash (`strategies.cash`): its score in the queue, `held`, or lost.
IN_QUEUE, HELD, LOST = range(3)
#: By URL. `relevance` is -1 before the visit; `mark` is `UNMARKED` except while a page shares its cash.
CASH = np.dtype([("held", "f8"), ("relevance", "f8"), ("promised", "f8"), ("location", "i4"), ("mark", "i4")])
UNMARKED, PROMISED, COUNTED = -1, 0, -2

#: By URL: what a rank function knows of it, in two cache lines. `page` is the recorded page, -1 before the visit;
#: `mark` are the generations for which the URL is listed. The second line is also read as numbers: its generations.
KNOWN = record_type(
    {
        **QUEUED_FIELDS,
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
#: Numbers in a record, and the index of generation 0, the page itself, among them.
KNOWN_NUMBERS, GENERATION_0 = 16, 9
N_GENERATIONS = 5
#: By URL: the highest scores of anchors and contexts of links to it.
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
    listed: IntArray  #: for each generation a list of URLs; in the first row the parents of a page, as pages
    n_listed: LongArray
    passed: LongArray  #: what a page passes to each generation of its links
    score: FloatArray  #: one number, read as such and as its bits
    score_bits: LongArray
    weights: FloatArray  #: one row for each rule
    bounds: LongArray
