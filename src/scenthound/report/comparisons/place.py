"""The folder of a comparison: whether it is one, who works on it, and that it can be written, before any work is done.

Rules
- A folder with anything else in it than a comparison leaves there is not ours to write into. What a run removes, it
  made: pages to learn from that a person put there are no part of a comparison.
- One process at a time works on a folder.
- A folder that was begun and came to nothing, not even a crawl, is removed again.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scenthound.errors import BadInput, printable
from scenthound.report.comparisons.files import FORMAT
from scenthound.store.folder_lock import locked_unless_taken

RANKING_FILE = "comparison.json"
TABLE_FILE = "comparison.csv"
REPORT_FILE = "report.html"
CRAWLS_FOLDER = "crawls"
TRAINING_FOLDER = "training"
PICTURES = {f"{name}.{form}" for name in ("ranking", "sweep") for form in ("svg", "png")}
FILES = {RANKING_FILE, TABLE_FILE, REPORT_FILE, *PICTURES}
FOLDERS = {CRAWLS_FOLDER, TRAINING_FOLDER}


@contextmanager
def comparison_place(out: Path, train_from: Path | None = None) -> Iterator[None]:
    """Hold the folder of a comparison, and make it if there is none; BadInput if it is something else, or if the pages
    of `train_from` would be lost in it."""
    is_new = not os.path.lexists(out)
    if not is_new:
        _check(out)
    _check_training(out, train_from)
    _make(out)
    with locked_unless_taken(out) as is_ours:
        if not is_ours:
            raise BadInput(f"Another run is at work in {printable(out)}: wait for it, or choose another --out.")
        try:
            yield
        except BaseException:
            if is_new:
                _remove_if_unused(out)
            raise


def _check(out: Path) -> None:
    if not out.is_dir():
        raise BadInput(f"{printable(out)} is no folder: choose another --out.")
    try:
        found = sorted(entry.name for entry in out.iterdir() if not entry.name.startswith("."))
    except OSError as reason:
        raise BadInput(f"{printable(out)} cannot be read: {reason.strerror}. Choose another --out.") from None
    others = [name for name in found if not _is_ours(out, name)]
    if others:
        raise BadInput(
            f"{printable(out)} has something else in it than a comparison, {printable(others[0])} for one: "
            "choose another --out."
        )


def _is_ours(out: Path, name: str) -> bool:
    place = out / name
    if name == RANKING_FILE:
        return place.is_file() and _has_format(place)
    if name == TRAINING_FOLDER:
        # It is written after crawls were, and would be removed with all that is in it.
        return place.is_dir() and not place.is_symlink() and (out / CRAWLS_FOLDER).is_dir()
    return place.is_dir() if name in FOLDERS else name in FILES and place.is_file()


def _has_format(ranking: Path) -> bool:
    try:
        told = json.loads(ranking.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("format") == FORMAT


def _check_training(out: Path, train_from: Path | None) -> None:
    """Pages in the folder for training are made anew by every run."""
    if train_from is None:
        return
    folder = (out / TRAINING_FOLDER).resolve()
    if folder in (train_from.resolve(), *train_from.resolve().parents):
        raise BadInput(
            f"--train-from {printable(train_from)} is in --out, where a run would remove it: copy it to another place, "
            "or choose another --out."
        )


def _make(out: Path) -> None:
    try:
        (out / CRAWLS_FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise BadInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another --out.") from None
    if not os.access(out, os.W_OK):
        raise BadInput(f"{printable(out)} cannot be written into: mend its rights, or choose another --out.")


def _remove_if_unused(out: Path) -> None:
    with suppress(OSError):
        (out / CRAWLS_FOLDER).rmdir()
        out.rmdir()
