"""The result folders that the dashboard shows: those it was started with, and those found in them.

Rules
- A result folder is shown and not searched. Other folders are searched two levels deep, up to a maximum number.
- The search is repeated on request, at most every few seconds.
- An id is derived from the folder's name and stays the same while the dashboard runs.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from pathlib import Path

from scenthound.errors import InvalidInput, ScenthoundError, printable
from scenthound.files import open_regular
from scenthound.store.crawl_folder import names_crawl
from scenthound.store.folder import KNOWN, folder_kind
from scenthound.ui.dashboard.problems import NotFound
from scenthound.ui.dashboard.responses import Kind, Problem

#: Levels of subfolders that are searched.
DEPTH = 2
MAX_FOUND = 500
MAX_SEARCHED = 5_000
SEARCH_INTERVAL_S = 3.0
_MAX_ID_CHARACTERS = 40
#: Other programs have files with such names, too.
_MARKER_FILES = {known.file for known in KNOWN}
_HEAD_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class FoundFolder:
    """`problem` says why a folder that should be a result folder cannot be read."""

    id: str
    path: Path
    kind: Kind
    problem: Problem | None = None


class FolderIndex:
    """The folders by their ids. Without `roots`, the current folder is searched. Thread-safe."""

    def __init__(self, roots: list[Path], clock: Callable[[], float]) -> None:
        self._roots = [Path(os.path.abspath(path)) for path in roots or [Path()]]
        self._are_named = bool(roots)
        self._clock = clock
        self._searched_s: float | None = None
        #: Of a folder and the signature of its marker files: read again only if one has changed.
        self._read_kind = lru_cache(MAX_SEARCHED)(lambda folder, _signature: _read_kind(folder))
        self._ids: dict[Path, str] = {}
        self._found: tuple[FoundFolder, ...] = ()
        self._lock = threading.Lock()

    def all(self) -> tuple[FoundFolder, ...]:
        with self._lock:
            now_s = self._clock()
            if self._searched_s is None or now_s - self._searched_s >= SEARCH_INTERVAL_S:
                self._search()
                self._searched_s = now_s
            return self._found

    def find(self, folder_id: str) -> FoundFolder:
        """NotFound if there is none."""
        found = {each.id: each for each in self.all()}
        if folder_id not in found:
            raise NotFound.among("folder", printable(folder_id, 80), list(found))
        return found[folder_id]

    def crawl(self, folder_id: str) -> FoundFolder:
        """NotFound if it is not a crawl, InvalidInput if it cannot be read."""
        return self._of_kind(folder_id, is_crawl=True)

    def experiment(self, folder_id: str) -> FoundFolder:
        return self._of_kind(folder_id, is_crawl=False)

    def _of_kind(self, folder_id: str, *, is_crawl: bool) -> FoundFolder:
        found = self.find(folder_id)
        if found.problem is not None:
            raise InvalidInput(found.problem.message)
        if (found.kind == "crawl") != is_crawl:
            # The page turns the end of this message into a link.
            expected, section = ("a crawl", "experiments") if is_crawl else ("an experiment", "crawls")
            raise NotFound(f"{printable(found.path)} is not {expected}: it is shown at /{section}/{found.id}.")
        return found

    def _search(self) -> None:
        """An empty root is reported if it was named by the user."""
        found: dict[Path, FoundFolder] = {}
        n_searched = 0
        for root in self._roots:
            is_empty = True
            for each in self._walk(root, DEPTH):
                n_searched += 1
                if n_searched > MAX_SEARCHED or len(found) >= MAX_FOUND:
                    break
                if each is not None:
                    is_empty = False
                    found.setdefault(each.path, each)
            else:
                if is_empty and self._are_named:
                    found.setdefault(root, _unreadable(root, _why_empty(root)))
        self._found = tuple(replace(each, id=self._id_of(path)) for path, each in found.items())

    def _id_of(self, path: Path) -> str:
        if path not in self._ids:
            used = set(self._ids.values())
            self._ids[path] = next(name for name in _possible_ids(path) if name not in used)
        return self._ids[path]

    def _walk(self, folder: Path, depth: int) -> Iterator[FoundFolder | None]:
        """An item for each folder that is searched; None if it is not a result folder."""
        try:
            with os.scandir(folder) as entries:
                visible = [entry for entry in entries if not entry.name.startswith(".")]
            markers = sorted(entry.name for entry in visible if entry.name in _MARKER_FILES)
            inner = sorted(entry.name for entry in visible if depth and os.path.isdir(entry))
        except OSError:
            yield None
            return
        signature = tuple((name, file_signature(folder / name)) for name in markers)
        found = self._read_kind(folder, signature) if markers else None
        yield found
        if found is None:
            for name in inner:
                yield from self._walk(folder / name, depth - 1)


def _possible_ids(path: Path) -> Iterator[str]:
    name, parent = _slug(path.name), _slug(path.parent.name)
    yield name
    yield f"{parent}-{name}"
    yield from (f"{name}-{number}" for number in count(2))


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower())
    return slug[:_MAX_ID_CHARACTERS].strip("-") or "folder"


def file_signature(file: Path) -> tuple[int, int, int] | None:
    """Changes with the file; None if it is missing, or empty like the log that readers of a database may leave."""
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None


def _read_kind(folder: Path) -> FoundFolder | None:
    try:
        return FoundFolder("", folder, folder_kind(folder))
    except ScenthoundError as error:
        return _unreadable(folder, str(error)) if _is_ours(folder) else None
    except Exception as error:  # noqa: BLE001 - one bad folder must not hide the others
        return _unreadable(folder, unexpected(error))


def _unreadable(folder: Path, message: str) -> FoundFolder:
    return FoundFolder("", folder, "unreadable", Problem(message))


def unexpected(error: Exception) -> str:
    """The message of an error that is not a ScenthoundError."""
    reason = (error.strerror if isinstance(error, OSError) else None) or f"{type(error).__name__}: {error}"
    return f"Cannot be read: {printable(reason, 200)}."


def _is_ours(folder: Path) -> bool:
    if names_crawl(folder):
        return True
    for name in _MARKER_FILES:
        with suppress(OSError), open_regular(folder / name) as file:
            if b'"scenthound' in file.read(_HEAD_BYTES):
                return True
    return False


def _why_empty(root: Path) -> str:
    if not root.is_dir():
        return f"{printable(root)} is not a folder."
    if not os.access(root, os.R_OK | os.X_OK):
        return f"Cannot read {printable(root)}: permission denied."
    return f"{printable(root)} is neither a crawl nor an experiment, and contains none."
