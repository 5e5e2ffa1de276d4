"""The folder of a crawl: what lies where in it, and `crawl.json`, which says what was asked for.

crawl.json      format, version, the crawl's id, how it is archived, and the crawler's own settings; never changes
run.json        how far its last run was told to go, if it was told
crawl.sqlite    the state (`crawl_database`), with its log beside it
acknowledged    how many commits that has (`acknowledged`)
archive/        the answers of hosts as WARC files (`archive`); who writes to a crawl holds the lock of this folder
web/            the crawl as a recorded web, made when it is first asked for (`crawl_web`)
wishes.json     what is wished of the run that is at work (`crawl_wishes`)
search.sqlite   the words of its pages, made when they are first searched (`page_search`)
labels.jsonl    what people said of its pages; guides/ has the pages of guides that were trained on that
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.files import regular_bytes, write_atomic
from scenthound.store.archive import MOST_FILE_BYTES

FORMAT = "scenthound crawl"
VERSION = 1
ABOUT_FILE = "crawl.json"
RUN_FILE = "run.json"
DATABASE_FILE = "crawl.sqlite"
ARCHIVE_FOLDER = "archive"
WEB_FOLDER = "web"
#: Of `crawl.json` and `run.json`, which may have many seeds.
MOST_ABOUT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """What each file of the archive says of its making, and when the next one is begun."""

    user_agent: str
    robots: str = "obey"
    software: str = "Scenthound"
    most_file_bytes: int = MOST_FILE_BYTES

    def fields(self) -> bytes:
        """The content of a `warcinfo` record."""
        values = {
            "software": self.software,
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "http-header-user-agent": self.user_agent,
            "robots": self.robots,
        }
        return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in values.items()).encode()


@dataclass(frozen=True, slots=True)
class CrawlAbout:
    """What `crawl.json` says. `settings` are the crawler's own, as plain values."""

    crawl_id: UUID
    archive: ArchiveSettings
    settings: Mapping[str, Any]

    def write(self, folder: Path) -> None:
        about = {
            "format": FORMAT,
            "version": VERSION,
            "id": str(self.crawl_id),
            "archive": asdict(self.archive),
            "settings": dict(self.settings),
        }
        write_atomic(folder / ABOUT_FILE, orjson.dumps(about, option=orjson.OPT_INDENT_2) + b"\n")

    @classmethod
    def read(cls, folder: Path) -> "CrawlAbout":
        """BadInput if the folder is no crawl, or one that this version cannot read."""
        about = _read(folder)
        try:
            archive = ArchiveSettings(**about["archive"])
            return cls(UUID(about["id"]), archive, dict(about["settings"]))
        except (KeyError, TypeError, ValueError):
            raise InvalidInput(f"{printable(folder / ABOUT_FILE)} is damaged: bring it back from a copy.") from None


def names_crawl(folder: Path) -> bool:
    """Whether the folder says that it is a crawl; whether it can be read shows when it is."""
    return (folder / ABOUT_FILE).is_file()


def is_crawl(folder: Path) -> bool:
    """Whether a crawl can be read from the folder."""
    try:
        CrawlAbout.read(folder)
    except InvalidInput:
        return False
    return True


def _read(folder: Path) -> dict[str, Any]:
    try:
        about = orjson.loads(regular_bytes(folder / ABOUT_FILE, MOST_ABOUT_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInput(f"There is no crawl at {printable(folder)}: make one with `scenthound crawl`.") from None
    except (OSError, orjson.JSONDecodeError) as reason:
        raise InvalidInput(f"{printable(folder / ABOUT_FILE)} cannot be read ({printable(reason)}).") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidInput(f"{printable(folder)} is not a crawl: make one with `scenthound crawl`.")
    if about.get("version") != VERSION:
        said = printable(about.get("version"), 40)
        raise InvalidInput(
            f"{printable(folder)} has version {said} of the format and this Scenthound reads {VERSION}: "
            "install the Scenthound that made it."
        )
    return about
