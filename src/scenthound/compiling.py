"""Functions compiled by numba (the extra `fast`), and kept on disk for later runs.

Importing this file needs numba. Functions that call each other stand in one file: what is kept goes by the age of the
file that a function stands in, whatever has changed in those it calls.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])

# No counting, and no entrance from Python, which takes half of the time of compiling.
_PART: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: Function) -> Function:
    """The function compiled when it is first called, and kept on disk where there is a place for it."""
    try:
        return cast(Function, njit(cache=True)(function))
    except RuntimeError:
        # Neither the package's folder nor one of the user's can be written to.
        return cast(Function, njit(function))


def compiled_part(function: Function) -> Function:
    """A function that only compiled ones call, with which it is kept, and that makes no arrays.

    Nobody counts who holds the arrays that it is given: where a call does little, that takes longer than the call."""
    return cast(Function, njit(**_PART)(function))
