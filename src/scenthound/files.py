"""Reading compressed files, and writing files atomically.

Rules
- Compression is detected by the first bytes when a file is read, and chosen by the suffix when it is written.
- Only regular files are opened: a pipe can be read only once, and a device must not be replaced.
- A folder from somebody else may contain anything. `regular_bytes` never blocks, and reads a bounded number of bytes.
- A file is written under another name, synced and renamed, so that not even a power cut leaves a part of it there.
- A process holds the lock of such a part until it is renamed. A part without a lock was left by a process that was
  killed; the next one that writes to the folder removes it. Where there are no locks, nothing is removed.
"""

import errno
import fcntl
import gzip
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import Failure, InvalidInput, printable

if sys.version_info >= (3, 14):
    from compression import zstd as zstd  # noqa: PLC0414 - others import it from here
else:
    from backports import zstd as zstd  # noqa: PLC0414

GZIP_MAGIC = b"\x1f\x8b"
ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"
PEEK_BYTES = 64
#: Needed for files made by `zstd --long=31`; others do not take more memory.
MAX_WINDOW_LOG = 31

#: Names of parts. They say whose they are, because files of these names are removed.
_PART_NAME = re.compile(r"\.scenthound-[0-9a-f]{16}\.part")
#: Neither through a link nor into a pipe, which would block.
NO_LINK_NO_PIPE = os.O_NOFOLLOW | os.O_NONBLOCK

#: Errors of the machine, not of the command: a full or failing disk.
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)

#: What reading a damaged or truncated file raises.
DAMAGE = (EOFError, OSError, zlib.error, zstd.ZstdError)


#: What to do about errors that say nothing about the content of a file.
_ADVICE = {
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "Allow more open files with `ulimit -n`"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "Check its permissions"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free disk space"),
    errno.EIO: "Check the disk",
    errno.ENOMEM: "Free memory",
}


def machine_fault(path: object, error: BaseException) -> str | None:
    """A line about a file that cannot be read for a reason that is not its content; None for other errors."""
    advice = _ADVICE.get(error.errno or 0) if isinstance(error, OSError) else None
    if advice is None or not isinstance(error, OSError):
        return None
    return f"Cannot read {printable(path)}: {os.strerror(error.errno or 0).lower()}. {advice}."


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """`content` is decompressed as it is read; `file` is the file itself, whose position is the progress."""

    content: BufferedIOBase
    file: BinaryIO


@contextmanager
def opened(path: Path) -> Iterator[OpenedFile]:
    """Open a file for reading. Reading raises one of DAMAGE if the file is damaged."""
    try:
        _check_regular(path)
        file = path.open("rb")
    except OSError as reason:
        raise InvalidInput(
            machine_fault(path, reason)
            or f"Cannot read {printable(path)}: {reason.strerror}. Check the path and its permissions."
        ) from None
    with file, _decompressed(file) as content:
        yield OpenedFile(content, file)


def text_of(path: Path) -> str:
    """The content of a text file in UTF-8, with or without a byte order mark."""
    with opened(path) as source:
        try:
            return source.content.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{printable(path)} is not UTF-8 at byte {error.start}: save it as UTF-8.") from error
        except DAMAGE as error:
            raise InvalidInput(
                machine_fault(path, error) or f"{printable(path)} is damaged ({error}): restore it from a backup."
            ) from error


def regular_bytes(path: Path, max_bytes: int) -> bytes:
    """The bytes of a file, compressed or not. OSError if it is longer, or if it is a pipe, a device or a folder."""
    with open_regular(path) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes", str(path))
    return content


@contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """Open a file without decompression. OSError, without blocking, if it is a pipe, a device or a folder."""
    # Opening a pipe would otherwise block until another process writes to it.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device", str(path))
        yield file


def first_bytes(path: Path) -> bytes:
    """The first bytes of the decompressed content; none if it is damaged there."""
    with opened(path) as source:
        try:
            return source.content.read(PEEK_BYTES)
        except DAMAGE:
            return b""


def compressed_as(path: Path, content: bytes) -> bytes:
    """Compressed as the suffix says: gzip for .gz, Zstandard for .zst. Reproducible."""
    if path.name.endswith(".gz"):
        return gzip.compress(content, mtime=0)
    if path.name.endswith(".zst"):
        return zstd.compress(content)
    return content


def write_atomic(path: Path, content: bytes, *, follow_link: bool = True, private: bool = False) -> None:
    """Write or replace a file, so that a reader sees the old content or the new one. A symbolic link is followed, or
    refused in folders where somebody else may have made it. Only the owner can read a new `private` file."""
    target = Path(os.path.realpath(path)) if follow_link else path
    if target.is_symlink():
        raise InvalidInput(f"Cannot write {printable(path)}: it is a symbolic link. Remove it.")
    try:
        mode = _mode(target)
        with part_file(target.parent, private=private) as part:
            part.file.write(content)
            part.become(target, mode=mode)
    except OSError as reason:
        kind = Failure if reason.errno in _DISK_ERRORS else InvalidInput
        raise kind(
            f"Cannot write {printable(path)}: {reason.strerror}. Check the folder, its permissions and the disk space."
        ) from None


def create_exclusively(path: Path, content: bytes) -> None:
    """Make a file that appears complete, or not at all. FileExistsError if there is one; of several processes only one
    succeeds, also on network file systems."""
    with _part(path.parent, 0o666) as part:
        part.file.write(content)
        part.file.flush()
        os.fsync(part.file.fileno())
        os.link(part.path, path)
    sync_folder(path.parent)


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file that is being written under a temporary name."""

    path: Path
    file: BinaryIO

    def become(self, target: Path, *, mode: int | None = None, sync: bool = True) -> None:
        """Rename the file to its final name. It is on disk then, unless `sync` is False."""
        self.file.flush()
        if sync:
            os.fsync(self.file.fileno())
        if mode is not None:
            self.path.chmod(mode)
        self.path.replace(target)
        if sync:
            sync_folder(target.parent)


@contextmanager
def part_file(folder: Path, *, private: bool = False) -> Iterator[PartFile]:
    """A new file in a folder, which is removed at the end unless it was renamed. So are parts that killed processes
    left there. Raises OSError."""
    remove_dead_parts(folder)
    with _part(folder, 0o600 if private else 0o666) as part:
        yield part


@contextmanager
def _part(folder: Path, mode: int) -> Iterator[PartFile]:
    part = _locked_part(folder, mode)
    try:
        yield part
    finally:
        # What was not written by now failed before, or is not wanted.
        with suppress(OSError):
            part.file.close()
        with suppress(OSError):
            part.path.unlink()


def remove_dead_parts(folder: Path) -> None:
    """Remove the parts in a folder that no process is writing."""
    try:
        with os.scandir(folder) as entries:
            parts = [
                each for each in entries if _PART_NAME.fullmatch(each.name) and each.is_file(follow_symlinks=False)
            ]
    except OSError:
        return
    for part in parts:
        with suppress(OSError):
            _remove_unless_locked(part.path)


def _locked_part(folder: Path, mode: int) -> PartFile:
    while True:
        path = folder / f".scenthound-{secrets.token_hex(8)}.part"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        if not _lock(handle, wait=True) or _is_at(path, handle):
            return PartFile(path, os.fdopen(handle, "wb"))
        # Another process took it for dead and removed it before it was locked.
        os.close(handle)


def _remove_unless_locked(path: str) -> None:
    # For writing, because network file systems lock no files that are open for reading only.
    handle = os.open(path, os.O_RDWR | NO_LINK_NO_PIPE)
    try:
        if _lock(handle, wait=False) and _is_at(path, handle):
            os.unlink(path)
    finally:
        os.close(handle)


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock a file until it is closed; False if another process holds the lock, or if there are no locks here."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(path: str | Path, handle: int) -> bool:
    """Whether an open file is still at its path."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk. Some file systems cannot do that, and do not need it."""
    try:
        sync_file(path)
    except OSError as reason:
        if reason.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM):
            raise


def _decompressed(file: BinaryIO) -> BufferedIOBase:
    start = file.read(len(ZSTANDARD_MAGIC))
    file.seek(0)
    if start.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=file)
    if start == ZSTANDARD_MAGIC:
        return zstd.ZstdFile(file, options={zstd.DecompressionParameter.window_log_max: MAX_WINDOW_LOG})
    assert isinstance(file, BufferedIOBase)
    return file


def _check_regular(path: Path) -> None:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"{printable(path)} is a folder: name the files in it.")
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{printable(path)} is a pipe or a device: save it as a file first.")


def _mode(path: Path) -> int | None:
    """The permissions of the file that is replaced; None if there is none."""
    try:
        _check_regular(path)
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None
