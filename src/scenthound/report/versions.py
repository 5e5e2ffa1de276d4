"""Which versions numbers come from, so that a run can be repeated."""

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

#: The packages whose versions may change a number.
PACKAGES = ("scenthound", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def versions() -> dict[str, str]:
    """Of Python and of the packages that numbers come from; those that are not installed are left out."""
    return {"python": python_version(), **dict(_installed())}


def versions_told(numbers: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def maker_rows(about: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Who made what a folder holds, of which it keeps no more than this, and who made the report of it."""
    return ("made by", f"scenthound {about['scenthound']}"), ("this report was made by", versions_told(versions()))


def _installed() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
