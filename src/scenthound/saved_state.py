"""Attributes of objects as the state of a checkpoint.

A class that is part of a checkpoint lists the attributes that change. Their values are numbers, strings, arrays, or
lists, dictionaries and sets of them; a checkpoint has no sets and only strings as keys, so both are saved as lists.
Other objects have `state` and `restore` themselves.
"""

from collections import deque
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Protocol, runtime_checkable

State = dict[str, Any]


@runtime_checkable
class Stateful(Protocol):
    """An object that is part of a checkpoint."""

    def state(self) -> Any:
        """What `restore` needs."""

    def restore(self, state: Any) -> None:
        """Continue from a `state`, on a new object."""


def saved_attributes(instance: object, names: Sequence[str]) -> State:
    """Copies of the attributes, by their names without underscore."""
    return {name.lstrip("_"): _saved(getattr(instance, name)) for name in names}


def restore_attributes(instance: object, names: Sequence[str], state: State) -> None:
    """Set attributes to what was saved, as the types that they have now. Those that the state lacks stay as they are:
    earlier versions did not have them."""
    for name in names:
        key = name.lstrip("_")
        if key in state:
            setattr(instance, name, _restored(state[key], getattr(instance, name)))


class Saved:
    """An object whose state is the attributes that it names."""

    _SAVED: ClassVar[Sequence[str]]

    def state(self) -> State:
        return saved_attributes(self, self._SAVED)

    def restore(self, state: State) -> None:
        restore_attributes(self, self._SAVED, state)


def _saved(value: Any) -> Any:
    if isinstance(value, Stateful):
        return value.state()
    if isinstance(value, dict):
        return [list(value.keys()), list(value.values())]
    if isinstance(value, set | frozenset | list | deque | bytearray):
        return list(value)
    return value


def _restored(saved: Any, now: Any) -> Any:
    if isinstance(now, Stateful):
        now.restore(saved)
        return now
    if isinstance(now, dict):
        restored = type(now)()
        restored.update(dict(zip(*saved, strict=True)))
        return restored
    if isinstance(now, deque):
        return deque(saved, maxlen=now.maxlen)
    for kind in (str, Real):
        if isinstance(now, kind) and not isinstance(saved, kind | None):
            raise TypeError(f"{saved!r:.60} was saved, where {now!r:.60} is now")
    return type(now)(saved) if isinstance(now, set | list | bytearray) else saved
