"""A crawl as a recorded web: made from its archive when it is first asked for, and again when the crawl has gone on.

It lies in the folder of the crawl and says of how many bytes of the archive it was made. An archive only grows, so a
web of fewer bytes is out of date. Who makes it holds the lock of `crawl.json`; others wait, and find it made.
"""

from pathlib import Path

from scenthound.errors import BadInput
from scenthound.model import Progress, silent
from scenthound.store.crawl_folder import ABOUT_FILE, WEB_FOLDER, names_crawl
from scenthound.store.folder_lock import locked
from scenthound.store.layout import read_about
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources.crawl import CrawlSource


def open_web(path: str | Path, progress: Progress = silent) -> RecordedWeb:
    """The recorded web in a folder, or that of the crawl in it."""
    return web_of_crawl(path, progress) if names_crawl(Path(path)) else RecordedWeb.open(path)


def web_of_crawl(folder: str | Path, progress: Progress = silent) -> RecordedWeb:
    """All that the crawl has acknowledged by now, as a recorded web."""
    place = Path(folder) / WEB_FOLDER
    if not _is_of_today(place, Path(folder)):
        with locked(Path(folder) / ABOUT_FILE):
            if not _is_of_today(place, Path(folder)):
                record([folder], place, force=True, progress=progress)
    return RecordedWeb.open(place)


def _is_of_today(web: Path, folder: Path) -> bool:
    try:
        (source,) = read_about(web)["sources"]
        return bool(source["bytes"] == CrawlSource.of(folder).size_bytes)
    except (BadInput, KeyError, TypeError, ValueError):
        return False
