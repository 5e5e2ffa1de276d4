"""The crawl folder: which file is what, and `crawl.json`, the settings of the crawl.

crawl.json         format, version, ID of the crawl, archive settings, crawl settings; never changes
run.json           stop conditions of the last run, if it was given any
crawl.sqlite       the database (`crawl_database`), with its write-ahead log
acknowledged       how many commits the database must have
archive/           responses as WARC files (`archive`); a process that writes to the crawl holds the lock of this folder
web/               the crawl as a recorded web, made on demand (`crawl_web`)
control.json       commands for the running crawl (`crawler/control`)
search.sqlite      the full-text index, made on demand (`search_index`)
labels.jsonl       labels of pages; relevance_models/ has the training pages of retrained relevance models

Format 2 has other table and column names than format 1, which Scenthound wrote up to 0.6. Crawls of format 1 can be
read, but not resumed.
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
from scenthound.store.format_1 import renamed_settings

FORMAT = "scenthound crawl"
VERSION = 2
ABOUT_FILE = "crawl.json"
RUN_FILE = "run.json"
DATABASE_FILE = "crawl.sqlite"
ARCHIVE_FOLDER = "archive"
WEB_FOLDER = "web"
#: Of `crawl.json` and `run.json`, which may have many seeds.
MOST_ABOUT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """What the `warcinfo` record of each file says, and the file size limit."""

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
    """The content of `crawl.json`. `settings` are those of the crawler, as plain values."""

    crawl_id: UUID
    archive: ArchiveSettings
    settings: Mapping[str, Any]
    version: int = VERSION

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
        """InvalidInput if the folder is not a crawl, or of a format that cannot be read."""
        about = _read(folder)
        try:
            archive = ArchiveSettings(**about["archive"])
            settings = renamed_settings(about["settings"]) if about["version"] == 1 else dict(about["settings"])
            return cls(UUID(about["id"]), archive, settings, about["version"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInput(f"{printable(folder / ABOUT_FILE)} is damaged: restore it from a backup.") from None


def names_crawl(folder: Path) -> bool:
    """Whether the folder claims to be a crawl, readable or not."""
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
        raise InvalidInput(
            f"{printable(folder / ABOUT_FILE)} cannot be read ({printable(reason)}): restore it from a backup."
        ) from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidInput(f"{printable(folder)} is not a crawl: make one with `scenthound crawl`.")
    if about.get("version") not in range(1, VERSION + 1):
        raise InvalidInput(
            f"{printable(folder)} has format version {printable(about.get('version'), 40)}, and this Scenthound reads "
            f"up to version {VERSION}: install the Scenthound that made it."
        )
    return about
