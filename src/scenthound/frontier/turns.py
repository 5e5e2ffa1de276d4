"""Turns: which hosts may be asked in one answer, each of them once.

A driver has one connection per host, so a second page of a host in the same answer could only wait. An answer is put
together from several takes; `Turns` is what they share.

Rules
- The driver is asked about a host at most once: what it says holds for the whole answer.
- A host that was given its turn may not be asked any more, and yet it does not rest: nobody regrets what waits there.
- Made anew for each answer. Without a `ready` there is no politeness to keep and there are no turns.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Self, overload

#: Tells whether a host may be asked now.
Ready = Callable[[int], bool]


class Turns:
    """A `Ready` that remembers, and that is told who had its turn. Answers are kept in sets, which for the thousands of
    hosts that may rest takes a third of the time of `functools.cache`."""

    __slots__ = ("_awake", "_ready", "_resting", "given")

    def __init__(self, ready: Ready) -> None:
        self._ready = ready
        self._awake: set[int] = set()
        self._resting: set[int] = set()
        self.given: set[int] = set()

    @overload
    @classmethod
    def of(cls, ready: None) -> None: ...

    @overload
    @classmethod
    def of(cls, ready: Ready) -> Self: ...

    @classmethod
    def of(cls, ready: Ready | None) -> Self | None:
        """The turns of an answer in which these hosts are ready; turns already made go on."""
        return ready if ready is None or isinstance(ready, cls) else cls(ready)

    def __call__(self, host: int) -> bool:
        """Whether the host may be asked: it is ready and had no turn yet."""
        return host not in self.given and not self.rests(host)

    def give(self, host: int) -> None:
        """The host has its turn now."""
        self.given.add(host)

    def rests(self, host: int) -> bool:
        """Whether the host is at rest, had it a turn or not."""
        if host in self._resting:
            return True
        if host in self._awake:
            return False
        (self._awake if (is_ready := self._ready(host)) else self._resting).add(host)
        return not is_ready

    def places(self, hosts: Iterable[int]) -> Iterator[int]:
        """Where the hosts stand that may be asked; nobody is asked about in advance."""
        ready, awake, resting, given = self._ready, self._awake, self._resting, self.given
        for place, host in enumerate(hosts):
            # What `rests` does, without a call for each of thousands.
            if host in resting or (host not in awake and not ready(host)):
                resting.add(host)
                continue
            awake.add(host)
            if host not in given:
                yield place
