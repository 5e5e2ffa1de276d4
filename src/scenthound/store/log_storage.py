"""Where the files of a commit log are: in a folder, or at a URL of a file system that fsspec knows.

Rules
- A file appears complete or not at all, is never changed, and is created exclusively: of several processes that create
  a file of one name, one succeeds. A folder does that by link(2), an object store by a condition of the request.
- File systems of fsspec that ask whether a file exists, and then write it, are refused, and so are those that replace a
  file of the same name.
- If a request fails, the file may have been created nevertheless. What is there decides.
- Credentials and endpoints are those of the file system's own configuration, and never part of the URL.
"""

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from scenthound.errors import InvalidInput, UsageError
from scenthound.files import create_exclusively, open_regular, remove_dead_parts, sync_folder
from scenthound.store.locations import RemoteLocation, cause, is_remote, local_path, shown

_PASSWORD = re.compile(r"://[^/]*:[^/]*@")
#: What file systems say that have no links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class LogStorage(Protocol):
    """A flat collection of files. All methods raise OSError, also for errors of a remote file system."""

    @property
    def location(self) -> str:
        """An absolute path, or a URL."""

    def make(self) -> None:
        """Make the folder, if there are folders."""

    def create(self, name: str, content: bytes) -> bool:
        """Create a file; False if there is one with another content."""

    def read(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        """The bytes of a file from `start` to before `end`. FileNotFoundError if there is no such file."""

    def names(self) -> list[str]:
        """All files. FileNotFoundError if there is no such folder."""

    def remove(self, name: str) -> None: ...


def storage_at(location: str | os.PathLike[str]) -> LogStorage:
    """UsageError for URLs that cannot be used."""
    if not is_remote(location):
        return LocalStorage(local_path(location))
    url = str(location)
    if _PASSWORD.search(url):
        raise UsageError(
            f"{shown(url)} was given with a password, which would be stored: configure the file system instead, for "
            "example with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    return RemoteStorage.of(url.rstrip("/"))


def check_exclusive(storage: LogStorage) -> None:
    """Try it out: InvalidInput if files cannot be created exclusively, OSError if they cannot be created."""
    name = f".probe-{secrets.token_hex(8)}"
    first, second = secrets.token_bytes(16), secrets.token_bytes(16)
    try:
        is_exclusive = storage.create(name, first) and not storage.create(name, second) and storage.read(name) == first
    except NotImplementedError:
        is_exclusive = False
    finally:
        with suppress(OSError):
            storage.remove(name)
    if not is_exclusive:
        raise InvalidInput(
            f"Cannot keep a commit log at {shown(storage.location)}: files cannot be created exclusively there. Use a "
            "folder on a POSIX file system, or an object store with conditional writes."
        )


class LocalStorage:
    """A folder, on a disk or on a network file system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self.location = str(self._folder)

    def make(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            sync_folder(self._folder.parent)
        remove_dead_parts(self._folder)

    def create(self, name: str, content: bytes) -> bool:
        try:
            create_exclusively(self._folder / name, content)
        except FileExistsError:
            # A server of files may have carried out a request twice, and answer the second one.
            with suppress(FileNotFoundError):
                return self.read(name) == content
            return False
        except OSError as reason:
            if reason.errno in _NO_LINKS and reason.filename2 is not None:
                raise NotImplementedError("no hard links") from None
            raise
        return True

    def read(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        with open_regular(self._folder / name) as file:
            file.seek(start)
            return file.read(-1 if end is None else end - start)

    def names(self) -> list[str]:
        return os.listdir(self._folder)

    def remove(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)


@contextmanager
def _os_errors() -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotImplementedError):
        raise
    except Exception as reason:  # noqa: BLE001 - each file system has its own errors
        raise OSError(errno.EIO, cause(reason)) from None


class RemoteStorage(RemoteLocation):
    """A path in a file system of fsspec."""

    @property
    def location(self) -> str:
        return self.url

    def make(self) -> None:
        """Object stores have no folders, and others make them with the first file."""

    def create(self, name: str, content: bytes) -> bool:
        from fsspec.spec import AbstractFileSystem

        if getattr(self.files.pipe_file, "__func__", None) is AbstractFileSystem.pipe_file:
            raise NotImplementedError("it asks whether the file exists, and then writes it")
        try:
            with _os_errors():
                self.files.pipe_file(f"{self.path}/{name}", content, mode="create")
        except OSError:
            # A file that is missing says that creating it has failed.
            with suppress(FileNotFoundError):
                return self.read(name) == content
            raise
        return True

    def read(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        with _os_errors():
            content: bytes = self.files.cat_file(f"{self.path}/{name}", start=start or None, end=end)
        return content

    def names(self) -> list[str]:
        with _os_errors():
            self.files.invalidate_cache()
            return [str(path).rpartition("/")[2] for path in self.files.ls(self.path, detail=False)]

    def remove(self, name: str) -> None:
        with _os_errors():
            self.files.rm_file(f"{self.path}/{name}")
