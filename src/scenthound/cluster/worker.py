"""A worker in a process of the cluster: prepares for the work of a pool, then computes the results of items.

Rules
- Errors of items are results; the first one ends its piece. What a task raises is a fault of the program.
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
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

from scenthound import by_value, caller_files
from scenthound.cluster.inputs import Ask, Copies, Input, files_of, has
from scenthound.errors import Failure
from scenthound.registry import load_local_plugins

#: Bytes of a file that are sent at once.
PART_BYTES = 16 << 20


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
    seconds: float


@lru_cache(1)
def _loaded(pickled: bytes) -> Setup:
    setup: Setup = pickle.loads(pickled)
    return setup


def needs_server(pickled: bytes) -> bool:
    """Whether a process on another machine asks for files of the caller."""
    setup = _loaded(pickled)
    return bool(setup.inputs or setup.cache)


#: The worker of this process, by its setup.
_made: dict[bytes, Callable[[Any], Any]] = {}


def _worker(pickled: bytes, ask: Ask | None) -> Callable[[Any], Any]:
    """The worker of a setup, which this process keeps until it gets another one."""
    if pickled not in _made:
        _made.clear()
        if threading.current_thread() is threading.main_thread():
            # Ctrl-C in a terminal reaches the processes of a local cluster too; the caller ends them.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        setup = _loaded(pickled)
        paths = {each.path: _path_here(each, ask) for each in setup.inputs}
        paths |= {each.name: paths[each.path] for each in setup.inputs}
        caller_files.use_files_of(FilesElsewhere(paths, setup.cache, ask))
        load_plugins(setup.plugins, setup.import_paths)
        _made[pickled] = by_value.loads(setup.make_worker)()
    return _made[pickled]


def _path_here(wanted: Input, ask: Ask | None) -> Path:
    if ask is None or has(wanted.path, wanted.digest):
        return Path(wanted.path)
    copies = Copies()
    return copies.find(wanted.digest) or copies.fetch(wanted.digest, ask)


def work(setup: bytes, items: bytes, server: Any) -> bytes:
    """Pickled `Done` for the items of a piece; on another machine, with a server for files of the caller."""
    results: list[Any] = []
    error: Exception | None = None
    began_s = perf_counter()
    try:
        worker = _worker(setup, None if server is None else partial(_answer, server))
        for item in pickle.loads(items):
            results.append(worker(item))
    except ImportError as reason:
        error = missing_module(reason)
    except Exception as reason:  # noqa: BLE001 - raised again by the caller
        error = reason
    done = Done(results, error, perf_counter() - began_s)
    try:
        return pickle.dumps(done)
    except Exception as reason:  # noqa: BLE001 - an error may contain what cannot be pickled
        message = f"Cannot send the result of a worker ({reason}); it was {error or 'a value'}."
        return pickle.dumps(Done([], Failure(message), 0.0))


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
    """Files of a caller. Without a server to ask they are on this machine, possibly in another working directory."""

    def __init__(self, paths: Mapping[str, Path], cache: tuple[str, str] | None, ask: Ask | None) -> None:
        self._paths = paths
        self._cache = cache
        self._ask = ask

    def local_path(self, path: Path) -> Path:
        return self._paths.get(str(path), path)

    def read(self, path: Path) -> bytes:
        name = self._in_cache(path)
        if self._ask is None:
            return self._absolute(name).read_bytes()
        content: bytes | None = self._ask("read", str(name))
        if content is None:
            raise FileNotFoundError(str(path))
        return content

    def write(self, path: Path, content: bytes) -> None:
        name = self._in_cache(path)
        if self._ask is None:
            caller_files.write_here(self._absolute(name), content)
        else:
            self._ask("write", str(name), content)

    def _in_cache(self, path: Path) -> Path:
        assert self._cache is not None, "the pool has no cache"
        return path.relative_to(self._cache[0])

    def _absolute(self, name: Path) -> Path:
        assert self._cache is not None
        return Path(self._cache[1], name)


class FileServer:
    """An actor on the caller's machine, which has its inputs, and reads and writes the files of its cache, for other
    machines."""

    def __init__(self, pickled: bytes) -> None:
        setup: Setup = pickle.loads(pickled)
        self._inputs = {each.digest: dict(files_of(Path(each.path))) for each in setup.inputs}
        self._folder = None if setup.cache is None else Path(setup.cache[1])

    def names(self, digest: str) -> list[str]:
        """The files of an input."""
        return list(self._inputs[digest])

    def part(self, digest: str, name: str, offset: int) -> bytes:
        """A part of a file of an input; empty at its end."""
        with self._inputs[digest][name].open("rb") as content:
            content.seek(offset)
            return content.read(PART_BYTES)

    def read(self, name: str) -> bytes | None:
        """The content of a file of the cache; None if it cannot be read."""
        with suppress(OSError):
            return self._path(name).read_bytes()
        return None

    def write(self, name: str, content: bytes) -> None:
        caller_files.write_here(self._path(name), content)

    def _path(self, name: str) -> Path:
        assert self._folder is not None, "the pool has no cache"
        path = self._folder / name
        if not path.resolve().is_relative_to(self._folder.resolve()):
            raise Failure(f"{name!r} is not a file of the cache.")
        return path


def _answer(server: Any, method: str, *arguments: Any) -> Any:
    """What a `FileServer` on another machine answers."""
    import ray

    try:
        return ray.get(getattr(server, method).remote(*arguments))
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
