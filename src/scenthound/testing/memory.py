"""How many bytes an object holds, with all that hangs on it."""

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

#: Shared by everybody, so held by nobody.
_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def bytes_held(root: object, *, besides: Iterable[object] = ()) -> int:
    """The bytes of `root` and of everything that can be reached from it, each object once; what is reached only through
    `besides`, code, modules and classes, attributes of classes included, do not count."""
    seen = {id(other) for other in besides}
    waiting: list[Any] = [root]
    total = 0
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if not isinstance(item, _SHARED):
            # The size of an array is that of the numbers it owns; what a view looks at, its base owns.
            total += sys.getsizeof(item)
        waiting += _held_by(item)
    return total


def _held_by(item: Any) -> Iterable[Any]:
    if isinstance(item, np.ndarray):
        return [item.base, *(item.ravel().tolist() if item.dtype.hasobject else ())]
    if isinstance(item, FunctionType):
        # Its code is everybody's, but what it has closed over is its own.
        return item.__closure__ or ()
    if isinstance(item, BuiltinFunctionType | MethodType):
        return [item.__self__]
    return () if isinstance(item, _SHARED) else gc.get_referents(item)
