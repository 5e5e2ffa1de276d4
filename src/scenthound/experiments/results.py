"""What all results of experiments share when they are written: versions, CSV, reports and figures."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import isnan
from pathlib import Path
from platform import python_version
from typing import Any, Generic, TypeVar

from scenthound.files import write_atomic
from scenthound.model import Progress

REPORT_FILE = "report.html"
#: The packages whose versions may change a number.
PACKAGES = ("scenthound", "numpy", "scipy", "scikit-learn", "matplotlib")

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Renderer(Generic[Result]):
    """Renders figures and report of a result. `ui` provides it, and experiments write its files with theirs.

    `check` raises before any work is done if rendering is not possible. `figures` returns images by file name, and
    `report` the HTML of a result in a folder.
    """

    figures: Callable[[Result, Progress], Mapping[str, bytes]]
    report: Callable[[Result, Path], str] | None = None
    check: Callable[[], None] = lambda: None

    def files(self, result: Result, out: Path, images: Mapping[str, bytes]) -> dict[str, bytes]:
        """The images and the report."""
        report = {} if self.report is None else {REPORT_FILE: self.report(result, out).encode("utf-8")}
        return {**images, **report}


def replace_files(out: Path, contents: Mapping[str, bytes], earlier: Iterable[str]) -> None:
    """Write files by their paths in the folder `out`, and remove those of an earlier run that are not among them.
    Nothing outside of the folder is removed, whatever a corrupt list names."""
    for name, content in contents.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(out / name, content)
    for name in sorted(set(earlier).difference(contents)):
        if out.resolve() in (out / name).resolve().parents:
            (out / name).unlink(missing_ok=True)


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that numbers depend on, as far as they are installed."""
    found = {"python": python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(header)
    writer.writerows(rows)
    return table.getvalue()


def csv_number(value: float) -> str:
    """Six significant digits; empty for NaN."""
    return "" if isnan(value) else f"{value:.6g}"
