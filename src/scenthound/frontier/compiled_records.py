"""What the large unbounded frontier keeps in its arrays, and what holds of it whenever no compiled code is at work.

Places: the record of page p is `pages[p + 1]`, so that 0 can mean "none"; the record of host h is `hosts[h]`.

Invariants
- The pages that wait on a host form one pairing heap (Fredman, Sedgewick, Sleator, Tarjan: The pairing heap, 1986) with
  its root at `best` of the host. `child` is a page's first child, `next` and `previous` are its siblings, `up` is its
  parent. A page whose score rises stays where it is until it passes its parent, so most changes touch two records.
- The host of a page that waits is found from the page itself, whatever the caller says. It stands where a root has no
  parent and a first child no sibling before it, as -1 - host; so that each page has it at most two records away.
- The first `N_RANKED` entries of `ranking` are a binary heap of hosts with waiting pages, each with its best page;
  `rank` of a host is its place there plus 1.
- Hosts that were looked at and passed over are out of it with `rank` 0: they stand, best first, in `aside`, which is
  kept from one take to the next. A host whose best page changes takes a rank again; its entry aside is a ghost then,
  and is cleared away before the next look.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import LongArray

Records = npt.NDArray[np.void]
#: Of pages, hosts and ranking, and `numbers`.
Arrays = tuple[Records, Records, Records, LongArray]

#: 24 bytes per page. `up` is 0 if the page is unknown, TAKEN if it was taken.
PAGE = np.dtype([("score", "f8"), ("up", "i4"), ("child", "i4"), ("next", "i4"), ("previous", "i4")])
HOST = np.dtype([("best", "i4"), ("rank", "i4")])
#: A page and its host by number: what a batch, the ranking, and the answer of a take are made of.
ENTRY = np.dtype([("score", "f8"), ("page", "i4"), ("host", "i4")])
#: An entry whose fields nobody wants to know.
BYTES = np.dtype((np.void, ENTRY.itemsize))


class Heaps(NamedTuple):
    """All that the compiled functions share."""

    pages: Records
    hosts: Records
    ranking: Records
    numbers: LongArray
