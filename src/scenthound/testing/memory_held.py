"""The memory that a strategy holds."""

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

#: Shared by all objects, so not counted.
_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def bytes_held(root: object, *, besides: Iterable[object] = ()) -> int:
    """The bytes of `root` and of everything reachable from it, each object once. Code, modules, classes and what is
    reachable only through `besides` do not count."""
    seen = {id(other) for other in besides}
    pending: list[Any] = [root]
    total = 0
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if not isinstance(item, _SHARED):
            # The size of an array is that of the data it owns; the data of a view belong to its base.
            total += sys.getsizeof(item)
        pending += _held_by(item)
    return total


def _held_by(item: Any) -> Iterable[Any]:
    if isinstance(item, np.ndarray):
        return [item.base, *(item.ravel().tolist() if item.dtype.hasobject else ())]
    if isinstance(item, FunctionType):
        # Its code is shared, but its closure is its own.
        return item.__closure__ or ()
    if isinstance(item, BuiltinFunctionType | MethodType):
        return [item.__self__]
    return () if isinstance(item, _SHARED) else gc.get_referents(item)


def largest_attributes(owner: object, *, besides: Iterable[object] = (), at_most: int = 3) -> str:
    """The attributes that hold most bytes, as text. What two of them share counts for both."""
    shared = list(besides)
    held = {name: bytes_held(value, besides=shared) for name, value in vars(owner).items()}
    largest = sorted(held, key=lambda name: -held[name])[:at_most]
    return ", ".join(f"{name} {held[name]:,}" for name in largest)
