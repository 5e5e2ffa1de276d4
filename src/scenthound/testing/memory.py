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
    `besides`, code and modules do not count."""
    seen = {id(other) for other in besides}
    waiting: list[Any] = [root]
    total = 0
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, _SHARED):
            continue
        seen.add(id(item))
        # The size of an array is that of the numbers it owns; what a view looks at, its base owns.
        total += sys.getsizeof(item)
        waiting += [item.base] if isinstance(item, np.ndarray) else gc.get_referents(item)
    return total
