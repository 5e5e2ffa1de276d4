"""Which folders the dashboard shows: those that it was given, and the crawls and experiments in them.

Rules
- A folder that is a crawl or an experiment is shown, and not looked into. Any other is looked through, two levels deep,
  and only so many folders are looked at.
- They are looked for again when somebody asks and a few seconds have passed; nobody asks, nothing is done.
- An id is made of the folder's name and stays with it as long as the dashboard runs.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import InvalidInput, ScenthoundError, printable
from scenthound.files import open_regular
from scenthound.store.crawl_folder import names_crawl
from scenthound.store.folder import KNOWN, folder_kind
from scenthound.ui.dashboard.problems import NotThere
from scenthound.ui.dashboard.responses import Kind, Problem

#: Levels below a folder that was given.
DEPTH = 2
MOST_SHOWN = 500
MOST_LOOKED_AT = 5_000
LOOKED_EVERY_S = 3.0
_MOST_ID_LETTERS = 40
#: The files by which folders say what they are. Other programs have files of such names, too.
_MARKERS = {known.file for known in KNOWN}
_HEAD_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class FoundFolder:
    """`problem` says why a folder that should be a crawl or an experiment cannot be read."""

    id: str
    path: Path
    kind: Kind
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    path: Path
    kind: Kind
    problem: Problem | None = None


class FolderBook:
    """The folders by their ids. Any thread may ask. None given stands for the one that the program was started in."""

    def __init__(self, given: list[Path], clock: Callable[[], float]) -> None:
        self._given = [Path(os.path.abspath(path)) for path in given or [Path()]]
        self._is_told = bool(given)
        self._clock = clock
        self._looked_s: float | None = None
        self._kinds = _Kinds()
        self._ids: dict[Path, str] = {}
        self._found: tuple[FoundFolder, ...] = ()
        self._lock = threading.Lock()

    def all(self) -> tuple[FoundFolder, ...]:
        with self._lock:
            now_s = self._clock()
            if self._looked_s is None or now_s - self._looked_s >= LOOKED_EVERY_S:
                self._look()
                self._looked_s = now_s
            return self._found

    def named(self, folder_id: str) -> FoundFolder:
        """NotThere if there is none."""
        for found in self.all():
            if found.id == folder_id:
                return found
        raise NotThere.among("folder", printable(folder_id, 80), [found.id for found in self._found])

    def crawl(self, folder_id: str) -> FoundFolder:
        """The folder of a crawl; NotThere, or BadInput that says what is wrong with it."""
        return self._of_kind(folder_id, is_crawl=True)

    def experiment(self, folder_id: str) -> FoundFolder:
        return self._of_kind(folder_id, is_crawl=False)

    def _of_kind(self, folder_id: str, *, is_crawl: bool) -> FoundFolder:
        found = self.named(folder_id)
        if found.problem is not None:
            raise InvalidInput(found.problem.says)
        if (found.kind == "crawl") != is_crawl:
            wanted, place = ("crawl", "experiments") if is_crawl else ("experiment", "crawls")
            raise NotThere(f"{printable(found.path)} is no {wanted}: it is shown at /{place}/{found.id}.")
        return found

    def _look(self) -> None:
        seen: dict[Path, _Seen] = {}
        n_looked_at = 0
        for given in self._given:
            for each in self._kinds.seen_in(given, tell_if_empty=self._is_told):
                n_looked_at += 1
                if n_looked_at > MOST_LOOKED_AT or len(seen) >= MOST_SHOWN:
                    break
                if each is not None:
                    seen.setdefault(each.path, each)
        self._found = tuple(FoundFolder(self._id_of(s.path), s.path, s.kind, s.problem) for s in seen.values())

    def _id_of(self, path: Path) -> str:
        if path not in self._ids:
            taken = set(self._ids.values())
            self._ids[path] = next(name for name in _possible_ids(path) if name not in taken)
        return self._ids[path]


def _possible_ids(path: Path) -> Iterator[str]:
    name, parent = _slug(path.name), _slug(path.parent.name)
    yield name
    yield f"{parent}-{name}"
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _slug(name: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", name.lower())
    return words[:_MOST_ID_LETTERS].strip("-") or "folder"


class _Kinds:
    """What folders are. It is asked anew only when a file that says so has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[object, _Seen | None]] = {}

    def seen_in(self, given: Path, *, tell_if_empty: bool) -> Iterator[_Seen | None]:
        """What a folder that was given holds: one thing for each folder that was looked at, None if that is nothing.
        A folder that was named and holds nothing is told of: whoever named it expects something."""
        is_empty = True
        for seen in self._walked(given, DEPTH):
            is_empty = is_empty and seen is None
            yield seen
        if is_empty and tell_if_empty:
            yield _Seen(given, "unreadable", Problem(_nothing_in(given)))

    def _walked(self, folder: Path, depth: int) -> Iterator[_Seen | None]:
        try:
            with os.scandir(folder) as found:
                entries = [entry for entry in found if not entry.name.startswith(".")]
            says = sorted((entry.name, _sign(entry)) for entry in entries if entry.name in _MARKERS)
            inner = sorted(entry.name for entry in entries if depth and _is_folder(entry))
        except OSError:
            yield None
            return
        seen = self._kind(folder, says) if says else None
        yield seen
        if seen is None:
            for name in inner:
                yield from self._walked(folder / name, depth - 1)

    def _kind(self, folder: Path, says: object) -> _Seen | None:
        before = self._known.get(folder)
        if before is None or before[0] != says:
            before = self._known[folder] = says, _what_is(folder)
        return before[1]


def _sign(entry: "os.DirEntry[str]") -> tuple[int, int]:
    """Another one when the file has changed; a link may lead nowhere."""
    try:
        found = entry.stat()
    except OSError:
        return -1, -1
    return found.st_mtime_ns, found.st_size


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _what_is(folder: Path) -> _Seen | None:
    try:
        return _Seen(folder, folder_kind(folder))
    except ScenthoundError as error:
        return _Seen(folder, "unreadable", Problem(str(error))) if _means_to_be_ours(folder) else None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this folder's problem alone
        return _Seen(folder, "unreadable", Problem(why_unreadable(error)))


def why_unreadable(error: Exception) -> str:
    """Of an error that nobody foresaw."""
    said = (error.strerror if isinstance(error, OSError) else None) or f"{type(error).__name__}: {error}"
    return f"It cannot be read: {printable(said, 200)}."


def _means_to_be_ours(folder: Path) -> bool:
    if names_crawl(folder):
        return True
    for name in _MARKERS:
        with suppress(OSError), open_regular(folder / name) as file:
            if b'"scenthound' in file.read(_HEAD_BYTES):
                return True
    return False


def _nothing_in(given: Path) -> str:
    if not given.is_dir():
        return f"{printable(given)} is no folder."
    if not os.access(given, os.R_OK | os.X_OK):
        return f"{printable(given)} cannot be read: check its rights."
    return f"{printable(given)} is neither a crawl nor an experiment, and none is in it."
