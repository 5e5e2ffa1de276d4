"""How many commits of a crawl were acknowledged, noted beside its database, so that it cannot lose some in silence.

Commits are numbered. After a kill the last of them stand in the database's log alone, and without its log, or with a
damaged one, the database opens as if nothing was amiss, in the state of an earlier commit.

Rules
- A number is noted when its commit is on the disk: then a kill, or a power cut, can leave a note that is behind the
  database, never one that is ahead of it.
- The note is no part of a commit. Where it cannot be written the commit stands, and a loss might not be seen.
- Whoever compares reads the note first: what a running crawl commits meanwhile is then no loss.
"""

import os
from contextlib import suppress
from pathlib import Path

from scenthound.errors import BadInput, printable
from scenthound.files import regular_bytes

NOTE_FILE = "acknowledged"
_WIDTH = 19
#: Neither through a link nor into a pipe, which would wait for a reader.
_NOTHING_ELSE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
#: A note is shorter.
_MOST_BYTES = 1_000


class Acknowledged:
    """Notes numbers of commits in a file, which is made if it is not there."""

    def __init__(self, path: Path, last: int) -> None:
        self._handle: int | None = None
        with suppress(OSError):
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | _NOTHING_ELSE, 0o644)
        self.note(last)

    def note(self, commit: int) -> None:
        if self._handle is not None:
            # Always of one length, so that a full disk takes it too.
            with suppress(OSError):
                os.pwrite(self._handle, b"%*d\n" % (_WIDTH, commit), 0)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def note_of(database: Path) -> Path:
    return database.with_name(NOTE_FILE)


def check_none_lost(database: Path, noted: int, last: int) -> None:
    """BadInput if a later commit was noted than the last one in the database."""
    if noted > last:
        raise BadInput(
            f"{printable(database)} has lost {noted - last:,} of {noted:,} commits: {database.name}-wal was deleted or "
            f"damaged, or the file is an older one. Bring back the whole folder from a copy, or delete "
            f"{printable(note_of(database))} to go on without what they held."
        )


def last_noted(path: Path) -> int:
    """The number in the note; 0 if there is none, as in a crawl that an earlier Scenthound made."""
    try:
        return int(regular_bytes(path, _MOST_BYTES))
    except (OSError, ValueError):
        return 0
