"""A folder that appears whole or not at all.

It is made beside its place under a name that tells which process makes it, and renamed when it is complete.
What a killed process left there is removed by the next one that wants the same place.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scenthound.errors import BadInput
from scenthound.store.layout import read_about


def is_recorded_web(folder: Path) -> bool:
    try:
        read_about(folder)
    except BadInput:
        return False
    return True


@contextmanager
def new_folder(out: Path, force: bool = False, is_ours: Callable[[Path], bool] = is_recorded_web) -> Iterator[Path]:
    """A folder to fill. It takes its place when the block ends well; else nothing of it stays."""
    remove_leftovers(out)
    check_place(out, force, is_ours)
    unfinished = out.parent / _working_name(out, os.getpid(), "part")
    try:
        unfinished.mkdir(parents=True)
    except OSError as reason:
        raise BadInput(f"{out} cannot be made: {reason.strerror}. Choose another place.") from None
    try:
        yield unfinished
        check_place(out, force, is_ours)
        _put_in_place(unfinished, out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def check_place(out: Path, force: bool, is_ours: Callable[[Path], bool] = is_recorded_web) -> None:
    """Only what an earlier run of the same kind left may be replaced, and only when told so."""
    if not os.path.lexists(out):
        return
    if not force:
        raise BadInput(f"{out} exists already: choose another name, or replace it with --force (force=True).")
    if not is_ours(out):
        raise BadInput(f"{out} holds something else than this would replace, so it stays: choose another name.")


def remove_leftovers(out: Path) -> None:
    for leftover in out.parent.glob(f".{_glob_safe(out.name)}.*.*"):
        process, _, kind = leftover.name.removeprefix(f".{out.name}.").partition(".")
        if not process.isdigit() or kind not in ("part", "old") or _is_alive(int(process)):
            continue
        if kind == "old" and not os.path.lexists(out):
            # Killed between the two renames: the new folder never came, so the old one is still the true one.
            leftover.rename(out)
        else:
            shutil.rmtree(leftover, ignore_errors=True)


def _put_in_place(unfinished: Path, out: Path) -> None:
    old = out.parent / _working_name(out, os.getpid(), "old")
    if out.exists():
        out.rename(old)
    try:
        unfinished.rename(out)
    except BaseException:
        if old.exists():
            old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _working_name(out: Path, process: int, kind: str) -> str:
    return f".{out.name}.{process}.{kind}"


def _glob_safe(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
