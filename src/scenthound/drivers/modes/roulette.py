"""The mode `roulette`: the current list of johnson2003 section 2, a stand-in for concurrent connections.

Pages under way stand in a current list of at most `size`. As soon as no more than `refill_at` are left, the best of the
frontier fill it up: they enter with time stamp 1, and the stamps of those that still wait grow by 1. The next page to
come back is drawn by a roulette wheel, in proportion to the stamps: who has waited longer is likelier to be done.

Rules, which compiled crawls keep to the bit
- Stamps grow only when pages were added, not when the strategy had none to give.
- The i-th draw of a crawl is a key of `frontier.keys` for the number i: its upper 53 bits are a number in [0, 1), which
  times the sum of all stamps is the target. Drawn is the first place where the running sum of stamps exceeds it.
- The last page of the list takes the place of the one that was drawn.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, count
from random import Random
from typing import Annotated, ClassVar

from scenthound.drivers.modes.base import Asking, Mode, Returned
from scenthound.errors import BadParameter
from scenthound.frontier.keys import BLOCK_BITS, KEY_BITS, LAST_IN_BLOCK, TieKeys
from scenthound.registry import Bounds

#: A key's lower bits are beyond the precision of a float.
BITS_TOO_MANY = 11
TWO_TO_MINUS_53 = 2.0**-53


@dataclass(frozen=True, slots=True)
class Roulette(Mode):
    """`size` pages under way at most, filled up when `refill_at` are left."""

    name: ClassVar[str] = "roulette"
    summary: ClassVar[str] = "a current list, from which a wheel of fortune draws the next page"

    size: Annotated[int, Bounds(1, 1_000_000)] = 100
    refill_at: Annotated[int, Bounds(0)] = 50

    def __post_init__(self) -> None:
        Mode.__post_init__(self)  # In a dataclass with slots, super() knows another class than the one that is made.
        if self.refill_at >= self.size:
            raise BadParameter(
                f"roulette: a list of size={self.size} has no room when refill_at={self.refill_at} are left; "
                "make refill_at smaller than size."
            )

    def returns(self, asking: Asking, rng: Random) -> Iterator[Returned]:
        wheel = Wheel(rng.getrandbits(KEY_BITS))
        pages: list[int] = []
        stamps: list[int] = []
        for draw in count():
            if len(pages) <= self.refill_at and (asked := asking.ask(self.size - len(pages))):
                stamps = [stamp + 1 for stamp in stamps] + [1] * len(asked)
                pages += asked
            if not pages:
                return
            place = wheel.place(draw, stamps)
            yield Returned(pages[place])
            _fill_with_last(pages, place)
            _fill_with_last(stamps, place)


class Wheel:
    """The roulette wheel of one crawl: the same salt gives the same draws."""

    def __init__(self, salt: int) -> None:
        self._keys = TieKeys(salt)

    def place(self, draw: int, stamps: list[int]) -> int:
        """Where the wheel stops in this draw; places are as wide as their stamps."""
        running = list(accumulate(stamps))
        key = self._keys[draw >> BLOCK_BITS][draw & LAST_IN_BLOCK]
        target = float(key >> BITS_TOO_MANY) * TWO_TO_MINUS_53 * running[-1]
        return bisect_right(running, target)


def _fill_with_last(items: list[int], place: int) -> None:
    items[place] = items[-1]
    items.pop()
