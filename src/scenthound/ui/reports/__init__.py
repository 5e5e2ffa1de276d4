"""A report of whatever lies in a folder, as one HTML file: which page is made for which kind of folder.

Rules
- A comparison and a study leave their page themselves, when they have all they know; it is given as it is.
- A file that is no report of ours is replaced only when told so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import CorruptData, InvalidInput, UsageError, printable
from scenthound.files import open_regular, regular_bytes, write_atomic
from scenthound.model import Progress, silent
from scenthound.store.folder import folder_kind
from scenthound.ui.html import page_html

REPORT_FILE = "report.html"
SIDE_BY_SIDE_FILE = "crawls.html"
#: What stands at the head of every page that `page_html` makes.
MARK = b"Scenthound \xc2\xb7 "
BEGINNING = b"<!DOCTYPE html>"
#: The mark comes after style sheet and script.
MOST_HEAD_BYTES = 1 << 20
#: Those that commands leave are much shorter.
MOST_REPORT_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class WrittenReport:
    file: Path
    n_bytes: int


def report_page(folder: str | Path, progress: Progress = silent) -> str:
    """The HTML of a folder's report; BadInput if there can be none."""
    place = Path(folder)
    kind = folder_kind(place)
    with CorruptData.wrapping(place, kind):
        return _MAKERS[kind](place, progress)


def write_report(
    folders: Sequence[Path], out: Path | None = None, *, force: bool = False, progress: Progress = silent
) -> WrittenReport:
    """Write the report of a folder, into it unless told where; of several crawls, one that shows them side by side."""
    file = out or (folders[0] / REPORT_FILE if len(folders) == 1 else Path(SIDE_BY_SIDE_FILE))
    check_replaceable(file, force)
    html = report_page(folders[0], progress) if len(folders) == 1 else crawls_report(folders)
    content = html.encode("utf-8", "replace")
    if not (file.is_file() and file.read_bytes() == content):
        write_atomic(file, content, follow_link=out is not None)
    return WrittenReport(file, len(content))


def crawls_report(folders: Sequence[Path]) -> str:
    """Several crawls side by side; WrongUse if one of them is something else, or if there are too many."""
    from scenthound.ui.reports.crawls import MOST_CRAWLS, crawls_page

    if len(folders) > MOST_CRAWLS:
        raise UsageError(f"{len(folders):,} crawls are too many for one page: name {MOST_CRAWLS} at most.")
    for folder in folders:
        kind = folder_kind(folder)
        if kind != "crawl":
            raise UsageError(
                f"{printable(folder)} is a {kind}; only crawls are shown side by side: name it alone, or leave it out."
            )
    with CorruptData.wrapping(" or ".join(map(str, folders))):
        return page_html(crawls_page(folders))


def check_replaceable(file: Path, force: bool) -> None:
    """BadInput if the file is something else than a report, or no file at all."""
    if file.is_dir():
        raise InvalidInput(f"{printable(file)} is a folder: name a file with --out.")
    if file.exists() and not force and not is_report(file):
        raise InvalidInput(
            f"{printable(file)} is there already and is no report of Scenthound's: choose another name with --out, or "
            "replace it with --force."
        )


def is_report(file: Path) -> bool:
    try:
        with open_regular(file) as content:
            head = content.read(MOST_HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(BEGINNING) and MARK in head


def _crawl(folder: Path, _progress: Progress) -> str:
    from scenthound.ui.reports.crawl import crawl_page

    return page_html(crawl_page(folder))


def _run(folder: Path, progress: Progress) -> str:
    from scenthound.ui.reports.run import run_page

    return page_html(run_page(folder, progress))


def _comparison(folder: Path, _progress: Progress) -> str:
    from scenthound.ui.reports.comparison import stored_comparison_page

    return _own_report(folder) or page_html(stored_comparison_page(folder))


def _study(folder: Path, _progress: Progress) -> str:
    from scenthound.experiments.study.results import FINDINGS_FILE

    own = _own_report(folder) if (folder / FINDINGS_FILE).is_file() else None
    if own is None:
        raise InvalidInput(
            f"The study in {printable(folder)} has no report, so it did not come to its end: run `scenthound study` "
            "again with the same --out; crawls that were made are kept."
        )
    return own


def _search(folder: Path, _progress: Progress) -> str:
    from scenthound.ui.reports.search import search_page

    return page_html(search_page(folder))


def _validation(folder: Path, _progress: Progress) -> str:
    from scenthound.ui.reports.validation import validation_page

    return page_html(validation_page(folder))


def _web(folder: Path, _progress: Progress) -> str:
    raise InvalidInput(
        f"{printable(folder)} is a recorded web, of which there is no report: let strategies crawl it with "
        "`scenthound compare` or `scenthound simulate`."
    )


def _own_report(folder: Path) -> str | None:
    """The page that a command left in its folder; None if there is none."""
    try:
        return regular_bytes(folder / REPORT_FILE, MOST_REPORT_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return None


_MAKERS: Mapping[str, Callable[[Path, Progress], str]] = {
    "crawl": _crawl,
    "run": _run,
    "comparison": _comparison,
    "study": _study,
    "search": _search,
    "validation": _validation,
    "web": _web,
}
