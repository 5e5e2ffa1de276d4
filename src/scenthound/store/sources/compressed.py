"""Files opened for reading whatever they are compressed with: plain, gzip or Zstandard, told by their first bytes."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import BadInput

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdError, ZstdFile
else:
    from backports.zstd import DecompressionParameter, ZstdError, ZstdFile

GZIP_BEGINNING = b"\x1f\x8b"
ZSTANDARD_BEGINNING = b"\x28\xb5\x2f\xfd"
PEEK_BYTES = 64
#: Files packed with `zstd --long=31` need it; others take no more memory for it.
LARGEST_WINDOW_LOG = 31

#: What reading a damaged or cut-off file raises.
DAMAGE = (EOFError, OSError, zlib.error, ZstdError)


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """`content` is decompressed as it is read; `file` is the file itself and knows how far that has come."""

    content: BufferedIOBase
    file: BinaryIO


@contextmanager
def opened(path: Path) -> Iterator[OpenedFile]:
    try:
        file = path.open("rb")
    except OSError as reason:
        raise BadInput(f"{path} cannot be read: {reason.strerror}.") from None
    with file:
        beginning = file.read(4)
        file.seek(0)
        content: BufferedIOBase
        if beginning.startswith(GZIP_BEGINNING):
            content = gzip.GzipFile(fileobj=file)
        elif beginning == ZSTANDARD_BEGINNING:
            content = ZstdFile(file, options={DecompressionParameter.window_log_max: LARGEST_WINDOW_LOG})
        else:
            content = file
        with content:
            yield OpenedFile(content, file)


def beginning_of(path: Path) -> bytes:
    """The first bytes of what the file holds, decompressed; fewer if it is damaged that early."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder: name the files in it that hold pages.")
    with opened(path) as source:
        try:
            return source.content.read(PEEK_BYTES)
        except DAMAGE:
            return b""
