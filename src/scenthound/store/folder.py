"""A folder that appears whole or not at all.

It is made beside its place under a name of its own, `.{name}.{token}.part`, and renamed when it is complete and on the
disk. What it replaces is moved aside in between, as `.{name}.{token}.old`.

Rules
- Who makes a folder holds its lock, which ends with the process however that ends: what nobody holds is litter, and
  is removed by the next one that wants the place.
- Names are given, taken and cleared away only while the folder above is locked. So what is moved aside while nothing
  is in its place was left by one that was killed, and comes back.
"""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scenthound.errors import BadInput, printable
from scenthound.files import sync_file, sync_folder
from scenthound.store.folder_lock import locked, locked_if_free
from scenthound.store.layout import read_about

WORKING_NAME = re.compile(r"[0-9a-f]{16}\.(part|old)")


def is_recorded_web(folder: Path) -> bool:
    try:
        read_about(folder)
    except BadInput:
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
            raise BadInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another place.") from None
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
        raise BadInput(f"{printable(out)} exists already: choose another name, or replace it with --force.")
    if not is_ours(out):
        raise BadInput(
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
