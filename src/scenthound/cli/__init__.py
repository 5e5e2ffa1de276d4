"""The command line: each command parses its options, calls one function of the API, and prints the result.

Rules
- Results go to standard output; progress and errors go to standard error.
- Exit codes: 0 done, 2 usage error, 1 failed, 130 stopped by the user, 128 plus its number for another signal; an error
  is one line. A live crawl shuts down properly on any of these signals, and then exits with 130.
- Ctrl-C and signals leave no half-written files.
- Heavy imports stay inside the commands, so that `--help` is fast.
"""

import signal
import sys
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn

from scenthound.errors import ScenthoundError, printable
from scenthound.signals import restored_signals

#: The exit code that Typer returns after Ctrl-C.
INTERRUPTED = 130


def main() -> None:
    """Run the command in `sys.argv` (`process` is the entry point of `scenthound`)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Characters that the terminal cannot display become question marks instead of an error.
            stream.reconfigure(errors="replace")
    with restored_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, _leave)
        try:
            _run()
        except ScenthoundError as error:
            _stop(error.message, error.exit_code)
        except KeyboardInterrupt:
            _stop("Stopped.", INTERRUPTED)
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            _stop(f"{error.strerror or error}{where}.", 1)


def _run() -> None:
    import typer

    from scenthound.cli.app import app

    try:
        exit_code = app(prog_name="scenthound", standalone_mode=False)
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        if message.endswith("?"):
            _stop(f"{message} See `--help`.", error.exit_code)
        if message:
            _stop(f"{message}. See `--help`.", error.exit_code)
        # Without a command, the help has been printed.
        exit_code = error.exit_code
    if exit_code == INTERRUPTED:
        raise KeyboardInterrupt
    sys.exit(exit_code)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """Exit through all `finally` blocks, which clean up."""
    sys.exit(128 + number)


def _stop(message: str, exit_code: int) -> NoReturn:
    print(f"scenthound: {printable(message)}", file=sys.stderr)
    sys.exit(exit_code)
