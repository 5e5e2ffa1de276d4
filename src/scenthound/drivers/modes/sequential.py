"""The mode `sequential`: one page after the other, as in the studies of 2001 and 2002.

A strategy with rounds (Best-N-First) keeps the rest of a round itself, so that asking for single pages visits whole
rounds: pop N, visit all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from scenthound.drivers.modes.base import Asking, Mode, Returned


@dataclass(frozen=True, slots=True)
class Sequential(Mode):
    """The next page is asked for when the one before it has been told."""

    name: ClassVar[str] = "sequential"
    summary: ClassVar[str] = "one page after the other"

    def returns(self, asking: Asking, rng: Random) -> Iterator[Returned]:
        while asked := asking.ask(1):
            yield Returned(asked[0])


SEQUENTIAL = Sequential()
