"""What a person said of the pages of a crawl: relevant or not. Kept in `labels.jsonl` in its folder.

Rules
- A line for each labelled page, in the order in which they were labelled. Who labels a page again has changed his mind;
  who takes the label back takes the line away. So it is a label file as `scenthound threshold` reads them.
- The file is replaced as a whole at every label, and is on the disk before anybody is told so. One that was cut off in
  its last line, by whatever else writes it, is read without that line. It is read again only when it has changed.
- A line says of which crawl it is. Those of another crawl, or of none, count for nothing here, and stay; so do those of
  visits that no crawl could have.
- The folder may be somebody else's. Nothing is written through a link, and a file that is too long is not read.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.files import regular_bytes, write_atomic
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.locks import try_lock
from scenthound.store.stored_crawl import StoredCrawl

LABELS_FILE = "labels.jsonl"
#: Labels of some ten thousand pages.
MOST_BYTES = 4 << 20
MOST_VISITS = 1 << 31
#: For another program that holds the folder.
LONGEST_WAIT_S = 2.0


@dataclass(frozen=True, slots=True)
class PageLabel:
    """A page, and what was said of it when."""

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
    def read(cls, folder: str | Path) -> "Labels":
        place = Path(folder)
        return cls.of_crawl(place, CrawlAbout.read(place).crawl_id)

    @classmethod
    def of_crawl(cls, folder: Path, crawl_id: UUID) -> "Labels":
        """Those of the crawl of this id, whatever else stands in the file."""
        return cls(folder, crawl_id, _kept(folder / LABELS_FILE, crawl_id, _sign(folder / LABELS_FILE)))

    @classmethod
    def of(cls, crawl: StoredCrawl) -> "Labels":
        """Those of visits that the crawl has."""
        labels = cls.of_crawl(crawl.folder, crawl.about.crawl_id)
        n_visits = crawl.n_visits()
        return replace(labels, pages=tuple(page for page in labels.pages if page.visit < n_visits))

    @property
    def relevant(self) -> tuple[PageLabel, ...]:
        return tuple(page for page in self.pages if page.is_relevant)

    @property
    def irrelevant(self) -> tuple[PageLabel, ...]:
        return tuple(page for page in self.pages if not page.is_relevant)

    def by_visit(self) -> dict[int, bool]:
        """Whether each labelled page was called relevant, the latest label last."""
        return {page.visit: page.is_relevant for page in self.pages}

    def add(self, row: VisitRecord, is_relevant: bool | None, clock: Callable[[], float] = time.time) -> "Labels":
        """Keep what a person said of a page, instead of what was said before; None takes it back. Answers with the
        labels as they are then, those that others added meanwhile among them."""
        with try_lock(self.folder, LONGEST_WAIT_S) as is_ours:
            if not is_ours:
                raise InvalidInput(
                    f"{printable(self.folder)} is held by another program: label the page when that ended."
                )
            lines = _lines(self.folder / LABELS_FILE, self.crawl_id)
            kept = [line for line, label in lines if label is None or label.visit != row.visit]
            if is_relevant is not None:
                kept.append(PageLabel(row.visit, row.url, is_relevant, clock()).line(self.crawl_id))
            content = b"".join(line + b"\n" for line in kept)
            write_atomic(self.folder / LABELS_FILE, content, follow_link=False)
        return Labels.of_crawl(self.folder, self.crawl_id)


def _each_once(labels: Iterable[PageLabel]) -> list[PageLabel]:
    """The latest label of each page."""
    latest: dict[int, PageLabel] = {}
    for label in labels:
        latest.pop(label.visit, None)
        latest[label.visit] = label
    return list(latest.values())


@lru_cache(maxsize=8)
def _kept(file: Path, crawl_id: UUID, _sign: tuple[int, ...] | None) -> tuple[PageLabel, ...]:
    """The labels of a crawl; kept for as long as the file has the sign."""
    return tuple(_each_once(label for _, label in _lines(file, crawl_id) if label is not None))


def _sign(file: Path) -> tuple[int, ...] | None:
    """Another one whenever the file has changed; None if there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _lines(file: Path, crawl_id: UUID) -> list[tuple[bytes, PageLabel | None]]:
    """Each line, and its label if it is one of this crawl."""
    *whole, last = _text(file).split("\n")
    found = [_read(line, crawl_id, f"{printable(file)}, line {number}") for number, line in enumerate(whole, 1) if line]
    try:
        return [*found, _read(last, crawl_id, "")] if last else found
    except InvalidInput:
        return found


def _text(file: Path) -> str:
    """As it stands: nobody compresses it."""
    try:
        return regular_bytes(file, MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as reason:
        why = getattr(reason, "strerror", None) or "it is no UTF-8"
        raise InvalidInput(f"{printable(file)} cannot be read ({why}): fix or remove the file.") from None


def _read(line: str, crawl_id: UUID, place: str) -> tuple[bytes, PageLabel | None]:
    try:
        fields = orjson.loads(line)
        is_ours = isinstance(fields, dict) and fields.get("crawl") == str(crawl_id)
        return line.encode(), _label(fields) if is_ours else None
    except (ValueError, KeyError, TypeError) as reason:
        raise InvalidInput(f"{place}: no label ({printable(reason, 60)}); fix or remove the line.") from None


def _label(fields: Mapping[str, Any]) -> PageLabel | None:
    """None if no crawl has a visit of that number."""
    if not isinstance(fields["label"], bool):
        raise TypeError("the label is neither true nor false")
    if not isinstance(fields["visit"], int) or not 0 <= fields["visit"] < MOST_VISITS:
        return None
    return PageLabel(fields["visit"], str(fields["url"]), fields["label"], float(fields["time_s"]))
