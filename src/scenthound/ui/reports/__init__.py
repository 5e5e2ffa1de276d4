"""The report of any result folder, as one HTML file.

Studies write their report themselves, when all they measured is in memory; it is returned as it is.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from scenthound.errors import CorruptData, InvalidInput, UsageError, printable
from scenthound.files import open_regular, regular_bytes, write_atomic
from scenthound.store.folder import folder_kind
from scenthound.ui.html import document_html

REPORT_FILE = "report.html"
SIDE_BY_SIDE_FILE = "crawls.html"
#: In the head of every page of `document_html`, after style sheet and script.
MARK = b"Scenthound \xc2\xb7 "
BEGINNING = b"<!DOCTYPE html>"
MAX_HEAD_BYTES = 1 << 20
MAX_REPORT_BYTES = 256 << 20


def report_html(folder: str | Path) -> str:
    """The report of a folder; InvalidInput if there is none."""
    path = Path(folder)
    kind = folder_kind(path)
    if kind == "web":
        raise InvalidInput(
            f"{printable(path)} is a recorded web, which has no report: crawl it with `scenthound compare` or "
            "`scenthound simulate`."
        )
    with CorruptData.wrapping(path, kind):
        if kind == "study":
            return _study_report(path)
        # Only the module of this kind is loaded.
        return document_html(getattr(import_module(f"{__name__}.{kind}"), f"{kind}_report")(path))


def write_report(folders: Sequence[Path], out: Path | None = None, *, force: bool = False) -> Path:
    """Write the report of a folder, by default into it; of several crawls, one that shows them side by side."""
    file = out or (folders[0] / REPORT_FILE if len(folders) == 1 else Path(SIDE_BY_SIDE_FILE))
    check_replaceable(file, force)
    html = report_html(folders[0]) if len(folders) == 1 else crawls_report_html(folders)
    content = html.encode("utf-8", "replace")
    if not (file.is_file() and file.read_bytes() == content):
        write_atomic(file, content, follow_link=out is not None)
    return file


def crawls_report_html(folders: Sequence[Path]) -> str:
    """Several crawls side by side; UsageError if one of them is something else, or if there are too many."""
    from scenthound.ui.reports.crawls import MAX_CRAWLS, crawls_report

    if len(folders) > MAX_CRAWLS:
        raise UsageError(f"{len(folders):,} crawls are too many for one report: name {MAX_CRAWLS} at most.")
    for folder in folders:
        kind = folder_kind(folder)
        if kind != "crawl":
            raise UsageError(
                f"{printable(folder)} is a {kind}; only crawls can be shown side by side: name it alone, or omit it."
            )
    with CorruptData.wrapping(" or ".join(map(str, folders))):
        return document_html(crawls_report(folders))


def check_replaceable(file: Path, force: bool) -> None:
    """InvalidInput if the file is something else than a report."""
    if file.is_dir():
        raise InvalidInput(f"{printable(file)} is a folder: name a file with --out.")
    if file.exists() and not force and not is_report(file):
        raise InvalidInput(
            f"{printable(file)} exists and is not a Scenthound report: choose another file with --out, or replace it "
            "with --force."
        )


def is_report(file: Path) -> bool:
    try:
        with open_regular(file) as content:
            head = content.read(MAX_HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(BEGINNING) and MARK in head


def _study_report(folder: Path) -> str:
    """The report that the study wrote when it finished."""
    from scenthound.experiments.study.results import FINDINGS_FILE

    try:
        if (folder / FINDINGS_FILE).is_file():
            return regular_bytes(folder / REPORT_FILE, MAX_REPORT_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        pass
    raise InvalidInput(
        f"The study in {printable(folder)} did not finish and has no report: run `scenthound study` again with the "
        "same --out; finished crawls are reused."
    )
