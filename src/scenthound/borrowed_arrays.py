"""Arrays without reference counts, for compiled functions.

numba counts references to every array of a tuple whenever the tuple is passed to a function. Where functions are small
and tuples have many arrays, that takes ten times as long as the work itself. A function that Python calls therefore
borrows its arrays, and passes them on like that. Importing this module needs numba (the extra `fast`).

Rules
- Borrow only what lives longer than the borrowed array is used: arguments, or arrays that the function returns.
- The type is an array type of numba's in all but its data model (see "Low-level extension API" in its documentation).
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.extending import intrinsic, register_model

Arrays = TypeVar("Arrays")

# numba has type hints for a part of them only.
types: Any = numba.types
models: Any = numba.extending.models


class BorrowedArray(types.Array):  # type: ignore[misc]
    """The type of an array whose owner lives longer."""

    def __init__(self, array: Any) -> None:
        name = f"borrowed {array.name}"
        super().__init__(array.dtype, array.ndim, array.layout, not array.mutable, name, array.aligned)

    def copy(self, *changes: Any, **named_changes: Any) -> "BorrowedArray":
        """The type of a view, for example of a slice."""
        return BorrowedArray(super().copy(*changes, **named_changes))


@register_model(BorrowedArray)
class _BorrowedModel(models.StructModel):  # type: ignore[misc]
    """The data model of an array, with a plain pointer instead of the counted one."""

    def __init__(self, manager: Any, array: BorrowedArray) -> None:
        sizes = types.UniTuple(types.intp, array.ndim)
        members = [
            ("meminfo", types.voidptr),
            ("parent", types.pyobject),
            ("nitems", types.intp),
            ("itemsize", types.intp),
            ("data", types.CPointer(array.dtype)),
            ("shape", sizes),
            ("strides", sizes),
        ]
        super().__init__(manager, array, members)


@intrinsic
def _borrowed(_typing: Any, arrays: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _borrow(context, builder, signature.args[0], arguments[0])

    return _borrowed_type(arrays)(arrays), generate


def _borrowed_type(kind: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        parts = [_borrowed_type(each) for each in kind]
        return types.BaseTuple.from_types(parts, getattr(kind, "instance_class", None))
    return BorrowedArray(kind) if type(kind) is types.Array else kind


def _borrow(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        values = (builder.extract_value(value, index) for index in range(len(kind)))
        parts = [_borrow(context, builder, each, part) for each, part in zip(kind, values, strict=True)]
        return context.make_tuple(builder, _borrowed_type(kind), parts)
    if type(kind) is not types.Array:
        return value
    # Both types have the same fields in the same order; the first two are the owner.
    no_owner = context.get_constant_null(types.voidptr)
    return builder.insert_value(builder.insert_value(value, no_owner, 0), no_owner, 1)


#: `borrowed(arrays)` for type checkers: an array, or a tuple of arrays, tuples and numbers.
borrowed = cast(Callable[[Arrays], Arrays], _borrowed)
