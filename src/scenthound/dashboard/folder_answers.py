"""All folders at a glance, as the first page and Prometheus are told of them.

Rules
- A folder that cannot be read is told of with its problem; it keeps nobody from seeing the others.
- What cannot have changed is not read again: a crawl that nobody is at work on, whose files are as they were.
"""

import threading
from importlib.metadata import version
from pathlib import Path

from scenthound.dashboard.answers import Folder, Folders, Problem
from scenthound.dashboard.crawl_answers import topic_of
from scenthound.dashboard.experiment_answers import about_of, title_of
from scenthound.dashboard.folders import FolderBook, FoundFolder, why_unreadable
from scenthound.errors import ScenthoundError
from scenthound.lab.crawl_state import crawl_state
from scenthound.store.crawl_folder import ABOUT_FILE, DATABASE_FILE
from scenthound.store.page_lists import PageLists

_SIGNS_OF_CHANGE = (ABOUT_FILE, DATABASE_FILE, f"{DATABASE_FILE}-wal")


class FolderGlances:
    """Remembers what it saw. Any thread may ask."""

    def __init__(self, book: FolderBook) -> None:
        self._book = book
        self._kept: dict[Path, tuple[object, Folder]] = {}
        self._lock = threading.Lock()

    def all(self) -> Folders:
        with self._lock:
            return Folders(version("scenthound"), tuple(self._glance(found) for found in self._book.all()))

    def _glance(self, found: FoundFolder) -> Folder:
        signs = _signs(found.path)
        kept = self._kept.get(found.path)
        if kept is not None and kept[0] == signs and kept[1].id == found.id:
            return kept[1]
        folder, is_settled = folder_answer(found)
        if is_settled:
            self._kept[found.path] = signs, folder
        return folder


def folder_answer(found: FoundFolder) -> tuple[Folder, bool]:
    """The folder, and whether it stays so as long as its files do."""
    if found.problem is not None:
        return _unreadable(found, found.problem), False
    try:
        if found.kind == "crawl":
            return _crawl(found)
        title = title_of(found, about_of(found))
        return _folder(found, title), False
    except ScenthoundError as error:
        return _unreadable(found, Problem(str(error))), False
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this folder's problem alone
        return _unreadable(found, Problem(why_unreadable(error))), False


def _crawl(found: FoundFolder) -> tuple[Folder, bool]:
    with PageLists.open(found.path) as crawl:
        stands = crawl_state(crawl)
        status = stands.status or {}
        topic = topic_of(crawl.about.settings)
        folder = Folder(
            id=found.id,
            name=found.path.name,
            path=str(found.path),
            kind="crawl",
            title=f"{topic.get('id') or 'no topic'}, by {crawl.about.settings.get('strategy')}",
            state=stands.state.value,
            pages=stands.n_pages,
            page_budget=stands.page_budget,
            harvest=status.get("harvest"),
            problem=None,
        )
        return folder, not stands.is_alive


def _folder(found: FoundFolder, title: str) -> Folder:
    return Folder(found.id, found.path.name, str(found.path), found.kind, title, None, None, None, None, None)


def _unreadable(found: FoundFolder, problem: Problem) -> Folder:
    name = found.path.name or str(found.path)
    return Folder(found.id, name, str(found.path), "unreadable", name, None, None, None, None, problem)


def _signs(folder: Path) -> object:
    return [_sign(folder / name) for name in _SIGNS_OF_CHANGE]


def _sign(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    # Who reads the database leaves an empty log beside it.
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None
