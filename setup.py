"""The native extension; everything else about the package is in pyproject.toml.

It is optional: without a C compiler the package is installed without it, and plain Python does the same, more slowly.
One build serves all versions of Python from 3.11 on (the stable ABI). Products are rounded before they are added, as in
numpy, on machines with fused instructions too.
"""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "scenthound.native._native",
            sources=sorted(glob("src/scenthound/native/*.c")),
            depends=sorted(glob("src/scenthound/native/*.h")),
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=["-O3", "-std=c11", "-Wall", "-Wextra", "-fno-strict-aliasing", "-ffp-contract=off"],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
