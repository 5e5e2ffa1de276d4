"""The vote of several judges: harvest rate (wang2009) counts pages that at least two of its three judges accept."""

from collections.abc import Sequence

import numpy as np

from scenthound.errors import BadParameter
from scenthound.model import BoolArray


def vote(accepted: Sequence[BoolArray]) -> BoolArray:
    """Whether more than half of the judges accept each page: of three at least two. Each judge gives one array."""
    if not len(accepted):
        raise BadParameter("Nobody voted: a vote needs the verdicts of at least one judge.")
    majority: BoolArray = 2 * np.sum(accepted, axis=0) > len(accepted)
    return majority
