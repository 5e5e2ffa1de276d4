"""The native extension and the long description; everything else about the package is in pyproject.toml.

The extension is required; without what it takes to build it, an installation from source ends with one line. One build
serves all versions of Python from 3.11 on (the stable ABI). Products are rounded before they are added, as in numpy, on
machines with fused instructions too.

The long description is README.md. Its links are relative, for readers of a checkout; package indexes have no files next
to it, so there they lead to the files of this version in the repository.
"""

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import tomllib
from contextlib import suppress
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

# Without debug symbols (-g0), which many a Python asks for, the extension is a quarter of the size.
OPTIMIZED = ["-O3", "-g0"]
# For `make test-native`. Large blocks are not mapped, because AddressSanitizer knows those of malloc only.
SANITIZED = [
    *("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "-DMIN_MAPPED_BYTES=SIZE_MAX",
]
IS_SANITIZED = bool(os.environ.get("SCENTHOUND_SANITIZE"))
RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!#|\w+:)([^)\s]+)\)")


def long_description() -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository, tag = project["urls"]["Repository"], f"v{project['version']}"

    def absolute(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        return f"{picture}[{text}]({repository}/{'raw' if picture else 'blob'}/{tag}/{path})"

    return RELATIVE_LINK.sub(absolute, Path("README.md").read_text(encoding="utf-8"))


def check_compiler() -> None:
    """Before anything is built: what a missing or broken compiler says would be lost among hundreds of lines."""
    # An empty variable is no compiler for setuptools either.
    given = os.environ.get("CC", sysconfig.get_config_var("CC") or "cc")
    try:
        command = shlex.split(given) or [given]
    except ValueError:  # A quotation mark is missing.
        command = [given]
    header = Path(sysconfig.get_paths()["include"], "Python.h")
    if problem := compiler_problem(command, header):
        raise SystemExit(
            f"Scenthound needs a C compiler and the headers of Python ({problem}): "
            "apt-get install gcc libc6-dev python3-dev, or install a wheel for your platform."
        )


def compiler_problem(command: list[str], header: Path) -> str:
    missing = [
        *([] if shutil.which(command[0]) else [f"{command[0]!r} was not found"]),
        *([] if header.exists() else [f"{header} is missing"]),
    ]
    if missing:
        return ", ".join(missing)
    includes = [f"-I{sysconfig.get_paths()[each]}" for each in ("include", "platinclude")]
    with TemporaryDirectory() as folder:
        source, compiled = Path(folder, "test.c"), Path(folder, "test.o")
        source.write_text("#include <Python.h>\n")
        with suppress(OSError):
            subprocess.run([*command, *includes, "-c", source, "-o", compiled], capture_output=True, check=False)
        return "" if compiled.exists() else f"{shlex.join(command)!r} compiles no file that includes Python.h"


class Build(build):
    def run(self) -> None:
        check_compiler()
        super().run()


class BuildExtension(build_ext):
    def run(self) -> None:
        check_compiler()
        super().run()


setup(
    cmdclass={"build": Build, "build_ext": BuildExtension},
    long_description=long_description(),
    long_description_content_type="text/markdown",
    ext_modules=[
        Extension(
            "scenthound.native._native",
            sources=sorted(glob("src/scenthound/native/*.c")),
            depends=sorted(glob("src/scenthound/native/*.h")),
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=[
                *(SANITIZED if IS_SANITIZED else OPTIMIZED),
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-fno-strict-aliasing",
                "-fvisibility=hidden",
                "-ffp-contract=off",
            ],
            extra_link_args=SANITIZED if IS_SANITIZED else [],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
