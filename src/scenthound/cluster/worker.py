"""A worker in an actor process: prepares for the work of a pool, then computes the results of items.

Rules
- Errors of items are results; the first one ends its piece. What an actor method raises is a fault of the program.
- On the caller's machine the caller's cache is opened as it is; on other machines `FileServer` reads and writes it.
"""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from scenthound import by_value, caller_files, jit
from scenthound.cluster.inputs import Copies, Input, Piece, has
from scenthound.errors import Failure
from scenthound.registry import load_local_plugins


@dataclass(frozen=True, slots=True)
class Setup:
    """What a pool's workers do. `import_paths` are those of the caller, as with processes of one machine: modules
    beside a script are found where the paths exist. `cache` is the folder of the caller's cache, as it was given and as
    an absolute path."""

    make_worker: bytes
    plugins: bytes
    import_paths: tuple[str, ...]
    inputs: tuple[Input, ...]
    cache: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Done:
    """The results of the items of a piece, up to the first error."""

    results: list[Any]
    error: Exception | None
    uses_compiled_code: bool
    seconds: float


class Worker:
    def __init__(self) -> None:
        self._copies = Copies()
        self._setup: Setup | None = None
        self._worker: Callable[[Any], Any] | None = None
        self._compiling: jit.Compiling | None = None
        jit.on_compile = self._on_compile
        if threading.current_thread() is threading.main_thread():
            # Ctrl-C in a terminal reaches the processes of a local cluster too; the caller ends them.
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _on_compile(self, progress: jit.Compiling) -> None:
        self._compiling = progress

    def prepare(self, pickled: bytes, is_on_callers_machine: bool, server: Any) -> list[str]:
        """The digests of inputs that this machine lacks; if there are none, the worker is ready."""
        setup: Setup = pickle.loads(pickled)
        self._copies.remove_unused()
        found = {each.name: self._find(each, is_on_callers_machine) for each in setup.inputs}
        if missing := [each.digest for each in setup.inputs if found[each.name] is None]:
            return missing
        paths = {name: path for name, path in found.items() if path is not None}
        paths |= {each.path: paths[each.name] for each in setup.inputs}
        caller_files.use_files_of(FilesElsewhere(paths, setup.cache, None if is_on_callers_machine else server))
        self._setup, self._worker = setup, None
        return []

    def _find(self, wanted: Input, is_on_callers_machine: bool) -> Path | None:
        if is_on_callers_machine or has(wanted.path, wanted.digest):
            return Path(wanted.path)
        return self._copies.find(wanted.digest)

    def receive(self, piece: Piece) -> None:
        self._copies.receive(piece)

    def work(self, pickled: bytes) -> bytes:
        """Pickled `Done` for the items of a piece."""
        results: list[Any] = []
        error: Exception | None = None
        began_s = perf_counter()
        try:
            worker = self._made()
            for item in pickle.loads(pickled):
                results.append(worker(item))
        except ImportError as reason:
            error = missing_module(reason)
        except Exception as reason:  # noqa: BLE001 - raised again by the caller
            error = reason
        done = Done(results, error, jit.was_used(), perf_counter() - began_s)
        try:
            return pickle.dumps(done)
        except Exception as reason:  # noqa: BLE001 - an error may contain what cannot be pickled
            message = f"Cannot send the result of a worker ({reason}); it was {error or 'a value'}."
            return pickle.dumps(Done([], Failure(message), jit.was_used(), 0.0))

    def _made(self) -> Callable[[Any], Any]:
        assert self._setup is not None, "prepare comes first"
        if self._worker is None:
            load_plugins(self._setup.plugins, self._setup.import_paths)
            self._worker = by_value.loads(self._setup.make_worker)()
        return self._worker

    def compiling(self) -> bytes:
        """The pickled progress of compilation since the last call; empty if there is none."""
        compiling, self._compiling = self._compiling, None
        return pickle.dumps(compiling) if compiling is not None else b""


def own_import_paths() -> tuple[str, ...]:
    """Those of the calling process, for `load_plugins`."""
    return tuple(str(Path(each).resolve()) for each in sys.path)


def load_plugins(plugins: bytes, import_paths: Sequence[str]) -> None:
    """Load plug-ins of the caller (`dump_local_plugins`), whose modules may be on its import paths."""
    sys.path += [path for path in import_paths if path not in sys.path and os.path.exists(path)]
    load_local_plugins(plugins)


def missing_module(reason: ImportError) -> Failure:
    return Failure(
        f"A worker on {os.uname().nodename} cannot import {reason.name or reason}: install there what this machine has."
    )


class FilesElsewhere:
    """Files of a caller. Without a server they are on this machine, possibly in another working directory."""

    def __init__(self, paths: Mapping[str, Path], cache: tuple[str, str] | None, server: Any) -> None:
        self._paths = paths
        self._cache = cache
        self._server = server

    def local_path(self, path: Path) -> Path:
        return self._paths.get(str(path), path)

    def read(self, path: Path) -> bytes:
        name = self._in_cache(path)
        if self._server is None:
            return self._absolute(name).read_bytes()
        content: bytes | None = _answer(self._server.read.remote(str(name)))
        if content is None:
            raise FileNotFoundError(str(path))
        return content

    def write(self, path: Path, content: bytes) -> None:
        name = self._in_cache(path)
        if self._server is None:
            caller_files.write_here(self._absolute(name), content)
        else:
            _answer(self._server.write.remote(str(name), content))

    def _in_cache(self, path: Path) -> Path:
        assert self._cache is not None, "the pool has no cache"
        return path.relative_to(self._cache[0])

    def _absolute(self, name: Path) -> Path:
        assert self._cache is not None
        return Path(self._cache[1], name)


def _answer(reference: Any) -> Any:
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


class FileServer:
    """An actor on the caller's machine, which reads and writes the files of a cache for other machines."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it cannot be read."""
        with suppress(OSError):
            return self._path(name).read_bytes()
        return None

    def write(self, name: str, content: bytes) -> None:
        caller_files.write_here(self._path(name), content)

    def _path(self, name: str) -> Path:
        path = self._folder / name
        if not path.resolve().is_relative_to(self._folder.resolve()):
            raise Failure(f"{name!r} is not a file of the cache.")
        return path
