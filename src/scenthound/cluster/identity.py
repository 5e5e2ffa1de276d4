"""What must be the same on all machines of a cluster, so that results do not depend on where they are computed."""

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

import numpy as np

#: Libraries whose version may change a result.
LIBRARIES = ("numpy", "scipy", "scikit-learn")
#: This many characters of a digest are shown and compared.
DIGEST_CHARACTERS = 12
#: Files of a package that are not the same in every installation of the same version.
_LEFT_OUT = (".pyc", ".so", ".c", ".h")


@cache
def identity() -> dict[str, str]:
    """The identity of this process: versions, and digests of what has none."""
    return {
        "Scenthound": _version("scenthound"),
        "source code": _digest("scenthound"),
        "Python": platform.python_version(),
        **{library: _version(library) for library in LIBRARIES},
        "public suffix list": _digest("publicsuffixlist"),
        "floating-point arithmetic": _arithmetic(),
    }


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """What is different there, in one line; empty if nothing is."""
    return ", ".join(
        f"{name} {there.get(name, 'unknown')} instead of {value}"
        for name, value in here.items()
        if there.get(name) != value
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _digest(package: str) -> str:
    digest, root = hashlib.sha256(), Path(str(files(package)))
    for file in sorted(root.rglob("*")):
        if file.is_file() and file.suffix not in _LEFT_OUT:
            content = file.read_bytes()
            digest.update(f"{file.relative_to(root)}:{len(content)};".encode())
            digest.update(content)
    return digest.hexdigest()[:DIGEST_CHARACTERS]


def _arithmetic() -> str:
    """A digest of results whose last bits depend on the processor and on how numpy uses it."""
    numbers = np.random.default_rng(1).random((64, 300))
    results = [
        numbers @ numbers.T,
        numbers[0] @ numbers[1],
        numbers.sum(axis=1),
        *(function(numbers) for function in (np.exp, np.log, np.sqrt, np.log1p, np.tanh)),
        np.linalg.norm(numbers, axis=1),
    ]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in results))
    return digest.hexdigest()[:DIGEST_CHARACTERS]
