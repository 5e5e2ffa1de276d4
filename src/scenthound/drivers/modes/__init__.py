"""Modes of the simulator: in which order the pages that a strategy asks for come back (SPEC section 4).

sequential   one page after the other, each told before the next is asked for
roulette     a current list of pages under way, from which a wheel of fortune draws the next (johnson2003)
polite       workers, and hosts that rest between two pages, in simulated time (wang2009)

A mode is a value, written `name:parameter=value,...`, and prints as it parses. Modes are part of the simulator and no
plug-ins, because compiled crawls must know them too.
"""

from scenthound.drivers.modes.base import Mode
from scenthound.drivers.modes.polite import Polite
from scenthound.drivers.modes.roulette import Roulette
from scenthound.drivers.modes.sequential import SEQUENTIAL, Sequential
from scenthound.registry import ListedRegistry

__all__ = ["MODES", "SEQUENTIAL", "Mode", "Polite", "Roulette", "Sequential", "parse_mode"]

MODES: ListedRegistry[Mode] = ListedRegistry("mode", (Sequential, Roulette, Polite))


def parse_mode(text: str) -> Mode:
    """The mode that a text like `roulette:size=100,refill_at=50` names."""
    return MODES.make(text)
