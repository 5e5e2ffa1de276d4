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
