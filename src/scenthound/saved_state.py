"""Attributes of objects as the state of a checkpoint.

A class that is part of a checkpoint lists the attributes that change. Their values are numbers, strings, arrays, or
lists, dictionaries and sets of them; a checkpoint has no sets and only strings as keys, so both are saved as lists.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

State = dict[str, Any]


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


def _saved(value: Any) -> Any:
    if isinstance(value, dict):
        return [list(value.keys()), list(value.values())]
    if isinstance(value, set | frozenset | list | deque | bytearray):
        return list(value)
    return value


def _restored(saved: Any, now: Any) -> Any:
    if isinstance(now, dict):
        restored = type(now)()
        restored.update(dict(zip(*saved, strict=True)))
        return restored
    if isinstance(now, deque):
        return deque(saved, maxlen=now.maxlen)
    return type(now)(saved) if isinstance(now, set | list | bytearray) else saved
