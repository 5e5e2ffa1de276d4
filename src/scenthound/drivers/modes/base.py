"""What a mode of the simulator is: the order in which pages that a strategy asked for come back.

Rules
- A mode asks the strategy and yields each page asked for once, when it comes back. Before the mode is resumed, the
  strategy has been told of that page, or told to drop it.
- It does not know which pages can be had. One that cannot be had comes back like any other.
- When nothing is left that could come back, it returns, and the crawl is over. A crawl whose budget is spent does not
  resume it.
- What is random in it comes from the crawl's generator, after the strategy took what it needs to start.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, Protocol

from scenthound.frontier.priority import Ready
from scenthound.registry import NamedValue


class Asking(Protocol):
    """All that a mode may do with the strategy of a crawl."""

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """At most n pages to get, as `Strategy.ask` answers."""

    def n_waiting(self) -> int:
        """How many pages the strategy could be asked for."""

    def host(self, page: int) -> int:
        """The host of a page that was asked for."""


class Returned(NamedTuple):
    """A page that came back, and the simulated moment if the mode has a clock."""

    page: int
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class Mode(NamedValue, ABC):
    """A mode with its parameters, which are the fields of its dataclass."""

    @abstractmethod
    def returns(self, asking: Asking, rng: Random) -> Iterator[Returned]:
        """The pages asked for, in the order in which they come back."""
