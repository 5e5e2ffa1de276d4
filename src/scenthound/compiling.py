"""Functions compiled by numba (the extra `fast`), and kept on disk for later runs.

Rules
- Who wants to use compiled functions asks `can_compile` first, and imports their files then: that needs numba.
- What is kept goes by the file that a function stands in and by all files of its package that it imports, and that
  those import: compiled functions may call each other across files, and use each other's numbers.
- These imports stand at the top of a file, under full names.
"""

import hashlib
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

# No counting, and no entrance from Python, which takes half of the time of compiling.
_PART: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_IMPORT = re.compile(r"^(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w.]+))", re.MULTILINE)


@cache
def can_compile() -> bool:
    """Whether there is a numba, of a version that goes with the numpy there is. Asking loads it."""
    try:
        import_module("numba")
    except Exception:  # noqa: BLE001 - whatever is wrong with it, all can be done without
        return False
    return True


def is_loaded() -> bool:
    """Whether somebody has loaded numba, so that compiled code costs little to load."""
    return sys.modules.get("numba") is not None


def _njit(function: Function, **options: Any) -> Any:
    return import_module("numba").njit(**options)(function)


def compiled(function: Function) -> Function:
    """The function compiled when it is first called, and kept on disk where there is a place for it.

    Each takes some milliseconds to load, so it is for what Python calls; see `compiled_part`."""
    made = _njit(function)
    # Raised where neither the package's folder nor one of the user's can be written to.
    with suppress(RuntimeError):
        _keep(made, function.__module__)
    return cast(Function, made)


def compiled_part(function: Function) -> Function:
    """A function that only compiled ones call, with which it is kept, and that makes no arrays. Python would crash.

    Nobody counts who holds the arrays that it is given: where a call does little, that takes longer than the call."""
    return cast(Function, _njit(function, **_PART))


def compiled_inline(function: Function) -> Function:
    """Like `compiled_part`, but compiled anew into each function that calls it: for what is given many arrays and does
    little, because an array is handed over as seven numbers."""
    return cast(Function, _njit(function, **_PART, forceinline=True))


def _keep(dispatcher: Any, module_name: str) -> None:
    """Let numba keep the code on disk, by a stamp of our own, and load it in a way of our own."""
    dispatcher.enable_caching()
    kept = dispatcher._cache
    # numba's own is of the function's file alone.
    kept._cache_file._source_stamp = _stamp(module_name)
    kept.load_overload = partial(_load, kept)


def _load(kept: Any, signature: Any, target: Any) -> Any:
    """The compiled code for a signature; None if it is not there, or damaged: then it is compiled anew.

    numba's own way begins with all that its compiler knows, scipy's BLAS included, which takes a third of a second. To
    run compiled code only that is needed which counts its arrays, and whoever compiles loads the rest anyway."""
    import_module("numba.core.runtime.nrt").rtsys.initialize(target)
    try:
        return kept._load_overload(signature, target)
    except Exception:  # noqa: BLE001 - of what is damaged anything may be raised
        with suppress(OSError):
            # Forgotten, or else what is compiled now could not be added to it.
            kept._cache_file.flush()
        return None


@cache
def _stamp(module_name: str) -> str:
    """What changes when the module changes, or one of its package that it depends on."""
    names = [module_name]
    digest = hashlib.sha256()
    for name in names:
        module = sys.modules[name]
        source = "".join(linecache.getlines(str(module.__file__), vars(module)))
        digest.update(f"{name}\n{source}".encode())
        names += sorted({found for found in _imported(source, module_name) if found not in names})
    return digest.hexdigest()


def _imported(source: str, importer: str) -> Iterator[str]:
    """The modules of the importer's package that a source imports."""
    package = importer.partition(".")[0]
    for module, names, direct in _IMPORT.findall(source):
        of_module = (f"{module}.{name}" for name in re.findall(r"\w+", names))
        for name in (module, direct, *of_module):
            # What is imported from a module may be a module too, or anything.
            if name.partition(".")[0] == package and name in sys.modules:
                yield name
