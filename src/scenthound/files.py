"""Files read whatever they are compressed with, and written whole or not at all: the one place for both.

Rules
- Compression is told by the first bytes when a file is read, and by the ending of its name when it is written.
- Only regular files and folders are touched: a pipe can be read but once, and a device must not be replaced.
- What lies in a folder that somebody handed over may be anything. `regular_bytes` never waits, and reads no more than
  it was told to.
- What is written is on the disk before it gets its name, so that not even a power cut shows half of it.
"""

import errno
import gzip
import os
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
    from compression import zstd
else:
    from backports import zstd

GZIP_BEGINNING = b"\x1f\x8b"
ZSTANDARD_BEGINNING = b"\x28\xb5\x2f\xfd"
PEEK_BYTES = 64
#: Files packed with `zstd --long=31` need it; others take no more memory for it.
LARGEST_WINDOW_LOG = 31

#: Errors that no other command line would mend: a full or a failing disk.
_OF_THE_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EIO)

#: What reading a damaged or cut-off file raises.
DAMAGE = (EOFError, OSError, zlib.error, zstd.ZstdError)


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """`content` is decompressed as it is read; `file` is the file itself and knows how far that has come."""

    content: BufferedIOBase
    file: BinaryIO


@contextmanager
def opened(path: Path) -> Iterator[OpenedFile]:
    """A file to read from. Reading raises one of DAMAGE where the file is damaged."""
    try:
        _check_regular(path)
        file = path.open("rb")
    except OSError as reason:
        raise InvalidInput(
            f"{printable(path)} cannot be read: {reason.strerror}; check the path and its rights."
        ) from None
    with file, _decompressed(file) as content:
        yield OpenedFile(content, file)


def text_of(path: Path) -> str:
    """The whole of a text file in UTF-8, with or without its mark."""
    with opened(path) as source:
        try:
            return source.content.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{printable(path)}: not UTF-8 at byte {error.start}; save the file as UTF-8."
            ) from error
        except DAMAGE as error:
            raise InvalidInput(f"{printable(path)}: damaged ({error}); check that it is whole.") from error


def regular_bytes(path: Path, most_bytes: int) -> bytes:
    """A file as it stands, compressed or not. OSError if it is longer, or if it is a pipe, a device or a folder."""
    with open_regular(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes", str(path))
    return content


@contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """A file to read as it stands. OSError, and no waiting, if it is a pipe, a device or a folder."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device", str(path))
        yield file


def _without_waiting(path: str, flags: int) -> int:
    """To open a pipe that nobody writes to would wait for somebody who does."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def beginning_of(path: Path) -> bytes:
    """The first bytes of what the file holds, decompressed; fewer if it is damaged that early."""
    with opened(path) as source:
        try:
            return source.content.read(PEEK_BYTES)
        except DAMAGE:
            return b""


def compressed_as(path: Path, content: bytes) -> bytes:
    """The content as the name wants it: gzip for .gz, Zstandard for .zst, else as it is. The same bytes each time."""
    if path.name.endswith(".gz"):
        return gzip.compress(content, mtime=0)
    if path.name.endswith(".zst"):
        return zstd.compress(content)
    return content


def write_atomic(path: Path, content: bytes, *, follow_link: bool = True) -> None:
    """Write a file, or replace it, so that a reader sees the old content or the new one. A link in its place is
    followed; or refused, where somebody else may have laid it."""
    target = Path(os.path.realpath(path)) if follow_link else path
    if target.is_symlink():
        raise InvalidInput(f"{printable(path)} is a link, and nothing is written through it: put a file in its place.")
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        mode = _mode_to_keep(target)
        with open(part, "xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
        sync_folder(target.parent)
    except OSError as reason:
        kind = Failure if reason.errno in _OF_THE_MACHINE else InvalidInput
        raise kind(
            f"{printable(path)} cannot be written: {reason.strerror}; check the folder, its rights and the room left."
        ) from None
    finally:
        with suppress(OSError):
            part.unlink()


def sync_file(path: Path) -> None:
    """Wait until what a file holds is on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk. Some file systems cannot, and need no asking."""
    try:
        sync_file(path)
    except OSError as reason:
        if reason.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM):
            raise


def _decompressed(file: BinaryIO) -> BufferedIOBase:
    beginning = file.read(len(ZSTANDARD_BEGINNING))
    file.seek(0)
    if beginning.startswith(GZIP_BEGINNING):
        return gzip.GzipFile(fileobj=file)
    if beginning == ZSTANDARD_BEGINNING:
        return zstd.ZstdFile(file, options={zstd.DecompressionParameter.window_log_max: LARGEST_WINDOW_LOG})
    assert isinstance(file, BufferedIOBase)
    return file


def _check_regular(path: Path) -> None:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"{printable(path)} is a folder: name the files in it.")
    if not stat.S_ISREG(mode):
        raise InvalidInput(
            f"{printable(path)} is a pipe or a device, which can be read but once: save it as a file first."
        )


def _mode_to_keep(path: Path) -> int | None:
    """The rights of the file to be replaced; None if there is none yet."""
    try:
        _check_regular(path)
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None
