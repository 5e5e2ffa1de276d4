"""Installations without a compiler, without the extension in C, or with that of another platform: one line each."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenthound import native

ROOT = Path(__file__).parents[1]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package without its extension."""
    folder = tmp_path / "scenthound"
    shutil.copytree(
        Path(native.__file__).parents[1], folder, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.[ch]")
    )
    return folder


def errors_of(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=120,
    )
    assert done.returncode == 2
    return done.stderr


@pytest.mark.parametrize(
    ("content", "message"), [(None, "extension in C is missing"), (b"\x7fELF", "extension in C cannot be loaded")]
)
def test_without_an_extension_that_can_be_loaded_commands_say_what_to_install(
    package: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (package / "native" / "_native.abi3.so").write_bytes(content)
    errors = errors_of(package.parent, "-m", "scenthound", "strategies")
    assert errors.startswith("scenthound: ")
    assert errors.count("\n") == 1
    assert message in errors
    assert "`pip install --force-reinstall scenthound`" in errors


def test_without_the_extension_the_python_api_raises_an_error_that_says_so(package: Path) -> None:
    program = """
import sys
import scenthound
try:
    scenthound.crawl("balloons", seeds="http://balloons.test/")
except scenthound.ScenthoundError as error:
    print(isinstance(error, ImportError), error, file=sys.stderr)
    sys.exit(2)
"""
    assert errors_of(package.parent, "-c", program).startswith("True Scenthound's extension in C is missing")


@pytest.mark.parametrize("command", [["build"], ["build_ext", "--inplace"]])
@pytest.mark.parametrize(
    ("compiler", "problem"),
    [
        ("/nonexistent/gcc -pthread", "'/nonexistent/gcc' was not found"),
        ("false -pthread", "'false -pthread' compiles no file that includes Python.h"),
        ("true", "'true' compiles no file that includes Python.h"),
        ("", "'' was not found"),
        ("gcc '", '"gcc \'" was not found'),
    ],
)
def test_without_a_compiler_an_installation_from_source_says_what_to_install(
    tmp_path: Path, command: list[str], compiler: str, problem: str
) -> None:
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "src" / "scenthound" / "native").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "setup.py", "--quiet", *command],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "CC": compiler},
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"Scenthound needs a C compiler and the headers of Python ({problem}): "
        "apt-get install gcc libc6-dev python3-dev, or install a wheel for your platform."
    )
