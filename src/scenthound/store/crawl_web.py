"""A crawl as a recorded web: made from its archive when it is first asked for, and again when the crawl has gone on.

It lies in the folder of the crawl and says of how many bytes of the archive it was made. An archive only grows, so a
web of fewer bytes is out of date. Who makes it holds the lock of `crawl.json`; others wait, and find it made.
"""

from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import InvalidInput, printable
from scenthound.model import Progress, silent
from scenthound.store.crawl_folder import ABOUT_FILE, WEB_FOLDER, names_crawl
from scenthound.store.layout import read_about
from scenthound.store.locks import locked
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources.crawl import CrawlSource
from scenthound.store.stored_crawl import StoredCrawl


def open_web(path: str | Path, progress: Progress = silent) -> RecordedWeb:
    """The recorded web in a folder, or that of the crawl in it."""
    return web_of_crawl(path, progress) if names_crawl(Path(path)) else RecordedWeb.open(path)


def web_of_crawl(folder: str | Path, progress: Progress = silent) -> RecordedWeb:
    """All pages that the crawl has fetched and acknowledged by now, as a recorded web; BadInput if it has none because
    it read all of them from a recording."""
    elsewhere = pages_elsewhere(folder)
    if elsewhere is not None and elsewhere.n_pages == elsewhere.n_recorded:
        raise InvalidInput(elsewhere.told())
    place = Path(folder) / WEB_FOLDER
    if not _is_of_today(place, Path(folder)):
        with locked(Path(folder) / ABOUT_FILE):
            if not _is_of_today(place, Path(folder)):
                record([folder], place, force=True, progress=progress)
    return RecordedWeb.open(place)


@dataclass(frozen=True, slots=True)
class PagesElsewhere:
    """Pages of a crawl that it read from a recording, so that its own web lacks them."""

    folder: str
    n_recorded: int
    n_pages: int
    recording: str

    def told(self) -> str:
        """In a line, with what can be done."""
        return (
            f"{self.n_recorded:,} of {self.n_pages:,} pages of {printable(self.folder)} came from the recording at "
            f"{printable(self.recording)} and are not in this crawl's web: name that recording instead, or make one "
            f"web of both with `scenthound record --from {printable(self.folder)}` and the files that it was made of."
        )


def pages_elsewhere(folder: str | Path) -> PagesElsewhere | None:
    """What the web of a crawl lacks; None if it lacks nothing, or if the folder is no crawl."""
    if not names_crawl(Path(folder)):
        return None
    with StoredCrawl.open(folder) as crawl:
        n_recorded, n_pages = crawl.n_recorded(), crawl.counts().visits
        recording = str(crawl.about.settings.get("web") or "a place that it does not know")
    return PagesElsewhere(str(folder), n_recorded, n_pages, recording) if n_recorded else None


def _is_of_today(web: Path, folder: Path) -> bool:
    try:
        (source,) = read_about(web)["sources"]
        return bool(source["bytes"] == CrawlSource.of(folder).size_bytes)
    except (InvalidInput, KeyError, TypeError, ValueError):
        return False
