"""What all results of experiments share when they are written: versions, CSV, and files for people to look at."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import isnan
from platform import python_version
from typing import Any

#: The packages whose versions may change a number.
PACKAGES = ("scenthound", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")

#: Figures and a report by file name, rendered from a result by `ui` and written with it.
RenderedFiles = Mapping[str, bytes]


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that numbers depend on, as far as they are installed."""
    return {"python": python_version(), **dict(_installed())}


def _installed() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(header)
    writer.writerows(rows)
    return table.getvalue()


def csv_number(value: float) -> str:
    """Six significant digits; empty for NaN."""
    return "" if isnan(value) else f"{value:.6g}"
