"""The command line: each command parses, calls one function of the library, and prints.

Rules
- What a person asked for goes to standard output; progress and errors go to standard error.
- Exit codes: 0 done, 2 wrong use, 1 failed, 130 stopped by the user; an error is one line.
- Heavy imports stay inside the commands, so that `--help` answers at once.
"""

import os
import sys

from scenthound.errors import ScenthoundError


def main() -> None:
    """The entry point of `scenthound`."""
    from scenthound.cli.app import app

    try:
        app(prog_name="scenthound")
    except ScenthoundError as error:
        _stop(str(error), error.exit_code)
    except KeyboardInterrupt:
        _stop("Stopped.", 130)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); what is left must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        _stop(f"{error.strerror or error}{where}.", 1)


def _stop(message: str, exit_code: int) -> None:
    print(f"scenthound: {message}", file=sys.stderr)
    sys.exit(exit_code)
