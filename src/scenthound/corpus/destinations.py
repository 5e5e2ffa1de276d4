"""Where exports are written: a local path, or a URL of any file system that fsspec knows, such as `s3://bucket/name`.

Rules
- An export appears complete or not at all, and replaces nothing without `force`.
- What goes to a URL is written to a temporary file first and then uploaded. If uploading one of several files fails,
  those that were uploaded are removed.
- Credentials and endpoints are those of the file system's own configuration, such as AWS_ACCESS_KEY_ID and
  AWS_ENDPOINT_URL. They never appear in messages.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import Failure, InvalidInput, UsageError, printable
from scenthound.files import part_file
from scenthound.store.folder import ExportFolderKind, ResultFolder, check_replaceable
from scenthound.store.locations import OBJECT_STORES, RemoteLocation, cause, is_remote, local_path, shown


def check_outside(out: str | os.PathLike[str], folder: Path, kind: str = "crawl") -> None:
    """UsageError if an export would be written into the folder of the crawl, or of another kind."""
    if not is_remote(out) and Path(os.path.realpath(local_path(out))).is_relative_to(os.path.realpath(folder)):
        raise UsageError(f"{printable(out)} is in the {kind} folder: choose a path outside of it with --out.")


@contextmanager
def new_file(out: str | os.PathLike[str], *, force: bool) -> Iterator[BinaryIO]:
    """A file to write to. It appears at its path or URL when the block ends without an error; otherwise nothing is
    left."""
    if is_remote(out):
        remote = _RemotePath.of(str(out))
        remote.check_free(force=force)
        with _temporary(out) as folder:
            with (folder / "export").open("wb") as file:
                yield file
            remote.upload({"": folder / "export"})
        return
    path = local_path(out)
    check_replaceable(path, None, force=force)
    target = Path(os.path.realpath(path))
    with ExitStack() as cleanup:
        try:
            part = cleanup.enter_context(part_file(target.parent))
        except OSError as reason:
            raise InvalidInput(f"Cannot create {printable(out)}: {reason.strerror}. Choose another path.") from None
        with _writing(out):
            yield part.file
            check_replaceable(path, None, force=force)
            part.become(target)


@contextmanager
def new_export_folder(out: str | os.PathLike[str], kind: ExportFolderKind, *, force: bool) -> Iterator[Path]:
    """The same for a folder of files."""
    if is_remote(out):
        remote = _RemotePath.of(str(out))
        remote.check_free(force=False, is_folder=True)
        with _temporary(out) as folder:
            yield folder
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            remote.upload({f"/{path.relative_to(folder).as_posix()}": path for path in files})
        return
    with _writing(out), ResultFolder.create(local_path(out), kind=kind, force=force) as result:
        yield result.path


@contextmanager
def _writing(out: object) -> Iterator[None]:
    try:
        yield
    except OSError as reason:
        raise Failure(f"Cannot write {shown(out)}: {cause(reason)}. Nothing was written.") from None


@contextmanager
def _temporary(out: object) -> Iterator[Path]:
    with _writing(out), tempfile.TemporaryDirectory(prefix="scenthound-export-") as folder:
        yield Path(folder)


class _RemotePath(RemoteLocation):
    """A location that exports are written to."""

    def check_free(self, *, force: bool, is_folder: bool = False) -> None:
        """InvalidInput if something exists there that is not to be replaced. A folder never is: what else is in it is
        not known."""
        with self._errors_in_one_line():
            self.files.invalidate_cache()
            if self.scheme in OBJECT_STORES:
                # An object store says that an object is missing even if its bucket is.
                self.files.info(self.files._parent(self.path).split("/")[0])
            exists = not force and self.files.exists(self.path)
        if exists:
            advice = "and is never replaced: choose another name"
            advice = advice if is_folder else "choose another name, or replace it with --force"
            raise InvalidInput(f"{shown(self.url)} exists already{',' if is_folder else ':'} {advice}.")

    def upload(self, files: dict[str, Path]) -> None:
        """Copy files to the path with a suffix each; all of them or none."""
        uploaded: list[str] = []
        try:
            with self._errors_in_one_line():
                for suffix, path in files.items():
                    uploaded.append(self.path + suffix)
                    self._make_parents(uploaded[-1])
                    self.files.put_file(str(path), uploaded[-1])
        except BaseException:
            # One file appears complete or not at all, and may be there from before.
            for path_there in uploaded if len(files) > 1 else ():
                with suppress(Exception):
                    self.files.rm_file(path_there)
            raise

    def _make_parents(self, path: str) -> None:
        # An object store has no folders, and would make a bucket of a misspelled name.
        if self.scheme not in OBJECT_STORES:
            with suppress(NotImplementedError):
                self.files.makedirs(self.files._parent(path), exist_ok=True)

    @contextmanager
    def _errors_in_one_line(self) -> Iterator[None]:
        try:
            yield
        except Exception as reason:  # noqa: BLE001 - each file system has its own errors
            advice = "Check the name, the credentials and their permissions. Nothing was written"
            raise Failure(f"Cannot write to {shown(self.url)}: {cause(reason)}. {advice}.") from None
