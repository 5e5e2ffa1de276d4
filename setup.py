"""The native extension and the long description; everything else about the package is in pyproject.toml.

The extension is optional: without a C compiler the package is installed without it, and plain Python does the same,
more slowly. One build serves all versions of Python from 3.11 on (the stable ABI). Products are rounded before they are
added, as in numpy, on machines with fused instructions too.

The long description is README.md. Its links are relative, for readers of a checkout; package indexes have no files next
to it, so there they lead to the files of this version in the repository.
"""

import re
import tomllib
from glob import glob
from pathlib import Path

from setuptools import Extension, setup

RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!#|\w+:)([^)\s]+)\)")


def long_description() -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository, tag = project["urls"]["Repository"], f"v{project['version']}"

    def absolute(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        return f"{picture}[{text}]({repository}/{'raw' if picture else 'blob'}/{tag}/{path})"

    return RELATIVE_LINK.sub(absolute, Path("README.md").read_text(encoding="utf-8"))


setup(
    long_description=long_description(),
    long_description_content_type="text/markdown",
    ext_modules=[
        Extension(
            "scenthound.native._native",
            sources=sorted(glob("src/scenthound/native/*.c")),
            depends=sorted(glob("src/scenthound/native/*.h")),
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            # Without debug symbols (-g0), which many a Python asks for, the extension is a quarter of the size.
            extra_compile_args=[
                "-O3",
                "-g0",
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-fno-strict-aliasing",
                "-ffp-contract=off",
            ],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
