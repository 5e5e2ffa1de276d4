"""Search length: how many pages a crawl takes until it has found a share of what is relevant (menczer2001)."""

from math import ceil, nan

import numpy as np

from scenthound.errors import BadParameter
from scenthound.model import IntArray, Trace

#: What a product of a share and a whole number may be off by.
_ROUNDING = 1e-9


def search_length(trace: Trace, relevant: IntArray, share: float) -> float:
    """The pages visited until at least this share of the relevant ones is among them; not-a-number if that was never
    so, or nothing is relevant. Pass the relevant pages without the seeds, or else those count as found."""
    if not 0 < share <= 1:
        raise BadParameter(f"The share of the relevant pages is {share}; it must be more than 0 and at most 1.")
    n_wanted = max(1, ceil(share * len(relevant) - _ROUNDING))
    found_at = np.flatnonzero(np.isin(trace.pages, relevant))
    return float(found_at[n_wanted - 1] + 1) if len(found_at) >= n_wanted else nan
