"""`--log-file`: the records of the logger `scenthound` in a file.

Records are appended, one line each, with the time in UTC. A file that was moved or deleted, as by logrotate, is opened
anew. A file that can no longer be written ends with a note, not with an error: the crawl goes on.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from logging.handlers import WatchedFileHandler
from typing import TYPE_CHECKING

import typer

from scenthound.cli.crawl import LOG_LEVELS as LEVELS
from scenthound.errors import InvalidInput, UnknownName, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_level(level: str) -> None:
    if level not in LEVELS:
        raise UnknownName.among("log level", printable(level, 40), LEVELS)


@contextmanager
def log_to(file: Path | None, level: str = "info") -> Iterator[None]:
    """Write records of this level and above to the file during the block."""
    check_level(level)
    if file is None:
        yield
        return
    _check_name(file)
    logger, number = logging.getLogger("scenthound"), logging.getLevelName(level.upper())
    try:
        handler = _LogFile(file, encoding="utf-8", errors="backslashreplace")
    except OSError as reason:
        why = printable(reason.strerror or reason)
        raise InvalidInput(f"Cannot write to {printable(file)}: {why}. Choose another file with --log-file.") from None
    handler.setFormatter(_OneLine())
    handler.setLevel(number)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(min(number, before or number))
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
        handler.close()


def _check_name(file: Path) -> None:
    """UsageError for `-`, which is not standard output here, and for an empty name, which is the current folder."""
    if file.name in ("", "-"):
        raise UsageError(
            "--log-file needs the name of a file, such as crawl.log. --log-json prints the progress on standard output."
        )


class _OneLine(logging.Formatter):
    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        return f"{self.formatTime(record)} {record.levelname} {printable(record.getMessage())}"


class _LogFile(WatchedFileHandler):
    is_broken = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:  # The file was moved, and no other can be opened in its place.
            self.handleError(record)

    def close(self) -> None:
        try:
            super().close()
        except OSError:  # What could not be written is written again, for example to a full disk.
            self._note()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - a method of logging
        self._note()

    def _note(self) -> None:
        if not self.is_broken:
            self.is_broken = True
            typer.echo(f"Note: cannot write to the log file {printable(self.baseFilename)} any more.", err=True)
