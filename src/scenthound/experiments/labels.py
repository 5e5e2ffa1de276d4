"""Labels of the pages of a crawl, relevant or not, in `labels.jsonl` in its folder.

Rules
- There is a line for each labelled page, in the order in which they were labelled; a new label of a page replaces the
  line. The file is also a label file for `scenthound threshold`.
- The file is replaced atomically for every label, and synced to disk before `add` returns. An incomplete last line,
  written by another program, is ignored. The file is read again only if it has changed.
- A line names its crawl. Lines of another crawl or of none are ignored and kept; so are those of impossible visits.
- The folder may be untrusted: nothing is written through a link, and a file that is too long is not read.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.files import regular_bytes, write_atomic
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.locks import try_lock
from scenthound.store.stored_crawl import StoredCrawl

LABELS_FILE = "labels.jsonl"
#: Enough for some ten thousand labels.
MOST_BYTES = 4 << 20
MOST_VISITS = 1 << 31
#: Time to wait for another program that has locked the folder.
MAX_WAIT_S = 2.0


@dataclass(frozen=True, slots=True)
class PageLabel:
    """A labelled page."""

    visit: int
    url: str
    is_relevant: bool
    time_s: float

    def line(self, crawl_id: UUID) -> bytes:
        # A label file of `scenthound threshold` has `url` and `label`.
        fields = {"url": self.url, "label": self.is_relevant, "visit": self.visit, "time_s": self.time_s}
        return orjson.dumps({**fields, "crawl": str(crawl_id)})


@dataclass(frozen=True, slots=True)
class Labels:
    """The labelled pages of the crawl in a folder, each once, the latest label last."""

    folder: Path
    crawl_id: UUID
    pages: tuple[PageLabel, ...]

    @classmethod
    def of_crawl(cls, folder: Path, crawl_id: UUID) -> "Labels":
        """The labels of the crawl with this id; the file may have others."""
        return cls(folder, crawl_id, _labels(folder / LABELS_FILE, crawl_id, _file_state(folder / LABELS_FILE)))

    @classmethod
    def of(cls, crawl: StoredCrawl) -> "Labels":
        """The labels of visits that the crawl has."""
        labels = cls.of_crawl(crawl.folder, crawl.about.crawl_id)
        n_visits = crawl.n_visits()
        return replace(labels, pages=tuple(page for page in labels.pages if page.visit < n_visits))

    def by_visit(self) -> dict[int, bool]:
        """Whether each labelled page is relevant, the latest label last."""
        return {page.visit: page.is_relevant for page in self.pages}

    def add(self, row: VisitRecord, is_relevant: bool | None, clock: Callable[[], float] = time.time) -> "Labels":
        """Set the label of a page; None removes it. Returns the labels after that, including those that others added
        meanwhile."""
        with try_lock(self.folder, MAX_WAIT_S) as is_ours:
            if not is_ours:
                raise InvalidInput(
                    f"{printable(self.folder)} is locked by another program: label the page again when that has ended."
                )
            lines = _lines(self.folder / LABELS_FILE, self.crawl_id)
            kept = [line for line, label in lines if label is None or label.visit != row.visit]
            if is_relevant is not None:
                kept.append(PageLabel(row.visit, row.url, is_relevant, clock()).line(self.crawl_id))
            content = b"".join(line + b"\n" for line in kept)
            write_atomic(self.folder / LABELS_FILE, content, follow_link=False)
        return Labels.of_crawl(self.folder, self.crawl_id)


@lru_cache(maxsize=8)
def _labels(file: Path, crawl_id: UUID, _file_state: tuple[int, ...] | None) -> tuple[PageLabel, ...]:
    """The latest label of each page of a crawl; cached as long as the file does not change."""
    latest: dict[int, PageLabel] = {}
    for _, label in _lines(file, crawl_id):
        if label is not None:
            latest.pop(label.visit, None)
            latest[label.visit] = label
    return tuple(latest.values())


def _file_state(file: Path) -> tuple[int, ...] | None:
    """Changes whenever the file does; None if there is no file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _lines(file: Path, crawl_id: UUID) -> list[tuple[bytes, PageLabel | None]]:
    """Each line, and its label if it is one of this crawl."""
    *complete, last = _text(file).split("\n")
    found = [
        _read(line, crawl_id, f"{printable(file)}, line {number}") for number, line in enumerate(complete, 1) if line
    ]
    try:
        return [*found, _read(last, crawl_id, "")] if last else found
    except InvalidInput:
        return found


def _text(file: Path) -> str:
    """The content; empty if there is no file."""
    try:
        return regular_bytes(file, MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as reason:
        why = getattr(reason, "strerror", None) or "not UTF-8"
        raise InvalidInput(f"Cannot read {printable(file)} ({why}): fix or remove the file.") from None


def _read(line: str, crawl_id: UUID, where: str) -> tuple[bytes, PageLabel | None]:
    try:
        fields = orjson.loads(line)
        is_ours = isinstance(fields, dict) and fields.get("crawl") == str(crawl_id)
        return line.encode(), _label(fields) if is_ours else None
    except (ValueError, KeyError, TypeError) as reason:
        raise InvalidInput(f"{where}: not a label ({printable(reason, 60)}); fix or remove the line.") from None


def _label(fields: Mapping[str, Any]) -> PageLabel | None:
    """None if no crawl can have a visit with this number."""
    if not isinstance(fields["label"], bool):
        raise TypeError("the label is neither true nor false")
    if not isinstance(fields["visit"], int) or not 0 <= fields["visit"] < MOST_VISITS:
        return None
    return PageLabel(fields["visit"], str(fields["url"]), fields["label"], float(fields["time_s"]))
