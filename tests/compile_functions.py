"""Compiles the functions that tests use, before they run: `python tests/compile_functions.py`.

In a new checkout no compiled code is cached. Test processes would compile the same functions at the same time, within
whichever tests call them first, which could then exceed their time limit on a busy machine.
"""

import multiprocessing
import sys
from collections.abc import Callable

from scenthound import jit


def compile_simulations() -> None:
    from twin_crawls import MODES, SOME, random_setting

    setting = random_setting(0, n_pages=60, n_links=3, n_seeds=4)
    for strategy in SOME:
        for mode in MODES:
            setting.compiled(strategy, mode)


def compile_live_crawls() -> None:
    from scenthound.crawler.assembly import load_compiled
    from scenthound.frontier.url_table import UrlTable
    from scenthound.text.tokenizer import WordScanner
    from scenthound.web.parser_process import GuardedParser

    scanner = WordScanner()
    scanner.use_compiled()
    table = UrlTable(compiled=True)
    table.load([b"http://a/b"])
    load_compiled(GuardedParser(scanner, agent="", table=table))


def reported(compile_functions: Callable[[], None]) -> None:
    jit.on_compile = jit.print_progress
    compile_functions()


def main() -> int:
    if not jit.is_available():
        return 0
    context = multiprocessing.get_context("forkserver")
    processes = [context.Process(target=reported, args=(each,)) for each in (compile_simulations, compile_live_crawls)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return max(abs(process.exitcode or 0) for process in processes)


if __name__ == "__main__":
    sys.exit(main())
