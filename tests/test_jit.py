"""Compiled functions across modules: caching, recompilation, damaged caches and progress reports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenthound import jit

pytest.importorskip("compiled_code")

#: A package in which `walk` calls `step` of another module, whose length is a constant of a third.
PACKAGE = {
    "__init__": "",
    "sizes": "LENGTH = 10\n",
    "compiled_step": """
from scenthound.jit import jitable
from burrow import sizes

LENGTH = sizes.LENGTH

@jitable
def step(position):
    return position + LENGTH
""",
    "compiled_walk": """
from scenthound.jit import cached_njit
from burrow.compiled_step import (
    step,
)

@cached_njit
def walk(position):
    return step(step(position))
""",
}
#: Prints where a walk from 1 ends, how many signatures came from the cache, and whether compilation was reported (0 or
#: 1); then the same for a walk from 0.5.
PROGRAM = """
from scenthound import jit
from burrow.compiled_walk import walk

reported = []
jit.on_compile = reported.append
for start in (1, 0.5):
    print(walk(start), sum(walk.stats.cache_hits.values()), int(bool(reported)))
"""
ONLY_INTEGER = PROGRAM.replace("(1, 0.5)", "(1,)")


def with_flipped_middle(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(255 - byte for byte in content[middle : middle + 16]) + content[middle + 16 :]


#: By name: damage to a cache file.
CHANGES = {"emptied": lambda _: b"", "cut": lambda content: content[:-1], "flipped": with_flipped_middle}


def write(folder: Path, files: dict[str, str]) -> None:
    (folder / "burrow").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "burrow" / f"{name}.py").write_text(text)


def printed(folder: Path, program: str = PROGRAM, **variables: str) -> list[str]:
    # Python cannot tell files of equal size and time apart, so it must not cache bytecode.
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        **variables,
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_cached_code_is_used_until_a_module_that_it_depends_on_changes(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    # 1 + 10 + 10.
    assert printed(tmp_path, ONLY_INTEGER) == ["21 0 1"]
    # The walk from 1 was cached, that from 0.5 was not.
    assert printed(tmp_path) == ["21 1 0", "20.5 1 1"]
    assert printed(tmp_path) == ["21 1 0", "20.5 2 0"]
    # 1 + 20 + 20; neither the module of `walk` nor that of `step` has changed.
    write(tmp_path, {"sizes": "LENGTH = 20\n"})
    assert printed(tmp_path, ONLY_INTEGER) == ["41 0 1"]
    # 1 + 2 * 20 + 2 * 20.
    write(tmp_path, {"compiled_step": PACKAGE["compiled_step"].replace("+ LENGTH", "+ 2 * LENGTH")})
    assert printed(tmp_path, ONLY_INTEGER) == ["81 0 1"]


def test_the_cache_is_in_a_folder_of_the_user_and_nowhere_else(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    printed(tmp_path, ONLY_INTEGER)
    chosen = {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*.nb?")}
    assert chosen == {("cache", "scenthound")}
    printed(tmp_path, ONLY_INTEGER, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(tmp_path / "home"))
    chosen = {path.relative_to(tmp_path).parts[:3] for path in (tmp_path / "home").rglob("*.nb?")}
    assert chosen == {("home", "scenthound", "numba")}


def test_other_packages_keep_their_cache_folder(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    program = "import burrow.compiled_walk, numba; print(numba.config.CACHE_DIR)"
    assert printed(tmp_path, program) == [str(tmp_path / "cache")]


def test_without_a_writable_folder_code_is_compiled_without_a_cache(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    (tmp_path / "file").touch()
    for _ in range(2):
        lines = printed(
            tmp_path, PROGRAM + "print(reported[0].is_cached)", NUMBA_CACHE_DIR=str(tmp_path / "file" / "below")
        )
        assert lines == ["21 0 1", "20.5 0 1", "False"]
    assert not list(tmp_path.rglob("*.nb?"))


def test_a_function_without_a_source_file_is_compiled_all_the_same() -> None:
    scope: dict[str, object] = {"__name__": __name__}
    exec(compile("def doubled(number):\n    return 2 * number\n", "<nowhere>", "exec"), scope)
    doubled = scope["doubled"]
    assert callable(doubled)
    assert jit.cached_njit(doubled)(21) == 42


def test_damaged_cache_files_are_replaced(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    first = printed(tmp_path, ONLY_INTEGER)
    assert printed(tmp_path, ONLY_INTEGER) == ["21 1 0"]
    for ending in ("nbi", "nbc"):
        for change in CHANGES.values():
            for path in tmp_path.rglob(f"*.{ending}"):
                path.write_bytes(change(path.read_bytes()))
            assert printed(tmp_path, ONLY_INTEGER) == first
    assert printed(tmp_path, ONLY_INTEGER) == ["21 1 0"]


def test_cache_folders_that_are_unused_for_a_month_are_removed(tmp_path: Path) -> None:
    unused, used, other = "0" * 32, "1" * 32, "notes"
    for name in (unused, used, other):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    for name in (unused, other):
        os.utime(tmp_path / name, (0, 0))
    jit.remove_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [used, other]
    jit.remove_unused(tmp_path / "missing")


def test_a_cache_file_without_a_checksum_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    printed(tmp_path, ONLY_INTEGER)
    for path in tmp_path.rglob("*.crc32"):
        path.unlink()
    assert printed(tmp_path, ONLY_INTEGER) == ["21 0 1"]
    assert printed(tmp_path, ONLY_INTEGER) == ["21 1 0"]


def test_progress_is_reported_as_long_as_code_is_compiled(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    program = "from scenthound import jit\njit.REPORT_EVERY_S = 0.005\n" + ONLY_INTEGER
    program += "seconds = [report.seconds for report in reported]\n"
    program += "print(len(reported) > 3, seconds == sorted(seconds), reported[-1].n_functions > 0)"
    assert printed(tmp_path, program)[1] == "True True True"


def test_progress_is_printed_with_the_time_and_a_missing_cache_folder() -> None:
    assert str(jit.Compiling(0, 0.1, True)) == "Compiling (first run) ..."
    assert str(jit.Compiling(1234, 5.6, True)) == "Compiling (1,234 functions in 6 s) ..."
    assert "NUMBA_CACHE_DIR" in str(jit.Compiling(3, 1.0, False))


def test_using_a_cache_folder_records_the_time(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    printed(tmp_path, ONLY_INTEGER)
    (folder,) = (tmp_path / "cache" / "scenthound").iterdir()
    ten_days_ago = folder.stat().st_mtime - 10 * 86_400
    os.utime(folder, (ten_days_ago, ten_days_ago))
    assert printed(tmp_path, ONLY_INTEGER) == ["21 1 0"]
    assert folder.stat().st_mtime > ten_days_ago + 86_400


def test_what_workers_compile_is_reported(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    (tmp_path / "burrow" / "worker.py").write_text(
        "def make():\n    from burrow.compiled_walk import walk\n    return walk\n"
    )
    program = """
from burrow.worker import make
from scenthound import jit
from scenthound.processes import in_order

if __name__ == "__main__":
    reported = []
    jit.on_compile = reported.append
    print(list(in_order(make, [1, 2, 3], 2)), int(bool(reported)))
"""
    assert printed(tmp_path, program) == ["[21, 22, 23] 1"]
    assert printed(tmp_path, program) == ["[21, 22, 23] 0"]


def test_the_use_of_compiled_code_by_workers_is_reported(tmp_path: Path) -> None:
    program = """
from scenthound import jit
from scenthound.processes import in_order

def make():
    from scenthound import jit

    def work(piece):
        if piece == 3:
            jit.mark_used()
        return piece

    return work

if __name__ == "__main__":
    for pieces in ([1, 2], [3]):
        print(list(in_order(make, pieces, 2)), jit.was_used())
"""
    assert printed(tmp_path, program) == ["[1, 2] False", "[3] True"]


def test_a_numba_that_cannot_be_imported_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    program = """
from random import Random

import numpy as np

from scenthound import jit
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import parse_html

scanner = WordScanner()
frontier = UnboundedFrontier(Random(1))
pages = np.arange(70_000, dtype=np.int32)
frontier.push_max(pages, pages, np.ones(70_000))
print(jit.is_available(), len(parse_html(b"<p>red kites", "http://a.org/", scanner).words), len(frontier))
"""
    assert printed(tmp_path, program) == ["False 2 70000"]


def test_with_jit_disabled_plain_code_gives_the_same_results(tmp_path: Path, web_path: Path) -> None:
    program = f"""
from random import Random

from scenthound.simulator.simulator import simulate
from scenthound.simulator.scores import scores_for
from scenthound.model import Topic
from scenthound.relevance.cosine import Cosine
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

web = RecordedWeb.open({str(web_path)!r})
scores = scores_for(Topic("balloon", keywords=("balloon",)), Cosine(), web)
compiled = 0
for strategy in ("breadth_first", "best_first", "opic", "otie"):
    crawl = simulate(web, STRATEGIES.make(strategy), [0, 1], scores, rng=Random(1), page_budget=30)
    compiled += crawl.is_compiled
    print(crawl.pages.tolist(), crawl.relevance.tolist(), crawl.ended)
print(compiled)
"""
    *disabled, n_compiled = printed(tmp_path, program, NUMBA_DISABLE_JIT="1")
    *enabled, n_compiled_otherwise = printed(tmp_path, program, NUMBA_CACHE_DIR="")
    assert disabled == enabled
    assert (n_compiled, n_compiled_otherwise) == ("0", "4")
