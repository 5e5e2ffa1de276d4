"""Functions compiled by numba (the extra `fast`) and cached on disk.

Rules
- Callers check `is_available` before they import a module of compiled functions: importing one needs numba.
- Cached code is never stale. Compiled functions call each other across modules and use each other's constants, so the
  cache folder of a module is named by a digest of its source, of all modules of its package that it imports, directly
  or not, and of numba's version. These imports are at the top of a module, with full names.
- The cache is in `$NUMBA_CACHE_DIR/scenthound` or in the user's cache folder. Without a writable folder nothing is
  cached.
"""

import linecache
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from time import time
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

#: Cache folders that no process used for so long are removed.
UNUSED_S = 30 * 86_400.0
#: How often the time of the last use is noted.
_NOTED_EVERY_S = 86_400.0
_DIGEST_CHARACTERS = 32
_DIGEST = re.compile(rf"[0-9a-f]{{{_DIGEST_CHARACTERS}}}")
_IMPORT = re.compile(r"^(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w.]+))", re.MULTILINE)
#: The last byte of a pickle, and so of all files that numba writes.
_END_OF_PICKLE = b"."

_lock = Lock()
#: Set when the first function of this process is compiled.
_is_reported = False


def _ignore(_cache_folder: Path | None) -> None:
    """Say nothing."""


#: Called once, before the first function is compiled in this process or in one of its workers: assign a function to
#: report it. Not called for cached code. The argument is the cache folder; None if nothing can be cached.
on_compile: Callable[[Path | None], None] = _ignore


@cache
def is_available() -> bool:
    """Whether numba can be imported and may compile (NUMBA_DISABLE_JIT is not set). Imports numba."""
    try:
        numba = import_module("numba")
    except Exception:  # noqa: BLE001 - whatever is wrong with it, everything works without
        return False
    return not numba.config.DISABLE_JIT


def is_loaded() -> bool:
    """Whether numba is imported already and may compile, so that using compiled code costs little."""
    return sys.modules.get("numba") is not None and is_available()


def cached_njit(function: Function) -> Function:
    """Compile the function when it is first called, or load it from the cache: for functions that Python calls.

    Loading one takes some milliseconds; functions that only compiled code calls are `jitable`."""
    numba = import_module("numba")
    if not is_available():
        return function
    folder = _cache_folder(function.__module__)
    dispatcher = numba.njit(function) if folder is None else _cached(numba, function, folder)
    _listener().dispatchers.append(dispatcher)
    return cast(Function, dispatcher)


def jitable(function: Function) -> Function:
    """Compile the function with the functions that call it, with which it is cached. Called by Python, it is plain
    Python."""
    return cast(Function, import_module("numba").extending.register_jitable(function))


def inline_jitable(function: Function) -> Function:
    """Like `jitable`, but inlined into each function that calls it: for small functions with many array arguments,
    because an array is passed as seven numbers."""
    return cast(Function, import_module("numba").extending.register_jitable(forceinline=True)(function))


def report_compiling(cache_folder: Path | None) -> None:
    """Call `on_compile`, unless it was called before."""
    global _is_reported
    with _lock:
        was_reported, _is_reported = _is_reported, True
    if not was_reported:
        on_compile(cache_folder)


@cache
def _listener() -> Any:
    """Told by numba about every compilation; it reports those of our functions."""
    event = import_module("numba.core.event")

    class Listener(event.Listener):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.dispatchers: list[Any] = []

        def on_start(self, event: Any) -> None:
            compiled = event.data["dispatcher"]
            if any(compiled is each for each in self.dispatchers):
                report_compiling(_cache_folder(compiled.py_func.__module__))

        def on_end(self, event: Any) -> None:
            pass

    listener = Listener()
    event.register("numba:compile", listener)
    return listener


def _cached(numba: Any, function: Function, folder: Path) -> Any:
    with _lock:
        # numba reads it when a function is decorated. Other packages keep their own cache folder.
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            return numba.njit(cache=True)(function)
        except RuntimeError:  # A function without a source file cannot be cached.
            return numba.njit(function)
        finally:
            numba.config.CACHE_DIR = before


@cache
def _cache_folder(module_name: str) -> Path | None:
    """The cache folder of the functions of a module; None if it cannot be written to."""
    import tempfile

    try:
        root = _cache_root()
        folder = root / _digest(module_name)
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        if time() - folder.stat().st_mtime > _NOTED_EVERY_S:
            os.utime(folder)
        _remove_damaged(folder)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder.
        return None
    return folder


@cache
def _cache_root() -> Path:
    """The folder of all cache folders, which is tidied up."""
    chosen = import_module("numba").config.CACHE_DIR
    if chosen:
        root = Path(chosen).absolute() / "scenthound"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scenthound" / "numba"
    remove_unused(root)
    return root


def remove_unused(root: Path) -> None:
    """Remove cache folders that no process used for `UNUSED_S`. One that is used meanwhile is made again."""
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if _DIGEST.fullmatch(entry.name) and time() - entry.stat().st_mtime > UNUSED_S:
                shutil.rmtree(entry.path, ignore_errors=True)


def _remove_damaged(folder: Path) -> None:
    """Remove files that were cut off, after a power failure for example: numba would raise an error."""
    for path in folder.glob("*/*.nb[ic]"):
        # Another process may have removed it.
        with suppress(FileNotFoundError):
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - 1))
                is_whole = file.read() == _END_OF_PICKLE
            if not is_whole:
                path.unlink()


def _digest(module_name: str) -> str:
    """Changes when the module changes, or one of its package that it depends on, or numba."""
    import hashlib

    names = [module_name]
    digest = hashlib.sha256(import_module("numba").__version__.encode())
    for name in names:
        module = sys.modules[name]
        source = "".join(linecache.getlines(str(module.__file__), vars(module)))
        digest.update(f"\n{name}\n{source}".encode())
        names += sorted({found for found in _imported(source, module_name) if found not in names})
    return digest.hexdigest()[:_DIGEST_CHARACTERS]


def _imported(source: str, importer: str) -> Iterator[str]:
    """The modules of the importer's package that a source imports."""
    package = importer.partition(".")[0]
    for module, names, direct in _IMPORT.findall(source):
        of_module = (f"{module}.{name}" for name in re.findall(r"\w+", names))
        for name in (module, direct, *of_module):
            # What is imported from a module may be a module too, or anything.
            if name.partition(".")[0] == package and name in sys.modules:
                yield name
