"""Compiled functions across files: what is kept on disk, when it is used, and when it is compiled anew."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="needs numba (the extra `fast`)")

#: A package in which `walk` calls `step` of another file, which has its length from a third.
PACKAGE = {
    "__init__": "",
    "sizes": "LENGTH = 10\n",
    "compiled_step": """
from scenthound.compiling import compiled_part
from burrow import sizes

LENGTH = sizes.LENGTH

@compiled_part
def step(place):
    return place + LENGTH
""",
    "compiled_walk": """
from scenthound.compiling import compiled
from burrow.compiled_step import (
    step,
)

@compiled
def walk(place):
    return step(step(place))
""",
}
#: Tells where a walk from 1 ends, whether it was kept, and whether the compiler was loaded; all again for one from 0.5.
PROGRAM = """
import sys
from burrow.compiled_walk import walk

for start in (1, 0.5):
    print(walk(start), sum(walk.stats.cache_hits.values()), "numba.np.linalg" in sys.modules)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    (folder / "burrow").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "burrow" / f"{name}.py").write_text(text)


def walked(folder: Path, program: str = PROGRAM) -> list[str]:
    # Python tells files of one length and one second apart by nothing, so it shall compile nothing itself.
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_kept_code_is_used_without_a_compiler_until_a_file_that_is_called_changes(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    only_whole = PROGRAM.replace("(1, 0.5)", "(1,)")
    # 1 + 10 + 10.
    assert walked(tmp_path, only_whole) == ["21 0 True"]
    # The walk from 1 was kept. That from 0.5 was not, which loads the compiler.
    assert walked(tmp_path) == ["21 1 False", "20.5 1 True"]
    # 1 + 20 + 20; neither the file of `walk` nor that of `step` has changed.
    write(tmp_path, {"sizes": "LENGTH = 20\n"})
    assert walked(tmp_path, only_whole) == ["41 0 True"]
    # 1 + 2 * 20 + 2 * 20.
    write(tmp_path, {"compiled_step": PACKAGE["compiled_step"].replace("+ LENGTH", "+ 2 * LENGTH")})
    assert walked(tmp_path, only_whole) == ["81 0 True"]


def test_a_function_that_can_be_kept_nowhere_is_compiled_all_the_same() -> None:
    # Code without a file, so that there is no place beside it, nor in a folder of the user's.
    from scenthound.compiling import compiled

    scope: dict[str, object] = {"__name__": __name__}
    exec(compile("def doubled(number):\n    return 2 * number\n", "<nowhere>", "exec"), scope)
    doubled = scope["doubled"]
    assert callable(doubled)
    assert compiled(doubled)(21) == 42


@pytest.mark.parametrize("damage", ["index emptied", "index cut", "code emptied", "code cut"])
def test_what_was_kept_and_is_damaged_is_compiled_anew(tmp_path: Path, damage: str) -> None:
    write(tmp_path, PACKAGE)
    first = walked(tmp_path)
    what, how = damage.split()
    for path in tmp_path.rglob(f"*.nb{what[0] if what == 'index' else 'c'}"):
        kept = path.read_bytes()
        path.write_bytes(b"" if how == "emptied" else kept[: len(kept) // 2])
    again = walked(tmp_path)
    assert [line.split()[0] for line in again] == [line.split()[0] for line in first]
    # Not kept, because it could not be read; kept from then on.
    assert [line.split()[1] for line in walked(tmp_path)] == ["1", "2"]


def test_a_numba_that_cannot_be_imported_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    program = """
from random import Random

import numpy as np

from scenthound import compiling
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import parse_html

scanner = WordScanner()
scanner.expect_much()
frontier = UnboundedFrontier(Random(1))
pages = np.arange(70_000, dtype=np.int32)
frontier.push_max(pages, pages, np.ones(70_000))
print(compiling.can_compile(), len(parse_html(b"<p>red kites", "http://a.org/", scanner).words), len(frontier))
"""
    assert walked(tmp_path, program) == ["False 2 70000"]
