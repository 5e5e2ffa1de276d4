"""Compiles the functions that tests use, before they run: `python tests/compile_functions.py`.

In a new checkout no compiled code is cached. Test processes would compile the same functions at the same time, within
whichever tests call them first, which could then exceed their time limit on a busy machine.
"""

import sys

from scenthound import jit


def compile_simulations() -> None:
    from twin_crawls import MODES, SOME, random_setting

    setting = random_setting(0, n_pages=60, n_links=3, n_seeds=4)
    for strategy in SOME:
        for mode in MODES:
            setting.compiled(strategy, mode)


def main() -> int:
    if not jit.is_available():
        return 0
    jit.on_compile = jit.print_progress
    compile_simulations()
    return 0


if __name__ == "__main__":
    sys.exit(main())
