"""Configuration files: where they are, and what they contain.

- They are TOML: `scenthound.toml` in the current folder or the nearest one above it, up to a repository or the home
  folder, and `~/.config/scenthound/scenthound.toml`, which the first overrides.
- A file of another user in a folder above the current one is not read.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenthound.errors import InvalidInput, printable
from scenthound.files import machine_fault, regular_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME = "scenthound.toml"
PROFILES = "profile"
MAX_FILE_BYTES = 1_000_000
#: Files that mark the root of a repository.
REPOSITORY_MARKS = (".git", ".hg", ".svn")
#: What is wrong with something that has the name of a configuration file.
_FAULTS = {
    errno.EISDIR: "it is a folder, not a file",
    errno.ELOOP: "it is a link to itself",
    errno.EINVAL: "it is a pipe or a device, not a file",
    errno.EFBIG: f"it has more than {MAX_FILE_BYTES:,} bytes, the limit of a configuration file",
}


@dataclass(frozen=True, slots=True)
class ConfigurationFile:
    path: Path
    tables: Mapping[str, Any] = field(repr=False)

    @property
    def profiles(self) -> Mapping[str, Any]:
        profiles = self.tables.get(PROFILES, {})
        check_table(profiles, f"[{PROFILES}]", self.path)
        return dict(profiles)


def read_file(path: Path) -> ConfigurationFile:
    """InvalidInput if it cannot be read, or is not TOML."""
    import tomllib

    try:
        content = b"" if path == Path(os.devnull) else regular_bytes(path, MAX_FILE_BYTES)
        return ConfigurationFile(path, tomllib.loads(content.decode()))
    except FileNotFoundError:
        what = "no file behind the link" if path.is_symlink() else "no configuration file"
        raise InvalidInput(f"There is {what} {printable(path)}.") from None
    except OSError as reason:
        why = _FAULTS.get(reason.errno or 0) or printable(reason.strerror or reason)
        fault = f"Cannot read {printable(path)}: {why}. Name another file with --config."
        raise InvalidInput(machine_fault(path, reason) or fault) from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{printable(shown(path))} is not TOML: it is not UTF-8.") from None
    except tomllib.TOMLDecodeError as reason:
        raise InvalidInput(f"{printable(shown(path))} is not TOML: {printable(reason, 200)}.") from None
    except (RecursionError, ValueError):
        problem = "nested too deeply, or a number that is too long"
        raise InvalidInput(f"{printable(shown(path))} is not TOML: {problem}.") from None


def found_files() -> tuple[list[Path], list[str]]:
    """The files to read, the most important first, and notes on one that is not read. A folder or a broken link of
    that name is an error when it is read, because options that are meant to count would not."""
    notes: list[str] = []
    paths = [path for path in (_project_file(notes), user_file()) if path is not None and os.path.lexists(path)]
    return list(dict.fromkeys(paths)), notes


def user_file() -> Path | None:
    """None without a home folder."""
    if folder := os.environ.get("XDG_CONFIG_HOME"):
        return Path(folder) / "scenthound" / FILE_NAME
    with suppress(RuntimeError):
        return Path.home() / ".config" / "scenthound" / FILE_NAME
    return None


def _project_file(notes: list[str]) -> Path | None:
    try:
        current = Path.cwd()
    except OSError:
        return None
    home = None
    with suppress(RuntimeError, OSError):
        home = Path.home().resolve()
    for folder in (current, *current.parents):
        file = folder / FILE_NAME
        if os.path.lexists(file):
            if folder == current or _is_trusted(file):
                return file
            notes.append(
                f"{printable(file)} belongs to another user, and is not read: name it with --config to use it."
            )
        if folder == home or any((folder / mark).exists() for mark in REPOSITORY_MARKS):
            break
    return None


def _is_trusted(file: Path) -> bool:
    try:
        owner = file.stat().st_uid
    except OSError:  # A link to nothing.
        owner = file.lstat().st_uid
    return owner in (0, os.geteuid())


def shown(path: Path) -> str:
    """A path as a user would write it: relative if it is below the current folder."""
    with suppress(ValueError, OSError):
        return str(path.relative_to(Path.cwd()))
    with suppress(ValueError, RuntimeError):
        return str("~" / path.relative_to(Path.home()))
    return str(path)


def check_table(value: object, title: str, where: object) -> None:
    if not isinstance(value, dict):
        raise InvalidInput(
            f"{title.strip('[]')} in {printable(where)} should be a table: write {title}, and options below it."
        )
