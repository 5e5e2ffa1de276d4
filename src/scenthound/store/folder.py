"""Result folders: complete or absent, and labelled with what they are.

A new folder is written beside its final path as `.{name}.{token}.part`, synced, and renamed. A folder that it replaces
is moved aside as `.{name}.{token}.old` in between.

Each kind of folder has a marker file that names its format and version (`KNOWN`), for example `study.json`:

    with ResultFolder.create(out, kind="study") as folder:
        folder.write_json("findings.json", findings)
    findings = ResultFolder.open(out, kind="study").read_json("findings.json", Findings)

Rules
- A process that writes a folder holds its lock, which ends with the process. An unlocked `.part` folder was left by a
  process that was killed, or interrupted while it cleaned up. The next one that writes to the same path removes it.
- Renames and removals happen only while the parent folder is locked. So an `.old` folder without a folder at its path
  was left by a process killed between the two renames, and is moved back.
- A folder replaces only folders of its own kind, and only with `force`.
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from scenthound.errors import InvalidInput, printable
from scenthound.files import machine_fault, regular_bytes, sync_file, sync_folder, write_atomic
from scenthound.records import from_json, to_json
from scenthound.store.locks import locked, locked_if_free, try_lock

FolderKind = Literal["crawl", "run", "comparison", "study", "search", "validation", "web"]
#: The folder of an export is for other programs: no command reads it.
ExportFolderKind = Literal["corpus", "trec"]
WrittenKind = FolderKind | ExportFolderKind
Value = TypeVar("Value")

#: Longest JSON file that is read.
MAX_JSON_BYTES = 64 << 20
#: Subfolders that are looked at to suggest one that is a result folder.
MAX_SUGGESTIONS = 200

WORKING_NAME = re.compile(r"[0-9a-f]{16}\.(part|old)")


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """A kind of folder: its name, its marker file, and the format and version that file names."""

    kind: WrittenKind
    name: str
    file: str
    format: str
    version: int
    made_by: str


#: In this order: crawls have a run.json too, and studies a findings.json.
KNOWN = (
    KnownFolder("crawl", "crawl", "crawl.json", "scenthound crawl", 2, "scenthound crawl"),
    KnownFolder("comparison", "comparison", "comparison.json", "scenthound comparison", 1, "scenthound compare"),
    KnownFolder("study", "study", "study.json", "scenthound study", 1, "scenthound study"),
    KnownFolder("search", "search", "search.json", "scenthound search", 1, "scenthound evolve"),
    KnownFolder("run", "simulation run", "run.json", "scenthound run", 1, "scenthound simulate"),
    KnownFolder("validation", "validation", "findings.json", "scenthound validation", 1, "scenthound validate"),
    KnownFolder("web", "recorded web", "web.json", "scenthound recorded web", 1, "scenthound record"),
)
CORPUS = KnownFolder("corpus", "folder of an export", "corpus.json", "scenthound corpus", 1, "scenthound export")
TREC = KnownFolder("trec", "folder of an export in TREC format", "trec.json", "scenthound trec", 1, "scenthound export")
KNOWN_KINDS = {known.kind: known for known in (*KNOWN, CORPUS, TREC)}


class ResultFolder:
    """A folder of a known kind. `about` is the content of its marker file."""

    def __init__(self, path: Path, kind: WrittenKind, about: dict[str, Any] | None = None) -> None:
        self.path = path
        self.kind = kind
        self.about = about or {}
        self._known = KNOWN_KINDS[kind]

    @classmethod
    @contextmanager
    def create(cls, out: str | Path, *, kind: WrittenKind, force: bool = False) -> Iterator["ResultFolder"]:
        """A new folder to fill. It appears at `out` when the block ends without an error; otherwise nothing is left.

        With `force` it replaces a folder of the same kind. The marker file is written at the end if it is missing.
        """
        with new_folder(Path(out), kind, force=force) as path:
            folder = cls(path, kind)
            yield folder
            folder._ensure_marker()

    @classmethod
    @contextmanager
    def update(cls, out: str | Path, *, kind: FolderKind) -> Iterator["ResultFolder"]:
        """A folder to write into in place, under its lock; made if there is none or if it is empty.

        A new folder that holds nothing but its marker file is removed when the block ends with an error.
        """
        path = Path(out)
        is_new = not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir()))
        folder = cls(path, kind) if is_new else cls.open(path, kind=kind)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as reason:
            raise InvalidInput(cannot_write(out, reason)) from None
        with folder.hold():
            folder._ensure_marker()
            try:
                yield folder
            except BaseException:
                if is_new and [entry.name for entry in path.iterdir()] == [folder._known.file]:
                    shutil.rmtree(path)
                raise

    @classmethod
    def open(cls, path: str | Path, *, kind: FolderKind) -> "ResultFolder":
        """A complete folder to read. InvalidInput if it is of another kind or of a version that cannot be read."""
        folder, known = Path(path), KNOWN_KINDS[kind]
        _check_folder(folder)
        about = _marker(folder, known)
        if about is None:
            # InvalidInput if it is of a version that cannot be read.
            found = _kind_of(folder)
            other = None if found is None else KNOWN_KINDS[found]
            what = f"it is a {other.name}, made by `{other.made_by}`" if other else f"make one with `{known.made_by}`"
            raise InvalidInput(f"{printable(folder)} is not a {known.name}: {what}.")
        return cls(folder, kind, about)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the folder's lock. InvalidInput if another process holds it."""
        with try_lock(self.path) as is_free:
            if not is_free:
                raise InvalidInput(
                    f"Another process is writing to {printable(self.path)}: wait until it has finished, or choose "
                    "another folder with --out."
                )
            yield

    def write_json(self, name: str, value: Any) -> None:
        """Write a value that `to_json` knows. In the marker file, format and version come first."""
        content = to_json(value)
        if name == self._known.file:
            content = self.about = {"format": self._known.format, "version": self._known.version, **content}
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, (json.dumps(content, indent=1) + "\n").encode())

    def read_json(self, name: str, type_: type[Value]) -> Value:
        """Read what `write_json` wrote; CorruptData if it does not fit the type."""
        return from_json(type_, _read_json(self.path / name), self.path / name)

    def _ensure_marker(self) -> None:
        if not (self.path / self._known.file).exists():
            self.write_json(self._known.file, {})


def folder_kind(path: str | Path) -> FolderKind:
    """What kind a folder is of. InvalidInput if it is missing, of no known kind, or of a version that is not read."""
    folder = Path(path)
    _check_folder(folder)
    kind = _kind_of(folder)
    if kind is None:
        inner = _known_within(folder)
        hint = (
            f"did you mean {printable(inner)}?" if inner else "`scenthound crawl` and `scenthound simulate` make them."
        )
        raise InvalidInput(f"{printable(folder)} holds neither a crawl nor results of an experiment; {hint}")
    return kind


def is_kind(path: Path, kind: FolderKind) -> bool:
    """Whether a folder is of this kind, in a version that can be read."""
    try:
        return _marker(path, KNOWN_KINDS[kind]) is not None
    except InvalidInput:
        return False


def _kind_of(folder: Path) -> FolderKind | None:
    kinds = (known.kind for known in KNOWN if _marker(folder, known) is not None)
    return cast("FolderKind | None", next(kinds, None))


def _marker(folder: Path, known: KnownFolder) -> dict[str, Any] | None:
    """The content of the marker file; None if the folder is not of this kind."""
    file = folder / known.file
    if not file.is_file() or file.stat().st_size > MAX_JSON_BYTES:
        return None
    about = _read_json(file)
    if not isinstance(about, dict) or about.get("format") != known.format:
        return None
    version = about.get("version")
    if type(version) is not int or version < 1:
        raise InvalidInput(
            f"{printable(file)} is damaged: its version is {printable(repr(version), 40)}. Restore it from a backup."
        )
    if version != known.version:
        raise InvalidInput(
            f"{printable(folder)} is a {known.name} of format version {version}, and this Scenthound reads version "
            f"{known.version}: install the Scenthound that made it."
        )
    return about


def _check_folder(folder: Path) -> None:
    try:
        if folder.is_dir():
            next(folder.iterdir(), None)
            return
        is_file = folder.exists()
    except (OSError, ValueError) as reason:
        raise InvalidInput(cannot_read(folder, reason)) from None
    if is_file:
        raise InvalidInput(f"{printable(folder)} is a file, not a folder: give the folder of a crawl or an experiment.")
    raise InvalidInput(f"There is no folder {printable(folder)}: check the path.")


def _read_json(file: Path) -> Any:
    try:
        return json.loads(regular_bytes(file, MAX_JSON_BYTES))
    except OSError as reason:
        raise InvalidInput(cannot_read(file, reason)) from None
    except (ValueError, RecursionError) as reason:
        raise InvalidInput(
            f"{printable(file)} is not valid JSON ({printable(reason, 200)}): restore it from a backup."
        ) from None


def cannot_read(path: object, reason: Exception) -> str:
    why = printable(getattr(reason, "strerror", None) or reason, 200).lower()
    return machine_fault(path, reason) or f"Cannot read {printable(path)}: {why}. Check the path and its permissions."


def cannot_write(path: object, reason: Exception) -> str:
    why = getattr(reason, "strerror", None) or reason
    return f"Cannot write to {printable(path)}: {printable(why, 200).lower()}. Choose another folder with --out."


def _known_within(folder: Path) -> Path | None:
    """The first result folder one or two levels below."""
    try:
        inner = [entry for entry in sorted(folder.iterdir())[:MAX_SUGGESTIONS] if entry.is_dir()]
        deeper = [deep for entry in inner for deep in sorted(entry.iterdir())[:10]]
    except OSError:
        return None
    return next((entry for entry in (*inner, *deeper) if any((entry / known.file).is_file() for known in KNOWN)), None)


# Atomic replacement of folders.


@contextmanager
def new_folder(out: Path, kind: WrittenKind | None = None, *, force: bool = False) -> Iterator[Path]:
    """A folder to fill. It appears at its path when the block ends without an error; otherwise nothing is left. `force`
    replaces a folder of the same kind."""
    # The target of a symbolic link is replaced, not the link.
    path = Path(os.path.realpath(out))
    with ExitStack() as cleanup:
        try:
            _make_parents(path, cleanup)
            with locked(path.parent):
                remove_leftovers(path)
                check_replaceable(out, kind, force=force)
                unfinished = _make_unfinished(path, cleanup)
        except OSError as reason:
            raise InvalidInput(cannot_write(out, reason)) from None
        yield unfinished
        _sync_content(unfinished)
        with locked(path.parent):
            check_replaceable(out, kind, force=force)
            replaced = _rename_into_place(unfinished, path)
        if replaced is not None:
            shutil.rmtree(replaced, ignore_errors=True)


def check_replaceable(out: Path, kind: WrittenKind | None, *, force: bool) -> None:
    """InvalidInput if something exists at the path, unless `force` is set and it is a folder of this kind, or a file
    for None."""
    if not os.path.lexists(out):
        return
    if problem := _not_replaceable(out, kind):
        raise InvalidInput(f"{printable(out)} exists already, and {problem}: it is not replaced. Choose another name.")
    if not force:
        raise InvalidInput(f"{printable(out)} exists already: choose another name, or replace it with --force.")


def _not_replaceable(out: Path, kind: WrittenKind | None) -> str:
    """Why something at a path is not replaced by a folder of this kind, or by a file for None; empty if it may be."""
    if kind is None:
        return "" if out.is_file() else "is not a file"
    name = KNOWN_KINDS[kind].name
    try:
        return f"is not a {name}" if _marker(out, KNOWN_KINDS[kind]) is None else ""
    except InvalidInput:
        return f"is a {name} that cannot be read"


def remove_leftovers(out: Path) -> None:
    """Remove what killed processes left, while the parent folder is locked. Folders in use stay."""
    beginning = f".{out.name}."
    for leftover in _entries(out.parent):
        if not (leftover.name.startswith(beginning) and WORKING_NAME.fullmatch(leftover.name, len(beginning))):
            continue
        if leftover.is_symlink() or not leftover.is_dir():
            # Not made here: a link must not be moved to the path, and its target must not be locked.
            continue
        if leftover.suffix == ".old" and not os.path.lexists(out):
            # Killed between the two renames: the new folder never appeared, so the old one is still valid.
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


def _make_parents(path: Path, cleanup: ExitStack) -> None:
    """Make the parent folders; those that are still empty at the end are removed."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        cleanup.callback(_remove_if_empty, folder)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _make_unfinished(path: Path, cleanup: ExitStack) -> Path:
    unfinished = _working_path(path, "part")
    # Registered before the folder exists, because a signal may come at any time.
    cleanup.callback(shutil.rmtree, unfinished, ignore_errors=True)
    unfinished.mkdir()
    cleanup.enter_context(locked(unfinished))
    return unfinished


def _sync_content(folder: Path) -> None:
    for name, _, files in os.walk(folder):
        for file in files:
            sync_file(Path(name, file))
        sync_folder(Path(name))


def _rename_into_place(unfinished: Path, path: Path) -> Path | None:
    """Where the folder that was replaced is now; None if there was none."""
    old = path.rename(_working_path(path, "old")) if path.exists() else None
    try:
        unfinished.rename(path)
    except BaseException:
        if old is not None:
            old.rename(path)
        raise
    sync_folder(path.parent)
    # From here on it is garbage: renamed, so that a half-removed folder is never moved back.
    return old and old.rename(_working_path(path, "part"))


def _working_path(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.{kind}")
