"""What all results of experiments share when they are written: versions, CSV, and files for people to look at."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import isnan
from pathlib import Path
from platform import python_version
from typing import Any, Generic, TypeVar

from scenthound.model import Progress

REPORT_FILE = "report.html"
#: The packages whose versions may change a number.
PACKAGES = ("scenthound", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")

Result = TypeVar("Result")


def _nothing(*_: Any) -> None:
    """Nothing to check."""


@dataclass(frozen=True, slots=True)
class Renderer(Generic[Result]):
    """Renders the files of a result that people look at. `ui` provides it, and experiments write its files with theirs.

    `check` raises before any work is done if rendering is not possible. `figures` returns images by file name, and
    `report` the HTML of a result whose folder is given.
    """

    figures: Callable[[Result, Progress], Mapping[str, bytes]]
    report: Callable[[Result, Path], str] | None = None
    check: Callable[[], None] = _nothing

    def files(self, result: Result, out: Path, images: Mapping[str, bytes]) -> dict[str, bytes]:
        """The images and the report."""
        report = {} if self.report is None else {REPORT_FILE: self.report(result, out).encode("utf-8")}
        return {**images, **report}


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
