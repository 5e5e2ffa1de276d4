"""Modes of the simulator: in which order the pages that a strategy asks for come back (SPEC section 4).

sequential   one page after the other, each told before the next is asked for
roulette     a current list of pages under way, from which a wheel of fortune draws the next (johnson2003)
polite       workers, and hosts that rest between two pages, in simulated time (wang2009)

A mode is a value, written `name:parameter=value,...`, and prints as it parses. Modes are part of the simulator and no
plug-ins, because compiled crawls must know them too.
"""

from collections.abc import Callable

from scenthound.drivers.modes.base import Mode
from scenthound.drivers.modes.polite import Polite
from scenthound.drivers.modes.roulette import Roulette
from scenthound.drivers.modes.sequential import SEQUENTIAL, Sequential
from scenthound.errors import UnknownName
from scenthound.registry import Registry

__all__ = ["MODES", "SEQUENTIAL", "Mode", "Polite", "Roulette", "Sequential", "parse_mode"]


class _Modes(Registry[Mode]):
    """Reads and makes modes as other registries do plug-ins, but from this list."""

    _kinds: tuple[type[Mode], ...] = (Sequential, Roulette, Polite)

    def __init__(self) -> None:
        super().__init__("mode", group="", must_be=Mode)

    def names(self) -> list[str]:
        return sorted(kind.name for kind in self._kinds)

    def factory(self, name: str) -> Callable[..., Mode]:
        for kind in self._kinds:
            if kind.name == name:
                return kind
        raise UnknownName.among(self.kind, name, self.names())


MODES = _Modes()


def parse_mode(text: str) -> Mode:
    """The mode that a text like `roulette:size=100,refill_at=50` names."""
    return MODES.make(text)
