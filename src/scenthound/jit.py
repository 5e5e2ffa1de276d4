"""Functions compiled by numba (the extra `fast`) and cached on disk.

Rules
- Callers check `is_available` before they import a module of compiled functions: importing one needs numba.
- Compilation is never silent: `on_compile` is called when it starts and every `REPORT_EVERY_S` while it lasts.
- Cached code is never stale. Compiled functions call each other across modules and use each other's constants, so the
  cache folder of a module is named by a digest of its source, of all modules of its package that it imports, directly
  or not, and of numba's version. These imports are at the top of a module, with full names.
- Damaged code is never loaded: every cache file has a checksum beside it. Files without the right one are removed, and
  their functions compiled again.
- The cache is in `$NUMBA_CACHE_DIR/scenthound` or in the user's cache folder. Without a writable folder nothing is
  cached.
"""

import linecache
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from time import monotonic, time
from typing import Any, TypeVar, cast
from zlib import crc32

Function = TypeVar("Function", bound=Callable[..., object])

#: Seconds between two reports while code is compiled.
REPORT_EVERY_S = 1.5
#: Cache folders that no process used for so long are removed.
UNUSED_S = 30 * 86_400.0
#: How often the time of the last use is recorded.
_RECORDED_EVERY_S = 86_400.0
_DIGEST_CHARACTERS = 32
_DIGEST = re.compile(rf"[0-9a-f]{{{_DIGEST_CHARACTERS}}}")
_IMPORT = re.compile(r"^(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w.]+))", re.MULTILINE)

_lock = threading.Lock()
_was_used = threading.Event()


@dataclass(frozen=True, slots=True)
class Compiling:
    """The progress of compilation: how long it has taken in the process so far."""

    n_functions: int
    seconds: float
    is_cached: bool  #: False if there is no writable cache folder

    def __str__(self) -> str:
        done = f"{self.n_functions:,} functions in {self.seconds:.0f} s" if self.n_functions else "first run"
        return f"Compiling ({done}{'' if self.is_cached else _NOT_CACHED}) ..."


_NOT_CACHED = "; not cached: set NUMBA_CACHE_DIR to a writable folder"


def print_progress(progress: Compiling) -> None:
    print(progress, file=sys.stderr, flush=True)


#: Called while this process or one of its workers compiles code; not called for cached code.
on_compile: Callable[[Compiling], None] = print_progress


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


def mark_used() -> None:
    """Record that compiled code crawled in this process or in one of its workers."""
    _was_used.set()


def was_used() -> bool:
    return _was_used.is_set()


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


class _Reports:
    """Calls `on_compile`, but not twice within `REPORT_EVERY_S`: several workers may compile at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0

    def __call__(self, progress: Compiling) -> None:
        with self._lock:
            if monotonic() < self._next:
                return
            # A little earlier, so that the next report of the same process is not too early.
            self._next = monotonic() + 0.9 * REPORT_EVERY_S
        on_compile(progress)


report_compiling = _Reports()


@cache
def _listener() -> Any:
    """The listener that numba calls before and after it compiles a function, and for its lock."""
    event = import_module("numba.core.event")

    class Listener(event.Listener):  # type: ignore[misc, name-defined]
        """Reports while one of our functions is compiled, and adds checksums to new cache files.

        numba holds its lock until the file is written, so checksums are computed when the lock is released."""

        def __init__(self) -> None:
            self.dispatchers: list[Any] = []
            self._n_functions, self._seconds = 0, 0.0
            self._depth = 0  #: compiled functions compile those that they call
            self._folder: Path | None = None  #: with new files
            self._locks = threading.local()

        def on_start(self, event: Any) -> None:
            if event.kind == "numba:compiler_lock":
                self._locks.depth = getattr(self._locks, "depth", 0) + 1
            elif self._depth or any(event.data["dispatcher"] is each for each in self.dispatchers):
                self._depth += 1
                if self._depth == 1:
                    self._start(_cache_folder(event.data["dispatcher"].py_func.__module__))

        def on_end(self, event: Any) -> None:
            if event.kind == "numba:compiler_lock":
                self._locks.depth = getattr(self._locks, "depth", 1) - 1
                if self._folder is not None and not self._depth and not self._locks.depth:
                    _write_checksums(self._folder)
                    self._folder = None
            elif self._depth:
                self._n_functions += 1
                self._depth -= 1
                if not self._depth:
                    self._seconds += monotonic() - self._started
                    self._is_done.set()
                    self._thread.join()

        def _start(self, folder: Path | None) -> None:
            self._folder, self._started, self._is_done = folder, monotonic(), threading.Event()
            self._thread = threading.Thread(target=self._report, args=(folder is not None,), daemon=True)
            self._thread.start()

        def _report(self, is_cached: bool) -> None:
            while True:
                report_compiling(Compiling(self._n_functions, self._seconds + monotonic() - self._started, is_cached))
                if self._is_done.wait(REPORT_EVERY_S):
                    return

    listener = Listener()
    event.register("numba:compile", listener)
    event.register("numba:compiler_lock", listener)
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
        if time() - folder.stat().st_mtime > _RECORDED_EVERY_S:
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
    """Remove files that changed since they were written, after a power failure for example."""
    for path in folder.glob("*/*.nb[ic]"):
        try:
            is_damaged = _checksum(path) != _checksum_file(path).read_bytes()
        except FileNotFoundError:
            is_damaged = True
        if is_damaged:
            path.unlink(missing_ok=True)


def _write_checksums(folder: Path) -> None:
    for path in folder.glob("*/*.nb[ic]"):
        with suppress(OSError):
            stored = _checksum_file(path)
            if not stored.exists() or stored.stat().st_mtime_ns <= path.stat().st_mtime_ns:
                stored.write_bytes(_checksum(path))


def _checksum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.crc32")


def _checksum(path: Path) -> bytes:
    return crc32(path.read_bytes()).to_bytes(4)


def _digest(module_name: str) -> str:
    """Changes when the module changes, or one of its package that it depends on, or numba."""
    import hashlib

    names = [module_name]
    digest = hashlib.sha256(import_module("numba").__version__.encode())
    for name in names:
        source, imported = _source_and_imports(name)
        digest.update(f"\n{name}\n{source}".encode())
        names += [found for found in imported if found not in names]
    return digest.hexdigest()[:_DIGEST_CHARACTERS]


@cache
def _source_and_imports(name: str) -> tuple[str, list[str]]:
    """The source of a module, and the modules of its package that it imports at the top."""
    module, package = sys.modules[name], name.partition(".")[0]
    source = "".join(linecache.getlines(str(module.__file__), vars(module)))
    found = set()
    for of, names, direct in _IMPORT.findall(source):
        # What is imported from a module may be a module too, or anything.
        candidates = (of, direct, *(f"{of}.{each}" for each in re.findall(r"\w+", names)))
        found |= {each for each in candidates if each.partition(".")[0] == package and each in sys.modules}
    return source, sorted(found)
