"""Taking the best pages one after the other while hosts that rest, or had their turn, are passed over.

It is for the frontiers in plain Python, which hand out their entries best first: what `take` and `take_in_turns` mean.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from scenthound.frontier.base import Taken
from scenthound.frontier.turns import Turns

#: (score or its negative, tie-breaking key, page, host)
Entry = TypeVar("Entry", bound=tuple[float, float, int, int])


def take_ready(
    n: int,
    turns: Turns,
    best_first: Iterator[Entry],
    leave: Callable[[Entry, Entry | None], Taken],
    *,
    in_turns: bool,
) -> tuple[list[Taken], list[Entry]]:
    """The best n pages that may be asked for, and the entries passed over, which are to be put back.

    `leave` takes a page out of the frontier; it is told the best entry that waits on a host at rest, for the regret.
    With `in_turns`, the host of a page taken has had its turn then."""
    rests, given = turns.rests, turns.given
    taken: list[Taken] = []
    passed: list[Entry] = []
    at_rest: Entry | None = None
    while len(taken) < n and (entry := next(best_first, None)):
        host = entry[3]
        if rests(host):
            at_rest = at_rest or entry
            passed.append(entry)
        elif host in given:
            passed.append(entry)
        else:
            taken.append(leave(entry, at_rest))
            if in_turns:
                turns.give(host)
    return taken, passed
