"""What a simulated crawl did."""

from dataclasses import dataclass

from scenthound.drivers.ended import Ended
from scenthound.model import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Crawl:
    """What a simulated crawl did: its pages in order, what the strategy was told of them, and what it cost."""

    pages: IntArray
    relevance: FloatArray
    #: Of the strategy and of the scores it looks at, per page got; fetching is not in it. Not-a-number: not measured.
    cpu_us: FloatArray
    ended: Ended
    n_missing: int
    n_repeated: int
    #: The simulated moment of each visit, where the mode has a clock.
    time_s: FloatArray | None = None
