"""The priority frontier: pages that wait to be asked for, best first.

`base` says what every frontier answers, `bounded` and `unbounded` hold the pages. An unbounded one is `plain` while it
is small and `compiled` when it is not.
"""

from random import Random

from scenthound.frontier.base import FrontierState, PriorityFrontier, Taken
from scenthound.frontier.bounded import BoundedFrontier
from scenthound.frontier.turns import Ready, Turns
from scenthound.frontier.unbounded import UnboundedFrontier

__all__ = ["FrontierState", "PriorityFrontier", "Ready", "Taken", "Turns", "priority_frontier"]


def priority_frontier(capacity: int | None, rng: Random) -> PriorityFrontier:
    """A frontier of at most `capacity` pages, or one without bound."""
    return UnboundedFrontier(rng) if capacity is None else BoundedFrontier(capacity, rng)
