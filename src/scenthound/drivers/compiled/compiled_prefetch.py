"""A hint to the processor: this element of an array will be looked at soon.

A crawl of a large web goes from place to place in arrays that no cache holds, and waits for the memory at every step.
What is asked for beforehand comes while something else is done. Importing this file needs numba (the extra `fast`).
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

#: Of the line of a cache.
LINE_BYTES = 64
#: Arguments of LLVM's `prefetch`: to be read, to be kept in all caches, data rather than instructions.
_READ, _KEEP, _DATA = 0, 3, 1


@intrinsic
def _prefetch(_typing: Any, array: Any, _index: Any, _n_bytes: Any) -> tuple[Any, Callable[..., Any]]:
    """Ask for what stands so many bytes behind the start of an element of an array, or of a row of one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        places = [arguments[1]] + [context.get_constant(types.intp, 0)] * (signature.args[0].ndim - 1)
        element = cgutils.get_item_pointer(context, builder, signature.args[0], made, places, wraparound=False)
        address = builder.gep(builder.bitcast(element, cgutils.voidptr_t), [arguments[2]])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        builder.call(hint, [address, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


#: `prefetch(array, index, n_bytes)`, for those who check types.
prefetch = cast(Callable[[Any, int, int], None], _prefetch)
