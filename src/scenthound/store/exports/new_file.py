"""A file that appears whole or not at all, however long it is: written beside its place, synced, then renamed."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import BadInput, Failure, printable
from scenthound.files import sync_folder
from scenthound.store.folder import check_place


@contextmanager
def new_file(out: Path, force: bool) -> Iterator[BinaryIO]:
    """A file to write into. It takes its place when the block ends well; else nothing of it stays."""
    check_place(out, force, Path.is_file)
    target = Path(os.path.realpath(out))
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        file = part.open("xb")
    except OSError as reason:
        raise BadInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another place.") from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_place(out, force, Path.is_file)
        part.replace(target)
        sync_folder(target.parent)
    except OSError as reason:
        why = printable(reason.strerror or reason)
        raise Failure(f"{printable(out)} cannot be written: {why}. Nothing of it was kept.") from None
    finally:
        with suppress(OSError):
            part.unlink()
