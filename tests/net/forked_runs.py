"""A process that runs the program again and again, each time in a child that it forks, so that it is imported once.

It reads a line of JSON, the arguments, and writes two: the id of the child, and its exit status. A child that can be
killed by kill -9 takes a tenth of the CPU time of a new process.
"""

import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules


def main() -> None:
    [script] = entry_points(group="console_scripts", name="scenthound")
    run = script.load()
    silence = os.open(os.devnull, os.O_WRONLY)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(silence, 1)
    _import_all()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            sys.argv = ["scenthound", *json.loads(line)]
            # The end of a process, as `sys.exit` would do it, without what belongs to the parent.
            code = 1
            try:
                run()
                code = 0
            except SystemExit as ended:
                code = int(ended.code or 0)
            finally:
                os._exit(code)
        answers.write(f"{child}\n")
        _, status = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")


def _import_all() -> None:
    """Nearly all that a crawl needs."""
    for package in ("api", "cli", "crawler", "relevance", "store", "strategies", "web"):
        for module in iter_modules(import_module(f"scenthound.{package}").__path__, f"scenthound.{package}."):
            with suppress(ImportError):
                import_module(module.name)


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))
    main()
