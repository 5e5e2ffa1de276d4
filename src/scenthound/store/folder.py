"""A folder that appears whole or not at all.

It is made beside its place under a name of its own, `.{name}.{token}.part`, and renamed when it is complete and on the
disk. What it replaces is moved aside in between, as `.{name}.{token}.old`.

Rules
- Who makes a folder holds its lock, which ends with the process however that ends: what nobody holds is litter, and
  is removed by the next one that wants the place.
- Names are given, taken and cleared away only while the folder above is locked. So what is moved aside while nothing
  is in its place was left by one that was killed, and comes back.
"""

import errno
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal

from scenthound.errors import InvalidInput, printable
from scenthound.files import sync_file, sync_folder
from scenthound.store.layout import read_about

# Locks on folders: they go with a folder when it is renamed, and end with the process that holds them.
#
# Not every system and file system has them. There nobody is kept out, and no folder is known to be free.

#: Longer than anybody takes to ask whether a lock is taken.
_GLANCE_S = 0.05

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for the lock and hold it."""
    with _opened(folder) as handle:
        _lock(handle, wait=True)
        yield


@contextmanager
def locked_within(folder: Path, most_s: float) -> Iterator[bool]:
    """Wait for the lock so long at most and hold it; False if somebody else has it still. Where there are no locks
    nobody has it."""
    with _opened(folder) as handle:
        until_s = monotonic() + most_s
        while (is_others := _is_taken(handle)) and monotonic() < until_s:
            sleep(_GLANCE_S)
        yield not is_others


@contextmanager
def locked_if_free(folder: Path) -> Iterator[bool]:
    """Hold the lock if nobody else does; False if somebody does, or if it cannot be told."""
    with _opened(folder) as handle:
        yield _lock(handle, wait=False)


@contextmanager
def locked_unless_taken(folder: Path) -> Iterator[bool]:
    """Hold the lock; False if somebody else does. Where there are no locks nobody does."""
    with _opened(folder) as handle:
        yield not _stays_taken(handle)


def is_taken(folder: Path) -> bool:
    """Whether somebody holds the lock now. The question itself keeps nobody out for longer than `_GLANCE_S`."""
    with _opened(folder) as handle:
        return _is_taken(handle, shared=True)


def _lock(handle: int | None, wait: bool) -> bool:
    if handle is None or sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _stays_taken(handle: int | None) -> bool:
    """Take the lock, or tell that somebody else has it, who does not only ask whether it is taken."""
    if not _is_taken(handle):
        return False
    sleep(_GLANCE_S)
    return _is_taken(handle)


def _is_taken(handle: int | None, *, shared: bool = False) -> bool:
    """Take the lock, or tell that somebody else has it."""
    if handle is None or sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as reason:
        return reason.errno in (errno.EWOULDBLOCK, errno.EACCES)
    return False


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """What a lock is held on, and ends when it is closed; None where there are no locks or no folder."""
    try:
        # Not waiting: what is no folder may be a pipe.
        handle = None if sys.platform == "win32" else os.open(folder, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


WORKING_NAME = re.compile(r"[0-9a-f]{16}\.(part|old)")


def is_recorded_web(folder: Path) -> bool:
    try:
        read_about(folder)
    except InvalidInput:
        return False
    return True


@contextmanager
def new_folder(out: Path, force: bool = False, is_ours: Callable[[Path], bool] = is_recorded_web) -> Iterator[Path]:
    """A folder to fill. It takes its place when the block ends well; else nothing of it stays."""
    # What a link leads to is replaced, not the link.
    place = Path(os.path.realpath(out))
    with ExitStack() as undoing:
        try:
            _make_parents(place, undoing)
            with locked(place.parent):
                remove_leftovers(place)
                check_place(out, force, is_ours)
                unfinished = _make_unfinished(place, undoing)
        except OSError as reason:
            raise InvalidInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another place.") from None
        yield unfinished
        _sync_content(unfinished)
        with locked(place.parent):
            check_place(out, force, is_ours)
            replaced = _put_in_place(unfinished, place)
        if replaced is not None:
            shutil.rmtree(replaced, ignore_errors=True)


def check_place(out: Path, force: bool, is_ours: Callable[[Path], bool] = is_recorded_web) -> None:
    """Only what an earlier run of the same kind left may be replaced, and only when told so."""
    if not os.path.lexists(out):
        return
    if not force:
        raise InvalidInput(f"{printable(out)} exists already: choose another name, or replace it with --force.")
    if not is_ours(out):
        raise InvalidInput(
            f"{printable(out)} holds something else than this would replace, so it stays: choose another name."
        )


def remove_leftovers(out: Path) -> None:
    """Clear away what killed processes left, while the folder above is locked. What may be at work stays."""
    beginning = f".{out.name}."
    for leftover in _entries(out.parent):
        if not (leftover.name.startswith(beginning) and WORKING_NAME.fullmatch(leftover.name, len(beginning))):
            continue
        if leftover.suffix == ".old" and not os.path.lexists(out):
            # Killed between the two renames: the new folder never came, so the old one is still the true one.
            leftover.rename(out)
            continue
        with locked_if_free(leftover) as free:
            if free:
                shutil.rmtree(leftover, ignore_errors=True)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _make_parents(place: Path, undoing: ExitStack) -> None:
    """Make the folders above; those that are empty in the end go again."""
    missing = [folder for folder in place.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        undoing.callback(_remove_if_empty, folder)
        sync_folder(folder.parent)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _make_unfinished(place: Path, undoing: ExitStack) -> Path:
    unfinished = _working_path(place, "part")
    unfinished.mkdir()
    undoing.callback(shutil.rmtree, unfinished, ignore_errors=True)
    undoing.enter_context(locked(unfinished))
    return unfinished


def _sync_content(folder: Path) -> None:
    for name, _, files in os.walk(folder):
        for file in files:
            sync_file(Path(name, file))
        sync_folder(Path(name))


def _put_in_place(unfinished: Path, place: Path) -> Path | None:
    """Where the folder is now that was in this place; None if there was none."""
    old = place.rename(_working_path(place, "old")) if place.exists() else None
    try:
        unfinished.rename(place)
    except BaseException:
        if old is not None:
            old.rename(place)
        raise
    sync_folder(place.parent)
    # From here on it is litter, which must never come back for the true one when half of it is removed.
    return old and old.rename(_working_path(place, "part"))


def _working_path(place: Path, kind: str) -> Path:
    return place.with_name(f".{place.name}.{secrets.token_hex(8)}.{kind}")


# What a folder is: a crawl, a run, a comparison, a study, a search, a validation or a recorded web.
#
# Each of them has a file that names its format and the version of it. A folder is what the first of these files says.

FolderKind = Literal["crawl", "run", "comparison", "study", "search", "validation", "web"]

#: Such a file is small; what is longer is something else.
MOST_ABOUT_BYTES = 64 << 20
#: Folders within one that is none of these, looked at to name one that is.
MOST_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """How a folder says what it is."""

    kind: FolderKind
    file: str
    format: str
    version: int
    made_by: str


#: A crawl has a run.json too, and a study a findings.json, so these are looked for first.
KNOWN = (
    KnownFolder("crawl", "crawl.json", "scenthound crawl", 1, "scenthound crawl"),
    KnownFolder("comparison", "comparison.json", "scenthound comparison", 1, "scenthound compare"),
    KnownFolder("study", "study.json", "scenthound study", 1, "scenthound study"),
    KnownFolder("search", "search.json", "scenthound search", 1, "scenthound evolve"),
    KnownFolder("run", "run.json", "scenthound run", 1, "scenthound simulate"),
    KnownFolder("validation", "findings.json", "scenthound validation", 1, "scenthound validate"),
    KnownFolder("web", "web.json", "scenthound recorded web", 1, "scenthound record"),
)


def folder_kind(path: str | Path) -> FolderKind:
    """BadInput if there is no such folder, if it is none of these, or if this version cannot read it."""
    folder = Path(path)
    _check_folder(folder)
    for known in KNOWN:
        if (folder / known.file).is_file():
            about = _read(folder / known.file)
            if about.get("format") == known.format:
                _check_version(folder, known, about.get("version"))
                return known.kind
    raise InvalidInput(_unknown(folder))


def _check_folder(folder: Path) -> None:
    try:
        if folder.is_dir():
            next(folder.iterdir(), None)
            return
        is_file = folder.exists()
    except (OSError, ValueError) as reason:
        why = getattr(reason, "strerror", None) or reason
        raise InvalidInput(
            f"{printable(folder)} cannot be read: {printable(why)}; check the path and its rights."
        ) from None
    if is_file:
        raise InvalidInput(f"{printable(folder)} is a file: name the folder of a crawl or of an experiment.")
    raise InvalidInput(f"There is no folder {printable(folder)}: check the path.")


def _read(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > MOST_ABOUT_BYTES:
            return {}
        about = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as reason:
        why = getattr(reason, "strerror", None) or f"it is no JSON: {reason}"
        raise InvalidInput(
            f"{printable(file)} cannot be read ({printable(why, 200)}): check its rights, or bring it back from a copy."
        ) from None
    return about if isinstance(about, dict) else {}


def _check_version(folder: Path, known: KnownFolder, version: object) -> None:
    if version != known.version:
        said = printable(version, 40)
        raise InvalidInput(
            f"{printable(folder)} is a {known.kind} of version {said} of its format and this Scenthound reads "
            f"{known.version}: install the Scenthound that made it."
        )


def _unknown(folder: Path) -> str:
    inner = _known_within(folder)
    hint = f"one that is: {printable(inner)}" if inner else "`scenthound crawl` and the laboratory's commands make them"
    return f"{printable(folder)} is neither the folder of a crawl nor of an experiment; {hint}."


def _known_within(folder: Path) -> Path | None:
    """The first folder in it, or in one of its folders, that is one of these."""
    try:
        inner = [entry for entry in sorted(folder.iterdir())[:MOST_LOOKED_AT] if entry.is_dir()]
        deeper = [deep for entry in inner[:MOST_LOOKED_AT] for deep in sorted(entry.iterdir())[:10]]
    except OSError:
        return None
    return next((entry for entry in (*inner, *deeper) if _names_itself(entry)), None)


def _names_itself(folder: Path) -> bool:
    return any((folder / known.file).is_file() for known in KNOWN)
