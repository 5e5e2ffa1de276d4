"""Files and folders that workers read: where they are on a node, and copies for nodes that do not have them.

Rules
- A node that has the same content at the same path opens it there. Content is compared by a digest; that of a recorded
  web is its fingerprint, with the names and sizes of its files.
- Otherwise one worker of the node fetches a copy, in parts, into a private folder named by the digest. Copies are used
  again by later commands, and removed when none has used them for `UNUSED_S`.
"""

import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from scenthound.errors import Failure, printable
from scenthound.store.folder import is_kind
from scenthound.store.recorded_web import RecordedWeb

#: Copies that no command used for this long are removed.
UNUSED_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Input:
    """A file or folder that workers read, under the path by which they know it."""

    name: str  #: as it was given
    path: str  #: absolute, on the caller's machine
    digest: str


def input_of(path: Path) -> Input:
    absolute = path.resolve()
    try:
        return Input(str(path), str(absolute), content_digest(absolute))
    except OSError as reason:
        raise Failure(f"Cannot read {printable(path)}: {reason.strerror or reason}.") from None


def content_digest(path: Path) -> str:
    """A digest of a file, or of the names and contents of all files in a folder. Raises OSError."""
    if not path.is_dir():
        return _file_digest(path)
    digest = hashlib.sha256()
    is_web = is_kind(path, "web")
    if is_web:
        digest.update(RecordedWeb.open(path).fingerprint.encode())
    for name, file in files_of(path):
        digest.update(f"{name!r}:{file.stat().st_size if is_web else _file_digest(file)};".encode())
    return digest.hexdigest()


def _file_digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def files_of(path: Path) -> list[tuple[str, Path]]:
    """The files of an input, each with its path within a folder, which is empty if the input is the file."""
    if not path.is_dir():
        return [("", path)]
    return sorted((str(file.relative_to(path)), file) for file in path.rglob("*") if file.is_file())


def has(path: str, digest: str) -> bool:
    """Whether this machine has the same content at a path."""
    try:
        return content_digest(Path(path)) == digest
    except Exception:  # noqa: BLE001 - whatever is there, it is something else
        return False


#: Calls a method of a `worker.FileServer` on another machine.
Ask = Callable[..., Any]


class Copies:
    """The copies on this machine."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.gettempdir(), f"scenthound-inputs-{os.getuid()}")
        self._remove_unused()

    def find(self, digest: str) -> Path | None:
        """A complete copy; None if there is none."""
        path = self._folder / digest
        with suppress(OSError):
            os.utime(path)
            return path
        return None

    def fetch(self, digest: str, ask: Ask) -> Path:
        """The copy of an input, made by one process of this machine at a time."""
        self._make_folder()
        with Path(self._folder, "lock").open("w") as lock:
            flock(lock, LOCK_EX)
            if found := self.find(digest):
                return found
            copy = self._folder / digest
            part = copy.with_suffix(".part")
            _remove(part)
            for name in ask("names", digest):
                file = part / name if name else part
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("wb") as content:
                    while piece := ask("part", digest, name, content.tell()):
                        content.write(piece)
            return part.rename(copy)

    def _remove_unused(self) -> None:
        with suppress(OSError):
            for entry in list(os.scandir(self._folder)):
                if time.time() - entry.stat().st_mtime > UNUSED_S:
                    _remove(Path(entry.path))

    def _make_folder(self) -> None:
        """Private: nobody else may replace what workers read."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        found = self._folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise Failure(f"{printable(self._folder)} on {os.uname().nodename} is not a private folder: remove it.")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
