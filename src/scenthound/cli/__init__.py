"""The command line: each command parses, calls one function of the library, and prints.

Rules
- What a person asked for goes to standard output; progress and errors go to standard error.
- Exit codes: 0 done, 2 wrong use, 1 failed, 130 stopped by the user, 128 and its number for another signal; an error
  is one line. A live crawl ends in good order whatever signal asks for it, and then answers 130.
- Whoever ends the program, by Ctrl-C or by a signal, nothing half-written stays behind.
- Heavy imports stay inside the commands, so that `--help` answers at once.
"""

import signal
import sys
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn

from scenthound import jit
from scenthound.errors import ScenthoundError, printable
from scenthound.signals import restored_signals

#: What Typer answers with when the user presses Ctrl-C.
INTERRUPTED = 130


def main() -> None:
    """The entry point of `scenthound`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character shows a question mark; it is no reason to fail.
            stream.reconfigure(errors="replace")
    with restored_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, _leave)
        jit.on_compile = _report_compiling
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

    from scenthound.cli.app import app, renamed_option

    try:
        exit_code = app(prog_name="scenthound", standalone_mode=False)
    except typer.TyperException as error:
        message = renamed_option(error) or error.format_message().rstrip(".")
        if message.endswith("?"):
            _stop(f"{message} See `--help`.", error.exit_code)
        if message:
            _stop(f"{message}. See `--help`.", error.exit_code)
        # Without a command the help was printed, which says it all.
        exit_code = error.exit_code
    if exit_code == INTERRUPTED:
        raise KeyboardInterrupt
    sys.exit(exit_code)


def _report_compiling(progress: jit.Compiling) -> None:
    cached = "" if progress.is_cached else "; not cached: set NUMBA_CACHE_DIR to a writable folder"
    done = f"{progress.n_functions:,} functions in {progress.seconds:.0f} s" if progress.n_functions else "first run"
    print(f"Compiling ({done}{cached}) ...", file=sys.stderr, flush=True)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End by way of all the `finally` that clean up."""
    sys.exit(128 + number)


def _stop(message: str, exit_code: int) -> NoReturn:
    print(f"scenthound: {printable(message)}", file=sys.stderr)
    sys.exit(exit_code)
